//! Text from a trace made fit for a terminal: nothing that acts on it, and known widths.

use std::borrow::Cow;
use std::fmt::Write;

/// Characters that move the cursor, change what is shown or in which direction, or break the line.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text with such characters spelled out (`\x1b`, `\u{202e}`).
pub fn harmless(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' => safe.push_str("\\n"),
            '\t' => safe.push_str("\\t"),
            c if !acts(c) => safe.push(c),
            // Writing to a string cannot fail.
            c if c.is_ascii() => _ = write!(safe, "\\x{:02x}", c as u32),
            c => _ = write!(safe, "\\u{{{:x}}}", c as u32),
        }
    }
    Cow::Owned(safe)
}

/// How many terminal columns a harmless text takes: combining marks none, East Asian wide characters and emoji two.
/// Ranges, not the full Unicode tables: it serves alignment only.
pub(crate) fn width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

fn char_width(c: char) -> usize {
    match c as u32 {
        0..0x300 => 1,
        0x300..=0x36f
        | 0x483..=0x489
        | 0x591..=0x5bd
        | 0x610..=0x61a
        | 0x64b..=0x65f
        | 0x93c
        | 0x941..=0x948
        | 0x94d
        | 0xe31
        | 0xe34..=0xe3a
        | 0xe47..=0xe4e
        | 0x1ab0..=0x1aff
        | 0x1dc0..=0x1dff
        | 0x200b..=0x200d
        | 0x20d0..=0x20ff
        | 0xfe00..=0xfe0f
        | 0xfe20..=0xfe2f
        | 0xe0100..=0xe01ef => 0,
        0x1100..=0x115f
        | 0x2e80..=0x303e
        | 0x3041..=0xa4cf
        | 0xa960..=0xa97f
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1f64f
        | 0x1f680..=0x1f6ff
        | 0x1f900..=0x1f9ff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The text with blanks up to a width.
pub(crate) fn pad(text: &str, to: usize) -> String {
    let mut padded = text.to_owned();
    padded.extend(std::iter::repeat_n(' ', to.saturating_sub(width(text))));
    padded
}

/// The text broken at blanks into lines of at most this width, where its words allow.
pub fn wrap(text: &str, at: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && width(&line) + 1 + width(word) > at {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_acts_on_a_terminal_remains() {
        assert_eq!(harmless("a\x1b[31m\n\tb\u{9b}2J\u{202e}\x7f"), "a\\x1b[31m\\n\\tb\\u{9b}2J\\u{202e}\\x7f");
        assert!(matches!(harmless("größe 変数"), Cow::Borrowed("größe 変数")));
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        for (text, expected) in [("", 0), ("abc", 3), ("größe", 5), ("変数", 4), ("e\u{301}", 1), ("🚀", 2)] {
            assert_eq!(width(text), expected, "{text}");
        }
        assert_eq!(pad("変", 4), "変  ");
        assert_eq!(pad("long", 2), "long");
    }

    #[test]
    fn wrapping_breaks_between_words_only() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("a looooong b", 4), ["a", "looooong", "b"]);
        assert!(wrap("  ", 4).is_empty());
    }
}
