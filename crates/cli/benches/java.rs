//! What watching Java programs costs: `cargo bench -p foretrace --bench java` prints the table. `-- Fields Map`
//! takes only some.
//!
//! Each program (`benches/java`) warms up, and then measures itself: wall time, CPU time of its two threads, and
//! how many accesses and synchronisation operations that have hooks it has done (by formulas that hooks which count
//! have confirmed). Each number is the median of interleaved runs (`FORETRACE_ROUNDS`, 5 by default).
//!
//! What an *event* costs is the CPU time of the program's own two threads, watched less plain, by the number of
//! events. That is all that they lose: the hooks, what the compiler can no longer do around them, what they take of
//! the caches, and, where threads want the same lock, what it costs that they hold it longer. What the observer
//! takes (draining, encoding) stands beside, of the whole run. The ratio is of wall time, where the observer counts
//! as far as there is no processor for it. Behind ± is the median of how far what the rounds say is from their median:
//! where threads get into each other's way (`both` of the counter, the buffer), a run can take twice what another did.
//!
//! A program with events of both kinds cannot say what each kind costs, and to solve that from two mixtures would
//! be wrong: an access costs more when it is the first since its thread has synchronised. So only programs with one
//! kind have a number for it: variants of the others. Of a mixture there is the mean of all events, and what it
//! costs as a part of what is allowed: so much for each access, and so much for each synchronisation. A wait is
//! one, though it may have several records. An operation of a map counts the effects that the table gives it: `get`
//! acquires, `put` releases and acquires, `merge` does both before the function and after it. (Most of these need no
//! record, because they order nothing new; that is not taken off.) What an operation costs stands below the table.
//!
//! `FORETRACE_BINARY` names a `foretrace` to be used instead of the one that was built: an older one, for example.

#![allow(unsafe_code, reason = "wait4 is the only way to learn what one child took")]

#[path = "java/cost.rs"]
mod cost;
#[path = "java/refused.rs"]
mod refused;

use cost::{ACCESS, Cost, SYNC, Said, Took};
use refused::Compiled;
use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A program, which variant of it, and what that is.
type Row = (&'static str, &'static str, &'static str);

/// How many effects an operation of `Map` has, in the mean (`EFFECTS_OF_FOUR` there).
const EFFECTS_OF_MAP: f64 = 2.0;

const ROWS: [Row; 8] = [
    ("Fields", "both", "fields and arrays, a lock per block"),
    ("Fields", "accesses", "… without the lock"),
    ("Fields", "syncs", "… only a lock, of each thread's own"),
    ("Buffer", "both", "bounded buffer"),
    ("Counter", "both", "synchronized counter"),
    ("Counter", "apart", "… one for each thread"),
    ("Counter", "syncs", "… and it counts nothing"),
    ("Map", "both", "concurrent hash map"),
];

fn main() {
    let rounds = std::env::var("FORETRACE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let rows = ROWS.iter().filter(|row| wanted.is_empty() || wanted.iter().any(|name| name == row.0));
    let bench = Bench::new();
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    println!("Medians of {rounds} interleaved runs on {processors} processors\n");
    println!(
        "| program | plain | watched | ratio | 10⁶ accesses | 10⁶ syncs | ns per access | ns per sync | ns per event | \
         of what is allowed | observer | ns per event | all CPU | trace |"
    );
    println!("|{}", " --- |".repeat(14));
    let costs: Vec<(&Row, Cost)> = rows
        .map(|row| {
            let cost = bench.cost(row, rounds);
            println!("| {} | {} |", row.2, cost.cells());
            (row, cost)
        })
        .collect();
    println!();
    verdict(&bench, &costs);
    println!();
    for (row, _) in &costs {
        let [plain, watched] = [false, true].map(|is_watched| bench.compiled(row, is_watched));
        print!("{}", refused::compare(&format!("{} {}", row.0, row.1), &plain, &watched));
    }
}

/// Compares with what is wanted.
fn verdict(bench: &Bench, costs: &[(&Row, Cost)]) {
    let say = |what: &str, wanted: f64, of: fn(&Cost) -> Option<f64>| {
        if let Some(worst) = costs.iter().filter_map(|(_, cost)| of(cost)).reduce(f64::max) {
            println!("{what:<24} {worst:.2} at the worst (wanted: at most {wanted})");
        }
    };
    say("ns per access:", ACCESS, Cost::access);
    say("ns per synchronisation:", SYNC, Cost::sync);
    say("of what is allowed:", 1.0, |cost| Some(cost.of_allowed()));
    for (row, cost) in costs.iter().filter(|(row, _)| ["Buffer", "Map"].contains(&row.0)) {
        println!("{:<24} {:.2} times the plain run (wanted: under 2)", format!("{}:", row.2), cost.ratio());
    }
    if let Some((row, cost)) = costs.iter().find(|(row, _)| row.0 == "Map") {
        let work = bench.run(&(row.0, "work", ""), false).said.cpu;
        let operations = cost.syncs / EFFECTS_OF_MAP;
        println!("work of a map operation: {:.0} ns (wanted: at least 100)", work / operations * 1e9);
        println!("watching one:            {:.2} ns, {EFFECTS_OF_MAP:.1} synchronisations", cost.more() / operations);
    }
    let busy = costs.iter().filter(|(row, cost)| !row.1.eq("both") && cost.had_processors() < 0.9);
    for (row, cost) in busy {
        let part = cost.had_processors() * 100.0;
        println!(
            "{} {} had its two processors for {part:.0} % of the time only: another program uses them",
            row.0, row.1
        );
    }
}

/// The compiled programs, and how they are run.
struct Bench {
    work: TempDir,
    foretrace: OsString,
}

impl Bench {
    fn new() -> Bench {
        let work = tempfile::tempdir().expect("a temporary folder");
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/java");
        let status = Command::new("javac")
            .arg("-d")
            .arg(work.path())
            .arg("-sourcepath")
            .arg(&sources)
            .args(["Fields", "Buffer", "Counter", "Map"].map(|name| sources.join(name).with_extension("java")))
            .status();
        assert!(status.is_ok_and(|status| status.success()), "javac compiles the programs");
        let foretrace = std::env::var_os("FORETRACE_BINARY").unwrap_or_else(|| env!("CARGO_BIN_EXE_foretrace").into());
        Bench { work, foretrace }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    fn cost(&self, row: &Row, rounds: usize) -> Cost {
        let mut runs = [const { Vec::new() }; 2];
        for _ in 0..rounds {
            for (is_watched, runs) in [false, true].into_iter().zip(&mut runs) {
                runs.push(self.run(row, is_watched));
            }
        }
        let mut checksums = runs.iter().flatten().map(|took| &took.said.checksum);
        let first = checksums.next();
        assert!(checksums.all(|checksum| Some(checksum) == first), "{} computes the same when it is watched", row.2);
        Cost::of(&runs)
    }

    /// What HotSpot compiles.
    fn compiled(&self, row: &Row, is_watched: bool) -> Compiled {
        self.execute(row, is_watched, &["-XX:+PrintCompilation"]);
        Compiled::read(&self.output())
    }

    fn run(&self, row: &Row, is_watched: bool) -> Took {
        let all_cpu = self.execute(row, is_watched, &[]);
        let said = Said::read(&self.output()).expect("the line of Measure.java");
        let trace = std::fs::metadata(self.file("trace.ftrace")).map_or(0, |file| file.len());
        Took { said, all_cpu, trace_bytes: if is_watched { trace as f64 } else { 0.0 } }
    }

    /// Runs a program, with its output in a file. CPU seconds that it took, with all its children.
    fn execute(&self, (program, variant, _): &Row, is_watched: bool, options: &[&str]) -> f64 {
        let mut command = if is_watched {
            let mut command = Command::new(&self.foretrace);
            command.args(["record", "-o"]).arg(self.file("trace.ftrace")).args(["--", "java"]);
            command
        } else {
            Command::new("java")
        };
        let [output, errors] = ["output", "errors"].map(|name| File::create(self.file(name)).expect("a file"));
        command.args(options).arg("-cp").arg(self.work.path()).args([program, variant]);
        let child = command.stdin(Stdio::null()).stdout(output).stderr(errors).spawn();
        let (is_success, seconds) = wait(child.map(|child| child.id()).expect("it starts"));
        let errors = || String::from_utf8_lossy(&std::fs::read(self.file("errors")).unwrap_or_default()).into_owned();
        assert!(is_success, "{command:?} fails: {}", errors());
        seconds
    }

    fn output(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.file("output")).expect("its output")).into_owned()
    }
}

/// Waits for a child. Whether it succeeded, and the CPU seconds that it and all its own took.
fn wait(pid: u32) -> (bool, f64) {
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to variables of ours, and only this function waits for the child.
    let waited = unsafe { libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage) };
    assert_eq!(waited, pid as i32, "the child is ours");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    (status == 0, seconds(usage.ru_utime) + seconds(usage.ru_stime))
}
