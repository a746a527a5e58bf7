//! The recorded order with events left out: when that is feasible, there is nothing to search for.
//!
//! Needs hold in it, and reads see what they saw as long as that is there. What can go wrong is that the end of a
//! section or an `up` is left out.

use crate::facts::{Facts, NONE};
use crate::must::MANY;

/// Whether the events of a set, which has what they need, are feasible in recorded order.
pub(crate) fn is_feasible(facts: &Facts, set: &[u32], writer: &[u32], many: impl Iterator<Item = u32>) -> bool {
    sections(facts, set) && semaphores(facts, set) && reads(facts, set, writer, many)
}

/// No section that stays open is followed by one that it excludes.
fn sections(facts: &Facts, set: &[u32]) -> bool {
    (0..set.len()).all(|chain| {
        facts.held.after(chain, set[chain]).all(|section| {
            let opened = facts.runs.open_event(&facts.chains, section);
            facts.runs.against(section).all(|run| match run.last_opened(set[run.chain as usize]) {
                Some(other) => facts.runs.open_event(&facts.chains, other.section) < opened,
                None => true,
            })
        })
    })
}

/// No `down` comes too early.
fn semaphores(facts: &Facts, set: &[u32]) -> bool {
    facts.semaphores.all.iter().all(|semaphore| {
        let come = |events: &'_ [u32]| -> Vec<u32> {
            events.iter().copied().filter(|&event| facts.chains.has(set, event)).collect()
        };
        let (ups, downs) = (come(&semaphore.ups), come(&semaphore.downs));
        downs.iter().zip(1..).all(|(&down, used)| {
            let before = ups.partition_point(|&up| up < down) as i64;
            semaphore.count + before >= used
        })
    })
}

/// Reads that may see several writes find the one they saw.
fn reads(facts: &Facts, set: &[u32], writer: &[u32], mut many: impl Iterator<Item = u32>) -> bool {
    many.all(|read| {
        let recorded = facts.lifetimes.recorded(read);
        writer[read as usize] != MANY
            || !facts.chains.has(set, read)
            || recorded == NONE
            || facts.chains.has(set, recorded)
    })
}

/// The events of a set in recorded order.
pub(crate) fn events<'a>(facts: &'a Facts, set: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
    let count = facts.chains.events.iter().map(Vec::len).sum::<usize>() as u32;
    (facts.fixed..facts.fixed + count).filter(move |&event| facts.chains.has(set, event))
}
