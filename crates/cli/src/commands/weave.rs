//! `foretrace weave`: rewrites a jar so that its classes have their hooks before they are loaded.

use crate::args::Weave;
use crate::interrupt::Interrupt;
use crate::output::{Target, say};
use anyhow::{Context, Result};
use jar::Summary;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use weave::ClassFilter;

pub(crate) fn run(args: &Weave) -> Result<u8> {
    let interrupt = Interrupt::listen();
    let name = args.input.display();
    let input = File::open(&args.input).with_context(|| format!("cannot read {name}"))?;
    let mut filter = ClassFilter::default();
    args.packages.include.iter().for_each(|name| filter.include(name));
    args.packages.exclude.iter().for_each(|name| filter.exclude(name));
    let mut target = Target::create(&args.output)?;
    let out = BufWriter::with_capacity(1 << 16, &mut target);
    let summary = match jar::rewrite(BufReader::new(input), out, &filter, &|| interrupt.asked().is_some()) {
        Err(jar::Error::Interrupted) => {
            say(&format!("interrupted; {} was not written", args.output.display()));
            return Ok(interrupt.asked().unwrap_or_default());
        }
        summary => summary.with_context(|| format!("cannot weave {name}"))?,
    };
    target.finish()?;
    print(&summary);
    Ok(0)
}

/// A number of something.
fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// Says what was done.
fn print(summary: &Summary) {
    for note in &summary.notes {
        say(note);
    }
    if summary.more_notes > 0 {
        say(&format!("and {} more", summary.more_notes));
    }
    if summary.unsigned > 0 {
        say("signatures would not hold for what was changed: they were taken out, with the digests in the manifest");
    }
    let mut line = format!("{} woven", count(summary.woven, "class", "classes"));
    if summary.nested > 0 {
        line.push_str(&format!(", some of them in {} inside", count(summary.nested, "jar", "jars")));
    }
    let left = [
        (summary.plain, "have nothing to watch"),
        (summary.unwanted, "are not to be watched"),
        (summary.failed, "could not be woven"),
    ];
    let all: usize = left.iter().map(|(number, _)| number).sum();
    if all > 0 {
        let why: Vec<String> =
            left.iter().filter(|(number, _)| *number > 0).map(|(number, why)| format!("{number} {why}")).collect();
        line.push_str(&format!(", {all} left as they were ({})", why.join(", ")));
    }
    if summary.methods > 0 {
        line.push_str(&format!(
            "; accesses in {} have no hooks: too large",
            count(summary.methods, "method", "methods")
        ));
    }
    say(&line);
}
