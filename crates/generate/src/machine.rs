//! The scheduler: which thread runs, for how long, and when threads are started and joined.

use crate::Options;
use crate::conds::Conds;
use crate::layout::Layout;
use crate::locks::Locks;
use crate::output::Output;
use crate::rng::{Geometric, Rng};
use crate::sprinkle::Sprinkles;
use crate::thread::{Presence, Thread};
use crate::watch::{PLANT, Watch};
use event::Op;

/// The most that events made and owed together can grow in one step: a script, or a begin and an acquire.
const MOST_PER_STEP: u64 = Thread::LONGEST_SCRIPT + 1;
/// The events of the atomicity violation.
const VIOLATION: u64 = 7;
/// The variables that have an initial value when values are recorded.
const MOST_INITS: u32 = 64;

/// The program being played.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) options: Options,
    pub(crate) rng: Rng,
    pub(crate) layout: Layout,
    pub(crate) out: Output,
    /// The places for threads, the main thread's first. A place is added when it is first needed.
    pub(crate) threads: Vec<Thread>,
    pub(crate) locks: Locks,
    pub(crate) conds: Conds,
    pub(crate) sprinkles: Sprinkles,
    pub(crate) section_length: Geometric,
    /// The atomicity violation is still to come.
    pub(crate) violation_due: bool,
    pub(crate) watch: Watch,
    quantum: Geometric,
    phase: Phase,
    turn: Option<Turn>,
    /// The number of the next thread to be started.
    next_thread: u32,
    next_fork: u64,
    fork_gap: u64,
    /// Places whose thread has ended, to be joined.
    ended: Vec<u32>,
    /// Places whose thread was joined, to be filled again.
    vacant: Vec<u32>,
    /// What all threads owed when this was last updated.
    owed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    /// The main thread writes this many more read-shared variables.
    Initialise(u32),
    Run,
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Turn {
    thread: u32,
    left: u64,
    /// What the thread owed when this was last updated.
    owed: u64,
}

/// What became of a thread's step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// It made an event.
    Ran,
    /// It made up its mind, which costs no time.
    Chose,
    /// It cannot go on now.
    Blocked,
}

impl Machine {
    /// For options that were checked.
    pub(crate) fn new(mut options: Options) -> Machine {
        if options.all_ops {
            options.readers = options.readers.max(0.05);
            if options.threads > 1 {
                options.waits = options.waits.max(0.05);
            }
        }
        let layout = Layout::new(&options);
        let mut out = Output::new(&options, &layout);
        let main = Thread { presence: Presence::Alive, id: out.thread_id(0), ..Thread::default() };
        let owed = main.owed();
        let initialised = u64::from(layout.read_shared).min(options.events / 50) as u32;
        let mut machine = Machine {
            rng: Rng::new(options.seed),
            locks: Locks::new(options.locks),
            conds: Conds::default(),
            sprinkles: Sprinkles::default(),
            section_length: Geometric::new(options.cslen),
            violation_due: options.viol.is_some(),
            watch: Watch::new(&options),
            quantum: Geometric::new(options.quantum),
            phase: Phase::Initialise(initialised),
            turn: None,
            next_thread: 1,
            next_fork: u64::from(initialised),
            fork_gap: (options.events / 50 / u64::from(options.threads)).max(1),
            ended: Vec::new(),
            vacant: Vec::new(),
            owed,
            options,
            layout,
            out,
            threads: vec![main],
        };
        machine.initial_values();
        machine
    }

    fn initial_values(&mut self) {
        for k in 0..self.layout.watches() {
            self.out.init_var(self.layout.watched(k), 0);
        }
        if self.options.values {
            for k in 0..self.layout.racy.min(MOST_INITS) {
                self.out.init_var(self.layout.racy(k), 0);
            }
        }
        if self.options.all_ops {
            for (sem, &count) in self.sprinkles.sems.iter().enumerate() {
                if count > 0 {
                    self.out.init_sem(sem as u32, count);
                }
            }
        }
    }

    /// Goes on until the batch has this many events, or the program is over.
    pub(crate) fn advance(&mut self, enough: usize) {
        while self.out.batch.events.len() < enough {
            match self.phase {
                Phase::Initialise(0) => self.phase = Phase::Run,
                Phase::Initialise(left) => {
                    let var = self.out.count as u32;
                    let value = self.value();
                    self.out.write(&mut self.threads[0], var, value, 1);
                    self.phase = Phase::Initialise(left - 1);
                }
                Phase::Run => {
                    if !self.play(enough) {
                        self.close();
                        self.phase = Phase::Done;
                    }
                }
                Phase::Done => return,
            }
        }
    }

    /// Begins or goes on with a thread's turn. `false`: there is no room for more events.
    fn play(&mut self, enough: usize) -> bool {
        let mut turn = match self.turn.take() {
            Some(turn) => turn,
            None => {
                if !self.room() {
                    return false;
                }
                self.come_and_go();
                let thread = self.rng.below(self.threads.len() as u32);
                let left = self.quantum.draw(&mut self.rng);
                if self.threads[thread as usize].presence != Presence::Alive {
                    return true;
                }
                Turn { thread, left, owed: self.threads[thread as usize].owed() }
            }
        };
        // Up to here there is room whatever the thread does; from here on it is asked before each step.
        let near =
            self.options.events.saturating_sub(self.owed + Thread::MOST_OWED + MOST_PER_STEP + VIOLATION + PLANT);
        while turn.left > 0 && self.out.batch.events.len() < enough {
            if self.out.count >= near {
                self.update_owed(&mut turn);
                if !self.room() {
                    return false;
                }
            }
            turn.left -= 1;
            match self.step(turn.thread) {
                Step::Ran => {}
                Step::Chose => turn.left += 1,
                Step::Blocked => turn.left = 0,
            }
        }
        if turn.left > 0 {
            self.turn = Some(turn);
        } else {
            self.end_turn(turn);
        }
        true
    }

    fn step(&mut self, me: u32) -> Step {
        let thread = &self.threads[me as usize];
        if let Some(lock) = thread.waiting {
            self.wake(me, lock)
        } else if let Some(want) = thread.want {
            self.take(me, want)
        } else if let Some(&top) = thread.held.last() {
            self.section(me, top)
        } else if !thread.script.is_empty() {
            self.follow_script(me)
        } else {
            self.idle(me)
        }
    }

    fn end_turn(&mut self, mut turn: Turn) {
        self.update_owed(&mut turn);
        let churn = self.options.churn;
        if churn > 0.0 && self.may_end(turn.thread) && self.rng.chance(churn) {
            self.threads[turn.thread as usize].presence = Presence::Ended;
            self.ended.push(turn.thread);
        }
    }

    /// Whether a thread is at a point where it can end. Those of the violation stay until it has happened.
    fn may_end(&self, me: u32) -> bool {
        me != 0 && !(self.violation_due && me <= 2) && self.threads[me as usize].idle()
    }

    /// Brings the sum of what is owed up to date with the thread whose turn it is.
    fn update_owed(&mut self, turn: &mut Turn) {
        let owed = self.threads[turn.thread as usize].owed();
        self.owed = self.owed - turn.owed + owed;
        turn.owed = owed;
    }

    /// Whether there is room for any one step beside what is owed.
    fn room(&self) -> bool {
        let violation = if self.violation_due { VIOLATION } else { 0 };
        let plant = if self.watch.plant.is_some() { PLANT } else { 0 };
        self.out.count + self.owed + MOST_PER_STEP + violation + plant <= self.options.events
    }

    /// The main thread joins a thread that has ended, or starts a new one.
    fn come_and_go(&mut self) {
        if !self.threads[0].may_fork_or_join() {
            return;
        }
        let places = self.threads.len() as u32;
        if places < self.options.threads && self.out.count >= self.next_fork {
            self.threads.push(Thread::default());
            self.fork(places);
            self.next_fork = self.out.count + self.fork_gap;
        } else if let Some(place) = self.ended.pop() {
            self.join(place);
            self.vacant.push(place);
        } else if !self.vacant.is_empty() && self.next_thread < event::MAX_THREADS as u32 && self.rng.one_in(4) {
            let place = self.vacant.swap_remove(0);
            self.fork(place);
        }
    }

    fn fork(&mut self, place: u32) {
        let child = self.out.thread_id(self.next_thread);
        self.next_thread += 1;
        self.out.thread(&mut self.threads[0], Op::Fork, child, 10 + place);
        self.threads[place as usize] = Thread { presence: Presence::Alive, id: child, ..Thread::default() };
        self.owed += 1;
    }

    pub(crate) fn join(&mut self, place: u32) {
        let child = self.threads[place as usize].id;
        self.out.thread(&mut self.threads[0], Op::Join, child, 20 + place);
        self.threads[place as usize].presence = Presence::Absent;
        self.owed -= 1;
    }

    /// How many joins are due at the end.
    pub(crate) fn to_join(&self) -> u64 {
        let due = |t: &&Thread| t.presence != Presence::Absent && t.waiting.is_none();
        self.threads[1..].iter().filter(due).count() as u64
    }

    /// What the next write writes.
    #[inline]
    pub(crate) fn value(&mut self) -> u32 {
        if self.out.with_values() { self.rng.below(Output::VALUES) } else { 0 }
    }
}
