//! Imports the events that RoadRunner prints, one a line: `@   Acquire(2,@03)`.

use super::grammar::{Grammar, Sink};
use super::op::shown;
use super::table::Fault;
use event::{Event, Op, SiteId, Space, ThreadId};

/// The grammar of RoadRunner's event lines.
///
/// Thread 2 is called `T2`, in `Start` and `Join` too; locks, variables and methods keep the names that RoadRunner
/// prints; the site is the last word of the line, if anything follows the parentheses. Array accesses (`ARd`, `AWr`)
/// are reads and writes, `Enter` and `Exit` open and close an atomic block named by the method. Lines that are not one
/// of these events are skipped: RoadRunner's output holds much else.
#[derive(Default, Debug)]
pub struct RoadRunner {
    thread: String,
}

fn find(word: &str) -> Option<Op> {
    Some(match word {
        "Acquire" => Op::Acquire,
        "Release" => Op::Release,
        "Rd" | "ARd" => Op::Read,
        "Wr" | "AWr" => Op::Write,
        "Start" => Op::Fork,
        "Join" => Op::Join,
        "Enter" => Op::Begin,
        "Exit" => Op::End,
        _ => return None,
    })
}

/// The operation of an event line and what follows its `(`.
fn split(line: &str) -> Option<(Op, &str)> {
    let rest = line.strip_prefix('@')?;
    let event = rest.trim_start_matches([' ', '\t']);
    if event.len() == rest.len() {
        return None;
    }
    let (word, rest) = event.split_once('(')?;
    Some((find(word)?, rest))
}

/// Whether a text, of which this is the beginning, is RoadRunner's output.
pub fn looks_like_roadrunner(head: &[u8]) -> bool {
    head.split(|&b| b == b'\n').any(|line| {
        str::from_utf8(line).ok().and_then(split).is_some_and(|(_, rest)| {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            digits > 0 && rest.as_bytes().get(digits) == Some(&b',')
        })
    })
}

/// The index of the `)` that closes what the text begins within. Methods have parentheses of their own.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(i),
            b')' => depth -= 1,
            _ => {}
        }
    }
    None
}

impl RoadRunner {
    /// The number of the thread that RoadRunner gives by its number.
    fn thread(&mut self, tid: &str, sink: &mut Sink<'_>) -> Result<u32, Fault> {
        self.thread.clear();
        self.thread.push('T');
        self.thread.push_str(tid);
        sink.table.exact(Space::Thread, &self.thread)
    }
}

fn check_tid(tid: &str) -> Result<&str, String> {
    let tid = tid.trim();
    if tid.is_empty() || !tid.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("expected the number of a thread, as in `Acquire(2,@03)`, found {}", shown(tid)));
    }
    Ok(tid)
}

impl Grammar for RoadRunner {
    fn line(&mut self, line: &str, mut sink: Sink<'_>) -> Result<bool, Fault> {
        let Some((op, rest)) = split(line) else {
            return Ok(false);
        };
        let end = closing(rest).ok_or_else(|| format!("a `(` without its `)` in {}", shown(line)))?;
        let inside = &rest[..end];
        let (tid, object) = inside.split_once(',').ok_or_else(|| {
            format!("expected a thread and an object, as in `Acquire(2,@03)`, found {}", shown(inside))
        })?;
        let tid = check_tid(tid)?;
        let object = object.trim();
        if object.is_empty() {
            return Err(format!("the object's name is empty in {}", shown(line)).into());
        }
        let space = op.space().unwrap_or(Space::Str);
        if space == Space::Thread {
            check_tid(object)?;
        }
        let site = rest[end + 1..].split_whitespace().next_back().unwrap_or("");
        let thread = self.thread(tid, &mut sink)?;
        let object =
            if space == Space::Thread { self.thread(object, &mut sink)? } else { sink.table.exact(space, object)? };
        let site = sink.table.exact(Space::Site, site)?;
        sink.batch.events.push(Event::new(ThreadId(thread), op, object, SiteId(site)));
        Ok(true)
    }
}
