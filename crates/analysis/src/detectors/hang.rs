//! `hang`: claims of threads that wait for ever at the end of the recorded run.

use super::whole::Whole;
use super::{Entry, Found, Pass, TraceEnd};
use crate::claim::{About, Basis, Claim, Part};
use detect::Place;
use detect::hang::{Hang, HangFinder, Hangs, WaitsFor};
use detect::prefilter::Filtered;
use event::{Batch, LockId, Names, ThreadId};
use report::{AnalysisStats, Kind};
use std::collections::HashSet;

pub(super) const ENTRY: Entry = Entry {
    name: "hang",
    help: "threads that wait when the run ends: for ever (observed), or maybe so (warnings)",
    needs_trace: false,
    live: false,
    start: |_| Box::new(HangFinder::new()),
    yields: Some(without_explained),
};

/// Threads that are reported one by one.
const MOST: usize = 1000;

impl Pass for HangFinder {
    fn feed(&mut self, names: &Names, batch: &Batch) {
        self.batch(names, batch);
    }

    fn feed_whole(&mut self, names: &Names, whole: &Whole<'_>, filtered: &Filtered) {
        if filtered.hangs {
            whole.each(|part| self.batch(names, part));
        }
    }

    fn finish(self: Box<Self>, end: &TraceEnd<'_>) -> Found {
        let found = HangFinder::finish(*self);
        let cycles = found.cycles.iter().map(|cycle| deadlock(&found, cycle, end));
        let on_cycle: HashSet<usize> = found.cycles.iter().flatten().copied().collect();
        // A program that ends by itself leaves threads behind that wait for work. Only if its first thread waits, too,
        // it was ended from outside.
        let wanted = |&(at, hang): &(usize, &Hang)| !on_cycle.contains(&at) && (hang.stuck || found.first_thread_waits);
        let mut claims: Vec<Claim> = cycles.collect();
        let room = MOST.saturating_sub(claims.len());
        let mut waiting = found.hangs.iter().enumerate().filter(wanted);
        claims.extend(waiting.by_ref().take(room).map(|(_, hang)| claim(&found, hang, end)));
        let left_out = Some(waiting.count() as u64).filter(|&threads| threads > 0);
        Found { claims, stats: AnalysisStats { left_out, ..AnalysisStats::default() }, ..Found::default() }
    }
}

/// The claim of a cycle: its threads wait for each other.
fn deadlock(found: &Hangs, cycle: &[usize], end: &TraceEnd<'_>) -> Claim {
    let hangs = || cycle.iter().map(|&at| &found.hangs[at]);
    let locks = hangs().map(|hang| match hang.waits_for {
        WaitsFor::Lock(lock) => Some(lock),
        _ => None,
    });
    let about = match locks.collect::<Option<Vec<LockId>>>() {
        Some(locks) => About::Locks(locks),
        None => About::Objects(hangs().map(|hang| hang.waits_for.object()).collect()),
    };
    let each: Vec<String> = hangs().map(|hang| waits(hang, end.names)).collect();
    let why = format!("{}: each waits for the next, and the run ended so", each.join(", "));
    let parts = hangs().map(|hang| part(hang.at, "waits for ever")).collect();
    end.claim(Kind::Deadlock, observed(end), about, parts, why)
}

/// The claim of a thread that waits, but not for one that waits for it.
fn claim(found: &Hangs, hang: &Hang, end: &TraceEnd<'_>) -> Claim {
    let names = end.names;
    let blocker = hang.holders.first().map(|holder| holder.thread).or(match hang.waits_for {
        WaitsFor::Thread(thread) => Some(thread),
        WaitsFor::Semaphore(_) => hang.granters.first().copied(),
        _ => None,
    });
    let (basis, rest) = if hang.stuck {
        let rest = match blocker {
            Some(thread) if thread == hang.at.thread => "it waits for itself".to_owned(),
            Some(thread) => format!("{} {}", names.thread(thread), state(found, thread)),
            None => "no other thread is concerned".to_owned(),
        };
        (observed(end), format!("{rest}: no thread can let it go on"))
    } else {
        let list: Vec<&str> = hang.may_release.iter().map(|&thread| names.thread(thread)).collect();
        let rest = match list.as_slice() {
            [] => "no thread that runs could let it go on, but it may have been woken already, or give up".to_owned(),
            some => format!("{} could still have let it go on", some.join(", ")),
        };
        (Basis::Warning, rest)
    };
    let since = hang.since.map(|event| format!(", since its event {event}")).unwrap_or_default();
    let why = format!("{} at the end of the run{since}; {rest}", waits(hang, names));
    let holders = hang.holders.iter().map(|&holder| part(holder, "holds it"));
    let parts = [part(hang.at, "waits for ever")].into_iter().chain(holders).collect();
    end.claim(Kind::Hang, basis, About::Objects(vec![hang.waits_for.object()]), parts, why)
}

/// What is missing from the trace may be what lets a thread go on; what is missing at its end cannot be (see `detect`).
fn observed(end: &TraceEnd<'_>) -> Basis {
    if end.gapless { Basis::Observed } else { Basis::Warning }
}

fn part(place: Place, role: &'static str) -> Part {
    Part::at((place.event, place.thread, place.site), role)
}

/// What a thread waits for, in words.
fn waits(hang: &Hang, names: &Names) -> String {
    let thread = names.thread(hang.at.thread);
    match hang.waits_for {
        WaitsFor::Lock(lock) => {
            let held: Vec<&str> = hang.holders.iter().map(|holder| names.thread(holder.thread)).collect();
            let held = if held.is_empty() { String::new() } else { format!(", held by {}", held.join(", ")) };
            format!("{thread} waits for {}{held}", names.lock(lock))
        }
        WaitsFor::Thread(other) => format!("{thread} waits for the end of {}", names.thread(other)),
        WaitsFor::Condition(cond) => format!("{thread} waits for a notify of {}", names.cond(cond)),
        WaitsFor::Latch(latch) => format!("{thread} waits for {}", names.latch(latch)),
        WaitsFor::Semaphore(sem) => {
            let others: Vec<&str> = hang.granters.iter().map(|&other| names.thread(other)).collect();
            let by = if others.is_empty() {
                String::new()
            } else {
                format!(", to be incremented by {}", others.join(" or "))
            };
            format!("{thread} waits to decrement {}{by}", names.sem(sem))
        }
    }
}

/// Why a thread cannot let others go on, in words.
fn state(found: &Hangs, thread: ThreadId) -> String {
    match found.hangs.iter().find(|hang| hang.at.thread == thread) {
        Some(hang) => format!("waits itself since event {}", hang.at.event),
        None => "has ended".to_owned(),
    }
}

/// Leaves out the threads whose wait another observed claim explains.
fn without_explained(claims: &mut Vec<Claim>) {
    let explains = |claim: &&Claim| claim.kind != Kind::Hang && claim.is_observed();
    let explained: HashSet<u64> =
        claims.iter().filter(explains).flat_map(|claim| &claim.parts).map(|part| part.event).collect();
    let is_new = |claim: &Claim| claim.parts.first().is_none_or(|wait| !explained.contains(&wait.event));
    claims.retain(|claim| claim.kind != Kind::Hang || is_new(claim));
}
