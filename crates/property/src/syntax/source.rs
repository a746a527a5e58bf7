//! Source texts and the byte ranges that point into them.

use std::fmt;
use std::ops::Range;

/// The largest text that is read: offsets are 32 bits, and no specification is this long.
pub const MAX_SOURCE: usize = 4 << 20;

/// A range of bytes of one source.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The number of the source in its [`Sources`].
    pub file: u32,
    /// Its first byte.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
}

impl Span {
    /// From the beginning of this one to the end of the other.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span { end: other.end.max(self.end), ..self }
    }

    /// The empty span right after this one.
    #[must_use]
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// As a range of bytes.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}:{}-{}>", self.file, self.start, self.end)
    }
}

/// The texts that spans point into.
#[derive(Clone, Default, Debug)]
pub struct Sources {
    files: Vec<(String, String)>,
}

impl Sources {
    /// Adds a text and gives its number. What is beyond [`MAX_SOURCE`] is cut off: the loader complains of it before.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        let mut text = text.into();
        if text.len() > MAX_SOURCE {
            text.truncate((0..=MAX_SOURCE).rev().find(|&i| text.is_char_boundary(i)).unwrap_or(0));
        }
        self.files.push((name.into(), text));
        (self.files.len() - 1) as u32
    }

    /// The name of a source; empty if there is none with this number.
    pub fn name(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", |f| &f.0)
    }

    /// The text of a source; empty if there is none with this number.
    pub fn text(&self, file: u32) -> &str {
        self.files.get(file as usize).map_or("", |f| &f.1)
    }

    /// The text under a span.
    pub fn slice(&self, span: Span) -> &str {
        self.text(span.file).get(span.range()).unwrap_or("")
    }

    /// Line and column (in characters) of the beginning of a span, both from 1.
    pub fn line_column(&self, span: Span) -> (usize, usize) {
        let before = self.text(span.file).get(..span.start as usize).unwrap_or("");
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }
}
