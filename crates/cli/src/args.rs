//! The command line: one definition for the parser, the help, the man page and the completions.

use crate::choice::{self, Choice};
use crate::help;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use event::CausalityChoice;
use property::check::{AtEnd, Breadth, Steps};
use std::path::PathBuf;

/// Watches one run of a multithreaded program and predicts what can go wrong in the runs that did not happen.
#[derive(Parser)]
#[command(name = "foretrace", version, arg_required_else_help = true, max_term_width = choice::WIDTH)]
#[command(after_help = "Start with:  foretrace demo\n\n\
    Exit codes: 0 nothing new, 1 new findings, 2 the tool or its input failed, 130 interrupted.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Show a built-in example, end to end
    Demo(Demo),
    /// Run a program, watch it, and report what went wrong and what could have
    Run(Box<Run>),
    /// Run a program again, driven towards each finding of an earlier run, and say which ones come about
    Confirm(Confirm),
    /// Only record a program, to a trace
    Record(Record),
    /// Analyse a trace: find races, deadlocks and the like, check properties, on the recorded run and on predicted ones
    Check(Check),
    /// Check a specification and explain it
    Spec(Spec),
    /// Print who took which lock while holding which, and the cycles in it
    Locks(Locks),
    /// Print the race window: the threads of findings and warnings, and those that have a hand in them
    Window(Window),
    /// Print a trace as text
    Show(Show),
    /// Change the format of a trace
    Convert(Convert),
    /// Make a trace, the same bytes for the same seed
    Gen(Box<Gen>),
    /// The C compiler, with what makes its programs watchable: CC="foretrace cc" make
    Cc(Compiler),
    /// The C++ compiler, likewise: CXX="foretrace c++" make
    #[command(name = "c++")]
    Cpp(Compiler),
    /// Rewrite a jar so that its classes need not be changed when they are loaded: it starts faster under `run`
    Weave(Weave),
    /// Write the header and the Java API for programs that mark events themselves
    Sdk(Sdk),
    /// Say what is installed, and what is missing
    Doctor,
    /// Print a completion script for a shell
    Completions(Completions),
    /// Print the manual page
    Man,
}

/// Options of `demo`.
#[derive(Args)]
pub(crate) struct Demo {
    /// Which example
    #[arg(default_value = "landing")]
    pub(crate) name: String,
    /// Name the examples there are
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the example's trace instead, to try the other commands on it
    #[arg(long, conflicts_with = "list")]
    pub(crate) trace: bool,
    /// Print the example's specification instead
    #[arg(long, conflicts_with_all = ["list", "trace"])]
    pub(crate) spec: bool,
}

/// Options of `check`.
#[derive(Args)]
#[command(after_help = help::check())]
pub(crate) struct Check {
    /// The trace: binary, text, or RoadRunner's output, each maybe compressed; `-` for standard input
    pub(crate) trace: PathBuf,
    #[command(flatten)]
    pub(crate) analysis: Options,
}

/// What to look for in a trace, and how to report it: the options that `check` and `run` share.
#[derive(Args, Clone)]
pub(crate) struct Options {
    /// Which detectors to run (see below); replaces the `check` lines of a specification [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = choice::parse, allow_hyphen_values = true)]
    pub(crate) detect: Vec<Choice>,
    /// Check the properties of a specification; may be given several times
    #[arg(long, value_name = "FILE.rvs")]
    pub(crate) spec: Vec<PathBuf>,
    /// Check a past-time formula over the trace's variables, without a file; may be given several times
    #[arg(long, value_name = "FORMULA")]
    pub(crate) property: Vec<String>,
    /// Initial values of variables, before those of the specification and of the trace
    #[arg(long, value_name = "x=0,y=1")]
    pub(crate) init: Option<String>,
    /// Which runs are predicted from the recorded one (default: what the specification says, else auto)
    #[arg(long, value_name = "MODEL", value_parser = causality())]
    pub(crate) causality: Option<CausalityChoice>,
    /// Keep so many cuts of each level of the lattice, those nearest to the recorded run; 1 is the recorded run
    #[arg(long, value_name = "N|all", value_parser = breadth)]
    pub(crate) breadth: Option<Breadth>,
    /// Look at so many events together under weak-hb and maximal, and in detectors that search [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) window: Option<u64>,
    /// Let each detector that searches take so many seconds [default: 10; `run`, if more than 30000 events were
    /// recorded: a third of the time that the program ran, of at least half a second, and at most 10]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) search_time: Option<u64>,
    /// Make at most so many cuts of the lattice
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_cuts: Option<u64>,
    /// Count the cuts, edges, runs and bad runs of the lattice: exact, and nothing is pruned
    #[arg(long)]
    pub(crate) count: bool,
    /// Which events are steps of a property: those it mentions, or all
    #[arg(long, value_name = "WHICH", value_parser = words(Steps::ALL, Steps::text, Steps::meaning))]
    pub(crate) steps: Option<Steps>,
    /// What the end of the trace means for future-time properties
    #[arg(long, value_name = "RULE", value_parser = words(AtEnd::ALL, AtEnd::text, AtEnd::meaning))]
    pub(crate) at_end: Option<AtEnd>,
    /// Do not count findings that a file in ThreadSanitizer's format suppresses; may be given several times
    #[arg(long, value_name = "FILE")]
    pub(crate) suppress: Vec<PathBuf>,
    /// Write the result as JSON to a file, or with `-` to standard output instead of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Count warnings, searches cut short, incomplete traces and traces with problems as failures (exit code 1)
    #[arg(long)]
    pub(crate) strict: bool,
    /// Exit with this code if there are findings, instead of 1; with 0, `run` exits as the program does
    #[arg(long, value_name = "N")]
    pub(crate) exit_code: Option<u8>,
    /// Show every warning in full, also those that are only counted otherwise
    #[arg(long)]
    pub(crate) warnings: bool,
    /// Show every frame of call stacks, also those of the C and C++ libraries, the JDK, JUnit and Foretrace itself
    #[arg(long)]
    pub(crate) full_stacks: bool,
    /// Print no text: the result is in the exit code, on standard error and in --json
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Whether to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// Options of `run`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/run.txt")))]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) analysis: Options,
    /// Stop the program soon after its first observed race, misuse or violation of a property, and report
    #[arg(long)]
    pub(crate) halt_on_error: bool,
    /// Run the program again, driven towards what was found, and say which findings come about (see `confirm --help`)
    #[arg(long)]
    pub(crate) confirm: bool,
    #[command(flatten)]
    pub(crate) recorder: Recorder,
}

/// Options of `confirm`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/confirm.txt")))]
pub(crate) struct Confirm {
    /// The findings: what `run --json` or `check --json` wrote. The outcomes are written back into this file
    #[arg(value_name = "FINDINGS.json")]
    pub(crate) findings: PathBuf,
    /// Only the finding with this id; may be given several times
    #[arg(long, value_name = "ID")]
    pub(crate) only: Vec<String>,
    /// How often the program is run for each finding, at most
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) tries: u32,
    /// Stop a run of the program after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub(crate) timeout: u64,
    /// Write the result to this file, and leave FINDINGS.json as it is; `-`: to standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Show the output of the program
    #[arg(long)]
    pub(crate) output: bool,
    /// Do not say what is tried
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The program and its arguments [default: what was run when the findings were made]
    #[arg(last = true, value_name = "CMD")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// Options of `record`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/record.txt")))]
pub(crate) struct Record {
    /// Record the values of what a specification speaks of; may be given several times
    #[arg(long, value_name = "FILE.rvs")]
    pub(crate) spec: Vec<PathBuf>,
    /// Do not say what was recorded
    #[arg(long, short)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) recorder: Recorder,
}

/// How to record: the options that `run` and `record` share.
#[derive(Args)]
pub(crate) struct Recorder {
    /// Which accesses of memory are recorded [default: those that another thread could notice]
    #[arg(long, value_name = "WHAT")]
    pub(crate) record: Option<What>,
    /// Drop records rather than slow the program down when they come too fast; what is missing is reported
    #[arg(long)]
    pub(crate) lossy: bool,
    /// Stop the program when it has run for so many seconds (SIGTERM, then SIGKILL), and report: what hangs, says why
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) timeout: Option<u64>,
    /// When the program ends, let threads that have just been created run until they are so many seconds old
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) exit_wait: f64,
    #[command(flatten)]
    pub(crate) packages: Packages,
    /// Keep the trace in this file
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The program and its arguments; all that follows the program is its own
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<std::ffi::OsString>,
}

/// Which Java classes are watched: the options that `run`, `record` and `weave` share.
#[derive(Args)]
pub(crate) struct Packages {
    /// Watch only these Java packages or classes, as `org.example` or `org.example.*` [default: all of the program and
    /// its libraries; not those of the JDK, Maven, Gradle, JUnit and Hamcrest]
    #[arg(long, value_name = "PACKAGE", value_parser = package)]
    pub(crate) include: Vec<String>,
    /// Do not watch these Java packages or classes; of --include and --exclude, the longer name counts
    #[arg(long, value_name = "PACKAGE", value_parser = package)]
    pub(crate) exclude: Vec<String>,
}

/// Options of `weave`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/weave.txt")))]
pub(crate) struct Weave {
    /// The jar to read (or .war, .ear)
    #[arg(value_name = "IN.jar")]
    pub(crate) input: PathBuf,
    /// The jar to write
    #[arg(value_name = "OUT.jar")]
    pub(crate) output: PathBuf,
    #[command(flatten)]
    pub(crate) packages: Packages,
}

/// Options of `sdk`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/sdk.txt")))]
pub(crate) struct Sdk {
    /// The folder to write to; it is made if it is not there
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Which accesses are recorded.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum What {
    /// Every one: large and slow
    All,
    /// None: only locks, threads, conditions, atomics
    Sync,
}

/// Options of `cc` and `c++`: all are the compiler's.
#[derive(Args)]
#[command(
    disable_help_flag = true,
    after_help = help::text(include_str!("help/cc.txt"))
)]
pub(crate) struct Compiler {
    /// The compiler's own arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub(crate) args: Vec<std::ffi::OsString>,
}

/// Reads a causality model, or `auto`.
fn causality() -> impl TypedValueParser<Value = CausalityChoice> {
    let values = CausalityChoice::ALL.map(|choice| {
        let value = PossibleValue::new(choice.text()).help(choice.meaning());
        if choice.keyword() == choice.text() { value } else { value.alias(choice.keyword()) }
    });
    PossibleValuesParser::new(values).map(|text| CausalityChoice::parse(&text).expect("a possible value"))
}

/// Reads one of the values of a setting.
fn words<T: Copy + Send + Sync>(
    all: &'static [T],
    text: fn(T) -> &'static str,
    meaning: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let values = all.iter().map(|&value| PossibleValue::new(text(value)).help(meaning(value)));
    let find = move |given: String| all.iter().copied().find(|&value| text(value) == given).expect("a possible value");
    PossibleValuesParser::new(values).map(find)
}

/// A number of seconds, up to a day.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.0..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "a number of seconds, such as 0, 0.5 or 3".to_owned())
}

fn package(text: &str) -> Result<String, String> {
    let why = "it names no Java package or class: say `org.example` or `org.example.*`, or leave the option out";
    if weave::ClassFilter::can_name(text) { Ok(text.to_owned()) } else { Err(why.to_owned()) }
}

fn breadth(text: &str) -> Result<Breadth, String> {
    match text {
        "all" => Ok(Breadth::All),
        _ => match text.parse() {
            Ok(n) if n >= 1 => Ok(Breadth::Cuts(n)),
            _ => Err("a number of at least 1, or `all`".to_owned()),
        },
    }
}

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// If the text goes to a terminal and NO_COLOR is not set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Options of `spec`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/spec.txt")))]
pub(crate) struct Spec {
    /// The specification; files that it imports are found from where it is
    #[arg(value_name = "FILE.rvs")]
    pub(crate) file: PathBuf,
    /// Draw the automata of its properties instead, for Graphviz
    #[arg(long)]
    pub(crate) dot: bool,
    /// Whether to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
}

/// Options of `locks`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/locks.txt")))]
pub(crate) struct Locks {
    /// The trace, `-` for standard input
    pub(crate) trace: PathBuf,
}

/// Options of `window`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/window.txt")))]
pub(crate) struct Window {
    /// The trace, `-` for standard input
    pub(crate) trace: PathBuf,
    /// Which detectors to run [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = choice::parse, allow_hyphen_values = true)]
    pub(crate) detect: Vec<Choice>,
}

/// Options of `show`.
#[derive(Args)]
pub(crate) struct Show {
    /// The trace, `-` for standard input
    pub(crate) trace: PathBuf,
    /// Begin with this event (they count from 0)
    #[arg(long, value_name = "INDEX", default_value_t = 0)]
    pub(crate) from: u64,
    /// Print at most this many events
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
}

/// Options of `convert`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/convert.txt")))]
pub(crate) struct Convert {
    /// The trace to read, `-` for standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    /// The trace to write, `-` for text on standard output
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,
}

/// Options of `gen`.
#[derive(Args)]
#[command(after_help = help::text(include_str!("help/gen.txt")))]
pub(crate) struct Gen {
    /// Where to write; the name decides the format as for `convert`, `-` is text on standard output
    #[arg(long, short, value_name = "T")]
    pub(crate) output: PathBuf,
    /// How many events
    #[arg(long, default_value_t = 1_000_000)]
    pub(crate) events: u64,
    /// How many threads, the main thread included; with --churn, at the same time
    #[arg(long, default_value_t = 8)]
    pub(crate) threads: u32,
    /// How many variables to choose from
    #[arg(long, default_value_t = 10_000)]
    pub(crate) vars: u32,
    /// How many locks to choose from
    #[arg(long, default_value_t = 100)]
    pub(crate) locks: u32,
    /// With one seed and the same options it gives the same bytes, for ever and on every machine
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Mean number of events that a thread runs before another is picked
    #[arg(long, value_name = "MEAN", default_value_t = 40.0)]
    pub(crate) quantum: f64,
    /// Mean number of accesses in a critical section
    #[arg(long, value_name = "MEAN", default_value_t = 8.0)]
    pub(crate) cslen: f64,
    /// Probability of a critical section instead of an access without a lock
    #[arg(long, value_name = "P", default_value_t = 0.06)]
    pub(crate) pcs: f64,
    /// Fraction of the accesses outside critical sections that race
    #[arg(long, value_name = "P", default_value_t = 0.0005)]
    pub(crate) racy: f64,
    /// Fraction of critical sections that take a second lock
    #[arg(long, value_name = "P", default_value_t = 0.1)]
    pub(crate) nest: f64,
    /// Fraction of critical sections that may take it against the usual order (possible deadlocks)
    #[arg(long, value_name = "P", default_value_t = 0.001)]
    pub(crate) rev: f64,
    /// Fraction of accesses that are writes
    #[arg(long, value_name = "P", default_value_t = 0.3)]
    pub(crate) writes: f64,
    /// Make every outermost critical section an atomic block
    #[arg(long)]
    pub(crate) txn: bool,
    /// Put in one violation of atomicity after N events (with --txn)
    #[arg(long, value_name = "N", requires = "txn")]
    pub(crate) viol: Option<u64>,
    /// Record values: every read sees what was last written
    #[arg(long)]
    pub(crate) values: bool,
    /// Fraction of critical sections that hold a reader lock
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub(crate) readers: f64,
    /// Fraction of critical sections that wait for a condition
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub(crate) waits: f64,
    /// Leave threads that wait at the end waiting for ever
    #[arg(long)]
    pub(crate) stranded: bool,
    /// Probability that a worker thread ends after its turn and a new one takes its place
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    pub(crate) churn: f64,
    /// Sprinkle in every operation there is
    #[arg(long)]
    pub(crate) all_ops: bool,
    /// Variables that all threads write now and then, with values from 0 to 6
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) watch: Vec<String>,
    /// Mean number of events between two such occasions
    #[arg(long, value_name = "MEAN", default_value_t = 1000.0, requires = "watch")]
    pub(crate) watch_every: f64,
    /// After N events, let the first two of them hold 7 so that another run has them hold it at once
    #[arg(long, value_name = "N", requires = "watch")]
    pub(crate) plant: Option<u64>,
}

/// Options of `completions`.
#[derive(Args)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}
