//! Claims of deadlocks around more than locks, which `deadlock` makes: who waits for what, and who holds what.

use super::{TraceEnd, verify};
use crate::claim::{About, Basis, Claim, Part, Witness};
use detect::deadlock::Evidence;
use detect::deadlock::wide::{Waiting, WideDeadlock};
use detect::hang::WaitsFor;
use event::{Names, Op};
use report::Kind;

/// The claim of a wide deadlock. One that may give up after a time is a warning, and is checked here.
pub(super) fn claim(deadlock: &WideDeadlock, end: &TraceEnd<'_>) -> Option<Claim> {
    let names = end.names;
    let each: Vec<String> = deadlock.waiting.iter().map(|waiting| waits(waiting, names)).collect();
    let each = each.join(", ");
    let (basis, how) = match deadlock.evidence {
        Evidence::Observed if end.complete => (Basis::Observed, "the run ended so"),
        // With something missing from the trace, they may have gone on.
        Evidence::Observed => (predicted(deadlock, end), "the recorded order leads there"),
        Evidence::SyncPreserving => (predicted(deadlock, end), "the recorded order, with events left out, leads there"),
        Evidence::Maximal => (predicted(deadlock, end), "another order of the same events leads there"),
    };
    let part = |waiting: &Waiting| Part {
        event: waiting.event,
        thread: waiting.thread,
        site: waiting.site,
        locks: waiting.holds.iter().map(|hold| hold.lock).collect(),
        role: "waits for ever",
    };
    let about = About::Objects(deadlock.waiting.iter().map(|waiting| waiting.waits_for.object()).collect());
    let parts = deadlock.waiting.iter().map(part).collect();
    let claim = end.claim(Kind::Deadlock, basis, about, parts, format!("{each}: {how}"));
    if !deadlock.may_give_up() {
        return Some(claim);
    }
    // What no order shows is not even a pattern.
    let shown = verify::wide_deadlock(&claim, &schedule(deadlock, end).whole(), end).is_ok();
    let why = format!("{}; a wait on a condition may also give up after a time", claim.why);
    shown.then_some(Claim { basis: Basis::Warning, why, ..claim })
}

/// The prefix, then the requests that come next.
fn schedule(deadlock: &WideDeadlock, end: &TraceEnd<'_>) -> detect::Schedule {
    let mut schedule = deadlock.prefix.clone();
    let is_next = |event: &u64| end.trace.is_none_or(|trace| trace.events[*event as usize].op() != Op::Wait);
    schedule.then.extend(deadlock.requests().into_iter().filter(is_next));
    schedule
}

fn predicted(deadlock: &WideDeadlock, end: &TraceEnd<'_>) -> Basis {
    Basis::Predicted(Witness::Window(schedule(deadlock, end)), verify::wide_deadlock)
}

/// What a thread of it holds and waits for, in words, and who could grant that.
fn waits(waiting: &Waiting, names: &Names) -> String {
    let thread = names.thread(waiting.thread);
    let held: Vec<&str> = waiting.holds.iter().map(|hold| names.lock(hold.lock)).collect();
    let holds = if held.is_empty() { String::new() } else { format!(" holds {} and", held.join(", ")) };
    let others: Vec<&str> = waiting.others.iter().map(|&other| names.thread(other)).collect();
    let others = others.join(" or ");
    let what = match waiting.waits_for {
        WaitsFor::Lock(lock) => names.lock(lock).to_owned(),
        WaitsFor::Thread(other) => format!("the end of {}", names.thread(other)),
        WaitsFor::Condition(cond) => format!("a notify of {} by {others}", names.cond(cond)),
        WaitsFor::Latch(latch) => format!("{}, to be released by {others}", names.latch(latch)),
        WaitsFor::Semaphore(sem) => format!("{}, to be incremented by {others}", names.sem(sem)),
    };
    format!("{thread}{holds} waits for {what}")
}
