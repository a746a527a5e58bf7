//! Accesses of several words in one record.

use crate::agent::Agent;
use crate::support::shown;
use runtime::layout::process;
use runtime::record::Kind;

/// Main fills two blocks, and writes to them again in between and behind; the child reads some of them, and then main
/// comes again.
pub(crate) fn bulk() {
    let agent = Agent::start(0);
    agent.maps(0, "1000-2000 r-xp 00000000 00:00 0 /opt/prog\n");
    let mut main = agent.thread();
    main.begin();
    let mut child = agent.thread();
    main.fork(child.slot, 0); // position 1
    main.alloc(0x7000, 128, 0); // 2: no event
    let at = main.context(0, 0x1101);
    main.sync(Kind::ConflictWriteBulk, 0x07, 0x7000, at); // 3
    main.sync(Kind::ConflictWriteBulk, 0xff, 0x7040, at); // 4
    child.begin();
    child.reserve(256);
    child.deferred(0x7000, 0xff, (main.slot, 4, at), true, 1);
    child.deferred(0x7008, 0x0f, (main.slot, 5, at), true, 1);
    // The lowest word comes first, though it is written later.
    child.deferred(0x7068, 0xff, (main.slot, 5, at), true, 7);
    child.deferred_bulk(Kind::DeferredBulk, (0x7040, 0x05), (main.slot, 5, at), true, 5);
    child.deferred_bulk(Kind::DropBarrierBulk, (0x7040, 0x05), (main.slot, 4, 0), true, 1);
    let at = child.context(0, 0x1201);
    child.sync(Kind::ConflictReadBulk, 0x03, 0x7000, at); // 1: of a word that was cut
    child.sync(Kind::ConflictReadBulk, 0x81, 0x7040, at); // 2
    main.reserve(256);
    main.deferred(0x7040, 0xff, (child.slot, 3, at), false, 1);
    main.deferred(0x7078, 0xff, (child.slot, 2, at), false, 1);
    main.sync(Kind::ConflictWriteBulk, 0x81, 0x7040, 0);
    agent.end(process::EXITED);
}

#[test]
fn words_of_a_block_are_accessed_one_after_the_other() {
    let expected = "\
main|fork(T1)|
main|w(heap#1)|prog+0x100
main|w(heap#1+8)|prog+0x100
main|w(heap#1+16)|prog+0x100
main|w(heap#1)|prog+0x100
main|pin(heap#1+64,5)|
main|pin(heap#1+80,6)|
main|w(heap#1+64)|prog+0x100
main|w(heap#1+72)|prog+0x100
main|w(heap#1+80)|prog+0x100
main|w(heap#1+88)|prog+0x100
main|w(heap#1+96)|prog+0x100
main|w(heap#1+104)|prog+0x100
main|w(heap#1+112)|prog+0x100
main|w(heap#1+120)|prog+0x100
main|w(heap#1+8)|prog+0x100
main|w(heap#1+64)|prog+0x100
main|w(heap#1+80)|prog+0x100
main|w(heap#1+104)|prog+0x100
T1|r(heap#1)|prog+0x200
T1|r(heap#1+8)|prog+0x200
T1|r(heap#1+12)|prog+0x200
T1|r(heap#1+120)|prog+0x200
T1|r(heap#1+64)|prog+0x200
T1|r(heap#1+120)|prog+0x200
T1|r(heap#1+64)|prog+0x200
main|w(heap#1+64)|
main|w(heap#1+120)|";
    assert_eq!(shown("bulk"), expected.lines().collect::<Vec<_>>());
}
