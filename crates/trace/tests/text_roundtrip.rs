//! Whatever is written as text reads back as it was, and writes again to the same bytes.

use crate::common::{Config, Sample, arbitrary_batch, in_words};
use event::Batch;
use proptest::prelude::*;
use std::io::Read;
use trace::text::{TextReader, TextWriter};
use trace::{InputPosition, Loss, Source, Trace};

fn write(sample: &Sample, losses: &[Loss]) -> Vec<u8> {
    let mut writer = TextWriter::new(Vec::new());
    writer.write_batch(&sample.names, &sample.batch).expect("short lines");
    writer.finish(losses).expect("memory takes everything")
}

fn read(input: impl Read + Send) -> Trace {
    Trace::read(&mut TextReader::new(input)).expect("what was written is readable")
}

/// Gives few bytes at a time, so that lines lie across refills.
struct Drops<'a>(&'a [u8], usize);

impl Read for Drops<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.len().min(self.1).min(out.len());
        out[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

fn check(sample: &Sample, losses: &[Loss], drop: usize) {
    let text = write(sample, losses);
    let shown = String::from_utf8_lossy(&text);
    let expected = in_words(&sample.names, &sample.batch);
    let trace = read(&text[..]);
    assert_eq!(in_words(&trace.names, &trace.batch), expected, "through {shown}");
    let texts: Vec<String> = losses.iter().map(Loss::to_string).collect();
    let back: Vec<String> = trace.losses.iter().map(Loss::to_string).collect();
    assert_eq!(back, texts, "through {shown}");

    let again = Sample { names: trace.names, meta: trace.meta, batch: trace.batch };
    assert_eq!(String::from_utf8_lossy(&write(&again, &trace.losses)), shown);

    // Lines that end in CR LF never take the short way: both ways must say the same.
    let careful = read(shown.replace('\n', "\r\n").as_bytes());
    assert_eq!(in_words(&careful.names, &careful.batch), expected, "carefully through {shown}");
    let drops = read(Drops(&text, drop));
    assert_eq!(in_words(&drops.names, &drops.batch), expected, "in drops through {shown}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]

    #[test]
    fn hostile_names(
        sample in arbitrary_batch(Config { hostile: true, stacks: false, events: 40 }),
        message in "\\PC{1,20}|[\\\\x7c|\n\r ]{1,8}",
        line in any::<Option<u64>>(),
        drop in 1usize..40,
    ) {
        check(&sample, &[Loss { place: line.map(InputPosition::Line), message }], drop);
    }

    #[test]
    fn nice_names(
        sample in arbitrary_batch(Config { hostile: false, stacks: true, events: 60 }),
        drop in 1usize..40,
    ) {
        check(&sample, &[], drop);
    }
}

#[test]
fn the_text_does_not_depend_on_the_batches() {
    let mut text = String::from("#! init s=2\n");
    for i in 0..100_000 {
        text += &format!("T{}|w(V{})={i}|{}\n", i % 7, i % 1000, i % 50);
        if i % 10_007 == 0 {
            text += "#! init x=\"a b\"\nT1|ev(tick,1,?)|\n";
        }
    }
    let mut reader = TextReader::new(text.as_bytes());
    let mut writer = TextWriter::new(Vec::new());
    let mut batch = Batch::default();
    let (mut batches, mut next) = (0, 0);
    while reader.next_batch(&mut batch).unwrap() {
        assert_eq!(batch.first, next);
        next += batch.events.len() as u64;
        writer.write_batch(reader.names(), &batch).unwrap();
        batches += 1;
    }
    assert!(batches > 2);
    assert!(writer.finish(reader.losses()).unwrap() == text.as_bytes());
    assert_eq!(reader.consumed(), text.len() as u64);
}

#[test]
fn plain_std_is_in_normal_form() {
    for (file, events) in [("account", 15), ("mergesort", 167), ("twostage", 83), ("clean", 867)] {
        let path = format!("{}/../../corpus/traces/recorded/{file}.std", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read(path).unwrap();
        let trace = read(&text[..]);
        assert_eq!((trace.batch.events.len(), trace.losses.len()), (events, 0), "{file}");
        let sample = Sample { names: trace.names, meta: trace.meta, batch: trace.batch };
        assert!(write(&sample, &[]) == text, "{file}");
    }
}

#[test]
fn a_line_too_long_to_be_read_is_not_written() {
    let mut sample = Sample { names: Default::default(), meta: Default::default(), batch: Default::default() };
    let thread = sample.names.add(event::Space::Thread, &"|".repeat(300_000)).unwrap();
    let fence = event::Event::new(event::ThreadId(thread), event::Op::Fence, 0, event::SiteId(0));
    sample.batch.events.push(fence);
    let error = TextWriter::new(Vec::new()).write_batch(&sample.names, &sample.batch).unwrap_err();
    assert!(matches!(error, trace::Error::TooLarge { place: InputPosition::Line(1), .. }), "{error}");
}
