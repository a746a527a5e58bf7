//! Deferred records: put back to their places, against the definition.

use crate::common::in_words;
use event::{Batch, Event, Extra, Meta, Names, Op, SiteId, Space, StackId, ThreadId, Value};
use proptest::prelude::*;
use std::io::Cursor;
use trace::binary::{ActionWriter, BinaryReader, BinaryWriter, DeferredPosition};
use trace::{Source, Trace};

const THREADS: u32 = 4;

#[derive(Clone, Debug)]
struct Case {
    /// Thread, and the thread it forks, if any.
    on_time: Vec<(u32, Option<u32>)>,
    /// Thread, after, sequence, and before which on-time event it is written.
    deferred: Vec<(u32, u64, u32, usize)>,
}

fn cases() -> impl Strategy<Value = Case> {
    // No thread forks itself: then it would have two places that the definition does not distinguish.
    let event = (0..THREADS, prop::option::weighted(0.2, 1..THREADS));
    let event = event.prop_map(|(thread, other)| (thread, other.map(|other| (thread + other) % THREADS)));
    let on_time = prop::collection::vec(event, 0..40);
    let deferred = prop::collection::vec((0..THREADS, 0u64..14, 0u32..3, 0usize..41), 1..12);
    (on_time, deferred).prop_map(|(on_time, deferred)| Case { on_time, deferred })
}

/// Where the events go, from the definition: each deferred event has an anchor among the on-time events, and is behind
/// it (`true`) or before it; without an anchor it has no place.
fn expected(case: &Case) -> (Vec<String>, usize) {
    let anchor = |thread: u32, after: u64| -> Option<(usize, bool)> {
        let own: Vec<usize> = (0..case.on_time.len()).filter(|&i| case.on_time[i].0 == thread).collect();
        if after > 0 {
            return own.get(after as usize - 1).map(|&i| (i, true));
        }
        let fork = case.on_time.iter().position(|e| e.1 == Some(thread)).map(|i| (i, true));
        let first = own.first().map(|&i| (i, false));
        match (fork, first) {
            (Some(fork), Some(first)) if fork.0 < first.0 => Some(fork),
            (fork, first) => first.or(fork),
        }
    };
    // Written order: by the on-time event they are written before, stable.
    let mut written: Vec<usize> = (0..case.deferred.len()).collect();
    written.sort_by_key(|&l| case.deferred[l].3.min(case.on_time.len()));
    let mut sorted = written.clone();
    sorted.sort_by_key(|&l| (case.deferred[l].1, case.deferred[l].2));
    let place = |l: usize| anchor(case.deferred[l].0, case.deferred[l].1);
    let mut out = Vec::new();
    for i in 0..case.on_time.len() {
        let at = |l: &&usize, behind: bool, own: bool| {
            place(**l) == Some((i, behind)) && (case.deferred[**l].0 == case.on_time[i].0) == own
        };
        out.extend(sorted.iter().filter(|l| at(l, false, true)).map(|l| format!("deferred {l}")));
        out.push(format!("on time {i}"));
        // Behind an event: first its own thread's, then those of the thread it forked.
        out.extend(sorted.iter().filter(|l| at(l, true, true)).map(|l| format!("deferred {l}")));
        out.extend(sorted.iter().filter(|l| at(l, true, false)).map(|l| format!("deferred {l}")));
    }
    (out, sorted.iter().filter(|&&l| place(l).is_none()).count())
}

fn write(case: &Case) -> Vec<u8> {
    let mut names = Names::default();
    for thread in 0..THREADS {
        names.add(Space::Thread, &format!("T{thread}")).unwrap();
    }
    let var = names.add(Space::Var, "x").unwrap();
    let site = |names: &mut Names, text: String| SiteId(names.add(Space::Site, &text).unwrap());
    let meta = Meta::default();
    let mut writer = BinaryWriter::new(Vec::new()).unwrap();
    for i in 0..=case.on_time.len() {
        for (l, &(thread, after, sequence, before)) in case.deferred.iter().enumerate() {
            if before.min(case.on_time.len()) == i {
                let site = site(&mut names, format!("deferred {l}"));
                let mut batch = Batch::default();
                // A pin without a position among them.
                let op = if l % 3 == 2 { pin(l) } else { Op::Read };
                batch.events.push(Event::new(ThreadId(thread), op, var, site));
                writer.flush(&names, &meta).unwrap();
                writer.write_deferred(&names, &meta, &batch, &[DeferredPosition { after, sequence }]).unwrap();
            }
        }
        if let Some(&(thread, child)) = case.on_time.get(i) {
            let site = site(&mut names, format!("on time {i}"));
            let mut batch = Batch::default();
            let (op, object) = child.map_or((Op::Write, var), |child| (Op::Fork, child));
            batch.events.push(Event::new(ThreadId(thread), op, object, site));
            writer.write_batch(&names, &meta, &batch).unwrap();
        }
    }
    writer.finish(&names, &meta).unwrap()
}

/// Writes a case by actions; all deferred events in one frame, or each in its own.
fn write_actions(case: &Case, apart: bool) -> Vec<u8> {
    let mut names = Names::default();
    for thread in 0..THREADS {
        names.add(Space::Thread, &format!("T{thread}")).unwrap();
    }
    let var = names.add(Space::Var, "x").unwrap();
    let site = |names: &mut Names, text: String| SiteId(names.add(Space::Site, &text).unwrap());
    let meta = Meta::default();
    let mut writer = ActionWriter::new(Vec::new()).unwrap();
    for i in 0..=case.on_time.len() {
        for (l, &(thread, after, sequence, before)) in case.deferred.iter().enumerate() {
            if before.min(case.on_time.len()) == i {
                let site = site(&mut names, format!("deferred {l}"));
                let (thread, at) = (ThreadId(thread), DeferredPosition { after, sequence });
                match l % 3 {
                    2 => writer.add_deferred_event(Event::new(thread, pin(l), var, site), &Extra::default(), &[], at),
                    1 => {
                        let extra = Extra { value: Value::Int(l as i64), ..Extra::default() };
                        writer.add_deferred_event(Event::new(thread, Op::Read, var, site), &extra, &[], at)
                    }
                    _ => {
                        let read = writer.action(Op::Read, site, StackId(0)).unwrap();
                        writer.add_deferred(thread, read, var, at)
                    }
                };
                if apart {
                    writer.make_room_for_deferred(&names, &meta).unwrap();
                }
            }
        }
        if let Some(&(thread, child)) = case.on_time.get(i) {
            let site = site(&mut names, format!("on time {i}"));
            let (op, object) = child.map_or((Op::Write, var), |child| (Op::Fork, child));
            writer.add_event(Event::new(ThreadId(thread), op, object, site), &Extra::default(), &[]);
        }
    }
    writer.finish(&names, &meta).unwrap()
}

/// One kind of pin or the other.
fn pin(deferred: usize) -> Op {
    if deferred.is_multiple_of(2) { Op::Pin } else { Op::ReadPin }
}

fn sites(trace: &Trace) -> Vec<String> {
    trace.batch.events.iter().map(|e| trace.names.site(e.site()).to_owned()).collect()
}

/// Each pin names itself.
fn pins_name_themselves(trace: &Trace) -> bool {
    let mut counts = [0i64; THREADS as usize];
    trace.batch.events.iter().all(|&event| {
        let count = &mut counts[event.thread().0 as usize];
        *count += 1;
        !event.op().is_drop_barrier() || trace.batch.extra(event).value == Value::Int(*count - 1)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]
    #[test]
    fn deferred_events_are_put_back(case in cases(), how in 0..3) {
        let bytes = match how {
            0 => write(&case),
            how => write_actions(&case, how == 1),
        };
        let trace = Trace::read(&mut BinaryReader::open(Cursor::new(&bytes)).unwrap()).unwrap();
        let (expected, unplaced) = expected(&case);
        prop_assert_eq!(sites(&trace), expected);
        prop_assert!(pins_name_themselves(&trace), "{:?}", in_words(&trace.names, &trace.batch));
        prop_assert_eq!(trace.losses.len(), usize::from(unplaced > 0), "{:?}", trace.losses);
        // Without the end mark the frames are found one by one: the same events.
        let cut = &bytes[..bytes.len() - 1];
        let again = Trace::read(&mut BinaryReader::open(Cursor::new(cut)).unwrap()).unwrap();
        prop_assert_eq!(in_words(&again.names, &again.batch), in_words(&trace.names, &trace.batch));
        prop_assert!(!again.losses.is_empty());
        // A stream cannot go back: it gives the on-time events and says what it left out.
        let mut stream = BinaryReader::new(&bytes[..]).unwrap();
        let streamed = Trace::read(&mut stream as &mut dyn Source).unwrap();
        prop_assert_eq!(streamed.batch.events.len(), case.on_time.len());
        prop_assert!(streamed.losses[0].message.contains("deferred events"), "{:?}", streamed.losses);
    }
}
