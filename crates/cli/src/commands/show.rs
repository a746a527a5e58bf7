//! `foretrace show`: prints a trace as text, and says on standard error what is wrong with it.

use crate::args::Show;
use crate::output::{Target, say};
use crate::{FAILED, input};
use anyhow::Result;
use event::{Batch, Item};
use std::path::Path;
use trace::text::TextWriter;
use trace::validate::Validator;

/// Problems shown before they are only counted.
const SHOWN: u64 = 20;

pub(crate) fn run(args: &Show) -> Result<u8> {
    let mut input = input::open(&args.trace)?;
    // Without the events before it, a part of a trace seems to have problems that it does not have.
    let mut validator = (args.from == 0).then(Validator::new);
    input.source.skip_to(args.from)?;
    let mut writer = TextWriter::new(Target::create(Path::new("-"))?);
    let end = args.count.map_or(u64::MAX, |count| args.from.saturating_add(count));
    let whole = args.from == 0 && end == u64::MAX;
    let (mut batch, mut part) = (Batch::default(), Batch::default());
    let mut error = None;
    let mut events = 0;
    let mut problems = 0;
    loop {
        match input.source.next_batch(&mut batch) {
            Ok(true) if batch.first < end => {}
            Ok(_) => break,
            Err(e) => {
                error = Some(e);
                break;
            }
        }
        events += batch.events.len() as u64;
        let found = validator.as_mut().map(|validator| validator.check(input.source.names(), &batch));
        for problem in found.unwrap_or_default() {
            if problem.event >= end {
                break;
            }
            let place = input.source.place((problem.event - batch.first) as usize);
            let place = place.map(|place| format!("{place}: ")).unwrap_or_default();
            problems += 1;
            if problems <= SHOWN {
                complain(&input.name, &format!("{place}event {}: {}", problem.event, problem.message));
            }
        }
        if whole {
            writer.write_batch(input.source.names(), &batch)?;
        } else {
            cut(&batch, args.from, end, &mut part);
            writer.write_batch(input.source.names(), &part)?;
        }
    }
    let whole = whole || error.is_some();
    writer.finish(if whole { input.source.losses() } else { &[] })?.finish()?;
    if problems > SHOWN {
        complain(&input.name, &format!("… and {} more problems", problems - SHOWN));
    }
    for loss in input.source.losses() {
        complain(&input.name, &format!("the trace is incomplete: {loss}"));
    }
    if let Some(error) = error {
        if events == 0 {
            anyhow::bail!("{}: {error}", input.name);
        }
        complain(&input.name, &format!("{error}; nothing after it was read"));
        return Ok(FAILED);
    }
    Ok(0)
}

fn complain(name: &str, what: &str) {
    say(&format!("{name}: {what}"));
}

/// The part of a batch from one event to before another, with all initial values before its end: they stay true.
fn cut(batch: &Batch, from: u64, end: u64, part: &mut Batch) {
    part.clear(batch.first.max(from));
    for item in batch.items() {
        match item {
            Item::Init(init) if batch.first + u64::from(init.before) < end => part.push_init(init.name, init.value),
            Item::Event(index, event) if (from..end).contains(&(batch.first + index as u64)) => {
                part.push_from(batch, event);
            }
            _ => {}
        }
    }
}
