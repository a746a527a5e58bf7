//! The variables of memory: which bytes of a granule are one.
//!
//! As long as the masks of a granule are equal or disjoint, each is a variable. A mask that cuts a variable narrows it to the bytes they share (so
//! that the new access meets those before it), and the other bytes are a new variable from then on; a wider access is one of each part.

use event::VarId;
use rustc_hash::FxHashMap;

const PAGE_BITS: u32 = 9;
const GRANULES: usize = 1 << PAGE_BITS;
/// In an entry: it is the index of a list in `several`.
const SEVERAL: u64 = 1 << 40;
/// Pages remembered in front of the hash table.
const NEAR: usize = 1 << 8;

/// Some bytes of a granule, and the variable they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) mask: u8,
    pub(crate) var: VarId,
}

/// Up to eight parts.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Parts {
    vars: [VarId; 8],
    count: usize,
}

impl Parts {
    fn push(&mut self, var: VarId) {
        if let Some(free) = self.vars.get_mut(self.count) {
            *free = var;
            self.count += 1;
        }
    }

    pub(crate) fn vars(&self) -> &[VarId] {
        &self.vars[..self.count]
    }
}

/// The variables of a process, by granule.
#[derive(Default)]
pub(crate) struct Variables {
    index: FxHashMap<u64, u32>,
    /// (page, its index), by the low bits of the page.
    near: Vec<(u64, u32)>,
    /// Entries: 0, or mask << 32 | variable, or `SEVERAL` and an index.
    pages: Vec<Box<[u64; GRANULES]>>,
    several: Vec<Vec<Part>>,
    unused: Vec<u32>,
}

fn entry_of(part: Part) -> u64 {
    u64::from(part.mask) << 32 | u64::from(part.var.0)
}

fn part_of(entry: u64) -> Part {
    Part { mask: (entry >> 32) as u8, var: VarId(entry as u32) }
}

impl Variables {
    /// The variable of exactly these bytes, in the common case.
    #[inline]
    pub(crate) fn one(&mut self, granule: u64, mask: u8) -> Option<VarId> {
        let page = self.page(granule >> PAGE_BITS)?;
        let entry = self.pages[page as usize][granule as usize & (GRANULES - 1)];
        (entry >> 32 == u64::from(mask)).then_some(VarId(entry as u32))
    }

    #[inline]
    fn page(&mut self, page: u64) -> Option<u32> {
        if let Some(near) = self.near.get(page as usize & (NEAR - 1))
            && near.0 == page
        {
            return Some(near.1);
        }
        self.far_page(page)
    }

    #[cold]
    fn far_page(&mut self, page: u64) -> Option<u32> {
        let index = *self.index.get(&page)?;
        self.near.resize(NEAR, (u64::MAX, 0));
        self.near[page as usize & (NEAR - 1)] = (page, index);
        Some(index)
    }

    fn entry(&mut self, granule: u64) -> &mut u64 {
        let page = granule >> PAGE_BITS;
        let index = match self.page(page) {
            Some(index) => index,
            None => {
                self.pages.push(Box::new([0; GRANULES]));
                let index = (self.pages.len() - 1) as u32;
                self.index.insert(page, index);
                index
            }
        };
        &mut self.pages[index as usize][granule as usize & (GRANULES - 1)]
    }

    /// All variables that these bytes of a granule are; `make` gives new ones for a mask: one, or several that share no byte.
    pub(crate) fn all<M: IntoIterator<Item = Part>>(
        &mut self,
        granule: u64,
        mask: u8,
        mut make: impl FnMut(u8) -> M,
    ) -> Parts {
        let mut found = Parts::default();
        let entry = *self.entry(granule);
        let mut parts = match entry {
            0 => Vec::new(),
            several if several & SEVERAL != 0 => std::mem::take(&mut self.several[several as u32 as usize]),
            one => vec![part_of(one)],
        };
        let mut rest = mask;
        for index in 0..parts.len() {
            let shared = parts[index].mask & mask;
            if shared == 0 {
                continue;
            }
            rest &= !shared;
            found.push(parts[index].var);
            let beside = parts[index].mask & !shared;
            if beside != 0 {
                let known = parts.len();
                parts.extend(make(beside));
                if parts.len() > known {
                    parts[index].mask = shared;
                }
            }
        }
        if rest != 0 {
            for part in make(rest) {
                parts.push(part);
                found.push(part.var);
            }
        }
        self.store(granule, entry, parts);
        found
    }

    /// The bytes of a granule that are a variable already.
    pub(crate) fn known(&mut self, granule: u64) -> u8 {
        let Some(page) = self.page(granule >> PAGE_BITS) else { return 0 };
        match self.pages[page as usize][granule as usize & (GRANULES - 1)] {
            several if several & SEVERAL != 0 => {
                self.several[several as u32 as usize].iter().fold(0, |known, part| known | part.mask)
            }
            one => part_of(one).mask,
        }
    }

    fn store(&mut self, granule: u64, entry: u64, parts: Vec<Part>) {
        let new = match *parts {
            [] => 0,
            [one] if entry & SEVERAL == 0 => entry_of(one),
            _ => {
                let index = if entry & SEVERAL != 0 {
                    entry as u32
                } else {
                    self.unused.pop().unwrap_or_else(|| {
                        self.several.push(Vec::new());
                        (self.several.len() - 1) as u32
                    })
                };
                self.several[index as usize] = parts;
                SEVERAL | u64::from(index)
            }
        };
        *self.entry(granule) = new;
    }

    /// Calls `with` for each variable in a range of addresses, lowest first; with `forget`, what comes there later are others.
    pub(crate) fn range(&mut self, start: u64, size: u64, forget: bool, mut with: impl FnMut(VarId)) {
        if size == 0 || self.index.is_empty() {
            return;
        }
        let (first, last) = (start >> 3, start.saturating_add(size - 1) >> 3);
        let (first_page, last_page) = (first >> PAGE_BITS, last >> PAGE_BITS);
        let mut pages: Vec<u64> = Vec::new();
        if last_page - first_page >= self.index.len() as u64 {
            pages.extend(self.index.keys().filter(|page| (first_page..=last_page).contains(page)));
            pages.sort_unstable();
        } else {
            pages.extend((first_page..=last_page).filter(|page| self.index.contains_key(page)));
        }
        for page in pages {
            let Some(&index) = self.index.get(&page) else { continue };
            let from = if page == first_page { first as usize & (GRANULES - 1) } else { 0 };
            let to = if page == last_page { last as usize & (GRANULES - 1) } else { GRANULES - 1 };
            for entry in &mut self.pages[index as usize][from..=to] {
                match *entry {
                    0 => continue,
                    several if several & SEVERAL != 0 => {
                        let index = several as u32;
                        self.several[index as usize].iter().for_each(|part| with(part.var));
                        if forget {
                            self.several[index as usize].clear();
                            self.unused.push(index);
                        }
                    }
                    one => with(part_of(one).var),
                }
                if forget {
                    *entry = 0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Masks at random: what two accesses share, they share a variable of; what they do not share, they do not.
    #[test]
    fn accesses_meet_in_a_variable_only_if_they_share_a_byte() {
        let mut seed = 11u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        let mut next = 0;
        for _ in 0..2_000 {
            let mut variables = Variables::default();
            let mut accesses: Vec<(u8, Vec<VarId>)> = Vec::new();
            for _ in 0..12 {
                let mask = [0xff, 0x0f, 0xf0, 0x01, 0x03, 0x0c, 1 + random(255) as u8][random(7) as usize];
                let make = |mask| {
                    next += 1;
                    Some(Part { mask, var: VarId(next) })
                };
                let found = variables.all(5, mask, make);
                assert!(!found.vars().is_empty());
                accesses.push((mask, found.vars().to_vec()));
                let (last, before) = accesses.split_last().expect("one was pushed");
                for (other, vars) in before {
                    let meet = vars.iter().any(|var| last.1.contains(var));
                    assert!(!meet || other & mask != 0, "{other:x} and {mask:x} meet");
                    // The access right before one that cuts it is always met.
                    assert!(meet || other & mask == 0 || before.len() > 1);
                }
            }
        }
    }

    #[test]
    fn ranges_give_all_variables_and_forget_them() {
        let mut variables = Variables::default();
        let mut next = 0;
        let mut make = |mask| {
            next += 1;
            Some(Part { mask, var: VarId(next) })
        };
        for granule in [10, 11, 600, 601, 5_000_000] {
            variables.all(granule, 0xff, &mut make);
        }
        variables.all(601, 0x0f, &mut make);
        assert_eq!(variables.one(10, 0xff), Some(VarId(1)));
        let mut seen = Vec::new();
        variables.range(11 * 8, 600 * 8, true, |var| seen.push(var.0));
        assert_eq!(seen, [2, 3, 4, 6]);
        seen.clear();
        variables.range(0, u64::MAX, false, |var| seen.push(var.0));
        assert_eq!(seen, [1, 5]);
        assert_eq!(variables.one(11, 0xff), None);
    }
}
