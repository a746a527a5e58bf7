//! The examples of the language, by hand.
