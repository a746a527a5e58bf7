//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod checker;
mod same_for_ever;
mod serialisable;
mod watched;
mod wellformed;
