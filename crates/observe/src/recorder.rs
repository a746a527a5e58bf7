//! Starts a program, and records it and the processes it starts, each into a trace of its own.

use crate::Error;
use crate::halt::{Grown, Halting};
use crate::options::{Options, Output};
use crate::process::{Observed, Taken};
use crate::recorded::{Agent, Ended, ProcessRecord, Recorded, StoredTrace};
use crate::session::{Member, Session};
use crate::shared::Shared;
use crate::trace_file::{Pending, create, store};
use runtime::layout::{flags, process};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The shortest and the longest time between two looks at the records. A look takes the processor's caches from the
/// program, so there should be few; the buffers hold what eight threads write in 50 ms.
const SHORT_NAP: Duration = Duration::from_millis(8);
const LONG_NAP: Duration = Duration::from_millis(10);

/// How often a short nap is interrupted to see whether a program has room left.
const BLINK: Duration = Duration::from_millis(2);

/// How often new processes are looked for.
const FIND_EVERY: Duration = Duration::from_millis(5);

/// Words in one look that mean the program is busy: look again at once.
const BUSY: usize = 1 << 15;

/// How long a process that the program started may take to show that it is watched, when the program has ended.
const GRACE: Duration = Duration::from_millis(200);

/// A recording. Its session exists from the beginning, and is removed with it.
pub struct Recording {
    options: Options,
    session: Session,
    observed: Vec<(Observed, Pending)>,
    /// Files that cannot be watched.
    refused: BTreeSet<Member>,
    problems: Vec<String>,
    last_beat: Instant,
    last_found: Instant,
    halting: Halting,
}

impl Recording {
    /// Makes a session.
    pub fn start(options: Options) -> Result<Recording, Error> {
        let bits = [
            (options.record_all, flags::RECORD_ALL),
            (options.lossy, flags::LOSSY),
            (options.no_accesses, flags::NO_ACCESSES),
        ];
        let bits = bits.iter().filter(|(set, _)| *set).fold(0, |bits, (_, flag)| bits | flag);
        // Later it would be too late: the program would run, and nothing of it could be kept.
        create(&options.output).map_err(Error::Output)?;
        let session = Session::create(bits, &options.watched, &options.java, options.exit_wait)?;
        session.put_gates(&options.gates)?;
        Ok(Recording {
            halting: Halting::new(options.halt.clone(), options.timeout),
            options,
            session,
            observed: Vec::new(),
            refused: BTreeSet::new(),
            problems: Vec::new(),
            last_beat: Instant::now(),
            last_found: Instant::now(),
        })
    }

    /// The environment variable that leads agents here.
    pub fn variable(&self) -> (&'static str, &Path) {
        self.session.variable()
    }

    /// Starts the program and records until it and the processes it started have ended. `signal` holds the number of
    /// a signal that came to us, 0 if none: it is passed on.
    pub fn run(mut self, command: &mut Command, signal: &AtomicUsize) -> Result<Recorded, Error> {
        let (name, value) = self.session.variable();
        command.env(name, value);
        let mut child = command
            .spawn()
            .map_err(|error| Error::Start { program: command.get_program().to_string_lossy().into_owned(), error })?;
        let exit = self.observe(&mut child, signal)?;
        let argv = std::iter::once(command.get_program()).chain(command.get_args()).map(OsString::from).collect();
        Ok(self.finish(child.id(), argv, exit))
    }

    fn observe(&mut self, child: &mut Child, signal: &AtomicUsize) -> Result<ExitStatus, Error> {
        let mut nap = SHORT_NAP;
        let mut ended: Option<(ExitStatus, Instant)> = None;
        loop {
            let now = Instant::now();
            let number = signal.swap(0, Ordering::Relaxed);
            if number != 0 && ended.is_none() {
                forward(child.id(), number);
            }
            if ended.is_none() {
                ended = child.try_wait()?.map(|exit| (exit, now));
            }
            let taken = self.look(now);
            self.halt(now, ended.is_none().then(|| child.id()));
            if let Some((exit, since)) = ended
                && self.is_over(now - since)
            {
                return Ok(exit);
            }
            nap = if taken.words > 0 { SHORT_NAP } else { (nap * 2).min(LONG_NAP) };
            if taken.words < BUSY && !taken.more {
                self.sleep(nap);
            }
        }
    }

    /// Looks for new processes, and reads what all have written.
    fn look(&mut self, now: Instant) -> Taken {
        if now - self.last_beat > Duration::from_millis(100) {
            self.session.beat();
            self.last_beat = now;
        }
        if now - self.last_found >= FIND_EVERY {
            self.last_found = now;
            self.find_processes();
        }
        let latest: Vec<(u32, u32)> = self.observed.iter().map(|(o, _)| (o.member.pid, o.member.image)).collect();
        let mut all = Taken::default();
        for (observed, _) in &mut self.observed {
            let (pid, image) = (observed.member.pid, observed.member.image);
            let replaced = latest.iter().any(|&(other, later)| other == pid && later > image);
            let taken = observed.poll(now, replaced);
            all = Taken { words: all.words + taken.words, more: all.more || taken.more };
        }
        all
    }

    /// Ends all processes when there is a reason to, and looks for one in their traces so far.
    fn halt(&mut self, now: Instant, child: Option<u32>) {
        let halting = &mut self.halting;
        if !halting.can_halt() {
            return;
        }
        let running = self.observed.iter().filter(|(observed, _)| !observed.over).map(|(o, _)| o.member.pid);
        let running: BTreeSet<u32> = running.chain(child).collect();
        halting.conclude(now, &running.into_iter().collect::<Vec<_>>());
        if !halting.is_due(now) {
            return;
        }
        let mut grown = Vec::new();
        for (observed, pending) in &mut self.observed {
            if observed.over || !halting.has_grown(&observed.member, observed.events()) {
                continue;
            }
            let benign = observed.flush();
            let file = pending.file();
            if let (Ok(file), Ok(about)) = (file.try_clone(), file.metadata()) {
                grown.push(Grown { file, len: about.len(), benign });
            }
        }
        halting.look(grown, now);
    }

    fn find_processes(&mut self) {
        let members = match self.session.members() {
            Ok(members) => members,
            Err(error) => return self.problem(format!("the session's directory cannot be read: {error}")),
        };
        for member in members {
            if self.refused.contains(&member) || self.observed.iter().any(|(known, _)| known.member == member) {
                continue;
            }
            let mut pending = None;
            let kept = !matches!(self.options.output, Output::Temporary);
            let Options { naming, watched, output, .. } = &self.options;
            let opened = Observed::open(&member, naming, watched, kept, || {
                let (file, writer) = create(output)?;
                pending = Some(file);
                Ok(Box::new(BufWriter::with_capacity(1 << 18, writer)))
            });
            match opened {
                Ok(Some(observed)) => self.observed.extend(pending.map(|pending| (observed, pending))),
                Ok(None) => {}
                Err(error) => {
                    self.problem(format!("process {}: {error}", member.pid));
                    // Its agent must not wait for us.
                    if let Ok(Some(shared)) = Shared::open(&member.path) {
                        shared.detach();
                    }
                    self.refused.insert(member);
                }
            }
        }
    }

    fn problem(&mut self, text: String) {
        if !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }

    /// Whether nothing more is to come, this long after the program has ended.
    fn is_over(&mut self, since: Duration) -> bool {
        let alive = |(observed, _): &(Observed, Pending)| !observed.over;
        if self.observed.iter().any(alive) {
            if since < self.options.linger {
                return false;
            }
            for (observed, _) in self.observed.iter_mut() {
                observed.abandon();
            }
        }
        // Processes that were just started have not shown yet whether they are watched.
        if since < GRACE && !self.session.survivors().is_empty() {
            return false;
        }
        // The last of them may have written since the last look.
        self.find_processes();
        self.observed.iter().all(|(observed, _)| observed.over)
    }

    /// Sleeps until something can have happened, or a program is short of room.
    fn sleep(&self, nap: Duration) {
        let pidfds: Vec<_> = self.observed.iter().filter_map(|(observed, _)| observed.pidfd()).collect();
        let mut fds: Vec<PollFd<'_>> = pidfds.iter().map(|pidfd| PollFd::new(*pidfd, PollFlags::IN)).collect();
        let step = if nap > SHORT_NAP { nap } else { BLINK };
        let timeout = Timespec { tv_sec: 0, tv_nsec: step.subsec_nanos().into() };
        let until = Instant::now() + nap;
        // A signal ends the nap, too.
        while poll(&mut fds, Some(&timeout)) == Ok(0)
            && Instant::now() < until
            && !self.observed.iter().any(|(observed, _)| observed.is_short_of_room())
        {}
    }

    fn finish(mut self, main: u32, started_as: Vec<OsString>, exit: ExitStatus) -> Recorded {
        let last = self.observed.iter().map(|(o, _)| &o.member).filter(|m| m.pid == main).map(|m| m.image).max();
        let mut processes = Vec::new();
        for (observed, pending) in std::mem::take(&mut self.observed) {
            let Member { pid, image, .. } = observed.member.clone();
            let is_main = pid == main && Some(image) == last;
            let mut argv = observed.argv.clone();
            if argv.is_empty() && pid == main && image == 0 {
                // It was gone before its command line could be read.
                argv = started_as.clone();
            }
            let mut seen = observed.finish();
            if argv.is_empty() {
                argv.extend(seen.program.take().map(OsString::from));
            }
            let trace = match seen.written {
                // Everything was flushed, and the file is ours again.
                Ok(sink) => {
                    drop(sink);
                    store(pending, &self.options.output, if is_main { None } else { Some((pid, image)) })
                }
                Err(error) => StoredTrace::Failed(error),
            };
            processes.push(ProcessRecord {
                pid,
                parent: seen.parent,
                image,
                main: is_main,
                argv,
                exit: is_main.then_some(exit),
                ended: match seen.state {
                    process::EXITED => Ended::Exited,
                    process::EXECUTED => Ended::Executed,
                    process::DETACHED => Ended::Unwatched,
                    _ => Ended::Killed,
                },
                agent: match seen.agent {
                    0 => Agent::Static,
                    1 => Agent::Library,
                    2 => Agent::Preloaded,
                    crate::java::AGENT => Agent::Java,
                    _ => Agent::Other,
                },
                events: seen.events,
                lost: seen.lost,
                unwatched: seen.unwatched,
                dropped: seen.dropped,
                notes: seen.notes,
                benign: seen.benign,
                without_hooks: seen.without_hooks,
                system_modules: seen.system_modules,
                losses: seen.losses.into_iter().map(|loss| loss.message).collect(),
                trace,
            });
        }
        processes.sort_by_key(|record| (!record.main, record.pid, record.image));
        let refused = self.session.refusals();
        let gates = self.session.gates();
        Recorded { exit, processes, problems: self.problems, refused, gates, halted: self.halting.reason() }
    }
}

/// Passes a signal on. Ctrl-C reaches the program by itself where we share a terminal.
fn forward(pid: u32, number: usize) {
    let signal = i32::try_from(number).ok().and_then(Signal::from_named_raw);
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    if let (Some(signal), Some(pid)) = (signal, pid)
        && !(matches!(signal, Signal::INT | Signal::QUIT) && in_foreground())
    {
        // It may have ended just now.
        let _ = kill_process(pid, signal);
    }
}

/// Whether the terminal sends its signals to us, and so to the program.
fn in_foreground() -> bool {
    File::open("/dev/tty")
        .ok()
        .and_then(|terminal| rustix::termios::tcgetpgrp(terminal).ok())
        .is_some_and(|group| group == rustix::process::getpgrp())
}
