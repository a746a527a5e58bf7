//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod coverage;
mod detectors;
mod rules;
