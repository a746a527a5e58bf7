//! The filter against brute force on random small traces, and under load.
//!
//! `FORETRACE_CASES` says how many traces each test takes, `FORETRACE_SEED` which is the first.

mod accesses;
mod biased_memory;
mod block_stress;
mod completeness;
mod decode;
mod handed;
mod memory;
mod paths;
mod ranges;
mod scan_stress;
mod scans;
mod shrink;
mod soundness;
mod steps;
mod stress;
mod traces;
mod waiting;
