//! Deadlocks around more than locks: threads that wait for ends of threads, posts, semaphores and notifies, too.
//!
//! **Follows** the AND-model of wait-for graphs (Knapp, *Deadlock detection in distributed databases*, 1987): a thread
//! that waits for a post needs one of all those that may post. Whether a prefix leads there is asked of `reach`.
//!
//! **Deviates**: threads that the trace does not show to grant something are not asked for it, and neither are threads
//! that have granted all they do.
//!
//! **How**: requests that are alike (`facts.rs`) are put together into groups that can block each other, as far as
//! locks, forks and who grants what tell (`groups.rs`). For each choice of events for a group it is known which events
//! a prefix must have for all to be blocked (`instance.rs`), which is a question for `reach`.
//!
//! **May miss** deadlocks whose requests, or what other threads grant after them, are further apart than a window;
//! groups of many threads; and what is left when steps or time run out. The last two are counted.
//!
//! **Raises no false alarm**: the prefix is with the report, for `witness::check_wide_deadlock`.

mod facts;
mod groups;
mod instance;

use super::DeadlockOptions;
use super::report::{Evidence, TakenLock};
use crate::hang::WaitsFor;
use crate::windows::{Schedule, offset};
use event::{Batch, Event, LockId, Names, Op, SiteId, StackId, ThreadId, Value, VarId};
use facts::Facts;
use groups::InWindow;
use instance::{Instance, Stand};
use reach::{Answer, Limits, Question, Reach, Window, Windows};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::time::{Duration, Instant};
use sync::{HeldLocks, LockMode};

/// A thread of a wide deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waiting {
    /// The thread.
    pub thread: ThreadId,
    /// The request that it stands at.
    pub event: u64,
    /// Where that is.
    pub site: SiteId,
    /// The call stack there, 0 if not recorded.
    pub stack: StackId,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// The locks that it holds and others of them wait for.
    pub holds: Vec<TakenLock>,
    /// The others of them that could let it go on.
    pub others: Vec<ThreadId>,
}

/// Threads that block each other, and not by locks alone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WideDeadlock {
    /// How it is known.
    pub evidence: Evidence,
    /// The threads, in their order.
    pub waiting: Vec<Waiting>,
    /// The events before, in an order that leads there. A `wait` is one of them.
    pub prefix: Schedule,
}

impl WideDeadlock {
    /// The requests, in the order of the threads.
    pub fn requests(&self) -> Vec<u64> {
        self.waiting.iter().map(|waiting| waiting.event).collect()
    }

    /// Whether some thread waits on a condition: such a wait may give up after a time.
    pub fn may_give_up(&self) -> bool {
        self.waiting.iter().any(|waiting| matches!(waiting.waits_for, WaitsFor::Condition(_)))
    }
}

/// What was found.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct WideDeadlocks {
    /// The deadlocks, in the order of their first requests.
    pub deadlocks: Vec<WideDeadlock>,
    /// Deadlocks found beyond [`DeadlockOptions::most`].
    pub left_out: u64,
    /// Windows that were searched.
    pub windows: u64,
    /// Windows in which some question was not answered, or some group not looked for, in its time.
    pub undecided_windows: u64,
    /// Requests that found no room in the bounds of memory.
    pub unrecorded: u64,
}

/// Steps in a window to look for groups.
const MOST_STEPS: u64 = 1 << 20;
/// Choices of events for a group in a window. Most fall away without a question.
const MOST_INSTANCES: usize = 1 << 14;
/// Questions for a group in a window. Many are needed only where none of them is possible.
const MOST_QUESTIONS: usize = 512;

/// After so many choices the clock is looked at.
const LOOK: u32 = 64;

/// What makes deadlocks the same: the same threads request the same objects at the same sites.
type Identity = Vec<(ThreadId, WaitsFor, SiteId)>;

/// Finds the wide deadlocks of a whole trace.
pub fn wide_deadlocks(
    names: &Names,
    batch: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    options: &DeadlockOptions<'_>,
) -> WideDeadlocks {
    let mut report = WideDeadlocks::default();
    if options.window == 0 {
        return report;
    }
    let facts = Facts::new(names, batch, options.window);
    report.unrecorded = facts.unrecorded;
    if facts.wide.is_empty() {
        return report;
    }
    let mut search =
        Search { names, batch, initial, options, facts: &facts, found: Vec::new(), known: FxHashSet::default() };
    let starts = search.windows_with_groups(&mut report);
    // Windows cost something for the whole trace, which is not spent if there is no time left for any of them.
    if starts.is_empty() || options.is_over() {
        report.undecided_windows += starts.len() as u64;
        return report;
    }
    let mut spread = Spread::new(starts.len(), options.deadline);
    let mut windows = Windows::new(names, batch, options.window);
    let wanted = |range: &Range<usize>| starts.binary_search(&range.start).is_ok();
    while let Some(window) = windows.next_with(|range| wanted(&range) && spread.takes_next(Instant::now())) {
        if options.is_over() {
            report.undecided_windows += 1 + spread.left;
            break;
        }
        report.windows += 1;
        let now = Instant::now();
        report.undecided_windows += u64::from(!search.window(&window, spread.deadline(now)));
        spread.took(now.elapsed());
    }
    report.undecided_windows += spread.skipped;
    let mut found = search.found;
    found.sort_by_key(|deadlock| deadlock.requests().into_iter().min());
    report.left_out = found.len().saturating_sub(options.most) as u64;
    found.truncate(options.most);
    describe(batch, &mut found);
    report.deadlocks = found;
    report
}

/// Which windows are searched if there is no time for all: some, spread over the trace, the last one among them, for
/// there it is where a run got stuck. In a moment nothing could be found in any of them.
#[derive(Debug)]
struct Spread {
    deadline: Option<Instant>,
    left: u64,
    skipped: u64,
    /// What part of a window there is time for.
    credit: f64,
    /// Of the windows that were searched.
    spent: Duration,
    taken: u32,
}

impl Spread {
    /// What a window is supposed to take, before it is known.
    const USUAL: Duration = Duration::from_millis(5);
    /// What a window has at least: to prepare one takes a good part of that.
    const LEAST: Duration = Duration::from_millis(15);

    fn new(windows: usize, deadline: Option<Instant>) -> Spread {
        let (left, skipped) = (windows as u64, 0);
        Spread { deadline, left, skipped, credit: 0.0, spent: Duration::ZERO, taken: 0 }
    }

    /// Whether the next window is one of them.
    fn takes_next(&mut self, now: Instant) -> bool {
        self.left = self.left.saturating_sub(1);
        let Some(deadline) = self.deadline else { return true };
        let share = deadline.saturating_duration_since(now).as_secs_f64() / (self.left + 1) as f64;
        let each = if self.taken == 0 { Spread::USUAL } else { self.spent / self.taken };
        self.credit = (self.credit + share / each.as_secs_f64().max(1e-6)).min(1.0);
        // Sums of shares are not exact.
        let takes = self.credit > 0.999 || self.left == 0;
        if takes {
            self.credit = 0.0;
        } else {
            self.skipped += 1;
        }
        takes
    }

    /// Until when the window that was taken may be searched.
    fn deadline(&self, now: Instant) -> Option<Instant> {
        let share = u32::try_from(self.left + 1).unwrap_or(u32::MAX);
        let until = |deadline: Instant| {
            let left = deadline.saturating_duration_since(now);
            now + (left / share).max(left.min(Spread::LEAST))
        };
        self.deadline.map(until)
    }

    fn took(&mut self, time: Duration) {
        self.spent += time;
        self.taken += 1;
    }
}

struct Search<'a> {
    names: &'a Names,
    batch: &'a Batch,
    initial: &'a dyn Fn(VarId) -> Value,
    options: &'a DeadlockOptions<'a>,
    facts: &'a Facts,
    found: Vec<WideDeadlock>,
    known: FxHashSet<Identity>,
}

impl Search<'_> {
    /// Where the windows begin that have requests which may block each other. Of the others, nothing but their requests
    /// needs to be looked at; the report counts them.
    fn windows_with_groups(&self, report: &mut WideDeadlocks) -> Vec<usize> {
        let mut starts = Vec::new();
        let ranges = Windows::ranges(self.batch.events.len(), self.options.window);
        for range in ranges.filter(|range| self.facts.wanted(range.clone())) {
            if self.options.is_over() {
                report.undecided_windows += 1;
                continue;
            }
            let here = InWindow::new(self.facts, range.start as u64..range.end as u64);
            let (groups, all) = here.groups(&mut self.options.pattern_steps.min(MOST_STEPS));
            if groups.is_empty() {
                report.windows += 1;
                report.undecided_windows += u64::from(!all);
            } else {
                starts.push(range.start);
            }
        }
        starts
    }

    /// Looks for deadlocks in a window; whether everything was decided.
    fn window(&mut self, window: &Window, deadline: Option<Instant>) -> bool {
        let here = InWindow::new(self.facts, window.range.clone());
        let mut steps = self.options.pattern_steps.min(MOST_STEPS);
        let (groups, mut decided) = here.groups(&mut steps);
        let limits = Limits { steps: self.options.question_steps, deadline, stop: self.options.stop };
        let mut reach = None;
        let mut looks = 0u32;
        for group in groups {
            let mut identity: Identity = group.iter().map(|&number| self.identity(number)).collect();
            identity.sort_unstable();
            if self.known.contains(&identity) {
                continue;
            }
            if (DeadlockOptions { deadline, ..*self.options }).is_over() {
                return false;
            }
            let (instances, all) = instances(&here, &group, MOST_INSTANCES);
            decided &= all;
            let mut questions = self.options.most_questions.min(MOST_QUESTIONS);
            for stands in instances {
                if looks.is_multiple_of(LOOK) && (DeadlockOptions { deadline, ..*self.options }).is_over() {
                    return false;
                }
                looks += 1;
                let instance = Instance::new(&here, stands);
                if !instance.is_least() {
                    continue;
                }
                let Some(left) = questions.checked_sub(1) else {
                    decided = false;
                    break;
                };
                questions = left;
                let reach =
                    reach.get_or_insert_with(|| Reach::new(self.names, &window.batch, window.fixed, self.initial));
                let (answer, all) = self.ask(reach, window, &instance, &limits);
                decided &= all;
                match answer {
                    Answer::Reached(prefix) => {
                        self.found.push(self.deadlock(&instance, Schedule::new(window, &prefix)));
                        self.known.insert(identity);
                        break;
                    }
                    Answer::Impossible => {}
                    Answer::Undecided => decided = false,
                }
            }
        }
        decided
    }

    fn identity(&self, number: u32) -> (ThreadId, WaitsFor, SiteId) {
        let request = &self.facts.list[number as usize];
        (request.thread, request.wants, request.site)
    }

    /// Whether some prefix leads there; the second: all ways were asked for.
    fn ask(
        &self,
        reach: &mut Reach,
        window: &Window,
        instance: &Instance<'_, '_>,
        limits: &Limits<'_>,
    ) -> (Answer, bool) {
        let at = |event: u32| offset(window, u64::from(event));
        let mut next = Vec::new();
        let mut waits = Vec::new();
        for stand in &instance.stands {
            let Some(place) = at(stand.event) else { return (Answer::Impossible, true) };
            if self.batch.events[stand.event as usize].op() == Op::Wait {
                waits.push(place);
                let mut after = (place + 1..).zip(&window.batch.events[place as usize + 1..]);
                next.extend(after.find(|(_, event)| event.thread() == stand.thread).map(|(place, _)| place));
            } else {
                next.push(place);
            }
        }
        let together = |a: usize| next[a + 1..].iter().all(|&b| !reach.never_together(next[a], b));
        if !(0..next.len()).all(together) {
            return (Answer::Impossible, true);
        }
        let (ways, mut all) = instance.needs();
        for needs in ways {
            let contains: Vec<u32> =
                needs.contains.iter().filter_map(|&event| at(event)).chain(waits.clone()).collect();
            let before: Vec<(u32, u32)> = needs.before.iter().filter_map(|&(a, b)| Some((at(a)?, at(b)?))).collect();
            match reach.ask(&Question { next: &next, contains: &contains, before: &before }, limits) {
                Answer::Impossible => {}
                Answer::Undecided => all = false,
                reached => return (reached, true),
            }
        }
        (Answer::Impossible, all)
    }

    /// A deadlock, without what its threads hold.
    fn deadlock(&self, instance: &Instance<'_, '_>, prefix: Schedule) -> WideDeadlock {
        let mut stands = instance.stands.clone();
        stands.sort_unstable_by_key(|stand| stand.thread);
        let waiting = stands.iter().map(|stand| {
            let event: Event = self.batch.events[stand.event as usize];
            Waiting {
                thread: stand.thread,
                event: u64::from(stand.event),
                site: event.site(),
                stack: self.batch.extra(event).stack,
                waits_for: self.facts.list[stand.number as usize].wants,
                holds: Vec::new(),
                others: self.others(&stands, stand),
            }
        });
        let unanswered = stands.iter().all(|stand| self.facts.unanswered.contains(&stand.event));
        let evidence = match prefix.then.is_sorted() {
            _ if unanswered => Evidence::Observed,
            true => Evidence::SyncPreserving,
            false => Evidence::Maximal,
        };
        WideDeadlock { evidence, waiting: waiting.collect(), prefix }
    }

    /// The others that could let a thread go on.
    fn others(&self, stands: &[Stand], of: &Stand) -> Vec<ThreadId> {
        let request = &self.facts.list[of.number as usize];
        let could = |other: &&Stand| match request.wants {
            WaitsFor::Lock(_) => self.facts.list[other.number as usize].keeps_from(request),
            WaitsFor::Thread(thread) => thread == other.thread,
            wants => {
                let granters = self.facts.grants.get(&wants).into_iter().flatten();
                let mut late =
                    granters.filter(|granter| granter.1.last().is_some_and(|&last| last > of.event.min(other.event)));
                late.any(|granter| self.forks_or_is(granter.0, other))
            }
        };
        stands.iter().filter(|other| other.thread != of.thread).filter(could).map(|other| other.thread).collect()
    }

    fn forks_or_is(&self, thread: ThreadId, stand: &Stand) -> bool {
        let forks = self.facts.forks.get(&thread).into_iter().flatten();
        thread == stand.thread || forks.into_iter().any(|&(forker, at)| forker == stand.thread && at > stand.event)
    }
}

/// Ways to choose an event for each request of a group, those near each other first; `false` if there are more.
fn instances(window: &InWindow<'_>, group: &[u32], most: usize) -> (Vec<Vec<Stand>>, bool) {
    let parts: Vec<&[u32]> = group.iter().map(|number| window.events[number].as_slice()).collect();
    let ways = parts.iter().fold(1usize, |ways, part| ways.saturating_mul(part.len()));
    // If they are too many: for each event of the request that has the fewest, so many of each other one around it.
    let fewest = (0..parts.len()).min_by_key(|&part| parts[part].len()).unwrap_or(0);
    let others = u32::try_from(parts.len() - 1).unwrap_or(u32::MAX);
    let room = most / parts[fewest].len().max(1);
    let near =
        if ways <= most { usize::MAX } else { (1..=room).take_while(|n| n.saturating_pow(others) <= room).count() };
    let mut list: Vec<Vec<Stand>> = Vec::new();
    for &anchor in parts[fewest].iter().take(if near == 0 { most } else { usize::MAX }) {
        let mut some: Vec<Vec<Stand>> = vec![Vec::new()];
        for (part, &number) in group.iter().enumerate() {
            let events = if part == fewest { &[anchor][..] } else { around(parts[part], anchor, near.max(1)) };
            let thread = window.facts.list[number as usize].thread;
            let add = |chosen: &Vec<Stand>, &event: &u32| {
                chosen.iter().copied().chain([Stand { thread, number, event }]).collect::<Vec<Stand>>()
            };
            some = some.iter().flat_map(|chosen| events.iter().map(move |event| add(chosen, event))).collect();
        }
        list.extend(some);
    }
    list.truncate(most);
    let spread = |stands: &Vec<Stand>| {
        let events = || stands.iter().map(|stand| stand.event);
        let unanswered = stands.iter().all(|stand| window.facts.unanswered.contains(&stand.event));
        (!unanswered, events().max().unwrap_or(0) - events().min().unwrap_or(0))
    };
    list.sort_by_cached_key(spread);
    (list, ways <= most)
}

/// At most so many events around another one.
fn around(events: &[u32], event: u32, most: usize) -> &[u32] {
    let place = events.partition_point(|&other| other < event);
    let from = place.saturating_sub(most.div_ceil(2)).min(events.len().saturating_sub(most));
    &events[from..events.len().min(from.saturating_add(most))]
}

/// Adds the locks that threads hold and others wait for, in one more pass along the trace.
fn describe(batch: &Batch, found: &mut [WideDeadlock]) {
    let mut wanted: Vec<(u64, usize, usize)> = Vec::new();
    for (number, deadlock) in found.iter().enumerate() {
        wanted.extend(deadlock.waiting.iter().enumerate().map(|(place, waiting)| (waiting.event, number, place)));
    }
    wanted.sort_unstable();
    let mut held: HeldLocks<u32> = HeldLocks::new();
    let mut next = wanted.into_iter().peekable();
    for (at, &event) in (0u32..).zip(&batch.events) {
        if next.peek().is_none() {
            break;
        }
        let is_wait = event.op() == Op::Wait;
        if is_wait {
            held.step(batch, event, |_| at);
        }
        while let Some((_, number, place)) = next.next_if(|request| request.0 == u64::from(at)) {
            let asked = found[number].waiting.iter().filter_map(|waiting| match waiting.waits_for {
                WaitsFor::Lock(lock) if waiting.thread != event.thread() => Some(lock),
                _ => None,
            });
            let asked: Vec<LockId> = asked.collect();
            let mut holds: Vec<TakenLock> = Vec::new();
            for hold in held.of(event.thread()).filter(|hold| asked.contains(&hold.lock)) {
                let taken = batch.events[hold.data as usize];
                let (site, stack) = (taken.site(), batch.extra(taken).stack);
                if hold.mode == LockMode::Exclusive || !holds.iter().any(|other| other.lock == hold.lock) {
                    holds.retain(|other| other.lock != hold.lock);
                    let event = u64::from(hold.data);
                    holds.push(TakenLock { lock: hold.lock, mode: hold.mode, event, site, stack });
                }
            }
            found[number].waiting[place].holds = holds;
        }
        if !is_wait {
            held.step(batch, event, |_| at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of so many windows are taken in so much time, if each of them takes so long.
    fn taken(windows: usize, time: u64, each: u64) -> Vec<usize> {
        let mut now = Instant::now();
        let mut spread = Spread::new(windows, Some(now + Duration::from_millis(time)));
        let mut taken = Vec::new();
        for window in 0..windows {
            if spread.takes_next(now) {
                taken.push(window);
                now += Duration::from_millis(each);
                spread.took(Duration::from_millis(each));
            }
        }
        assert_eq!(spread.skipped as usize, windows - taken.len());
        taken
    }

    #[test]
    fn windows_are_spread_over_the_trace_with_the_last_one() {
        assert_eq!(taken(4, 40, 10), [0, 1, 2, 3]);
        assert_eq!(taken(500, 5000, 5).len(), 500);
        assert_eq!(taken(9, 0, 5), [8]);
        assert_eq!(taken(0, 0, 5), []);
        let some = taken(100, 100, 10);
        assert!((5..=15).contains(&some.len()) && some.contains(&99) && some[some.len() / 2] > 30, "{some:?}");
        assert!(Spread::new(3, None).takes_next(Instant::now()));
    }
}
