//! The events made so far in this batch, and the names and values they refer to.

use crate::Options;
use crate::ids::{Ids, add};
use crate::layout::Layout;
use crate::thread::Thread;
use event::{Batch, Event, Extra, Init, LockId, Names, Op, SiteId, Space, StrId, ThreadId, Value, Wake};

/// Sites are numbers below this, except for forks and joins of very many threads.
const SITES: u32 = 1_000_000;
/// Blocks are numbers below this.
const BLOCKS: u32 = 128;
/// Latches, semaphores and labels are numbers below this.
const FEW: u32 = 16;
/// Where the sites of the operations begin that have no range of their own: one for each of the last hundred
/// objects of each operation.
const OTHER_SITES: u32 = 710_000;

/// Turns the generator's numbers into events.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) batch: Batch,
    pub(crate) names: Names,
    /// How many events there are so far, over all batches.
    pub(crate) count: u64,
    layout: Layout,
    vars: Ids,
    locks: Ids,
    conds: Ids,
    blocks: Ids,
    sites: Ids,
    latches: Ids,
    sems: Ids,
    labels: Ids,
    /// What each variable holds, plus 1; 0: unknown. Empty: values are not recorded.
    held: Vec<u8>,
}

impl Output {
    /// Written values are below this.
    pub(crate) const VALUES: u32 = 100;
    /// The block without a name.
    pub(crate) const NAMELESS: u32 = 97;
    /// The first block that is not around a critical section, and how many of them there are.
    pub(crate) const FREE_BLOCKS: (u32, u32) = (100, 8);

    pub(crate) fn new(options: &Options, layout: &Layout) -> Output {
        let sites = SITES.max(options.threads + 100);
        let vars = layout.end() as usize;
        Output {
            batch: Batch::default(),
            names: Names::default(),
            count: 0,
            layout: layout.clone(),
            vars: Ids::new(Space::Var, vars),
            locks: Ids::new(Space::Lock, options.locks as usize),
            conds: Ids::new(Space::Cond, options.locks as usize),
            blocks: Ids::new(Space::Block, BLOCKS as usize),
            sites: Ids::new(Space::Site, sites as usize),
            latches: Ids::new(Space::Latch, FEW as usize),
            sems: Ids::new(Space::Sem, FEW as usize),
            labels: Ids::new(Space::Label, FEW as usize),
            held: if options.values { vec![0; vars] } else { Vec::new() },
        }
    }

    /// Whether values are recorded.
    #[inline]
    pub(crate) fn with_values(&self) -> bool {
        !self.held.is_empty()
    }

    #[inline]
    fn push(&mut self, thread: &mut Thread, op: Op, object: u32, site: u32, extra: u32) {
        let site = SiteId(self.sites.get(&mut self.names, site, || site.to_string()));
        self.batch.events.push(Event::with_extra(ThreadId(thread.id), op, object, site, extra));
        thread.position += 1;
        self.count += 1;
    }

    /// A read of a variable; its value is what the variable holds.
    #[inline]
    pub(crate) fn read(&mut self, thread: &mut Thread, var: u32, site: u32) {
        let id = self.var(var);
        let extra = if self.with_values() { self.value_extra(var, Extra::default()) } else { 0 };
        self.push(thread, Op::Read, id, site, extra);
    }

    /// A write of a variable; the value counts only if values are recorded.
    #[inline]
    pub(crate) fn write(&mut self, thread: &mut Thread, var: u32, value: u32, site: u32) {
        let id = self.var(var);
        let extra = if self.with_values() {
            self.set(var, value);
            self.value_extra(var, Extra::default())
        } else {
            0
        };
        self.push(thread, Op::Write, id, site, extra);
    }

    /// A write whose value is recorded in any case.
    pub(crate) fn write_watched(&mut self, thread: &mut Thread, var: u32, value: u32, site: u32) {
        let id = self.var(var);
        self.set(var, value);
        let extra = self.batch.add_extra(Extra { value: Value::Int(i64::from(value)), ..Extra::default() });
        self.push(thread, Op::Write, id, site, extra);
    }

    /// An atomic operation; `written` is what it stores, if it stores anything.
    pub(crate) fn atomic(&mut self, thread: &mut Thread, op: Op, var: u32, written: Option<u32>, extra: Extra) {
        let id = self.var(var);
        if let Some(value) = written {
            self.set(var, value);
        }
        let extra = self.value_extra(var, extra);
        self.push(thread, op, id, other_site(op, var), extra);
    }

    /// An alloc, free or drop barrier.
    pub(crate) fn memory(&mut self, thread: &mut Thread, op: Op, var: u32, extra: Extra) {
        let id = self.var(var);
        if op == Op::Alloc && self.with_values() {
            self.held[var as usize] = 0;
        }
        let extra = self.batch.add_extra(extra);
        self.push(thread, op, id, other_site(op, var), extra);
    }

    #[inline]
    pub(crate) fn lock(&mut self, thread: &mut Thread, op: Op, lock: u32, site: u32) {
        let id = self.lock_id(lock);
        self.push(thread, op, id, site + lock % 5000, 0);
    }

    /// A wait or woken, on the condition of a lock.
    pub(crate) fn wait(&mut self, thread: &mut Thread, op: Op, lock: u32, wake: Wake, site: u32) {
        let id = self.cond(lock);
        let lock_id = LockId(self.lock_id(lock));
        let extra = self.batch.add_extra(Extra { lock: lock_id, wake, ..Extra::default() });
        self.push(thread, op, id, site + lock % 5000, extra);
    }

    /// A notify or notifyall, on the condition of a lock.
    pub(crate) fn notify(&mut self, thread: &mut Thread, op: Op, lock: u32, site: u32) {
        let id = self.cond(lock);
        self.push(thread, op, id, site + lock % 5000, 0);
    }

    pub(crate) fn block(&mut self, thread: &mut Thread, op: Op, block: u32) {
        let id = self.blocks.get(&mut self.names, block, || match block {
            Self::NAMELESS => String::new(),
            _ if block >= Self::FREE_BLOCKS.0 => format!("B{}", block - Self::FREE_BLOCKS.0),
            _ => format!("M{block}"),
        });
        self.push(thread, op, id, 900_000 + block, 0);
    }

    pub(crate) fn latch(&mut self, thread: &mut Thread, op: Op, latch: u32) {
        let id = self.latches.get(&mut self.names, latch, || format!("O{latch}"));
        self.push(thread, op, id, other_site(op, latch), 0);
    }

    pub(crate) fn sem(&mut self, thread: &mut Thread, op: Op, sem: u32) {
        let id = self.sems.get(&mut self.names, sem, || format!("S{sem}"));
        self.push(thread, op, id, other_site(op, sem), 0);
    }

    pub(crate) fn fence(&mut self, thread: &mut Thread, extra: Extra) {
        let extra = self.batch.add_extra(extra);
        self.push(thread, Op::Fence, 0, other_site(Op::Fence, 0), extra);
    }

    pub(crate) fn internal(&mut self, thread: &mut Thread, label: u32, args: &[Value]) {
        let id = self.labels.get(&mut self.names, label, || format!("E{label}"));
        let mut extra = Extra::default();
        if !args.is_empty() {
            extra.args_start = self.batch.args.len() as u32;
            extra.args_len = args.len() as u16;
            self.batch.args.extend_from_slice(args);
        }
        let extra = self.batch.add_extra(extra);
        self.push(thread, Op::Internal, id, other_site(Op::Internal, label), extra);
    }

    /// A fork, join or announced join of the thread with this dense id.
    pub(crate) fn thread(&mut self, thread: &mut Thread, op: Op, child: u32, site: u32) {
        self.push(thread, op, child, site, 0);
    }

    /// The dense id of the thread with this number.
    pub(crate) fn thread_id(&mut self, number: u32) -> u32 {
        add(&mut self.names, Space::Thread, &format!("T{number}"))
    }

    /// The text of a string value.
    pub(crate) fn str(&mut self, text: &str) -> StrId {
        StrId(add(&mut self.names, Space::Str, text))
    }

    /// Says what a variable holds at first, before it is used.
    pub(crate) fn init_var(&mut self, var: u32, value: u32) {
        self.set(var, value);
        let name = self.layout.name(var);
        self.init(&name, value);
    }

    /// Says what a semaphore counts at first, before it is used.
    pub(crate) fn init_sem(&mut self, sem: u32, count: u32) {
        self.init(&format!("S{sem}"), count);
    }

    fn init(&mut self, name: &str, value: u32) {
        let name = self.str(name);
        let before = self.batch.events.len() as u32;
        self.batch.inits.push(Init { before, name, value: Value::Int(i64::from(value)) });
    }

    #[inline]
    fn var(&mut self, var: u32) -> u32 {
        self.vars.get(&mut self.names, var, || self.layout.name(var))
    }

    #[inline]
    fn lock_id(&mut self, lock: u32) -> u32 {
        self.locks.get(&mut self.names, lock, || format!("L{lock}"))
    }

    /// Every fourth condition is the lock itself, as the monitors of Java are.
    fn cond(&mut self, lock: u32) -> u32 {
        let prefix = if lock % 4 == 3 { 'L' } else { 'C' };
        self.conds.get(&mut self.names, lock, || format!("{prefix}{lock}"))
    }

    fn set(&mut self, var: u32, value: u32) {
        debug_assert!(value < Self::VALUES);
        if self.with_values() {
            self.held[var as usize] = value as u8 + 1;
        }
    }

    /// The extra, with what the variable holds if that is known.
    #[inline]
    fn value_extra(&mut self, var: u32, mut extra: Extra) -> u32 {
        match self.held.get(var as usize) {
            None | Some(0) => {}
            Some(&held) => extra.value = Value::Int(i64::from(held) - 1),
        }
        self.batch.add_extra(extra)
    }
}

fn other_site(op: Op, object: u32) -> u32 {
    OTHER_SITES + op as u32 * 1000 + object % 100
}
