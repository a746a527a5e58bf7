//! What a monitor says about a run so far, or at its end.

use std::fmt;

/// The verdict of a monitor on one instance (docs/semantics.md, "Verdicts"). No two of them are merged in reports.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[repr(u8)]
pub enum Verdict {
    /// Nothing is decided. For a property that the end of the run does not judge: not violated so far.
    Pending = 0,
    /// False, whatever comes: final.
    Violated = 1,
    /// True, whatever comes: final.
    Satisfied = 2,
    /// False only by the rule for the end of the run: provisional.
    Unfulfilled = 3,
    /// True only by the rule for the end of the run: provisional.
    Fulfilled = 4,
    /// Not violated, but unknown atoms leave open whether it should be.
    Unknown = 5,
}

impl Verdict {
    /// Whether no later step changes it.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Violated | Self::Satisfied)
    }

    /// Whether the run fails the property.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Violated | Self::Unfulfilled)
    }

    /// Whether the run does not fail it, as far as that can be known.
    pub fn holds(self) -> bool {
        matches!(self, Self::Pending | Self::Satisfied | Self::Fulfilled)
    }

    /// How bad it is; the worst is 0, and what holds is last.
    pub fn severity(self) -> u8 {
        match self {
            Self::Violated => 0,
            Self::Unfulfilled => 1,
            Self::Unknown => 2,
            Self::Pending | Self::Satisfied | Self::Fulfilled => 3,
        }
    }

    /// One verdict for two ways of filling in what is unknown: bad only if both are.
    pub(super) fn either(self, other: Self) -> Self {
        use Verdict::{Fulfilled, Pending, Satisfied, Unfulfilled, Unknown, Violated};
        match (self, other) {
            (a, b) if a == b => a,
            (Violated, Unfulfilled) | (Unfulfilled, Violated) => Unfulfilled,
            (Satisfied, Fulfilled) | (Fulfilled, Satisfied) => Fulfilled,
            (Pending, Satisfied | Fulfilled) | (Satisfied | Fulfilled, Pending) => Pending,
            _ => Unknown,
        }
    }

    /// The verdict of a code of three bits; codes that none has are `Unknown`.
    #[inline(always)]
    pub(super) fn from_code(code: u8) -> Self {
        match code {
            0 => Self::Pending,
            1 => Self::Violated,
            2 => Self::Satisfied,
            3 => Self::Unfulfilled,
            4 => Self::Fulfilled,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pending => "pending",
            Self::Violated => "violated",
            Self::Satisfied => "satisfied",
            Self::Unfulfilled => "unfulfilled",
            Self::Fulfilled => "fulfilled",
            Self::Unknown => "unknown",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Verdict; 6] = [
        Verdict::Pending,
        Verdict::Violated,
        Verdict::Satisfied,
        Verdict::Unfulfilled,
        Verdict::Fulfilled,
        Verdict::Unknown,
    ];

    #[test]
    fn the_order_of_completions_does_not_matter() {
        for a in ALL {
            assert_eq!(Verdict::from_code(a as u8), a);
            for b in ALL {
                assert_eq!(a.either(b), b.either(a));
                for c in ALL {
                    assert_eq!(a.either(b).either(c), a.either(b.either(c)), "{a} {b} {c}");
                }
            }
        }
    }
}
