//! Which threads there are, and which of them may act: not one that was joined, waits, or asked for a lock in vain.

use super::locks::Held;
use event::{Batch, CondId, Event, LockId, Names, Op, Space, ThreadId};

/// Nothing special about a thread: the common case costs one look.
const USUAL: u8 = 0;
const UNSEEN: u8 = 1;
const JOINED: u8 = 2;
const WAITING: u8 = 4;
const ASKING: u8 = 8;
/// Not a state that hinders it; kept apart from the others.
const FORKED: u8 = 1;

/// A wait that has begun.
#[derive(Clone, Copy)]
pub(super) struct Waiting {
    pub(super) cond: CondId,
    pub(super) lock: LockId,
    /// What the thread held of the lock, if it did.
    pub(super) held: Option<Held>,
    /// When, by the clock of the condition.
    pub(super) since: u64,
}

#[derive(Clone)]
struct Thread {
    joined_at: u64,
    wait: Option<Waiting>,
    asked: LockId,
    flags: u8,
}

#[derive(Default)]
pub(super) struct Threads {
    /// By thread: the bits above; a table of its own because every event looks here.
    state: Vec<u8>,
    threads: Vec<Thread>,
}

impl Threads {
    pub(super) fn grow(&mut self, names: &Names) {
        let count = names.space(Space::Thread).len();
        self.state.resize(count, UNSEEN);
        let fresh = Thread { joined_at: 0, wait: None, asked: LockId(0), flags: 0 };
        self.threads.resize(count, fresh);
    }

    #[inline]
    pub(super) fn is_unusual(&self, thread: ThreadId) -> bool {
        self.state[thread.0 as usize] != USUAL
    }

    /// A thread in an unusual state acts.
    pub(super) fn enter(&mut self, names: &Names, batch: &Batch, event: Event) -> Option<String> {
        let thread = event.thread();
        if event.op().is_drop_barrier() {
            // Nothing that the thread did: a recorder's note.
            return None;
        }
        let state = &mut self.state[thread.0 as usize];
        let details = &mut self.threads[thread.0 as usize];
        let t = names.thread(thread);
        *state &= !UNSEEN;
        if *state & JOINED != 0 {
            *state &= !JOINED;
            return Some(format!("{t} acts after it was joined (event {})", details.joined_at));
        }
        if *state & WAITING != 0
            && event.op() != Op::Woken
            && let Some(wait) = details.wait.take()
        {
            *state &= !WAITING;
            return Some(format!("{t} acts while it waits on {}", names.cond(wait.cond)));
        }
        if *state & ASKING != 0 {
            *state &= !ASKING;
            let answered = match event.op() {
                Op::Acquire | Op::ReadAcquire | Op::TryAcquire | Op::TryFail => event.lock() == details.asked,
                Op::Woken => batch.extra(event).lock == details.asked,
                _ => false,
            };
            if !answered {
                return Some(format!("{t} goes on though its request for {} is unanswered", names.lock(details.asked)));
            }
        }
        None
    }

    pub(super) fn request(&mut self, thread: ThreadId, lock: LockId) {
        self.state[thread.0 as usize] |= ASKING;
        self.threads[thread.0 as usize].asked = lock;
    }

    pub(super) fn fork(&mut self, names: &Names, parent: ThreadId, child: ThreadId) -> Option<String> {
        let (p, c) = (names.thread(parent), names.thread(child));
        let state = self.state[child.0 as usize];
        let details = &mut self.threads[child.0 as usize];
        let again = details.flags & FORKED != 0;
        details.flags |= FORKED;
        if parent == child {
            Some(format!("{p} forks itself"))
        } else if state & JOINED != 0 {
            self.state[child.0 as usize] &= !JOINED;
            Some(format!("{c} is forked after it was joined (event {})", details.joined_at))
        } else if again {
            Some(format!("{c} is forked a second time"))
        } else if state & UNSEEN == 0 {
            Some(format!("{c} is forked after its first event"))
        } else {
            None
        }
    }

    pub(super) fn join(&mut self, names: &Names, parent: ThreadId, child: ThreadId, index: u64) -> Option<String> {
        if parent == child {
            return Some(format!("{} joins itself", names.thread(parent)));
        }
        let state = &mut self.state[child.0 as usize];
        let (waiting, asking) = (*state & WAITING != 0, *state & ASKING != 0);
        *state |= JOINED;
        let details = &mut self.threads[child.0 as usize];
        details.joined_at = index;
        let c = names.thread(child);
        if waiting {
            return Some(format!("{c} is joined while it waits"));
        }
        asking.then(|| format!("{c} is joined though its request for {} is unanswered", names.lock(details.asked)))
    }

    pub(super) fn wait(&mut self, thread: ThreadId, wait: Waiting) {
        self.state[thread.0 as usize] |= WAITING;
        self.threads[thread.0 as usize].wait = Some(wait);
    }

    /// Ends a thread's wait, if it is in one.
    pub(super) fn wake(&mut self, thread: ThreadId) -> Option<Waiting> {
        self.state[thread.0 as usize] &= !WAITING;
        self.threads[thread.0 as usize].wait.take()
    }
}
