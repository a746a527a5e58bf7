//! Records of synchronisation whose timestamps are handed off ([`HandOff`]), and what a thread learns from that:
//! accesses of others that are earlier than all it does from now on. A conflict with such an access needs no look at
//! the clock either.

use super::Sink;
use super::bits::{MAX_SEQ, point, same_slot};
use super::contents::Contents;
use super::entry::Entry;
use super::recorder::Recorder;
use crate::hand_off::{HandOff, Section, Timing};

impl Recorder {
    /// Writes that a lock was acquired. There is room for the record.
    #[inline(always)]
    pub fn acquired(&mut self, sink: &mut impl Sink, head: u64, context: u32, lock: &HandOff) {
        let (slot, begun, mut before) = (self.slot(), self.sync_index() + 1, None);
        let is_handed_off = self.may_hand_off();
        self.timed_by(sink, head, context, None, |sink| {
            let acquired = lock.acquired(slot, begun);
            before = acquired.section;
            sink.time(if is_handed_off { acquired.timing } else { Timing::Now })
        });
        self.learn(lock, before);
    }

    /// Writes that a lock will be released. There is room for the record.
    #[inline(always)]
    pub fn released(&mut self, sink: &mut impl Sink, head: u64, context: u32, lock: &HandOff) {
        let (slot, until, is_handed_off) = (self.slot(), self.until(), self.may_hand_off());
        self.timed_by(sink, head, context, None, |sink| {
            lock.released(slot, until, |timing| sink.time(if is_handed_off { timing } else { Timing::Now }))
        });
        self.held.released(lock);
    }

    /// Writes that a condition will be notified. `mutex` finds the hand-off of a mutex by its address. There is room
    /// for the record.
    ///
    /// If all threads that wait on the condition and all that notify it hold one mutex, that orders them. Else the
    /// clock does.
    #[inline(always)]
    pub fn notified<'h>(
        &mut self,
        sink: &mut impl Sink,
        head: u64,
        context: u32,
        condition: &HandOff,
        mutex: impl FnOnce(u64) -> Option<&'h HandOff>,
    ) {
        let known = condition.mutex();
        let is_handed_off = known.and_then(mutex).is_some_and(|mutex| mutex.is_held_by(self.slot()));
        if known.is_some() && !is_handed_off {
            condition.set_clock_only();
        }
        let is_handed_off = is_handed_off && self.may_hand_off();
        self.timed_by(sink, head, context, None, |sink| {
            sink.time(if is_handed_off { Timing::After(0) } else { Timing::Now })
        });
    }

    /// Writes that this thread releases a mutex and waits on a condition. There is room for the record.
    pub fn waits(&mut self, sink: &mut impl Sink, head: u64, context: u32, mutex: u64, of: Option<[&HandOff; 2]>) {
        let (slot, until) = (self.slot(), self.until());
        self.timed_by(sink, head, context, Some(mutex), |sink| {
            let time = sink.time(Timing::Now);
            if let Some([condition, hand_off]) = of {
                hand_off.released(slot, until, |_| time);
                condition.waited(mutex);
            }
            time
        });
        if let Some([_, hand_off]) = of {
            self.held.released(hand_off);
        }
    }

    /// Writes that this thread has been woken, and holds the mutex again. There is room for the record.
    pub fn woken(&mut self, sink: &mut impl Sink, head: u64, context: u32, third: u64, mutex: Option<&HandOff>) {
        let (slot, begun, mut before) = (self.slot(), self.sync_index() + 1, None);
        self.timed_by(sink, head, context, Some(third), |sink| {
            before = mutex.and_then(|mutex| mutex.acquired(slot, begun).section);
            sink.time(Timing::Now)
        });
        if let Some(mutex) = mutex {
            self.learn(mutex, before);
        }
    }

    /// Learns from the critical section before of a lock that it now holds.
    #[inline(always)]
    fn learn(&mut self, lock: &HandOff, before: Option<Section>) {
        if let Some(before) = before {
            self.earlier.learn(before.until());
            self.held.acquired(lock, before);
        }
    }

    #[inline(always)]
    fn timed_by<S: Sink>(
        &mut self,
        sink: &mut S,
        head: u64,
        context: u32,
        third: Option<u64>,
        time: impl FnOnce(&mut S) -> u64,
    ) {
        super::recorder::put_timed_by(sink, head, context, third, time);
        self.synchronised();
    }

    /// The present point of this thread, with the highest sequence number there can be.
    #[inline(always)]
    fn until(&self) -> u64 {
        point(self.epoch(), MAX_SEQ) | 0xf
    }

    /// How the time of a conflict with these contents is found. Whatever was recorded of the word is earlier than one
    /// of its entries: a thread that writes, or evicts another's entry, is later than all before. Atomic loads are not;
    /// they leave a mark among readers ([`Contents::foreign_to_reads`]), or the cell without entries that say where
    /// they are.
    #[inline]
    pub(super) fn conflict_timing(&self, contents: &Contents) -> Timing {
        let is_handed_off = self.may_hand_off()
            && contents.nodes == 0
            && !(contents.shared && contents.foreign_to_reads != 0)
            && self.is_earlier(&contents.first)
            && self.is_earlier(&contents.second);
        if is_handed_off { Timing::After(0) } else { Timing::Now }
    }

    /// Whether an entry is no later than what this thread did last.
    #[inline(always)]
    pub(super) fn is_earlier(&self, entry: &Entry) -> bool {
        if same_slot(entry.at, self.epoch()) && entry.at != 0 {
            // An entry without a sync index may be of an atomic access, and others may have come since.
            return entry.sync_index() != 0 || entry.mask() != 0;
        }
        entry.at == 0 || entry.sync_index() != 0 && self.earlier.has(entry.at)
    }
}
