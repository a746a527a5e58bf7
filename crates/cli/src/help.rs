//! The longer help texts: files of wrapped lines, from which the terminal's own lines are made.

use crate::choice;

/// A help text with one line for each paragraph: clap wraps these. Indented lines stay.
pub(crate) fn text(wrapped: &str) -> String {
    let mut text = String::new();
    let mut lines = wrapped.lines().peekable();
    while let Some(line) = lines.next() {
        text += line;
        let continues = |next: &&str| !next.is_empty() && !next.starts_with(' ') && !next.starts_with('{');
        let ends = line.is_empty() || line.starts_with(' ') || line.starts_with('{') || line.ends_with(':');
        let joins = !ends && lines.peek().is_some_and(continues);
        text += if joins { " " } else { "\n" };
    }
    text.truncate(text.trim_end().len());
    text
}

/// What `check --help` says below its options; the lines of detectors come from their registry.
pub(crate) fn check() -> String {
    text(include_str!("help/check.txt")).replace("{detectors}", choice::help().trim_end())
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn paragraphs_become_lines_and_lists_stay() {
        assert_eq!(
            text("Examples:\n  a\n  b\n\nOne two\nthree.\n\nFour.\n"),
            "Examples:\n  a\n  b\n\nOne two three.\n\nFour."
        );
    }
}
