//! Turns records in merged order into the events of a trace.

pub(crate) mod announced;
mod arguments;
mod barriers;
mod blocks;
mod common;
mod contexts;
mod deferred;
mod event_index;
mod handlers;
mod lives;
mod memory;
mod names;
mod objects;
mod out;
mod sync;
mod threads;
pub(crate) mod values;
mod variables;

pub(crate) use out::Sink;

use crate::decode::{UNTIMED, aux, context, order, payload};
use crate::merge::{RecordSink, take_records};
use crate::naming::{Mapped, Naming};
use announced::{Announced, Seen};
use barriers::Barriers;
use blocks::{Actor, Blocks};
use common::{Common, notified};
use contexts::{Contexts, Sites};
use event::{CondId, Event, Extra, Meta, Module, Names, Op, Order, Space, StackId, StrId, ThreadId, Value};
use event_index::EventIndex;
use handlers::Waiting;
use lives::{Before, Use};
use objects::Objects;
use out::Out;
use runtime::java::SITES;
use runtime::record::{CONTEXT_BITS, Kind, TextFor};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use trace::Loss;
use trace::binary::Action;
use trace::validate::Conditions;
use values::{Values, Watched};
use variables::Variables;

/// The state of a slot.
#[derive(Default)]
struct Slot {
    /// `None` while it waits on a condition or for a lock.
    thread: Option<ThreadId>,
    waiting: Option<Waiting>,
    /// The last wait that it announced.
    announced: Option<Announced>,
    /// The last wait in which another thread has seen it.
    seen: Option<Seen>,
    /// The condition it waits on, and since when by the condition's clock.
    since: Option<(CondId, u64)>,
    /// Handlers that ran while it waited.
    handlers: u32,
    /// Its `ThreadStart` came.
    started: bool,
    event_index: EventIndex,
    contexts: Contexts,
    /// The text for the next record.
    label: Option<String>,
    /// Values for the next internal event.
    arguments: Vec<Value>,
    /// The atomic blocks that are open.
    open: Vec<u32>,
    /// Its threads by number, if the agent numbers them (from 1 on) and uses slots again whose threads may still be
    /// joined.
    generations: FxHashMap<u32, ThreadId>,
}

/// Makes the trace of one process from its records.
pub(crate) struct Build {
    names: Names,
    meta: Meta,
    out: Out,
    slots: Vec<Slot>,
    sites: Sites,
    /// The agent for Java writes the records. The meaning of some kinds differs then (`runtime::record` says where).
    is_java: bool,
    variables: Variables,
    blocks: Blocks,
    objects: Objects,
    barriers: Barriers,
    /// How objects ended that must be initialised before they are used again, by their addresses.
    destroyed: FxHashMap<(u64, Space), Before>,
    conditions: Conditions,
    values: Values,
    watched: Vec<Watched>,
    /// Where watched variables lie in this process.
    watched_at: FxHashMap<u64, usize>,
    /// Names that the program gave to addresses.
    given: FxHashMap<u64, String>,
    /// The stacks that say in which field an object was put, by their site.
    kept_in: FxHashMap<u32, StackId>,
    /// How often a name was used already.
    taken: FxHashMap<(Space, String), u32>,
    /// The stacks of threads, by their lowest address: the end, and the thread.
    stacks: BTreeMap<u64, (u64, ThreadId)>,
    /// By thread: how many variables of its stack have a name.
    stack_variables: FxHashMap<ThreadId, u32>,
    /// Memory on which races are intended, and why.
    benign_ranges: Vec<(u64, u64, String)>,
    /// The variables on which races are intended, and why.
    pub(crate) benign: Vec<(String, String)>,
    threads: u32,
    /// Threads that have ended, with their slots, and that no thread has joined.
    ended: FxHashMap<ThreadId, u32>,
    /// Deferred accesses and drop barriers of one word that wait for the record behind them.
    deferred: Vec<[u64; 3]>,
    /// Records that threads dropped, as they reported.
    pub(crate) lost: u64,
    /// Records that make no sense.
    pub(crate) senseless: u64,
    /// Notes of the agent for the report.
    pub(crate) notes: Vec<String>,
}

/// Notes kept.
const MAX_NOTES: usize = 100;

impl Build {
    pub(crate) fn new(
        sink: Sink,
        kept: bool,
        naming: Box<dyn Naming>,
        pid: u32,
        watched: Vec<Watched>,
        is_java: bool,
    ) -> io::Result<Build> {
        Ok(Build {
            is_java,
            names: Names::default(),
            meta: Meta::default(),
            out: Out::new(sink, kept)?,
            slots: Vec::new(),
            sites: Sites::new(naming, pid),
            variables: Variables::default(),
            blocks: Blocks::default(),
            objects: Objects::default(),
            barriers: Barriers::default(),
            destroyed: FxHashMap::default(),
            conditions: Conditions::default(),
            values: Values::default(),
            watched,
            watched_at: FxHashMap::default(),
            given: FxHashMap::default(),
            kept_in: FxHashMap::default(),
            taken: FxHashMap::default(),
            stacks: BTreeMap::new(),
            stack_variables: FxHashMap::default(),
            benign_ranges: Vec::new(),
            benign: Vec::new(),
            threads: 0,
            ended: FxHashMap::default(),
            deferred: Vec::new(),
            lost: 0,
            senseless: 0,
            notes: Vec::new(),
        })
    }

    /// Takes a copy of the process' memory map.
    pub(crate) fn maps(&mut self, text: &[u8]) {
        self.sites.naming.maps(text);
        for Mapped { path, build_id, base, size } in self.sites.naming.modules() {
            for (index, watched) in self.watched.iter().enumerate() {
                if watched.module.to_str() == Some(&path) {
                    self.watched_at.entry(base.wrapping_add(watched.address)).or_insert(index);
                }
            }
            let (path, build_id) = (self.text(&path), self.text(&build_id));
            if !self.meta.modules.iter().any(|known| known.path == path && known.base == base) {
                self.meta.modules.push(Module { path, build_id, base, size });
            }
        }
    }

    /// Notes of the agent for the report.
    pub(crate) fn take_notes(&mut self) -> Vec<String> {
        let mut notes = std::mem::take(&mut self.notes);
        notes.extend(self.sites.naming.notes());
        notes.truncate(MAX_NOTES);
        notes
    }

    /// The files that were loaded, each once.
    pub(crate) fn modules(&self) -> Vec<PathBuf> {
        let paths: BTreeSet<&str> = self.meta.modules.iter().map(|module| self.names.str(module.path)).collect();
        paths.into_iter().filter(|path| path.starts_with('/')).map(PathBuf::from).collect()
    }

    fn text(&mut self, text: &str) -> StrId {
        StrId(self.names.add(Space::Str, text).unwrap_or(0))
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.out.events()
    }

    /// Writes out all there is, so that it can be read.
    pub(crate) fn flush(&mut self) {
        self.out.flush(&self.names, &self.meta);
    }

    /// Adds the last events: there are no more records.
    pub(crate) fn close(&mut self) {
        self.flush_deferred(0);
        self.record_ends();
        self.record_open_requests();
        self.record_open_announcements();
        self.record_seen_waits();
    }

    /// Ends the trace.
    pub(crate) fn finish(mut self, losses: &[Loss]) -> io::Result<Sink> {
        self.close();
        self.out.finish(&self.names, &self.meta, losses)
    }

    fn slot(&mut self, slot: u32) -> &mut Slot {
        let slot = slot as usize;
        if self.slots.len() <= slot {
            let bare_sites = if self.is_java { SITES } else { 0 };
            self.slots.resize_with(slot + 1, || Slot { contexts: Contexts::new(bare_sites), ..Slot::default() });
        }
        &mut self.slots[slot]
    }

    /// The thread and call context of a record.
    fn actor(&mut self, slot: u32, word: u64) -> Actor {
        Actor { thread: self.thread(slot), slot, context: context(word) }
    }

    /// Adds the only event of a record, with nothing but its stack, if its thread is known and its call context has
    /// names already.
    #[inline]
    fn at_known_context(&mut self, slot: u32, context: u32, op: Op, object: u32) -> bool {
        let Some((thread, action)) = self.known_action(slot, context, op) else { return false };
        self.slots[slot as usize].event_index.one();
        self.out.act(thread, action, object, &self.names, &self.meta);
        true
    }

    /// The thread of a slot, and the action of an operation in a call context, if both are known.
    #[inline]
    fn known_action(&mut self, slot: u32, context: u32, op: Op) -> Option<(ThreadId, Action)> {
        let state = self.slots.get(slot as usize).filter(|state| state.waiting.is_none())?;
        let thread = state.thread?;
        let action = state.contexts.action(context, op).copied();
        if action.is_none() {
            // For the next time.
            self.new_action(slot, context, op);
        }
        Some((thread, action?))
    }

    /// Makes the action of an operation in a call context, if that has its names already.
    #[cold]
    fn new_action(&mut self, slot: u32, context: u32, op: Op) -> Option<Action> {
        let context = self.slots.get_mut(slot as usize)?.contexts.known(context)?;
        let action = self.out.action(op, context.site, context.stack)?;
        context.learn(op, action);
        Some(action)
    }

    /// The object of a record of one event, if nothing but the event is to be done.
    #[inline]
    fn cached(&mut self, slot: u32, record: &[u64], op: Op, space: Space) -> Option<u32> {
        let state = self.slots.get(slot as usize).filter(|state| !state.is_answered_next())?;
        let used = Use { sync_index: state.event_index.records(), slot, context: context(record[1]) };
        // Nothing may come between a request and its answer: the request was the use.
        let used = (op != Op::Await && state.waiting.is_none()).then_some(used);
        self.objects.cached(aux(record[0]), payload(record[0]), space as u8, used)
    }

    /// Adds an event in a call context. The stack is put into the extra.
    fn emit(&mut self, by: Actor, op: Op, object: u32, extra: Extra) {
        self.emit_with(by, op, object, extra, &[]);
    }

    fn emit_with(&mut self, by: Actor, op: Op, object: u32, mut extra: Extra, args: &[Value]) {
        let (site, stack) = self.context(by.slot, by.context);
        extra.stack = stack;
        self.out.push(Event::new(by.thread, op, object, site), &extra, args, &self.names, &self.meta);
    }

    fn plain(&mut self, by: Actor, op: Op, object: u32) {
        self.emit(by, op, object, Extra::default());
    }

    /// Counts the events that a record gave.
    fn count_events(&mut self, slot: u32, mut events: u64) {
        if events == 0 && self.slot(slot).event_index.must_emit() {
            // A fence that orders nothing, so that deferred accesses behind this many records without an event still
            // find their position.
            let by = self.actor(slot, 0);
            self.emit(by, Op::Fence, 0, Extra { order: Order::Relaxed, ..Extra::default() });
            events = 1;
        }
        self.slot(slot).event_index.record(events);
    }

    fn context_record(&mut self, slot: u32, record: &[u64]) {
        let (number, caller) = (context(payload(record[0])), (payload(record[0]) >> 24) as u32);
        if !self.slot(slot).contexts.define(number, caller, record[1]) {
            self.senseless += 1;
        }
    }

    fn text_record(&mut self, slot: u32, record: &[u64]) {
        let length = payload(record[0]) as usize;
        let bytes: Vec<u8> = record[1..].iter().flat_map(|word| word.to_le_bytes()).take(length).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match aux(record[0]) {
            purpose if purpose == TextFor::ThreadName as u8 => {
                let thread = self.thread(slot);
                let known = self.meta.threads.iter().rev().find(|info| info.thread == thread);
                let (site, stack) = known.map_or_else(Default::default, |info| (info.site, info.stack));
                self.announce_thread(thread, &text, site, stack);
            }
            purpose if purpose == TextFor::Label as u8 || purpose == TextFor::Misuse as u8 => {
                self.slot(slot).label = Some(text);
            }
            purpose if purpose == TextFor::Argument as u8 => {
                let value = self.string(&text);
                self.argument(slot, value);
            }
            purpose if purpose == TextFor::ObjectName as u8 => {
                if let Some(&address) = record.last() {
                    self.given.insert(address, text);
                }
            }
            purpose if purpose == TextFor::Benign as u8 => {
                let (size, why) = text.split_once(' ').unwrap_or((&text, ""));
                if let (Some(&address), Ok(size)) = (record.last(), size.parse()) {
                    self.benign(address, size, why);
                }
            }
            _ if self.notes.len() < MAX_NOTES => self.notes.push(text),
            _ => {}
        }
    }
}

/// The kinds of deferred records, as bits.
const DEFERRED: u64 = 1 << Kind::Deferred as u64
    | 1 << Kind::DropBarrier as u64
    | 1 << Kind::DeferredBulk as u64
    | 1 << Kind::DropBarrierBulk as u64;

impl RecordSink for Build {
    #[inline]
    fn take_untimed(&mut self, slot: u32, words: &[u64], head: u64) {
        if !self.take_deferred(words, head) {
            take_records(slot, words, false, self);
        }
    }

    fn take_run(&mut self, slot: u32, words: &[u64], time: &mut u64, limit: u64) -> usize {
        if !self.deferred.is_empty()
            && let Some(&head) = words.first()
        {
            self.flush_deferred(head);
        }
        Build::find_run(self, slot, words, time, limit)
    }

    #[inline]
    fn record(&mut self, slot: u32, record: &[u64]) {
        if !self.deferred.is_empty() && order(record[0]) != UNTIMED {
            self.flush_deferred(record[0]);
        }
        match Common::of(record[0]) {
            Common::Access(op) => self.access(slot, record, op),
            Common::Accesses(op) => self.accesses(slot, record, op),
            Common::Plain(op, space)
                if let Some(object) = self.cached(slot, record, op, space)
                    && self.at_known_context(slot, context(record[1]), op, object) =>
            {
                notified(&mut self.conditions, op, object);
            }
            Common::Deferred => self.defer(record),
            Common::DeferredBulk(kind) => self.defer_bulk(kind, record),
            _ => self.rare(slot, record),
        }
    }

    #[inline]
    fn fetch(&mut self, record: &[u64]) {
        if self.variables.are_few() {
            return;
        }
        match *record {
            // Most are accesses. Not to check which ones costs less than a mispredicted branch.
            [head, _] => self.variables.fetch(payload(head) >> 3),
            // The sync index and the slot of a deferred access are in its other words.
            [head, word, slot] if DEFERRED >> (head & 63) & 1 == 1 => {
                self.variables.fetch(payload(head) >> 3);
                if let Some(state) = self.slots.get(slot as u32 as usize) {
                    state.event_index.fetch(word >> CONTEXT_BITS);
                }
            }
            _ => {}
        }
    }

    fn fetch_on(&mut self) {
        self.variables.fetch_on();
    }
}

impl Build {
    #[cold]
    fn rare(&mut self, slot: u32, record: &[u64]) {
        match Kind::from_code(record[0] as u8) {
            Some(kind) => self.other(slot, kind, record),
            None => self.senseless += 1,
        }
    }

    fn other(&mut self, slot: u32, kind: Kind, record: &[u64]) {
        match kind {
            Kind::FullTime => {}
            Kind::Context => self.context_record(slot, record),
            Kind::Argument => self.argument_record(slot, record),
            Kind::Deferred | Kind::DropBarrier => self.defer(record),
            Kind::DeferredBulk => self.defer_bulk(Kind::Deferred, record),
            Kind::DropBarrierBulk => self.defer_bulk(Kind::DropBarrier, record),
            Kind::Text => self.text_record(slot, record),
            Kind::Lost => self.lost = self.lost.saturating_add(payload(record[0])),
            Kind::ConflictRead => self.access(slot, record, Op::Read),
            Kind::ConflictWrite => self.access(slot, record, Op::Write),
            Kind::ConflictReadBulk => self.accesses(slot, record, Op::Read),
            Kind::ConflictWriteBulk => self.accesses(slot, record, Op::Write),
            Kind::Alloc => self.alloc(slot, record),
            Kind::Free => self.free(slot, record),
            Kind::WatchRead | Kind::WatchWrite => self.watched(slot, kind, record),
            Kind::AtomicLoad | Kind::AtomicStore | Kind::AtomicRmw => self.atomic(slot, kind, record),
            Kind::ThreadStart => self.start(slot, record),
            Kind::ThreadEnd => self.end(slot, record),
            Kind::Mark => self.count_events(slot, 0),
            Kind::Fork => self.fork(slot, record),
            Kind::Join | Kind::JoinWaited => self.join(slot, kind, record),
            Kind::Announce => self.announced(slot, record),
            Kind::SeenWaiting => self.seen_waiting(slot, record),
            _ => {
                let events = self.synchronisation(slot, kind, record);
                self.count_events(slot, events);
            }
        }
    }
}
