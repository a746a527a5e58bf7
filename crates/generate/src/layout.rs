//! How the variables are divided: who may touch which.

use crate::Options;

/// One variable that everybody reads, and four racy ones, are always there.
pub(crate) const LEAST_SHARED: u64 = 5;

/// Variable numbers, in this order: read-shared, protected by the locks in turn, racy, local to the threads in turn,
/// atomic, heap, watched.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    /// How many variables only the main thread writes, before it starts the others: `0..read_shared`.
    pub(crate) read_shared: u32,
    first_protected: u32,
    protected_each: u32,
    first_racy: u32,
    /// How many variables everybody accesses without a lock.
    pub(crate) racy: u32,
    first_local: u32,
    local_each: u32,
    first_atomic: u32,
    first_heap: u32,
    /// The names of the variables that all threads write now and then.
    watched: Vec<String>,
}

impl Layout {
    /// How many atomic variables there are.
    pub(crate) const ATOMICS: u32 = 16;
    /// How many heap addresses there are.
    pub(crate) const HEAP: u32 = 1 << 20;

    pub(crate) fn new(options: &Options) -> Layout {
        let Options { vars, threads, locks, .. } = *options;
        let mut read_shared = (vars / 5).max(1);
        let mut protected = (vars / 5).max(locks);
        let mut racy = (vars / 100).max(4);
        if u64::from(read_shared) + u64::from(protected) + u64::from(racy) + u64::from(threads) > u64::from(vars) {
            (read_shared, protected, racy) = (1, locks, 4);
        }
        let first_racy = read_shared + protected;
        let first_local = first_racy + racy;
        let local_each = (vars - first_local) / threads;
        Layout {
            read_shared,
            first_protected: read_shared,
            protected_each: protected / locks,
            first_racy,
            racy,
            first_local,
            local_each,
            first_atomic: vars,
            first_heap: vars + Self::ATOMICS,
            watched: options.watch.clone(),
        }
    }

    /// The variables of a lock: the first, and how many.
    #[inline]
    pub(crate) fn protected_by(&self, lock: u32) -> (u32, u32) {
        (self.first_protected + lock * self.protected_each, self.protected_each)
    }

    /// The variables of a thread: the first, and how many.
    #[inline]
    pub(crate) fn local_to(&self, thread: u32) -> (u32, u32) {
        (self.first_local + thread * self.local_each, self.local_each)
    }

    #[inline]
    pub(crate) fn racy(&self, k: u32) -> u32 {
        self.first_racy + k
    }

    pub(crate) fn atomic(&self, k: u32) -> u32 {
        self.first_atomic + k
    }

    pub(crate) fn heap(&self, k: u32) -> u32 {
        self.first_heap + k
    }

    /// The least number that no variable has.
    pub(crate) fn end(&self) -> u32 {
        self.watched(self.watched.len() as u32)
    }

    pub(crate) fn watched(&self, k: u32) -> u32 {
        self.first_heap + Self::HEAP + k
    }

    /// How many variables are watched.
    pub(crate) fn watches(&self) -> u32 {
        self.watched.len() as u32
    }

    /// What the variable is called.
    pub(crate) fn name(&self, var: u32) -> String {
        if var >= self.watched(0) {
            self.watched[(var - self.watched(0)) as usize].clone()
        } else if var >= self.first_heap {
            format!("H{}", var - self.first_heap)
        } else if var >= self.first_atomic {
            format!("A{}", var - self.first_atomic)
        } else {
            format!("V{var}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_not_empty_and_do_not_overlap() {
        for vars in 5..300 {
            for threads in 1..20 {
                for locks in 1..20 {
                    let options = Options { vars, threads, locks, ..Options::default() };
                    if options.check().is_err() {
                        continue;
                    }
                    let layout = Layout::new(&options);
                    let mut owners = vec![0; vars as usize];
                    let mut claim = |first: u32, many: u32| {
                        assert!(many > 0, "{options:?}");
                        for var in first..first + many {
                            assert!(var < vars, "{options:?}");
                            owners[var as usize] += 1;
                        }
                    };
                    claim(0, layout.read_shared);
                    claim(layout.racy(0), layout.racy);
                    for lock in 0..locks {
                        let (first, many) = layout.protected_by(lock);
                        claim(first, many);
                    }
                    for thread in 0..threads {
                        let (first, many) = layout.local_to(thread);
                        claim(first, many);
                    }
                    assert!(owners.iter().all(|&n| n <= 1), "{options:?}");
                }
            }
        }
    }
}
