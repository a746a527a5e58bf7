//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod corpus;
mod deadlines;
mod deadlock;
mod maximal;
mod maximal_limits;
mod rules;
