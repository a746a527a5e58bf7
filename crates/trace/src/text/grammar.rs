//! What lines mean: the grammar of text traces, behind the interface that the line reader drives.

use super::line::{self, Line, check_name};
use super::op::shown;
use super::quick;
use super::table::{Fault, Table};
use super::value;
use crate::Loss;
use crate::limits::keep_loss;
use event::{Batch, Event, Extra, Id, Init, LockId, SiteId, Space, StrId, ThreadId};

/// Where the contents of lines go.
#[derive(Debug)]
pub struct Sink<'a> {
    pub(super) table: &'a mut Table,
    pub(super) batch: &'a mut Batch,
    pub(super) losses: &'a mut Vec<Loss>,
}

/// The meaning of lines, one by one.
pub trait Grammar: Default {
    /// Whether a line means the same whatever lines stand before it, names aside.
    const LINES_STAND_ALONE: bool = false;

    /// Takes the line that the text begins with if it is one of the common, simple ones, and gives its length with the
    /// line feed. The text holds whole lines.
    fn quick(&mut self, _text: &[u8], _table: &mut Table, _batch: &mut Batch) -> Option<usize> {
        None
    }

    /// Takes a line, given without its end. Whether it was an event.
    fn line(&mut self, line: &str, sink: Sink<'_>) -> Result<bool, Fault>;
}

/// The grammar of text traces.
#[derive(Default, Debug)]
pub struct Std {
    short_names: quick::ShortNames,
}

impl Grammar for Std {
    const LINES_STAND_ALONE: bool = true;

    #[inline]
    fn quick(&mut self, text: &[u8], table: &mut Table, batch: &mut Batch) -> Option<usize> {
        quick::event(text, &mut self.short_names, table, batch)
    }

    fn line(&mut self, text: &str, sink: Sink<'_>) -> Result<bool, Fault> {
        // `#!/bin/sh` and the like are comments.
        if let Some(directive) =
            text.strip_prefix("#!").filter(|rest| rest.trim_start().starts_with(char::is_alphabetic))
        {
            return obey(directive, sink).map(|()| false);
        }
        let start = text.trim_start();
        if start.is_empty() || start.starts_with('#') {
            return Ok(false);
        }
        match line::parse(text)? {
            None => Ok(false),
            Some(line) => add(&line, sink).map(|()| true),
        }
    }
}

fn add(line: &Line<'_>, Sink { table, batch, .. }: Sink<'_>) -> Result<(), Fault> {
    let thread = table.name(Space::Thread, line.thread)?;
    let object = match line.op.space() {
        None => 0,
        Some(_) if line.object.is_empty() => 0,
        Some(space) => table.name(space, line.object)?,
    };
    let mut extra = Extra { order: line.order, wake: line.wake, inexact: line.inexact, ..Extra::default() };
    if !line.lock.is_empty() {
        extra.lock = LockId(table.name(Space::Lock, line.lock)?);
    }
    extra.value = table.value(line.value)?;
    let args_start = batch.args.len();
    for literal in line.args {
        batch.args.push(table.value(literal)?);
    }
    if batch.args.len() > args_start {
        let full = || Fault::TooLarge("too many arguments in a stretch of events".into());
        extra.args_start = u32::try_from(args_start).map_err(|_| full())?;
        extra.args_len = u16::try_from(batch.args.len() - args_start).map_err(|_| full())?;
    }
    let site = table.site(line.site)?;
    let extra = batch.add_extra(extra);
    batch.events.push(Event::with_extra(ThreadId(thread), line.op, object, SiteId(site), extra));
    Ok(())
}

/// What a trace says that admits a loss without saying which.
pub(super) const SOMETHING_IS_MISSING: &str = "a part of the run is missing";

/// Obeys what follows `#!`.
fn obey(directive: &str, mut sink: Sink<'_>) -> Result<(), Fault> {
    let trimmed = directive.trim_start();
    let (word, rest) = trimmed.split_once([' ', '\t']).unwrap_or((trimmed, ""));
    match word {
        "init" => init(rest, &mut sink),
        "incomplete" => {
            let mut message = String::new();
            super::escape::read_site(&mut message, if rest.is_empty() { SOMETHING_IS_MISSING } else { rest });
            keep_loss(sink.losses, &message);
            Ok(())
        }
        _ => {
            Err(format!("unknown directive {}; known are `#! init x=0 y=1` and `#! incomplete TEXT`", shown(word))
                .into())
        }
    }
}

fn init(list: &str, sink: &mut Sink<'_>) -> Result<(), Fault> {
    // Two passes, so that a line that is wrong leaves nothing behind.
    let mut found = 0;
    for_each_init(list, |_, _| {
        found += 1;
        Ok(())
    })?;
    if found == 0 {
        return Err(Fault::Malformed("`#! init` without a value; expected `#! init x=0 y=1`".into()));
    }
    let before = sink.batch.events.len() as u32;
    for_each_init(list, |name, literal| {
        let name = StrId::from_index(sink.table.name(Space::Str, name)? as usize);
        let value = sink.table.value(literal)?;
        sink.batch.inits.push(Init { before, name, value });
        Ok(())
    })
}

fn for_each_init<'a>(
    list: &'a str,
    mut act: impl FnMut(&'a str, value::Literal<'a>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut rest = list.trim_start();
    while !rest.is_empty() {
        let (name, after) =
            rest.split_once('=').ok_or_else(|| format!("expected `name=value` in `#! init`, found {}", shown(rest)))?;
        check_name(name, "variable")?;
        let (literal, after) = value::scan(after)?;
        rest = after.trim_start();
        if rest.len() == after.len() && !rest.is_empty() {
            return Err(format!("expected a space after the value of {}, found {}", shown(name), shown(rest)).into());
        }
        act(name, literal)?;
    }
    Ok(())
}
