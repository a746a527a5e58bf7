//! Blocks that are not serialisable: a cycle of conflicts between transactions, by docs/detectors.md.
//!
//! Of the conflicts only the nearest are edges: of a variable's accesses, for instance, those with the last write, and with
//! the reads since. Every other conflict is several of them in a row. Where many events conflict with many (`post` and
//! `await`, `up` and `down`), they are joined by points between them that are no transactions.

use super::check;
use super::conditions::pairs;
use super::refused::{Broken, Refused, Unclaimed};
use crate::ops::{is_access, is_read};
use crate::sections::{Sections, effect, lock_of};
use event::{Batch, BlockId, Causality, Names, Op, Space, Value, VarId};
use std::collections::{HashMap, HashSet};

/// Blocks nested deeper than this are counted, and no longer told apart.
const MAX_DEPTH: usize = 1 << 10;
const NONE: u32 = u32::MAX;

/// Checks a violation of atomicity: the schedule is feasible, its last event possibly a terminal read, and in its order a cycle of
/// conflicts leads from the block that begins with the event `block_begin` through other transactions back to it.
///
/// Transactions are the outermost blocks. If this block is inside others, these do not count: only blocks of some
/// names were asked for.
pub fn check_atomicity(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    schedule: &[u64],
    block_begin: u64,
) -> Result<(), Refused> {
    check(model, names, trace, initial, schedule, true)?;
    let refuse = |claim| Refused {
        position: schedule.iter().position(|&event| event == block_begin).unwrap_or(schedule.len()),
        event: block_begin,
        broken: Broken::NoSuchClaim(claim),
    };
    let order: Vec<u32> = schedule.iter().map(|&index| (index - trace.first) as u32).collect();
    let begin = block_begin.checked_sub(trace.first).and_then(|offset| u32::try_from(offset).ok());
    let begin = begin.filter(|begin| order.contains(begin)).ok_or_else(|| refuse(Unclaimed::NotABlock))?;
    if trace.events[begin as usize].op() != Op::Begin {
        return Err(refuse(Unclaimed::NotABlock));
    }
    let transactions = transactions(names, trace, begin);
    let edges = Edges::new(names, trace, &order, &transactions);
    if edges.lead_back(begin) { Ok(()) } else { Err(refuse(Unclaimed::Serialisable)) }
}

/// The blocks that a thread is in.
#[derive(Clone, Default)]
struct Open {
    /// Their names, and their first events.
    blocks: Vec<(BlockId, u32)>,
    deeper: u64,
}

impl Open {
    fn begin(&mut self, block: BlockId, at: u32) {
        if self.blocks.len() < MAX_DEPTH {
            self.blocks.push((block, at));
        } else {
            self.deeper += 1;
        }
    }

    /// A nameless end closes the innermost block, another one the blocks inside its own, too.
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
    // The blocks around the one in question: they do not count.
    let mut around = Open::default();
    let own = trace.events[begin as usize].thread();
    for (at, event) in (0..begin).zip(&trace.events).filter(|(_, event)| event.thread() == own) {
        match event.op() {
            Op::Begin => around.begin(event.block(), at),
            Op::End => around.end(event.block()),
            _ => {}
        }
    }
    let around: HashSet<u32> = around.blocks.iter().map(|block| block.1).collect();
    let mut threads = vec![Open::default(); names.space(Space::Thread).len()];
    let each = (0u32..).zip(&trace.events).map(|(at, event)| {
        let open = &mut threads[event.thread().0 as usize];
        let outermost =
            |open: &Open| open.blocks.iter().map(|block| block.1).find(|at| !around.contains(at)).unwrap_or(at);
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

/// What conflicts by being changed or only looked at: a variable or a lock.
#[derive(Clone, Default)]
struct Object {
    changed: Option<u32>,
    seen: Vec<u32>,
}

/// Which transaction comes before which, and before which points between them: numbers from the first event's on.
struct Edges {
    after: HashMap<u32, Vec<u32>>,
    /// Transactions are below this number, points from it on.
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
        let mut forks: Vec<Vec<u32>> = vec![Vec::new(); count(Space::Thread)];
        let mut vars = vec![Object::default(); count(Space::Var)];
        let mut locks = vec![Object::default(); count(Space::Lock)];
        let mut posts = vec![NONE; count(Space::Latch)];
        let mut ups = vec![NONE; count(Space::Sem)];
        for &at in order {
            let event = trace.events[at as usize];
            let me = transactions[at as usize];
            let thread = event.thread().0 as usize;
            edges.add(last[thread], me);
            for fork in forks[thread].drain(..) {
                edges.add(fork, me);
            }
            last[thread] = me;
            match event.op() {
                op if is_access(op) => edges.touch(&mut vars[event.object() as usize], me, is_read(op)),
                Op::Fork => forks[event.object() as usize].push(me),
                Op::Join => edges.add(last[event.object() as usize], me),
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
                let shared = matches!(event.op(), Op::ReadAcquire | Op::ReadRelease);
                edges.touch(&mut locks[lock as usize], me, shared);
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

    fn touch(&mut self, object: &mut Object, me: u32, only_looks: bool) {
        if let Some(changed) = object.changed {
            self.add(changed, me);
        }
        if only_looks {
            if object.seen.last() != Some(&me) {
                object.seen.push(me);
            }
        } else {
            for seen in object.seen.drain(..) {
                self.add(seen, me);
            }
            object.changed = Some(me);
        }
    }

    /// A new point, after the transaction and the point before.
    fn collect(&mut self, point: &mut u32, next: &mut u32, me: u32) {
        self.add(*point, *next);
        self.add(me, *next);
        *point = *next;
        *next += 1;
    }

    /// Whether a way leads from the transaction through another one back to it.
    fn lead_back(&self, transaction: u32) -> bool {
        // A point is reached by the transaction alone, or through another one.
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
        step.effect & any != 0 || matches!(event.op(), Op::Wait | Op::Woken)
    });
    each.collect()
}
