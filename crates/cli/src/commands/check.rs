//! `foretrace check`: analyses a trace and reports.

use super::print;
use crate::analyse::analyse;
use crate::args::{Check, Options};
use crate::output::{Target, say};
use crate::specs::wants_color;
use anyhow::Result;
use report::{Report, TextOptions};
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &Check) -> Result<u8> {
    let analysed = analyse(&args.trace, &args.analysis)?;
    show(&args.analysis, &analysed.report, Text::Stdout)?;
    for note in report::notes(&analysed.report) {
        say(&format!("{}: {note}", analysed.name));
    }
    Ok(analysed.conclude(&args.analysis))
}

/// Where the text of a report goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Text {
    Stdout,
    /// Standard output is that of a program.
    Stderr,
    /// No text is wanted.
    None,
}

/// A terminal narrower than this is taken for one as wide: tables would be torn apart.
const NARROWEST: usize = 40;

/// Shows a report as the user wants it.
pub(super) fn show(args: &Options, report: &Report, to: Text) -> Result<()> {
    let color = match to {
        Text::Stdout => wants_color(args.color, &std::io::stdout()),
        Text::Stderr | Text::None => wants_color(args.color, &std::io::stderr()),
    };
    let terminal = match to {
        Text::Stdout => terminal_size::terminal_size_of(std::io::stdout()),
        Text::Stderr | Text::None => terminal_size::terminal_size_of(std::io::stderr()),
    };
    let json_on_stdout = args.json.as_deref() == Some(Path::new("-"));
    if let Some(path) = &args.json {
        let mut target = Target::create(path)?;
        report::render_json(report, &mut target)?;
        target.finish()?;
    }
    if args.quiet || json_on_stdout {
        return Ok(());
    }
    let mut text = Vec::new();
    let width = terminal.map_or(TextOptions::default().width, |(columns, _)| usize::from(columns.0).max(NARROWEST));
    let (warnings, full_stacks) = (args.warnings, args.full_stacks);
    report::render_text(report, &TextOptions { color, width, warnings, full_stacks }, &mut text)?;
    match to {
        Text::Stdout => print(&text).map(drop),
        Text::Stderr => Ok(std::io::stderr().write_all(&text)?),
        Text::None => Ok(()),
    }
}
