//! What the filter of the recorder costs: the findings of each C program with it, and with every access recorded.
//!
//! ```text
//! FORETRACE_COMPARE=3 cargo nextest run -p foretrace --test corpus --no-capture c::compare
//! ```
//!
//! runs each program three times both ways. Schedules differ from run to run, so only a finding (observed or predicted,
//! by its fingerprint) that is there in every run of the one way and in no run of the other is a difference. One that
//! only `--record all` has is lost: that is an error, unless `[[lost]]` of the program's `expected.toml` gives a
//! reason.

use crate::c::{build, finding, run};
use crate::common::Folder;
use crate::program::{Finding, Program, programs};
use serde_json::Value;
use std::collections::BTreeMap;

/// Findings by their fingerprints, and in how many runs they were.
type Found = BTreeMap<String, (usize, Finding)>;

/// What became of one program.
#[derive(Default)]
struct Difference {
    both: usize,
    lost: Vec<Finding>,
    gained: Vec<Finding>,
}

/// Compares all programs, prints what differs, and fails if something is lost without a reason.
pub(crate) fn compare(compiler: (&str, &str)) -> Result<(), String> {
    let runs = std::env::var("FORETRACE_COMPARE").ok().and_then(|runs| runs.parse().ok()).unwrap_or(3);
    let (mut both, mut lost, mut gained, mut unlisted) = (0, 0, 0, Vec::new());
    let all = programs("c");
    for program in &all {
        let name = program.test_name();
        let difference =
            difference(program, &build(program, compiler)?, runs).map_err(|why| format!("{name}: {why}"))?;
        both += difference.both;
        lost += difference.lost.len();
        gained += difference.gained.len();
        for one in &difference.gained {
            println!("{name}: only with the filter: {one:?}");
        }
        for one in difference.lost {
            let reason = program.expected.lost.iter().find(|lost| lost.finding.describes(&one));
            let why = reason.map_or("no reason is listed", |lost| lost.reason.as_str());
            println!("{name}: only without the filter: {one:?}: {why}");
            if reason.is_none() {
                unlisted.push(name.clone());
            }
        }
    }
    println!(
        "{} programs, {runs} runs each way: {both} findings both ways, {lost} only without the filter, {gained} only \
         with it",
        all.len()
    );
    if unlisted.is_empty() { Ok(()) } else { Err(format!("the filter loses findings of {}", unlisted.join(", "))) }
}

fn difference(program: &Program, work: &Folder, runs: usize) -> Result<Difference, String> {
    let (filtered, whole) = (found(program, work, runs, None)?, found(program, work, runs, Some("all"))?);
    let only = |in_all: &Found, in_none: &Found| -> Vec<Finding> {
        let always = in_all.iter().filter(|(print, (count, _))| *count == runs && !in_none.contains_key(*print));
        always.map(|(_, (_, finding))| finding.clone()).collect()
    };
    let both = filtered.keys().filter(|print| whole.contains_key(*print)).count();
    Ok(Difference { both, lost: only(&whole, &filtered), gained: only(&filtered, &whole) })
}

/// The findings of some runs, those behind others included, and in how many runs each was.
fn found(program: &Program, work: &Folder, runs: usize, record: Option<&str>) -> Result<Found, String> {
    let mut found = Found::new();
    for _ in 0..runs {
        let (_, result) = run(program, work, record)?;
        if result["trace"]["complete"] != true {
            return Err("the trace is incomplete".to_owned());
        }
        let findings = result["findings"].as_array().into_iter().flatten();
        let behind = |one: &Value| one["behind"].as_array().cloned().unwrap_or_default();
        let all: Vec<Value> = findings.flat_map(|one| [vec![one.clone()], behind(one)].concat()).collect();
        let sure = all.iter().filter(|one| one["status"] != "warning");
        let prints: BTreeMap<String, Finding> =
            sure.map(|one| (one["fingerprint"].as_str().unwrap_or_default().to_owned(), finding(one))).collect();
        for (print, finding) in prints {
            found.entry(print).or_insert((0, finding)).0 += 1;
        }
    }
    Ok(found)
}
