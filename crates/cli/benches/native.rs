//! What watching C and C++ programs costs, against gcc's ThreadSanitizer and Helgrind, in CPU time of everything
//! involved: the program, the draining, the encoding, and for `run` the analysis. `cargo bench -p foretrace --bench
//! native` prints the table; `-- lru_cache zstd` takes only some programs.
//!
//! Each number is the median of interleaved runs (`FORETRACE_ROUNDS`, 3 by default), as a multiple of the plain
//! program's. The programs are in two groups: four that compute, and ten that hand data over from thread to thread
//! as most programs do (`native/program.rs`). `FORETRACE_SCALE` multiplies the work of the second group's own
//! programs (20 by default). The source of zstd and memcached is fetched from Debian by corpus/real/fetch; where that
//! fails, the program is left out. `FORETRACE` names another `foretrace` than the one that is built here, so that two
//! of them can be compared.
//!
//! `-- --growth` prints another table: the same programs with 1, 10 and 100 times their work, once each. The cost of
//! watching should grow as the program's own does.

#![allow(unsafe_code, reason = "wait4 is the only way to learn what one child took")]

#[path = "native/program.rs"]
mod program;
#[path = "native/took.rs"]
mod took;

use program::{Built, GROUPS, Group, Program, WAYS, Way};
use took::{Took, geometric, median};

fn main() {
    if program::is_wrapper() {
        return program::run_for_memory();
    }
    let number = |name: &str, default| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(default);
    let rounds: usize = number("FORETRACE_ROUNDS", 3);
    let scale: usize = number("FORETRACE_SCALE", 20);
    // Cargo passes `--bench`.
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let names: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with('-')).collect();
    let work = tempfile::tempdir().expect("a temporary folder");
    let chosen = |program: &&Program| names.is_empty() || names.contains(&program.name);
    if words.iter().any(|word| word == "--growth") {
        return growth(GROUPS[1].programs.iter().filter(chosen), work.path());
    }
    println!("CPU time as a multiple of the plain program's; medians of {rounds} interleaved runs");
    for group in &GROUPS {
        costs(group, group.programs.iter().filter(chosen), work.path(), rounds, scale);
    }
}

/// Prints the table of a group.
fn costs<'a>(
    group: &Group,
    programs: impl Iterator<Item = &'a Program>,
    work: &std::path::Path,
    rounds: usize,
    scale: usize,
) {
    let mut programs = programs.peekable();
    if programs.peek().is_none() {
        return;
    }
    println!("\n{}\n", group.title);
    println!(
        "| program | plain | gcc TSan | `record` | of TSan | `run` | of TSan | Helgrind | trace | \
         memory: TSan | program | foretrace | of TSan |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let (mut record, mut run) = (Vec::new(), Vec::new());
    for program in programs {
        let Some(built) = Built::new(program, work, if group.scales { scale } else { 1 }) else {
            println!("| {} | its source cannot be had |", program.title);
            continue;
        };
        let mut took: Vec<Vec<Took>> = vec![Vec::new(); WAYS.len()];
        for round in 0..rounds {
            for (way, took) in WAYS.iter().zip(&mut took) {
                // Helgrind is slow and beside the point: once is enough.
                if *way != Way::Helgrind || round == 0 {
                    took.extend(built.run(*way));
                }
            }
        }
        let seconds: Vec<f64> = took.iter().map(|runs| median(runs.iter().map(|took| took.seconds))).collect();
        let tsan_memory = median(took[1].iter().map(|took| took.megabytes));
        let times = |way: usize| seconds[way] / seconds[0];
        record.push(seconds[2] / seconds[1]);
        run.push(seconds[3] / seconds[1]);
        let (own, observer) = (built.own_memory(), built.observer_memory());
        println!(
            "| {} | {:.3} s | {:.1}× | {:.1}× | {:.2} | {:.1}× | {:.2} | {:.0}× | {:.1} MB | \
             {tsan_memory:.0} MB | {own:.0} MB | {observer:.0} MB | {:.1} |",
            program.title,
            seconds[0],
            times(1),
            times(2),
            record[record.len() - 1],
            times(3),
            run[run.len() - 1],
            times(4),
            built.trace_bytes() as f64 / 1e6,
            (own + observer) / tsan_memory,
        );
    }
    let largest = |ratios: &[f64]| ratios.iter().copied().fold(0.0, f64::max);
    println!(
        "\nForetrace's CPU over TSan's: `record` {:.2} in the geometric mean (wanted: {:.2}) and {:.2} at most, \
         `run` {:.2} (wanted: 1.00) and {:.2} at most",
        geometric(&record),
        group.wanted,
        largest(&record),
        geometric(&run),
        largest(&run),
    );
}

/// Prints what programs cost with 1, 10 and 100 times their work.
fn growth<'a>(programs: impl Iterator<Item = &'a Program>, work: &std::path::Path) {
    println!("CPU seconds with 1, 10 and 100 times the work, one run each\n");
    println!("| program | plain | gcc TSan | `record` | `run` |");
    println!("| --- | --- | --- | --- | --- |");
    for program in programs.filter(|program| program.takes_scale()) {
        let builds: Vec<Built> = [1, 10, 100].iter().filter_map(|scale| Built::new(program, work, *scale)).collect();
        let cell = |way| {
            let seconds = builds.iter().filter_map(|built| Some(format!("{:.2}", built.run(way)?.seconds)));
            seconds.collect::<Vec<_>>().join(", ")
        };
        let [plain, tsan, record, run] = [Way::Plain, Way::Tsan, Way::Record, Way::Run].map(cell);
        println!("| {} | {plain} | {tsan} | {record} | {run} |", program.title);
    }
}
