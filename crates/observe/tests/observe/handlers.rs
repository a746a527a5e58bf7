//! Signal handlers that run while their thread waits.

use crate::scenes::start;
use crate::support::shown;
use runtime::layout::process;
use runtime::record::{Class, Kind};

pub(crate) fn handler() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    let (lock, condition, g) = (0x5000, 0x5010, 0x5020);
    let at = main.context(0, 0x1011);
    main.fork(child.slot, 0); // position 1
    child.begin();
    main.acquire(lock, 0); // 2
    main.sync3(Kind::Wait, Class::Condition as u8, condition, at, lock); // 3
    child.acquire(lock, 0);
    main.sync(Kind::Await, Class::Signal as u8, 10, 0); // 4
    main.sync(Kind::Up, Class::Semaphore as u8, 0x5030, 0); // 5
    child.sync(Kind::Notify, Class::Condition as u8, condition, 0);
    child.release(lock, 0);
    main.sync3(Kind::Woken, Class::Condition as u8, condition, 0, lock); // 6
    main.release(lock, 0); // 7
    child.reserve(64);
    // Before the wait, in the handler (the last one after all that it records), and after the wake-up.
    for sync_index in [3, 5, 6, 7] {
        child.deferred(g, 0xff, (main.slot, sync_index, 0), true, 0);
    }
    child.sync(Kind::ConflictWrite, 0xff, g, 0);
    child.sync(Kind::ThreadEnd, 0, 0, 0);
    main.join(child.slot, 0);
    agent.end(process::EXITED);
}

#[test]
fn a_handler_that_interrupts_a_wait_is_a_thread_of_its_own() {
    let expected = "\
main|fork(T1)|
main|acq(prog+0x2000)|
main|w(prog+0x2020)|
main|fork(main-handler1)|prog+0x10
main|wait(prog+0x2010,prog+0x2000)|prog+0x10
T1|acq(prog+0x2000)|
main-handler1|await(signal#10)|
main-handler1|w(prog+0x2020)|
main-handler1|up(prog+0x2030)|
main-handler1|w(prog+0x2020)|
T1|notify(prog+0x2010)|
T1|rel(prog+0x2000)|
main|woken(prog+0x2010,prog+0x2000)|
main|join(main-handler1)|
main|w(prog+0x2020)|
main|rel(prog+0x2000)|
T1|w(prog+0x2020)|
main|join(T1)|";
    assert_eq!(shown("handler"), expected.lines().collect::<Vec<_>>());
}

pub(crate) fn interrupted_request() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    let (lock, g) = (0x5000, 0x5020);
    main.fork(child.slot, 0); // position 1
    child.begin();
    child.acquire(lock, 0);
    let at = main.context(0, 0x1011);
    main.sync(Kind::Request, Class::Mutex as u8, lock, at); // 2
    main.sync(Kind::Await, Class::Signal as u8, 10, at); // 3
    main.sync(Kind::Up, Class::Semaphore as u8, 0x5030, at); // 4
    child.release(lock, 0);
    main.acquire(lock, at); // 5
    main.release(lock, at); // 6
    // Asked, and got without a handler in between.
    main.sync(Kind::Request, Class::Mutex as u8, lock, at); // 7
    main.acquire(lock, at); // 8
    main.release(lock, at); // 9
    child.reserve(64);
    for sync_index in [3, 4, 5, 6] {
        child.deferred(g, 0xff, (main.slot, sync_index, 0), true, 0);
    }
    child.sync(Kind::ConflictWrite, 0xff, g, 0);
    child.sync(Kind::ThreadEnd, 0, 0, 0);
    main.join(child.slot, 0);
    agent.end(process::EXITED);
}

#[test]
fn a_handler_that_interrupts_a_request_is_a_thread_of_its_own() {
    let expected = "\
main|fork(T1)|
main|fork(main-handler1)|prog+0x10
T1|acq(prog+0x2000)|
main|req(prog+0x2000)|prog+0x10
main-handler1|w(prog+0x2020)|
main-handler1|await(signal#10)|prog+0x10
main-handler1|w(prog+0x2020)|
main-handler1|up(prog+0x2030)|prog+0x10
main-handler1|w(prog+0x2020)|
T1|rel(prog+0x2000)|
main|acq(prog+0x2000)|prog+0x10
main|join(main-handler1)|prog+0x10
main|w(prog+0x2020)|
main|rel(prog+0x2000)|prog+0x10
main|req(prog+0x2000)|prog+0x10
main|acq(prog+0x2000)|prog+0x10
main|rel(prog+0x2000)|prog+0x10
T1|w(prog+0x2020)|
main|join(T1)|";
    assert_eq!(shown("interrupted_request"), expected.lines().collect::<Vec<_>>());
}

pub(crate) fn jump_out_of_a_wait() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    let (lock, g) = (0x5000, 0x5020);
    main.fork(child.slot, 0);
    child.begin();
    main.acquire(lock, 0);
    child.sync(Kind::Request, Class::Mutex as u8, lock, 0); // position 1
    child.sync(Kind::Await, Class::Signal as u8, 10, 0); // 2
    child.sync(Kind::ThreadEnd, 0, 0, 0);
    main.join(child.slot, 0);
    main.reserve(64);
    main.deferred(g, 0xff, (child.slot, 3, 0), true, 0);
    main.sync(Kind::ConflictWrite, 0xff, g, 0);
    agent.end(process::EXITED);
}

#[test]
fn who_jumps_out_of_a_wait_is_joined_with_all_it_does_then() {
    let expected = "\
main|fork(T1)|
T1|fork(T1-handler1)|
main|acq(prog+0x2000)|
T1|req(prog+0x2000)|
T1-handler1|await(signal#10)|
T1-handler1|w(prog+0x2020)|
T1|join(T1-handler1)|
main|join(T1)|
main|w(prog+0x2020)|";
    assert_eq!(shown("jump_out_of_a_wait"), expected.lines().collect::<Vec<_>>());
}
