//! Cuts a second on threads of independent events with an 8-state monitor, with and without stored levels, and the
//! memory; and how much longer it takes to count all runs than to search them (asked: as long, so that a verdict with
//! counts takes at most twice the time of one without).
//!
//! Run `cargo bench -p foretrace-lattice`. The column `asked` is what the project demands of one core.

use event::PathStatus;
use lattice::{Automaton, Explorer, Limits, Message, count, explore};
use std::time::Instant;

/// Remembers of the first threads whether the last event was an odd one: as many bits as there are. It is violated,
/// once all are, by an event that never comes.
struct Bits(u32);

impl Automaton for Bits {
    fn start(&mut self) -> Vec<u32> {
        vec![0]
    }
    fn step(&mut self, state: u32, class: u32) -> u32 {
        let (thread, odd) = (class / 2, class % 2);
        match () {
            () if thread > 10 && state + 1 == 1 << self.0 => 1 << self.0,
            () if thread < self.0 => state & !(1 << thread) | odd << thread,
            () => state,
        }
    }
    fn status(&self, state: u32) -> PathStatus {
        if state >> self.0 == 1 { PathStatus::Violated } else { PathStatus::Open }
    }
}

/// The cuts of ten independent threads, the seconds to search them, and those to count them, with one core each.
fn search_and_count(events: u32, bits: u32) -> (u64, f64, f64) {
    let lines = (0..events).flat_map(|n| (0..10).map(move |thread| format!("T{thread}|ev(e{n})|{n}\n")));
    let text = lines.collect::<String>();
    let recorded = trace::Trace::read(&mut trace::text::TextReader::new(text.as_bytes())).expect("it is a trace");
    let trace = order::Trace::new(&recorded.names, &recorded.batch);
    let structure = order::full_hb(&trace, |_| true);
    let class = |index: u64| (index % 10 * 2 + index / 10 % 2) as u32;
    let limits = Limits { threads: 1, bytes: 4 << 30, ..Limits::default() };
    let timed = |run: &dyn Fn() -> u64| {
        let (begun, worked) = (Instant::now(), worked());
        let cuts = run();
        let seconds = worked.zip(crate::worked()).map(|(before, after)| (after - before) as f64 / 1e9);
        (cuts, seconds.unwrap_or_else(|| begun.elapsed().as_secs_f64()))
    };
    let best = |run: &dyn Fn() -> u64| {
        let (first, second) = (timed(run), timed(run));
        if first.1 < second.1 { first } else { second }
    };
    let (cuts, searched) = best(&|| explore(&structure, &class, Bits(bits), &limits).figures.cuts);
    let (_, counted) = best(&|| count(&structure, &class, Bits(bits), &limits).expect("there is room").cuts);
    (cuts, searched, counted)
}

/// Eight states, none of which is violated, so that nothing ends the search early.
struct Eight {
    next: Vec<[u32; 8]>,
}

impl Automaton for Eight {
    fn start(&mut self) -> Vec<u32> {
        vec![0]
    }
    fn step(&mut self, state: u32, class: u32) -> u32 {
        self.next[class as usize][state as usize]
    }
    fn status(&self, _state: u32) -> PathStatus {
        PathStatus::Open
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        ((u128::from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)) * u128::from(n)) >> 64) as u32
    }
}

fn eight(random: &mut Random) -> Eight {
    // The first class goes round, so all eight are reached.
    let mut next = vec![std::array::from_fn(|state| (state as u32 + 1) % 8)];
    next.extend((0..3).map(|_| std::array::from_fn(|_| random.below(8))));
    Eight { next }
}

/// Runs one search: its cuts and its seconds.
fn run(chains: u32, events: u32, history: Option<usize>, threads: usize) -> (u64, f64) {
    let mut random = Random(42);
    let limits = Limits { history, threads, bytes: 4 << 30, ..Limits::default() };
    let mut explorer = Explorer::new(eight(&mut random), limits, None);
    for chain in 0..chains {
        for number in 0..events {
            let index = u64::from(number * chains + chain);
            explorer.message(Message { chain, number, index, class: random.below(4), predecessors: &[] });
        }
        explorer.end(chain);
    }
    let (begun, worked) = (Instant::now(), worked());
    explorer.advance();
    // With one thread, only its own processor time counts, so that a loaded machine does not matter.
    let seconds = match worked.filter(|_| threads == 1).zip(crate::worked()) {
        Some((before, after)) => (after - before) as f64 / 1e9,
        None => begun.elapsed().as_secs_f64(),
    };
    (explorer.outcome().figures.cuts, seconds)
}

/// The processor time of this thread, in nanoseconds.
fn worked() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The greatest memory that this process has had, in MB.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kb| kb / 1024)
}

fn main() {
    if std::env::args().any(|arg| arg == "--memory") {
        return memory();
    }
    let quick = std::env::args().any(|arg| arg == "--quick");
    println!("threads x events        cuts   M cuts/s  asked   with levels kept   two cores");
    let table: [(u32, u32, u32); 9] = [
        (2, 6000, 60),
        (3, 330, 60),
        (4, 78, 0),
        (5, 32, 0),
        (6, 18, 0),
        (7, 12, 0),
        (8, 8, 20),
        (9, 6, 0),
        (10, 5, 15),
    ];
    for (chains, events, asked) in table {
        let events = if quick { events / 2 } else { events };
        let best = |history, threads| {
            let runs = (0..2).map(|_| run(chains, events, history, threads));
            runs.map(|(cuts, seconds)| (cuts, cuts as f64 / seconds / 1e6))
                .fold((0, 0.0), |a: (u64, f64), b| (b.0, a.1.max(b.1)))
        };
        let (cuts, plain) = best(None, 1);
        let (_, kept) = best(Some(1 << 28), 1);
        let (_, both) = best(None, 2);
        let slow = if plain < f64::from(asked) { "  SLOW" } else { "" };
        let asked = if asked == 0 { String::new() } else { asked.to_string() };
        println!("{:>7} x {events:<6} {cuts:>12} {plain:>10.1} {asked:>6} {kept:>18.1} {both:>11.1}{slow}", chains);
    }
    println!("\n10 threads x {} events   M cuts/s searched   counted   times as long", if quick { 3 } else { 5 });
    for (what, bits) in [("monitor of 4 states", 2), ("monitor of 1024 states", 10)] {
        let (cuts, searched, counted) = search_and_count(if quick { 3 } else { 5 }, bits);
        let rate = |seconds: f64| cuts as f64 / seconds / 1e6;
        println!("{what:>24} {:>19.1} {:>9.1} {:>15.2}", rate(searched), rate(counted), counted / searched);
    }
    // The memory is measured in a new process, which has not run the searches above.
    if !quick && let Ok(own) = std::env::current_exe() {
        let out = std::process::Command::new(own).arg("--memory").output().map(|out| out.stdout).unwrap_or_default();
        print!("\n{}", String::from_utf8_lossy(&out));
    }
}

/// Measures the memory of 8 threads of 10 independent events, with two levels in memory.
fn memory() {
    let (cuts, seconds) = run(8, 10, None, 1);
    let rate = cuts as f64 / seconds / 1e6;
    let peak = peak().map_or_else(|| "unknown".to_owned(), |mb| format!("{mb} MB"));
    println!("8 x 10: {cuts} cuts, {rate:.1} M cuts/s, peak memory {peak} (asked: 300 MB)");
}
