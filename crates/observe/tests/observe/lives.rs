//! The lifetimes of synchronisation objects: which of their uses become events, and where these stand.

use crate::scenes::start;
use crate::support::shown;
use runtime::layout::process;
use runtime::record::{Class, FILES, Kind};

pub(crate) fn lives() {
    let (agent, mut main) = start();
    let mut child = agent.thread();
    let (mutex, condition, semaphore) = (Class::Mutex as u8, Class::Condition as u8, Class::Semaphore as u8);
    let (lock, ready, permits, own, heap) = (0x5000, 0x5020, 0x5040, 0x5060, 0x9000);
    main.sync3(Kind::Init, mutex, lock, 0, 0);
    main.sync3(Kind::Init, mutex, own, 0, 0);
    main.fork(child.slot, 0);
    child.begin();
    // The first use by another thread than the one that made it, and the last one; nothing in between.
    for _ in 0..3 {
        child.acquire(lock, 0);
        child.release(lock, 0);
    }
    main.acquire(lock, 0);
    main.release(lock, 0);
    main.sync(Kind::Destroy, mutex, lock, 0);
    // What one thread alone has used says nothing.
    main.acquire(own, 0);
    main.release(own, 0);
    main.sync(Kind::Destroy, mutex, own, 0);
    // Who was woken does not touch the condition any more.
    child.acquire(lock, 0);
    child.sync3(Kind::Wait, condition, ready, 0, lock);
    main.sync(Kind::Notify, condition, ready, 0);
    child.sync3(Kind::Woken, condition, ready, 0, lock);
    child.release(lock, 0);
    main.sync(Kind::Destroy, condition, ready, 0);
    // A semaphore that was destroyed must be initialised again.
    main.sync(Kind::Destroy, semaphore, permits, 0);
    child.sync(Kind::Up, semaphore, permits, 0);
    // One that has a name is counted by the C library.
    main.sync3(Kind::Init, Class::NamedSemaphore as u8, permits, 0, 0);
    child.sync(Kind::Up, semaphore, permits, 0);
    main.sync(Kind::Destroy, Class::NamedSemaphore as u8, permits, 0);
    // A request is the use; nothing comes between it and its answer. The memory of the lock is freed.
    main.sync3(Kind::Alloc, 0, heap, 0, 64);
    main.acquire(heap, 0);
    child.sync(Kind::Request, mutex, heap, 0);
    main.release(heap, 0);
    child.acquire(heap, 0);
    main.sync3(Kind::Free, 0, heap, 0, 64);
    // A file descriptor.
    child.sync(Kind::Use, Class::File as u8, FILES + 5, 0);
    main.sync(Kind::Destroy, Class::File as u8, FILES + 5, 0);
    child.sync(Kind::Use, Class::File as u8, FILES + 5, 0);
    main.sync3(Kind::Init, Class::File as u8, FILES + 5, 0, 0);
    main.sync(Kind::Destroy, Class::File as u8, FILES + 5, 0);
    agent.end(process::EXITED);
}

#[test]
fn ends_of_lifetimes_conflict_with_uses() {
    let expected = "\
main|w(prog+0x2000)|
main|fork(T1)|
T1|r(prog+0x2000)|
T1|acq(prog+0x2000)|
T1|rel(prog+0x2000)|
T1|acq(prog+0x2000)|
T1|rel(prog+0x2000)|
T1|acq(prog+0x2000)|
T1|r(prog+0x2000)|
T1|rel(prog+0x2000)|
main|acq(prog+0x2000)|
main|rel(prog+0x2000)|
main|free(prog+0x2000)|
main|acq(prog+0x2060)|
main|rel(prog+0x2060)|
T1|acq(prog+0x2000#2)|
T1|r(prog+0x2020)|
T1|wait(prog+0x2020,prog+0x2000#2)|
main|notify(prog+0x2020)|
T1|woken(prog+0x2020,prog+0x2000#2)|
T1|rel(prog+0x2000#2)|
T1|r(prog+0x2040)|
main|free(prog+0x2020)|
main|free(prog+0x2040)|
T1|up(prog+0x2040)|
#! init prog+0x2040#2=0
T1|up(prog+0x2040#2)|
T1|r(heap#1)|
main|acq(heap#1)|
T1|req(heap#1)|
main|rel(heap#1)|
T1|acq(heap#1)|
T1|r(fd#5)|
main|free(heap#1)|
main|free(fd#5)|";
    assert_eq!(shown("lives"), expected.lines().collect::<Vec<_>>());
}
