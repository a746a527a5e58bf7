//! `foretrace convert`: reads a trace in one format and writes it in another.

use crate::args::Convert;
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::{Target, say};
use crate::progress::Progress;
use anyhow::Result;
use event::Batch;
use std::path::Path;
use trace::{Source, TraceWriter};

pub(crate) fn run(args: &Convert) -> Result<u8> {
    let mut input = input::open(&args.input)?;
    let mut progress = Progress::new("converted", input.size);
    copy(&mut *input.source, &args.output, |source, events| progress.at(source.consumed(), events))
        .map_err(|error| error.context(format!("converting {}", input.name)))
        .inspect(|_| {
            for loss in input.source.losses() {
                say(&format!("{}: the trace is incomplete: {loss}", input.name));
            }
        })
}

/// Writes a source to its end. A source that fails leaves no output.
pub(super) fn copy(source: &mut dyn Source, to: &Path, mut progress: impl FnMut(&dyn Source, u64)) -> Result<u8> {
    let interrupt = Interrupt::listen();
    let mut writer = TraceWriter::create(&to.to_string_lossy(), Target::create(to)?)?;
    let mut batch = Batch::default();
    let mut events = 0;
    while source.next_batch(&mut batch)? {
        writer.write_batch(source.names(), source.meta(), &batch)?;
        events += batch.events.len() as u64;
        progress(source, events);
        if let Some(code) = interrupt.asked() {
            say(&format!("interrupted after {events} events; {} was not written", to.display()));
            return Ok(code);
        }
    }
    if writer.drops_meta() && !source.meta().is_empty() {
        say("text has no place for call stacks, modules and thread names: they were left out");
    }
    writer.finish(source)?.finish()?;
    Ok(0)
}
