//! From syntax trees to properties: names, types, the rules of each logic, and numbered atoms.

mod nearest;

pub(crate) use nearest::nearest;

use crate::syntax::{Diagnostic, Span};

/// An integer beyond 64 bits.
pub(crate) fn too_large(span: Span) -> Diagnostic {
    Diagnostic::error("syntax", "number too large")
        .at(span, "integers have 64 bits: at most 9223372036854775807")
}
