//! The variables of memory: which bytes of a word are one.
//!
//! As long as the masks of a word are equal or disjoint, each is a variable. A mask that cuts a variable narrows it to
//! the bytes they share (so that the new access meets those before it), and the other bytes are a new variable from
//! then on. A wider access is one of each part.
//!
//! Nearly every event looks here, and memory is large: an entry is four bytes, and what lies side by side in memory
//! does so here.

use crate::prefetch::fetch;
use event::VarId;
use rustc_hash::FxHashMap;

const PAGE_BITS: u32 = 11;
const PAGE_WORDS: usize = 1 << PAGE_BITS;
/// Pages remembered in front of the hash table.
const CACHE_SIZE: usize = 1 << 10;

/// This many entries stay in a near cache.
const FEW: usize = 1 << 17;

/// This many pairs stay in a near cache.
const FEW_PAIRS: usize = 1 << 12;

/// This many entries are followed up at once: what is further ahead would be evicted again.
const MOST_ASKED: usize = 1 << 13;

/// Bits of an entry that hold a variable; above them is its mask.
const VAR_BITS: u32 = 24;
/// An entry without a mask is the index of a pair + 1, or with this bit that of a list.
const LIST: u32 = 1 << 23;
/// Or it is this: the word is in `wide`.
const WIDE: u32 = (1 << VAR_BITS) - 1;

/// Some bytes of a word, and the variable they are.
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

/// The variables of a process, by word.
#[derive(Default)]
pub(crate) struct Variables {
    /// By page: where it begins in `entries`.
    index: FxHashMap<u64, usize>,
    page_cache: PageCache,
    /// 0, or mask << 24 | variable, or where the parts are.
    entries: Vec<u32>,
    pairs: Vec<[Part; 2]>,
    unused_pairs: Vec<u32>,
    lists: Vec<Vec<Part>>,
    unused_lists: Vec<u32>,
    /// What fits nowhere else, by word.
    wide: FxHashMap<u64, Vec<Part>>,
    /// Entries that were asked for.
    asked: Vec<usize>,
    /// Room for the parts of a word.
    spare: Vec<Part>,
}

/// (Page, where it begins), by [`cache_slot`].
struct PageCache(Box<[(u64, usize); CACHE_SIZE]>);

impl Default for PageCache {
    fn default() -> Self {
        PageCache(Box::new([(u64::MAX, 0); CACHE_SIZE]))
    }
}

/// A decoded entry.
enum Entry {
    One(Part),
    Pair(usize),
    List(usize),
    Wide,
}

#[inline]
fn decode(entry: u32) -> Option<Entry> {
    let low = entry & WIDE;
    match (entry >> VAR_BITS) as u8 {
        _ if entry == 0 => None,
        0 if low == WIDE => Some(Entry::Wide),
        0 if low & LIST != 0 => Some(Entry::List((low & !LIST) as usize)),
        0 => Some(Entry::Pair(low as usize - 1)),
        mask => Some(Entry::One(Part { mask, var: VarId(low) })),
    }
}

impl Variables {
    /// The variable of exactly these bytes, in the common cases.
    #[inline]
    pub(crate) fn one(&mut self, word: u64, mask: u8) -> Option<VarId> {
        let begin = self.page(word >> PAGE_BITS)?;
        let entry = self.entries[begin + offset(word)];
        if mask != 0 && entry >> VAR_BITS == u32::from(mask) {
            return Some(VarId(entry & WIDE));
        }
        if entry >> VAR_BITS == 0
            && let Some(pair) = self.pairs.get((entry as usize).wrapping_sub(1))
        {
            return pair.iter().find(|part| part.mask == mask).map(|part| part.var);
        }
        None
    }

    /// Whether all of them are in a near cache anyway.
    #[inline]
    pub(crate) fn are_few(&self) -> bool {
        self.entries.len() <= FEW
    }

    /// Asks for the memory that `one` will read: for the entry now, and for what it leads to with the next call of
    /// `fetch_on`.
    #[inline]
    pub(crate) fn fetch(&mut self, word: u64) {
        let page = word >> PAGE_BITS;
        let (known, begin) = self.page_cache.0[cache_slot(page)];
        let at = begin + offset(word);
        fetch(self.entries.as_ptr().wrapping_add(if known == page { at } else { 0 }));
        if self.pairs.len() > FEW_PAIRS && known == page && self.asked.len() < MOST_ASKED {
            self.asked.push(at);
        }
    }

    /// What was asked for should be there by now, and may lead on.
    #[inline]
    pub(crate) fn fetch_on(&mut self) {
        for at in self.asked.drain(..) {
            let entry = self.entries[at];
            if entry >> VAR_BITS == 0
                && let Some(pair) = self.pairs.get((entry as usize).wrapping_sub(1))
            {
                fetch(pair);
            }
        }
    }

    /// Where the entries of a page begin.
    #[inline]
    fn page(&mut self, page: u64) -> Option<usize> {
        let (known, begin) = self.page_cache.0[cache_slot(page)];
        if known == page { Some(begin) } else { self.far_page(page) }
    }

    #[cold]
    fn far_page(&mut self, page: u64) -> Option<usize> {
        let begin = *self.index.get(&page)?;
        self.page_cache.0[cache_slot(page)] = (page, begin);
        Some(begin)
    }

    fn entry(&mut self, word: u64) -> &mut u32 {
        let page = word >> PAGE_BITS;
        let begin = match self.page(page) {
            Some(begin) => begin,
            None => {
                let begin = self.entries.len();
                self.entries.resize(begin + PAGE_WORDS, 0);
                self.index.insert(page, begin);
                begin
            }
        };
        &mut self.entries[begin + offset(word)]
    }

    /// The variables that these bytes of a word are, if they are known, and whole ones.
    pub(crate) fn known(&mut self, word: u64, mask: u8) -> Option<Parts> {
        let begin = self.page(word >> PAGE_BITS)?;
        let entry = self.entries[begin + offset(word)];
        let one;
        let parts: &[Part] = match decode(entry)? {
            Entry::One(part) => {
                one = [part];
                &one
            }
            Entry::Pair(index) => &self.pairs[index],
            Entry::List(index) => &self.lists[index],
            Entry::Wide => self.wide.get(&word)?,
        };
        let mut found = Parts::default();
        let mut rest = mask;
        for part in parts.iter().filter(|part| part.mask & mask != 0) {
            if part.mask & !mask != 0 {
                return None;
            }
            rest &= !part.mask;
            found.push(part.var);
        }
        (rest == 0).then_some(found)
    }

    /// Takes the parts of a word out; they must be put back before the next lookup.
    pub(crate) fn open(&mut self, word: u64) -> Vec<Part> {
        let entry = std::mem::take(self.entry(word));
        self.remove(word, entry)
    }

    /// Puts the parts of a word back.
    pub(crate) fn close(&mut self, word: u64, parts: Vec<Part>) {
        *self.entry(word) = self.put(word, parts);
    }

    /// The bytes of a word that are a variable already.
    pub(crate) fn bytes(&mut self, word: u64) -> u8 {
        let Some(begin) = self.page(word >> PAGE_BITS) else { return 0 };
        let all = |parts: &[Part]| parts.iter().fold(0, |bytes, part| bytes | part.mask);
        match decode(self.entries[begin + offset(word)]) {
            None => 0,
            Some(Entry::One(part)) => part.mask,
            Some(Entry::Pair(index)) => all(&self.pairs[index]),
            Some(Entry::List(index)) => all(&self.lists[index]),
            Some(Entry::Wide) => self.wide.get(&word).map_or(0, |parts| all(parts)),
        }
    }

    /// Takes the parts of a word out of an entry.
    fn remove(&mut self, word: u64, entry: u32) -> Vec<Part> {
        let mut parts = std::mem::take(&mut self.spare);
        match decode(entry) {
            None => parts,
            Some(Entry::One(part)) => {
                parts.push(part);
                parts
            }
            Some(Entry::Pair(index)) => {
                self.unused_pairs.push(index as u32);
                parts.extend(self.pairs[index]);
                parts
            }
            Some(Entry::List(index)) => {
                self.unused_lists.push(index as u32);
                std::mem::take(&mut self.lists[index])
            }
            Some(Entry::Wide) => self.wide.remove(&word).unwrap_or_default(),
        }
    }

    /// Finds room for the parts of a word, and returns its entry.
    fn put(&mut self, word: u64, parts: Vec<Part>) -> u32 {
        let spare = |variables: &mut Self, mut parts: Vec<Part>| {
            parts.clear();
            variables.spare = parts;
        };
        match *parts {
            [] => {
                spare(self, parts);
                return 0;
            }
            [one] if one.var.0 <= WIDE && one.mask != 0 => {
                spare(self, parts);
                return u32::from(one.mask) << VAR_BITS | one.var.0;
            }
            [a, b] if !self.unused_pairs.is_empty() || self.pairs.len() < LIST as usize - 1 => {
                let index = self.unused_pairs.pop().unwrap_or(self.pairs.len() as u32);
                match self.pairs.get_mut(index as usize) {
                    Some(pair) => *pair = [a, b],
                    None => self.pairs.push([a, b]),
                }
                spare(self, parts);
                return index + 1;
            }
            [_, _, _, ..] if !self.unused_lists.is_empty() || self.lists.len() < LIST as usize - 1 => {
                let index = self.unused_lists.pop().unwrap_or(self.lists.len() as u32);
                match self.lists.get_mut(index as usize) {
                    Some(list) => *list = parts,
                    None => self.lists.push(parts),
                }
                return LIST | index;
            }
            _ => {}
        }
        self.wide.insert(word, parts);
        WIDE
    }

    /// Calls `with` for each variable in a range of addresses, lowest first; with `forget`, what comes there later are
    /// others.
    pub(crate) fn range(&mut self, start: u64, size: u64, forget: bool, mut with: impl FnMut(VarId)) {
        if size == 0 || self.index.is_empty() {
            return;
        }
        let (first, last) = (start >> 3, start.saturating_add(size - 1) >> 3);
        let (first_page, last_page) = (first >> PAGE_BITS, last >> PAGE_BITS);
        let mut in_page = |variables: &mut Self, page: u64| {
            let Some(begin) = variables.page(page) else { return };
            let from = if page == first_page { offset(first) } else { 0 };
            let to = if page == last_page { offset(last) } else { PAGE_WORDS - 1 };
            for at in from..=to {
                let entry = variables.entries[begin + at];
                if entry != 0 {
                    variables.visit(page << PAGE_BITS | at as u64, entry, forget, &mut with);
                    if forget {
                        variables.entries[begin + at] = 0;
                    }
                }
            }
        };
        if last_page - first_page >= self.index.len() as u64 {
            let mut pages: Vec<u64> =
                self.index.keys().copied().filter(|page| (first_page..=last_page).contains(page)).collect();
            pages.sort_unstable();
            pages.into_iter().for_each(|page| in_page(self, page));
        } else {
            (first_page..=last_page).for_each(|page| in_page(self, page));
        }
    }

    /// Calls `with` for each variable of a word; with `forget` its parts are removed.
    fn visit(&mut self, word: u64, entry: u32, forget: bool, with: &mut impl FnMut(VarId)) {
        if let Some(Entry::One(part)) = decode(entry) {
            return with(part.var);
        }
        let parts = self.remove(word, entry);
        parts.iter().for_each(|part| with(part.var));
        if !forget {
            let begin = self.page(word >> PAGE_BITS);
            let entry = self.put(word, parts);
            if let Some(begin) = begin {
                self.entries[begin + offset(word)] = entry;
            }
        }
    }
}

/// All variables of parts that these bytes are; `make` gives new ones for a mask: one, or several that share no byte.
pub(crate) fn cut<M: IntoIterator<Item = Part>>(
    parts: &mut Vec<Part>,
    mask: u8,
    mut make: impl FnMut(u8) -> M,
) -> Parts {
    let mut found = Parts::default();
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
    found
}

/// Where a page is remembered. The arenas of threads begin at multiples of 64 MB: the low bits alone would make them
/// meet.
#[inline]
fn cache_slot(page: u64) -> usize {
    (page.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize % CACHE_SIZE
}

#[inline]
fn offset(word: u64) -> usize {
    word as usize & (PAGE_WORDS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Variables {
        fn all<M: IntoIterator<Item = Part>>(&mut self, word: u64, mask: u8, make: impl FnMut(u8) -> M) -> Parts {
            let mut parts = self.open(word);
            let found = cut(&mut parts, mask, make);
            self.close(word, parts);
            found
        }
    }

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
        for word in [10, 11, 2500, 2501, 5_000_000] {
            variables.all(word, 0xff, &mut make);
        }
        variables.all(2501, 0x0f, &mut make);
        assert_eq!(variables.one(10, 0xff), Some(VarId(1)));
        let mut seen = Vec::new();
        variables.range(11 * 8, 2500 * 8, true, |var| seen.push(var.0));
        assert_eq!(seen, [2, 3, 4, 6]);
        seen.clear();
        variables.range(0, u64::MAX, false, |var| seen.push(var.0));
        assert_eq!(seen, [1, 5]);
        assert_eq!(variables.one(11, 0xff), None);
    }
}
