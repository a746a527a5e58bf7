//! The file of gates as bytes.

use crate::{Gates, Hold};
use runtime::gates::{Event, Gates as Layout, Span, VERSION};
use runtime::layout::{MAGIC, path_hash};
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;

/// Spans of a file at most: a line has few.
const SPANS: usize = 4096;

pub(crate) fn bytes(gates: &Gates, hold: Hold) -> Vec<u8> {
    let code = gates.events.iter().zip(0u32..).flat_map(|(event, number)| event.code.iter().map(move |c| (c, number)));
    let spans: Vec<_> = code.take(SPANS).collect();
    let mut bytes = vec![0; size_of::<Layout>()];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(Layout, magic), &MAGIC.to_ne_bytes());
    put(offset_of!(Layout, version), &VERSION.to_ne_bytes());
    put(offset_of!(Layout, events), &(gates.events.len() as u32).to_ne_bytes());
    put(offset_of!(Layout, spans), &(spans.len() as u32).to_ne_bytes());
    put(offset_of!(Layout, meet), &gates.meet.to_ne_bytes());
    put(offset_of!(Layout, patience), &hold.patience.to_ne_bytes());
    put(offset_of!(Layout, attempts), &hold.attempts.to_ne_bytes());
    put(offset_of!(Layout, last_waits), &u32::from(hold.last_waits).to_ne_bytes());
    for (number, event) in gates.events.iter().enumerate() {
        let at = offset_of!(Layout, event) + number * size_of::<Event>();
        put(at + offset_of!(Event, operations), &event.operations.to_ne_bytes());
        put(at + offset_of!(Event, meets), &u32::from(event.meets).to_ne_bytes());
        put(at + offset_of!(Event, after), &event.after.to_ne_bytes());
    }
    for (code, number) in spans {
        let mut span = [0; size_of::<Span>()];
        let mut put = |at: usize, value: &[u8]| span[at..at + value.len()].copy_from_slice(value);
        put(offset_of!(Span, module), &path_hash(code.module.as_os_str().as_bytes()).to_ne_bytes());
        put(offset_of!(Span, low), &code.low.to_ne_bytes());
        put(offset_of!(Span, high), &code.high.to_ne_bytes());
        put(offset_of!(Span, event), &number.to_ne_bytes());
        bytes.extend_from_slice(&span);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Event as Named;
    use crate::{Happened, Stand};
    use runtime::gates::{Stand as StandLayout, meet, operation};
    use source::ModuleCode;

    fn gates() -> Gates {
        let code = |low, high| ModuleCode { module: "/bin/true".into(), low, high };
        let event = |operations, code| Named { operations, code, meets: true, after: 0 };
        let write = event(operation::WRITE, vec![code(0x10, 0x20), code(0x40, 0x44)]);
        let read = event(operation::READ, vec![code(0x30, 0x38)]);
        Gates { meet: meet::RACE, events: vec![write, read] }
    }

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    #[test]
    fn the_file_has_every_span_with_its_event() {
        let bytes = bytes(&gates(), Hold { patience: 60, attempts: 3, last_waits: true });
        assert_eq!(bytes.len(), size_of::<Layout>() + 3 * size_of::<Span>());
        let head = |at| word(&bytes, at);
        assert_eq!([head(offset_of!(Layout, events)), head(offset_of!(Layout, spans))], [2, 3]);
        assert_eq!([head(offset_of!(Layout, patience)), head(offset_of!(Layout, attempts))], [60, 3]);
        let event_of =
            |span: usize| word(&bytes, size_of::<Layout>() + span * size_of::<Span>() + offset_of!(Span, event));
        assert_eq!([event_of(0), event_of(1), event_of(2)], [0, 0, 1]);
    }

    #[test]
    fn what_happened_is_read_back() {
        let mut bytes = bytes(&gates(), Hold { patience: 1, attempts: 1, last_waits: false });
        assert_eq!(Happened::read(&bytes, 2), Happened { met: None, arrivals: vec![0, 0] });
        let mut put = |at: usize, value: u32| bytes[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        put(offset_of!(Layout, met), 1);
        put(offset_of!(Layout, event) + size_of::<Event>() + offset_of!(Event, arrivals), 7);
        let stands = offset_of!(Layout, stands);
        put(stands + offset_of!(StandLayout, thread), 11);
        // Nobody stood at the second event: the file is damaged, and nothing is claimed.
        let mut half = bytes.clone();
        assert_eq!(Happened::read(&half, 2), Happened { met: None, arrivals: vec![0, 7] });
        let at = stands + size_of::<StandLayout>();
        half[at + offset_of!(StandLayout, thread)] = 12;
        half[at + offset_of!(StandLayout, size)] = 4;
        let stand = |thread, size| Stand { thread, object: 0, size, value: 0 };
        assert_eq!(Happened::read(&half, 2).met, Some(vec![stand(11, 0), stand(12, 4)]));
        for length in 0..half.len() {
            // A file of any length is read without a panic.
            drop(Happened::read(&half[..length], 2));
        }
    }
}
