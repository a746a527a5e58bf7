//! Random small traces: programs run by chance, so that what is recorded can have happened.

use crate::programs::{Do, NUMBERS, Program};
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// No trace of [`random_trace`] is longer.
pub const MOST_EVENTS: usize = 14;

/// How a thread waits.
#[derive(Clone, Copy, PartialEq)]
enum Waits {
    /// No notify has come for it.
    Patiently,
    /// So, too, but it will not wait for one.
    Impatiently,
    Notified,
}

struct Thread {
    program: Vec<Do>,
    at: usize,
    /// Forked, or never to be forked.
    started: bool,
    waits: Option<Waits>,
    /// What a wait gave up.
    depth: usize,
}

struct Machine<'r> {
    r: &'r mut Random,
    threads: Vec<Thread>,
    /// What is known of each variable; absent is unknown.
    values: BTreeMap<&'static str, String>,
    /// By lock and thread: how often held, exclusively and shared.
    exclusive: BTreeMap<(&'static str, usize), usize>,
    shared: BTreeMap<(&'static str, usize), usize>,
    posted: BTreeSet<&'static str>,
    count: usize,
    lines: Vec<String>,
    /// How many there are; `None`: every event has its own.
    sites: Option<usize>,
}

/// A random trace, as text. Every event has a site of its own.
pub fn random_trace(r: &mut Random) -> String {
    let program = Program::random(r);
    let most = MOST_EVENTS.min(6 + r.below(12));
    run(r, program, most, None)
}

/// No trace of [`faulty_trace`] is longer.
pub const MOST_OF_FAULTY: usize = 16;

/// A random trace of a program that has errors more often than not. Some have few sites, which events share.
pub fn faulty_trace(r: &mut Random) -> String {
    let program = Program::faulty(r);
    let most = MOST_OF_FAULTY.min(8 + r.below(16));
    let sites = if r.percent(40) { Some(1 + r.below(4)) } else { None };
    run(r, program, most, sites)
}

/// A run of a program, as text.
fn run(r: &mut Random, program: Program, most: usize, sites: Option<usize>) -> String {
    let threads = program.threads.into_iter().zip(program.forked).map(|(program, forked)| Thread {
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
        posted: BTreeSet::new(),
        count: r.below(3),
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
    if machine.count > 0 {
        header += &format!(" s={}", machine.count);
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
        // Most notifies should find somebody waiting.
        if machine.is_early(current) && machine.r.percent(60) {
            current = *machine.r.pick(&ready);
        }
        machine.go(current);
    }
    let header = if header.is_empty() { header } else { format!("#! init{header}\n") };
    header + &machine.lines.concat()
}

impl Machine<'_> {
    fn fresh_value(&mut self, x: &str) -> String {
        if x == "z" {
            self.r.pick(&["true", "false", "\"a\"", "1.5", "0", "1"]).to_string()
        } else {
            // Few, so that equal ones meet.
            [0, 1, 0, 1, 2][self.r.below(5)].to_string()
        }
    }

    /// No other thread has the lock in a way that hinders this one.
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
            Do::Acquire(l) => self.is_free(l, t, false),
            Do::ReadAcquire(l) => self.is_free(l, t, true),
            Do::Woken(_, l) => self.is_free(l, t, false) && thread.waits != Some(Waits::Patiently),
            Do::Wait(_, l) => self.shared.get(&(l, t)).is_none_or(|&depth| depth == 0),
            Do::Join(u) => {
                let child = &self.threads[u];
                let asks = matches!(child.program.last(), Some(Do::Request(_)));
                child.started && child.at == child.program.len() && !asks
            }
            Do::Await(p) => self.posted.contains(p),
            Do::Down(_) => self.count > 0,
            _ => true,
        }
    }

    /// Whether a thread is about to notify while another has yet to wait.
    fn is_early(&self, t: usize) -> bool {
        let rest = |t: usize| self.threads[t].program[self.threads[t].at..].iter();
        let notifies = matches!(rest(t).next(), Some(Do::Notify(_) | Do::NotifyAll(_)));
        let will_wait = |u: usize| u != t && rest(u).any(|next| matches!(next, Do::Wait(..)));
        notifies && (0..self.threads.len()).any(will_wait)
    }

    fn go(&mut self, t: usize) {
        let next = self.threads[t].program[self.threads[t].at];
        self.threads[t].at += 1;
        let order = *self.r.pick(&["", "", "", "@relaxed", "@acquire", "@release", "@acqrel", "@seqcst"]);
        let op = match next {
            Do::Read(x) => self.read("r", x),
            Do::Load(x) => self.read("ald", x) + order,
            Do::Write(x) => self.write("w", x),
            Do::Store(x) => self.write("ast", x) + order,
            Do::Modify(x) => self.write("armw", x) + order,
            Do::Fence => format!("fence{order}"),
            Do::Acquire(l) => {
                *self.exclusive.entry((l, t)).or_default() += 1;
                format!("acq({l})")
            }
            Do::Release(l) => {
                *self.exclusive.entry((l, t)).or_default() -= 1;
                format!("rel({l})")
            }
            Do::ReadAcquire(l) => {
                *self.shared.entry((l, t)).or_default() += 1;
                format!("racq({l})")
            }
            Do::ReadRelease(l) => {
                *self.shared.entry((l, t)).or_default() -= 1;
                format!("rrel({l})")
            }
            Do::Try(l, skip) => {
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
            Do::Request(l) => format!("req({l})"),
            Do::Fork(u) => {
                self.threads[u].started = true;
                format!("fork(T{})", u + 1)
            }
            Do::Join(u) => format!("join(T{})", u + 1),
            Do::JoinRequest(u) => format!("jreq(T{})", u + 1),
            Do::Wait(c, l) => {
                let depth = self.exclusive.entry((l, t)).or_default();
                self.threads[t].depth = std::mem::take(depth);
                let patient = self.r.percent(65);
                self.threads[t].waits = Some(if patient { Waits::Patiently } else { Waits::Impatiently });
                pair("wait", c, l)
            }
            Do::Woken(c, l) => {
                self.exclusive.insert((l, t), self.threads[t].depth);
                let notified = self.threads[t].waits.take() == Some(Waits::Notified);
                let reason = match self.r.below(2) {
                    _ if notified && self.r.percent(92) => "",
                    0 => "=timeout",
                    _ => "=spurious",
                };
                pair("woken", c, l) + reason
            }
            Do::Notify(c) => {
                let waiting = self.waiting(c);
                if !waiting.is_empty() {
                    let chosen = *self.r.pick(&waiting);
                    self.threads[chosen].waits = Some(Waits::Notified);
                }
                format!("notify({c})")
            }
            Do::NotifyAll(c) => {
                for waiting in self.waiting(c) {
                    self.threads[waiting].waits = Some(Waits::Notified);
                }
                format!("notifyall({c})")
            }
            Do::Post(p) => {
                self.posted.insert(p);
                format!("post({p})")
            }
            Do::Await(p) => format!("await({p})"),
            Do::AwaitRequest(p) => format!("areq({p})"),
            Do::DownRequest(s) => format!("dreq({s})"),
            Do::Up(s) => {
                self.count += 1;
                format!("up({s})")
            }
            Do::Down(s) => {
                self.count -= 1;
                format!("down({s})")
            }
            Do::Begin(b) => format!("begin({b})"),
            Do::End(b) => format!("end({b})"),
            Do::Event(e) => match self.r.below(3) {
                0 => format!("ev({e})"),
                1 => format!("ev({e},{})", self.r.below(3)),
                _ => format!("ev({e},{},\"a\")", self.r.below(2)),
            },
            Do::Alloc(x) => {
                self.values.remove(x);
                format!("alloc({x})")
            }
            Do::Free(x) => {
                self.values.remove(x);
                format!("free({x})")
            }
            Do::Pin(x) => {
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
            let on = matches!(thread.program.get(thread.at), Some(Do::Woken(on, _)) if *on == c);
            on && thread.waits.is_some_and(|waits| waits != Waits::Notified)
        };
        (0..self.threads.len()).filter(waits).collect()
    }

    fn read(&mut self, op: &str, x: &'static str) -> String {
        if self.r.percent(20) {
            return format!("{op}({x})");
        }
        if !self.values.contains_key(x) {
            // Nothing says what it holds: this read does.
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

/// The one-argument form means that condition and lock have one name.
fn pair(op: &str, c: &str, l: &str) -> String {
    if c == l { format!("{op}({l})") } else { format!("{op}({c},{l})") }
}
