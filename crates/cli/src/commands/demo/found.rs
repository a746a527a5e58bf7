//! An example as detectors see it.

use super::examples::Example;
use super::{WIDTH, end, steps};
use analysis::{Analysis, Control, DetectorId, Plan};
use anyhow::Result;
use report::{TextOptions, columns, render_finding};
use trace::Trace;
use trace::text::TextReader;

/// The whole story of an example with detectors.
pub(super) fn story(example: &Example, detectors: &[&str]) -> Result<String> {
    let mut source = TextReader::new(example.trace.as_bytes());
    let plan = Plan::new().detectors(detectors.iter().filter_map(|name| DetectorId::named(name)));
    let outcome = Analysis::new(plan)?.run(&mut source, &Control::none())?;
    let trace = Trace::read(&mut TextReader::new(example.trace.as_bytes()))?;
    let recorded: Vec<u64> = (0..trace.batch.events.len() as u64).collect();
    let mut text = format!("{}\n\n{}\n\n", example.story, example.recorded);
    text += &columns(&steps(&trace, &recorded, None), WIDTH);
    let names = detectors.join(",");
    text += &format!("\nFrom this one run, --detect {names} finds:\n");
    for finding in outcome.report.findings.iter() {
        let mut shown = Vec::new();
        render_finding(finding, &TextOptions { width: WIDTH, ..TextOptions::default() }, &mut shown)?;
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
