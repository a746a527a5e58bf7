//! Threads that wait for ever at the end of the recorded run.
//!
//! **Follows** the wait-for graphs of operating systems (Knapp, *Deadlock detection in distributed databases*, 1987): a
//! thread that waits for a lock needs the thread that holds it, one that joins a thread needs the end of that thread.
//!
//! **Deviates**: the trace does not show when a thread ends, unless another joined it or the recorder says so
//! ([`ENDED`]). A thread that does not wait and is not known to have ended counts as one that may still act.
//!
//! **May miss** hangs by conditions and latches: a thread that waits for one may have been notified already, may give
//! up after a time, or may be woken by a signal handler or another process. Such waits are only warnings, and so are
//! waits for locks that only readers hold (the trace does not say how a lock is asked for), and for semaphores as long
//! as any thread can go on.
//!
//! **Raises no false alarm**: a thread is *stuck* only if it waits for a lock whose holder is stuck or has ended, for
//! the end of a stuck thread, or for a semaphore whose count is 0 where all threads are stuck or have ended, those that
//! have incremented it among them. A release is recorded before it happens, and none of these threads can be the first
//! to go on, so it does not matter that the last records of a killed program are missing.

use crate::Place;
use event::{Batch, CondId, Event, Id, Init, LatchId, LockId, Names, Op, SemId, Space, ThreadId, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use sync::{HeldLocks, LockMode};

/// The internal event by which a recorder says that its thread has ended. It stands only in traces of runs that end
/// with threads that wait.
pub const ENDED: &str = "foretrace.ended";

/// What a thread waits for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WaitsFor {
    /// A lock, until it is given back.
    Lock(LockId),
    /// The end of a thread.
    Thread(ThreadId),
    /// A notify of a condition.
    Condition(CondId),
    /// A release of a latch-like object: a latch, barrier, future, queue, or a permit to go on after parking.
    Latch(LatchId),
    /// A semaphore that can be decremented.
    Semaphore(SemId),
}

impl WaitsFor {
    /// The object it waits for.
    pub fn object(self) -> (Space, u32) {
        match self {
            WaitsFor::Lock(lock) => (Space::Lock, lock.0),
            WaitsFor::Thread(thread) => (Space::Thread, thread.0),
            WaitsFor::Condition(cond) => (Space::Cond, cond.0),
            WaitsFor::Latch(latch) => (Space::Latch, latch.0),
            WaitsFor::Semaphore(sem) => (Space::Sem, sem.0),
        }
    }

    /// What a thread waits for whose last event is this one; `None` if it does not wait.
    pub(crate) fn after(event: Event) -> Option<WaitsFor> {
        if event.op() == Op::Wait {
            return Some(WaitsFor::Condition(event.cond()));
        }
        if !event.op().announces() {
            return None;
        }
        match event.op().space()? {
            Space::Lock => Some(WaitsFor::Lock(event.lock())),
            Space::Thread => Some(WaitsFor::Thread(ThreadId(event.object()))),
            Space::Latch => Some(WaitsFor::Latch(LatchId(event.object()))),
            Space::Sem => Some(WaitsFor::Semaphore(SemId(event.object()))),
            _ => None,
        }
    }
}

/// A thread that waited when the run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hang {
    /// Its last event.
    pub at: Place,
    /// The event of the thread before: since then, it has done nothing else. `None`: it has no other.
    pub since: Option<u64>,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// Where the threads took it that hold what it waits for exclusively, if that is a lock; those that are stuck
    /// first, at most [`NAMED`].
    pub holders: Vec<Place>,
    /// If it is stuck and waits for a semaphore: the waiting threads that have incremented it, in order.
    pub granters: Vec<ThreadId>,
    /// No thread that could let it go on can go on itself.
    pub stuck: bool,
    /// Threads that neither wait nor have ended, and could have let it go on; at most [`NAMED`].
    pub may_release: Vec<ThreadId>,
}

/// What was found.
#[derive(Clone, Default, Debug)]
pub struct Hangs {
    /// The threads that wait, in the order of their last events.
    pub hangs: Vec<Hang>,
    /// Cycles of stuck threads that each wait for a lock, the end, or an increment by the next one, as places in
    /// `hangs`.
    pub cycles: Vec<Vec<usize>>,
    /// The first thread of the trace waits: the run cannot have ended by itself, unless another thread ended it.
    pub first_thread_waits: bool,
}

/// Threads that are named as holders or possible releasers.
pub const NAMED: usize = 8;

/// Follows the threads of a run up to its end.
#[derive(Default, Debug)]
pub struct HangFinder {
    held: HeldLocks<Place>,
    threads: Vec<Thread>,
    /// By semaphore that was used or given a count.
    semaphores: FxHashMap<SemId, Semaphore>,
    /// The thread of the first event.
    first: Option<ThreadId>,
}

#[derive(Clone, Default, Debug)]
struct Semaphore {
    used: bool,
    count: i64,
    /// Who has incremented it.
    by: FxHashSet<ThreadId>,
}

impl Semaphore {
    fn step(&mut self, event: Event) {
        self.used = true;
        if event.op() == Op::Up {
            self.count = self.count.saturating_add(1);
            self.by.insert(event.thread());
        } else {
            self.count = self.count.saturating_sub(1);
        }
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Thread {
    /// What it waits for since its last event.
    waits: Option<(WaitsFor, Place)>,
    /// Its last event, and the one before.
    last: Option<u64>,
    before: Option<u64>,
    /// It has an event, or was forked.
    exists: bool,
    /// Another thread has seen its end, or the recorder has.
    ended: bool,
}

impl HangFinder {
    /// Before the first event.
    pub fn new() -> HangFinder {
        HangFinder::default()
    }

    /// Follows the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.threads.resize(names.space(Space::Thread).len(), Thread::default());
        let ended = names.space(Space::Label).find(ENDED.as_bytes());
        self.first = self.first.or(batch.events.first().map(|event| event.thread()));
        let mut inits = batch.inits.iter().peekable();
        for (at, (index, &event)) in (0u32..).zip((batch.first..).zip(&batch.events)) {
            while let Some(init) = inits.next_if(|init| init.before <= at) {
                self.init(names, init);
            }
            let place = Place::new(event, index);
            let thread = &mut self.threads[event.thread().index()];
            thread.exists = true;
            thread.before = thread.last.replace(index);
            thread.waits = WaitsFor::after(event).map(|waits_for| (waits_for, place));
            match event.op() {
                Op::Fork => self.threads[event.object() as usize].exists = true,
                Op::Join => self.threads[event.object() as usize].ended = true,
                Op::Internal if Some(event.object()) == ended => thread.ended = true,
                Op::Up | Op::Down => self.semaphores.entry(event.sem()).or_default().step(event),
                _ => drop(self.held.step(batch, event, |_| place)),
            }
        }
    }

    /// The count of a semaphore that was not used yet.
    fn init(&mut self, names: &Names, init: &Init) {
        if let (Some(sem), Value::Int(count)) =
            (names.space(Space::Sem).find(names.str(init.name).as_bytes()), init.value)
        {
            let semaphore = self.semaphores.entry(SemId(sem)).or_default();
            if !semaphore.used {
                semaphore.count = count.max(0);
            }
        }
    }

    /// Whether what a thread waits for is a semaphore that is used up, and that other waiting threads have incremented
    /// before. (What only threads have incremented that are over may be for signal handlers to increment.)
    fn is_used_up(&self, semaphore: SemId, by: ThreadId) -> bool {
        self.semaphores.get(&semaphore).is_some_and(|semaphore| semaphore.count == 0)
            && !self.granters(semaphore, by).is_empty()
    }

    /// Who waits now that the run has ended.
    pub fn finish(self) -> Hangs {
        let all = || (0..self.threads.len()).map(ThreadId::from_index);
        let mut waiting: Vec<(ThreadId, WaitsFor, Place)> = all()
            .filter_map(|thread| self.threads[thread.index()].waits.map(|(what, at)| (thread, what, at)))
            .collect();
        waiting.sort_by_key(|(_, _, at)| at.event);
        let graph = WaitForGraph::new(&self, &waiting);
        let can = graph.can_go_on(&self);
        let running: Vec<ThreadId> =
            all().filter(|thread| self.threads[thread.index()].may_act()).take(NAMED).collect();
        let hangs = waiting.iter().map(|&(thread, waits_for, at)| {
            let stuck = !can[thread.index()];
            let holders: &[Place] = match waits_for {
                WaitsFor::Lock(lock) => graph.holders.get(&lock).map_or(&[], Vec::as_slice),
                _ => &[],
            };
            let granters = match waits_for {
                WaitsFor::Semaphore(sem) if stuck => self.granters(sem, thread),
                _ => Vec::new(),
            };
            // The ones that keep it from going on come first.
            let keeps = |holder: &&Place| !can[holder.thread.index()];
            let first = holders.iter().filter(keeps).chain(holders.iter().filter(|holder| !keeps(holder)));
            let holders: Vec<Place> = first.take(NAMED).copied().collect();
            let may_act = |thread: &ThreadId| self.threads[thread.index()].may_act();
            let may_release = match waits_for {
                _ if stuck => Vec::new(),
                WaitsFor::Lock(_) => holders.iter().map(|holder| holder.thread).filter(may_act).collect(),
                WaitsFor::Thread(other) => Some(other).filter(may_act).into_iter().collect(),
                _ => running.clone(),
            };
            let since = self.threads[thread.index()].before;
            Hang { at, since, waits_for, holders, granters, stuck, may_release }
        });
        let hangs: Vec<Hang> = hangs.collect();
        let first_thread_waits = self.first.is_some_and(|first| self.threads[first.index()].waits.is_some());
        Hangs { cycles: cycles(&hangs), hangs, first_thread_waits }
    }
}

impl HangFinder {
    /// Who else has incremented a semaphore, and waits.
    fn granters(&self, semaphore: SemId, but: ThreadId) -> Vec<ThreadId> {
        let by = self.semaphores.get(&semaphore).into_iter().flat_map(|semaphore| &semaphore.by).copied();
        let mut by: Vec<ThreadId> =
            by.filter(|&thread| thread != but && self.threads[thread.index()].waits.is_some()).collect();
        by.sort_unstable();
        by
    }
}

impl Thread {
    /// It neither waits nor has surely ended.
    fn may_act(&self) -> bool {
        self.exists && !self.ended && self.waits.is_none()
    }
}

/// Who waits for whom.
struct WaitForGraph {
    /// By lock that is waited for: where its holders took it.
    holders: FxHashMap<LockId, Vec<Place>>,
    /// By lock, by thread: who waits for it.
    for_lock: FxHashMap<LockId, Vec<ThreadId>>,
    for_thread: FxHashMap<ThreadId, Vec<ThreadId>>,
    /// Those who wait for a condition, a latch or a semaphore that may be incremented.
    for_any: Vec<ThreadId>,
    /// Those who wait for a semaphore that only a thread of the trace can increment.
    for_semaphore: Vec<ThreadId>,
}

impl WaitForGraph {
    fn new(finder: &HangFinder, waiting: &[(ThreadId, WaitsFor, Place)]) -> WaitForGraph {
        let mut graph = WaitForGraph {
            holders: FxHashMap::default(),
            for_lock: FxHashMap::default(),
            for_thread: FxHashMap::default(),
            for_any: Vec::new(),
            for_semaphore: Vec::new(),
        };
        for &(thread, waits_for, _) in waiting {
            match waits_for {
                WaitsFor::Lock(lock) => graph.for_lock.entry(lock).or_default().push(thread),
                WaitsFor::Thread(other) => graph.for_thread.entry(other).or_default().push(thread),
                WaitsFor::Semaphore(sem) if finder.is_used_up(sem, thread) => graph.for_semaphore.push(thread),
                _ => graph.for_any.push(thread),
            }
        }
        for thread in (0..finder.threads.len()).map(ThreadId::from_index) {
            for hold in finder.held.of(thread).filter(|hold| hold.mode == LockMode::Exclusive) {
                if graph.for_lock.contains_key(&hold.lock) {
                    graph.holders.entry(hold.lock).or_default().push(hold.data);
                }
            }
        }
        graph
    }

    /// By thread: whether it may still act. The least set that has all threads that neither wait nor have ended, those
    /// that wait for a condition, a latch or a semaphore that is not used up, and those that wait for something that
    /// these can give them: a semaphore may come from any.
    fn can_go_on(&self, finder: &HangFinder) -> Vec<bool> {
        let mut can = vec![false; finder.threads.len()];
        let mut reached: Vec<ThreadId> = (0..can.len()).map(ThreadId::from_index).collect();
        reached.retain(|thread| finder.threads[thread.index()].may_act());
        reached.extend(&self.for_any);
        // Locks that no thread holds exclusively, and joins of threads that have ended or never were, may return at
        // once.
        let free = self.for_lock.iter().filter(|(lock, _)| !self.holders.contains_key(lock));
        let gone = |thread: &ThreadId| {
            let Thread { exists, ended, .. } = finder.threads[thread.index()];
            ended || !exists
        };
        let ended = self.for_thread.iter().filter(|(thread, _)| gone(thread));
        reached.extend(free.flat_map(|(_, waiters)| waiters).chain(ended.flat_map(|(_, waiters)| waiters)));
        let mut unreached: FxHashMap<LockId, usize> =
            self.holders.iter().map(|(&lock, holders)| (lock, holders.len())).collect();
        let mut any = false;
        while let Some(thread) = reached.pop() {
            if std::mem::replace(&mut can[thread.index()], true) {
                continue;
            }
            reached.extend(self.for_thread.get(&thread).into_iter().flatten());
            if !std::mem::replace(&mut any, true) {
                reached.extend(&self.for_semaphore);
            }
            for hold in finder.held.of(thread).filter(|hold| hold.mode == LockMode::Exclusive) {
                if let Some(count) = unreached.get_mut(&hold.lock) {
                    *count -= 1;
                    if *count == 0 {
                        reached.extend(self.for_lock.get(&hold.lock).into_iter().flatten());
                    }
                }
            }
        }
        can
    }
}

/// Cycles of two and more stuck threads, each of which waits for a lock that the next one holds, for its end, or for a
/// semaphore that it has incremented before.
fn cycles(hangs: &[Hang]) -> Vec<Vec<usize>> {
    let stuck = hangs.iter().enumerate().filter(|(_, hang)| hang.stuck);
    let place: FxHashMap<ThreadId, usize> = stuck.map(|(at, hang)| (hang.at.thread, at)).collect();
    // Each thread has one successor here: a lock has one exclusive holder, unless the trace has problems. Of those that
    // could increment a semaphore, none of which can, the first is named.
    let next = |at: usize| match hangs[at].waits_for {
        WaitsFor::Thread(thread) => place.get(&thread).copied(),
        WaitsFor::Lock(_) => hangs[at].holders.iter().find_map(|holder| place.get(&holder.thread).copied()),
        WaitsFor::Semaphore(_) => hangs[at].granters.iter().find_map(|granter| place.get(granter).copied()),
        _ => None,
    };
    // By place: the walk that came there.
    let mut walks = vec![usize::MAX; hangs.len()];
    let mut cycles = Vec::new();
    for start in (0..hangs.len()).filter(|&at| hangs[at].stuck) {
        let mut at = start;
        while walks[at] == usize::MAX {
            walks[at] = start;
            match next(at) {
                Some(successor) => at = successor,
                None => break,
            }
        }
        // A walk that comes back to itself has closed a cycle, unless it ended there.
        if walks[at] != start || next(at).is_none() {
            continue;
        }
        let mut cycle = vec![at];
        while let Some(successor) = cycle.last().and_then(|&last| next(last)).filter(|&successor| successor != at) {
            cycle.push(successor);
        }
        // A thread that waits for itself waits for no other.
        if cycle.len() < 2 {
            continue;
        }
        let least = (0..cycle.len()).min_by_key(|&at| cycle[at]).unwrap_or(0);
        cycle.rotate_left(least);
        cycles.push(cycle);
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prefilter::Prefilter;
    use trace::Trace;
    use trace::text::TextReader;

    fn read(text: &str) -> Trace {
        Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace")
    }

    fn hangs(trace: &Trace) -> Hangs {
        let mut finder = HangFinder::new();
        finder.batch(&trace.names, &trace.batch);
        finder.finish()
    }

    /// Who waits: the thread, then `!` if it is stuck.
    fn waiting(text: &str) -> Vec<String> {
        let trace = read(text);
        let found = hangs(&trace);
        let mut prefilter = Prefilter::new();
        prefilter.batch(&trace.names, &trace.batch);
        assert!(prefilter.finish(true).hangs || found.hangs.is_empty());
        let describe =
            |hang: &Hang| format!("{}{}", trace.names.thread(hang.at.thread), if hang.stuck { "!" } else { "" });
        found.hangs.iter().map(describe).collect()
    }

    #[test]
    fn a_thread_that_goes_on_does_not_hang() {
        assert_eq!(waiting("A|req(l)|1\nA|acq(l)|2\n"), [""; 0]);
        assert_eq!(waiting("A|acq(l)|1\nA|wait(c,l)|2\nB|notify(c)|3\nA|woken(c,l)|4\n"), [""; 0]);
    }

    #[test]
    fn a_lock_whose_holder_may_go_on_may_come() {
        assert_eq!(waiting("B|acq(l)|1\nA|req(l)|2\n"), ["A"]);
    }

    #[test]
    fn a_lock_that_an_ended_thread_holds_never_comes() {
        assert_eq!(waiting("A|fork(B)|1\nB|acq(l)|2\nA|join(B)|3\nA|req(l)|4\n"), ["A!"]);
        assert_eq!(waiting("A|fork(B)|1\nB|acq(l)|2\nB|ev(foretrace.ended)|\nA|req(l)|4\n"), ["A!"]);
        assert_eq!(waiting("A|fork(B)|1\nB|acq(l)|2\nB|ev(other)|\nA|req(l)|4\n"), ["A"]);
    }

    #[test]
    fn a_wait_begins_after_the_event_before() {
        let trace = read("A|fork(B)|0\nB|acq(l)|1\nA|r(x)|2\nB|r(x)|3\nC|areq(o)|4\nA|jreq(B)|5\n");
        let since: Vec<Option<u64>> = hangs(&trace).hangs.iter().map(|hang| hang.since).collect();
        assert_eq!(since, [None, Some(2)]);
    }

    #[test]
    fn a_thread_that_has_ended_can_be_joined() {
        assert_eq!(waiting("A|fork(B)|1\nB|ev(foretrace.ended)|\nA|jreq(B)|4\n"), ["A"]);
    }

    #[test]
    fn a_thread_on_a_condition_may_have_been_notified() {
        assert_eq!(waiting("A|acq(l)|1\nA|wait(c,l)|2\nB|r(x)|3\n"), ["A"]);
        assert_eq!(waiting("A|fork(B)|1\nB|r(x)|2\nA|join(B)|3\nA|acq(l)|4\nA|wait(c,l)|5\n"), ["A"]);
        assert_eq!(waiting("A|fork(B)|0\nB|up(s)|1\nA|join(B)|2\nA|dreq(s)|3\n"), ["A"]);
        assert_eq!(waiting("A|fork(B)|0\nB|post(o)|1\nA|join(B)|2\nA|areq(o)|3\n"), ["A"]);
        // Nor is a thread stuck that waits for its lock or its end.
        assert_eq!(waiting("A|acq(m)|1\nA|acq(l)|1\nA|wait(c,l)|2\nB|req(m)|3\nC|jreq(A)|4\n"), ["A", "B", "C"]);
    }

    #[test]
    fn a_semaphore_never_comes_if_all_wait() {
        // B gives the semaphore back after it has the lock; A has the lock, and waits for the semaphore.
        let taken = "#! init s=1\nA|fork(B)|0\nB|up(s)|1\nB|down(s)|2\nB|down(s)|3\nA|acq(l)|4\n";
        assert_eq!(waiting(&format!("{taken}A|dreq(s)|5\nB|req(l)|6\n")), ["A!", "B!"]);
        let trace = read(&format!("{taken}A|dreq(s)|5\nB|req(l)|6\n"));
        assert_eq!(hangs(&trace).cycles, [[0, 1]]);
        // The count is not 0; no thread has incremented it; a third thread may act, or waits for a post.
        assert_eq!(waiting(&format!("{taken}A|dreq(s)|5\nB|req(l)|6\n").replace("s=1", "s=2")), ["A", "B"]);
        let never = taken.replace("B|up(s)|1\nB|down(s)|2\n", "");
        assert_eq!(waiting(&format!("{never}A|dreq(s)|5\nB|req(l)|6\n")), ["A", "B"]);
        assert_eq!(waiting(&format!("A|fork(C)|\n{taken}A|dreq(s)|5\nB|req(l)|6\n")), ["A", "B"]);
        assert_eq!(waiting(&format!("{taken}A|dreq(s)|5\nC|areq(o)|\nB|req(l)|6\n")), ["A", "C", "B"]);
    }

    #[test]
    fn cycles_of_locks_are_found() {
        let trace = read("A|acq(l)|1\nB|acq(m)|2\nA|req(m)|3\nB|req(l)|4\nC|req(l)|5\n");
        let found = hangs(&trace);
        assert!(found.hangs.iter().all(|hang| hang.stuck));
        assert_eq!(found.cycles, [[0, 1]]);
    }

    /// The definition by iteration to a fixpoint, on random traces of four threads that end anywhere.
    #[test]
    fn who_is_stuck_agrees_with_the_definition() {
        let mut state = 1u64;
        let mut random = move |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut stuck = 0;
        for _ in 0..9000 {
            let mut text = String::from("A|fork(B)|\nA|fork(C)|\n");
            let mut open = vec!["A", "B", "C"];
            for _ in 0..random(9) {
                if open.is_empty() {
                    break;
                }
                let at = random(open.len() as u64) as usize;
                let (thread, lock) = (open[at], ["l", "m", "n"][random(3) as usize]);
                let (text_of, is_last) = match random(9) {
                    0 | 1 => (format!("acq({lock})"), false),
                    2 => (format!("racq({lock})"), false),
                    3 => (format!("rel({lock})"), false),
                    4 | 5 => (format!("req({lock})"), true),
                    6 => (format!("wait(c,{lock})"), true),
                    7 => ("ev(foretrace.ended)".to_owned(), true),
                    _ => {
                        let other = ["A", "B", "C"][random(3) as usize];
                        open.retain(|&one| one != other);
                        (format!("join({other})"), false)
                    }
                };
                text += &format!("{thread}|{text_of}|\n");
                if is_last {
                    open.retain(|&one| one != thread);
                }
            }
            let trace = read(&text);
            let found = hangs(&trace);
            let expected = by_definition(&trace);
            let names = |hang: &Hang| trace.names.thread(hang.at.thread).to_owned();
            let mut all: Vec<String> = found.hangs.iter().filter(|hang| hang.stuck).map(names).collect();
            all.sort();
            stuck += all.len();
            assert_eq!(all, expected, "{text}");
            for cycle in &found.cycles {
                assert!(cycle.len() > 1 && cycle.iter().all(|&at| found.hangs[at].stuck), "{text}");
            }
        }
        assert!(stuck > 500, "only {stuck} threads were stuck");
    }

    /// The stuck threads by name: a thread waits; it can go on if what it waits for can be given by one that can.
    fn by_definition(trace: &Trace) -> Vec<String> {
        let events = &trace.batch.events;
        let threads: Vec<ThreadId> = (0..trace.names.space(Space::Thread).len()).map(ThreadId::from_index).collect();
        let last = |thread: ThreadId| events.iter().rev().find(|event| event.thread() == thread).copied();
        let ended = |thread: ThreadId| {
            events.iter().any(|e| match e.op() {
                Op::Join => e.object() == thread.0,
                Op::Internal => e.thread() == thread,
                _ => false,
            })
        };
        let holds = |thread: ThreadId, lock: LockId| {
            let mut exclusive = 0;
            for event in events.iter().filter(|event| event.thread() == thread) {
                match event.op() {
                    Op::Acquire if event.lock() == lock => exclusive += 1,
                    Op::Release if event.lock() == lock => exclusive = i32::max(exclusive - 1, 0),
                    Op::Wait if trace.batch.extra(*event).lock == lock => exclusive = 0,
                    _ => {}
                }
            }
            exclusive > 0
        };
        let waits = |thread: ThreadId| last(thread).filter(|e| matches!(e.op(), Op::Request | Op::Wait));
        let mut can: Vec<bool> = threads.iter().map(|&t| waits(t).is_none() && !ended(t)).collect();
        for _ in 0..threads.len() {
            for &thread in &threads {
                let Some(event) = waits(thread) else { continue };
                can[thread.index()] |= match event.op() {
                    Op::Request => threads.iter().all(|&other| !holds(other, event.lock()) || can[other.index()]),
                    _ => true,
                };
            }
        }
        let stuck = threads.iter().filter(|&&thread| waits(thread).is_some() && !can[thread.index()]);
        let mut names: Vec<String> = stuck.map(|&thread| trace.names.thread(thread).to_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_lock_that_only_readers_hold_may_come() {
        assert_eq!(waiting("B|racq(l)|1\nB|req(l)|3\n"), ["B"]);
        assert_eq!(waiting("A|racq(l)|1\nB|acq(m)|2\nA|req(m)|3\nB|req(l)|4\n"), ["A", "B"]);
    }

    #[test]
    fn joins_close_cycles() {
        let trace = read("A|fork(B)|1\nA|acq(l)|2\nA|jreq(B)|3\nB|req(l)|4\n");
        assert_eq!(hangs(&trace).cycles, [[0, 1]]);
    }
}
