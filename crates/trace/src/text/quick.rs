//! The short way through the lines that nearly all of a trace consists of: `T3|w(V81234)|403234`.
//!
//! It takes an event that acts on one named thing, carries no value and is written in plain ASCII without escapes.
//! Everything else, and everything that is wrong, it leaves to the careful parser.

use super::table::Table;
use event::{Batch, Event, Op, SiteId, Space, ThreadId};

const NAME: u8 = 1;
const SITE: u8 = 2;

/// What each byte can be part of.
const CLASS: [u8; 256] = {
    let mut class = [0; 256];
    let mut b = 0x20;
    while b < 0x7f {
        if b as u8 != b'|' && b as u8 != b'\\' {
            class[b] = if b as u8 == b' ' || b as u8 == b')' { SITE } else { NAME | SITE };
        }
        b += 1;
    }
    class
};

/// The end of the bytes of a class from an index on.
#[inline]
fn skip(text: &[u8], mut at: usize, class: u8) -> usize {
    while let Some(&byte) = text.get(at)
        && CLASS[usize::from(byte)] & class != 0
    {
        at += 1;
    }
    at
}

/// The thread of the last line: threads run for many events before another one does.
#[derive(Default, Debug)]
pub(super) struct LastThread {
    name: Vec<u8>,
    number: u32,
}

impl LastThread {
    #[inline]
    fn find(&mut self, name: &[u8], table: &mut Table) -> Option<u32> {
        if self.name == name {
            return Some(self.number);
        }
        let number = number(table, Space::Thread, name)?;
        self.name.clear();
        self.name.extend_from_slice(name);
        self.number = number;
        Some(number)
    }
}

#[inline]
fn number(table: &mut Table, space: Space, name: &[u8]) -> Option<u32> {
    if let Some(number) = table.names.space(space).find(name) {
        return Some(number);
    }
    table.exact(space, str::from_utf8(name).ok()?).ok()
}

/// Takes the line that the text begins with, if it is a simple one, and gives its length with the line feed.
#[inline]
pub(super) fn event(text: &[u8], threads: &mut LastThread, table: &mut Table, batch: &mut Batch) -> Option<usize> {
    let thread_end = skip(text, 0, NAME);
    if thread_end == 0 || text[0] == b'#' || text.get(thread_end) != Some(&b'|') {
        return None;
    }
    let word = &text[thread_end + 1..];
    let (op, word_length) = match word {
        [b'r', b'(', ..] => (Op::Read, 1),
        [b'w', b'(', ..] => (Op::Write, 1),
        _ => {
            let length = word.iter().position(|b| !b.is_ascii_lowercase())?;
            let op = super::op::find(&word[..length])?;
            if word[length] != b'(' || matches!(op, Op::Wait | Op::Woken | Op::Internal | Op::Pin) {
                return None;
            }
            (op, length)
        }
    };
    let space = op.space()?;
    let object_start = thread_end + 1 + word_length + 1;
    let object_end = skip(text, object_start, NAME);
    if object_end == object_start || text.get(object_end) != Some(&b')') {
        return None;
    }
    let site_start = match text.get(object_end + 1)? {
        b'|' => object_end + 2,
        b'\n' => object_end + 1,
        _ => return None,
    };
    let line_end = skip(text, site_start, SITE);
    if text.get(line_end) != Some(&b'\n') {
        return None;
    }
    let thread = threads.find(&text[..thread_end], table)?;
    let object = number(table, space, &text[object_start..object_end])?;
    let site = number(table, Space::Site, &text[site_start..line_end])?;
    batch.events.push(Event::new(ThreadId(thread), op, object, SiteId(site)));
    Some(line_end + 1)
}
