//! What reads see. A *cell* is a variable between two barriers: as these keep their order with every access, what
//! happens in one cell does not touch another.

use super::{Lanes, NONE, is_access, is_barrier, is_read};
use event::{Batch, Event, Op, Value, VarId};
use rustc_hash::FxHashMap;

const READS: u8 = 1;
const WRITES: u8 = 2;

/// A variable between two barriers.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    /// Its value at first, if known: as given, or as a fixed write left it.
    pub(crate) initial: Value,
    /// Its writes and its reads (an `armw` is both) that are not fixed, in recorded order.
    pub(crate) writes: Vec<u32>,
    pub(crate) reads: Vec<u32>,
    /// The writes of each lane that has some.
    pub(crate) lanes: Vec<LaneWrites>,
    /// Two lanes meet in it, and something can be seen wrongly.
    pub(crate) ruled: bool,
}

/// The writes of a cell in one lane, in order.
#[derive(Clone, Debug)]
pub(crate) struct LaneWrites {
    pub(crate) lane: usize,
    pub(crate) writes: Vec<u32>,
}

impl LaneWrites {
    /// The last one of the first so many events of its lane.
    #[inline]
    pub(crate) fn last(&self, lanes: &Lanes, count: u32) -> Option<u32> {
        let before = self.writes.partition_point(|&write| lanes.position(write) < count);
        self.writes[..before].last().copied()
    }
}

/// The cells of a trace.
pub(crate) struct Cells {
    pub(crate) cells: Vec<Cell>,
    /// By event that is not fixed: its cell; [`NONE`] if it accesses none.
    of_event: Vec<u32>,
    /// By event: the value read or written.
    values: Vec<Value>,
    /// By read: the write that it saw when recorded; [`NONE`]: what was there at first.
    recorded: Vec<u32>,
    /// By event: whether it reads and writes.
    kinds: Vec<u8>,
}

impl Cells {
    pub(crate) fn new(trace: &Batch, lanes: &Lanes, initial: &dyn Fn(VarId) -> Value) -> Cells {
        let count = trace.events.len();
        let mut cells = Cells {
            cells: Vec::new(),
            of_event: vec![NONE; count],
            values: vec![Value::Unknown; count],
            recorded: vec![NONE; count],
            kinds: vec![0; count],
        };
        // By variable: what fixed events left in it.
        let mut left: FxHashMap<VarId, Value> = FxHashMap::default();
        let mut current: FxHashMap<VarId, u32> = FxHashMap::default();
        let fresh = |initial| Cell { initial, writes: Vec::new(), reads: Vec::new(), lanes: Vec::new(), ruled: false };
        for (at, &event) in (0u32..).zip(&trace.events).filter(|(_, event)| is_access(event.op())) {
            let (op, var) = (event.op(), event.var());
            if at < lanes.fixed {
                if is_barrier(op) {
                    left.insert(var, Value::Unknown);
                } else if !is_read(op) {
                    left.insert(var, trace.extra(event).value);
                }
                continue;
            }
            if is_barrier(op) {
                cells.cells.push(fresh(Value::Unknown));
                current.insert(var, cells.cells.len() as u32 - 1);
                continue;
            }
            let cell = *current.entry(var).or_insert_with(|| {
                cells.cells.push(fresh(left.get(&var).copied().unwrap_or_else(|| initial(var))));
                cells.cells.len() as u32 - 1
            });
            cells.add(trace, at, event, cell);
        }
        for cell in &mut cells.cells {
            let first = cell.writes.first().map(|&write| lanes.of(write));
            let meet = cell.writes.iter().chain(&cell.reads).any(|&access| Some(lanes.of(access)) != first);
            cell.ruled = !cell.reads.is_empty() && first.is_some() && meet;
            if !cell.ruled {
                continue;
            }
            for &write in &cell.writes {
                let lane = lanes.of(write);
                match cell.lanes.iter_mut().find(|other| other.lane == lane) {
                    Some(other) => other.writes.push(write),
                    None => cell.lanes.push(LaneWrites { lane, writes: vec![write] }),
                }
            }
        }
        cells
    }

    fn add(&mut self, trace: &Batch, at: u32, event: Event, number: u32) {
        let op = event.op();
        let cell = &mut self.cells[number as usize];
        self.of_event[at as usize] = number;
        self.values[at as usize] = trace.extra(event).value;
        self.kinds[at as usize] = match op {
            op if is_read(op) => READS,
            Op::AtomicRmw => READS | WRITES,
            _ => WRITES,
        };
        if op.reads() {
            self.recorded[at as usize] = cell.writes.last().copied().unwrap_or(NONE);
            cell.reads.push(at);
        }
        if !is_read(op) {
            cell.writes.push(at);
        }
    }

    /// The cell of an access, if something can be seen wrongly in it.
    #[inline]
    pub(crate) fn of(&self, event: u32) -> Option<u32> {
        let cell = self.of_event[event as usize];
        (cell != NONE && self.cells[cell as usize].ruled).then_some(cell)
    }

    /// Whether an access of a cell reads; an `armw` does both.
    #[inline]
    pub(crate) fn reads(&self, event: u32) -> bool {
        self.kinds[event as usize] & READS != 0
    }

    /// Whether an access of a cell writes.
    #[inline]
    pub(crate) fn writes(&self, event: u32) -> bool {
        self.kinds[event as usize] & WRITES != 0
    }

    /// What a read may see, the recorded write first.
    pub(crate) fn candidates(&self, read: u32) -> Vec<u32> {
        let recorded = self.recorded(read);
        let cell = &self.cells[self.of_event[read as usize] as usize];
        let others = cell.writes.iter().copied().chain([NONE]);
        let others = others.filter(|&write| write != recorded && write != read && self.may_see(read, write));
        [recorded].into_iter().chain(others).collect()
    }

    /// The write that a read saw when recorded; [`NONE`]: what was there at first.
    #[inline]
    pub(crate) fn recorded(&self, read: u32) -> u32 {
        self.recorded[read as usize]
    }

    /// Whether a read may see what this write of its cell ([`NONE`]: the beginning) left.
    #[inline]
    pub(crate) fn may_see(&self, read: u32, write: u32) -> bool {
        if write == self.recorded[read as usize] {
            return true;
        }
        let left = match write {
            NONE => self.cells[self.of_event[read as usize] as usize].initial,
            write => self.values[write as usize],
        };
        self.kinds[read as usize] == READS && left.is_known() && left == self.values[read as usize]
    }
}
