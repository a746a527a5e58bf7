//! Complaints about a specification, and how they are shown.

use super::{Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// How many diagnostics are shown at most.
pub const MAX_SHOWN: usize = 50;

/// How many are kept at most: a megabyte of noise must not become a gigabyte of complaints.
const MAX_KEPT: usize = 500;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The specification cannot be used.
    Error,
    /// It can, but probably does not say what was meant.
    Warning,
}

/// One complaint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// The kind of mistake, one word.
    pub code: Option<&'static str>,
    /// What is wrong, in one line.
    pub message: String,
    /// Places and what to say there; the first is the place of the mistake.
    pub labels: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error of a kind.
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            code: Some(code),
            message: message.into(),
            labels: Vec::new(),
            help: Vec::new(),
        }
    }

    /// A warning of a kind.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// With one more place.
    #[must_use]
    pub fn at(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.labels.push((span, label.into()));
        self
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help.push(help.into());
        self
    }

    /// With advice, if there is any.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Diagnostic {
        self.help.extend(help);
        self
    }
}

/// Diagnostics as they are found.
#[derive(Clone, Default, Debug)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one, unless there are too many already.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if self.list.len() < MAX_KEPT {
            self.list.push(diagnostic);
        }
    }

    /// No more are kept: there is no use in going on.
    pub fn full(&self) -> bool {
        self.list.len() >= MAX_KEPT
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether any is an error.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// Whether any after the first so many is an error.
    pub fn has_errors_since(&self, count: usize) -> bool {
        self.full() || self.list.iter().skip(count).any(|d| d.severity == Severity::Error)
    }

    /// All of them by place, each once.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.list.sort_by_key(|d| (d.labels.first().map(|l| l.0), d.severity));
        self.list.dedup();
        self.list
    }
}

/// The diagnostics as text, as rustc shows them; the first [`MAX_SHOWN`] of them, and how many more there are.
pub fn render(diagnostics: &[Diagnostic], sources: &Sources, color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut out = String::new();
    for diagnostic in diagnostics.iter().take(MAX_SHOWN) {
        out.push_str(&renderer.render(&[group(diagnostic, sources)]));
        out.push_str("\n\n");
    }
    let left = diagnostics.len().saturating_sub(MAX_SHOWN);
    if left > 0 {
        out.push_str(&format!("… and {left} more\n"));
    }
    out
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut title = level.primary_title(diagnostic.message.as_str());
    if let Some(code) = diagnostic.code {
        title = title.id(code);
    }
    let mut group = Group::with_title(title);
    // One snippet a file, that of the mistake first.
    let mut files: Vec<u32> = Vec::new();
    for (span, _) in &diagnostic.labels {
        if !files.contains(&span.file) {
            files.push(span.file);
        }
    }
    for file in files {
        let text = sources.text(file);
        let annotations = diagnostic.labels.iter().enumerate().filter(|(_, (span, _))| span.file == file).map(
            |(i, (span, label))| {
                let kind = if i == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
                kind.span(on_boundaries(text, *span)).label(label.as_str())
            },
        );
        group = group.element(Snippet::source(text).path(sources.name(file)).annotations(annotations));
    }
    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    group
}

/// The span's range, moved outward to whole characters inside the text.
fn on_boundaries(text: &str, span: Span) -> std::ops::Range<usize> {
    let mut start = (span.start as usize).min(text.len());
    let mut end = (span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
