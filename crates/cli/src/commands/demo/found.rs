//! An example as detectors see it.

use super::examples::Example;
use super::{WIDTH, end, steps};
use crate::args::Detector;
use crate::detectors::{Detectors, Plan, name};
use crate::interrupt::Interrupt;
use crate::kept::{Ending, Kept};
use crate::properties::Properties;
use anyhow::Result;
use report::{TextOptions, columns, render_finding};
use std::path::Path;
use trace::Trace;
use trace::text::TextReader;

/// The whole story of an example with detectors.
pub(super) fn tell(example: &Example, list: &[Detector]) -> Result<String> {
    let trace = Trace::read(&mut TextReader::new(example.trace.as_bytes()))?;
    let mut detectors = Detectors::new(Plan::of(list));
    detectors.batch(&trace.names, &trace.batch);
    let mut kept = Kept::new(true);
    kept.add(&trace.batch);
    let interrupt = Interrupt::listen();
    let ending = Ending {
        at_end: true,
        whole: true,
        doubt: None,
        problems: 0,
        unread: None,
        kept: &kept,
        interrupt: &interrupt,
    };
    let known = (&trace.names, &trace.meta);
    let found = detectors.finish(&Properties::default(), known, Path::new(""), &ending);
    let recorded: Vec<u64> = (0..trace.batch.events.len() as u64).collect();
    let mut text = format!("{}\n\n{}\n\n", example.story, example.recorded);
    text += &columns(&steps(&trace, &recorded, None), WIDTH);
    let names: Vec<String> = list.iter().map(|&detector| name(detector)).collect();
    let names = names.join(",");
    text += &format!("\nFrom this one run, --detect {names} finds:\n");
    for finding in &found.findings {
        let mut shown = Vec::new();
        render_finding(finding, &TextOptions { color: false, width: WIDTH }, &mut shown)?;
        text += &format!("\n{}", String::from_utf8_lossy(&shown));
    }
    let file = format!("{}.std", example.name);
    let commands = [
        (format!("foretrace demo {} --trace > {file}", example.name), "the trace, as text"),
        (format!("foretrace check {file} --detect {names}"), "the same with your own file"),
        (format!("foretrace check {file}"), "with all detectors"),
    ];
    Ok(text + &end(example, &commands))
}
