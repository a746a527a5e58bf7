//! Small random traces with every operation, valid as the validator has it; the site of each event is its index.

use std::fmt::Write;

pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x1234_5678_9ABC_DEF1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % bound
    }
}

const THREADS: usize = 5;
const LOCKS: usize = 2;

#[derive(Clone, Copy, PartialEq)]
enum ThreadState {
    Unborn,
    Alive,
    /// On a condition, with a lock, held so often exclusively and shared.
    Waiting(usize, usize, u32, u32),
    Ended,
}

struct Run {
    state: [ThreadState; THREADS],
    exclusive: [[u32; THREADS]; LOCKS],
    shared: [[u32; THREADS]; LOCKS],
    /// Initial counts 0 and 1.
    semaphores: [u32; 2],
    text: String,
    events: usize,
}

impl Run {
    fn emit(&mut self, thread: usize, op: &str) {
        writeln!(self.text, "T{thread}|{op}|{}", self.events).expect("a string takes all");
        self.events += 1;
    }

    fn can_take(&self, thread: usize, lock: usize, exclusive: bool) -> bool {
        (0..THREADS)
            .filter(|&other| other != thread)
            .all(|other| self.exclusive[lock][other] == 0 && (!exclusive || self.shared[lock][other] == 0))
    }
}

/// The text of a trace of so many events or a few more. A `flavour` prefers some operations, so that each of them meets
/// conflicts that nothing else orders.
pub(crate) fn trace(seed: u64, events: usize) -> String {
    let mut rng = Rng::new(seed);
    let flavour = rng.below(6);
    let mut run = Run {
        state: [ThreadState::Unborn; THREADS],
        exclusive: [[0; THREADS]; LOCKS],
        shared: [[0; THREADS]; LOCKS],
        semaphores: [0, 1],
        text: "#! init s1=1\n".into(),
        events: 0,
    };
    run.state[0] = ThreadState::Alive;
    // Some threads begin without a fork.
    for thread in 1..THREADS {
        if rng.below(3) == 0 {
            run.state[thread] = ThreadState::Alive;
        }
    }
    while run.events < events {
        step(&mut rng, &mut run, flavour);
    }
    run.text
}

fn step(rng: &mut Rng, run: &mut Run, flavour: usize) {
    let thread = rng.below(THREADS);
    let (var, lock) = (rng.below(2), rng.below(LOCKS));
    if let ThreadState::Waiting(cond, lock, exclusive, shared) = run.state[thread] {
        let free = (exclusive == 0 || run.can_take(thread, lock, true)) && run.can_take(thread, lock, false);
        if free && rng.below(2) == 0 {
            let why = ["", "", "", "", "=timeout", "=spurious"][rng.below(6)];
            run.emit(thread, &format!("woken(c{cond},l{lock}){why}"));
            run.exclusive[lock][thread] = exclusive;
            run.shared[lock][thread] = shared;
            run.state[thread] = ThreadState::Alive;
        }
        return;
    }
    if run.state[thread] != ThreadState::Alive {
        return;
    }
    let kind = if rng.below(2) == 0 { rng.below(10) } else { [0, 2, 3, 4, 5, 8][flavour] };
    match kind {
        0 | 1 => {
            let op = ["r", "w", "r", "w", "w"][rng.below(5)];
            run.emit(thread, &format!("{op}(x{var})"));
        }
        2 => locks(rng, run, thread, lock),
        3 => {
            let cond = usize::from(rng.below(4) == 0);
            let (exclusive, shared) = (run.exclusive[lock][thread], run.shared[lock][thread]);
            match rng.below(4) {
                0 => run.emit(thread, &format!("notify(c{cond})")),
                1 => run.emit(thread, &format!("notifyall(c{cond})")),
                _ if exclusive + shared > 0 => {
                    run.emit(thread, &format!("wait(c{cond},l{lock})"));
                    run.exclusive[lock][thread] = 0;
                    run.shared[lock][thread] = 0;
                    run.state[thread] = ThreadState::Waiting(cond, lock, exclusive, shared);
                }
                _ if run.can_take(thread, lock, true) => {
                    run.exclusive[lock][thread] += 1;
                    run.emit(thread, &format!("acq(l{lock})"));
                }
                _ => run.emit(thread, &format!("w(x{var})")),
            }
        }
        4 => {
            let semaphore = rng.below(2);
            if run.semaphores[semaphore] > 0 && rng.below(2) == 0 {
                run.semaphores[semaphore] -= 1;
                run.emit(thread, &format!("down(s{semaphore})"));
            } else {
                run.semaphores[semaphore] += 1;
                run.emit(thread, &format!("up(s{semaphore})"));
            }
        }
        5 | 6 => {
            let op = ["ald", "ast", "armw"][rng.below(3)];
            let order = ["relaxed", "relaxed", "acquire", "release", "acqrel", "seqcst"][rng.below(6)];
            if rng.below(4) == 0 {
                run.emit(thread, &format!("fence@{order}"));
            } else {
                run.emit(thread, &format!("{op}(x{var})@{order}"));
            }
        }
        7 => run.emit(
            thread,
            ["post(o)", "await(o)", "alloc(x0)", "free(x0)", "ev(e)", "pin(x0,0)", "rpin(x0,0)"][rng.below(7)],
        ),
        _ => {
            let other = rng.below(THREADS);
            match run.state[other] {
                ThreadState::Unborn => {
                    run.state[other] = ThreadState::Alive;
                    run.emit(thread, &format!("fork(T{other})"));
                }
                ThreadState::Alive if other > 0 && other != thread && rng.below(4) == 0 => {
                    let free = (0..LOCKS).all(|lock| run.exclusive[lock][other] + run.shared[lock][other] == 0);
                    if free {
                        run.state[other] = ThreadState::Ended;
                        run.emit(thread, &format!("join(T{other})"));
                    }
                }
                ThreadState::Ended => run.emit(thread, &format!("join(T{other})")),
                _ => {}
            }
        }
    }
}

fn locks(rng: &mut Rng, run: &mut Run, thread: usize, lock: usize) {
    let (exclusive, shared) = (run.exclusive[lock][thread], run.shared[lock][thread]);
    match rng.below(8) {
        0 | 1 if run.can_take(thread, lock, true) => {
            run.exclusive[lock][thread] += 1;
            let op = ["acq", "tacq"][rng.below(2)];
            run.emit(thread, &format!("{op}(l{lock})"));
        }
        2 if run.can_take(thread, lock, false) => {
            run.shared[lock][thread] += 1;
            run.emit(thread, &format!("racq(l{lock})"));
        }
        3 | 4 if exclusive > 0 => {
            run.exclusive[lock][thread] -= 1;
            run.emit(thread, &format!("rel(l{lock})"));
        }
        5 if shared > 0 => {
            run.shared[lock][thread] -= 1;
            run.emit(thread, &format!("rrel(l{lock})"));
        }
        6 if run.can_take(thread, lock, true) => {
            run.exclusive[lock][thread] += 1;
            run.emit(thread, &format!("req(l{lock})"));
            run.emit(thread, &format!("acq(l{lock})"));
        }
        7 => run.emit(thread, &format!("tfail(l{lock})")),
        _ => run.emit(thread, ["r(x0)", "w(x0)", "w(x1)"][rng.below(3)]),
    }
}
