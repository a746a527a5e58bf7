//! Words that are handed from thread to thread: the short ways leave what the general one leaves, bit by bit.

use crate::memory::{Cells, Owned, Records, cells};
use oracle::random::Random;
use oracle::seeds;
use runtime::filter::{Access, Limits, Recorder, Shape};
use runtime::hand_off::HandOff;
use runtime::record::{Kind, head};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::SeqCst;

const THREADS: usize = 3;
const WORDS: usize = 4;
const SHAPE: Shape = Shape { slots: THREADS as u32, nodes: 64 };

/// Threads that access words, and the locks that they hold meanwhile.
struct World<'w> {
    filter: &'w Owned,
    cells: Cells,
    lock: HandOff,
    recorders: Vec<Recorder>,
    sinks: Vec<Records<'w>>,
    /// Takes the short ways, where they lead.
    is_short: bool,
    /// How many accesses and lifetimes went there.
    short: [u64; 2],
}

impl<'w> World<'w> {
    fn new(filter: &'w Owned, clock: &'w AtomicU64, is_short: bool) -> World<'w> {
        let mut world = World {
            filter,
            cells: cells(WORDS),
            lock: HandOff::default(),
            recorders: (0..THREADS as u32).map(|slot| Recorder::begin(filter, slot, false)).collect(),
            sinks: (0..THREADS).map(|_| Records::new(clock)).collect(),
            is_short,
            short: [0; 2],
        };
        for t in 0..THREADS {
            world.recorders[t].timed(&mut world.sinks[t], head(Kind::ThreadStart, 0, 0), 0, Some(0));
        }
        world
    }

    fn access(&mut self, t: usize, access: Access, context: u32) {
        let (recorder, cell) = (&mut self.recorders[t], self.cells.cell(access.word as usize / 8));
        if recorder.is_covered(cell, access.mask, access.write) {
            return;
        }
        if self.is_short && recorder.take_over(self.filter, cell, access.mask, access.write, context) {
            self.short[0] += 1;
            return;
        }
        recorder.record_access(self.filter, &mut self.sinks[t], cell, || true, access, context);
    }

    /// Frees a word, and maybe allocates it again.
    fn free(&mut self, t: usize, word: u64, again: bool) {
        let (recorder, sink, cell) = (&mut self.recorders[t], &mut self.sinks[t], self.cells.cell(word as usize / 8));
        if self.is_short && recorder.free_at_once(self.filter, cell) {
            self.short[1] += 1;
        } else {
            recorder.free(self.filter, sink, cell, || true, word);
        }
        recorder.timed(sink, head(Kind::Free, 0, word), 0, Some(8));
        if again {
            recorder.allocated(sink, word, 8, 0);
            if !(self.is_short && recorder.alloc_at_once(self.filter, cell)) {
                recorder.alloc(self.filter, sink, cell, || true, word);
            }
        }
    }

    fn locks(&mut self, t: usize, acquires: bool) {
        let (recorder, sink) = (&mut self.recorders[t], &mut self.sinks[t]);
        sink.room = 2;
        if acquires {
            recorder.acquired(sink, head(Kind::Acquire, 0, 64), 0, &self.lock);
        } else {
            recorder.released(sink, head(Kind::Release, 0, 64), 0, &self.lock);
        }
    }

    /// All that it holds, and has written.
    fn state(&self) -> (String, Vec<Vec<u64>>, Vec<u64>) {
        let cells = (0..WORDS).map(|at| format!("{:?}\n", self.cells.cell(at))).collect();
        let words = self.sinks.iter().map(|sink| sink.words.clone()).collect();
        (cells, words, self.recorders.iter().map(Recorder::now).collect())
    }
}

#[test]
fn short_ways_leave_what_the_general_one_leaves() {
    let seeds = seeds(2_000);
    let cases = seeds.end - seeds.start;
    let mut short = [0; 2];
    for seed in seeds {
        let mut r = Random::new(seed);
        let limits = Limits {
            per_context: [0, 2, 200][r.below(3)],
            per_pair: [0, 1, 64][r.below(3)],
            entries: 1 + r.below(3) as u32,
            ..Limits::default()
        };
        let filters = [0; 2].map(|_| Owned::new(SHAPE, limits));
        let clocks = [0; 2].map(|_| AtomicU64::new(0));
        let mut worlds = [0, 1].map(|number| World::new(&filters[number], &clocks[number], number == 1));
        let masks = if r.percent(50) { &[0xff][..] } else { &[0xff, 0x0f, 0xf0, 0x01, 0x02] };
        for step in 0..30 {
            let t = r.below(THREADS);
            let is_locked = r.percent(95);
            let mut steps = Vec::new();
            for _ in 0..r.below(8) {
                let word = 8 * r.below(WORDS) as u64;
                let access = Access { word, mask: masks[r.below(masks.len())], write: r.percent(50) };
                steps.push((access, 1 + r.below(3) as u32, r.percent(3), r.percent(70)));
            }
            for world in &mut worlds {
                if is_locked {
                    world.locks(t, true);
                }
                for &(access, context, frees, again) in &steps {
                    if frees {
                        world.free(t, access.word, again);
                    } else {
                        world.access(t, access, context);
                    }
                }
                if is_locked {
                    world.locks(t, false);
                }
            }
            let [general, short] = worlds.each_ref().map(World::state);
            assert_eq!(general, short, "seed {seed}, step {step}: {steps:x?} of thread {t}");
        }
        assert_eq!(clocks[0].load(SeqCst), clocks[1].load(SeqCst));
        for (all, of) in short.iter_mut().zip(worlds[1].short) {
            *all += of;
        }
    }
    assert!(short[0] > 10 * cases && short[1] > cases / 2, "{short:?} in {cases} cases");
}
