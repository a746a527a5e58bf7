//! Whether the recorded order is feasible itself. Needs and reads always are; locks and counts only if the trace is
//! sound.

use super::{Chains, Effect, NONE, Section, Semaphores};
use event::{Batch, Op};
use rustc_hash::FxHashMap;

/// Goes along the recorded order, behind the fixed events.
pub(super) fn is_orderly(
    trace: &Batch,
    chains: &Chains,
    sections: &[Section],
    effects: &[Effect],
    semaphores: &Semaphores,
) -> bool {
    let mut open: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
    let fixed = |event: u32| event < chains.fixed;
    for (number, section) in (0u32..).zip(sections) {
        let opened = section.open == NONE || fixed(section.open);
        if opened && (section.close == NONE || !fixed(section.close)) {
            open.entry(section.lock.0).or_default().push(number);
        }
    }
    let mut counts: Vec<i64> = semaphores.all.iter().map(|semaphore| semaphore.count).collect();
    for (at, &event) in (0u32..).zip(&trace.events).skip(chains.fixed as usize) {
        let effect = &effects[at as usize];
        for closed in effect.closes.into_iter().filter(|&section| section != NONE) {
            let section = &sections[closed as usize];
            open.entry(section.lock.0).or_default().retain(|&other| other != closed);
        }
        for opened in effect.opens.into_iter().filter(|&section| section != NONE) {
            let section = &sections[opened as usize];
            let others = open.entry(section.lock.0).or_default();
            let hinders = |&other: &u32| {
                let other = &sections[other as usize];
                other.thread != section.thread && !(other.shared && section.shared)
            };
            if others.iter().any(hinders) {
                return false;
            }
            others.push(opened);
        }
        if let Some(semaphore) = semaphores.of(at) {
            let count = &mut counts[semaphore as usize];
            *count += if event.op() == Op::Up { 1 } else { -1 };
            if *count < 0 {
                return false;
            }
        }
    }
    true
}
