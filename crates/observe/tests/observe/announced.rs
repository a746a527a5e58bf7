//! Waits that threads announce: an event right before what answers them, and none of what was given up.

use crate::scenes::start;
use crate::support::shown;
use runtime::layout::process;
use runtime::record::{Class, Kind};

pub(crate) fn announced() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    let (barrier, semaphore) = (Class::Barrier as u8, Class::Semaphore as u8);
    main.sync3(Kind::Init, barrier, 0x5000, 0, 2);
    main.sync3(Kind::Init, semaphore, 0x5020, 0, 1);
    main.fork(child.slot, 0);
    child.begin();
    child.sync(Kind::Post, barrier, 0x5000, 0);
    child.sync(Kind::Announce, barrier, 0x5000, 0);
    main.sync(Kind::Post, barrier, 0x5000, 0);
    main.sync(Kind::Announce, barrier, 0x5000, 0);
    main.sync(Kind::Await, barrier, 0x5000, 0);
    child.sync(Kind::Await, barrier, 0x5000, 0);
    // One that waits for as long as it takes, one that tries, one that was interrupted.
    main.sync(Kind::DownWaited, semaphore, 0x5020, 0);
    main.sync(Kind::Up, semaphore, 0x5020, 0);
    main.sync(Kind::Down, semaphore, 0x5020, 0);
    main.sync(Kind::Announce, semaphore, 0x5020, 0);
    main.acquire(0x5040, 0);
    // A call that is known to wait for as long as it takes, and what may end such waits.
    child.sync(Kind::AwaitWaited, barrier, 0x5000, 0);
    // All that has come before, once more.
    child.sync(Kind::Announce, barrier, 0x5000, 0);
    child.sync(Kind::Await, barrier, 0x5000, 0);
    main.sync(Kind::Up, semaphore, 0x5020, 0);
    main.sync(Kind::DownWaited, semaphore, 0x5020, 0);
    main.sync(Kind::FromOutside, barrier, 0x5000, 0);
    main.sync(Kind::FromOutside, 0, child.slot.into(), 0);
    child.sync(Kind::ThreadEnd, 0, 0, 0);
    main.sync(Kind::Announce, 0, child.slot.into(), 0);
    main.join(child.slot, 0);
    agent.end(process::EXITED);
}

#[test]
fn what_answers_an_announcement_comes_right_after_it() {
    let expected = r##"#! init prog+0x2000=2
#! init prog+0x2020=1
main|w(prog+0x2000)|
main|fork(T1)|
T1|r(prog+0x2000)|
T1|post(prog+0x2000)|
main|post(prog+0x2000)|
main|areq(prog+0x2000)|
main|await(prog+0x2000)|
T1|areq(prog+0x2000)|
T1|await(prog+0x2000)|
main|dreq(prog+0x2020)|
main|down(prog+0x2020)|
main|up(prog+0x2020)|
main|down(prog+0x2020)|
main|acq(prog+0x2040)|
T1|areq(prog+0x2000)|
T1|await(prog+0x2000)|
T1|areq(prog+0x2000)|
T1|await(prog+0x2000)|
main|up(prog+0x2020)|
main|dreq(prog+0x2020)|
main|down(prog+0x2020)|
main|ev(foretrace.outside,"prog+0x2000")|
main|ev(foretrace.outside,"T1")|
main|jreq(T1)|
main|join(T1)|"##;
    assert_eq!(shown("announced"), expected.lines().collect::<Vec<_>>());
}
