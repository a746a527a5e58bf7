//! Computes the next level: an n-way merge of the successors by each chain, which are sorted already.

use crate::key::Key;
use crate::layout::{Layout, Table, Tables};
use crate::messages::Messages;
use crate::payload::{Closing, Edge, Payload};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Ranges of keys for each thread that merges.
const PARTS_OF_A_THREAD: usize = 4;

/// The cuts of a level, in key order, and what each carries.
pub(crate) struct Level<K, C> {
    pub(crate) keys: Vec<K>,
    pub(crate) column: C,
}

/// The input of a merge.
pub(crate) struct Merge<'m, 'f, K, C> {
    pub(crate) tables: &'m Tables<K>,
    pub(crate) layout: &'m Layout,
    pub(crate) messages: &'m Messages<'f>,
    pub(crate) from: &'m Level<K, C>,
}

/// One input of the merge: the table and the field of a chain, and the cuts that it may continue.
#[derive(Clone, Copy)]
struct Source<'l, K> {
    table: &'l Table<K>,
    keys: &'l [K],
    shift: u32,
    mask: u32,
}

/// The next cut that a source continues: its position in the old level, and the class of the event and the key of the
/// successor.
#[derive(Clone, Copy)]
struct Head<K> {
    at: usize,
    class: u32,
    key: K,
}

#[allow(clippy::needless_range_loop, reason = "loops over the chains are unrolled; several arrays go along")]
impl<K: Key, C> Merge<'_, '_, K, C> {
    /// Computes the successors with keys from `low` up to, not including, `high` (`None`: to the end).
    pub(crate) fn run<P: Payload<Column = C>>(&self, low: K, high: Option<K>, payload: &mut P, to: &mut Level<K, C>) {
        // Unrolled loops pay only where the work for an edge is small.
        if const { !P::FAST || !K::FAST } {
            return self.any(self.tables.chains.len(), low, high, payload, to);
        }
        macro_rules! fixed {
            ($($n:literal)*) => {
                match self.tables.chains.len() {
                    0 => {}
                    $(
                        $n if self.layout.equal => self.fixed::<P, $n, true>(low, high, payload, to),
                        $n => self.fixed::<P, $n, false>(low, high, payload, to),
                    )*
                    chains => self.any(chains, low, high, payload, to),
                }
            };
        }
        fixed!(1 2 3 4 5 6 7 8 9 10 11 12);
    }

    /// Computes the next level by several threads. Each makes ranges of keys, one after another, until there are no
    /// more: ranges of equally many old cuts are not equally much work. The ranges come in the order of their keys,
    /// whichever thread made them, each with the payload that made it.
    pub(crate) fn in_parts<P>(&self, threads: usize, fork: impl Fn() -> P) -> Vec<(Level<K, C>, P)>
    where
        P: Payload<Column = C> + Send,
        C: Default + Send + Sync,
    {
        let keys = &self.from.keys;
        let parts = threads * PARTS_OF_A_THREAD;
        let bounds: Vec<K> = (1..parts).map(|part| keys[part * keys.len() / parts]).collect();
        let payloads: Vec<Mutex<Option<P>>> = (0..parts).map(|_| Mutex::new(Some(fork()))).collect();
        let next = AtomicUsize::new(0);
        let work = || {
            let mut made = Vec::new();
            loop {
                let part = next.fetch_add(1, Ordering::Relaxed);
                let taken = payloads.get(part).and_then(|payload| payload.lock().ok()?.take());
                let Some(mut payload) = taken else { return made };
                let low = if part == 0 { K::ZERO } else { bounds[part - 1] };
                let mut to = Level { keys: Vec::new(), column: C::default() };
                self.run(low, bounds.get(part).copied(), &mut payload, &mut to);
                made.push((part, (to, payload)));
            }
        };
        let mut made = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            let mut made = work();
            for other in others {
                made.extend(other.join().expect("merging does not fail"));
            }
            made
        });
        made.sort_by_key(|(part, _)| *part);
        made.into_iter().map(|(_, made)| made).collect()
    }

    /// The position from which on the successors by a chain are at least `key`.
    fn seek(&self, chain: usize, key: K) -> usize {
        let one = self.tables.chains[chain].one;
        self.from.keys.partition_point(|&cut| cut.plus(one) < key)
    }

    /// The keys whose successors by a chain are below `high`.
    fn keys_below(&self, chain: usize, high: Option<K>) -> &[K] {
        high.map_or(&self.from.keys, |high| &self.from.keys[..self.seek(chain, high)])
    }

    /// The first cut of a source, from position `from` on, that its chain can continue.
    #[inline(always)]
    fn advance(&self, source: Source<'_, K>, from: usize, ruled: bool, cut: &mut Vec<u32>) -> Head<K> {
        let Source { table, keys, shift, mask } = source;
        let mut at = from;
        while let Some(&key) = keys.get(at) {
            let ahead = key.field(shift, mask) as usize;
            let row = &table.rows[ahead];
            if key.covers(row.predecessors, self.tables.guards) && (!ruled || self.allowed(table, ahead, key, cut)) {
                return Head { at, class: row.class, key: key.plus(table.one) };
            }
            at += 1;
        }
        Head { at, class: 0, key: K::MAX }
    }

    /// Whether the rules allow an event after a cut.
    #[cold]
    fn allowed(&self, table: &Table<K>, ahead: usize, key: K, cut: &mut Vec<u32>) -> bool {
        let number = self.layout.base[table.chain as usize] + ahead as u32;
        let Some((rules, event)) = self.messages.rule_of(table.chain, number) else { return true };
        self.layout.unpack(key, cut);
        rules.allows(event, cut)
    }

    /// Gathers what one edge contributes to its successor.
    #[inline(always)]
    fn gather<P: Payload<Column = C>>(
        &self,
        table: &Table<K>,
        head: Head<K>,
        payload: &mut P,
        cut: &mut Vec<u32>,
        gathered: &mut P::Gathered,
    ) {
        let mut edge = Edge { class: head.class, chain: table.chain, number: 0, cut: &[] };
        if P::WANTS_CUT {
            let key = self.from.keys[head.at];
            self.layout.unpack(key, cut);
            edge.number = self.layout.base[table.chain as usize] + key.field(table.shift, table.mask);
            edge.cut = cut;
        }
        payload.edge(&self.from.column, head.at, &edge, self.messages, gathered);
    }

    /// Adds a successor to the next level, once all its edges are gathered.
    #[inline(always)]
    fn close<P: Payload<Column = C>>(
        &self,
        key: K,
        payload: &mut P,
        gathered: &mut P::Gathered,
        cut: &mut Vec<u32>,
        to: &mut Level<K, C>,
    ) {
        let closing = payload.close(gathered, &mut to.column);
        if closing == Closing::Nothing {
            return;
        }
        to.keys.push(key);
        if closing == Closing::Violated {
            self.layout.unpack(key, cut);
            payload.note(&to.column, cut);
        }
    }

    /// The merge for N chains, unrolled: the least head is found by comparing all of them.
    fn fixed<P: Payload<Column = C>, const N: usize, const EQUAL: bool>(
        &self,
        low: K,
        high: Option<K>,
        payload: &mut P,
        to: &mut Level<K, C>,
    ) {
        let mut cut = Vec::new();
        let ruled = self.messages.structure.is_some();
        let chains: &[Table<K>; N] = self.tables.chains.as_slice().try_into().expect("so many chains");
        let keys: [&[K]; N] = std::array::from_fn(|chain| self.keys_below(chain, high));
        // Fields of equal width have shifts that the compiler knows.
        let width = K::BITS / N as u32;
        let source = |chain: usize| {
            let (table, keys) = (&chains[chain], keys[chain]);
            if EQUAL {
                let mask = ((1u64 << (width - 1).min(31)) - 1) as u32;
                Source { table, keys, shift: chain as u32 * width, mask }
            } else {
                Source { table, keys, shift: table.shift, mask: table.mask }
            }
        };
        let mut heads: [Head<K>; N] = std::array::from_fn(|chain| {
            let from = if low == K::ZERO { 0 } else { self.seek(chain, low) };
            self.advance(source(chain), from, ruled, &mut cut)
        });
        let mut gathered = P::Gathered::default();
        loop {
            let mut least = heads[0].key;
            for chain in 1..N {
                least = if heads[chain].key < least { heads[chain].key } else { least };
            }
            if least == K::MAX {
                break;
            }
            for chain in 0..N {
                let head = heads[chain];
                if head.key == least {
                    self.gather(&chains[chain], head, payload, &mut cut, &mut gathered);
                    heads[chain] = self.advance(source(chain), head.at + 1, ruled, &mut cut);
                }
            }
            self.close(least, payload, &mut gathered, &mut cut, to);
        }
    }

    /// The merge for any number of chains: the least head is found by a heap.
    fn any<P: Payload<Column = C>>(
        &self,
        chains: usize,
        low: K,
        high: Option<K>,
        payload: &mut P,
        to: &mut Level<K, C>,
    ) {
        let mut cut = Vec::new();
        let ruled = self.messages.structure.is_some();
        let keys: Vec<&[K]> = (0..chains).map(|chain| self.keys_below(chain, high)).collect();
        let tables = &self.tables.chains;
        let source = |chain: usize| {
            let (table, keys) = (&tables[chain], keys[chain]);
            Source { table, keys, shift: table.shift, mask: table.mask }
        };
        let mut heads: Vec<Head<K>> = Vec::with_capacity(chains);
        let mut heap = BinaryHeap::with_capacity(chains);
        for chain in 0..chains {
            let from = if low == K::ZERO { 0 } else { self.seek(chain, low) };
            heads.push(self.advance(source(chain), from, ruled, &mut cut));
            heap.push(Reverse((heads[chain].key, chain)));
        }
        let mut gathered = P::Gathered::default();
        while let Some(&Reverse((least, _))) = heap.peek()
            && least != K::MAX
        {
            while let Some(&Reverse((key, chain))) = heap.peek()
                && key == least
            {
                heap.pop();
                self.gather(&tables[chain], heads[chain], payload, &mut cut, &mut gathered);
                heads[chain] = self.advance(source(chain), heads[chain].at + 1, ruled, &mut cut);
                heap.push(Reverse((heads[chain].key, chain)));
            }
            self.close(least, payload, &mut gathered, &mut cut, to);
        }
    }
}
