//! Windows cover the trace, each with the recorded state before it.

use super::read;
use crate::Trace;
use event::{LockId, ThreadId, Value, VarId};

#[test]
fn windows_follow_each_other() {
    let ranges = |text: &str, size: u64| {
        let trace = read(text);
        let trace = Trace::new(&trace.names, &trace.batch);
        let mut windows = trace.windows(size, &|_| Value::Unknown);
        let mut ranges = Vec::new();
        while let Some(window) = windows.next_window() {
            assert_eq!(window.events().map(|(index, _)| index).collect::<Vec<_>>(), window.range().collect::<Vec<_>>());
            ranges.push((window.range().start, window.range().end));
        }
        ranges
    };
    let five = "T1|w(x) T1|w(x) T1|w(x) T1|w(x) T1|w(x)";
    assert_eq!(ranges(five, 2), [(0, 2), (2, 4), (4, 5)]);
    assert_eq!(ranges(five, 5), [(0, 5)]);
    assert_eq!(ranges(five, 0), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]);
    assert_eq!(ranges(five, u64::MAX), [(0, 5)]);
    assert_eq!(ranges("", 10), [(0, 0)]);
}

#[test]
fn a_window_begins_with_the_recorded_state() {
    let text = "T1|acq(l) T1|w(x)=5 T2|up(s) T2|down(s) T2|up(s) T1|alloc(x) T2|ast(y)=3 T1|rel(l)";
    let trace = read(text);
    let looked = Trace::new(&trace.names, &trace.batch);
    let initial = |var: VarId| Value::Int(i64::from(var.0) + 10);
    let mut windows = looked.windows(5, &initial);

    let first = windows.next_window().expect("a window");
    assert_eq!((first.start.sections.open(), &first.start.semaphores[..]), (vec![], &[0][..]));
    assert_eq!(first.start.values, [Value::Int(10), Value::Int(11)]);

    let second = windows.next_window().expect("a window");
    assert_eq!(second.start.sections.open(), [(LockId(0), ThreadId(0), true)]);
    assert_eq!(second.start.semaphores, [1]);
    assert_eq!(second.start.values, [Value::Int(5), Value::Int(11)]);
    assert_eq!(second.start.events, [2, 3]);

    let mut windows = looked.windows(7, &initial);
    windows.next_window();
    let last = windows.next_window().expect("a window");
    assert_eq!(last.start.values, [Value::Unknown, Value::Int(3)]);
}

#[test]
fn semaphores_count_from_the_last_initial_value_before_their_first_use() {
    let trace = trace::Trace::read(&mut trace::text::TextReader::new(
        &b"#! init s=1\n#! init s=2 t=-1\nT1|down(s)|0\n#! init s=7\nT1|up(t)|0\n"[..],
    ));
    let trace = trace.expect("the trace is one");
    assert_eq!(Trace::new(&trace.names, &trace.batch).semaphores(), [2, 0]);
}

#[test]
fn the_last_reader_of_each_write_is_found() {
    let trace = read("T1|w(x) T2|r(x) T1|armw(x) T1|w(y) T2|ald(x) T2|r(x) T1|free(x) T1|r(x)");
    let trace = Trace::new(&trace.names, &trace.batch);
    assert_eq!(trace.last_readers(), [2, 0, 5, 0, 0, 0, 7, 0]);
    assert!(trace.is_shared(VarId(0)) && !trace.is_shared(VarId(1)));
}
