//! Events a second of the race detectors, on one core, the best of several runs.
//!
//! Seconds are those that the thread was running, where the system says so: other programs on the machine do not
//! count, but what they do to caches does.
//!
//! `cargo bench -p foretrace-detect --bench races [-- EVENTS] [plain] [runs=N]`; asked are, of `hb` from a binary
//! trace, 25 million on the plain trace, no more than 1.5 times slower on the racy one, and no more than 2.5 times
//! slower with 128 threads; from a text, 5 million.

use detect::hb::Hb;
use detect::lockset::Lockset;
use event::Batch;
use generate::{Generator, Options};
use std::io::Cursor;
use std::sync::OnceLock;
use std::time::Instant;
use trace::binary::{BinaryReader, BinaryWriter};
use trace::text::{TextReader, TextWriter};
use trace::{Source, Trace};

const EVENTS: u64 = 10_000_000;

/// Seconds that this thread has been running so far; on systems that do not say so, seconds since the first call.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let running = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = running.and_then(|text| text.split_whitespace().next()?.parse::<f64>().ok()).filter(|&n| n > 0.0);
    nanoseconds.map_or_else(|| START.get_or_init(Instant::now).elapsed().as_secs_f64(), |n| n / 1e9)
}

/// What one line of the table is about.
struct Bench {
    what: &'static str,
    /// Millions of them.
    events: f64,
    runs: usize,
}

impl Bench {
    /// Prints the best of several runs.
    fn best(&self, of: &str, run: impl Fn() -> String) {
        let timed = || {
            let started = seconds();
            let result = run();
            (seconds() - started, result)
        };
        let runs = (0..self.runs).map(|_| timed());
        let Some((seconds, result)) = runs.min_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        println!("{:>12}  {of:<24}  {:6.1} M events/s  {seconds:.3} s  {result}", self.what, self.events / seconds);
    }
}

fn binary(trace: &Trace) -> Vec<u8> {
    let mut writer = BinaryWriter::new(Vec::new()).expect("memory takes all");
    writer.write_batch(&trace.names, &trace.meta, &trace.batch).expect("memory takes all");
    writer.finish(&trace.names, &trace.meta).expect("memory takes all")
}

fn text(trace: &Trace) -> Vec<u8> {
    let mut writer = TextWriter::new(Vec::new());
    writer.write_batch(&trace.names, &trace.batch).expect("memory takes all");
    writer.finish(&trace.losses).expect("memory takes all")
}

fn read(source: &mut dyn Source) -> String {
    let mut batch = Batch::default();
    while source.next_batch(&mut batch).expect("it was written so") {}
    String::new()
}

fn hb(source: &mut dyn Source) -> String {
    let (mut hb, mut batch) = (Hb::new(), Batch::default());
    while source.next_batch(&mut batch).expect("it was written so") {
        hb.batch(source.names(), &batch);
    }
    format!("{} racy events", hb.finish().racy_events)
}

fn measure(what: &'static str, options: Options, runs: usize) {
    let mut generator = Generator::new(options).expect("these options make sense");
    let trace = Trace::read(&mut generator).expect("a generator does not fail");
    let bench = Bench { what, events: trace.batch.events.len() as f64 / 1e6, runs };
    let bytes = binary(&trace);
    let open = || BinaryReader::open(Cursor::new(&bytes)).expect("it was written so");
    bench.best("reading binary", || read(&mut open()));
    bench.best("hb in memory", || {
        let mut hb = Hb::new();
        hb.batch(&trace.names, &trace.batch);
        format!("{} racy events", hb.finish().racy_events)
    });
    bench.best("hb from binary", || hb(&mut open()));
    if what == "plain" {
        let text = text(&trace);
        bench.best("reading text", || read(&mut TextReader::new(&text[..])));
        bench.best("hb from text", || hb(&mut TextReader::new(&text[..])));
    }
    bench.best("lockset in memory", || {
        let mut lockset = Lockset::new();
        lockset.batch(&trace.names, &trace.batch);
        format!("{} racy events", lockset.finish().racy_events)
    });
}

fn main() {
    let events = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(EVENTS);
    let runs = std::env::args().find_map(|arg| arg.strip_prefix("runs=")?.parse().ok()).unwrap_or(5);
    let plain = Options { events, threads: 8, vars: 100_000, locks: 100, seed: 1, ..Options::default() };
    measure("plain", plain.clone(), runs);
    if std::env::args().any(|arg| arg == "plain") {
        return;
    }
    measure("racy", Options { racy: 0.05, pcs: 0.002, ..plain.clone() }, runs);
    measure("few locks", Options { pcs: 0.002, ..plain.clone() }, runs);
    measure("128 threads", Options { threads: 128, ..plain.clone() }, runs);
    measure("128 racy", Options { threads: 128, racy: 0.05, pcs: 0.002, ..plain.clone() }, runs);
    measure("churn", Options { churn: 0.01, ..plain.clone() }, runs);
    measure("all ops", Options { all_ops: true, ..plain }, runs);
}
