//! Splits words into records: where each ends, and whether it can be one at all.

use runtime::record::{CONTEXT_BITS, Kind, MAX_TEXT, Ordered, PENDING, TextFor};

/// How a record is ordered, by the code of its kind; 0: there is no such kind.
const ORDERS: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < Kind::ALL.len() {
        let kind = Kind::ALL[i];
        table[kind as usize] = match kind.order() {
            Ordered::Timed => TIMED,
            Ordered::Untimed => UNTIMED,
        };
        i += 1;
    }
    table
};

/// How many words a record has, by the code of its kind, the text behind a `Text` not counted; 0: there is no such
/// kind.
const WORDS: [u8; 256] = {
    let mut table = [0; 256];
    let mut i = 0;
    while i < Kind::ALL.len() {
        table[Kind::ALL[i] as usize] = Kind::ALL[i].words() as u8;
        i += 1;
    }
    table
};

/// The length of a record where a scan need not look further; 0: it must.
const STEPS: [u8; 256] = {
    let mut table = WORDS;
    table[Kind::Text as usize] = 0;
    table[Kind::WatchWrite as usize] = 0;
    table
};

pub(crate) const TIMED: u8 = 1;
pub(crate) const UNTIMED: u8 = 2;

/// How a record with this first word is ordered.
#[inline]
pub(crate) fn order(head: u64) -> u8 {
    ORDERS[(head & 0xff) as usize]
}

/// The auxiliary byte.
#[inline]
pub(crate) fn aux(head: u64) -> u8 {
    (head >> 8) as u8
}

/// The payload.
#[inline]
pub(crate) fn payload(head: u64) -> u64 {
    head >> 16
}

/// The call context in a second word.
#[inline]
pub(crate) fn context(word: u64) -> u32 {
    (word & ((1 << CONTEXT_BITS) - 1)) as u32
}

/// How many words a record with this first word has; 0 if there is no such record.
#[inline]
pub(crate) fn length(head: u64) -> usize {
    if head as u8 == Kind::Text as u8 { text_length(head) } else { WORDS[(head & 0xff) as usize] as usize }
}

#[cold]
fn text_length(head: u64) -> usize {
    let bytes = payload(head);
    if bytes > MAX_TEXT as u64 {
        return 0;
    }
    // These two have an address behind the text.
    let address = aux(head) == TextFor::ObjectName as u8 || aux(head) == TextFor::Benign as u8;
    1 + (bytes as usize).div_ceil(8) + usize::from(address)
}

/// Why a scan ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// At a head that is zero: nothing more was written.
    Open,
    /// At the end of the words, or at a record that goes beyond it.
    Words,
    /// At a write whose value is not known yet.
    Pending,
    /// At something that is no record.
    Damaged,
}

/// Finds how many of the words are whole records.
pub(crate) fn scan(words: &[u64]) -> (usize, End) {
    scan_with(words, |_| {})
}

/// Finds how many of the words are whole records, and shows each of them.
#[inline]
pub(crate) fn scan_with(words: &[u64], mut show: impl FnMut(&[u64])) -> (usize, End) {
    let mut at = 0;
    while let Some(&head) = words.get(at) {
        let mut step = usize::from(STEPS[(head & 0xff) as usize]);
        // A branch, which is predicted, and not a sum: so the next head need not wait for this one.
        if step == 2
            && let Some(record) = words.get(at..at + 2)
        {
            show(record);
            at += 2;
            continue;
        }
        if step == 0 {
            if head == 0 {
                return (at, End::Open);
            }
            step = length(head);
            if step == 0 {
                return (at, End::Damaged);
            }
            if step <= words.len() - at && is_pending(head) {
                return (at, End::Pending);
            }
        }
        let Some(record) = words.get(at..at + step) else { return (at, End::Words) };
        show(record);
        at += step;
    }
    (at, End::Words)
}

/// Whether this is a write whose value is not known yet.
#[inline]
pub(crate) fn is_pending(head: u64) -> bool {
    head as u8 == Kind::WatchWrite as u8 && aux(head) & PENDING != 0
}
