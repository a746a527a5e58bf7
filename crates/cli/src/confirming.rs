//! Drives the program towards findings, and notes which of them come about. What `confirm` and `run --confirm` share.

use crate::analyse::analyse_controlled;
use crate::args::{Options, Packages, Recorder};
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::recording::{Stdout, Way, halt_at_deadlock, path_of, record, struck};
use anyhow::{Context, Result};
use clap::Parser;
use control::{Gates, Happened, Hold, Stand, Undrivable};
use launch::Recordable;
use observe::{Output, Recorded};
use report::{Confirm, Finding, Kind, Report, Status, split_site};
use source::Binder;
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// How findings are tried.
pub(crate) struct Trying {
    /// The program and its arguments.
    pub(crate) command: Vec<OsString>,
    /// Runs for each finding at most.
    pub(crate) tries: u32,
    /// Seconds of a run at most.
    pub(crate) timeout: u64,
    /// Whether the output of the program is shown.
    pub(crate) output: bool,
    /// Whether nothing is said of what is tried.
    pub(crate) quiet: bool,
}

/// Tries the findings that `is_wanted` and that have not happened yet, and notes the outcomes. A signal ends that; then
/// the result is the exit code.
pub(crate) fn confirm(
    report: &mut Report,
    trying: &Trying,
    is_wanted: impl Fn(&Finding) -> bool,
) -> Result<Option<u8>> {
    if report.processes.first().is_some_and(|process| process.agent == "java") {
        say("not tried: Java programs cannot be driven towards findings yet");
        return Ok(None);
    }
    let interrupt = Interrupt::listen();
    let program = trying.command.first().context("no program is named")?;
    let file = launch::find(program).with_context(|| format!("there is no program {}", program.display()))?;
    let mut binder = Binder::open(&file)?;
    let failed_before =
        report.processes.first().is_some_and(|process| process.signal.is_some() || process.exit != Some(0));
    let mut outcome = Ok(());
    report.findings.update(|finding| {
        let is_open = matches!(finding.status(), Status::Predicted | Status::Warning);
        let is_over = outcome.is_err() || interrupt.asked().is_some();
        if is_over || finding.suppressed || !is_open || !is_wanted(finding) {
            return;
        }
        match Gates::of(finding, &mut binder) {
            Ok(gates) => {
                let ways = ways(finding, gates, &mut binder);
                outcome = try_one(finding, &ways, trying, failed_before, &interrupt);
            }
            Err(why) => not_tried(finding, &why, trying),
        }
    });
    outcome.map(|()| interrupt.asked())
}

fn not_tried(finding: &Finding, why: &Undrivable, trying: &Trying) {
    if !trying.quiet {
        say(&format!("not tried: {}: {why}", name(finding)));
    }
}

/// Ways to bring a finding about, the first to be tried first. Threads that are held while they hold locks may keep the
/// others from coming.
fn ways(finding: &Finding, gates: Gates, binder: &mut Binder) -> Vec<Gates> {
    let later: Vec<Gates> = match finding.kind {
        Kind::Race => (0..finding.sides.len()).filter_map(|side| gates.locks_later(finding, side, binder)).collect(),
        _ => Vec::new(),
    };
    [vec![gates], later].concat()
}

/// Runs the program until a finding comes about, or often enough.
fn try_one(
    finding: &mut Finding,
    ways: &[Gates],
    trying: &Trying,
    failed_before: bool,
    interrupt: &Interrupt,
) -> Result<()> {
    let mut has_come = vec![false; ways[0].meeting()];
    for number in 0..trying.tries {
        let gates = &ways[number as usize % ways.len()];
        let run = Controlled::run(finding.kind, gates, hold(number), trying)?;
        for (has_come, &arrivals) in has_come.iter_mut().zip(&run.happened.arrivals) {
            *has_come |= arrivals > 0;
        }
        if let Some(shown) = run.shows(finding) {
            // What the user ended has not failed.
            let failed = !failed_before && interrupt.asked().is_none() && run.failed();
            finding.tried(if failed { Confirm::ConfirmedFailing } else { Confirm::Confirmed });
            let how = stood(finding, shown);
            finding.exhibit.entries.push(("stood".to_owned(), how.clone()));
            if !trying.quiet {
                let outcome = finding.evidence.confirm().map_or("", Confirm::text);
                say(&format!("{outcome}: {} (try {} of {}): {how}", name(finding), number + 1, trying.tries));
            }
            return Ok(());
        }
        if interrupt.asked().is_some() {
            // Of a finding that was not tried often enough, nothing is said.
            return Ok(());
        }
    }
    let diverged = has_come.iter().any(|has_come| !has_come);
    finding.tried(if diverged { Confirm::Diverged } else { Confirm::NotReproduced });
    if !trying.quiet {
        let outcome = finding.evidence.confirm().map_or("", Confirm::text);
        say(&format!("{outcome}: {} ({} tries)", name(finding), trying.tries));
    }
    Ok(())
}

/// How long threads are held in a try: first not long, for most meet at once; then longer, because one may have much to
/// do before it comes.
fn hold(number: u32) -> Hold {
    let patience = [60, 250, 1000][number.min(2) as usize];
    Hold { patience, attempts: 2000 / patience, last_waits: number % 2 == 1 }
}

/// A run of the program with gates, and what it did.
struct Controlled {
    recorded: Recorded,
    happened: Happened,
    /// The fingerprints of races that were observed in it.
    races: Vec<String>,
    /// Whether threads waited for each other at its end.
    has_struck: bool,
}

impl Controlled {
    fn run(kind: Kind, gates: &Gates, hold: Hold, trying: &Trying) -> Result<Controlled> {
        let detectors = if kind == Kind::Race { "hb" } else { "deadlock" };
        let options = options(detectors);
        let recorder = Recorder {
            record: None,
            lossy: false,
            timeout: Some(trying.timeout),
            exit_wait: 1.0,
            packages: Packages { include: Vec::new(), exclude: Vec::new() },
            output: None,
            command: trying.command.clone(),
        };
        let way = Way {
            output: Output::Temporary,
            stdout: if trying.output { Stdout::Stderr } else { Stdout::Nowhere },
            halt: (kind != Kind::Race).then(|| halt_at_deadlock(&options)),
            gates: gates.bytes(hold),
        };
        let recorded = record(&recorder, Recordable::default(), way)?;
        let happened = Happened::read(&recorded.gates, gates.meeting());
        let mut races = Vec::new();
        let mut has_struck = false;
        for process in recorded.processes.iter().filter(|process| process.events > 0) {
            let Some(path) = path_of(&process.trace) else { continue };
            if kind != Kind::Race {
                has_struck |= struck(&path, &options);
            } else if let Ok(analysed) = analyse_controlled(&path, &options) {
                let observed = analysed.report.findings.iter().filter(|found| found.status() == Status::Observed);
                races.extend(observed.map(|found| found.fingerprint.clone()));
            }
        }
        Ok(Controlled { recorded, happened, races, has_struck })
    }

    /// If the run shows the finding: the threads at its events.
    fn shows(&self, finding: &Finding) -> Option<&[Stand]> {
        let met = self.happened.met.as_deref();
        match finding.kind {
            // Both stood before conflicting accesses of the same bytes at the same time; or one came so soon after the
            // other that happens-before does not order them.
            Kind::Race => met.or_else(|| self.races.contains(&finding.fingerprint).then_some(&[])),
            // They waited for each other, and nothing ended that.
            _ => met.filter(|_| self.has_struck),
        }
    }

    /// Whether the program failed by itself.
    fn failed(&self) -> bool {
        let exit: ExitStatus = self.recorded.exit;
        self.recorded.halted.is_none() && (exit.signal().is_some() || exit.code() != Some(0))
    }
}

/// The options of an analysis with these detectors.
fn options(detectors: &str) -> Options {
    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        options: Options,
    }
    Only::parse_from(["foretrace", "--detect", detectors]).options
}

/// Which threads stood where, in words.
fn stood(finding: &Finding, stands: &[Stand]) -> String {
    if stands.is_empty() {
        return "the two accesses came one after the other, and nothing ordered them".to_owned();
    }
    let sides = finding.sides.iter().zip(stands);
    let each = sides.map(|(side, stand)| {
        let place = split_site(&side.site);
        let function = place.0.map(|function| format!("{function} ")).unwrap_or_default();
        format!("thread {} before {} at {function}{}", stand.thread, side.op, place.1)
    });
    let each: Vec<String> = each.collect();
    let value = match stands {
        [first, ..] if finding.kind == Kind::Race => {
            let bytes = first.size.clamp(1, 8) as usize;
            let hex: Vec<String> =
                first.value.to_ne_bytes()[..bytes].iter().map(|byte| format!("{byte:02x}")).collect();
            format!("; the bytes at {:#x} were {}", first.object, hex.join(" "))
        }
        _ => String::new(),
    };
    format!("{} at the same time{value}", each.join(", "))
}

/// A finding in a few words.
fn name(finding: &Finding) -> String {
    format!("{} on {} ({})", finding.kind.text(), finding.objects.join(", "), finding.fingerprint)
}
