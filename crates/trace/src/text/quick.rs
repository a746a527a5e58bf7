//! The short way through the lines that nearly all of a trace consists of: `T3|w(V81234)|403234`.
//!
//! It takes an event that acts on one named thing, carries at most an integer and is written in plain ASCII without
//! escapes. Everything else, and everything that is wrong, it leaves to the careful parser.
//!
//! Names of up to 16 bytes are looked up as two words. A name that is found that way need not be examined: it was when
//! it came for the first time.

use super::short::{Key, NameCache};
use super::table::Table;
use event::{Batch, Event, Extra, Op, SiteId, Space, ThreadId, Value};

/// The numbers of the short names, space by space.
#[derive(Default, Debug)]
pub(super) struct ShortNames {
    spaces: [NameCache; Space::ALL.len()],
}

/// Where the parts of a line are.
struct Parts {
    thread_end: usize,
    op: Op,
    object: (usize, usize),
    site: (usize, usize),
    value: Option<i64>,
}

/// Takes the line that the text begins with, if it is a simple one, and gives its length with the line feed.
#[inline]
pub(super) fn event(text: &[u8], names: &mut ShortNames, table: &mut Table, batch: &mut Batch) -> Option<usize> {
    if let Some(length) = event_of_known_names(text, names, batch) {
        return Some(length);
    }
    event_of_any_names(text, names, table, batch)
}

/// Takes a line all of whose names are short and known.
#[inline]
fn event_of_known_names(text: &[u8], names: &ShortNames, batch: &mut Batch) -> Option<usize> {
    // A thread whose name begins with `#` may be known from its fork, but such a line is a comment.
    if text.first() == Some(&b'#') {
        return None;
    }
    let thread_key = Key::until(text, 0, b'|')?;
    let thread = names.spaces[Space::Thread as usize].find(thread_key)?;
    let (op, object_start) = operation(text, thread_key.len() + 1)?;
    let space = op.space()?;
    let object_key = Key::until(text, object_start, b')')?;
    let object = names.spaces[space as usize].find(object_key)?;
    let (value, site_start) = tail(text, object_start + object_key.len() + 1, op)?;
    let site_key = Key::until(text, site_start, b'\n')?;
    let site = if site_key.len() == 0 { 0 } else { names.spaces[Space::Site as usize].find(site_key)? };
    push(batch, thread, op, object, site, value);
    Some(site_start + site_key.len() + 1)
}

/// Takes a simple line whatever its names.
#[inline(never)]
fn event_of_any_names(text: &[u8], names: &mut ShortNames, table: &mut Table, batch: &mut Batch) -> Option<usize> {
    let parts = split(text)?;
    let mut number = |space: Space, (start, end): (usize, usize)| {
        let name = &text[start..end];
        let number = match table.names.space(space).find(name) {
            Some(number) => number,
            // All bytes are ASCII; a name too many is for the careful parser to complain about.
            None => table.exact(space, str::from_utf8(name).ok()?).ok()?,
        };
        names.spaces[space as usize].add(Key::of(name), number);
        Some(number)
    };
    let thread = number(Space::Thread, (0, parts.thread_end))?;
    let object = number(parts.op.space()?, parts.object)?;
    let site = number(Space::Site, parts.site)?;
    push(batch, thread, parts.op, object, site, parts.value);
    Some(parts.site.1 + 1)
}

#[inline(always)]
fn push(batch: &mut Batch, thread: u32, op: Op, object: u32, site: u32, value: Option<i64>) {
    let extra = match value {
        None => 0,
        Some(int) => batch.add_extra(Extra { value: Value::Int(int), ..Extra::default() }),
    };
    batch.events.push(Event::with_extra(ThreadId(thread), op, object, SiteId(site), extra));
}

/// The operation at an index, and where the name of its object begins.
#[inline(always)]
fn operation(text: &[u8], at: usize) -> Option<(Op, usize)> {
    let word = text.get(at..)?;
    match word {
        [b'r', b'(', ..] => return Some((Op::Read, at + 2)),
        [b'w', b'(', ..] => return Some((Op::Write, at + 2)),
        _ => {}
    }
    let length = word.iter().position(|b| !b.is_ascii_lowercase())?;
    let op = Op::from_text(&word[..length])?;
    let simple = word[length] == b'(' && !op.has_list();
    simple.then_some((op, at + length + 1))
}

/// What follows the object: a value, and where the site begins.
#[inline(always)]
fn tail(text: &[u8], at: usize, op: Op) -> Option<(Option<i64>, usize)> {
    match text.get(at)? {
        b'|' => Some((None, at + 1)),
        b'\n' => Some((None, at)),
        b'=' if op.has_value() => {
            // Eighteen digits cannot overflow.
            const DIGITS: usize = 18;
            let negative = text.get(at + 1) == Some(&b'-');
            let start = at + 1 + usize::from(negative);
            let (mut end, mut int) = (start, 0i64);
            while let Some(digit) = text.get(end).map(|b| b.wrapping_sub(b'0'))
                && digit < 10
            {
                int = int.wrapping_mul(10).wrapping_add(i64::from(digit));
                end += 1;
            }
            let fits = end > start && end - start <= DIGITS && text.get(end) == Some(&b'|');
            fits.then_some((Some(if negative { int.wrapping_neg() } else { int }), end + 1))
        }
        _ => None,
    }
}

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
fn skip(text: &[u8], at: usize, class: u8) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take_while(|&&b| CLASS[usize::from(b)] & class != 0).count()
}

/// Finds the parts of a simple line, byte by byte.
fn split(text: &[u8]) -> Option<Parts> {
    let thread_end = skip(text, 0, NAME);
    if thread_end == 0 || text[0] == b'#' || text.get(thread_end) != Some(&b'|') {
        return None;
    }
    let (op, start) = operation(text, thread_end + 1)?;
    let end = skip(text, start, NAME);
    if end == start || text.get(end) != Some(&b')') {
        return None;
    }
    let (value, site_start) = tail(text, end + 1, op)?;
    let site_end = skip(text, site_start, SITE);
    let whole = text.get(site_end) == Some(&b'\n');
    whole.then_some(Parts { thread_end, op, object: (start, end), site: (site_start, site_end), value })
}
