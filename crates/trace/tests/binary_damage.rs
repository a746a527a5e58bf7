//! Damaged and cut-off binary traces: the events before the damage are read, and it is said where it is.

use event::{Batch, Event, Meta, Names, Op, SiteId, Space, ThreadId, Value};
use std::io::Cursor;
use trace::binary::{ActionWriter, BinaryReader, BinaryWriter};
use trace::{Error, InputPosition, Loss, Source};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

/// A trace of many small frames, with its events; of actions or not.
fn sample(by_actions: bool) -> (Vec<u8>, Vec<Event>) {
    let mut random = Random(7);
    let mut names = Names::default();
    let meta = Meta::default();
    let mut writer = BinaryWriter::new(Vec::new()).unwrap();
    let mut act_writer = ActionWriter::new(Vec::new()).unwrap();
    let mut all = Vec::new();
    for _ in 0..40 {
        let mut batch = Batch::default();
        for _ in 0..50 {
            let thread = names.add(Space::Thread, &format!("T{}", random.below(4))).unwrap();
            let var = names.add(Space::Var, &format!("v{}", random.below(300))).unwrap();
            let site = names.add(Space::Site, &format!("{}", random.below(30))).unwrap();
            let value = Value::Int(random.below(100) as i64);
            let extra = batch.add_extra(event::Extra { value, ..Default::default() });
            let event = Event::with_extra(ThreadId(thread), Op::Write, var, SiteId(site), extra);
            batch.events.push(event);
            all.push(event);
        }
        writer.write_batch(&names, &meta, &batch).unwrap();
        writer.flush(&names, &meta).unwrap();
        for (index, &event) in batch.events.iter().enumerate() {
            let extra = if index % 2 == 0 { batch.extra(event) } else { &event::Extra::default() };
            act_writer.add_event(event, extra, &[]);
        }
        act_writer.flush(&names, &meta).unwrap();
    }
    let written = if by_actions { act_writer.finish(&names, &meta) } else { writer.finish(&names, &meta) };
    (written.unwrap(), all)
}

/// Reads all there is: the events, what is missing, and the error that ended it.
fn read(bytes: &[u8], by_file: bool) -> (Vec<Event>, Vec<Loss>, Option<Error>) {
    let mut events = Vec::new();
    let opened: Result<Box<dyn Source>, Error> = if by_file {
        BinaryReader::open(Cursor::new(bytes.to_vec())).map(|reader| Box::new(reader) as Box<dyn Source>)
    } else {
        BinaryReader::new(Cursor::new(bytes.to_vec())).map(|reader| Box::new(reader) as Box<dyn Source>)
    };
    let mut source = match opened {
        Ok(source) => source,
        Err(error) => return (events, Vec::new(), Some(error)),
    };
    let mut batch = Batch::default();
    loop {
        match source.next_batch(&mut batch) {
            Ok(true) => events.extend_from_slice(&batch.events),
            Ok(false) => return (events, source.losses().to_vec(), None),
            Err(error) => return (events, source.losses().to_vec(), Some(error)),
        }
    }
}

fn is_prefix(events: &[Event], of: &[Event]) -> bool {
    // Extras are numbered by batch; what they hold is covered by the checksums.
    let bare = |e: &Event| (e.thread(), e.op(), e.object(), e.site());
    events.len() <= of.len() && events.iter().map(bare).eq(of[..events.len()].iter().map(bare))
}

fn names_its_byte(losses: &[Loss], error: Option<&Error>) -> bool {
    match error {
        Some(error) => error.to_string().starts_with("byte "),
        None => losses.iter().any(|loss| matches!(loss.place, Some(InputPosition::Byte(_)))),
    }
}

#[test]
fn cut_off_anywhere_it_reads_up_to_the_last_whole_frame() {
    cut_off(sample(false));
    cut_off(sample(true));
}

fn cut_off((bytes, all): (Vec<u8>, Vec<Event>)) {
    let mut last = 0;
    for len in 0..bytes.len() {
        let (events, losses, error) = read(&bytes[..len], len % 2 == 0);
        assert!(is_prefix(&events, &all), "cut at {len}");
        assert!(names_its_byte(&losses, error.as_ref()), "cut at {len}: {losses:?} {error:?}");
        assert!(error.is_none() || len < 16, "cut at {len}: {error:?}");
        assert!(events.len() >= last && events.len() % 50 == 0, "cut at {len}: whole frames, ever more");
        last = events.len();
    }
    assert_eq!(last, all.len());
    let (events, losses, error) = read(&bytes, true);
    assert!(events.len() == all.len() && losses.is_empty() && error.is_none());
}

#[test]
fn ten_thousand_corruptions_give_a_prefix_and_a_place() {
    corrupt(sample(false));
    corrupt(sample(true));
}

fn corrupt((bytes, all): (Vec<u8>, Vec<Event>)) {
    let mut random = Random(3);
    let mut noticed = 0;
    for round in 0..10_000 {
        let mut damaged = bytes.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(damaged.len());
            match random.below(5) {
                0 => damaged[at] ^= 1 << random.below(8),
                1 => damaged[at] = random.below(256) as u8,
                2 => {
                    let end = damaged.len().min(at + random.below(400));
                    damaged[at..end].fill(0);
                }
                3 => drop(damaged.drain(at..damaged.len().min(at + 1 + random.below(40)))),
                _ => damaged.splice(at..at, (0..random.below(40)).map(|n| n as u8)).for_each(drop),
            }
            if damaged.is_empty() {
                break;
            }
        }
        let (events, losses, error) = read(&damaged, round % 2 == 0);
        assert!(is_prefix(&events, &all), "round {round}");
        if !losses.is_empty() || error.is_some() {
            noticed += 1;
            assert!(names_its_byte(&losses, error.as_ref()), "round {round}: {losses:?} {error:?}");
        } else {
            assert_eq!(events.len(), all.len(), "round {round}: nothing was said");
        }
    }
    assert!(noticed > 9_000, "{noticed}");
}
