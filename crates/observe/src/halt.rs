//! Ends a program before its time: when its trace so far shows an error, or when it runs for too long.

use crate::session::Member;
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The trace so far of a process that runs.
#[derive(Debug)]
pub struct SoFar {
    /// A copy of the trace, rewound.
    pub trace: File,
    /// Variables on which races are intended, as the program says.
    pub benign: Vec<String>,
}

/// Whether a trace so far shows an error.
pub type HaltWhen = Arc<dyn Fn(SoFar) -> bool + Send + Sync>;

/// The shortest time between two looks.
const EVERY: Duration = Duration::from_millis(100);

/// The pause after a look, as a multiple of its duration: each look begins with the first event.
const REST: u32 = 2;

/// How long processes may take to end when they were asked to.
const PATIENCE: Duration = Duration::from_secs(2);

/// A trace that has grown, and how much of its file is whole.
pub(crate) struct Grown {
    pub(crate) file: File,
    pub(crate) len: u64,
    pub(crate) benign: Vec<String>,
}

/// Why a program was ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// Its trace showed an error.
    Error,
    /// It ran for longer than it may.
    Timeout,
}

/// Watches for a reason to end the program.
pub(crate) struct Halting {
    /// Whether a trace so far is a reason.
    when: Option<HaltWhen>,
    /// When it must have ended.
    deadline: Option<Instant>,
    look: Option<(Instant, JoinHandle<bool>)>,
    next: Instant,
    /// Events of each process at the last look.
    seen: BTreeMap<Member, u64>,
    /// Why and when the processes were asked to end.
    asked: Option<(Halt, Instant)>,
    forced: bool,
}

impl Halting {
    pub(crate) fn new(when: Option<HaltWhen>, timeout: Option<Duration>) -> Halting {
        let next = Instant::now();
        let deadline = timeout.and_then(|timeout| next.checked_add(timeout));
        Halting { when, deadline, look: None, next, seen: BTreeMap::new(), asked: None, forced: false }
    }

    /// Whether there can be a reason at all.
    pub(crate) fn can_halt(&self) -> bool {
        self.when.is_some() || self.deadline.is_some()
    }

    /// Why the processes were asked to end, if they were.
    pub(crate) fn reason(&self) -> Option<Halt> {
        self.asked.map(|(reason, _)| reason)
    }

    /// Whether it is time for a look.
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.when.is_some() && self.asked.is_none() && self.look.is_none() && now >= self.next
    }

    /// Whether a process has more events than at the last look.
    pub(crate) fn has_grown(&mut self, member: &Member, events: u64) -> bool {
        self.seen.insert(member.clone(), events).unwrap_or(0) < events
    }

    /// Begins a look, in a thread of its own: draining must go on.
    pub(crate) fn look(&mut self, traces: Vec<Grown>, now: Instant) {
        self.next = now + EVERY;
        if traces.is_empty() {
            return;
        }
        let Some(when) = self.when.clone() else { return };
        let look = std::thread::Builder::new().spawn(move || {
            // A trace that cannot be read now is read later, or at the end.
            traces.into_iter().filter_map(|grown| copy(grown).ok()).any(|so_far| when(so_far))
        });
        self.look = look.ok().map(|thread| (now, thread));
    }

    /// Ends the processes if their time is up, or if the look that was under way saw an error.
    pub(crate) fn conclude(&mut self, now: Instant, processes: &[u32]) {
        if let Some((began, thread)) = self.look.take_if(|(_, thread)| thread.is_finished()) {
            self.next = now + EVERY.max((now - began) * REST);
            if thread.join().unwrap_or(false) {
                self.ask(Halt::Error, now, processes);
            }
        }
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.ask(Halt::Timeout, now, processes);
        }
        if self.asked.is_some_and(|(_, since)| now - since > PATIENCE) && !self.forced {
            self.forced = true;
            send(processes, Signal::KILL);
        }
    }
}

impl Halting {
    /// Asks the processes to end, once.
    fn ask(&mut self, reason: Halt, now: Instant, processes: &[u32]) {
        if self.asked.is_none() {
            self.asked = Some((reason, now));
            send(processes, Signal::TERM);
        }
    }
}

fn send(processes: &[u32], signal: Signal) {
    for pid in processes.iter().filter_map(|&pid| Pid::from_raw(i32::try_from(pid).ok()?)) {
        // It may have ended just now.
        let _ = kill_process(pid, signal);
    }
}

/// Copies a trace, because the file goes on growing, and deferred events belong before what is there.
fn copy(Grown { file, len, benign }: Grown) -> io::Result<SoFar> {
    let mut trace = tempfile::tempfile()?;
    let mut buffer = vec![0; 1 << 18];
    let mut at = 0;
    while at < len {
        let wanted = buffer.len().min(usize::try_from(len - at).unwrap_or(usize::MAX));
        // Read by offset: the file's own position belongs to its writer.
        let got = file.read_at(&mut buffer[..wanted], at)?;
        if got == 0 {
            break;
        }
        trace.write_all(&buffer[..got])?;
        at += got as u64;
    }
    trace.rewind()?;
    Ok(SoFar { trace, benign })
}
