//! The race window: the threads of findings, and those that have a hand in them.
//!
//! **Follows** figure 11 of Havelund, "Using runtime analysis to guide model checking of Java programs" (2000): a
//! dependency graph with, per thread, who started it, and which variables it read and wrote; the window is extended by
//! the threads that started one of its threads, and those that wrote a variable which one of them read, until nothing
//! is new.
//!
//! **Deviates**: the unit is the variable, not the object. Atomic accesses count like others, a read-modify-write as
//! both.
//!
//! **May miss** influence by other means (locks, conditions, messages), and accesses beyond the bound of memory, which
//! [`Dependencies::unrecorded`] counts. It is an aid for choosing what to look at, and claims nothing.

use event::{Batch, Id, Names, Op, Space, ThreadId, VarId};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Pairs of a thread and a variable that are kept if not said otherwise, about 20 bytes each.
const MOST: usize = 16 << 20;

const READ: u8 = 1;
const WROTE: u8 = 2;

/// Why a thread is in an extended window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reason {
    /// It was there before.
    Given,
    /// It started this thread.
    Forked(ThreadId),
    /// It wrote a variable that this thread read.
    Wrote(VarId, ThreadId),
}

/// Who started whom, and who read and wrote what, batch by batch.
#[derive(Clone, Debug)]
pub struct Dependencies {
    parents: Vec<Option<ThreadId>>,
    accesses: FxHashMap<(ThreadId, VarId), u8>,
    most: usize,
    unrecorded: u64,
}

impl Default for Dependencies {
    fn default() -> Self {
        Dependencies::keeping(MOST)
    }
}

impl Dependencies {
    /// Before the first event; keeps at most so many pairs of a thread and a variable.
    pub fn keeping(most: usize) -> Dependencies {
        Dependencies { parents: Vec::new(), accesses: FxHashMap::default(), most, unrecorded: 0 }
    }

    /// Takes the next events.
    pub fn batch(&mut self, names: &Names, batch: &Batch) {
        self.parents.resize(names.space(Space::Thread).len(), None);
        for &event in &batch.events {
            let how = match event.op() {
                Op::Read | Op::AtomicLoad => READ,
                Op::Write | Op::AtomicStore => WROTE,
                Op::AtomicRmw => READ | WROTE,
                Op::Fork => {
                    self.parents[event.child().index()].get_or_insert(event.thread());
                    continue;
                }
                _ => continue,
            };
            let key = (event.thread(), event.var());
            let full = self.accesses.len() >= self.most;
            match self.accesses.entry(key) {
                Entry::Occupied(mut known) => *known.get_mut() |= how,
                Entry::Vacant(_) if full => self.unrecorded += 1,
                Entry::Vacant(new) => {
                    new.insert(how);
                }
            }
        }
    }

    /// Accesses that found no room.
    pub fn unrecorded(&self) -> u64 {
        self.unrecorded
    }

    /// The threads that have a hand in those of a window, these first; each with the first reason found.
    pub fn extend(&self, window: &[ThreadId]) -> Vec<(ThreadId, Reason)> {
        let mut accesses: Vec<_> = self.accesses.iter().map(|(&(thread, var), &how)| (thread, var, how)).collect();
        accesses.sort_unstable();
        let mut writers: FxHashMap<VarId, Vec<ThreadId>> = FxHashMap::default();
        for &(thread, var, _) in accesses.iter().filter(|access| access.2 & WROTE != 0) {
            writers.entry(var).or_default().push(thread);
        }
        let mut extended: Vec<(ThreadId, Reason)> = Vec::new();
        let mut inside = vec![false; self.parents.len()];
        let mut enter = |thread: ThreadId, reason, extended: &mut Vec<_>| {
            if inside.get_mut(thread.index()).is_some_and(|inside| !std::mem::replace(inside, true)) {
                extended.push((thread, reason));
            }
        };
        window.iter().for_each(|&thread| enter(thread, Reason::Given, &mut extended));
        let mut next = 0;
        while let Some(&(thread, _)) = extended.get(next) {
            next += 1;
            if let Some(parent) = self.parents[thread.index()] {
                enter(parent, Reason::Forked(thread), &mut extended);
            }
            let own = accesses.partition_point(|access| access.0 < thread);
            let own = accesses[own..].iter().take_while(|access| access.0 == thread);
            for &(_, var, _) in own.filter(|access| access.2 & READ != 0) {
                // All of them are inside after this: they need not be looked at again.
                for writer in writers.remove(&var).unwrap_or_default() {
                    enter(writer, Reason::Wrote(var, thread), &mut extended);
                }
            }
        }
        extended
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use trace::Trace;
    use trace::text::TextReader;

    fn read(text: &str) -> Trace {
        Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace")
    }

    fn dependencies(trace: &Trace, most: usize) -> Dependencies {
        let mut all = Dependencies::keeping(most);
        all.batch(&trace.names, &trace.batch);
        all
    }

    fn thread(trace: &Trace, name: &str) -> ThreadId {
        ThreadId(trace.names.space(Space::Thread).find(name.as_bytes()).expect("a thread"))
    }

    #[test]
    fn who_started_it_and_who_wrote_what_it_read() {
        let trace = read(
            "main|fork(A)|\nmain|fork(B)|\nB|fork(C)|\nC|w(x)|\nA|r(x)|\n\
             A|w(y)|\nB|r(y)|\nD|r(x)|\nD|w(z)|\nE|armw(z)|\n",
        );
        let all = dependencies(&trace, usize::MAX);
        let named = |window: &[&str]| {
            let window: Vec<ThreadId> = window.iter().map(|name| thread(&trace, name)).collect();
            all.extend(&window)
        };
        let [main, a, b, c, d, e] = ["main", "A", "B", "C", "D", "E"].map(|name| thread(&trace, name));
        let x = VarId(0);
        let expected =
            [(a, Reason::Given), (main, Reason::Forked(a)), (c, Reason::Wrote(x, a)), (b, Reason::Forked(c))];
        assert_eq!(named(&["A"]), expected);
        assert_eq!(named(&["D"])[1], (c, Reason::Wrote(x, d)));
        assert_eq!(named(&["E"])[..2], [(e, Reason::Given), (d, Reason::Wrote(VarId(2), e))]);
        assert_eq!(named(&[]), []);
    }

    #[test]
    fn what_finds_no_room_is_counted() {
        let trace = read("A|w(x)|\nA|w(y)|\nB|r(y)|\nB|r(y)|\nA|w(x)|\n");
        let all = dependencies(&trace, 2);
        assert_eq!(all.unrecorded(), 2);
        assert_eq!(all.extend(&[thread(&trace, "B")]).len(), 1);
    }

    /// The definition: adds a thread as long as there is one to add.
    fn naive(trace: &Trace, window: &[ThreadId]) -> BTreeSet<ThreadId> {
        let events = &trace.batch.events;
        let mut inside: BTreeSet<ThreadId> = window.iter().copied().collect();
        loop {
            let new = events.iter().find(|event| {
                let reads = |var: u32| {
                    let read = [Op::Read, Op::AtomicLoad, Op::AtomicRmw];
                    events.iter().any(|e| read.contains(&e.op()) && e.object() == var && inside.contains(&e.thread()))
                };
                !inside.contains(&event.thread())
                    && match event.op() {
                        Op::Fork => inside.contains(&event.child()),
                        Op::Write | Op::AtomicStore | Op::AtomicRmw => reads(event.object()),
                        _ => false,
                    }
            });
            match new {
                Some(event) => _ = inside.insert(event.thread()),
                None => return inside,
            }
        }
    }

    #[test]
    fn the_same_as_the_definition() {
        for seed in 0..40 {
            let mut options =
                generate::Options { events: 300, threads: 9, vars: 16, locks: 2, seed, ..Default::default() };
            options.all_ops = seed % 2 == 0;
            let mut generator = generate::Generator::new(options).expect("options");
            let trace = Trace::read(&mut generator).expect("a trace");
            let all = dependencies(&trace, usize::MAX);
            for first in 0..trace.names.space(Space::Thread).len() {
                let window = [ThreadId(first as u32)];
                let found: BTreeSet<ThreadId> = all.extend(&window).into_iter().map(|(thread, _)| thread).collect();
                assert_eq!(found, naive(&trace, &window), "seed {seed}, thread {first}");
            }
        }
    }
}
