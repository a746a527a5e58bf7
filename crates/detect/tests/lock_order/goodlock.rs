//! GoodLock as printed (figures 9 and 10), against the detector, on random pairs of threads.

use super::support::{Random, run};
use detect::lock_order::LockOrderOptions;
use event::{Batch, Event, Names, Op, SiteId, ThreadId};
use std::collections::BTreeSet;

#[derive(Default)]
struct Node {
    lock: u32,
    parent: usize,
    children: Vec<usize>,
    marked: bool,
}

/// Node 0 is the thread.
struct LockTree {
    nodes: Vec<Node>,
    current: usize,
    owned: Vec<u32>,
}

impl LockTree {
    fn new() -> LockTree {
        LockTree { nodes: vec![Node::default()], current: 0, owned: Vec::new() }
    }

    fn lock(&mut self, lock: u32) {
        if !self.owned.contains(&lock) {
            let son = self.nodes[self.current].children.iter().copied().find(|&son| self.nodes[son].lock == lock);
            self.current = son.unwrap_or_else(|| {
                let new = self.nodes.len();
                self.nodes.push(Node { lock, parent: self.current, ..Node::default() });
                self.nodes[self.current].children.push(new);
                new
            });
        }
        self.owned.push(lock);
    }

    fn unlock(&mut self) {
        let lock = self.owned.pop().expect("owned");
        if !self.owned.contains(&lock) {
            self.current = self.nodes[self.current].parent;
        }
    }

    fn above(&self, node: usize) -> Vec<usize> {
        let mut above = Vec::new();
        let mut at = self.nodes[node].parent;
        while at != 0 {
            above.push(at);
            at = self.nodes[at].parent;
        }
        above
    }

    fn below_mark(&self, node: usize) -> bool {
        self.above(node).iter().any(|&above| self.nodes[above].marked)
    }
}

type Conflicts = BTreeSet<(u32, u32)>;

fn analyze(t1: &LockTree, t2: &mut LockTree) -> Conflicts {
    let mut conflicts = Conflicts::new();
    for &n1 in &t1.nodes[0].children {
        analyze_this(t1, n1, t2, &mut conflicts);
    }
    conflicts
}

fn analyze_this(t1: &LockTree, n: usize, t: &mut LockTree, conflicts: &mut Conflicts) {
    let same = (1..t.nodes.len()).filter(|&nt| t.nodes[nt].lock == t1.nodes[n].lock && !t.below_mark(nt));
    let same: Vec<usize> = same.collect();
    for &nt in &same {
        check(t1, n, t, nt, conflicts);
    }
    same.iter().for_each(|&nt| t.nodes[nt].marked = true);
    for &child in &t1.nodes[n].children {
        analyze_this(t1, child, t, conflicts);
    }
    same.iter().for_each(|&nt| t.nodes[nt].marked = false);
}

fn check(t1: &LockTree, n1: usize, t2: &LockTree, n2: usize, conflicts: &mut Conflicts) {
    for &child in &t1.nodes[n1].children {
        let (taken_last, lock) = (t2.nodes[n2].lock, t1.nodes[child].lock);
        if t2.above(n2).iter().any(|&above| t2.nodes[above].lock == lock) {
            conflicts.insert((lock.min(taken_last), lock.max(taken_last)));
        } else {
            check(t1, child, t2, n2, conflicts);
        }
    }
}

/// A thread that takes and gives back locks as synchronized blocks do.
fn program(random: &mut Random, thread: u32, locks: u32, names: &[u32], batch: &mut Batch) -> LockTree {
    let mut tree = LockTree::new();
    let mut stack = Vec::new();
    let mut left = 3 + random.below(9);
    loop {
        let ends = left == 0 || (!stack.is_empty() && random.below(5) < 2);
        let (op, lock) = if ends {
            let Some(lock) = stack.pop() else { break };
            tree.unlock();
            (Op::Release, lock)
        } else {
            left -= 1;
            let lock = random.below(locks);
            stack.push(lock);
            tree.lock(lock);
            (Op::Acquire, lock)
        };
        batch.events.push(Event::new(ThreadId(thread), op, names[lock as usize], SiteId(0)));
    }
    tree
}

#[test]
fn two_threads_give_what_goodlock_gives() {
    let mut random = Random(20_000_801);
    let mut names = Names::default();
    let threads = ["T1", "T2"].map(|name| names.add(event::Space::Thread, name).expect("room"));
    let locks: Vec<u32> = (1..=6).map(|k| names.add(event::Space::Lock, &format!("L{k}")).expect("room")).collect();
    let (mut with, mut without, mut conflicting) = (0, 0, 0);
    for _ in 0..200_000 {
        let many = 2 + random.below(5);
        let mut batch = Batch::default();
        let mut t1 = program(&mut random, threads[0], many, &locks, &mut batch);
        let mut t2 = program(&mut random, threads[1], many, &locks, &mut batch);
        let printed = analyze(&t1, &mut t2);
        assert_eq!(printed, analyze(&t2, &mut t1), "the operation is symmetric");
        let options = LockOrderOptions { upto: Some(2), ..LockOrderOptions::default() };
        let report = run(&names, &batch, options);
        assert!(report.complete && report.left_out == 0);
        let mut found: Vec<_> = report.cycles.iter().map(|cycle| (cycle.locks()[0].0, cycle.locks()[1].0)).collect();
        found.sort_unstable();
        assert_eq!(found, printed.iter().copied().collect::<Vec<_>>(), "{:?}", batch.events);
        if printed.is_empty() {
            without += 1;
        } else {
            with += 1;
        }
        conflicting += printed.len();
    }
    // Both answers must be frequent for the comparison to mean something.
    assert!(with > 50_000 && without > 20_000 && conflicting > 100_000, "{with} {without} {conflicting}");
}
