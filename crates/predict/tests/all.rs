//! All tests of the crate but those against the oracle: linking one costs more than running most.

mod hostile;
mod planted;
