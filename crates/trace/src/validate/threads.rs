//! Which threads there are, and which of them may act: not one that was joined, waits, or asked for a lock in vain.

use super::locks::HeldBeforeWait;
use event::{Batch, CondId, Event, LockId, Names, Op, SiteId, Space, ThreadId};

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
    pub(super) held: Option<HeldBeforeWait>,
    /// When, by the clock of the condition.
    pub(super) since: u64,
}

#[derive(Clone)]
struct Thread {
    joined_at: u64,
    wait: Option<Waiting>,
    /// Its last announcement that it is about to block.
    request: Event,
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
        let none = Event::new(ThreadId(0), Op::Request, 0, SiteId(0));
        let fresh = Thread { joined_at: 0, wait: None, request: none, flags: 0 };
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
            if !may_follow(details.request, batch, event) {
                return Some(format!(
                    "{t} goes on though its request for {} is unanswered",
                    name(names, details.request)
                ));
            }
        }
        None
    }

    /// A thread announces that it is about to block.
    pub(super) fn request(&mut self, request: Event) {
        let thread = request.thread().0 as usize;
        self.state[thread] |= ASKING;
        self.threads[thread].request = request;
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
        asking.then(|| format!("{c} is joined though its request for {} is unanswered", name(names, details.request)))
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

/// Whether an event may be the next of a thread after its request. One for a lock is answered by the lock, or by the
/// `tfail` of a timed attempt. Any other wait can be given up without an event of its own (a timeout, an interrupt).
fn may_follow(request: Event, batch: &Batch, event: Event) -> bool {
    if request.op() != Op::Request {
        return true;
    }
    let lock = if event.op() == Op::TryFail { Some(event.lock()) } else { batch.section_lock(event) };
    lock == Some(request.lock()) && !event.op().closes_section()
}

/// The name of what an event acts on.
fn name(names: &Names, event: Event) -> &str {
    event.op().space().map_or("", |space| names.get(space, event.object()))
}
