//! What the command line asks for, as a plan of the analysis.

use crate::args::Options;
use crate::choice::chosen;
use crate::specs::{self, complain};
use analysis::Plan;
use anyhow::{Context, Result, bail};
use event::{Names, Space};
use property::check::{self, Const, Settings, Spec, TraceNames};
use property::study::useless;
use property::syntax::{Diagnostic, Sources};
use report::Suppressions;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The plan. `names` are those of the whole trace; only `--property` needs them. Remarks on specifications go to
/// standard error.
pub(crate) fn plan(args: &Options, names: Option<&Names>, color: bool) -> Result<Plan> {
    let mut plan = Plan::new()
        .options(options(args))
        .init(init(args, color)?)
        .count(args.count)
        .search_time(args.search_time.map(Duration::from_secs))
        .suppressions(suppressions(&args.suppress)?);
    if !args.detect.is_empty() {
        plan = plan.detectors(chosen(&args.detect)?);
    }
    for path in &args.spec {
        let checked = specs::load(path, color)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        for spec in checked.specs {
            complain_of_useless(&spec, &checked.sources, color);
            plan = plan.spec(spec, checked.sources.clone(), folder);
        }
    }
    for (number, formula) in args.property.iter().enumerate() {
        let names = names.context("the names of the trace are not known")?;
        let list = |space| -> Vec<&str> {
            (0..names.space(space).len()).map(|number| names.get(space, number as u32)).collect()
        };
        let (variables, locks, threads) = (list(Space::Var), list(Space::Lock), list(Space::Thread));
        let known = TraceNames { variables: &variables, locks: &locks, threads: &threads };
        let (sources, checked) = check::check_formula(&format!("property-{}", number + 1), formula, known);
        let spec = accept(checked, &sources, color)?;
        complain_of_useless(&spec, &sources, color);
        plan = plan.spec(spec, sources, Path::new(""));
    }
    Ok(plan)
}

/// The options that count before those of specifications.
fn options(args: &Options) -> Settings {
    Settings {
        steps: args.steps,
        at_end: args.at_end,
        causality: args.causality,
        breadth: args.breadth,
        max_cuts: args.max_cuts,
        window: args.window,
    }
}

/// The initial values of the command line.
fn init(args: &Options, color: bool) -> Result<Vec<(String, Const)>> {
    let Some(text) = &args.init else { return Ok(Vec::new()) };
    let (sources, parsed) = check::parse_init(text);
    accept(parsed, &sources, color)
}

/// The rules of the files that the user names; `None` if there is no such file.
fn suppressions(files: &[PathBuf]) -> Result<Option<Suppressions>> {
    let mut rules = Suppressions::default();
    for path in files {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        rules.read(&text).with_context(|| path.display().to_string())?;
    }
    Ok((!files.is_empty()).then_some(rules))
}

fn complain_of_useless(spec: &Spec, sources: &Sources, color: bool) {
    let useless: Vec<Diagnostic> = spec.properties.iter().filter_map(|p| useless(spec, p, sources)).collect();
    complain(&useless, sources, color);
}

/// What was parsed, or the diagnostics on standard error and a failure.
fn accept<T>(parsed: std::result::Result<T, Vec<Diagnostic>>, sources: &Sources, color: bool) -> Result<T> {
    match parsed {
        Ok(value) => Ok(value),
        Err(diagnostics) => {
            complain(&diagnostics, sources, color);
            bail!("the command line cannot be understood");
        }
    }
}
