//! Random small traces: random programs, run by a random scheduler, so that what is recorded can have happened.

use crate::programs::{Instruction, NUMBERS, Program};
use crate::random::Random;
use std::collections::BTreeMap;

/// The greatest length of a trace of [`random_trace`].
pub const MOST_EVENTS: usize = 14;

/// How a thread waits.
#[derive(Clone, Copy, PartialEq)]
enum WaitState {
    /// It waits for a notify.
    Patiently,
    /// It waits, but will wake without a notify.
    Impatiently,
    Notified,
}

struct ThreadState {
    program: Vec<Instruction>,
    at: usize,
    /// Whether it runs: it was forked, or need not be.
    started: bool,
    waits: Option<WaitState>,
    /// The depth at which a wait gave its lock up.
    depth: usize,
}

struct Machine<'r> {
    r: &'r mut Random,
    threads: Vec<ThreadState>,
    /// By variable: its value, if known.
    values: BTreeMap<&'static str, String>,
    /// By lock and thread: how often held, exclusively and shared.
    exclusive: BTreeMap<(&'static str, usize), usize>,
    shared: BTreeMap<(&'static str, usize), usize>,
    /// By latch: how often it was posted; and how often it must be, if more than once.
    posted: BTreeMap<&'static str, usize>,
    needed: Vec<(&'static str, usize)>,
    /// By semaphore: its count.
    counts: BTreeMap<&'static str, usize>,
    lines: Vec<String>,
    /// The number of sites; `None` if every event has its own.
    sites: Option<usize>,
}

/// A random trace, as text. Every event has a site of its own.
pub fn random_trace(r: &mut Random) -> String {
    let program = Program::random(r);
    let most = MOST_EVENTS.min(6 + r.below(12));
    run(r, program, most, None, &[])
}

/// The greatest length of a trace of [`faulty_trace`].
pub const MOST_OF_FAULTY: usize = 16;

/// A random trace of a program that mostly has errors. In some traces several events share a site.
pub fn faulty_trace(r: &mut Random) -> String {
    let program = Program::faulty(r);
    let most = MOST_OF_FAULTY.min(8 + r.below(16));
    let sites = if r.percent(40) { Some(1 + r.below(4)) } else { None };
    run(r, program, most, sites, &[])
}

/// A random trace of a program whose threads wait for each other, and not for locks alone.
pub fn waiting_trace(r: &mut Random) -> String {
    let program = Program::waiting(r);
    let most = MOST_OF_FAULTY.min(8 + r.below(16));
    let sites = if r.percent(40) { Some(1 + r.below(4)) } else { None };
    let needed = if r.percent(40) { vec![("p", 2)] } else { Vec::new() };
    run(r, program, most, sites, &needed)
}

/// Runs a program, and returns its trace as text.
fn run(
    r: &mut Random,
    program: Program,
    most: usize,
    sites: Option<usize>,
    needed: &[(&'static str, usize)],
) -> String {
    let threads = program.threads.into_iter().zip(program.forked).map(|(program, forked)| ThreadState {
        program,
        at: 0,
        started: !forked,
        waits: None,
        depth: 0,
    });
    let mut machine = Machine {
        threads: threads.collect(),
        values: BTreeMap::new(),
        exclusive: BTreeMap::new(),
        shared: BTreeMap::new(),
        posted: BTreeMap::new(),
        needed: needed.to_vec(),
        counts: BTreeMap::from([("s", r.below(3))]),
        lines: Vec::new(),
        sites,
        r,
    };
    let mut header = String::new();
    for x in ["x", "y", "z", "m"] {
        if machine.r.percent(if NUMBERS.contains(&x) { 85 } else { 40 }) {
            let value = machine.fresh_value(x);
            header += &format!(" {x}={value}");
            machine.values.insert(x, value);
        }
    }
    for (s, count) in machine.counts.iter().filter(|(_, count)| **count > 0) {
        header += &format!(" {s}={count}");
    }
    for (p, count) in needed {
        header += &format!(" {p}={count}");
    }
    let mut current = 0;
    while machine.lines.len() < most {
        let ready: Vec<usize> = (0..machine.threads.len()).filter(|&t| machine.is_ready(t)).collect();
        if ready.is_empty() {
            break;
        }
        if !ready.contains(&current) || machine.r.percent(55) {
            current = *machine.r.pick(&ready);
        }
        // Most notifies should find a waiting thread.
        if machine.is_early(current) && machine.r.percent(60) {
            current = *machine.r.pick(&ready);
        }
        machine.step(current);
    }
    let header = if header.is_empty() { header } else { format!("#! init{header}\n") };
    header + &machine.lines.concat()
}

impl Machine<'_> {
    fn fresh_value(&mut self, x: &str) -> String {
        if x == "z" {
            self.r.pick(&["true", "false", "\"a\"", "1.5", "0", "1"]).to_string()
        } else {
            // There are few values, so that equal ones are frequent.
            [0, 1, 0, 1, 2][self.r.below(5)].to_string()
        }
    }

    /// Whether no other thread holds the lock in a way that excludes this one.
    fn is_free(&self, lock: &'static str, thread: usize, shared: bool) -> bool {
        let hinders = |held: &BTreeMap<(&'static str, usize), usize>| {
            held.iter().any(|(&(l, t), &depth)| l == lock && t != thread && depth > 0)
        };
        !hinders(&self.exclusive) && (shared || !hinders(&self.shared))
    }

    fn is_ready(&self, t: usize) -> bool {
        let thread = &self.threads[t];
        let Some(&next) = thread.program.get(thread.at).filter(|_| thread.started) else { return false };
        match next {
            Instruction::Acquire(l) => self.is_free(l, t, false),
            Instruction::ReadAcquire(l) => self.is_free(l, t, true),
            Instruction::Woken(_, l) => self.is_free(l, t, false) && thread.waits != Some(WaitState::Patiently),
            Instruction::Wait(_, l) => self.shared.get(&(l, t)).is_none_or(|&depth| depth == 0),
            Instruction::Join(u) => {
                let child = &self.threads[u];
                let asks = matches!(child.program.last(), Some(Instruction::Request(_)));
                child.started && child.at == child.program.len() && !asks
            }
            Instruction::Await(p) => {
                let needed = self.needed.iter().find(|(latch, _)| *latch == p).map_or(1, |latch| latch.1);
                self.posted.get(p).is_some_and(|&posts| posts >= needed)
            }
            Instruction::Down(s) => self.counts.get(s).is_some_and(|&count| count > 0),
            _ => true,
        }
    }

    /// Whether a thread is about to notify while another has yet to wait.
    fn is_early(&self, t: usize) -> bool {
        let rest = |t: usize| self.threads[t].program[self.threads[t].at..].iter();
        let notifies = matches!(rest(t).next(), Some(Instruction::Notify(_) | Instruction::NotifyAll(_)));
        let will_wait = |u: usize| u != t && rest(u).any(|next| matches!(next, Instruction::Wait(..)));
        notifies && (0..self.threads.len()).any(will_wait)
    }

    fn step(&mut self, t: usize) {
        let next = self.threads[t].program[self.threads[t].at];
        self.threads[t].at += 1;
        let order = *self.r.pick(&["", "", "", "@relaxed", "@acquire", "@release", "@acqrel", "@seqcst"]);
        let op = match next {
            Instruction::Read(x) => self.read("r", x),
            Instruction::Load(x) => self.read("ald", x) + order,
            Instruction::Write(x) => self.write("w", x),
            Instruction::Store(x) => self.write("ast", x) + order,
            Instruction::Modify(x) => self.write("armw", x) + order,
            Instruction::Fence => format!("fence{order}"),
            Instruction::Acquire(l) => {
                *self.exclusive.entry((l, t)).or_default() += 1;
                format!("acq({l})")
            }
            Instruction::Release(l) => {
                *self.exclusive.entry((l, t)).or_default() -= 1;
                format!("rel({l})")
            }
            Instruction::ReadAcquire(l) => {
                *self.shared.entry((l, t)).or_default() += 1;
                format!("racq({l})")
            }
            Instruction::ReadRelease(l) => {
                *self.shared.entry((l, t)).or_default() -= 1;
                format!("rrel({l})")
            }
            Instruction::Try(l, skip) => {
                let own = self.exclusive.get(&(l, t)).is_some_and(|&depth| depth > 0);
                let fails = !self.is_free(l, t, false) || self.r.percent(if own { 50 } else { 15 });
                if fails {
                    self.threads[t].at += skip;
                    format!("tfail({l})")
                } else {
                    *self.exclusive.entry((l, t)).or_default() += 1;
                    format!("tacq({l})")
                }
            }
            Instruction::Request(l) => format!("req({l})"),
            Instruction::Fork(u) => {
                self.threads[u].started = true;
                format!("fork(T{})", u + 1)
            }
            Instruction::Join(u) => format!("join(T{})", u + 1),
            Instruction::JoinRequest(u) => format!("jreq(T{})", u + 1),
            Instruction::Wait(c, l) => {
                let depth = self.exclusive.entry((l, t)).or_default();
                self.threads[t].depth = std::mem::take(depth);
                let patient = self.r.percent(65);
                self.threads[t].waits = Some(if patient { WaitState::Patiently } else { WaitState::Impatiently });
                pair("wait", c, l)
            }
            Instruction::Woken(c, l) => {
                self.exclusive.insert((l, t), self.threads[t].depth);
                let notified = self.threads[t].waits.take() == Some(WaitState::Notified);
                let reason = match self.r.below(2) {
                    _ if notified && self.r.percent(92) => "",
                    0 => "=timeout",
                    _ => "=spurious",
                };
                pair("woken", c, l) + reason
            }
            Instruction::Notify(c) => {
                let waiting = self.waiting(c);
                if !waiting.is_empty() {
                    let chosen = *self.r.pick(&waiting);
                    self.threads[chosen].waits = Some(WaitState::Notified);
                }
                format!("notify({c})")
            }
            Instruction::NotifyAll(c) => {
                for waiting in self.waiting(c) {
                    self.threads[waiting].waits = Some(WaitState::Notified);
                }
                format!("notifyall({c})")
            }
            Instruction::Post(p) => {
                *self.posted.entry(p).or_default() += 1;
                format!("post({p})")
            }
            Instruction::Await(p) => format!("await({p})"),
            Instruction::AwaitRequest(p) => format!("areq({p})"),
            Instruction::DownRequest(s) => format!("dreq({s})"),
            Instruction::Up(s) => {
                *self.counts.entry(s).or_default() += 1;
                format!("up({s})")
            }
            Instruction::Down(s) => {
                *self.counts.entry(s).or_default() -= 1;
                format!("down({s})")
            }
            Instruction::Begin(b) => format!("begin({b})"),
            Instruction::End(b) => format!("end({b})"),
            Instruction::Event(e) => match self.r.below(3) {
                0 => format!("ev({e})"),
                1 => format!("ev({e},{})", self.r.below(3)),
                _ => format!("ev({e},{},\"a\")", self.r.below(2)),
            },
            Instruction::Alloc(x) => {
                self.values.remove(x);
                format!("alloc({x})")
            }
            Instruction::Free(x) => {
                self.values.remove(x);
                format!("free({x})")
            }
            Instruction::Pin(x) => {
                let kind = if self.r.percent(50) { "pin" } else { "rpin" };
                format!("{kind}({x},{})", self.r.below(5))
            }
        };
        let site = match self.sites {
            Some(count) => 1 + self.r.below(count),
            None => self.lines.len() + 1,
        };
        self.lines.push(format!("T{}|{op}|{site}\n", t + 1));
    }

    /// Threads that wait on a condition and have not been notified.
    fn waiting(&self, c: &str) -> Vec<usize> {
        let waits = |&t: &usize| {
            let thread = &self.threads[t];
            let on = matches!(thread.program.get(thread.at), Some(Instruction::Woken(on, _)) if *on == c);
            on && thread.waits.is_some_and(|waits| waits != WaitState::Notified)
        };
        (0..self.threads.len()).filter(waits).collect()
    }

    fn read(&mut self, op: &str, x: &'static str) -> String {
        if self.r.percent(20) {
            return format!("{op}({x})");
        }
        if !self.values.contains_key(x) {
            // The value is unknown, so this read decides it.
            let value = self.fresh_value(x);
            self.values.insert(x, value);
        }
        format!("{op}({x})={}", self.values[x])
    }

    fn write(&mut self, op: &str, x: &'static str) -> String {
        if self.r.percent(if NUMBERS.contains(&x) { 6 } else { 25 }) {
            self.values.remove(x);
            return format!("{op}({x})");
        }
        let value = self.fresh_value(x);
        self.values.insert(x, value.clone());
        format!("{op}({x})={value}")
    }
}

/// A wait or wake-up as text: with one argument if condition and lock have one name.
fn pair(op: &str, c: &str, l: &str) -> String {
    if c == l { format!("{op}({l})") } else { format!("{op}({c},{l})") }
}
