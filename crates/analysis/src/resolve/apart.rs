//! Which warnings of races are about accesses that no other order of the recorded events brings together.
//!
//! Such a warning is not refuted: with other values the program may take another way, on which the two meet. But there
//! is less to it, so reports only count it. Known for sure is this: of a window that `maximal` decided, all pairs that
//! it did not predict; of the whole trace, every pair of a variable that is handed over; and, however far apart, two
//! accesses of which the later can only be next after the earlier, for its thread has read, along some chain, what the
//! other thread wrote after its access.

use crate::claim::{About, Claim};
use crate::recorded::Recorded;
use report::Kind;
use std::ops::Range;

/// Marks these warnings among the claims. `decided`: the windows of which all races are known, ascending.
pub(crate) fn mark(claims: &mut [Claim], recorded: &Recorded<'_>, decided: &[Range<u64>]) {
    let warnings = claims.iter_mut().filter(|claim| claim.kind == Kind::Race && claim.is_warning());
    for claim in warnings {
        let [one, other] = claim.parts.as_slice() else { continue };
        let (earlier, later) = (one.event.min(other.event), one.event.max(other.event));
        // A trace that no other detector needs whole is not read again for this.
        claim.apart = is_handed_over(claim, recorded)
            || is_decided(decided, earlier, later)
            || recorded.trace.is_some() && recorded.preserving(|index| index.needs(later, earlier)).unwrap_or(false);
    }
}

/// Whether it is known of the variable that no run brings two of its accesses together.
fn is_handed_over(claim: &Claim, recorded: &Recorded<'_>) -> bool {
    matches!(claim.about, About::Variable(var) if !recorded.searched.may_race(var))
}

/// Whether both events are in one of the windows.
fn is_decided(windows: &[Range<u64>], earlier: u64, later: u64) -> bool {
    // The last that begins before the earlier event ends last.
    let at = windows.partition_point(|window| window.start <= earlier);
    at.checked_sub(1).is_some_and(|at| windows[at].contains(&later))
}

#[cfg(test)]
mod tests {
    use super::is_decided;

    #[test]
    fn two_events_are_decided_in_a_common_window() {
        let windows = [0..10, 5..15, 20..30];
        assert!(is_decided(&windows, 0, 9) && is_decided(&windows, 5, 14) && is_decided(&windows, 20, 29));
        assert!(!is_decided(&windows, 4, 10) && !is_decided(&windows, 14, 20) && !is_decided(&windows, 29, 30));
        assert!(!is_decided(&[], 0, 1));
    }
}
