//! `foretrace confirm`: runs a program again, driven towards what was found.

use crate::args::Confirm;
use crate::confirming::{Trying, confirm};
use crate::output::Target;
use anyhow::{Context, Result, bail};
use report::{Report, TextOptions};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &Confirm) -> Result<u8> {
    let shown = args.findings.display();
    let bytes = std::fs::read(&args.findings).with_context(|| format!("cannot read {shown}"))?;
    let mut report = report::read_json(&bytes).with_context(|| format!("{shown}"))?;
    for id in &args.only {
        if !report.findings.iter().any(|finding| finding.fingerprint == *id) {
            bail!("{shown} has no finding with the id {id}");
        }
    }
    let trying = Trying {
        command: command(args, &report)?,
        tries: args.tries,
        timeout: args.timeout,
        output: args.output,
        quiet: args.quiet,
    };
    let interrupted =
        confirm(&mut report, &trying, |finding| args.only.is_empty() || args.only.contains(&finding.fingerprint))?;
    let path = args.json.as_deref().unwrap_or(&args.findings);
    let mut target = Target::create(path)?;
    report::render_json(&report, &mut target)?;
    target.finish()?;
    if !args.quiet && path != Path::new("-") {
        let mut text = Vec::new();
        report::render_text(&report, &TextOptions::default(), &mut text)?;
        std::io::stdout().write_all(&text)?;
    }
    Ok(interrupted.unwrap_or(report::exit_code(&report, false)))
}

/// The program: of the command line, or the one that was run when the findings were made.
fn command(args: &Confirm, report: &Report) -> Result<Vec<OsString>> {
    if !args.command.is_empty() {
        return Ok(args.command.clone());
    }
    let recorded = report.processes.first().map(|process| process.argv.iter().map(OsString::from).collect());
    let recorded: Vec<OsString> = recorded.unwrap_or_default();
    if recorded.is_empty() {
        bail!("{} does not say which program it is of: give it behind `--`", args.findings.display());
    }
    Ok(recorded)
}
