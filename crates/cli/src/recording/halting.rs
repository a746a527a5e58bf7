//! `--halt-on-error`: whether what a program did so far is reason to stop it.

use super::path_of;
use crate::analyse::{analyse_controlled, analyse_so_far};
use crate::args::Options;
use crate::choice::chosen;
use crate::input;
use crate::output;
use analysis::DetectorId;
use anyhow::{Result, bail};
use event::Batch;
use observe::{HaltWhen, SoFar, StoredTrace};
use report::{Finding, Kind, Side, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Says of a trace so far whether to end the program: whether there are observed races, misuse, threads that wait for
/// each other, or violated properties, as far as the command line asks for them.
pub(crate) fn halt_when(args: &Options, lossy: bool) -> Result<HaltWhen> {
    let asked = args.detect.is_empty() || chosen(&args.detect)?.into_iter().any(DetectorId::judges_so_far);
    if !asked && args.spec.is_empty() && args.property.is_empty() {
        bail!(
            "--halt-on-error stops at what `hb`, `misuse`, `hang` and properties find: --detect asks for none of these"
        );
    }
    let args = args.clone();
    Ok(Arc::new(move |so_far| {
        output::be_silent();
        has_error(so_far, &args, lossy)
    }))
}

/// Says of a trace so far whether threads wait for each other.
pub(crate) fn halt_at_deadlock(args: &Options) -> HaltWhen {
    let args = args.clone();
    Arc::new(move |so_far| {
        output::be_silent();
        let kept = StoredTrace::File(so_far.trace);
        path_of(&kept).is_some_and(|path| struck(&path, &args))
    })
}

/// Whether threads wait for each other at the end of a recorded run: each has asked for its lock, and that is the last
/// that it did.
pub(crate) fn struck(trace: &Path, args: &Options) -> bool {
    let Ok(analysed) = analyse_controlled(trace, args) else { return false };
    let mut deadlocks = analysed.report.findings.iter().filter(|found| found.kind == Kind::Deadlock).peekable();
    if deadlocks.peek().is_none() {
        return false;
    }
    let last = last_events(trace);
    let waits = |side: &Side| side.op.starts_with("req(") && last.contains(&side.event);
    deadlocks.any(|deadlock| deadlock.sides.iter().all(waits))
}

/// The last event of each thread.
fn last_events(trace: &Path) -> BTreeSet<u64> {
    let mut last = BTreeMap::new();
    let mut number = 0;
    if let Ok(mut input) = input::open(trace) {
        let mut batch = Batch::default();
        while let Ok(true) = input.source.next_batch(&mut batch) {
            for event in &batch.events {
                last.insert(event.thread(), number);
                number += 1;
            }
        }
    }
    last.into_values().collect()
}

fn has_error(SoFar { trace, benign }: SoFar, args: &Options, lossy: bool) -> bool {
    let kept = StoredTrace::File(trace);
    let Some(path) = path_of(&kept) else { return false };
    // The last analysis reports what is wrong with the trace or the specification.
    let Ok(mut analysed) = analyse_so_far(&path, args) else { return false };
    analysed.excuse(&benign);
    // The trace has no end yet, so a misuse passes for doubtful; unless records were dropped, it is not. Nor is a
    // deadlock: threads that wait for each other will wait. All other threads that wait may go on.
    let sure = |finding: &Finding| match finding.status() {
        _ if finding.kind == Kind::Hang => false,
        Status::Observed | Status::Confirmed => true,
        Status::Warning => matches!(finding.kind, Kind::Misuse | Kind::Deadlock) && !lossy,
        Status::Predicted => false,
    };
    analysed.report.findings.iter().any(|finding| !finding.suppressed && sure(finding))
}
