//! Nanoseconds for each way that an access can go: `cargo bench -p foretrace-runtime`.
#![allow(unsafe_code)]

use runtime::filter::{Access, AtomicEntry, Cell, Filter, Limits, Recorder, Shape, Sink};
use runtime::hand_off::Timing;
use runtime::record::{Kind, head};
use std::alloc::{Layout, alloc_zeroed};
use std::hint::black_box;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

/// Forgets what is written, as fast as a chunk would take it.
struct Ring<'t> {
    clock: &'t AtomicU64,
    words: Vec<u64>,
    at: usize,
}

impl Sink for Ring<'_> {
    fn begin(&self) {}
    fn written(&self) {}
    fn time(&mut self, _: Timing) -> u64 {
        self.clock.fetch_add(1, Relaxed)
    }
    fn reserve(&mut self, words: usize) {
        if self.at + words > self.words.len() {
            self.at = 0;
        }
    }
    fn put<const WORDS: usize>(&mut self, words: [u64; WORDS]) {
        self.words[self.at..self.at + words.len()].copy_from_slice(&words);
        self.at += words.len();
    }
}

const CELLS: usize = 256;
const ROUNDS: usize = 20;
const STRETCHES: usize = 2_000;

fn of(cells: &[[AtomicEntry; 2]], at: usize) -> Cell<'_> {
    Cell::new(&cells[at][0], &cells[at][1])
}

struct Bench<'t> {
    filter: &'t Filter,
    cells: Vec<[AtomicEntry; 2]>,
    threads: Vec<(Recorder, Ring<'t>)>,
    /// Cells are not locked.
    biased: bool,
}

impl Bench<'_> {
    #[inline(always)]
    fn access(&mut self, t: usize, cell: usize, write: bool) {
        let (recorder, sink) = &mut self.threads[t];
        let word = cell as u64 * 8;
        let cell = of(&self.cells, cell);
        if recorder.is_covered(cell, 0xff, write) {
            return;
        }
        if self.biased && recorder.repeat_biased(cell, 0xff, write, 1) {
            return;
        }
        let access = Access { word, mask: 0xff, write };
        recorder.record_access(self.filter, sink, cell, || self.biased, access, 1);
    }

    fn new_segment(&mut self, t: usize) {
        let (recorder, sink) = &mut self.threads[t];
        recorder.timed(sink, head(Kind::Fence, 0, 0), 0, None);
    }
}

/// The best of many short stretches: what others on the machine do only adds to it.
fn time(what: &str, per_round: usize, mut round: impl FnMut(usize)) {
    let mut best = f64::MAX;
    for stretch in 0..STRETCHES {
        let begun = Instant::now();
        for i in 0..ROUNDS {
            round(stretch * ROUNDS + i);
        }
        best = best.min(begun.elapsed().as_nanos() as f64 / (ROUNDS * per_round) as f64);
    }
    println!("{what:<60} {best:>8.2} ns");
}

fn main() {
    let shape = Shape { slots: 8, nodes: 1 << 16 };
    let layout = Layout::from_size_align(Filter::bytes(shape), 64).expect("a size");
    // SAFETY: zeroed memory of that size, which stays.
    let filter = unsafe { Filter::new(alloc_zeroed(layout), shape, Limits::default()) };
    let clock = AtomicU64::new(0);
    let thread = |slot| {
        let ring = Ring { clock: &clock, words: vec![0; 4096], at: 0 };
        (Recorder::begin(&filter, slot, false), ring)
    };
    let cells = (0..CELLS).map(|_| Default::default()).collect();
    let mut bench = Bench { filter: &filter, cells, threads: (0..4).map(thread).collect(), biased: false };

    for cell in 0..CELLS {
        bench.access(0, cell, false);
    }
    time("covered read, exclusive", CELLS, |_| {
        for cell in 0..CELLS {
            bench.access(0, black_box(cell), false);
        }
    });
    bench.access(0, 0, true);
    time("covered write, exclusive, the same word", CELLS, |_| {
        for _ in 0..CELLS {
            bench.access(0, black_box(0), true);
        }
    });
    for cell in 0..CELLS {
        bench.access(0, cell, true);
    }
    time("covered write, exclusive, one word after another", CELLS, |_| {
        for cell in 0..CELLS {
            bench.access(0, black_box(cell), true);
        }
    });
    for biased in [false, true] {
        bench.biased = biased;
        let how = if biased { "alone" } else { "locked" };
        time(&format!("first write of a segment, {how}"), CELLS, |_| {
            bench.new_segment(0);
            for cell in 0..CELLS {
                bench.access(0, black_box(cell), true);
            }
        });
    }
    bench.biased = false;
    for cell in 0..CELLS {
        bench.access(1, cell, false);
        bench.access(0, cell, false);
    }
    for cell in 0..CELLS {
        bench.access(0, cell, false);
    }
    time("covered read, shared, first reader", CELLS, |_| {
        for cell in 0..CELLS {
            bench.access(0, black_box(cell), false);
        }
    });
    for cell in 0..CELLS {
        bench.access(1, cell, false);
    }
    time("covered read, shared, second reader", CELLS, |_| {
        for cell in 0..CELLS {
            bench.access(1, black_box(cell), false);
        }
    });
    time("first read of a segment, shared, kept", CELLS, |_| {
        bench.new_segment(0);
        for cell in 0..CELLS {
            bench.access(0, black_box(cell), false);
        }
    });
    time("arrival of a write, nothing kept", CELLS, |i| {
        for cell in 0..CELLS {
            bench.access(i % 2, black_box(cell), true);
        }
    });
    time("arrival of a write, one entry kept (with the keeping of it)", CELLS, |i| {
        for cell in 0..CELLS {
            bench.access(i % 2, black_box(cell), true);
            bench.access(i % 2, black_box(cell), true);
        }
    });
    // Each thread forks the next, which takes its words over.
    for cell in 0..CELLS {
        let (recorder, sink) = &mut bench.threads[2];
        recorder.forget(&filter, sink, of(&bench.cells, cell), || false);
    }
    time("takeover (with a fork for every 256)", CELLS, |i| {
        let (one, other) = (2 + i % 2, 3 - i % 2);
        bench.new_segment(one);
        bench.threads[one].0.fork(&filter, other as u32);
        for cell in 0..CELLS {
            bench.access(other, black_box(cell), true);
        }
    });
}
