//! Writes records into the chunks of the process' file.

use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicU64, compiler_fence};

use runtime::chunks;
use runtime::filter::Sink;
use runtime::hand_off::Timing;
use runtime::layout::{CHUNK_WORDS, Chunk, Process, Slot, chunk, chunks_for, clock, flags, offset, process};
use runtime::record::{Kind, MOST_BETWEEN, head};

use crate::failing::{self, Place, lacks_space, may_fail};
use crate::{biased, machine, session, system};

/// Chunks that the file grows by.
const GROWTH: usize = 16;
/// The processor is asked to fetch this many words ahead: the observer has touched them last.
const AHEAD: usize = 24;
/// How often a waiting thread checks that the observer lives, in milliseconds.
const PATIENCE: u32 = 50;

/// How often a thread waits for a chunk while the file cannot grow and none is given back. All chunks may belong to
/// threads that wait for this one.
const TRIES_WITHOUT_SPACE: u32 = 4;

/// A time is at most this much before one that was read earlier.
const A_LITTLE: u64 = 1 << 12;

/// How far the coarse time may be behind times that are handed off: some seconds.
const LONG: u64 = 1 << 34;

/// Words that are kept free for a `FullTime`.
const FULL_TIME: usize = Kind::FullTime.words();

/// Set once a thread's times may be handed off.
static HANDS: AtomicBool = AtomicBool::new(false);

/// Whether times of threads may be handed off.
pub fn may_hand() -> bool {
    HANDS.load(Relaxed)
}

/// The chunk that a thread writes into. Zeroed memory is a ring without a chunk.
pub struct Ring {
    /// The process' file.
    file: *mut u8,
    slot: u32,
    /// The chunk's index + 1; 0: none.
    chunk: u32,
    at: *mut u64,
    end: *mut u64,
    /// The part of the slot that the observer sees.
    shared: *const Slot,
    /// The clock is the processor's.
    steady: bool,
    /// Times may be handed off: [`runtime::hand_off`].
    hands: bool,
    /// The time of the last timed record, and of the last `FullTime`.
    time: u64,
    last_full_time: u64,
    /// The sequence number of the next chunk.
    sequence: u64,
    /// Records lost since the last `Lost`, and how many of them the head of the process' file already counts.
    lost: u64,
    reported: u64,
    /// The value of `returned` (+ 1) when there was no free chunk, with `LOSSY`.
    full: u64,
}

impl Ring {
    /// Begins to write for a slot.
    pub fn open(&mut self, file: *mut u8, slot: u32) {
        self.file = file;
        self.slot = slot;
        self.shared = chunks::slot(file, slot);
        self.steady = self.process().clock == clock::PROCESSOR;
        self.renew();
        self.leave();
    }

    /// Decides again whether times may be handed off. Of a program without hooks, the clock is the only witness of what
    /// its atomic accesses order.
    pub fn renew(&mut self) {
        self.hands = self.steady && biased::has_barrier() && session::is_hooked();
        if self.hands {
            HANDS.store(true, Relaxed);
        }
    }

    /// Starts again, for another process' file.
    pub fn restart(&mut self) {
        self.chunk = 0;
        self.at = ptr::null_mut();
        self.end = ptr::null_mut();
        self.time = 0;
        self.last_full_time = 0;
        self.sequence = 0;
        self.lost = 0;
        self.reported = 0;
        self.full = 0;
    }

    /// The head of the process' file.
    #[inline]
    pub fn process(&self) -> &'static Process {
        // SAFETY: mapped as long as the process is watched, and larger than `Process`.
        unsafe { &*self.file.cast() }
    }

    fn chunk(&self, index: u32) -> &'static Chunk {
        chunks::head(self.file, index)
    }

    /// The part of the slot that the observer sees.
    #[inline]
    pub fn shared(&self) -> &'static Slot {
        // SAFETY: `open` has it from the mapped file.
        unsafe { &*self.shared }
    }

    /// The next time after this one; `None` if the observer has been silent for long, or the machine has slept.
    #[inline(always)]
    fn handed(&self, time: u64) -> Option<u64> {
        let coarse = self.process().coarse.0.load(Relaxed);
        let last = time.max(self.time);
        (last.saturating_sub(coarse) < LONG).then(|| last.max(coarse) + 1)
    }

    /// Reads the next time from the clock.
    #[inline(always)]
    fn by_clock(&self, timing: Timing) -> u64 {
        let now = match timing {
            _ if !self.steady => self.process().counter.0.fetch_add(1, AcqRel) + 1,
            Timing::Before => machine::time_at_once(),
            Timing::Now | Timing::After(_) => machine::time(),
        };
        // A time that was read without waiting may be a little less than the last. Far less means that the machine has
        // slept, which must not be hidden.
        if self.time.wrapping_sub(now) < A_LITTLE { self.time + 1 } else { now }
    }

    #[cold]
    #[inline(never)]
    fn write_full_time(&mut self) {
        self.last_full_time = self.time;
        self.write(&[head(Kind::FullTime, 0, 0), self.time]);
    }

    /// Whether records are being lost.
    pub fn is_closed(&self) -> bool {
        self.at.is_null()
    }

    /// Whether there is room for this many words at once.
    #[inline(always)]
    pub fn has_room(&self, words: usize) -> bool {
        (self.end as usize) - (self.at as usize) >= (words + FULL_TIME) * 8
    }

    /// Writes a record for which there is room, its head last. Returns where it is; null if it is lost.
    #[inline(always)]
    pub fn write(&mut self, words: &[u64]) -> *mut u64 {
        let Some((&first, rest)) = words.split_first() else { return ptr::null_mut() };
        let record = self.at;
        if record.is_null() {
            self.lost += 1;
            return record;
        }
        debug_assert!(words.len() * 8 <= self.end as usize - record as usize, "no room was made for it");
        // SAFETY: `reserve` made room in the chunk, which is this thread's alone.
        unsafe {
            for (i, &word) in rest.iter().enumerate() {
                self.at.add(1 + i).write(word);
            }
            (*self.at.cast::<AtomicU64>()).store(first, Release);
            self.at = self.at.add(words.len());
            machine::want(self.at.wrapping_add(AHEAD));
        }
        record
    }

    /// Gives the chunk up: it is complete.
    pub fn leave(&mut self) {
        self.report();
        if self.chunk != 0 {
            self.chunk(self.chunk - 1).state.store(chunk::FULL, Release);
            self.chunk = 0;
        }
        self.at = ptr::null_mut();
        self.end = ptr::null_mut();
    }

    /// Reports lost records to the head of the process' file.
    pub fn report(&mut self) {
        if self.lost > self.reported {
            self.report_lost();
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&mut self) {
        may_fail(Place::Refill);
        // If no chunk was given back since, there is none.
        if self.full != 0 && self.full == u64::from(self.process().returned.0.load(Relaxed)) + 1 {
            return;
        }
        self.leave();
        let Some(index) = self.take() else { return };
        self.full = 0;
        let taken = self.chunk(index);
        taken.slot.store(self.slot, Relaxed);
        taken.sequence.store(self.sequence, Relaxed);
        taken.state.store(chunk::ACTIVE, Release);
        self.sequence += 1;
        self.chunk = index + 1;
        // SAFETY: chunks below `CHUNKS` lie in the mapping.
        unsafe {
            self.at = self.file.add(offset::words(index as usize)).cast();
            self.end = self.at.add(CHUNK_WORDS);
        }
        if self.lost > 0 {
            self.report_lost();
            let lost = self.lost;
            self.lost = 0;
            self.reported = 0;
            self.write(&[head(Kind::Lost, 0, lost)]);
        }
    }

    /// Adds the lost records to those of the process.
    fn report_lost(&mut self) {
        self.process().lost.fetch_add(self.lost - self.reported, Relaxed);
        self.reported = self.lost;
    }

    /// Takes a free chunk: from the stack, from the end of the file, or one that the observer gives back. May block.
    fn take(&mut self) -> Option<u32> {
        // A forked child that was not noticed must not write into its parent's file. One that shares its parent's
        // memory (`vfork`) may.
        if !session::is_running() || !session::notices_forks() && !session::is_own_process() {
            session::forget();
            return None;
        }
        let process = self.process();
        let (mut silent, mut tries, mut before) = (0, 0, None);
        loop {
            let returned = process.returned.0.load(SeqCst);
            let grown = chunks::pop(self.file).map_or_else(|| grow(self.file), Growth::Chunk);
            if let Growth::Chunk(index) = grown {
                return Some(index);
            }
            let is_in_vain = grown == Growth::NoSpace && before == Some(returned);
            tries = if is_in_vain { tries + 1 } else { 0 };
            before = Some(returned);
            if session::flags() & flags::LOSSY != 0 || tries >= TRIES_WITHOUT_SPACE {
                self.full = u64::from(returned) + 1;
                return None;
            }
            let beat = session::heartbeat();
            process.waiting.0.fetch_add(1, SeqCst);
            system::futex_wait(&process.returned.0, returned, PATIENCE);
            process.waiting.0.fetch_sub(1, SeqCst);
            // The observer may have ended the session.
            if process.state.load(Relaxed) == process::DETACHED {
                session::forget();
            }
            if !session::is_running() {
                return None;
            }
            // A process of another namespace is not visible, but its heartbeat is.
            silent = if beat == session::heartbeat() && !session::observer_is_alive() { silent + 1 } else { 0 };
            if silent > 20 {
                session::detach(b"its observer is gone");
                return None;
            }
        }
    }
}

impl Sink for Ring {
    #[inline]
    fn begin(&self) {
        // The observer must not wait for a record that will be lost.
        if !self.at.is_null() {
            self.shared().writing.store(self.time + 1, Relaxed);
            compiler_fence(SeqCst);
        }
    }

    #[inline]
    fn time(&mut self, timing: Timing) -> u64 {
        if self.at.is_null() {
            return 0;
        }
        // None of these waits for a store. The observer allows the store of `begin` time to become visible.
        let handed = match timing {
            Timing::After(time) if self.hands => self.handed(time),
            _ => None,
        };
        self.time = match handed {
            Some(time) => time,
            None => self.by_clock(timing),
        };
        if self.time.wrapping_sub(self.last_full_time) >= MOST_BETWEEN {
            self.write_full_time();
        }
        self.time
    }

    #[inline]
    fn written(&self) {
        self.shared().writing.store(0, Release);
    }

    #[inline]
    fn reserve(&mut self, words: usize) {
        if !self.has_room(words) {
            self.refill();
        }
    }

    #[inline(always)]
    fn put<const WORDS: usize>(&mut self, words: [u64; WORDS]) {
        self.write(&words);
    }

    fn yield_now(&self) {
        failing::pause();
    }
}

static GROWING: AtomicBool = AtomicBool::new(false);

/// In a forked child, no other thread extends the file.
pub fn after_fork_child() {
    GROWING.store(false, Relaxed);
}

/// What became of the wish for a longer file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// A chunk for the caller; the others are on the stack.
    Chunk(u32),
    /// The process has as many chunks as it may.
    Enough,
    /// There is no space.
    NoSpace,
}

/// Extends the file.
fn grow(file: *mut u8) -> Growth {
    // SAFETY: the head of the mapped file.
    let process = unsafe { &*file.cast::<Process>() };
    while GROWING.swap(true, Acquire) {
        failing::pause();
    }
    let first = process.chunks.load(Relaxed) as usize;
    let most = chunks_for(process.slots.load(Relaxed) as usize);
    let count = GROWTH.min(most.saturating_sub(first));
    let bytes = count * CHUNK_WORDS * 8;
    // The program may have closed or reused any descriptor of ours, so the file is opened again.
    let grown = count > 0
        && !lacks_space()
        && session::with_file(|fd| system::allocate(fd, offset::words(first), bytes)).unwrap_or(false);
    if grown {
        process.chunks.store((first + count) as u32, Release);
        for index in first + 1..first + count {
            chunks::push(file, index as u32);
        }
    }
    GROWING.store(false, Release);
    match chunks::pop(file) {
        _ if grown => Growth::Chunk(first as u32),
        Some(index) => Growth::Chunk(index),
        None if count == 0 => Growth::Enough,
        None => Growth::NoSpace,
    }
}
