//! Claims of deadlocks around more than locks, which `deadlock` makes: who waits for what, and who holds what.

use super::{TraceEnd, verify};
use crate::claim::{About, Basis, Claim, Part, Witness};
use detect::deadlock::Evidence;
use detect::deadlock::wide::{Waiting, WideDeadlock};
use detect::hang::WaitsFor;
use event::{Batch, LatchId, Names, Op, SemId, Space, ThreadId, Value};
use report::Kind;
use rustc_hash::FxHashSet;

/// The label of internal events whose argument names what something else than the trace shows may let go on.
const OUTSIDE: &str = "foretrace.outside";

/// Objects that something else than the trace shows may grant, and threads whose waits it may end.
pub(super) struct Outside(FxHashSet<WaitsFor>);

impl Outside {
    /// What the events of a trace say of that.
    pub(super) fn of(names: &Names, trace: &Batch) -> Outside {
        let mut all = FxHashSet::default();
        let label = names.space(Space::Label).find(OUTSIDE.as_bytes());
        let notes = trace.events.iter().filter(|event| event.op() == Op::Internal && Some(event.object()) == label);
        for &event in notes.filter(|_| label.is_some()) {
            let Some(&Value::Str(name)) = trace.args(event).first() else { continue };
            let find = |space: Space| names.space(space).find(names.str(name).as_bytes());
            all.extend(find(Space::Thread).map(|number| WaitsFor::Thread(ThreadId(number))));
            all.extend(find(Space::Latch).map(|number| WaitsFor::Latch(LatchId(number))));
            all.extend(find(Space::Sem).map(|number| WaitsFor::Semaphore(SemId(number))));
        }
        Outside(all)
    }

    /// Whether a wait may end without anything that the trace shows.
    fn ends(&self, waiting: &Waiting) -> bool {
        let is_lock = matches!(waiting.waits_for, WaitsFor::Lock(_));
        let is_end = matches!(waiting.waits_for, WaitsFor::Thread(_));
        !is_lock
            && (self.0.contains(&WaitsFor::Thread(waiting.thread)) || !is_end && self.0.contains(&waiting.waits_for))
    }
}

/// The claim of a wide deadlock. One that something else may end is a warning, and is checked here.
pub(super) fn claim(deadlock: &WideDeadlock, outside: &Outside, end: &TraceEnd<'_>) -> Option<Claim> {
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
    let is_observed = matches!(claim.basis, Basis::Observed);
    let ended = deadlock.waiting.iter().find(|waiting| !is_observed && outside.ends(waiting));
    let but = match ended {
        Some(waiting) => format!(
            "{} may also go on by what the trace does not show: a time limit, an interrupt, another worker of a pool",
            end.names.thread(waiting.thread)
        ),
        None if deadlock.may_give_up() => "a wait on a condition may also give up after a time".to_owned(),
        None => return Some(claim),
    };
    // What no order shows is not even a pattern.
    let shown = verify::wide_deadlock(&claim, &schedule(deadlock, end).whole(), end).is_ok();
    let why = format!("{}; {but}", claim.why);
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
