//! Reads a trace once, with a progress bar, until it ends or the user interrupts.

use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::progress::Progress;
use analysis::End;
use event::Batch;
use std::ops::ControlFlow;
use trace::{ResumePoint, Source};

/// How that went.
pub(crate) struct Walked {
    pub(crate) events: u64,
    /// What stopped it.
    pub(crate) error: Option<trace::Error>,
    /// The exit code for that.
    pub(crate) interrupted: Option<u8>,
    /// Places from which a text can be read on.
    pub(crate) resume_points: Vec<ResumePoint>,
}

/// Events between two such places, about.
const BETWEEN_POINTS: u64 = 1 << 18;

/// Reads a trace to its end, batch by batch.
pub(crate) fn walk(
    input: &mut Input,
    interrupt: &Interrupt,
    mut each: impl FnMut(&dyn Source, &Batch) -> ControlFlow<()>,
) -> Walked {
    let mut batch = Batch::default();
    let mut walked = Walked { events: 0, error: None, interrupted: None, resume_points: Vec::new() };
    let mut progress = Progress::new("checked", input.size);
    loop {
        walked.interrupted = interrupt.asked();
        if walked.interrupted.is_some() {
            break;
        }
        match input.source.next_batch(&mut batch) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                walked.error = Some(error);
                break;
            }
        }
        walked.events += batch.events.len() as u64;
        if each(&*input.source, &batch).is_break() {
            break;
        }
        progress.at(input.source.consumed(), walked.events);
        if walked.events >= walked.resume_points.last().map_or(0, |point| point.event) + BETWEEN_POINTS {
            walked.resume_points.extend(input.source.resume_point());
        }
    }
    walked
}

impl Walked {
    /// Says what is missing; fails if that is everything.
    pub(crate) fn complain(&self, input: &Input) -> anyhow::Result<()> {
        let end = End { error: self.error.as_ref(), interrupted: self.interrupted.is_some() };
        let losses = analysis::losses(&*input.source, end, self.events);
        if let Some(loss) = losses.first().filter(|_| self.events == 0) {
            anyhow::bail!("{}: {loss}", input.name);
        }
        for loss in losses {
            say(&format!("{}: the trace is incomplete: {loss}", input.name));
        }
        Ok(())
    }
}
