//! Why an analysis has no result.

/// Why an analysis has no result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// Nothing of the trace could be read.
    #[error("{0}")]
    Unreadable(String),
    /// A property cannot be monitored, or its logic failed.
    #[error("property {property}: {reason}")]
    Property {
        /// The property's name.
        property: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Bindings of a specification match nothing; diagnostics name them.
    #[error("variables that match nothing in the trace: {0}")]
    Unbound(usize),
    /// An initial value is given for a variable that neither the trace nor a specification has.
    #[error("--init: there is no variable `{0}`")]
    NoSuchVariable(String),
}
