//! Barriers: each phase is an object of its own.
//!
//! What threads do before they arrive in a phase happens before what others do after they have left it. But a slow
//! thread may leave when fast ones have arrived in the next phase already, and what these did in between is in no order
//! with what the slow one does next. So who leaves must await the arrivals of its own phase only.
//!
//! **Which phase is it?** An arrival is recorded before it happens, and a departure after it has happened. So when the
//! first thread of a phase leaves, all arrivals of this phase are recorded. If exactly as many are recorded, since the
//! last phase was closed, as the barrier lets go on together, they are that phase, and it is closed: later arrivals
//! belong to others. (No arrival in a phase that was closed before can be one of them: those were complete without it.)
//! If there are more, because more threads use the barrier than go on together, nothing tells which of them belong
//! together. They and all later ones count as one phase, until every thread that has arrived has left; then all of them
//! are complete. So an await has all posts of its phase before it in any case, and maybe some more.
//!
//! **Objects are used again.** A phase takes the object of an earlier one that all of its threads have left. Its awaits
//! come after the posts of that earlier phase, too: so they did in the program. Threads leave a phase before they
//! arrive in the next one, so mostly two objects take turns, however long the program runs; there are never more than
//! threads that are in the barrier at one time, and one.
//!
//! Of a barrier that was reset, or that threads of other processes use, it is not known who arrives together: no phase
//! of it is closed any more, and it stays with the object that it has.
//! Who gives up waiting leaves no phase. (Java; the barrier is broken then, until it is reset.)

use super::Build;
use super::blocks::Actor;
use event::{Op, SiteId, Space, StackId, ThreadId};
use runtime::record::{BARRIER_IS_SHARED, Class};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What is known of all barriers.
#[derive(Default)]
pub(super) struct Barriers {
    /// By address: those whose number of threads is known.
    known: BTreeMap<u64, Barrier>,
    /// By slot and address: who has arrived, and not left.
    inside: FxHashMap<(u32, u64), Arrival>,
    made: u64,
}

struct Barrier {
    /// Which of all barriers it is: after another one at its address, old arrivals are none of it.
    made: u64,
    /// So many threads go on together.
    threads: u64,
    /// Where it was initialised.
    by: (ThreadId, SiteId, StackId),
    /// The phases that are not over, and objects that can be used again.
    phases: Vec<Phase>,
    /// The one of the next arrival, unless it is closed.
    current: usize,
    /// It was reset: no phase is closed any more.
    is_reset: bool,
    /// Something may let its threads go on that is not recorded.
    is_from_outside: bool,
}

struct Phase {
    object: u32,
    arrived: u64,
    /// Of those, who has not left.
    inside: u64,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nobody has left.
    Filling,
    /// It has all its arrivals.
    Closed,
    /// It stands for several phases, or it is not known which.
    Mixed,
}

#[derive(Clone, Copy)]
struct Arrival {
    made: u64,
    phase: usize,
    object: u32,
}

impl Barrier {
    /// The phase of a new arrival; `None` if it needs an object.
    fn arrive(&mut self) -> Option<usize> {
        if self.phases[self.current].state == State::Closed {
            self.current = self.phases.iter().position(|phase| phase.inside == 0)?;
        }
        let phase = &mut self.phases[self.current];
        if phase.inside == 0 {
            (phase.arrived, phase.state) = (0, State::Filling);
        }
        phase.arrived += 1;
        phase.inside += 1;
        Some(self.current)
    }

    /// One of those who have arrived leaves; `is_complete`: because the phase is.
    fn leave(&mut self, phase: usize, is_complete: bool) {
        let phase = &mut self.phases[phase];
        phase.inside = phase.inside.saturating_sub(1);
        if phase.state == State::Filling && is_complete {
            let is_exact = phase.arrived == self.threads && !self.is_reset;
            phase.state = if is_exact { State::Closed } else { State::Mixed };
        }
    }
}

impl Barriers {
    fn leave(&mut self, slot: u32, number: u64, is_complete: bool) -> Option<u32> {
        let arrival = self.inside.remove(&(slot, number))?;
        if let Some(barrier) = self.known.get_mut(&number).filter(|barrier| barrier.made == arrival.made) {
            barrier.leave(arrival.phase, is_complete);
        }
        Some(arrival.object)
    }

    /// What was in this memory is gone. Who is still inside a barrier leaves it later.
    pub(super) fn end(&mut self, start: u64, size: u64) {
        if self.known.is_empty() {
            return;
        }
        let end = start.saturating_add(size);
        while let Some((&number, _)) = self.known.range(start..end).next() {
            self.known.remove(&number);
        }
    }

    /// The object that a thread waits for inside a barrier.
    pub(super) fn waited_for(&self, slot: u32, number: u64) -> Option<u32> {
        self.inside.get(&(slot, number)).map(|arrival| arrival.object)
    }
}

/// Whether objects of a class are barriers.
pub(super) fn is_barrier(class: u8) -> bool {
    class == Class::Barrier as u8 || class == Class::BarrierState as u8
}

impl Build {
    /// A barrier was initialised, whose first object is this.
    pub(super) fn new_barrier(&mut self, by: Actor, number: u64, object: u32, threads: u64) {
        if threads & BARRIER_IS_SHARED != 0 || threads == 0 {
            return;
        }
        let (site, stack) = self.context(by.slot, by.context);
        self.barriers.made += 1;
        let barrier = Barrier {
            made: self.barriers.made,
            threads,
            by: (by.thread, site, stack),
            phases: vec![Phase { object, arrived: 0, inside: 0, state: State::Filling }],
            current: 0,
            is_reset: false,
            is_from_outside: false,
        };
        self.barriers.known.insert(number, barrier);
    }

    /// A thread posts or awaits a barrier: the objects that it posts or awaits, and the number of events that come
    /// before. `None`: nothing is known of phases.
    pub(super) fn phases(&mut self, by: Actor, (class, number): (u8, u64), op: Op) -> Option<(Vec<u32>, u64)> {
        let slot = by.slot;
        let arrival = self.barriers.inside.get(&(slot, number)).copied();
        match (op, arrival) {
            _ if class != Class::Barrier as u8 => {
                // What is done inside (the action of a barrier) is part of the phase.
                if let Some(arrival) = arrival {
                    return Some((vec![arrival.object], 0));
                }
                let barrier = self.barriers.known.get_mut(&number)?;
                barrier.is_reset |= op == Op::Post;
                Some((barrier.phases.iter().map(|phase| phase.object).collect(), 0))
            }
            (Op::Post, _) => {
                // A wait that was given up, or a thread that has ended inside.
                self.barriers.leave(slot, number, false);
                let (phase, events) = match self.barriers.known.get_mut(&number)?.arrive() {
                    Some(phase) => (phase, 0),
                    None => self.new_phase(by, number)?,
                };
                let barrier = self.barriers.known.get(&number)?;
                let object = barrier.phases[phase].object;
                let arrival = Arrival { made: barrier.made, phase, object };
                self.barriers.inside.insert((slot, number), arrival);
                Some((vec![object], events))
            }
            (_, Some(arrival)) => {
                self.barriers.leave(slot, number, true);
                Some((vec![arrival.object], 0))
            }
            (_, None) => {
                let barrier = self.barriers.known.get(&number)?;
                Some((barrier.phases.iter().map(|phase| phase.object).collect(), 0))
            }
        }
    }

    /// A thread arrives in a phase that needs an object of its own. Returns its number, and how many events that is.
    #[cold]
    fn new_phase(&mut self, by: Actor, number: u64) -> Option<(usize, u64)> {
        let first = self.barriers.known.get(&number)?.phases[0].object;
        let name = self.names.get(Space::Latch, first).to_owned();
        let object = self.fresh(Space::Latch, &name)?;
        let barrier = self.barriers.known.get_mut(&number)?;
        barrier.phases.push(Phase { object, arrived: 1, inside: 1, state: State::Filling });
        barrier.current = barrier.phases.len() - 1;
        let (place, threads, made, is_from_outside) =
            (barrier.current, barrier.threads, barrier.by, barrier.is_from_outside);
        self.initialised_at(Space::Latch, object, made);
        self.counted(Space::Latch, object, threads);
        let events = if is_from_outside { self.outside(by, Space::Latch, object) } else { 0 };
        Some((place, events))
    }

    /// The objects of a barrier that something may grant that is not recorded.
    pub(super) fn barrier_from_outside(&mut self, number: u64) -> Vec<u32> {
        let Some(barrier) = self.barriers.known.get_mut(&number) else { return Vec::new() };
        barrier.is_from_outside = true;
        barrier.phases.iter().map(|phase| phase.object).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a thread of a program is that waits at a barrier again and again.
    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Outside,
        /// Its arrival is recorded.
        Recorded,
        /// It has arrived in this phase.
        Arrived(usize),
    }

    /// Threads, each with the number of its arrival.
    type Arrivals = Vec<(usize, usize)>;

    /// A barrier as it is, and what is recorded of it, in any order that can be.
    struct Program {
        barrier: Barrier,
        threads: Vec<At>,
        /// By thread: its phase as it was recorded, until it arrives again; and its arrivals, of which the last counts.
        phase: Vec<usize>,
        arrivals: Vec<usize>,
        /// By phase of the barrier: who arrived in it, with the number of the arrival.
        phases: Vec<Vec<(usize, usize)>>,
        /// By object: the arrivals that were recorded with it.
        posts: Vec<Vec<(usize, usize)>>,
    }

    impl Program {
        fn new(threads: usize, together: usize) -> Program {
            let first = Phase { object: 0, arrived: 0, inside: 0, state: State::Filling };
            let by = (ThreadId(0), SiteId(0), StackId(0));
            let barrier = Barrier {
                made: 0,
                threads: together as u64,
                by,
                phases: vec![first],
                current: 0,
                is_reset: false,
                is_from_outside: false,
            };
            Program {
                barrier,
                threads: vec![At::Outside; threads],
                phase: vec![0; threads],
                arrivals: vec![0; threads],
                phases: vec![Vec::new()],
                posts: vec![Vec::new()],
            }
        }

        /// A thread goes on, if it can; `gives_up`: before it arrives. If it leaves: the recorded arrivals before that,
        /// and those of its phase.
        fn step(&mut self, t: usize, gives_up: bool) -> Option<[Arrivals; 2]> {
            match self.threads[t] {
                At::Outside => {
                    let phase = self.barrier.arrive().unwrap_or_else(|| {
                        let object = self.barrier.phases.len() as u32;
                        self.barrier.phases.push(Phase { object, arrived: 1, inside: 1, state: State::Filling });
                        self.barrier.current = object as usize;
                        self.posts.push(Vec::new());
                        object as usize
                    });
                    self.phase[t] = phase;
                    self.arrivals[t] += 1;
                    self.posts[phase].push((t, self.arrivals[t]));
                    self.threads[t] = At::Recorded;
                    None
                }
                At::Recorded if gives_up => {
                    self.barrier.leave(self.phase[t], false);
                    self.threads[t] = At::Outside;
                    None
                }
                At::Recorded => {
                    let last = self.phases.len() - 1;
                    self.phases[last].push((t, self.arrivals[t]));
                    self.threads[t] = At::Arrived(last);
                    if self.phases[last].len() as u64 == self.barrier.threads {
                        self.phases.push(Vec::new());
                    }
                    None
                }
                // The phase is not complete.
                At::Arrived(phase) if phase + 1 == self.phases.len() => None,
                At::Arrived(phase) => {
                    self.barrier.leave(self.phase[t], true);
                    self.threads[t] = At::Outside;
                    Some([self.posts[self.phase[t]].clone(), self.phases[phase].clone()])
                }
            }
        }
    }

    #[test]
    fn who_leaves_awaits_its_phase() {
        let mut seed = 11u64;
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) as usize % below
        };
        let (mut left, mut early) = (0, 0);
        for round in 0..4_000 {
            let together = 1 + random(4);
            // As many threads as go on together, or more.
            let threads = if round % 2 == 0 { together } else { together + random(4) };
            let gives_up = if round % 4 == 3 { 20 } else { 0 };
            let mut program = Program::new(threads, together);
            for _ in 0..200 {
                let t = random(threads);
                let Some([posts, phase]) = program.step(t, random(100) < gives_up) else { continue };
                left += 1;
                assert!(phase.iter().all(|arrival| posts.contains(arrival)), "{together} of {threads}");
                if threads == together && gives_up == 0 {
                    // Nothing of a later phase, even if a thread has arrived in it.
                    let later =
                        |&&(t, n): &&(usize, usize)| phase.iter().any(|&(other, number)| other == t && number < n);
                    assert_eq!(posts.iter().filter(later).count(), 0);
                    early += usize::from(phase.iter().any(|&(t, n)| program.arrivals[t] > n));
                }
            }
            let most = if threads == together && gives_up == 0 { 2 } else { threads + 1 };
            assert!(program.barrier.phases.len() <= most, "{} objects", program.barrier.phases.len());
        }
        assert!(left > 20_000 && early > 5_000, "{left} {early}");
    }
}
