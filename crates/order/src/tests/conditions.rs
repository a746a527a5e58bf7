//! Which notify woke whom.

use super::read;
use sync::{Wakeup, wakeups};

/// Wait, notify and wake-up of each pair.
fn found(text: &str) -> Vec<[u64; 3]> {
    let trace = read(text);
    wakeups(&trace.batch).into_iter().map(|Wakeup { wait, notify, woken }| [wait, notify, woken]).collect()
}

#[test]
fn the_earliest_notify_after_the_wait_wakes() {
    let text = "T3|notify(c) T1|wait(c,l) T2|wait(c,m) T3|notify(c) T3|notify(c) T2|woken(c,m) T1|woken(c,l)";
    assert_eq!(found(text), [[2, 3, 5], [1, 4, 6]]);
}

#[test]
fn notifyall_wakes_everybody_and_is_never_used_up() {
    let text = "T1|wait(c,l) T2|wait(c,m) T3|notifyall(c) T3|notify(c) T2|woken(c,m) T1|woken(c,l)";
    assert_eq!(found(text), [[1, 2, 4], [0, 2, 5]]);
    let text = "T1|wait(c,l) T3|notify(c) T2|wait(c,m) T3|notifyall(c) T2|woken(c,m) T1|woken(c,l)";
    assert_eq!(found(text), [[2, 3, 4], [0, 1, 5]]);
}

#[test]
fn timeouts_and_other_conditions_pair_nothing() {
    assert_eq!(found("T1|wait(c,l) T2|notify(c) T1|woken(c,l)=timeout"), [[0; 3]; 0]);
    assert_eq!(found("T1|wait(c,l) T2|notify(c) T1|woken(c,l)=spurious"), [[0; 3]; 0]);
    assert_eq!(found("T1|wait(c,l) T2|notify(d) T1|woken(c,l)"), [[0; 3]; 0]);
    // A notify before the wait does not end it, even if another thread waited then.
    assert_eq!(found("T2|wait(c,m) T3|notify(c) T1|wait(c,l) T1|woken(c,l)"), [[0; 3]; 0]);
}

#[test]
fn a_notify_stays_for_those_who_still_wait() {
    let text = "T1|wait(c,l) T2|wait(c,m) T3|notify(c) T2|woken(c,m)=timeout T2|wait(c,m) T3|notify(c) \
                T2|woken(c,m) T1|woken(c,l)";
    assert_eq!(found(text), [[4, 5, 6], [0, 2, 7]]);
}
