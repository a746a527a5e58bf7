//! The filter against brute force on random small traces, and under load.
//!
//! `FORETRACE_CASES` says how many traces each test takes.

mod accesses;
mod block_stress;
mod decode;
mod land;
mod law_of;
mod memory;
mod ranges;
mod stress;
mod sweep_stress;
mod sweeps;
mod traces;
mod units;
mod ways;
