//! What watching C programs costs, against gcc's ThreadSanitizer and Helgrind, in CPU time of everything involved: the
//! program, the draining, the encoding, and for `run` the analysis. `cargo bench -p foretrace --bench native` prints
//! the table.
//!
//! Each number is the median of interleaved runs (`FORETRACE_ROUNDS`, 5 by default), as a multiple of the plain
//! program's.

#![allow(unsafe_code, reason = "wait4 is the only way to learn what one child took")]

use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use tempfile::TempDir;

const PROGRAMS: [(&str, &str); 4] = [
    ("array_sum", "array sum, lock per block"),
    ("matrix", "matrix multiply"),
    ("queue", "bounded queue"),
    ("hash_map", "striped hash map"),
];

/// A way to run a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Plain,
    Tsan,
    Record,
    Run,
    Helgrind,
}

const WAYS: [Way; 5] = [Way::Plain, Way::Tsan, Way::Record, Way::Run, Way::Helgrind];

/// What a run took.
#[derive(Clone, Copy)]
struct Took {
    seconds: f64,
    /// Of the largest process among it and its children.
    kilobytes: f64,
}

/// Names a file. If it is set, this program is itself what is watched: it runs the real program and leaves that one's
/// memory in the file. `wait4` reports the largest process only, and that may be the observer.
const OWN_MEMORY: &str = "FORETRACE_BENCH_OWN_MEMORY";

fn main() {
    if let Some(file) = std::env::var_os(OWN_MEMORY) {
        return run_for_memory(&file);
    }
    let rounds = std::env::var("FORETRACE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let work = tempfile::tempdir().expect("a temporary folder");
    println!("CPU time as a multiple of the plain program's; medians of {rounds} interleaved runs\n");
    println!(
        "| program | plain | gcc TSan | foretrace record | of TSan | foretrace run | of TSan | Helgrind | trace | \
         memory: plain | TSan | record |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let (mut record, mut run) = (Vec::new(), Vec::new());
    for (program, title) in PROGRAMS {
        let built = Built::new(&work, program);
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
        let memory: Vec<f64> = took.iter().map(|runs| median(runs.iter().map(|took| took.kilobytes))).collect();
        let times = |way: usize| seconds[way] / seconds[0];
        record.push(seconds[2] / seconds[1]);
        run.push(seconds[3] / seconds[1]);
        println!(
            "| {title} | {:.3} s | {:.1}× | {:.1}× | {:.2} | {:.1}× | {:.2} | {:.0}× | {:.1} MB | \
             {:.1} MB | {:.1} MB | {:.1} MB |",
            seconds[0],
            times(1),
            times(2),
            record[record.len() - 1],
            times(3),
            run[run.len() - 1],
            times(4),
            built.trace_bytes() as f64 / 1e6,
            memory[0] / 1e3,
            memory[1] / 1e3,
            built.own_memory() / 1e3,
        );
    }
    println!(
        "\nGeometric means of foretrace's CPU over TSan's: record {:.2} (wanted: 0.50), run {:.2} (wanted: 1.00)",
        geometric(&record),
        geometric(&run)
    );
}

/// A program built in every way.
struct Built {
    folder: PathBuf,
    name: &'static str,
}

impl Built {
    fn new(work: &TempDir, name: &'static str) -> Built {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/native/{name}.c"));
        let folder = work.path().to_owned();
        let compile = |compiler: &[&str], suffix: &str| {
            let status = Command::new(compiler[0])
                .args(&compiler[1..])
                .args(["-g", "-O2", "-pthread"])
                .arg(&source)
                .arg("-o")
                .arg(folder.join(format!("{name}{suffix}")))
                .status();
            assert!(status.is_ok_and(|status| status.success()), "{name} compiles with {compiler:?}");
        };
        compile(&["gcc"], "");
        compile(&["gcc", "-fsanitize=thread"], ".tsan");
        compile(&[env!("CARGO_BIN_EXE_foretrace"), "cc"], ".foretrace");
        Built { folder, name }
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}{suffix}", self.name))
    }

    fn trace_bytes(&self) -> u64 {
        std::fs::metadata(self.path(".ftrace")).map_or(0, |file| file.len())
    }

    /// The memory of the program itself while it is recorded, in kilobytes.
    fn own_memory(&self) -> f64 {
        let file = self.path(".memory");
        let status = Command::new(env!("CARGO_BIN_EXE_foretrace"))
            .args(["record", "-o"])
            .arg(self.path(".2.ftrace"))
            .arg("--")
            .arg(std::env::current_exe().expect("this program"))
            .arg(self.path(".foretrace"))
            .env(OWN_MEMORY, &file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{} is recorded", self.name);
        std::fs::read_to_string(file).ok().and_then(|kilobytes| kilobytes.parse().ok()).expect("a number")
    }

    /// Runs it once. None if the tool is not installed.
    fn run(&self, way: Way) -> Option<Took> {
        let foretrace = env!("CARGO_BIN_EXE_foretrace");
        let mut command = match way {
            Way::Plain => Command::new(self.path("")),
            Way::Tsan => Command::new(self.path(".tsan")),
            Way::Record | Way::Run => {
                let mut command = Command::new(foretrace);
                if way == Way::Record {
                    command.args(["record", "-o"]).arg(self.path(".ftrace"));
                } else {
                    command.args(["run", "--quiet"]);
                }
                command.arg("--").arg(self.path(".foretrace"));
                command
            }
            Way::Helgrind => {
                let mut command = Command::new("valgrind");
                command.args(["--tool=helgrind", "-q"]).arg(self.path(""));
                command
            }
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().ok()?;
        let (status, took) = wait(child.id());
        assert!(status.success(), "{} {way}: {status}", self.name, way = way as u8);
        Some(took)
    }
}

/// Runs the program that is named, and says in a file how much memory it had.
fn run_for_memory(file: &OsStr) {
    let program = std::env::args_os().nth(1).expect("a program");
    let pid = Command::new(program).env_remove(OWN_MEMORY).spawn().map(|child| child.id());
    let (status, took) = wait(pid.expect("it starts"));
    assert!(status.success(), "{status}");
    std::fs::write(file, took.kilobytes.to_string()).expect("the file can be written");
}

/// Waits for a child and says what it and all its own took.
fn wait(pid: u32) -> (ExitStatus, Took) {
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to variables of ours, and only this function waits for the child.
    let waited = unsafe { libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage) };
    assert_eq!(waited, pid as i32, "the child is ours");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let took = Took { seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime), kilobytes: usage.ru_maxrss as f64 };
    (ExitStatus::from_raw(status), took)
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn geometric(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}
