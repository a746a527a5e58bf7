//! The next level: an n-way merge of the lanes' successors, each of which is sorted already.

use crate::key::Key;
use crate::layout::{Layout, Tables};
use crate::payload::{Edge, Payload};
use crate::world::World;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The cuts of a level, in order, and what each carries.
pub(crate) struct Level<K, C> {
    pub(crate) keys: Vec<K>,
    pub(crate) column: C,
}

/// What a merge works on.
pub(crate) struct Merge<'m, 'f, K, C> {
    pub(crate) tables: &'m Tables<K>,
    pub(crate) layout: &'m Layout,
    pub(crate) world: &'m World<'f>,
    pub(crate) from: &'m Level<K, C>,
}

/// Where a lane stands in the level that is left, and what it makes of the cut there.
#[derive(Clone, Copy)]
struct Head<K> {
    at: usize,
    class: u32,
    key: K,
}

#[allow(clippy::needless_range_loop, reason = "loops over the lanes are unrolled; several arrays go along")]
impl<K: Key, C> Merge<'_, '_, K, C> {
    /// The cuts with keys from `low` on and below `high` (`None`: to the end).
    pub(crate) fn run<P: Payload<Column = C>>(&self, low: K, high: Option<K>, payload: &mut P, to: &mut Level<K, C>) {
        // Unrolled loops pay where little else is done; elsewhere they would only be more code.
        if const { !P::FAST || !K::FAST } {
            return self.any(self.tables.lanes.len(), low, high, payload, to);
        }
        match self.tables.lanes.len() {
            0 => {}
            1 => self.fixed::<P, 1>(low, high, payload, to),
            2 => self.fixed::<P, 2>(low, high, payload, to),
            3 => self.fixed::<P, 3>(low, high, payload, to),
            4 => self.fixed::<P, 4>(low, high, payload, to),
            5 => self.fixed::<P, 5>(low, high, payload, to),
            6 => self.fixed::<P, 6>(low, high, payload, to),
            7 => self.fixed::<P, 7>(low, high, payload, to),
            8 => self.fixed::<P, 8>(low, high, payload, to),
            9 => self.fixed::<P, 9>(low, high, payload, to),
            10 => self.fixed::<P, 10>(low, high, payload, to),
            11 => self.fixed::<P, 11>(low, high, payload, to),
            12 => self.fixed::<P, 12>(low, high, payload, to),
            lanes => self.any(lanes, low, high, payload, to),
        }
    }

    /// Where a lane's successors reach a key.
    fn seek(&self, lane: usize, key: K) -> usize {
        let one = self.tables.lanes[lane].one;
        self.from.keys.partition_point(|&cut| cut.plus(one) < key)
    }

    /// The next cut from `from` on that a lane can continue, and the key of what comes of it.
    #[inline(always)]
    fn advance(&self, lane: usize, from: usize, end: usize, cut: &mut Vec<u32>) -> Head<K> {
        let table = &self.tables.lanes[lane];
        let keys = &self.from.keys[..end];
        let mut at = from;
        while let Some(&key) = keys.get(at) {
            let ahead = key.field(table.shift, table.mask) as usize;
            let row = &table.rows[ahead];
            if key.covers(row.need, self.tables.guards)
                && (self.world.frame.is_none() || self.allowed(lane, ahead, key, cut))
            {
                return Head { at, class: row.class, key: key.plus(table.one) };
            }
            at += 1;
        }
        Head { at: end, class: 0, key: K::MAX }
    }

    /// Whether the rules let an element come after a cut.
    #[cold]
    fn allowed(&self, lane: usize, ahead: usize, key: K, cut: &mut Vec<u32>) -> bool {
        let lane = self.tables.lanes[lane].lane;
        let number = self.layout.base[lane as usize] + ahead as u32;
        let Some((rules, element)) = self.world.ruled(lane, number) else { return true };
        self.layout.unpack(key, cut);
        rules.allows(element, cut)
    }

    /// Gathers what comes over one edge.
    #[inline(always)]
    fn gather<P: Payload<Column = C>>(
        &self,
        lane: usize,
        head: Head<K>,
        payload: &mut P,
        cut: &mut Vec<u32>,
        gathered: &mut P::Gathered,
    ) {
        let table = &self.tables.lanes[lane];
        let mut edge = Edge { class: head.class, lane: table.lane, number: 0, cut: &[] };
        if P::WANTS_CUT {
            let key = self.from.keys[head.at];
            self.layout.unpack(key, cut);
            edge.number = self.layout.base[table.lane as usize] + key.field(table.shift, table.mask);
            edge.cut = cut;
        }
        payload.edge(&self.from.column, head.at, &edge, self.world, gathered);
    }

    fn fixed<P: Payload<Column = C>, const N: usize>(
        &self,
        low: K,
        high: Option<K>,
        payload: &mut P,
        to: &mut Level<K, C>,
    ) {
        let mut cut = Vec::new();
        let ends: [usize; N] =
            std::array::from_fn(|lane| high.map_or(self.from.keys.len(), |high| self.seek(lane, high)));
        let mut heads: [Head<K>; N] = std::array::from_fn(|lane| {
            let from = if low == K::ZERO { 0 } else { self.seek(lane, low) };
            self.advance(lane, from, ends[lane], &mut cut)
        });
        let mut gathered = P::Gathered::default();
        loop {
            let mut least = heads[0].key;
            for lane in 1..N {
                least = if heads[lane].key < least { heads[lane].key } else { least };
            }
            if least == K::MAX {
                break;
            }
            for lane in 0..N {
                let head = heads[lane];
                if head.key == least {
                    self.gather(lane, head, payload, &mut cut, &mut gathered);
                    heads[lane] = self.advance(lane, head.at + 1, ends[lane], &mut cut);
                }
            }
            if payload.close(&mut gathered, &mut to.column, &mut |cut| self.layout.unpack(least, cut)) {
                to.keys.push(least);
            }
        }
    }

    /// For many lanes: a heap finds the least.
    fn any<P: Payload<Column = C>>(
        &self,
        lanes: usize,
        low: K,
        high: Option<K>,
        payload: &mut P,
        to: &mut Level<K, C>,
    ) {
        let mut cut = Vec::new();
        let ends: Vec<usize> =
            (0..lanes).map(|lane| high.map_or(self.from.keys.len(), |high| self.seek(lane, high))).collect();
        let mut heads: Vec<Head<K>> = Vec::with_capacity(lanes);
        let mut heap = BinaryHeap::with_capacity(lanes);
        for lane in 0..lanes {
            let from = if low == K::ZERO { 0 } else { self.seek(lane, low) };
            heads.push(self.advance(lane, from, ends[lane], &mut cut));
            heap.push(Reverse((heads[lane].key, lane)));
        }
        let mut gathered = P::Gathered::default();
        while let Some(&Reverse((least, _))) = heap.peek()
            && least != K::MAX
        {
            while let Some(&Reverse((key, lane))) = heap.peek()
                && key == least
            {
                heap.pop();
                self.gather(lane, heads[lane], payload, &mut cut, &mut gathered);
                heads[lane] = self.advance(lane, heads[lane].at + 1, ends[lane], &mut cut);
                heap.push(Reverse((heads[lane].key, lane)));
            }
            if payload.close(&mut gathered, &mut to.column, &mut |cut| self.layout.unpack(least, cut)) {
                to.keys.push(least);
            }
        }
    }
}
