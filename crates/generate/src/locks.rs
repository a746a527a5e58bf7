//! Who holds which lock.

/// The holders of every lock.
#[derive(Clone, Debug)]
pub(crate) struct Locks {
    holders: Vec<Holders>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Holders {
    /// The thread that holds it exclusively, plus 1; 0: none.
    owner: u32,
    readers: u32,
}

impl Locks {
    pub(crate) fn new(many: u32) -> Locks {
        Locks { holders: vec![Holders::default(); many as usize] }
    }

    /// Whether a thread that does not hold the lock could take it now.
    #[inline]
    pub(crate) fn free(&self, lock: u32, shared: bool) -> bool {
        let holders = self.holders[lock as usize];
        holders.owner == 0 && (shared || holders.readers == 0)
    }

    /// Whether some thread holds it exclusively.
    pub(crate) fn owned(&self, lock: u32) -> bool {
        self.holders[lock as usize].owner != 0
    }

    #[inline]
    pub(crate) fn take(&mut self, lock: u32, shared: bool, thread: u32) {
        debug_assert!(self.free(lock, shared));
        let holders = &mut self.holders[lock as usize];
        if shared {
            holders.readers += 1;
        } else {
            holders.owner = thread + 1;
        }
    }

    #[inline]
    pub(crate) fn give_back(&mut self, lock: u32, shared: bool) {
        let holders = &mut self.holders[lock as usize];
        if shared {
            holders.readers -= 1;
        } else {
            holders.owner = 0;
        }
    }
}
