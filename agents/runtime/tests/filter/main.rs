//! The filter against brute force on random small traces, and under load.
//!
//! `FORETRACE_CASES` says how many traces each test takes.

mod accesses;
mod block_stress;
mod decode;
mod land;
mod memory;
mod ranges;
mod soundness;
mod stress;
mod sweep_stress;
mod sweeps;
mod traces;
mod units;
mod ways;
