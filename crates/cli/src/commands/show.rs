//! `foretrace show`: prints a trace as text, and says on standard error what is wrong with it.

use crate::args::Show;
use crate::output::{Target, harmless};
use crate::{FAILED, input};
use anyhow::Result;
use event::Batch;
use std::path::Path;
use trace::text::TextWriter;
use trace::validate::Validator;

/// Problems shown before they are only counted.
const SHOWN: u64 = 20;

pub(crate) fn run(args: &Show) -> Result<u8> {
    let mut input = input::open(&args.trace)?;
    let mut writer = TextWriter::new(Target::create(Path::new("-"))?);
    let mut validator = Validator::new();
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
        for problem in validator.check(input.source.names(), &batch) {
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
    if validator.count() > SHOWN {
        complain(&input.name, &format!("… and more: {} problems in all", validator.count()));
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
    eprintln!("foretrace: {}", harmless(&format!("{name}: {what}")));
}

/// The part of a batch from one event to before another.
fn cut(batch: &Batch, from: u64, end: u64, part: &mut Batch) {
    let within = |index: u64| index.saturating_sub(batch.first).min(batch.events.len() as u64) as usize;
    let (from, end) = (within(from), within(end));
    part.clear(batch.first + from as u64);
    for &event in &batch.events[from..end] {
        part.push_from(batch, event);
    }
    // Initial values stay true for everything behind them.
    part.inits.extend(
        batch
            .inits
            .iter()
            .filter(|init| (init.before as usize) < end || end == batch.events.len())
            .map(|init| event::Init { before: (init.before as usize).saturating_sub(from) as u32, ..*init }),
    );
}
