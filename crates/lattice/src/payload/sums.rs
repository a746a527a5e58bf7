//! Numbers of paths as rows of words. How many words a number can take on a level is known beforehand: the events of a
//! cut cannot have more orders than if they were independent.

use crate::discovered::{Discovered, State};
use crate::messages::Messages;
use event::PathStatus;
use num_bigint::BigUint;
use std::sync::Arc;

/// By depth: how many words the numbers of paths to a cut of so many events take.
pub(super) fn widths(messages: &Messages<'_>) -> Arc<[u16]> {
    let chains = messages.chains.len().max(1) as f64;
    // The orders of independent events, as a logarithm.
    let factorial = |n: u32| (1..=n).map(|k| f64::from(k).log2()).sum::<f64>();
    let events: u32 = messages.chains.iter().map(|chain| chain.ready).sum();
    let all = factorial(events) - messages.chains.iter().map(|chain| factorial(chain.ready)).sum::<f64>();
    // A bit for rounding, and one more.
    let width = |depth: u32| ((f64::from(depth) * chains.log2()).min(all) + 2.0) / 64.0;
    (0..=events).map(|depth| width(depth) as u16 + 1).collect()
}

/// What counting tells apart: whose a state is, and whether it is violated.
pub(crate) fn counted(state: &State) -> State {
    let status = if state.status == PathStatus::Violated { PathStatus::Violated } else { PathStatus::Open };
    State { status, fails_at_end: false, ..*state }
}

/// Adds a number to another one that has room for the sum.
#[inline(always)]
pub(super) fn add(to: &mut [u64], number: &[u64]) {
    let mut carry = false;
    let (low, high) = to.split_at_mut(number.len());
    for (to, &word) in low.iter_mut().zip(number) {
        let (sum, over) = to.overflowing_add(word);
        let (sum, more) = sum.overflowing_add(u64::from(carry));
        (*to, carry) = (sum, over | more);
    }
    for to in high {
        (*to, carry) = to.overflowing_add(u64::from(carry));
    }
}

/// By owner: all paths, and those that violate.
pub(super) fn by_owner<'n>(
    automaton: &Discovered,
    numbers: impl Iterator<Item = (u16, &'n [u64])>,
    owners: usize,
) -> Vec<(BigUint, BigUint)> {
    let mut paths = vec![(BigUint::ZERO, BigUint::ZERO); owners];
    for (state, number) in numbers {
        let State { owner, status, .. } = automaton.states[usize::from(state)];
        let digits: Vec<u32> = number.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
        let number = BigUint::new(digits);
        let (all, bad) = &mut paths[owner as usize];
        if status == PathStatus::Violated {
            *bad += &number;
        }
        *all += number;
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::add;

    #[test]
    fn sums_carry() {
        let mut sum = [u64::MAX, u64::MAX, 0];
        add(&mut sum, &[1]);
        assert_eq!(sum, [0, 0, 1]);
        add(&mut sum, &[u64::MAX, 5]);
        assert_eq!(sum, [u64::MAX, 5, 1]);
        add(&mut sum, &[1, u64::MAX]);
        assert_eq!(sum, [0, 5, 2]);
    }
}
