//! `foretrace demo`: built-in examples.

use super::print;
use crate::args::Demo;
use anyhow::{Result, anyhow};
use event::{Batch, Op};
use report::{Step, columns};
use trace::Trace;
use trace::text::{TextReader, event_text};

/// One built-in example.
struct Example {
    name: &'static str,
    about: &'static str,
    story: &'static str,
    trace: &'static str,
}

const EXAMPLES: &[Example] = &[Example {
    name: "landing",
    about: "a landing controller whose radio fails just after the landing began",
    story: "\
One thread of a landing controller asks for approval and then starts to land; another watches the radio.
The rule: landing may only begin with an approval that was given while the radio was up, and the radio still is.

In the recorded run all went well. The radio failed only after the landing had begun:
",
    trace: include_str!("../../../../corpus/landing/trace.std"),
}];

pub(crate) fn run(args: &Demo) -> Result<u8> {
    if args.list {
        let lines: String = EXAMPLES.iter().map(|e| format!("{:<10} {}\n", e.name, e.about)).collect();
        return print(lines.as_bytes());
    }
    let Some(example) = EXAMPLES.iter().find(|e| e.name == args.name) else {
        let known: Vec<&str> = EXAMPLES.iter().map(|e| e.name).collect();
        return Err(anyhow!("there is no example `{}`; there is: {}", args.name, known.join(", ")));
    };
    if args.trace {
        return print(example.trace.as_bytes());
    }
    let trace = Trace::read(&mut TextReader::new(example.trace.as_bytes()))?;
    let mut text = String::from(example.story);
    text.push('\n');
    text += &columns(&steps(&trace), 100);
    text += "\nNothing here says that it had to go well: nothing keeps the radio from failing a moment earlier.\n\nTry also:\n";
    let name = example.name;
    for (command, what) in [
        (format!("foretrace demo {name} --trace > {name}.std"), "the trace itself, as text"),
        (format!("foretrace check {name}.std"), "validate it and print its figures"),
        (format!("foretrace convert {name}.std {name}.ftrace"), "the binary format"),
    ] {
        text += &format!("  {command:<48} {what}\n");
    }
    print(text.as_bytes())
}

/// What each thread does, without the main thread's forks and joins, which are the same in every run.
fn steps(trace: &Trace) -> Vec<Step> {
    let batch: &Batch = &trace.batch;
    let shown = batch.events.iter().filter(|e| !matches!(e.op(), Op::Fork | Op::Join));
    shown
        .map(|&event| Step {
            thread: trace.names.thread(event.thread()).to_owned(),
            text: event_text(&trace.names, batch, event),
            ..Step::default()
        })
        .collect()
}
