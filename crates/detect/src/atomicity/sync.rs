//! Locks, waits and blocks: what their operations mean for each other.

use event::{BlockId, CondId, LockId};
use rustc_hash::FxHashMap;

/// Blocks nested deeper than this are counted, and no longer told apart.
const MAX_DEPTH: usize = 1 << 10;

/// The blocks that a thread is in.
#[derive(Clone, Default, Debug)]
pub(super) struct Blocks {
    open: Vec<BlockId>,
    deeper: u64,
}

impl Blocks {
    pub(super) fn begin(&mut self, block: BlockId) {
        if self.open.len() < MAX_DEPTH {
            self.open.push(block);
        } else {
            self.deeper += 1;
        }
    }

    /// A nameless end closes the innermost block; another one those inside its own, too, or nothing if it has none.
    pub(super) fn end(&mut self, block: BlockId) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if block == BlockId(0) {
            self.open.pop();
        } else if let Some(at) = self.open.iter().rposition(|&open| open == block) {
            self.open.truncate(at);
        }
    }

    /// How many are open.
    pub(super) fn depth(&self) -> u64 {
        self.open.len() as u64 + self.deeper
    }
}

/// How often a thread holds a lock.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Depth {
    lock: LockId,
    exclusive: u32,
    shared: u32,
}

/// The locks that a thread holds: mostly few, and these are found by looking at each.
#[derive(Default, Debug)]
pub(super) struct Held {
    few: Vec<Depth>,
    /// Those for which `few` had no room.
    more: FxHashMap<LockId, Depth>,
}

/// So many locks are `few`.
const FEW: usize = 8;

impl Held {
    fn of(&mut self, lock: LockId) -> &mut Depth {
        let none = Depth { lock, ..Depth::default() };
        match self.few.iter().position(|held| held.lock == lock) {
            Some(at) => &mut self.few[at],
            None if self.few.len() == FEW || self.more.contains_key(&lock) => self.more.entry(lock).or_insert(none),
            None => {
                self.few.push(none);
                let last = self.few.len() - 1;
                &mut self.few[last]
            }
        }
    }

    /// Forgets a lock that is no longer held.
    fn tidy(&mut self, lock: LockId) {
        let is_free = |held: &Depth| held.exclusive == 0 && held.shared == 0;
        match self.few.iter().position(|held| held.lock == lock) {
            Some(at) if is_free(&self.few[at]) => _ = self.few.swap_remove(at),
            Some(_) => {}
            None if self.more.get(&lock).is_some_and(is_free) => _ = self.more.remove(&lock),
            None => {}
        }
    }

    /// Whether this has an effect: it is not inside another such section of the same lock.
    pub(super) fn acquire(&mut self, lock: LockId) -> bool {
        let held = self.of(lock);
        held.exclusive = held.exclusive.saturating_add(1);
        held.exclusive == 1
    }

    pub(super) fn read_acquire(&mut self, lock: LockId) -> bool {
        let held = self.of(lock);
        held.shared = held.shared.saturating_add(1);
        held.shared == 1
    }

    pub(super) fn release(&mut self, lock: LockId) -> bool {
        let held = self.of(lock);
        held.exclusive = held.exclusive.saturating_sub(1);
        let effect = held.exclusive == 0;
        self.tidy(lock);
        effect
    }

    pub(super) fn read_release(&mut self, lock: LockId) -> bool {
        let held = self.of(lock);
        held.shared = held.shared.saturating_sub(1);
        let effect = held.shared == 0;
        self.tidy(lock);
        effect
    }

    /// A wait gives the lock up at every depth.
    pub(super) fn give_up(&mut self, lock: LockId) -> Depth {
        let held = self.of(lock);
        let given_up = std::mem::replace(held, Depth { lock, ..Depth::default() });
        self.tidy(lock);
        given_up
    }

    /// Its end takes back what it gave up; a thread that says it woke has the lock in any case.
    pub(super) fn take_back(&mut self, lock: LockId, given_up: Option<Depth>) {
        let given_up = given_up.filter(|given| given.exclusive + given.shared > 0);
        let (exclusive, shared) = given_up.map_or((1, 0), |given| (given.exclusive, given.shared));
        let held = self.of(lock);
        held.exclusive = held.exclusive.saturating_add(exclusive);
        held.shared = held.shared.saturating_add(shared);
    }
}

/// A wait that goes on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) cond: CondId,
    pub(super) lock: LockId,
    pub(super) since: u64,
    pub(super) given_up: Depth,
}
