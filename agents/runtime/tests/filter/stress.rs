//! The filter under load: threads that meet at the same cells, and the trace that comes out.

use crate::decode::{Stands, decode};
use crate::memory::{Cells, Owned, Records, cells};
use detect::hb::Hb;
use event::VarId;
use oracle::random::Random;
use runtime::filter::{Access, Filter, Limits, Outcome, Recorder, Shape};
use runtime::record::{Kind, head};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::time::{Duration, Instant};
use trace::Trace;
use trace::text::TextReader;
use trace::validate::Validator;

const THREADS: usize = 4;
/// The cells: each thread's own, shared under a lock, shared without one, only read by all.
const OWN: usize = 4;
const LOCKED: usize = 3;
const RACY: usize = 2;
const READ: usize = 3;
const CELLS: usize = THREADS * OWN + LOCKED + RACY + READ;

/// Cells that belong to one thread at a time, as in the agent, but with full barriers.
const REGION: usize = 3;
const UNBIASED: u32 = u32::MAX;
const BEING_REVOKED: u32 = u32::MAX - 1;
const SECOND: u32 = 1 << 8;

#[derive(Default)]
struct Units {
    owners: [AtomicU32; CELLS / REGION + 1],
    inside: [AtomicBool; THREADS + 1],
    revoking: Mutex<()>,
}

impl Units {
    /// Enters the critical region of a thread. Returns whether it owns the region of a cell.
    fn begin(&self, t: usize, cell: usize) -> bool {
        let owner = &self.owners[cell / REGION];
        loop {
            match self.try_begin(t, cell) {
                Some(biased) => return biased,
                None => {
                    self.inside[t].store(false, SeqCst);
                    let _taking = self.revoking.lock().expect("no panics");
                    let old = owner.load(SeqCst);
                    let new = match old {
                        0 => t as u32 + 1,
                        old if old & SECOND == 0 => (t as u32 + 1) | SECOND,
                        _ => UNBIASED,
                    };
                    if old != 0 && old != UNBIASED {
                        owner.store(BEING_REVOKED, SeqCst);
                        while self.inside[(old & !SECOND) as usize - 1].load(SeqCst) {
                            std::thread::yield_now();
                        }
                    }
                    owner.store(new, SeqCst);
                }
            }
        }
    }

    /// Enters the critical region of a thread, if its region need not be revoked.
    fn try_begin(&self, t: usize, cell: usize) -> Option<bool> {
        self.inside[t].store(true, SeqCst);
        match self.owners[cell / REGION].load(SeqCst) {
            UNBIASED => Some(false),
            owner if owner != BEING_REVOKED && owner & !SECOND == t as u32 + 1 => Some(true),
            _ => None,
        }
    }
}

#[derive(Default)]
struct Counts {
    repeated: u64,
    covered: u64,
    kept: u64,
    written: u64,
}

struct Thread<'f> {
    filter: &'f Filter,
    cells: &'f Cells,
    regions: &'f Units,
    recorder: Recorder,
    sink: Records<'f>,
    counts: Counts,
    /// By cell: how often it was accessed.
    accesses: Vec<u64>,
    writes: Vec<u64>,
}

impl Thread<'_> {
    fn access(&mut self, cell: usize, write: bool) {
        self.accesses[cell] += 1;
        self.writes[cell] += u64::from(write);
        if self.recorder.is_covered(self.cells.cell(cell), 0xff, write) {
            self.counts.covered += 1;
            return;
        }
        let (t, context) = (self.recorder.slot() as usize, cell as u32 + 1);
        let repeated = match self.regions.try_begin(t, cell) {
            Some(true) => {
                let of = self.cells.cell(cell);
                self.recorder.repeat_biased(of, 0xff, write, context)
                    || self.recorder.first_touch(self.filter, of, 0xff, write, context)
            }
            Some(false) => {
                let of = self.cells.cell(cell);
                self.recorder.renew_shared(of, 0xff, write, context)
                    || self.recorder.repeat_locked(of, 0xff, write, context)
            }
            None => false,
        };
        self.regions.inside[t].store(false, SeqCst);
        if repeated {
            self.counts.repeated += 1;
            self.counts.kept += 1;
            return;
        }
        let access = Access { word: cell as u64, mask: 0xff, write };
        let biased = || self.regions.begin(t, cell);
        let outcome =
            self.recorder.record_access(self.filter, &mut self.sink, self.cells.cell(cell), biased, access, context);
        self.regions.inside[t].store(false, SeqCst);
        match outcome {
            Outcome::Deferred => self.counts.kept += 1,
            Outcome::Written => self.counts.written += 1,
            Outcome::Watched => panic!("nothing is watched"),
        }
    }

    fn sync(&mut self, kind: Kind, object: u64) {
        self.recorder.timed(&mut self.sink, head(kind, 0, object), 0, None);
    }
}

/// What one thread does for a while.
fn work(thread: &mut Thread<'_>, t: usize, lock: &Mutex<()>, r: &mut Random) {
    match r.below(8) {
        0..=2 => {
            for _ in 0..r.below(6) {
                thread.access(t * OWN + r.below(OWN), r.percent(50));
            }
        }
        3..=4 => {
            let guard = lock.lock().expect("no panics");
            thread.sync(Kind::Acquire, 0);
            for _ in 0..r.below(4) {
                thread.access(THREADS * OWN + r.below(LOCKED), r.percent(50));
            }
            thread.sync(Kind::Release, 0);
            drop(guard);
        }
        5 => thread.access(THREADS * OWN + LOCKED + r.below(RACY), r.percent(30)),
        _ => thread.access(CELLS - 1 - r.below(READ), false),
    }
}

/// Of a thread: its records, counts, accesses and writes by cell.
type Done = (Vec<u64>, Counts, Vec<u64>, Vec<u64>);

/// Runs threads for this many steps, and returns their records and counts.
fn run(filter: &Filter, seed: u64, steps: usize) -> Vec<Done> {
    let clock = AtomicU64::new(0);
    let cells = cells(CELLS);
    let (lock, regions) = (Mutex::new(()), Units::default());
    let (clock, cells, lock, regions) = (&clock, &cells, &lock, &regions);
    std::thread::scope(|scope| {
        let begin = |t: usize| Thread {
            filter,
            cells,
            regions,
            recorder: Recorder::begin(filter, t as u32, false),
            sink: Records::new(clock),
            counts: Counts::default(),
            accesses: vec![0; CELLS],
            writes: vec![0; CELLS],
        };
        let mut main = begin(THREADS);
        // What all only read is initialised before they are there.
        for read in CELLS - READ..CELLS {
            main.access(read, true);
        }
        let mut handles = Vec::new();
        for t in 0..THREADS {
            main.recorder.timed(&mut main.sink, head(Kind::Fork, 0, 0), 0, Some(t as u64));
            main.recorder.fork(filter, t as u32);
            handles.push(scope.spawn(move || {
                let mut thread = begin(t);
                thread.sync(Kind::Fence, 0);
                let mut r = Random::new(seed << 8 | t as u64);
                for _ in 0..steps {
                    work(&mut thread, t, lock, &mut r);
                }
                thread.sync(Kind::ThreadEnd, 0);
                thread.recorder.end(filter);
                (thread.sink.words, thread.counts, thread.accesses, thread.writes)
            }));
        }
        let mut all: Vec<_> = handles.into_iter().map(|handle| handle.join().expect("no panics")).collect();
        for t in 0..THREADS {
            main.recorder.timed(&mut main.sink, head(Kind::Join, 0, 0), 0, Some(t as u64));
            main.recorder.join(filter, t as u32);
            assert!(filter.may_use_again(t as u32, &main.recorder));
        }
        // All of it is ordered before this: what each thread had for itself is never recorded.
        for cell in 0..CELLS {
            main.access(cell, true);
        }
        all.push((main.sink.words, main.counts, main.accesses, main.writes));
        all
    })
}

/// The trace as text.
fn text(all: &[Stands]) -> String {
    let mut text = String::new();
    let mut line = |slot: usize, op: &str, object: u64| {
        let thread = if matches!(op, "fork" | "join") { "T" } else { "" };
        writeln!(text, "T{slot}|{op}({thread}{object})|1").expect("a string");
    };
    for stands in all {
        match stands {
            // Nothing here is ordered only by what a thread reads.
            Stands::Deferred(deferred) if deferred.is_barrier => {}
            Stands::Deferred(deferred) => line(deferred.slot, if deferred.write { "w" } else { "r" }, deferred.word),
            Stands::OnTime(record) => match record.kind {
                Kind::ConflictRead => line(record.slot, "r", record.payload),
                Kind::ConflictWrite => line(record.slot, "w", record.payload),
                Kind::Acquire => line(record.slot, "acq", record.payload),
                Kind::Release => line(record.slot, "rel", record.payload),
                Kind::Fork => line(record.slot, "fork", record.word),
                Kind::Join => line(record.slot, "join", record.word),
                _ => {}
            },
        }
    }
    text
}

#[test]
fn threads_meet() {
    let begun = Instant::now();
    let (mut covered, mut repeated, mut deferred, mut events, mut all_racy) = (0, 0, 0, 0, 0);
    let mut seed = 0;
    while begun.elapsed() < Duration::from_secs(3) {
        let shape = Shape { slots: THREADS as u32 + 1, nodes: 1000 };
        // Most threads keep all they may, some only the newest.
        let per_context = if seed % 3 == 2 { 20 } else { Limits::default().per_context };
        let filter = Owned::new(shape, Limits { entries: 8, per_context, ..Limits::default() });
        let steps = 40 + seed as usize % 7 * 300;
        let all = run(&filter, seed, steps);
        let words: Vec<&[u64]> = all.iter().map(|thread| &thread.0[..]).collect();
        let stands = decode(&words);
        let mut seen = vec![vec![0; CELLS]; THREADS + 1];
        let mut dropped = vec![vec![false; CELLS]; THREADS + 1];
        for stands in &stands {
            let (slot, cell) = match stands {
                Stands::Deferred(deferred) if deferred.is_barrier => {
                    dropped[deferred.slot][deferred.word as usize] = true;
                    continue;
                }
                Stands::Deferred(deferred) => (deferred.slot, deferred.word),
                Stands::OnTime(record) if matches!(record.kind, Kind::ConflictRead | Kind::ConflictWrite) => {
                    (record.slot, record.payload)
                }
                _ => continue,
            };
            seen[slot][cell as usize] += 1;
        }
        let shared = THREADS * OWN..CELLS;
        for (t, (words, counts, accesses, writes)) in all.iter().enumerate() {
            let total: u64 = accesses.iter().sum();
            assert_eq!(counts.covered + counts.kept + counts.written, total, "seed {seed}");
            let written = words_of(words, &[Kind::ConflictRead, Kind::ConflictWrite]);
            assert_eq!(written, counts.written, "seed {seed}");
            // A thread that has written what others access, or read what others write, is in the trace, and no more
            // often than it was there.
            for cell in shared.clone().filter(|_| t < THREADS) {
                let mut others = (0..THREADS).filter(|&u| u != t);
                let is_met = others.any(|u| all[u].3[cell] > 0 || writes[cell] > 0 && all[u].2[cell] > 0);
                let is_there = seen[t][cell] > 0 || dropped[t][cell] || !is_met;
                assert!(accesses[cell] == 0 || is_there, "seed {seed} thread {t} cell {cell}");
                assert!(seen[t][cell] <= accesses[cell], "seed {seed} thread {t} cell {cell}");
            }
            covered += counts.covered;
            repeated += counts.repeated;
        }
        deferred += stands.iter().filter(|stands| matches!(stands, Stands::Deferred(_))).count();
        let text = text(&stands);
        let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
        let problems = Validator::new().check(&trace.names, &trace.batch).to_vec();
        assert!(problems.is_empty(), "{problems:?} seed {seed}");
        let mut hb = Hb::new();
        hb.batch(&trace.names, &trace.batch);
        let racy: BTreeSet<usize> = hb
            .finish()
            .races
            .iter()
            .map(|race| trace.names.var(VarId(race.variable.0)).parse().expect("a cell"))
            .collect();
        let may: BTreeSet<usize> = (THREADS * OWN + LOCKED..CELLS - READ).collect();
        assert!(racy.is_subset(&may), "{racy:?} seed {seed}");
        all_racy += usize::from(racy == may);
        events += trace.batch.events.len();
        seed += 1;
    }
    // One thread may have gone after the other, with the lock in between.
    assert!(all_racy > 0 && repeated > 0);
    println!(
        "{seed} runs, {all_racy} with all races, {covered} covered, {repeated} again, \
         {deferred} deferred, {events} events"
    );
}

fn words_of(words: &[u64], kinds: &[Kind]) -> u64 {
    let (mut at, mut count) = (0, 0);
    while at < words.len() {
        let kind = Kind::from_code(words[at] as u8).expect("a kind");
        count += u64::from(kinds.contains(&kind));
        at += kind.words();
    }
    count
}
