//! Barriers: each phase is an object of its own, however late a thread leaves it.

use crate::scenes::start;
use crate::support::shown;
use runtime::layout::process;
use runtime::record::{BARRIER_IS_SHARED, Class, Kind};

const BARRIER: u8 = Class::Barrier as u8;
const STATE: u8 = Class::BarrierState as u8;

pub(crate) fn barriers() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    let (own, shared) = (0x5000, 0x5020);
    main.sync3(Kind::Init, BARRIER, own, 0, 2);
    main.sync3(Kind::Init, BARRIER, shared, 0, 2 | BARRIER_IS_SHARED);
    main.fork(child.slot, 0);
    child.begin();
    // The child leaves when main has arrived again. It is the last one then, and runs an action.
    child.sync(Kind::Post, BARRIER, own, 0);
    main.sync(Kind::Post, BARRIER, own, 0);
    main.sync(Kind::Await, BARRIER, own, 0);
    main.sync(Kind::Post, BARRIER, own, 0);
    child.sync(Kind::Await, BARRIER, own, 0);
    child.sync(Kind::Post, BARRIER, own, 0);
    child.sync(Kind::Await, STATE, own, 0);
    child.sync(Kind::Post, STATE, own, 0);
    child.sync(Kind::Await, BARRIER, own, 0);
    // The third phase takes the object of the first.
    child.sync(Kind::Post, BARRIER, own, 0);
    main.sync(Kind::AwaitWaited, BARRIER, own, 0);
    main.sync(Kind::Post, BARRIER, own, 0);
    child.sync(Kind::Await, BARRIER, own, 0);
    // Who asks only learns of all; something else may let threads go on.
    main.sync(Kind::FromOutside, STATE, own, 0);
    main.sync(Kind::Await, BARRIER, own, 0);
    main.sync(Kind::Await, STATE, own, 0);
    // After a reset, there is one object.
    main.sync(Kind::Post, STATE, own, 0);
    child.sync(Kind::Post, BARRIER, own, 0);
    main.sync(Kind::Post, BARRIER, own, 0);
    main.sync(Kind::Await, BARRIER, own, 0);
    main.sync(Kind::Post, BARRIER, own, 0);
    child.sync(Kind::Await, BARRIER, own, 0);
    main.sync(Kind::Destroy, BARRIER, own, 0);
    // What leaves late leaves the barrier that was.
    main.sync(Kind::Await, BARRIER, own, 0);
    // Threads of other processes may have arrived.
    child.sync(Kind::Post, BARRIER, shared, 0);
    main.sync(Kind::Post, BARRIER, shared, 0);
    main.sync(Kind::Await, BARRIER, shared, 0);
    main.sync(Kind::Post, BARRIER, shared, 0);
    child.sync(Kind::Await, BARRIER, shared, 0);
    child.sync(Kind::ThreadEnd, 0, 0, 0);
    main.join(child.slot, 0);
    agent.end(process::EXITED);
}

#[test]
fn each_phase_has_an_object() {
    let expected = r##"#! init prog+0x2000=2
#! init prog+0x2020=2
main|w(prog+0x2000)|
main|w(prog+0x2020)|
main|fork(T1)|
T1|r(prog+0x2000)|
T1|post(prog+0x2000)|
main|post(prog+0x2000)|
main|await(prog+0x2000)|
#! init prog+0x2000#2=2
main|post(prog+0x2000#2)|
T1|await(prog+0x2000)|
T1|post(prog+0x2000#2)|
T1|await(prog+0x2000#2)|
T1|post(prog+0x2000#2)|
T1|await(prog+0x2000#2)|
T1|post(prog+0x2000)|
main|areq(prog+0x2000#2)|
main|await(prog+0x2000#2)|
main|post(prog+0x2000)|
T1|await(prog+0x2000)|
T1|r(prog+0x2000)|
main|ev(foretrace.outside,"prog+0x2000")|
main|ev(foretrace.outside,"prog+0x2000#2")|
main|await(prog+0x2000)|
main|await(prog+0x2000)|
main|await(prog+0x2000#2)|
main|post(prog+0x2000)|
main|post(prog+0x2000#2)|
T1|post(prog+0x2000)|
main|post(prog+0x2000)|
main|await(prog+0x2000)|
main|post(prog+0x2000)|
T1|await(prog+0x2000)|
T1|r(prog+0x2020)|
main|free(prog+0x2000)|
main|await(prog+0x2000)|
T1|post(prog+0x2020)|
main|post(prog+0x2020)|
main|await(prog+0x2020)|
main|post(prog+0x2020)|
T1|await(prog+0x2020)|
main|join(T1)|"##;
    assert_eq!(shown("barriers"), expected.lines().collect::<Vec<_>>());
}
