//! One watched process image: from its shared file to its trace.

use crate::build::{Build, Sink};
use crate::drain::Drain;
use crate::java::{self, Java};
use crate::merge::Merger;
use crate::naming::Naming;
use crate::session::Member;
use crate::shared::Shared;
use crate::{Error, Watched};
use runtime::layout::process;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open, test_kill_process};
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::fence;
use std::time::{Duration, Instant};
use trace::Loss;

/// How long a record that is being written is waited for while threads wait for the observer.
const PATIENCE: Duration = Duration::from_millis(500);

/// Copies of the memory map that are read of one process.
const MAX_MAPS: u32 = 10_000;

/// A watched process image.
pub(crate) struct Observed {
    pub(crate) member: Member,
    pub(crate) argv: Vec<OsString>,
    shared: Shared,
    drain: Drain,
    merger: Merger,
    build: Build,
    /// Becomes readable when the process ends; `None`: it has ended, or the system has no such descriptors.
    pidfd: Option<OwnedFd>,
    maps: u32,
    blocked: Option<Instant>,
    /// For each slot: the time of a record that is not waited for any more.
    forgone: Vec<u64>,
    /// Records that were being written when the process was over.
    never: u64,
    losses: Vec<Loss>,
    pub(crate) over: bool,
}

/// The result of a look.
#[derive(Clone, Copy, Default)]
pub(crate) struct Taken {
    /// Words that were read.
    pub(crate) words: usize,
    /// There was more, and it must be read soon: threads may wait for its room.
    pub(crate) more: bool,
}

/// What is known of a process when it is over.
pub(crate) struct Observation {
    /// The file of the program, as far as it can be known from what was loaded.
    pub(crate) program: Option<PathBuf>,
    pub(crate) parent: u32,
    pub(crate) agent: u32,
    pub(crate) state: u32,
    pub(crate) events: u64,
    pub(crate) lost: u64,
    pub(crate) unwatched: u64,
    pub(crate) dropped: u64,
    pub(crate) notes: Vec<String>,
    pub(crate) benign: Vec<(String, String)>,
    pub(crate) without_hooks: Vec<PathBuf>,
    pub(crate) system_modules: u64,
    pub(crate) losses: Vec<Loss>,
    /// The trace, whole and flushed.
    pub(crate) written: io::Result<Sink>,
}

impl Observed {
    /// Begins to observe a process. `None`: its file is not set up yet.
    pub(crate) fn open(
        member: &Member,
        naming: impl FnOnce() -> Box<dyn Naming>,
        watched: &[Watched],
        kept: bool,
        sink: impl FnOnce() -> io::Result<Sink>,
    ) -> Result<Option<Observed>, Error> {
        let Some(shared) = Shared::open(&member.path)? else { return Ok(None) };
        if shared.pid() != member.pid {
            return Err(Error::Foreign("it says it is another process"));
        }
        let pidfd = i32::try_from(member.pid).ok().and_then(Pid::from_raw);
        let pidfd = pidfd.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
        let is_java = shared.agent() == java::AGENT;
        let names = if is_java { Box::new(Java::beside(&member.path)) } else { naming() };
        Ok(Some(Observed {
            member: member.clone(),
            argv: arguments(member.pid),
            shared,
            drain: Drain::default(),
            merger: Merger::default(),
            build: Build::new(sink()?, kept, names, member.pid, watched.to_vec(), is_java)?,
            pidfd,
            maps: 0,
            blocked: None,
            forgone: Vec::new(),
            never: 0,
            losses: Vec::new(),
            over: false,
        }))
    }

    /// Whether the process runs.
    pub(crate) fn is_alive(&self) -> bool {
        let Some(pidfd) = &self.pidfd else {
            // It is gone, or the system has no such descriptors.
            let pid = i32::try_from(self.member.pid).ok().and_then(Pid::from_raw);
            return pid.is_some_and(|pid| test_kill_process(pid).is_ok());
        };
        let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
        !poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ended| ended > 0)
    }

    /// Becomes readable when the process ends.
    pub(crate) fn pidfd(&self) -> Option<&OwnedFd> {
        self.pidfd.as_ref().filter(|_| !self.over)
    }

    /// Whether its threads wait for chunks, or soon will.
    pub(crate) fn is_short_of_room(&self) -> bool {
        !self.over && self.shared.is_short_of_room()
    }

    /// Takes what is new. `replaced`: another image of the process was seen.
    pub(crate) fn poll(&mut self, now: Instant, replaced: bool) -> Taken {
        if self.over {
            return Taken::default();
        }
        if !self.shared.is_whole() {
            self.lose("its shared file was cut short");
            self.merger.take_rest(&mut self.build);
            self.over = true;
            return Taken::default();
        }
        // Read before the words: what a process wrote before it died is all there then.
        let state = self.shared.state();
        let ended = !self.is_alive() || state == process::DETACHED || (state == process::EXECUTED && replaced);
        self.read_maps();
        if ended { self.take_last() } else { self.take_new(now) }
    }

    fn take_new(&mut self, now: Instant) -> Taken {
        let waited = self.blocked.map_or(Duration::ZERO, |since| now - since);
        let give_up = waited > PATIENCE && self.merger.held() > 0 && self.shared.waiting();
        let limit = self.limit(give_up);
        let drained = self.drain.poll(&self.shared, &mut self.merger, &mut self.build, false, give_up);
        let held = self.merger.held();
        self.merger.advance(limit, &mut self.build);
        if give_up && held == self.merger.held() {
            // The times make no sense.
            self.merger.advance(u64::MAX, &mut self.build);
        }
        // A thread that waits for a chunk gets one soon, as long as some are given back.
        let moved = held != self.merger.held() || drained.gave_back;
        if moved || self.merger.held() == 0 && !drained.pending {
            self.blocked = None;
        } else {
            self.blocked.get_or_insert(now);
        }
        Taken { words: drained.words, more: drained.has_more && drained.words > 0 }
    }

    /// The time up to which all records are there, when the chunks are read next. With `give_up`, those that are being
    /// written now are not waited for any more.
    fn limit(&mut self, give_up: bool) -> u64 {
        // The time is read first, then `writing` of each slot: a thread that is not writing then will take a later
        // time, or its record is there.
        let mut limit = self.shared.time();
        fence(SeqCst);
        let slots = self.shared.slots();
        self.forgone.resize(slots.max(self.forgone.len()), 0);
        for (slot, forgone) in self.forgone.iter_mut().enumerate().take(slots) {
            let writing = self.shared.writing(slot);
            if writing == 0 || writing == *forgone || self.drain.is_damaged(slot) {
                continue;
            }
            if give_up {
                *forgone = writing;
            } else {
                limit = limit.min(writing - 1);
            }
        }
        limit
    }

    /// The process is over: takes all there is.
    fn take_last(&mut self) -> Taken {
        let mut words = 0;
        loop {
            let drained = self.drain.poll(&self.shared, &mut self.merger, &mut self.build, true, true);
            words += drained.words;
            let held = self.merger.held();
            self.merger.advance(u64::MAX, &mut self.build);
            if drained.words == 0 && held == self.merger.held() {
                break;
            }
        }
        self.merger.take_rest(&mut self.build);
        let slots = 0..self.shared.slots();
        let never = slots.filter(|&slot| self.shared.writing(slot) != 0 && !self.drain.is_damaged(slot));
        self.never = never.count() as u64;
        self.over = true;
        Taken { words, more: false }
    }

    fn read_maps(&mut self) {
        while self.maps < self.shared.maps().min(MAX_MAPS) {
            let mut path = self.member.path.clone().into_os_string();
            path.push(format!(".maps-{}", self.maps));
            if let Ok(text) = std::fs::read(path) {
                self.build.maps(&text);
            }
            self.maps += 1;
        }
    }

    fn lose(&mut self, message: impl Into<String>) {
        self.losses.push(Loss { place: None, message: message.into() });
    }

    /// Stops observing a process that lives on.
    pub(crate) fn abandon(&mut self) {
        if !self.over {
            self.shared.detach();
            self.take_last();
            self.lose("the process was still running when recording ended");
        }
    }

    /// Events so far.
    pub(crate) fn events(&self) -> u64 {
        self.build.events()
    }

    /// Writes out all there is, so that it can be read. Returns the variables on which races are intended.
    pub(crate) fn flush(&mut self) -> Vec<String> {
        self.build.flush();
        self.build.benign.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Ends the trace.
    pub(crate) fn finish(mut self) -> Observation {
        self.build.close();
        let state = self.shared.state();
        let abandoned = self.losses.len();
        match state {
            process::RUNNING => {
                self.losses.push(Loss::killed());
            }
            process::DETACHED if abandoned == 0 => {
                self.lose(match self.shared.reason() {
                    Some(reason) => format!("the agent gave up, and the program went on unwatched: {reason}"),
                    None => "the agent gave up, and the program went on unwatched".to_owned(),
                });
            }
            _ => {}
        }
        let lost = self.build.lost.max(self.shared.lost());
        let losses = [
            (self.never, "records were never written"),
            (self.drain.damaged, "threads wrote something that is no record; nothing more was read of them"),
            (self.drain.missing, "chunks of records are missing"),
            (self.merger.out_of_order, "records came too late for their place in the order"),
            (self.build.senseless, "records make no sense"),
            (lost, "records were dropped for want of room"),
            (self.shared.unwatched(), "threads were not watched for want of room"),
        ];
        for (count, what) in losses {
            if count > 0 {
                self.lose(format!("{count} {what}"));
            }
        }
        if self.shared.failed() > 0 {
            self.losses.push(Loss::hooks_failed(self.shared.failed()));
        }
        let (system, mut own): (Vec<PathBuf>, Vec<PathBuf>) =
            self.build.modules().into_iter().partition(|path| source::is_system_module(path));
        // The session's files are in the process' map, too, and large.
        own.retain(|path| path.parent() != self.member.path.parent());
        let system = system.iter().filter(|path| is_library(path)).count();
        let is_program = |path: &&PathBuf| !path.to_string_lossy().contains(".so");
        let program = own.iter().find(is_program).cloned();
        Observation {
            parent: self.shared.parent(),
            program,
            agent: self.shared.agent(),
            state,
            events: self.build.events(),
            lost: lost.saturating_add(self.never),
            unwatched: self.shared.unwatched(),
            dropped: self.shared.dropped(),
            notes: self.build.take_notes(),
            benign: std::mem::take(&mut self.build.benign),
            // Of a file that cannot be read, nothing is known.
            without_hooks: own.into_iter().filter(|path| source::has_hooks(path).is_ok_and(|has| !has)).collect(),
            system_modules: system as u64,
            written: self.build.finish(&self.losses),
            losses: self.losses,
        }
    }
}

/// Whether a file of the system is a library, and not our own.
fn is_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ours = ["libforetrace", "libtsan.", "libclang_rt."];
    name.contains(".so") && !ours.iter().any(|start| name.starts_with(start))
}

/// The command line of a process; empty if it is gone.
fn arguments(pid: u32) -> Vec<OsString> {
    let mut bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    if bytes.is_empty() {
        return Vec::new();
    }
    bytes.split(|&byte| byte == 0).map(|argument| OsString::from_vec(argument.to_vec())).collect()
}
