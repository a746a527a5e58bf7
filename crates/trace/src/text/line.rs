//! One line of a text trace, understood but not yet interned: a line that is wrong leaves no names behind.

use super::op::{self, shown};
use super::value::{self, Literal};
use crate::limits::MAX_ARGS;
use event::{Op, Order, Value, Wake};

/// An event as its line says it. Names and sites are as written, with their escapes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Line<'a> {
    pub(super) thread: &'a str,
    pub(super) op: Op,
    /// The object's name; empty if there is none.
    pub(super) object: &'a str,
    /// The lock of a `wait` or `woken`.
    pub(super) lock: &'a str,
    /// The value; of a `pin` or `rpin`, its position.
    pub(super) value: Literal<'a>,
    pub(super) order: Order,
    pub(super) wake: Wake,
    pub(super) inexact: bool,
    /// The arguments of an internal event, known to be values separated by commas.
    pub(super) args: Args<'a>,
    pub(super) site: &'a str,
}

/// Parses `THREAD|OP|SITE`. `None`: an event that is to be skipped.
pub(super) fn parse(line: &str) -> Result<Option<Line<'_>>, String> {
    let Some((thread, rest)) = line.split_once('|') else {
        return Err(format!("expected THREAD|OP|SITE, found no `|` in {}", shown(line)));
    };
    check_name(thread, "thread")?;
    let (what, site) = rest.split_once('|').unwrap_or((rest, ""));
    // No operation ends in `~` otherwise: names end before a `)`, strings before a `"`.
    let (what, inexact) = what.strip_suffix('~').map_or((what, false), |what| (what, true));
    let word_end = what.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(what.len());
    let (word, rest) = what.split_at(word_end);
    if word == "dummy" {
        return Ok(None);
    }
    if word.is_empty() {
        return Err(format!("expected an operation such as `r(x)` after the thread, found {}", shown(what)));
    }
    let op = Op::from_text(word.as_bytes()).ok_or_else(|| op::unknown(word))?;
    let mut line = Line {
        thread,
        op,
        object: "",
        lock: "",
        value: Literal::Value(Value::Unknown),
        order: Order::default(),
        wake: Wake::default(),
        inexact,
        args: Args { text: "" },
        site,
    };
    let bare = op.space().is_none() || op.has_optional_name() && !rest.starts_with('(');
    let rest = if bare { rest } else { parse_object(&mut line, rest)? };
    parse_tail(&mut line, rest)?;
    if let Some((before, _)) = site.split_once('|') {
        return Err(format!("a third `|` after the site {}; within a site it is written `\\x7c`", shown(before)));
    }
    Ok(Some(line))
}

/// Says what is wrong with a name.
pub(super) fn check_name(name: &str, kind: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err(format!("the {kind}'s name is empty"));
    }
    if name.contains(char::is_whitespace) {
        return Err(format!("white space in the {kind}'s name {}; a space is written `\\x20`", shown(name)));
    }
    Ok(())
}

fn kind(op: Op) -> &'static str {
    use event::Space;
    match op.space() {
        Some(Space::Thread) => "thread",
        Some(Space::Var) => "variable",
        Some(Space::Lock) => "lock",
        Some(Space::Cond) => "condition",
        Some(Space::Latch) => "latch",
        Some(Space::Sem) => "semaphore",
        Some(Space::Block) => "block",
        Some(Space::Label) => "event",
        Some(Space::Site | Space::Str) | None => "object",
    }
}

/// Parses `(…)` and gives what follows.
fn parse_object<'a>(line: &mut Line<'a>, rest: &'a str) -> Result<&'a str, String> {
    let op = line.op;
    let Some(inner) = rest.strip_prefix('(') else {
        return Err(format!("expected `(` after `{0}`, as in `{0}(x)`, found {1}", op.text(), shown(rest)));
    };
    if op.has_arguments() {
        return parse_internal(line, inner);
    }
    let Some((inside, rest)) = inner.split_once(')') else {
        return Err(format!("`{}(` without its `)`", op.text()));
    };
    line.object = inside;
    match op {
        _ if op.has_lock_argument() => {
            let (condition, lock) = inside.split_once(',').unwrap_or((inside, inside));
            if lock.contains(',') {
                return Err(format!(
                    "more than one `,` in `{}({})`; within a name it is written `\\x2c`",
                    op.text(),
                    shown(inside).trim_matches('`')
                ));
            }
            (line.object, line.lock) = (condition, lock);
            check_name(condition, "condition")?;
            check_name(lock, "lock")?;
        }
        _ if op.has_number() => {
            let split = inside
                .rsplit_once(',')
                .ok_or_else(|| format!("`{0}` takes a variable and a position: `{0}(x,n)`", op.text()))?;
            check_name(split.0, "variable")?;
            let position = split.1.bytes().all(|b| b.is_ascii_digit()).then(|| split.1.parse().ok()).flatten();
            let position = position.ok_or_else(|| {
                format!("the position of a `{}` is a number from 0 on, found {}", op.text(), shown(split.1))
            })?;
            line.object = split.0;
            line.value = Literal::Value(Value::Int(position));
        }
        _ if op.has_optional_name() && inside.is_empty() => {}
        _ => check_name(inside, kind(op))?,
    }
    Ok(rest)
}

/// Parses `name)` or `name,1,"a")`.
fn parse_internal<'a>(line: &mut Line<'a>, inner: &'a str) -> Result<&'a str, String> {
    const OPEN: &str = "`ev(` without its `)`";
    let name_end = inner.find([',', ')']).ok_or(OPEN)?;
    line.object = &inner[..name_end];
    check_name(line.object, "event")?;
    let mut rest = &inner[name_end..];
    let mut count = 0;
    let text = rest;
    while let Some(more) = rest.strip_prefix(',') {
        (_, rest) = value::scan(more)?;
        count += 1;
        if count > MAX_ARGS {
            return Err(format!("more than {MAX_ARGS} arguments"));
        }
    }
    line.args.text = &text[..text.len() - rest.len()];
    rest.strip_prefix(')').ok_or_else(|| {
        if rest.is_empty() {
            OPEN.into()
        } else {
            format!("expected `,` or `)` after an argument, found {}", shown(rest))
        }
    })
}

/// Parses what may follow the object: a value or the reason of a wake-up, and a memory order.
fn parse_tail<'a>(line: &mut Line<'a>, rest: &'a str) -> Result<(), String> {
    let op = line.op;
    let mut rest = rest;
    if let Some(after) = rest.strip_prefix('=') {
        if op.has_wake_reason() {
            line.wake = match after {
                "timeout" => Wake::Timeout,
                "spurious" => Wake::Spurious,
                _ => return Err(format!("a wake-up is `=timeout` or `=spurious`, found {}", shown(after))),
            };
            return Ok(());
        }
        if !op.has_value() {
            return Err(format!("`{}` takes no value; found {}", op.text(), shown(rest)));
        }
        (line.value, rest) = value::scan(after)?;
    }
    if let Some(word) = rest.strip_prefix('@') {
        if !op.has_order() {
            return Err(format!(
                "`{}` takes no memory order; only `ald`, `ast`, `armw` and `fence` do; found {}",
                op.text(),
                shown(rest)
            ));
        }
        line.order = op::find_order(word).ok_or_else(|| {
            format!(
                "unknown memory order {}; known are `relaxed`, `acquire`, `release`, `acqrel` and `seqcst`",
                shown(word)
            )
        })?;
        return Ok(());
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err(format!("expected `|` after `{}`, found {}", op.text(), shown(rest)))
}

/// Values separated by commas.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Args<'a> {
    /// A comma before each value.
    text: &'a str,
}

impl<'a> Iterator for Args<'a> {
    type Item = Literal<'a>;

    fn next(&mut self) -> Option<Literal<'a>> {
        let (literal, rest) = value::scan(self.text.strip_prefix(',')?).ok()?;
        self.text = rest;
        Some(literal)
    }
}
