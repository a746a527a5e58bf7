//! `--halt-on-error`: whether what a program did so far is reason to stop it.

use super::path_of;
use crate::analyse::analyse_so_far;
use crate::args::{Analysis, Detector};
use crate::output;
use anyhow::{Result, bail};
use event::CausalityChoice;
use observe::{Judge, Kept, SoFar};
use report::{Finding, Kind, Status};
use std::sync::Arc;

/// What can be told while the program runs: what is so in the recorded run, and needs one pass.
pub(crate) const ONLINE: [Detector; 2] = [Detector::Hb, Detector::Misuse];

/// Looks for observed races and misuse, and for violated properties, as far as the command line asks for them.
pub(crate) fn judge(args: &Analysis, lossy: bool) -> Result<Judge> {
    let online = |one: &Detector| ONLINE.contains(one) || *one == Detector::All;
    let asked = args.detect.is_empty() || args.detect.iter().any(online);
    if !asked && args.spec.is_empty() && args.property.is_empty() {
        bail!("--halt-on-error stops at what `hb`, `misuse` and properties find: --detect asks for none of these");
    }
    let args = Analysis { causality: Some(CausalityChoice::OBSERVED), count: false, ..args.clone() };
    Ok(Arc::new(move |so_far| {
        output::be_silent();
        has_error(so_far, &args, lossy)
    }))
}

fn has_error(SoFar { trace, benign }: SoFar, args: &Analysis, lossy: bool) -> bool {
    let kept = Kept::File(trace);
    let Some(path) = path_of(&kept) else { return false };
    // What is wrong with the trace or the specification is told at the end.
    let Ok(mut analysed) = analyse_so_far(&path, args) else { return false };
    analysed.excuse(&benign);
    // The trace has no end yet, so a misuse passes for doubtful; unless records were dropped, it is not.
    let sure = |finding: &Finding| match finding.status() {
        Status::Observed | Status::Confirmed => true,
        Status::Warning => finding.kind == Kind::Misuse && !lossy,
        Status::Predicted => false,
    };
    analysed.report.findings.iter().any(|finding| !finding.suppressed && sure(finding))
}
