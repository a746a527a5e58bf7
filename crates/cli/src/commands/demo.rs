//! `foretrace demo`: built-in examples, each from one good run to the bad ones that it predicts.

mod examples;
mod found;

use super::print;
use crate::args::Demo;
use analysis::{formula, step};
use anyhow::{Context, Result, anyhow, bail};
use event::{Causality, Op, PathStatus};
use examples::{By, EXAMPLES, Example};
use predict::{Counts, Options, Prediction, Predictor};
use property::check::{Checked, Settings, Spec, check_file};
use property::steps::BoundSpec;
use property::syntax::Loader;
use report::{Schedule, Step, columns, side_by_side};
use std::collections::HashMap;
use std::path::Path;
use trace::Trace;
use trace::text::TextReader;

const WIDTH: usize = 100;

/// Violating runs that are shown.
const SHOWN: usize = 8;

pub(crate) fn run(args: &Demo) -> Result<u8> {
    if args.list {
        let lines: String = EXAMPLES.iter().map(|e| format!("{:<13} {}\n", e.name, e.about)).collect();
        return print(lines.as_bytes());
    }
    let Some(example) = EXAMPLES.iter().find(|e| e.name == args.name) else {
        let known: Vec<&str> = EXAMPLES.iter().map(|e| e.name).collect();
        return Err(anyhow!("there is no example `{}`; there is: {}", args.name, known.join(", ")));
    };
    if args.trace {
        return print(example.trace.as_bytes());
    }
    match &example.by {
        By::Property { spec, .. } if args.spec => print(spec.as_bytes()),
        By::Detectors(_) if args.spec => {
            bail!("the example `{}` has no specification: detectors need none", example.name)
        }
        By::Property { name, causality, spec } => print(story(example, name, *causality, spec)?.as_bytes()),
        By::Detectors(list) => print(found::story(example, list)?.as_bytes()),
    }
}

/// The text of a specification that is no file.
struct Built(&'static str);

impl Loader for Built {
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.as_bytes().to_vec())
    }
}

/// The whole story of an example with a property.
fn story(example: &Example, property: &str, causality: Causality, spec: &'static str) -> Result<String> {
    let trace = Trace::read(&mut TextReader::new(example.trace.as_bytes()))?;
    let checked = check_file(&format!("{}.rvs", example.name), &Built(spec));
    let (spec, number) = find(&checked, property)?;
    let settings = Settings { causality: Some(causality.into()), ..Settings::default() };
    let bound = BoundSpec::new(spec, settings, &[], Path::new(""), &trace.names, &trace.batch);
    let (prediction, counts) = predict(&bound, number, &trace)?;
    let mut text = example.story.to_owned();
    if let Some(formula) = formula(&spec.properties[number], &checked.sources) {
        text += &format!("\n\n  {formula}");
    }
    let recorded: Vec<u64> = (0..trace.batch.events.len() as u64).collect();
    text += &format!("\n\n{}\n\n", example.recorded);
    text += &columns(&steps(&trace, &recorded, None), WIDTH);
    text += &format!("\nFrom this one run, {} predicts others. In all there are\n\n", prediction.causality);
    text += &format!("  {} states, {} runs, {} violating\n\n", counts.cuts, counts.runs, counts.bad_runs);
    text += &side_by_side(&schedules(causality, &bound, number, &trace, &prediction)?, WIDTH);
    let name = example.name;
    text += &end(
        example,
        &[
            (format!("foretrace demo {name} --trace > {name}.std"), "the trace, as text"),
            (format!("foretrace demo {name} --spec > {name}.rvs"), "the specification"),
            (format!("foretrace check {name}.std --spec {name}.rvs"), "the same with your own files"),
        ],
    );
    Ok(text)
}

/// What the example shows, and what to try next.
fn end(example: &Example, commands: &[(String, &str)]) -> String {
    let mut text = format!("\n{}\n\nTry also:\n", example.moral);
    let more = [("foretrace demo --list".to_owned(), "more examples")];
    let commands = || commands.iter().chain(&more);
    let widest = commands().map(|(command, _)| command.len()).max().unwrap_or(0);
    for (command, what) in commands() {
        text += &format!("  {command:<widest$}   {what}\n");
    }
    text
}

/// A property by its name.
fn find<'a>(checked: &'a Checked, property: &str) -> Result<(&'a Spec, usize)> {
    let mut specs = checked.specs.iter();
    let found = specs.find_map(|spec| Some((spec, spec.properties.iter().position(|p| p.name == property)?)));
    found.with_context(|| format!("the example has no property `{property}`"))
}

/// What is predicted for the instance that goes wrong.
fn predict(bound: &BoundSpec, number: usize, trace: &Trace) -> Result<(Prediction, Counts)> {
    let observed = bound.judge(number, &trace.names, &trace.batch, false)?;
    let initial = |var| bound.initial(var);
    let options = Options { count: true, list: SHOWN, ..Options::default() };
    let predictor = Predictor::new(bound, &trace.names, &trace.batch, &initial, options);
    let found = predictor.predict_one(number, &observed)?;
    let bad = found.instances.into_iter().find(|prediction| prediction.predicted.is_some());
    let prediction = bad.context("nothing is predicted")?;
    let counts = prediction.counts.clone().context("nothing was counted")?;
    Ok((prediction, counts))
}

/// The recorded run, and the violating ones.
fn schedules(
    causality: Causality,
    bound: &BoundSpec,
    number: usize,
    trace: &Trace,
    prediction: &Prediction,
) -> Result<Vec<Schedule>> {
    let instances = bound.instances(number, usize::MAX)?.instances;
    let instance = instances.into_iter().find(|instance| instance.subjects == prediction.instance);
    let mut instance = instance.context("the instance is gone")?;
    let classes: HashMap<u64, u32> = instance.steps.iter().map(|step| (step.event, step.class)).collect();
    let recorded: Vec<u64> = (0..trace.batch.events.len() as u64).collect();
    let mut schedules = vec![Schedule { title: "recorded".to_owned(), steps: steps(trace, &recorded, None) }];
    for (run, title) in prediction.bad_runs.iter().zip(1..) {
        let schedule = match causality {
            // Only the events of the property are counted; the others have their place between them.
            Causality::FullHb => {
                let ours = |event: u64| classes.contains_key(&event);
                witness::build(Causality::FullHb, &trace.names, &trace.batch, 0, run, &ours)?
            }
            _ => run.clone(),
        };
        let mut state = instance.automaton.start();
        let violates = schedule.iter().copied().find(|event| {
            state = classes.get(event).map_or(state, |&class| instance.automaton.step(state, class));
            instance.automaton.status(state) == PathStatus::Violated
        });
        if violates.is_none() {
            bail!("violating run {title} does not violate the property");
        }
        schedules.push(Schedule { title: format!("violating {title}"), steps: steps(trace, &schedule, violates) });
    }
    Ok(schedules)
}

/// What each thread does, without the main thread's forks and joins, which are the same in every run.
fn steps(trace: &Trace, schedule: &[u64], violates: Option<u64>) -> Vec<Step> {
    let mut steps = Vec::new();
    for (&index, moved) in schedule.iter().zip(witness::moved(schedule)) {
        let event = trace.batch.events[index as usize];
        if !matches!(event.op(), Op::Fork | Op::Join) {
            let mark = if violates == Some(index) { "violation".to_owned() } else { String::new() };
            steps.push(Step { moved, mark, ..step(&trace.names, &trace.batch, event) });
        }
    }
    steps
}
