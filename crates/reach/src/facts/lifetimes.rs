//! What reads see. A *lifetime* is a variable between two lifetime boundaries: as these keep their order with every
//! access, what happens in one lifetime does not touch another.

use super::{Chains, NONE, is_access, is_read};
use event::{Batch, Event, Op, Value, VarId};
use rustc_hash::FxHashMap;

const READS: u8 = 1;
const WRITES: u8 = 2;

/// A variable between two lifetime boundaries.
#[derive(Clone, Debug)]
pub(crate) struct Lifetime {
    /// Its value at first, if known: as given, or as a fixed write left it.
    pub(crate) initial: Value,
    /// Its writes and its reads (an `armw` is both) that are not fixed, in recorded order.
    pub(crate) writes: Vec<u32>,
    pub(crate) reads: Vec<u32>,
    /// The writes of each chain that has some.
    pub(crate) chains: Vec<ChainWrites>,
    /// Two chains meet in it, and something can be seen wrongly.
    pub(crate) ruled: bool,
}

/// The writes of a lifetime in one chain, in order.
#[derive(Clone, Debug)]
pub(crate) struct ChainWrites {
    pub(crate) chain: usize,
    pub(crate) writes: Vec<u32>,
}

impl ChainWrites {
    /// The last one of the first so many events of its chain.
    #[inline]
    pub(crate) fn last(&self, chains: &Chains, count: u32) -> Option<u32> {
        let before = self.writes.partition_point(|&write| chains.position(write) < count);
        self.writes[..before].last().copied()
    }
}

/// The lifetimes of a trace.
pub(crate) struct Lifetimes {
    pub(crate) lifetimes: Vec<Lifetime>,
    /// By event that is not fixed: its lifetime; [`NONE`] if it accesses none.
    of_event: Vec<u32>,
    /// By event: the value read or written.
    values: Vec<Value>,
    /// By read: the write that it saw when recorded; [`NONE`]: what was there at first.
    recorded: Vec<u32>,
    /// By event: whether it reads and writes.
    kinds: Vec<u8>,
}

impl Lifetimes {
    pub(crate) fn new(trace: &Batch, chains: &Chains, initial: &dyn Fn(VarId) -> Value) -> Lifetimes {
        let count = trace.events.len();
        let mut lifetimes = Lifetimes {
            lifetimes: Vec::new(),
            of_event: vec![NONE; count],
            values: vec![Value::Unknown; count],
            recorded: vec![NONE; count],
            kinds: vec![0; count],
        };
        // By variable: what fixed events left in it.
        let mut left: FxHashMap<VarId, Value> = FxHashMap::default();
        let mut current: FxHashMap<VarId, u32> = FxHashMap::default();
        let fresh =
            |initial| Lifetime { initial, writes: Vec::new(), reads: Vec::new(), chains: Vec::new(), ruled: false };
        for (at, &event) in (0u32..).zip(&trace.events).filter(|(_, event)| is_access(event.op())) {
            let (op, var) = (event.op(), event.var());
            if at < chains.fixed {
                if op.bounds_lifetime() {
                    left.insert(var, Value::Unknown);
                } else if !is_read(op) {
                    left.insert(var, trace.extra(event).value);
                }
                continue;
            }
            if op.bounds_lifetime() {
                lifetimes.lifetimes.push(fresh(Value::Unknown));
                current.insert(var, lifetimes.lifetimes.len() as u32 - 1);
                continue;
            }
            let lifetime = *current.entry(var).or_insert_with(|| {
                lifetimes.lifetimes.push(fresh(left.get(&var).copied().unwrap_or_else(|| initial(var))));
                lifetimes.lifetimes.len() as u32 - 1
            });
            lifetimes.add(trace, at, event, lifetime);
        }
        for lifetime in &mut lifetimes.lifetimes {
            let first = lifetime.writes.first().map(|&write| chains.of(write));
            let meet = lifetime.writes.iter().chain(&lifetime.reads).any(|&access| Some(chains.of(access)) != first);
            lifetime.ruled = !lifetime.reads.is_empty() && first.is_some() && meet;
            if !lifetime.ruled {
                continue;
            }
            for &write in &lifetime.writes {
                let chain = chains.of(write);
                match lifetime.chains.iter_mut().find(|other| other.chain == chain) {
                    Some(other) => other.writes.push(write),
                    None => lifetime.chains.push(ChainWrites { chain, writes: vec![write] }),
                }
            }
        }
        lifetimes
    }

    fn add(&mut self, trace: &Batch, at: u32, event: Event, number: u32) {
        let op = event.op();
        let lifetime = &mut self.lifetimes[number as usize];
        self.of_event[at as usize] = number;
        self.values[at as usize] = trace.extra(event).value;
        self.kinds[at as usize] = match op {
            op if is_read(op) => READS,
            Op::AtomicRmw => READS | WRITES,
            _ => WRITES,
        };
        if op.reads() {
            self.recorded[at as usize] = lifetime.writes.last().copied().unwrap_or(NONE);
            lifetime.reads.push(at);
        }
        if !is_read(op) {
            lifetime.writes.push(at);
        }
    }

    /// The lifetime of an access, if something can be seen wrongly in it.
    #[inline]
    pub(crate) fn of(&self, event: u32) -> Option<u32> {
        let lifetime = self.of_event[event as usize];
        (lifetime != NONE && self.lifetimes[lifetime as usize].ruled).then_some(lifetime)
    }

    /// Whether an access of a lifetime reads; an `armw` does both.
    #[inline]
    pub(crate) fn reads(&self, event: u32) -> bool {
        self.kinds[event as usize] & READS != 0
    }

    /// Whether an access of a lifetime writes.
    #[inline]
    pub(crate) fn writes(&self, event: u32) -> bool {
        self.kinds[event as usize] & WRITES != 0
    }

    /// What a read may see, the recorded write first.
    pub(crate) fn candidates(&self, read: u32) -> Vec<u32> {
        let recorded = self.recorded(read);
        let lifetime = &self.lifetimes[self.of_event[read as usize] as usize];
        let others = lifetime.writes.iter().copied().chain([NONE]);
        let others = others.filter(|&write| write != recorded && write != read && self.may_see(read, write));
        [recorded].into_iter().chain(others).collect()
    }

    /// The write that a read saw when recorded; [`NONE`]: what was there at first.
    #[inline]
    pub(crate) fn recorded(&self, read: u32) -> u32 {
        self.recorded[read as usize]
    }

    /// Whether a read may see what this write of its lifetime ([`NONE`]: the beginning) left.
    #[inline]
    pub(crate) fn may_see(&self, read: u32, write: u32) -> bool {
        if write == self.recorded[read as usize] {
            return true;
        }
        let left = match write {
            NONE => self.lifetimes[self.of_event[read as usize] as usize].initial,
            write => self.values[write as usize],
        };
        self.kinds[read as usize] == READS && left.is_known() && left == self.values[read as usize]
    }
}
