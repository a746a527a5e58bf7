//! The names of the causality models: which runs are predicted from the recorded one.
//!
//! docs/causality.md defines the models. `order` (the search), `witness` (the checker) and `oracle` (brute force for
//! tests) each state the rules of a model on their own; they share only its name.

use std::fmt;

/// A causality model: which orders of the recorded events count as runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Causality {
    /// Only the recorded order.
    Observed,
    /// Orders that keep synchronisation, but not data accesses: unsound for values.
    SyncOnly,
    /// Orders that keep every pair of conflicting events.
    FullHb,
    /// Orders in which each read sees the write it saw, and atomic sets stay undivided.
    WeakHb,
    /// Every order in which all reads see the values they saw.
    Maximal,
}

impl Causality {
    /// Every model.
    pub const ALL: [Causality; 5] =
        [Causality::Observed, Causality::SyncOnly, Causality::FullHb, Causality::WeakHb, Causality::Maximal];

    /// The sound models: each admits every run that the one before it admits.
    pub const SOUND: [Causality; 4] = [Causality::Observed, Causality::FullHb, Causality::WeakHb, Causality::Maximal];

    /// The spelling of the command line and of reports, with hyphens.
    pub const fn text(self) -> &'static str {
        match self {
            Causality::Observed => "observed",
            Causality::SyncOnly => "sync-only",
            Causality::FullHb => "full-hb",
            Causality::WeakHb => "weak-hb",
            Causality::Maximal => "maximal",
        }
    }

    /// The spelling of specifications, with underscores.
    pub const fn keyword(self) -> &'static str {
        match self {
            Causality::Observed => "observed",
            Causality::SyncOnly => "sync_only",
            Causality::FullHb => "full_hb",
            Causality::WeakHb => "weak_hb",
            Causality::Maximal => "maximal",
        }
    }

    /// The meaning in one line, for help texts.
    pub const fn meaning(self) -> &'static str {
        match self {
            Causality::Observed => "Only the recorded run",
            Causality::SyncOnly => "Only synchronisation keeps its order; values may be impossible",
            Causality::FullHb => "All conflicting events keep their order",
            Causality::WeakHb => "Reads see the writes they saw; the rest may swap",
            Causality::Maximal => "Every read sees the value it saw",
        }
    }

    /// The model with this spelling; hyphens and underscores are interchangeable.
    pub fn parse(text: &str) -> Option<Causality> {
        Causality::ALL.into_iter().find(|model| is_spelt(text, model.keyword()))
    }
}

impl fmt::Display for Causality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

/// What a user asks for: one causality model, or `auto`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum CausalityChoice {
    /// `full-hb`, then `weak-hb`, then `maximal`, until one of them has a violation.
    #[default]
    Auto,
    /// This model alone.
    Only(Causality),
}

impl CausalityChoice {
    /// Every choice.
    pub const ALL: [CausalityChoice; 6] = [
        CausalityChoice::Auto,
        CausalityChoice::Only(Causality::Observed),
        CausalityChoice::Only(Causality::SyncOnly),
        CausalityChoice::Only(Causality::FullHb),
        CausalityChoice::Only(Causality::WeakHb),
        CausalityChoice::Only(Causality::Maximal),
    ];

    /// Only the recorded run.
    pub const OBSERVED: CausalityChoice = CausalityChoice::Only(Causality::Observed);

    /// The models to search, in this order.
    pub const fn models(self) -> &'static [Causality] {
        match self {
            CausalityChoice::Auto => &[Causality::FullHb, Causality::WeakHb, Causality::Maximal],
            CausalityChoice::Only(Causality::Observed) => &[Causality::Observed],
            CausalityChoice::Only(Causality::SyncOnly) => &[Causality::SyncOnly],
            CausalityChoice::Only(Causality::FullHb) => &[Causality::FullHb],
            CausalityChoice::Only(Causality::WeakHb) => &[Causality::WeakHb],
            CausalityChoice::Only(Causality::Maximal) => &[Causality::Maximal],
        }
    }

    /// The spelling of the command line, with hyphens.
    pub const fn text(self) -> &'static str {
        match self {
            CausalityChoice::Auto => "auto",
            CausalityChoice::Only(model) => model.text(),
        }
    }

    /// The spelling of specifications, with underscores.
    pub const fn keyword(self) -> &'static str {
        match self {
            CausalityChoice::Auto => "auto",
            CausalityChoice::Only(model) => model.keyword(),
        }
    }

    /// The meaning in one line, for help texts.
    pub const fn meaning(self) -> &'static str {
        match self {
            CausalityChoice::Auto => "full-hb, then weak-hb, then maximal, each for some seconds",
            CausalityChoice::Only(model) => model.meaning(),
        }
    }

    /// The choice with this spelling; hyphens and underscores are interchangeable.
    pub fn parse(text: &str) -> Option<CausalityChoice> {
        CausalityChoice::ALL.into_iter().find(|choice| is_spelt(text, choice.keyword()))
    }
}

impl From<Causality> for CausalityChoice {
    fn from(model: Causality) -> CausalityChoice {
        CausalityChoice::Only(model)
    }
}

fn is_spelt(text: &str, keyword: &str) -> bool {
    text.bytes().map(|byte| if byte == b'-' { b'_' } else { byte }).eq(keyword.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_read() {
        for choice in CausalityChoice::ALL {
            assert_eq!(CausalityChoice::parse(choice.text()), Some(choice));
            assert_eq!(CausalityChoice::parse(choice.keyword()), Some(choice));
            assert_eq!(choice.text().replace('-', "_"), choice.keyword());
        }
        assert_eq!(Causality::parse("full-hb"), Some(Causality::FullHb));
        assert_eq!(Causality::parse("auto"), None);
        assert_eq!(CausalityChoice::parse("full hb"), None);
    }

    #[test]
    fn every_model_can_be_chosen() {
        for (model, choice) in Causality::ALL.into_iter().zip(&CausalityChoice::ALL[1..]) {
            assert_eq!(CausalityChoice::from(model), *choice);
            assert_eq!(choice.models(), [model]);
        }
    }
}
