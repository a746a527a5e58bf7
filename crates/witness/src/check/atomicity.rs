//! Atomicity violations, by docs/detectors.md: a cycle of conflicts between transactions.
//!
//! Only the nearest conflicts are edges of the graph, for instance those of an access with the last write of its
//! variable and with the reads since; paths imply the others. Where many events conflict with many (`post` and `await`,
//! `up` and `down`), the graph has auxiliary nodes between them (*points*), so that the number of edges stays linear.

use super::check;
use super::conditions::pairs;
use super::refusal::{Reason, Refusal, WrongClaim};
use crate::ops::{is_access, is_read};
use crate::sections::{Sections, effect, lock_of};
use event::{Batch, BlockId, Causality, Names, Op, Space, Value, VarId};
use std::collections::{HashMap, HashSet};

/// Blocks nested deeper than this are only counted.
const MAX_DEPTH: usize = 1 << 10;
const NONE: u32 = u32::MAX;

/// Checks an atomicity violation: the schedule is feasible (its last event may be a terminal read), and in its order a
/// cycle of conflicts leads from the block that begins with event `block_begin` through other transactions back to it.
///
/// Transactions are the outermost blocks. The blocks around the one in question do not count: their names were not
/// asked for.
pub fn check_atomicity(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    schedule: &[u64],
    block_begin: u64,
) -> Result<(), Refusal> {
    check(model, names, trace, initial, schedule, true)?;
    let refuse = |claim| Refusal {
        position: schedule.iter().position(|&event| event == block_begin).unwrap_or(schedule.len()),
        event: block_begin,
        reason: Reason::WrongClaim(claim),
    };
    let order: Vec<u32> = schedule.iter().map(|&index| (index - trace.first) as u32).collect();
    let begin = block_begin.checked_sub(trace.first).and_then(|offset| u32::try_from(offset).ok());
    let begin = begin.filter(|begin| order.contains(begin)).ok_or_else(|| refuse(WrongClaim::NotABlock))?;
    if trace.events[begin as usize].op() != Op::Begin {
        return Err(refuse(WrongClaim::NotABlock));
    }
    let transactions = transactions(names, trace, begin);
    let edges = Edges::new(names, trace, &order, &transactions);
    if edges.lead_back(begin) { Ok(()) } else { Err(refuse(WrongClaim::Serialisable)) }
}

/// The blocks that a thread is in.
#[derive(Clone, Default)]
struct OpenBlocks {
    /// Their names and their first events, the outermost block first.
    blocks: Vec<(BlockId, u32)>,
    /// The number of blocks beyond [`MAX_DEPTH`].
    deeper: u64,
}

impl OpenBlocks {
    fn begin(&mut self, block: BlockId, at: u32) {
        if self.blocks.len() < MAX_DEPTH {
            self.blocks.push((block, at));
        } else {
            self.deeper += 1;
        }
    }

    /// An `end` without a name closes the innermost block; one with a name closes the blocks inside that block, too.
    fn end(&mut self, block: BlockId) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if block == BlockId(0) {
            self.blocks.pop();
        } else if let Some(at) = self.blocks.iter().rposition(|open| open.0 == block) {
            self.blocks.truncate(at);
        }
    }
}

/// By event: the first event of its transaction.
fn transactions(names: &Names, trace: &Batch, begin: u32) -> Vec<u32> {
    // The blocks around the one in question do not count.
    let mut around = OpenBlocks::default();
    let own = trace.events[begin as usize].thread();
    for (at, event) in (0..begin).zip(&trace.events).filter(|(_, event)| event.thread() == own) {
        match event.op() {
            Op::Begin => around.begin(event.block(), at),
            Op::End => around.end(event.block()),
            _ => {}
        }
    }
    let around: HashSet<u32> = around.blocks.iter().map(|block| block.1).collect();
    let mut threads = vec![OpenBlocks::default(); names.space(Space::Thread).len()];
    let each = (0u32..).zip(&trace.events).map(|(at, event)| {
        let open = &mut threads[event.thread().0 as usize];
        let outermost =
            |open: &OpenBlocks| open.blocks.iter().map(|block| block.1).find(|at| !around.contains(at)).unwrap_or(at);
        match event.op() {
            Op::Begin => {
                open.begin(event.block(), at);
                outermost(open)
            }
            Op::End => {
                let transaction = outermost(open);
                open.end(event.block());
                transaction
            }
            _ => outermost(open),
        }
    });
    each.collect()
}

/// A variable or a lock: the transaction that changed it last, and those that have read it since.
#[derive(Clone, Default)]
struct SharedObject {
    changed: Option<u32>,
    read: Vec<u32>,
}

/// The graph of conflicts. A transaction has the number of its first event; points have greater numbers.
struct Edges {
    after: HashMap<u32, Vec<u32>>,
    /// The number of the first point.
    points: u32,
}

impl Edges {
    fn new(names: &Names, trace: &Batch, order: &[u32], transactions: &[u32]) -> Edges {
        let count = |space| names.space(space).len();
        let mut edges = Edges { after: HashMap::new(), points: trace.events.len() as u32 };
        let mut next_point = edges.points;
        let effects = effects(trace);
        let mut notified: HashMap<u32, u32> = HashMap::new();
        for pair in pairs(names, trace) {
            notified.insert(pair.woken, pair.notify);
        }
        let mut last = vec![NONE; count(Space::Thread)];
        // By thread: its forks that no event of it has come after.
        let mut forks = vec![NONE; count(Space::Thread)];
        let mut vars = vec![SharedObject::default(); count(Space::Var)];
        let mut locks = vec![SharedObject::default(); count(Space::Lock)];
        let mut posts = vec![NONE; count(Space::Latch)];
        let mut ups = vec![NONE; count(Space::Sem)];
        for &at in order {
            let event = trace.events[at as usize];
            let me = transactions[at as usize];
            let thread = event.thread().0 as usize;
            edges.add(last[thread], me);
            edges.add(std::mem::replace(&mut forks[thread], NONE), me);
            last[thread] = me;
            match event.op() {
                op if is_access(op) => edges.access(&mut vars[event.object() as usize], me, is_read(op)),
                Op::Fork => edges.collect(&mut forks[event.object() as usize], &mut next_point, me),
                Op::Join => {
                    edges.add(last[event.object() as usize], me);
                    edges.add(forks[event.object() as usize], me);
                }
                Op::Post => edges.collect(&mut posts[event.object() as usize], &mut next_point, me),
                Op::Up => edges.collect(&mut ups[event.object() as usize], &mut next_point, me),
                Op::Await => edges.add(posts[event.object() as usize], me),
                Op::Down => edges.add(ups[event.object() as usize], me),
                _ => {}
            }
            if let Some(&notify) = notified.get(&at) {
                edges.add(transactions[notify as usize], me);
            }
            if effects[at as usize]
                && let Some(lock) = lock_of(trace, event)
            {
                let shared = event.op().is_shared();
                edges.access(&mut locks[lock as usize], me, shared);
            }
        }
        edges
    }

    fn add(&mut self, from: u32, to: u32) {
        if from != to && from != NONE {
            let after = self.after.entry(from).or_default();
            if after.last() != Some(&to) {
                after.push(to);
            }
        }
    }

    /// A transaction reads or changes an object.
    fn access(&mut self, object: &mut SharedObject, me: u32, only_reads: bool) {
        if let Some(changed) = object.changed {
            self.add(changed, me);
        }
        if only_reads {
            if object.read.last() != Some(&me) {
                object.read.push(me);
            }
        } else {
            for read in object.read.drain(..) {
                self.add(read, me);
            }
            object.changed = Some(me);
        }
    }

    /// Adds a point after the transaction and after the point before.
    fn collect(&mut self, point: &mut u32, next: &mut u32, me: u32) {
        self.add(*point, *next);
        self.add(me, *next);
        *point = *next;
        *next += 1;
    }

    /// Whether a path leads from the transaction through another one back to it.
    fn lead_back(&self, transaction: u32) -> bool {
        // With each node: whether the path to it goes through another transaction.
        let mut seen: HashSet<(u32, bool)> = HashSet::new();
        let mut left = vec![(transaction, false)];
        while let Some((from, through)) = left.pop() {
            for &to in self.after.get(&from).map_or(&[][..], Vec::as_slice) {
                if to == transaction {
                    if through {
                        return true;
                    }
                    continue;
                }
                let next = (to, through || to < self.points);
                if seen.insert(next) {
                    left.push(next);
                }
            }
        }
        false
    }
}

/// By event: whether it is a lock operation with effect.
fn effects(trace: &Batch) -> Vec<bool> {
    let mut sections = Sections::default();
    let any = effect::OPENS | effect::CLOSES | effect::OPENS_SHARED | effect::CLOSES_SHARED;
    let each = (0u32..).zip(&trace.events).map(|(at, &event)| {
        let step = sections.step(trace, at, event);
        step.effect & any != 0 || event.op().has_lock_argument()
    });
    each.collect()
}
