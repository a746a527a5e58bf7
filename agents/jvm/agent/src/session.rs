//! The session: finds out whether an observer wants this process watched, makes the process' file, takes its slots
//! and chunks, and ends it.

use crate::settings::AgentSettings;
use runtime::chunks;
use runtime::java::AGENT;
use runtime::layout::{
    CHUNK_WORDS, CLOCK_VARIABLE, MAGIC, Process, SESSION_VARIABLE, SLOTS, Session as Head, Slot, VERSION, chunk,
    chunks_for, clock, flags, offset, process,
};
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

/// By how many chunks the file grows.
const GROWTH: usize = 16;
/// How long a thread waits before it looks for the observer, in nanoseconds, and how many looks may be in vain.
const PATIENCE: i64 = 50_000_000;
const SILENT: u32 = 20;
/// Blocks of sync indices, of 16 bytes each: as many as words in cells can name (above `DeferredAccess.BLOCK_SHIFT`).
pub(crate) const BLOCKS: usize = 1 << 20;

/// A process that is watched.
pub(crate) struct Session {
    file: *mut u8,
    path: PathBuf,
    head: &'static Head,
    blocks: *mut [u64; 2],
    next_block: Mutex<usize>,
    growing: Mutex<()>,
    off: AtomicBool,
    pub(crate) settings: AgentSettings,
}

// SAFETY: the memory behind the pointers is mapped for good, and only atomics and what locks guard is changed there.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

static SESSION: OnceLock<Session> = OnceLock::new();

/// Begins, if there is an observer. A session that is not as it must be counts as none.
pub(crate) fn start() -> Option<&'static Session> {
    let directory = PathBuf::from(std::env::var_os(SESSION_VARIABLE)?);
    if !directory.is_absolute() {
        return None;
    }
    let file = File::open(directory.join("session")).ok()?;
    if file.metadata().ok()?.len() < size_of::<Head>() as u64 {
        return None;
    }
    let head = map(&file, size_of::<Head>(), libc::PROT_READ)?.cast::<Head>();
    // SAFETY: mapped for good, and as long as it must be.
    let head = unsafe { &*head };
    if head.magic != MAGIC || head.version != VERSION {
        return None;
    }
    let settings = AgentSettings::read(&directory.join("java"));
    let (path, file) = new_process(&directory)?;
    let blocks = anonymous(BLOCKS * size_of::<[u64; 2]>())?.cast();
    let session = Session {
        file,
        path,
        head,
        blocks,
        // A word with block 0 is no deferred access.
        next_block: Mutex::new(1),
        growing: Mutex::new(()),
        off: AtomicBool::new(false),
        settings,
    };
    let session = SESSION.get_or_init(|| session);
    Some(session)
}

/// Makes and maps the process' file.
fn new_process(directory: &std::path::Path) -> Option<(PathBuf, *mut u8)> {
    let pid = std::process::id();
    for number in 0..10_000 {
        let path = directory.join(format!("p-{pid}-{number}"));
        let file = match OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
            Err(_) => return None,
        };
        file.set_len(offset::SIZE as u64).ok()?;
        if !allocate(&file, 0, offset::WORDS_AT) {
            return None;
        }
        let at = map(&file, offset::SIZE, libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: a new file of zeros, as long as it must be. The observer waits for `RUNNING`.
        unsafe {
            let process = at.cast::<Process>();
            (*process).magic = MAGIC;
            (*process).version = VERSION;
            (*process).pid = pid;
            (*process).parent = libc::getppid() as u32;
            (*process).clock = clock_of_choice();
            (*process).agent = AGENT;
        }
        return Some((path, at));
    }
    None
}

/// The processor's clock, if the kernel trusts it; else a counter.
fn clock_of_choice() -> u32 {
    const KERNELS: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    let counts = std::env::var_os(CLOCK_VARIABLE).is_some_and(|value| value == "counter");
    let is_steady =
        cfg!(target_arch = "x86_64") && std::fs::read(KERNELS).is_ok_and(|name| name.trim_ascii() == b"tsc");
    if is_steady && !counts { clock::PROCESSOR } else { clock::COUNTER }
}

pub(crate) fn map(file: &File, size: usize, protection: i32) -> Option<*mut u8> {
    let fd = file.as_raw_fd();
    // SAFETY: a new map at a place that the kernel chooses.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, libc::MAP_SHARED, fd, 0) };
    (at != libc::MAP_FAILED).then_some(at.cast())
}

fn anonymous(size: usize) -> Option<*mut u8> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new map at a place that the kernel chooses.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), size, protection, kind, -1, 0) };
    (at != libc::MAP_FAILED).then_some(at.cast())
}

/// Makes sure that there is memory behind a part of a file: else a write would kill the program.
pub(crate) fn allocate(file: &File, at: usize, size: usize) -> bool {
    // SAFETY: a descriptor that is open.
    unsafe { libc::fallocate(file.as_raw_fd(), 0, at as i64, size as i64) == 0 }
}

impl Session {
    fn process(&self) -> &'static Process {
        // SAFETY: mapped for good.
        unsafe { &*self.file.cast() }
    }

    /// The process' file; the names of the files beside it begin with its name.
    pub(crate) fn path(&self) -> &std::path::Path {
        &self.path
    }

    /// Says that there is something to be read from now on.
    pub(crate) fn run(&self) {
        self.process().state.store(process::RUNNING, Release);
    }

    /// The process ends by itself.
    pub(crate) fn finish(&self) {
        if !self.is_off() {
            self.process().state.store(process::EXITED, Release);
        }
    }

    /// Whether nothing is recorded any more.
    pub(crate) fn is_off(&self) -> bool {
        self.off.load(Relaxed)
    }

    /// Gives up: the program goes on unwatched.
    pub(crate) fn detach(&self) {
        self.off.store(true, Relaxed);
        let _ = self.process().state.compare_exchange(process::RUNNING, process::DETACHED, SeqCst, Relaxed);
    }

    /// What `Memory.java` wants to know, in the order of its fields.
    pub(crate) fn facts(&self) -> [i64; 11] {
        let (file, process) = (self.file as i64, self.process());
        let steady = process.clock == clock::PROCESSOR;
        [
            file + offset::SLOTS_AT as i64,
            size_of::<Slot>() as i64,
            file + offset::WORDS_AT as i64,
            (CHUNK_WORDS * 8) as i64,
            (&raw const process.coarse) as i64,
            (&raw const process.counter) as i64,
            i64::from(steady),
            self.blocks as i64,
            if steady { now() as i64 } else { 0 },
            i64::from(self.head.flags & flags::RECORD_ALL != 0),
            i64::from(self.has_no_accesses()),
        ]
    }

    /// Whether plain accesses are not recorded at all.
    pub(crate) fn has_no_accesses(&self) -> bool {
        self.head.flags & flags::NO_ACCESSES != 0
    }

    /// Counts a hook that failed.
    pub(crate) fn failed(&self) {
        self.process().failed.fetch_add(1, Relaxed);
    }

    /// A slot for a thread.
    pub(crate) fn slot(&self) -> Option<u32> {
        let process = self.process();
        let taken = process.slots.fetch_update(SeqCst, SeqCst, |slots| ((slots as usize) < SLOTS).then_some(slots + 1));
        if taken.is_err() {
            process.unwatched.fetch_add(1, Relaxed);
        }
        taken.ok()
    }

    /// A block of sync indices for a thread (its slot and number), beginning at one; 0 if there are no more: then the
    /// thread records everything.
    pub(crate) fn block(&self, [slot, number]: [u32; 2], sync_index: u64) -> usize {
        let mut next = self.next_block.lock().unwrap_or_else(|failed| failed.into_inner());
        if *next == BLOCKS {
            return 0;
        }
        let block = *next;
        *next += 1;
        // SAFETY: below `BLOCKS`; no word names it before this returns.
        unsafe { self.blocks.add(block).write([u64::from(slot) | u64::from(number) << 32, sync_index]) };
        block
    }

    /// Gives back a chunk that is full.
    pub(crate) fn give(&self, chunk: u32) {
        chunks::head(self.file, chunk).state.store(chunk::FULL, Release);
    }

    /// The next chunk of a slot. May block until there is one.
    pub(crate) fn take(&self, slot: u32, sequence: u64) -> Option<u32> {
        let process = self.process();
        let mut silent = 0;
        let index = loop {
            if self.is_off() || std::process::id() != process.pid {
                return None;
            }
            let returned = process.returned.0.load(SeqCst);
            if let Some(index) = chunks::pop(self.file).or_else(|| self.grow()) {
                break index;
            }
            if self.head.flags & flags::LOSSY != 0 {
                return None;
            }
            let beat = self.head.heartbeat.load(Relaxed);
            process.waiting.0.fetch_add(1, SeqCst);
            wait(&process.returned.0, returned);
            process.waiting.0.fetch_sub(1, SeqCst);
            // The observer itself may have given up.
            if process.state.load(Relaxed) == process::DETACHED {
                self.off.store(true, Relaxed);
            }
            silent =
                if beat == self.head.heartbeat.load(Relaxed) && !self.observer_is_alive() { silent + 1 } else { 0 };
            if silent > SILENT {
                self.detach();
            }
        };
        let taken = chunks::head(self.file, index);
        taken.slot.store(slot, Relaxed);
        taken.sequence.store(sequence, Relaxed);
        taken.state.store(chunk::ACTIVE, Release);
        Some(index)
    }

    fn observer_is_alive(&self) -> bool {
        let observer = self.head.observer;
        // SAFETY: signal 0 only asks.
        let is_there = unsafe { libc::kill(observer as i32, 0) == 0 };
        is_there && !is_over(observer)
    }

    /// Makes the file longer: one chunk for the caller, the others for all.
    fn grow(&self) -> Option<u32> {
        let guard = self.growing.lock().unwrap_or_else(|failed| failed.into_inner());
        let process = self.process();
        let first = process.chunks.load(Relaxed) as usize;
        let most = chunks_for(process.slots.load(Relaxed) as usize);
        let count = GROWTH.min(most.saturating_sub(first));
        let file = OpenOptions::new().read(true).write(true).open(&self.path);
        let is_grown =
            count > 0 && file.is_ok_and(|file| allocate(&file, offset::words(first), count * CHUNK_WORDS * 8));
        if is_grown {
            process.chunks.store((first + count) as u32, Release);
            for index in first + 1..first + count {
                chunks::push(self.file, index as u32);
            }
        }
        drop(guard);
        if is_grown { Some(first as u32) } else { chunks::pop(self.file) }
    }
}

/// Waits until a number changes, at most for a while.
fn wait(number: &std::sync::atomic::AtomicU32, is: u32) {
    let patience = libc::timespec { tv_sec: 0, tv_nsec: PATIENCE };
    // SAFETY: the number is mapped for good. (The observer is another process: no private futex.)
    unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), libc::FUTEX_WAIT, is, &raw const patience) };
    let _ = number.load(Acquire);
}

/// Whether a process has ended, even if its parent has not asked how. False if the process cannot be seen.
fn is_over(process: u32) -> bool {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Its name, in parentheses, may contain anything.
    text.rsplit_once(") ").is_some_and(|(_, state)| state.starts_with(['Z', 'X']))
}

/// The processor's time.
fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such processor has the instruction.
    return unsafe { std::arch::x86_64::_rdtsc() };
    #[cfg(not(target_arch = "x86_64"))]
    0
}

#[cfg(test)]
mod tests {
    use super::is_over;

    #[test]
    fn a_process_is_over_before_its_parent_asks() {
        assert!(!is_over(std::process::id()));
        let mut child = std::process::Command::new("true").spawn().expect("a program");
        let id = child.id();
        while !is_over(id) {
            std::thread::yield_now();
        }
        child.wait().expect("a child");
        assert!(!is_over(id));
    }
}
