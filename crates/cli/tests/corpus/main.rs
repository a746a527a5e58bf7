//! One test for each program of `corpus/programs`: `foretrace run` reports exactly what its `expected.toml` lists.
//!
//! The harness is `libtest-mimic`, because the tests are the folders that are there: `c::gcc::bank`, `java::rax`,
//! `java::rax-fixed::mutated`. Filters work as in any test:
//!
//! ```text
//! cargo nextest run -p foretrace --test corpus c::gcc::bank
//! FORETRACE_RUNS=20 cargo nextest run -p foretrace --test corpus java::
//! ```
//!
//! * `FORETRACE_RUNS=20` runs each program that many times.
//! * `FORETRACE_COMPARE=3` compares what C programs give with and without the filter, in 3 runs each (`c::compare`).
//! * `FORETRACE_ONLY=NAME` leaves only one program, in all its variants.
//! * `FORETRACE_JAVA` names the Java virtual machine to run on, if it is not the one of the JDK that compiles.
//! * `FORETRACE_COMPARE=1` runs each Java program with the filter and with `--record all`, and prints which findings
//!   only one of them gives (`--success-output immediate` shows it). It fails if the filter loses one without a known
//!   reason.
//! * `FORETRACE_WOVEN=1` instruments the Java programs offline, before they run.

mod c;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod java;
mod program;

use libtest_mimic::{Arguments, Trial, run};

fn main() {
    let arguments = Arguments::from_args();
    let trials: Vec<Trial> = c::trials().into_iter().chain(java::trials()).collect();
    assert!(!trials.is_empty(), "no program of the corpus is called {:?}", std::env::var_os("FORETRACE_ONLY"));
    run(&arguments, trials).exit();
}
