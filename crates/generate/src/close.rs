//! The end of the program: everything begun is ended, and the main thread joins the others.

use crate::machine::Machine;
use crate::thread::Presence;

impl Machine {
    /// Ends everything, filled up with accesses of the main thread to the number of events asked for.
    pub(crate) fn close(&mut self) {
        let places = self.threads.len() as u32;
        for me in 0..places {
            let thread = &self.threads[me as usize];
            if thread.waiting.is_none() && !thread.requested() {
                self.finish(me);
            }
        }
        self.answer_requests();
        for me in 0..places {
            if let Some(lock) = self.threads[me as usize].waiting.filter(|_| !self.options.stranded) {
                if !self.woken_by_notify(me, lock) {
                    self.notify_one(0, lock);
                    self.woken_by_notify(me, lock);
                }
                self.finish(me);
            }
        }
        if self.violation_due && self.violation_possible() {
            self.violate();
        }
        self.plant_at_last();
        let joins = self.to_join();
        while self.out.count + joins < self.options.events {
            self.access_local(0);
        }
        for me in 1..places {
            let thread = &self.threads[me as usize];
            if thread.presence != Presence::Absent && thread.waiting.is_none() {
                self.join(me);
            }
        }
    }

    /// Gives every thread the lock it has asked for. Only such threads hold locks now, and each asks for a later lock
    /// than those it holds, so that in every round some request can be answered.
    fn answer_requests(&mut self) {
        let requested = |m: &Machine, me: u32| m.threads[me as usize].want.filter(|w| w.requested);
        let mut asking: Vec<u32> = (0..self.threads.len() as u32).filter(|&me| requested(self, me).is_some()).collect();
        while !asking.is_empty() {
            asking.retain(|&me| match requested(self, me) {
                Some(want) if self.locks.free(want.lock, want.shared) => {
                    self.take(me, want);
                    self.finish(me);
                    false
                }
                still => still.is_some(),
            });
        }
    }

    /// Ends what a thread is in the middle of.
    fn finish(&mut self, me: u32) {
        while !self.threads[me as usize].script.is_empty() {
            self.follow_script(me);
        }
        while !self.threads[me as usize].held.is_empty() {
            self.release(me);
        }
        self.threads[me as usize].want = None;
    }
}
