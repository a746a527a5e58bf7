//! What every reader must survive: reading to the end, validating, writing in both formats, and reading that again.

use event::Batch;
use std::io::Cursor;
use trace::binary::{BinaryReader, BinaryWriter};
use trace::text::{TextReader, TextWriter};
use trace::validate::Validator;
use trace::{Error, Source, Trace};

/// Reads a source to its end or its first error; what was read must survive both formats.
pub fn survive(mut source: impl Source) {
    let mut batch = Batch::default();
    let mut validator = Validator::new();
    let mut text = TextWriter::new(Vec::new());
    let mut binary = BinaryWriter::new(Vec::new()).expect("memory");
    let mut events = 0;
    loop {
        match source.next_batch(&mut batch) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                let named = error.to_string();
                assert!(named.starts_with("line ") || named.starts_with("byte "), "{named}");
                break;
            }
        }
        assert_eq!(batch.first, events);
        events += batch.events.len() as u64;
        validator.check(source.names(), &batch);
        binary.write_batch(source.names(), source.meta(), &batch).expect("memory");
        match text.write_batch(source.names(), &batch) {
            Ok(()) => {}
            Err(Error::TooLarge { .. }) => return,
            Err(error) => panic!("{error}"),
        }
    }
    let text = text.finish(&[]).expect("memory");
    let binary = binary.finish(source.names(), source.meta()).expect("memory");
    let from_text = Trace::read(&mut TextReader::new(&text[..])).expect("what was written as text");
    let from_binary = Trace::read(&mut BinaryReader::open(Cursor::new(binary)).expect("a header")).expect("a trace");
    assert_eq!((from_text.losses.len(), from_binary.losses.len()), (0, 0));
    for again in [&from_text, &from_binary] {
        assert_eq!(again.batch.events.len() as u64, events);
        let mut writer = TextWriter::new(Vec::new());
        writer.write_batch(&again.names, &again.batch).expect("memory");
        assert!(writer.finish(&[]).expect("memory") == text, "the same trace is the same text");
    }
}
