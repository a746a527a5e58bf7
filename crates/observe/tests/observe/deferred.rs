//! Deferred accesses and drop barriers: where they stand among the events of their threads.

use crate::scenes::start;
use crate::support::shown;
use runtime::layout::process;
use runtime::record::Kind;

pub(crate) fn late() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    let at = main.context(0, 0x1011);
    main.fork(child.slot, at); // position 1
    main.alloc(0x7000, 64, at); // 2: no event
    main.acquire(0x5000, 0); // 3
    main.release(0x5000, 0); // 4
    child.begin();
    let g = 0x7000;
    // The child conflicts with main's accesses before, inside and after the lock.
    child.reserve(64);
    child.deferred(g, 0xff, (main.slot, 3, at), false, 1);
    child.deferred(g, 0xff, (main.slot, 3, at), true, 0);
    child.deferred(g, 0xff, (main.slot, 4, at), false, 2);
    child.deferred(g, 0xff, (main.slot, 5, at), true, 1);
    child.drop_barrier(g, 0xff, (main.slot, 4), true, 1);
    child.drop_barrier(g, 0xff, (main.slot, 5), false, 0);
    child.sync(Kind::ConflictWrite, 0xff, g, 0);
    agent.end(process::EXITED);
}

#[test]
fn late_accesses_and_pins() {
    let expected = "\
main|fork(T1)|prog+0x10
main|w(heap#1)|prog+0x10
main|r(heap#1)|prog+0x10
main|acq(prog+0x2000)|
main|pin(heap#1,4)|
main|r(heap#1)|prog+0x10
main|rel(prog+0x2000)|
main|rpin(heap#1,7)|
main|w(heap#1)|prog+0x10
T1|w(heap#1)|";
    assert_eq!(shown("late"), expected.lines().collect::<Vec<_>>());
}

pub(crate) fn early() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    main.fork(child.slot, 0); // position 1
    child.begin();
    // No event in order follows before the child has recorded the access there.
    let at = main.context(0, 0x1011);
    child.reserve(64);
    child.deferred(0x5000, 0xff, (main.slot, 2, at), true, 0);
    child.sync(Kind::ConflictRead, 0xff, 0x5000, 0);
    child.sync(Kind::ThreadEnd, 0, 0, 0);
    main.join(child.slot, at);
    agent.end(process::EXITED);
}

#[test]
fn places_are_known_to_late_accesses() {
    let expected = "\
main|fork(T1)|
main|w(prog+0x2000)|prog+0x10
T1|r(prog+0x2000)|
main|join(T1)|prog+0x10";
    assert_eq!(shown("early"), expected.lines().collect::<Vec<_>>());
}

pub(crate) fn eventless() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    main.fork(child.slot, 0); // position 1
    main.alloc(0x7000, 64, 0); // 2: no event, like those up to the lock
    main.sync(Kind::Mark, 0, 0, 0); // 3
    main.free(0x7000, 64, 0); // 4
    main.acquire(0x5000, 0); // 5
    child.begin();
    child.reserve(256);
    // What main did at each sync index, the last first. Sequence numbers begin again with each.
    for (sync_index, seqs) in [(6, [0, 0]), (5, [0, 3]), (4, [1, 9]), (3, [0, 2]), (2, [5, 16_383])] {
        child.deferred(0x5000 + sync_index * 8, 0xff, (main.slot, sync_index, 0), true, seqs[1]);
        child.deferred(0x5000 + sync_index * 8, 0xff, (main.slot, sync_index, 0), false, seqs[0]);
        child.sync(Kind::ConflictWrite, 0xff, 0x5000 + sync_index * 8, 0);
    }
    // The free comes to light now.
    child.sync(Kind::ConflictRead, 0xff, 0x7008, 0);
    agent.end(process::EXITED);
}

#[test]
fn records_without_an_event_stand_between_late_accesses() {
    let of_main = |line: &String| line.starts_with("main|");
    let expected = "\
main|fork(T1)|
main|r(prog+0x2010)|
main|w(prog+0x2010)|
main|r(prog+0x2018)|
main|w(prog+0x2018)|
main|r(prog+0x2020)|
main|w(prog+0x2020)|
main|free(heap#1+8)|
main|r(prog+0x2028)|
main|w(prog+0x2028)|
main|acq(prog+0x2000)|
main|w(prog+0x2030)|
main|r(prog+0x2030)|";
    let lines: Vec<String> = shown("eventless").into_iter().filter(of_main).collect();
    assert_eq!(lines, expected.lines().collect::<Vec<_>>());
}

/// More records without an event than sequence numbers have room for.
const MANY: u64 = 300_000;

pub(crate) fn long_silence() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    main.fork(child.slot, 0); // position 1
    child.begin();
    for _ in 0..MANY {
        main.sync(Kind::Mark, 0, 0, 0);
    }
    child.reserve(64);
    for sync_index in [MANY + 2, MANY + 1, MANY / 2, 3, 2] {
        child.deferred(0x5000, 0xff, (main.slot, sync_index, 0), sync_index % 2 == 0, 7);
    }
    child.sync(Kind::ConflictWrite, 0xff, 0x5000, 0);
    agent.end(process::EXITED);
}

#[test]
fn a_fence_where_there_are_too_many_records_without_an_event() {
    let expected = "\
main|fork(T1)|
main|w(prog+0x2000)|
main|r(prog+0x2000)|
main|w(prog+0x2000)|
main|fence@relaxed|
main|r(prog+0x2000)|
main|w(prog+0x2000)|";
    let of_main = |line: &String| line.starts_with("main|");
    let lines: Vec<String> = shown("long_silence").into_iter().filter(of_main).collect();
    assert_eq!(lines, expected.lines().collect::<Vec<_>>());
}
