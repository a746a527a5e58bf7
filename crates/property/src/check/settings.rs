//! Settings: `explore { … }` and `with { … }`.

use super::nearest;
use crate::syntax::ast::{ConstKind, Setting, SettingValue};
use crate::syntax::{Diagnostic, Diagnostics, Span};
use event::CausalityChoice;

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal, $meaning:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $name { $(#[doc = $meaning] $variant,)* }

        impl $name {
            /// Every value.
            pub const ALL: &'static [$name] = &[$($name::$variant,)*];

            /// How it is written in specifications.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// What it means.
            pub fn meaning(self) -> &'static str {
                match self { $($name::$variant => $meaning,)* }
            }

            /// The value written so; hyphens and underscores are the same.
            pub fn parse(text: &str) -> Option<$name> {
                let text = text.replace('-', "_");
                $name::ALL.iter().copied().find(|v| v.text() == text)
            }
        }
    };
}

words! {
    /// Which events are steps.
    Steps {
        Relevant = "relevant", "Writes of the property's variables, and its events";
        All = "all", "Every event";
    }
}

words! {
    /// What the end of the trace means for future-time formulas.
    AtEnd {
        Stutter = "stutter", "The last state repeats for ever";
        Strong = "strong", "There is no next state";
        Weak = "weak", "What is still owed is excused";
        None = "none", "No verdict";
    }
}

/// How many cuts of a level are kept.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Breadth {
    /// So many, nearest to the recorded run.
    Cuts(u64),
    /// All.
    All,
}

/// Settings; what is not set is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Settings {
    /// Which runs are predicted.
    pub causality: Option<CausalityChoice>,
    /// How many cuts of a level are kept.
    pub breadth: Option<Breadth>,
    /// How many cuts are made in all.
    pub max_cuts: Option<u64>,
    /// How many events are looked at together.
    pub window: Option<u64>,
    /// Which events are steps.
    pub steps: Option<Steps>,
    /// What the end of the trace means.
    pub at_end: Option<AtEnd>,
}

impl Settings {
    /// These, and where one is not set, that of the others.
    #[must_use]
    pub fn or(self, others: Settings) -> Settings {
        Settings {
            causality: self.causality.or(others.causality),
            breadth: self.breadth.or(others.breadth),
            max_cuts: self.max_cuts.or(others.max_cuts),
            window: self.window.or(others.window),
            steps: self.steps.or(others.steps),
            at_end: self.at_end.or(others.at_end),
        }
    }
}

const NAMES: [&str; 6] = ["causality", "breadth", "max_cuts", "window", "steps", "at_end"];

/// Reads what is written into settings. `seen` are those of the same scope before.
pub(super) fn check(
    written: &[Setting],
    settings: &mut Settings,
    seen: &mut Vec<(String, Span)>,
    out: &mut Diagnostics,
) {
    for setting in written {
        let name = setting.name.text.as_str();
        if !NAMES.contains(&name) {
            let help = match nearest(name, NAMES) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("the settings are {}", list(NAMES.iter().copied())),
            };
            out.push(
                Diagnostic::error("setting", format!("unknown setting `{name}`"))
                    .at(setting.name.span, "there is no such setting")
                    .help(help),
            );
            continue;
        }
        if let Some((_, first)) = seen.iter().find(|(n, _)| n == name) {
            out.push(
                Diagnostic::error("setting", format!("`{name}` is set twice"))
                    .at(setting.name.span, "set again here")
                    .at(*first, "first set here"),
            );
            continue;
        }
        seen.push((name.to_owned(), setting.name.span));
        match name {
            "causality" => {
                let (all, parse) = (&CausalityChoice::ALL, CausalityChoice::parse);
                settings.causality = word(setting, all, parse, CausalityChoice::keyword, out);
            }
            "steps" => settings.steps = word(setting, Steps::ALL, Steps::parse, Steps::text, out),
            "at_end" => settings.at_end = word(setting, AtEnd::ALL, AtEnd::parse, AtEnd::text, out),
            "breadth" => {
                settings.breadth = match &setting.value {
                    SettingValue::Word(w) if w.text == "all" => Some(Breadth::All),
                    _ => count(setting, "a number of at least 1, or `all`", out).map(Breadth::Cuts),
                }
            }
            "max_cuts" => settings.max_cuts = count(setting, "a number of at least 1", out),
            _ => settings.window = count(setting, "a number of at least 1", out),
        }
    }
}

fn list<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|w| format!("`{w}`")).collect::<Vec<_>>().join(", ")
}

fn span(setting: &Setting) -> Span {
    match &setting.value {
        SettingValue::Const(c) => c.span,
        SettingValue::Word(w) => w.span,
    }
}

fn word<T: Copy>(
    setting: &Setting,
    all: &[T],
    parse: fn(&str) -> Option<T>,
    text: fn(T) -> &'static str,
    out: &mut Diagnostics,
) -> Option<T> {
    let written = match &setting.value {
        SettingValue::Word(w) => Some(w.text.as_str()),
        SettingValue::Const(c) => match &c.kind {
            ConstKind::Str(s) => Some(s.as_str()),
            _ => None,
        },
    };
    let value = written.and_then(parse);
    if value.is_none() {
        let near = written.and_then(|w| nearest(w, all.iter().map(|v| text(*v))));
        let name = &setting.name.text;
        out.push(
            Diagnostic::error("setting", format!("wrong value for `{name}`"))
                .at(span(setting), "not one of its values")
                .help(match near {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("the values of `{name}` are {}", list(all.iter().map(|v| text(*v)))),
                }),
        );
    }
    value
}

fn count(setting: &Setting, what: &str, out: &mut Diagnostics) -> Option<u64> {
    if let SettingValue::Const(c) = &setting.value
        && let ConstKind::Int(n) = c.kind
        && n >= 1
    {
        return Some(n as u64);
    }
    let name = &setting.name.text;
    out.push(
        Diagnostic::error("setting", format!("wrong value for `{name}`")).at(span(setting), format!("must be {what}")),
    );
    None
}
