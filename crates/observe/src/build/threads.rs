//! The threads of a process: which thread a slot has, forks, joins, and what is known of a thread.

use super::Build;
use crate::decode::{aux, payload};
use event::{Extra, Op, Order, SiteId, Space, StackId, ThreadId, ThreadInfo};
use runtime::layout::SLOTS;
use runtime::record::Kind;

impl Build {
    /// A new thread, named by its number.
    pub(super) fn new_thread(&mut self) -> ThreadId {
        let name = if self.threads == 0 { "main".to_owned() } else { format!("T{}", self.threads) };
        self.threads += 1;
        // There are fewer threads than records, and fewer of them than ids.
        ThreadId(self.names.add(Space::Thread, &name).unwrap_or(0))
    }

    /// The thread of a slot; a new one if it was not announced.
    pub(super) fn thread(&mut self, slot: u32) -> ThreadId {
        if let Some(thread) = self.slot(slot).thread {
            return thread;
        }
        if let Some(handler) = self.begin_handler(slot) {
            return handler;
        }
        let thread = self.new_thread();
        self.bind(slot, thread);
        thread
    }

    pub(super) fn bind(&mut self, slot: u32, thread: ThreadId) {
        self.waits_no_more(slot);
        let state = self.slot(slot);
        state.thread = Some(thread);
        state.waiting = None;
        state.announced = None;
        state.handlers = 0;
        state.started = true;
        state.open.clear();
        state.event_index.begin(thread);
    }

    pub(super) fn start(&mut self, slot: u32, record: &[u64]) {
        let (top, pages) = (payload(record[0]), record[2] >> 32);
        // The thread was forked, and begins now. One that was forked in the same slot before may never have written
        // anything, not even that it began.
        let generation = if self.is_java { pages as u32 } else { 0 };
        let state = self.slot(slot);
        let is_forked = |thread: &ThreadId| {
            !state.started && (generation == 0 || state.generations.get(&generation) == Some(thread))
        };
        let thread = state.thread.filter(is_forked).unwrap_or_else(|| self.new_thread());
        self.bind(slot, thread);
        if self.is_java {
            self.note_generation(slot, pages as u32);
            return self.count_events(slot, 0);
        }
        if let (Some(low), Some(thread)) = (top.checked_sub(pages << 12), self.slot(slot).thread)
            && pages > 0
        {
            // What was on the stack of a thread before it is gone.
            self.end_objects(low, pages << 12);
            self.stacks.retain(|_, &mut (high, _)| high <= low || high > top);
            self.stacks.insert(low, (top, thread));
        }
        self.count_events(slot, 0);
    }

    pub(super) fn fork(&mut self, slot: u32, record: &[u64]) {
        let by = self.actor(slot, record[1]);
        let (child_slot, generation) = self.child(record[2]);
        if child_slot >= SLOTS as u64 || child_slot == u64::from(slot) {
            self.senseless += 1;
            return self.count_events(slot, 0);
        }
        let child = self.new_thread();
        self.waits_no_more(child_slot as u32);
        let state = self.slot(child_slot as u32);
        state.thread = Some(child);
        state.waiting = None;
        state.started = false;
        self.note_generation(child_slot as u32, generation);
        self.plain(by, Op::Fork, child.0);
        self.count_events(slot, 1);
        let (site, stack) = self.context(slot, by.context);
        self.announce_thread(child, "", site, stack);
    }

    /// The slot of a child, and its number among the threads of that slot.
    pub(super) fn child(&self, word: u64) -> (u64, u32) {
        if self.is_java { (word & u64::from(u32::MAX), (word >> 32) as u32) } else { (word, 0) }
    }

    /// Gives the present thread of a slot its number.
    pub(super) fn note_generation(&mut self, slot: u32, generation: u32) {
        let state = self.slot(slot);
        if let Some(thread) = state.thread.filter(|_| generation > 0) {
            state.generations.insert(generation, thread);
        }
    }

    pub(super) fn join(&mut self, slot: u32, kind: Kind, record: &[u64]) {
        let by = self.actor(slot, record[1]);
        let (child, generation) = self.child(record[2]);
        match self.thread_of(child, generation) {
            Some(child) if child != by.thread => {
                self.ended.remove(&child);
                let waited_for = self.child(record[2]).0;
                let announced = if kind == Kind::JoinWaited {
                    self.plain(by, Op::JoinRequest, child.0);
                    1
                } else {
                    self.answered(slot, 0, waited_for, (Op::JoinRequest, child.0))
                };
                self.plain(by, Op::Join, child.0);
                self.count_events(slot, 1 + announced);
            }
            _ => {
                self.senseless += 1;
                self.count_events(slot, 0);
            }
        }
    }

    /// The thread of a slot with a number among those of the slot, or else the last one there.
    pub(super) fn thread_of(&self, slot: u64, generation: u32) -> Option<ThreadId> {
        let slot = u32::try_from(slot).ok()?;
        let state = self.slots.get(slot as usize)?;
        state.generations.get(&generation).copied().or(self.waiter(slot)).or(state.thread)
    }

    pub(super) fn announce_thread(&mut self, thread: ThreadId, name: &str, site: SiteId, stack: StackId) {
        let name = self.text(name);
        if self.meta.threads.len() < trace::limits::MAX_DESCRIBED {
            self.meta.threads.push(ThreadInfo { thread, name, site, stack });
        }
    }

    /// Ends a thread. One without any event would not order its fork before its join: it gets a relaxed fence, which
    /// orders nothing else.
    pub(super) fn end(&mut self, slot: u32, record: &[u64]) {
        let handler = self.go_on(slot);
        let by = self.actor(slot, record[1]);
        let made = self.slot(slot).event_index.find(u64::MAX).map_or(0, |now| now.after);
        let mut events = 1;
        if let Some(handler) = handler {
            // The thread left its wait by a jump out of the handler, and did all the rest there.
            self.plain(by, Op::Join, handler.0);
        } else if made == 0 {
            self.emit(by, Op::Fence, 0, Extra { order: Order::Relaxed, ..Extra::default() });
        } else {
            events = 0;
        }
        self.count_events(slot, events);
        if aux(record[0]) == 0 {
            self.ended.insert(by.thread, slot);
        }
    }
}
