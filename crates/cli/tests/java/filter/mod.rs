//! The filter of the agent for Java against the definition: random small programs run along orders that are fixed
//! beforehand, and what was recorded of each is compared with all that it did (soundness.rs says how).
//!
//! `FORETRACE_CASES=20000` runs so many programs, `FORETRACE_SEED=17` begins with that one (with `FORETRACE_CASES=1`:
//! only that).

mod acts;
mod at_once;
mod recorded;
mod soundness;
mod source;

use crate::common::Folder;
use acts::{Act, Do, Style, Way};
use oracle::cases;
use oracle::random::Random;
use recorded::Recorded;
use soundness::{Case, Figures};
use source::Source;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use trace::Trace;

/// Programs of one run of the virtual machine.
const AT_ONCE: usize = 8_000;

struct Machine {
    work: Folder,
    source: Source,
}

impl Machine {
    fn new() -> Machine {
        let (work, source) = (Folder::new(), source::source());
        work.write("Acts.java", &source.text);
        let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/filter/Driver.java");
        let mut javac = Command::new("javac");
        javac.args(["--release", "11", "-d"]).arg(work.path("classes")).arg(work.path("Acts.java")).arg(driver);
        let compiled = javac.output().expect("javac is needed: ./test installs it");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        Machine { work, source }
    }

    /// Runs programs, by their numbers, and gives what was recorded of each.
    fn run(&self, programs: &BTreeMap<u64, Vec<Act>>, free: bool) -> BTreeMap<u64, Result<Recorded, String>> {
        let lines: Vec<String> = programs.iter().map(|(&number, acts)| acts::driver_line(number, acts)).collect();
        self.work.write("programs", lines.join("\n"));
        let java = std::env::var("FORETRACE_JAVA").unwrap_or_else(|_| "java".to_owned());
        let mut args = vec!["record", "--quiet", "--include", "Acts", "-o", "run.ftrace", "--"];
        args.extend([&java, "-cp", "classes", "Driver", "programs"]);
        if free {
            args.push("free");
        }
        let ran = self.work.run(&args);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{}", ran.stdout);
        let file = std::fs::File::open(self.work.path("run.ftrace")).expect("recorded");
        let mut opened = trace::open_file(file, |_| unreachable!("it is a file")).expect("a trace");
        let trace = Trace::read(opened.source.as_mut()).expect("a trace");
        assert!(trace.losses.is_empty(), "{:?}", trace.losses);
        recorded::recorded(&trace, programs, &self.source)
    }
}

fn wrong(acts: &[Act], recorded: &Result<Recorded, String>, figures: &mut Figures) -> Option<String> {
    match recorded {
        Ok(recorded) => Case { acts, recorded }.wrong(figures),
        Err(error) => Some(error.clone()),
    }
}

/// Programs with one act less, or a pair.
fn smaller(acts: &[Act]) -> Vec<Vec<Act>> {
    let without = |gone: &[usize]| -> Vec<Act> {
        let left = acts.iter().enumerate().filter(|(i, _)| !gone.contains(i));
        left.map(|(_, act)| *act).collect()
    };
    let halves =
        [without(&(0..acts.len() / 2).collect::<Vec<_>>()), without(&(acts.len() / 2..acts.len()).collect::<Vec<_>>())];
    let mut all: Vec<Vec<Act>> = halves.into();
    for length in [8, 4, 3, 2, 1] {
        all.extend((0..acts.len()).map(|i| without(&(i..acts.len().min(i + length)).collect::<Vec<_>>())));
    }
    for (i, act) in acts.iter().enumerate() {
        if let Do::Acquire(l) = act.what {
            let end = (i..acts.len()).find(|&j| acts[j] == Act { thread: act.thread, what: Do::Release(l) });
            all.extend(end.map(|end| without(&[i, end])));
        }
    }
    all.retain(|acts| acts::is_possible(acts));
    all
}

/// The smallest program found that is still wrong, alone in its machine with others like it.
fn shrunk(machine: &Machine, acts: &[Act]) -> (Vec<Act>, String) {
    let mut least = (acts.to_vec(), String::new());
    loop {
        // Each some times over: what was before may matter.
        let candidates = smaller(&least.0).into_iter().chain(std::iter::repeat_n(least.0.clone(), 3));
        let programs: BTreeMap<u64, Vec<Act>> = (0..).zip(candidates).collect();
        let ran = machine.run(&programs, false);
        let found = programs.iter().filter_map(|(number, acts)| {
            let wrong = wrong(acts, &ran[number], &mut Figures::default())?;
            let recorded = ran[number].as_ref().map_or(String::new(), |recorded| recorded.text.clone());
            Some((acts.clone(), format!("{wrong}\nrecorded\n{recorded}")))
        });
        let Some(next) = found.min_by_key(|(acts, _)| acts.len()) else { return least };
        let is_less = next.0.len() < least.0.len();
        least = next;
        if !is_less {
            return least;
        }
    }
}

fn check(style: Style, default: u64, least: fn(&Figures) -> bool) {
    let machine = Machine::new();
    let first = std::env::var("FORETRACE_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    let count = cases(default);
    let mut figures = Figures::default();
    let mut failures: Vec<(u64, String)> = Vec::new();
    let seeds: Vec<u64> = (first..first + count).collect();
    for some in seeds.chunks(AT_ONCE) {
        let program = |&seed: &u64| (seed, acts::random(style, &mut Random::new((style as u64) << 40 | seed)));
        let programs: BTreeMap<u64, Vec<Act>> = some.iter().map(program).collect();
        let ran = machine.run(&programs, false);
        for (seed, acts) in &programs {
            if let Some(wrong) = wrong(acts, &ran[seed], &mut figures) {
                failures.push((*seed, wrong));
            }
        }
        if !failures.is_empty() {
            break;
        }
    }
    println!("{style:?}: {count} programs, {figures:?}");
    if let Some((seed, error)) =
        failures.iter().min_by_key(|(seed, _)| acts::random(style, &mut Random::new((style as u64) << 40 | seed)).len())
    {
        let acts = acts::random(style, &mut Random::new((style as u64) << 40 | seed));
        let (least, what) = shrunk(&machine, &acts);
        let seeds: Vec<u64> = failures.iter().map(|(seed, _)| *seed).take(20).collect();
        panic!(
            "{style:?}: {} wrong, seeds {seeds:?}\nseed {seed}: {error}\n\nsmaller\n{}{what}\n{least:?}",
            failures.len(),
            acts::trace_of(&least)
        );
    }
    assert!(count < default || least(&figures), "{figures:?}");
}

#[test]
fn small_programs() {
    check(Style::Small, 1_000, |found| found.racy > 200 && found.predicted > 600);
}

#[test]
fn long_programs() {
    check(Style::Long, 500, |found| found.racy > 200 && found.pins > 100);
}

#[test]
fn objects_that_come_unseen() {
    check(Style::Unseen, 800, |found| found.racy > 100 && found.pins > 50);
}

#[test]
fn elements_that_share_a_cell() {
    check(Style::Sharing, 100, |found| found.racy > 50 && found.pins > 100);
}

/// A program: `0w(x)` is a write by the first thread; `x` and `y` are fields, `z` one that a `VarHandle` accesses, too,
/// `l` a monitor.
fn program(text: &str) -> Vec<Act> {
    let act = |word: &str| {
        let thread = word[..1].parse().expect("a thread");
        let (op, of) = word[1..].trim_end_matches(')').split_once('(').expect("an operation");
        let variable = || "xy......z".find(of).expect("a variable");
        let what = match op {
            "acq" => Do::Acquire(0),
            "rel" => Do::Release(0),
            "fork" => Do::Fork(of.parse().expect("a thread")),
            op => Do::Access(Way::ALL.into_iter().find(|way| way.text() == op).expect("an access"), variable()),
        };
        Act { thread, what }
    };
    text.split_whitespace().map(act).collect()
}

/// What the test above found first.
#[test]
fn what_simpler_filters_get_wrong() {
    let in_a_row = format!("0fork(1) 1r(x) {} 0w(x)", "0acq(l) 0r(x) 0rel(l) 0r(x) ".repeat(10));
    let examples = [
        // A read after the section that it was read in before: it races.
        "0fork(1) 1r(x) 0acq(l) 0r(x) 0rel(l) 0r(x) 1acq(l) 1w(x) 1rel(l)",
        // After many reads in a row a single write is not dropped.
        &in_a_row,
        // A variable, though some of its accesses have a value.
        "0fork(1) 0r(z) 1ald(z) 0w(z) 1ast(z) 1r(z)",
    ];
    let programs: BTreeMap<u64, Vec<Act>> = (0..).zip(examples.map(program)).collect();
    for (number, recorded) in Machine::new().run(&programs, false) {
        let wrong = wrong(&programs[&number], &recorded, &mut Figures::default());
        assert_eq!(wrong, None, "{}\n{recorded:?}", acts::trace_of(&programs[&number]));
    }
}
