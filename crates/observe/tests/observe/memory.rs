//! Blocks of memory, their variables, and what becomes of them.

use crate::scenes::start;
use crate::support::shown;
use runtime::layout::process;
use runtime::record::Kind;

pub(crate) fn memory() {
    let (agent, mut main) = start();
    let g = 0x7000;
    main.alloc(0x7000, 64, 0);
    main.sync(Kind::ConflictWrite, 0xff, g, 0);
    main.sync(Kind::ConflictWrite, 0x0f, g + 8, 0);
    main.sync(Kind::ConflictWrite, 0xf0, g + 8, 0);
    // Cuts the first: it keeps what both touch, the rest is another.
    main.sync(Kind::ConflictWrite, 0xf0, g, 0);
    main.sync(Kind::ConflictRead, 0x0f, g, 0);
    main.sync(Kind::ConflictRead, 0xff, g, 0);
    main.sync(Kind::ConflictRead, 0xff, g + 8, 0);
    main.atomic(Kind::AtomicRmw, 1, 2, 0x7010, 0xffff_ffff);
    main.atomic(Kind::AtomicLoad, 2, 2, 0x7010, 0xffff_ffff);
    main.atomic(Kind::AtomicLoad, 0, 4, 0x7020, 1);
    agent.end(process::EXITED);
}

#[test]
fn words_are_variables() {
    let expected = "\
main|w(heap#1)|
main|w(heap#1+8)|
main|w(heap#1+12)|
main|w(heap#1)|
main|r(heap#1#2)|
main|r(heap#1)|
main|r(heap#1#2)|
main|r(heap#1+8)|
main|r(heap#1+12)|
main|armw(heap#1+16)=-1@relaxed|
main|ald(heap#1+16)=-1@acquire|
main|ald(heap#1+32)|
main|ald(heap#1+40)|";
    assert_eq!(shown("memory"), expected.lines().collect::<Vec<_>>());
}

pub(crate) fn freed() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    main.fork(child.slot, 0);
    child.begin();
    let (made, taken) = (main.context(0, 0x1201), child.context(0, 0x1301));
    main.alloc(0x7000, 32, made);
    main.sync(Kind::ConflictWrite, 0xff, 0x7000, 0);
    main.sync(Kind::ConflictWrite, 0xff, 0x7010, 0);
    main.acquire(0x7010, 0);
    main.release(0x7010, 0);
    child.free(0x7000, 32, taken);
    child.acquire(0x5000, 0);
    // Known before the free, and not.
    main.sync(Kind::ConflictRead, 0xff, 0x7000, 0);
    main.sync(Kind::ConflictRead, 0xff, 0x7008, 0);
    // Another block in this memory.
    main.alloc(0x7000, 16, made);
    main.sync(Kind::ConflictWrite, 0xff, 0x7000, 0);
    main.acquire(0x7010, 0);
    // The size of a free is more than was asked for: what is left of the first block there was freed with it.
    main.free(0x7000, 24, 0);
    // Memory that was not allocated is something else when it is freed.
    main.sync(Kind::ConflictWrite, 0xff, 0x9000, 0);
    main.free(0x9000, 8, 0);
    main.sync(Kind::ConflictWrite, 0xff, 0x9000, 0);
    agent.end(process::EXITED);
}

#[test]
fn freed_memory() {
    let expected = "\
main|fork(T1)|
main|w(heap#1)|
main|w(heap#1+16)|
main|acq(heap#1+16)|
main|r(heap#1+16#2)|
main|rel(heap#1+16)|
T1|free(heap#1)|prog+0x300
T1|free(heap#1+8)|prog+0x300
T1|free(heap#1+16)|prog+0x300
T1|free(heap#1+16#2)|prog+0x300
T1|acq(prog+0x2000)|
main|r(heap#1)|
main|r(heap#1+8)|
main|w(heap#2)|
main|acq(mem@7010)|
main|free(heap#2)|
main|w(mem@9000)|
main|free(mem@9000)|
main|w(mem@9000#2)|";
    let mut lines = shown("freed");
    // A late event may stand anywhere between its thread's neighbours.
    let late = lines.iter().position(|line| line.contains("free(heap#1+8)")).expect("the late free");
    assert!(late > 0);
    let moved = lines.remove(late);
    let free = lines.iter().position(|line| line.contains("free(heap#1)")).expect("the free");
    assert!(late <= free + 1 && late > 0);
    lines.insert(free + 1, moved);
    assert_eq!(lines, expected.lines().collect::<Vec<_>>());
}

/// `malloc_usable_size` of 16 bytes is 24.
pub(crate) fn beyond() {
    let (agent, mut main) = start();
    main.alloc(0x7000, 64, 0);
    main.sync(Kind::ConflictWrite, 0xff, 0x7010, 0);
    main.free(0x7000, 72, 0);
    for _ in 0..2 {
        main.alloc(0x7000, 16, 0);
        main.sync(Kind::ConflictWrite, 0xff, 0x7008, 0);
        main.free(0x7000, 24, 0);
    }
    agent.end(process::EXITED);
}

#[test]
fn what_malloc_gave_beyond_what_was_asked_for_has_no_variables() {
    let expected = "\
main|w(heap#1+16)|
main|free(heap#1+16)|
main|w(heap#2+8)|
main|free(heap#2+8)|
main|w(heap#3+8)|
main|free(heap#3+8)|";
    assert_eq!(shown("beyond"), expected.lines().collect::<Vec<_>>());
}

pub(crate) fn stacks() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    // A block that was given back to the system, and became the stack of a thread.
    main.alloc(0x7f00_0000, 0x10_0000, 0);
    main.free(0x7f00_0000, 0x10_0000, 0);
    main.fork(child.slot, 0);
    child.sync3(Kind::ThreadStart, 0, 0x7f08_0000, 0, 1 | 0x40 << 32);
    let local = 0x7f07_fff0;
    main.sync(Kind::ConflictWrite, 0xff, local, 0);
    child.sync(Kind::ConflictRead, 0xff, local, 0);
    // The function returns, and another has its frame there.
    child.free(local, 16, 0);
    child.alloc(local, 16, 0);
    main.sync(Kind::ConflictWrite, 0xff, local, 0);
    main.sync(Kind::ConflictWrite, 0xff, 0x7f08_0000, 0);
    agent.end(process::EXITED);
}

#[test]
fn variables_of_stacks() {
    let expected = "\
main|free(heap#1+524288)|
main|fork(T1)|
main|w(stack-of-T1#1)|
T1|r(stack-of-T1#1)|
T1|free(stack-of-T1#1)|
main|w(stack-of-T1#2)|
main|w(heap#1+524288)|";
    assert_eq!(shown("stacks"), expected.lines().collect::<Vec<_>>());
}
