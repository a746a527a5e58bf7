//! How many joins and copies a second flat and tree clocks make when threads acquire and release locks.

use clock::{Clock, TreeClock, VectorClock};
use event::{Id, ThreadId};
use std::hint::black_box;
use std::time::{Duration, Instant};

const THREADS: [usize; 6] = [8, 32, 128, 256, 512, 1024];
/// Critical sections in the prepared schedule, which is run again and again.
const SECTIONS: usize = 10_000;
const ENOUGH: Duration = Duration::from_millis(50);

/// Who enters which critical section next: the patterns of communication of the tree-clock paper, and more.
enum Pattern {
    /// All threads take the same lock.
    OneLock,
    /// All threads take any of 50 locks.
    FiftyLocks,
    /// Like that, but only four threads run at a time, for 100 sections: the others wait, or have ended.
    FourRun,
    /// Every thread shares a lock with the first, and they take turns.
    Star,
    /// Every thread takes a lock that nobody else takes.
    Own,
    /// Nine times in ten a thread takes a lock that nobody else takes; otherwise, any.
    MostlyOwn,
}

const PATTERNS: [(&str, Pattern); 6] = [
    ("one lock", Pattern::OneLock),
    ("50 locks", Pattern::FiftyLocks),
    ("four run", Pattern::FourRun),
    ("star", Pattern::Star),
    ("own", Pattern::Own),
    ("mostly own", Pattern::MostlyOwn),
];

struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % bound
    }
}

/// Thread and lock of each critical section, and how many locks there are.
fn schedule(pattern: &Pattern, threads: usize) -> (Vec<(ThreadId, usize)>, usize) {
    let mut random = Random(threads as u64);
    let mut sections = Vec::with_capacity(SECTIONS + 1);
    let mut group = 0;
    while sections.len() < SECTIONS {
        let mut thread = random.below(threads);
        let lock = match pattern {
            Pattern::OneLock => 0,
            Pattern::FiftyLocks => random.below(50),
            Pattern::FourRun => {
                if sections.len() % 100 == 0 {
                    group = thread / 4;
                }
                thread = group * 4 + thread % 4;
                random.below(50)
            }
            Pattern::Star => {
                sections.push((ThreadId(0), thread));
                thread
            }
            Pattern::Own => thread,
            Pattern::MostlyOwn => {
                if random.below(10) < 9 {
                    thread
                } else {
                    random.below(threads)
                }
            }
        };
        sections.push((ThreadId::from_index(thread), lock));
    }
    let locks = sections.iter().map(|&(_, lock)| lock + 1).max().unwrap_or(0);
    (sections, locks)
}

struct State<C> {
    threads: Vec<C>,
    locks: Vec<C>,
}

impl<C: Clock> State<C> {
    fn new(threads: usize, locks: usize) -> Self {
        let threads = (0..threads).map(|thread| C::of_thread(ThreadId::from_index(thread))).collect();
        State { threads, locks: vec![C::default(); locks] }
    }

    fn run(&mut self, sections: &[(ThreadId, usize)]) {
        for &(thread, lock) in sections {
            let (clock, lock) = (&mut self.threads[thread.index()], &mut self.locks[lock]);
            clock.join(lock);
            lock.monotone_copy(clock);
            clock.increment(thread).expect("few sections");
        }
    }
}

/// How many entries a join or copy changes, on average: what no clock can avoid.
fn news(sections: &[(ThreadId, usize)], threads: usize, locks: usize) -> f64 {
    let mut state = State::<VectorClock>::new(threads, locks);
    state.run(sections);
    let mut changed = 0;
    for &(thread, lock) in sections {
        let before = [state.threads[thread.index()].clone(), state.locks[lock].clone()];
        state.run(&[(thread, lock)]);
        for (before, after) in before.iter().zip([&state.threads[thread.index()], &state.locks[lock]]) {
            changed += (0..threads).map(ThreadId::from_index).filter(|&t| before.get(t) != after.get(t)).count();
        }
        // The increment, which is neither.
        changed -= 1;
    }
    changed as f64 / (sections.len() * 2) as f64
}

/// Millions of joins and copies a second (each section has one of each), and the times of all threads after a warm-up.
fn measure<C: Clock>(sections: &[(ThreadId, usize)], threads: usize, locks: usize) -> (f64, Vec<VectorClock>) {
    let mut state = State::<C>::new(threads, locks);
    state.run(sections);
    let mut seen = vec![VectorClock::default(); threads];
    for (clock, seen) in state.threads.iter().zip(&mut seen) {
        clock.gather_into(seen);
    }
    // The best round, since others may be using the machine.
    let (start, mut best) = (Instant::now(), Duration::MAX);
    while start.elapsed() < ENOUGH {
        let round = Instant::now();
        state.run(black_box(sections));
        best = best.min(round.elapsed());
    }
    ((sections.len() * 2) as f64 / best.as_secs_f64() / 1e6, seen)
}

fn main() {
    println!("millions of joins and copies a second, flat / tree (tree : flat); entries changed by each");
    print!("{:>12}", "threads");
    for (name, _) in &PATTERNS {
        print!("{name:>28}");
    }
    println!();
    for threads in THREADS {
        print!("{threads:>12}");
        for (_, pattern) in &PATTERNS {
            let (sections, locks) = schedule(pattern, threads);
            let (flat, flat_times) = measure::<VectorClock>(&sections, threads, locks);
            let (tree, tree_times) = measure::<TreeClock>(&sections, threads, locks);
            assert_eq!(flat_times, tree_times);
            let news = news(&sections, threads, locks);
            print!("{:>28}", format!("{flat:.1} / {tree:.1} ({:.2}); {news:.1}", tree / flat));
        }
        println!();
    }
}
