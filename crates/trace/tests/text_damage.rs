//! Damaged input: never a panic, always either events or an error with its line; what was cut off is a loss.

use crate::common::in_words;
use event::{Batch, Op};
use std::io::{Read, Write};
use trace::decompress::{Decompress, Packing, Peeked};
use trace::text::{RoadRunnerReader, TextReader};
use trace::{Error, Source, Trace};

/// Operations in all their forms.
const FORMS: &str = r#"# forms
#! init x=0 y="a b" s=2
T1|r(x)|17
T1|w(x)=3|Main.java:12
T2|w(größe)=-1.5e-7|
T2|acq(l)|1
T2|rel(l)|1
T2|racq(l)|2
T2|rrel(l)|2
T2|tacq(l)|3
T2|tfail(l)|3
T2|req(l)|3
T1|fork(T2)|4
T1|join(T2)|5
T1|wait(c,l)|6
T1|woken(c,l)=timeout|6
T1|notify(c)|7
T1|notifyall(c)|7
T1|post(o)|8
T1|await(o)|8
T1|up(s)|9
T1|down(s)|9
T1|ald(x)=1@acquire|10
T1|ast(x)=true@release|10
T1|armw(x)="a\"\n\x7c"@acqrel|10
T1|fence@acqrel|11
T1|begin|12
T1|end(b)|12
T1|ev(tick,1,"a",?)|13
T1|alloc(x\x20y)|14
T1|free(x\x20y)|14
T1|pin(x,42)|15
T1|rpin(x,43)|15
#! incomplete the end
"#;

const ROADRUNNER: &str = "@   Acquire(2,@03)\n@ Rd(0,@01.Foo.x) ok Foo.java:3\n@ Enter(1,Foo.bar(I)V)\n";

/// The forms, and every operation that has the form `op(object)` once more.
fn everything() -> String {
    let simple = Op::ALL.iter().filter(|op| op.space().is_some() && !op.has_list());
    let lines: Vec<String> = simple.map(|op| format!("T3|{}(a)|16\n", op.text())).collect();
    FORMS.to_owned() + &lines.concat()
}

/// A generator whose numbers depend on the seed only.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

fn damage(random: &mut Random, text: &mut Vec<u8>) {
    let at = random.below(text.len().max(1));
    match random.below(6) {
        _ if text.is_empty() => {}
        0 => text[at] = random.below(256) as u8,
        1 => text[at] ^= 1 << random.below(8),
        2 => drop(text.remove(at)),
        3 => text.insert(at, b"|()=@,\\\"#\n\r \0x7\xff"[random.below(16)]),
        4 => text.truncate(at),
        _ => {
            let end = (at + random.below(20)).min(text.len());
            let piece = text[at..end].to_vec();
            let to = random.below(text.len());
            text.splice(to..to, piece);
        }
    }
}

fn read_all(source: &mut dyn Source, events: &mut usize) -> Result<(), Error> {
    let mut batch = Batch::default();
    while source.next_batch(&mut batch)? {
        *events += batch.events.len();
        // Everything that the events refer to is there.
        in_words(source.names(), &batch);
    }
    Ok(())
}

#[test]
fn corrupted_text_gives_events_or_an_error_with_a_line() {
    let mut random = Random(1);
    let (mut good, mut bad) = (0, 0);
    let everything = everything();
    for round in 0..20_000 {
        let plain = if round % 4 == 0 { ROADRUNNER } else { &everything };
        let mut text = plain.as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            damage(&mut random, &mut text);
        }
        let mut events = 0;
        let result = if round % 4 == 0 {
            read_all(&mut RoadRunnerReader::new(&text[..]), &mut events)
        } else {
            read_all(&mut TextReader::new(&text[..]), &mut events)
        };
        match result {
            Ok(()) => good += 1,
            Err(error) => {
                assert!(error.to_string().starts_with("line "), "{error}");
                bad += 1;
            }
        }
    }
    assert!(good > 1000 && bad > 1000, "{good} good, {bad} bad");
}

#[test]
fn a_text_cut_off_anywhere_is_a_prefix() {
    let everything = everything();
    let whole = Trace::read(&mut TextReader::new(everything.as_bytes())).unwrap();
    let all = in_words(&whole.names, &whole.batch);
    assert!(Op::ALL.iter().all(|&op| whole.batch.events.iter().any(|event| event.op() == op)));
    for cut in 0..everything.len() {
        let trace = Trace::read(&mut TextReader::new(&everything.as_bytes()[..cut])).unwrap();
        let words = in_words(&trace.names, &trace.batch);
        // A last line that can be read may have lost the end of its site or value.
        let sure = if everything.as_bytes()[..cut].ends_with(b"\n") { words.len() } else { words.len().max(1) - 1 };
        assert_eq!(words[..sure], all[..sure], "cut at {cut}");
        let cut_off = trace.losses.iter().any(|loss| loss.message.contains("cut off"));
        assert!(!cut_off || !everything.as_bytes()[..cut].ends_with(b"\n"));
    }
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn zstd(text: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(text, 3).unwrap()
}

fn many_lines() -> String {
    let mut random = Random(7);
    (0..200_000).map(|_| format!("T{}|w(V{})|{}\n", random.below(8), random.below(9999), random.below(999))).collect()
}

#[test]
fn packed_text_reads_like_plain_text() {
    let text = many_lines();
    let (first, second) = text.as_bytes().split_at(text.len() / 2);
    for (packing, packed) in [
        (Packing::Plain, text.clone().into_bytes()),
        (Packing::Gzip, gzip(text.as_bytes())),
        (Packing::Gzip, [gzip(first), gzip(second)].concat()),
        (Packing::Zstd, zstd(text.as_bytes())),
        (Packing::Zstd, [zstd(first), zstd(second)].concat()),
        (Packing::Zstd, [&[0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9][..], &zstd(text.as_bytes())].concat()),
    ] {
        let input = Decompress::new(&packed[..]).unwrap();
        assert_eq!(input.packing(), packing);
        let counter = input.counter();
        let peeked = Peeked::new(input, 100).unwrap();
        assert_eq!(peeked.head(), &text.as_bytes()[..100]);
        let mut reader = TextReader::new(peeked).with_progress(counter);
        let mut events = 0;
        read_all(&mut reader, &mut events).unwrap();
        assert_eq!((events, reader.losses().len()), (200_000, 0), "{packing:?}");
        assert_eq!(reader.consumed(), packed.len() as u64);
    }
}

#[test]
fn packed_text_that_is_cut_off_or_damaged_is_a_loss_after_its_last_whole_line() {
    let text = many_lines();
    let whole = Trace::read(&mut TextReader::new(text.as_bytes())).unwrap();
    let all = in_words(&whole.names, &whole.batch);
    for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 64].fill(0xff);
        let trailing = [&packed[..], b"garbage, more than a header"].concat();
        for (what, bytes) in [
            ("half", &packed[..packed.len() / 2]),
            ("all but one", &packed[..packed.len() - 1]),
            ("damaged", &damaged[..]),
            ("trailing", &trailing[..]),
        ] {
            let trace = match Trace::read(&mut TextReader::new(Decompress::new(bytes).unwrap())) {
                Ok(trace) => trace,
                // Damaged data can unpack to other text before the damage shows.
                Err(Error::Malformed { .. }) if what == "damaged" => continue,
                Err(error) => panic!("{what}: {error}"),
            };
            let words = in_words(&trace.names, &trace.batch);
            if what != "damaged" {
                assert!(words[..] == all[..words.len()], "{what}");
            }
            assert!(words.len() > 1000, "{what}: {}", words.len());
            assert_eq!(trace.losses.len(), 1, "{what}");
            let cut = ["half", "all but one"].contains(&what);
            let expected = if cut { "the input is cut off" } else { "the input is damaged" };
            assert!(trace.losses[0].message.starts_with(expected), "{what}: {}", trace.losses[0]);
        }
    }
}

#[test]
fn packed_data_that_gives_nothing_is_an_error() {
    for bytes in [
        &[0x1f, 0x8b, 8][..],
        &[0x1f, 0x8b, 99, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[0x28, 0xb5, 0x2f, 0xfd],
        &[0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    ] {
        let error = Trace::read(&mut TextReader::new(Decompress::new(bytes).unwrap())).unwrap_err();
        assert!(matches!(error, Error::Io(_)), "{bytes:?}: {error}");
    }
}

#[test]
fn a_zstd_window_beyond_the_bound_is_refused() {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.window_log(28).unwrap();
    encoder.include_contentsize(false).unwrap();
    encoder.write_all(everything().as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    assert!(Trace::read(&mut TextReader::new(Decompress::new(&packed[..]).unwrap())).is_err());
}

/// Fails like a disk does.
struct Failing;

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Err(std::io::Error::from_raw_os_error(5))
    }
}

#[test]
fn an_error_of_the_input_is_an_error() {
    for head in [everything().as_bytes().to_vec(), gzip(many_lines().as_bytes())[..50_000].to_vec()] {
        let input = Decompress::new((&head[..]).chain(Failing)).unwrap();
        let error = Trace::read(&mut TextReader::new(input)).unwrap_err();
        assert!(matches!(&error, Error::Io(e) if e.raw_os_error() == Some(5)), "{error}");
    }
}
