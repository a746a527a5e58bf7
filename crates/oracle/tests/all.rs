//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod detectors;
mod rules;
mod worth_asking;
