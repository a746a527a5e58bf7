//! What an automaton says of a path: the word that judges of paths and searches over paths share.

/// What is known of all runs that begin with some path.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathStatus {
    /// The path does not violate the property; a continuation may.
    Open,
    /// No continuation violates it, or none that can be followed.
    Safe,
    /// The path violates it, and so does every continuation.
    Violated,
}
