//! Reads specifications, and shows what is wrong with them.

use crate::args::Color;
use crate::output;
use anyhow::{Context, Result, bail};
use property::check::{Checked, check_file};
use property::syntax::{Diagnostic, Disk, Severity, Sources, render};
use std::io::IsTerminal;
use std::path::Path;

/// Reads and checks a specification and what it imports. Mistakes and warnings go to standard error; with mistakes it
/// fails.
pub(crate) fn load(path: &Path, color: bool) -> Result<Checked> {
    let name = path.to_str().with_context(|| format!("{}: not a name in UTF-8", path.display()))?;
    let checked = check_file(name, &Disk);
    complain(&checked.diagnostics, &checked.sources, color);
    let errors = checked.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    match errors {
        0 => Ok(checked),
        1 => bail!("{name}: 1 error"),
        _ => bail!("{name}: {errors} errors"),
    }
}

/// Shows diagnostics on standard error. A failure to write them must not stop the work.
pub(crate) fn complain(diagnostics: &[Diagnostic], sources: &Sources, color: bool) {
    let text = render(diagnostics, sources, color);
    let safe = |line: &str| if color { line.to_owned() } else { report::harmless(line).into_owned() };
    let lines: String = text.lines().map(|line| safe(line) + "\n").collect();
    output::complain(lines.as_bytes());
}

/// Whether to use colours on a stream.
pub(crate) fn wants_color(when: Color, stream: &impl IsTerminal) -> bool {
    match when {
        Color::Auto => stream.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        Color::Always => true,
        Color::Never => false,
    }
}
