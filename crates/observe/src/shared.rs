//! A process' shared file: its head through a map, its chunks through reads and writes.
//!
//! The counters, states and the stack of free chunks are atomics that both sides use at once: they need the map. The
//! words of chunks are copied out by `pread` (a chunk is 16 KB: about a nanosecond a record): a copy cannot change
//! while it is decoded, and a file that was cut short gives a short read instead of SIGBUS. For the mapped head the
//! size is checked before every poll; the other side is a program with faults, not one that truncates our files.
#![allow(unsafe_code)]

use crate::Error;
use runtime::layout::{
    CHUNK_WORDS, CHUNKS, Chunk, MAGIC, Process, REASON, SLOTS, Slot, VERSION, chunk, chunks_for, clock, offset, process,
};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::thread::futex;
use std::fs::File;
use std::mem::offset_of;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The file of one watched process image.
pub(crate) struct Shared {
    file: File,
    /// The first [`MAPPED`] bytes of the file.
    head: NonNull<u8>,
    /// Times are the processor's.
    steady: bool,
    /// The coarse time that was announced last ([`Process::coarse`]).
    announced: u64,
    certain: u64,
    /// When it was announced.
    announced_at: u64,
}

/// All before the words of the first chunk.
const MAPPED: usize = offset::WORDS_AT;

/// How far back a time of the processor must be before the observer trusts that a store before it is visible, in both
/// directions: a millisecond and more. Stores wait for their cache lines, some microseconds at worst.
const SEEN: u64 = 1 << 22;

/// The head of a chunk.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct ChunkHead {
    pub(crate) slot: u32,
    pub(crate) sequence: u64,
    pub(crate) index: u32,
    pub(crate) full: bool,
}

// SAFETY: the map belongs to this value, and all access to it is atomic.
unsafe impl Send for Shared {}

impl Shared {
    /// Maps a process' file. `None`: it is not set up yet.
    pub(crate) fn open(path: &Path) -> Result<Option<Shared>, Error> {
        let flags = (rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK).bits();
        let file = File::options().read(true).write(true).custom_flags(flags as i32).open(path)?;
        if !large_enough(&file)? {
            return Ok(None);
        }
        // SAFETY: a new map at a place that the kernel chooses; nothing else uses it.
        let head = unsafe {
            mmap(std::ptr::null_mut(), MAPPED, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, &file, 0)
        };
        let head = NonNull::new(head.map_err(std::io::Error::from)?.cast()).ok_or(Error::Foreign("no map"))?;
        let mut shared = Shared { file, head, steady: false, announced: 0, certain: 0, announced_at: 0 };
        if shared.state() == process::STARTING {
            return Ok(None);
        }
        if shared.u64(offset_of!(Process, magic)).load(Acquire) != MAGIC {
            return Err(Error::Foreign("it is no file of an agent"));
        }
        if shared.u32(offset_of!(Process, version)).load(Relaxed) != VERSION {
            return Err(Error::Foreign("its agent has another version"));
        }
        shared.steady = match shared.u32(offset_of!(Process, clock)).load(Relaxed) {
            clock::COUNTER => false,
            clock::PROCESSOR if processor_time().is_some() => true,
            _ => return Err(Error::Foreign("its clock is not known here")),
        };
        Ok(Some(shared))
    }

    /// Whether the file is still as large as it must be.
    pub(crate) fn is_whole(&self) -> bool {
        large_enough(&self.file).unwrap_or(false)
    }

    fn u32(&self, at: usize) -> &AtomicU32 {
        assert!(at.is_multiple_of(4) && at + 4 <= MAPPED);
        // SAFETY: inside the map and aligned; the map lives as long as `self`, and is only used by atomics.
        unsafe { AtomicU32::from_ptr(self.head.as_ptr().add(at).cast()) }
    }

    fn u64(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= MAPPED);
        // SAFETY: as above.
        unsafe { AtomicU64::from_ptr(self.head.as_ptr().add(at).cast()) }
    }

    pub(crate) fn state(&self) -> u32 {
        self.u32(offset_of!(Process, state)).load(Acquire)
    }

    /// Announces to the agent that the observer is gone.
    pub(crate) fn detach(&self) {
        let state = self.u32(offset_of!(Process, state));
        let _ = state.compare_exchange(process::RUNNING, process::DETACHED, AcqRel, Relaxed);
        self.wake();
    }

    pub(crate) fn pid(&self) -> u32 {
        self.u32(offset_of!(Process, pid)).load(Relaxed)
    }

    pub(crate) fn parent(&self) -> u32 {
        self.u32(offset_of!(Process, parent)).load(Relaxed)
    }

    pub(crate) fn agent(&self) -> u32 {
        self.u32(offset_of!(Process, agent)).load(Relaxed)
    }

    /// Copies of the memory map that are complete.
    pub(crate) fn maps(&self) -> u32 {
        self.u32(offset_of!(Process, maps)).load(Acquire)
    }

    /// The latest certain time: a thread that took it, or an earlier one, is seen to be writing from now on, or to have
    /// written.
    pub(crate) fn time(&mut self) -> u64 {
        if self.steady {
            let now = processor_time().unwrap_or(0);
            // A thread that took a time before it saw the announcement is visible by now, and all others take later
            // ones. (Not after the machine has slept.)
            if now.wrapping_sub(self.announced_at) >= SEEN {
                self.certain = if now > self.announced_at { self.announced } else { 0 };
                self.announced = now;
                self.u64(offset_of!(Process, coarse)).store(now, Release);
                // The observer may have lost its processor meanwhile.
                self.announced_at = processor_time().unwrap_or(0);
            }
            self.certain
        } else {
            // Reads the counter that a thread has changed after it announced its record.
            self.u64(offset_of!(Process, counter)).load(Acquire)
        }
    }

    /// Slots used so far.
    pub(crate) fn slots(&self) -> usize {
        (self.u32(offset_of!(Process, slots)).load(Acquire) as usize).min(SLOTS)
    }

    /// Chunks used so far.
    pub(crate) fn chunks(&self) -> usize {
        (self.u32(offset_of!(Process, chunks)).load(Acquire) as usize).min(CHUNKS)
    }

    pub(crate) fn lost(&self) -> u64 {
        self.u64(offset_of!(Process, lost)).load(Relaxed)
    }

    pub(crate) fn failed(&self) -> u64 {
        self.u64(offset_of!(Process, failed)).load(Relaxed)
    }

    /// Why the agent gave up, if it says so.
    pub(crate) fn reason(&self) -> Option<String> {
        let at = offset_of!(Process, reason);
        let words = (0..REASON / 8).map(|word| self.u64(at + word * 8).load(Relaxed));
        let bytes: Vec<u8> = words.flat_map(u64::to_ne_bytes).take_while(|&byte| byte != 0).collect();
        let text = String::from_utf8_lossy(&bytes).replace(char::is_control, " ");
        (!text.is_empty()).then_some(text)
    }

    pub(crate) fn unwatched(&self) -> u64 {
        self.u64(offset_of!(Process, unwatched)).load(Relaxed)
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.u64(offset_of!(Process, dropped)).load(Relaxed)
    }

    /// Whether threads wait for chunks.
    pub(crate) fn waiting(&self) -> bool {
        self.u32(offset_of!(Process, waiting)).load(SeqCst) != 0
    }

    /// Whether no chunk is free, and the file may not become longer; or threads wait already.
    pub(crate) fn is_short_of_room(&self) -> bool {
        let slots = self.u32(offset_of!(Process, slots)).load(Relaxed) as usize;
        let chunks = self.u32(offset_of!(Process, chunks)).load(Relaxed) as usize;
        let is_empty = self.u64(offset_of!(Process, free)).load(Relaxed) as u32 == 0;
        self.waiting() || is_empty && chunks >= chunks_for(slots)
    }

    /// The least time that a record that is being written in this slot can have; 0 if there is none.
    pub(crate) fn writing(&self, slot: usize) -> u64 {
        self.u64(offset::SLOTS_AT + slot * size_of::<Slot>() + offset_of!(Slot, writing)).load(Acquire)
    }

    /// The head of a chunk, unless it is free.
    pub(crate) fn chunk(&self, index: usize) -> Option<ChunkHead> {
        let at = offset::CHUNKS_AT + index * size_of::<Chunk>();
        let state = self.u32(at + offset_of!(Chunk, state)).load(Acquire);
        if state != chunk::ACTIVE && state != chunk::FULL {
            return None;
        }
        Some(ChunkHead {
            slot: self.u32(at + offset_of!(Chunk, slot)).load(Relaxed),
            sequence: self.u64(at + offset_of!(Chunk, sequence)).load(Relaxed),
            index: index as u32,
            full: state == chunk::FULL,
        })
    }

    /// Copies words of a chunk. What lies beyond the end of the file is zero.
    pub(crate) fn read(&self, chunk: u32, from: usize, words: &mut [u64]) -> std::io::Result<()> {
        assert!((chunk as usize) < CHUNKS && from + words.len() <= CHUNK_WORDS);
        // SAFETY: any bytes are words, and words are bytes.
        let (_, mut bytes, _) = unsafe { words.align_to_mut::<u8>() };
        let mut at = (offset::words(chunk as usize) + from * 8) as u64;
        while !bytes.is_empty() {
            match self.file.read_at(bytes, at) {
                Ok(0) => {
                    bytes.fill(0);
                    break;
                }
                Ok(count) => {
                    bytes = &mut bytes[count..];
                    at += count as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Zeroes a chunk that was read and puts it on the stack of free ones.
    pub(crate) fn give_back(&self, index: u32) -> std::io::Result<()> {
        static ZERO: [u8; CHUNK_WORDS * 8] = [0; CHUNK_WORDS * 8];
        self.file.write_all_at(&ZERO, offset::words(index as usize) as u64)?;
        let at = offset::CHUNKS_AT + index as usize * size_of::<Chunk>();
        self.u32(at + offset_of!(Chunk, state)).store(chunk::FREE, Release);
        let stack = self.u64(offset_of!(Process, free));
        let mut top = stack.load(Acquire);
        loop {
            self.u32(at + offset_of!(Chunk, next)).store(top as u32, Relaxed);
            let counter = (top >> 32).wrapping_add(1) << 32;
            match stack.compare_exchange_weak(top, counter | u64::from(index + 1), SeqCst, Acquire) {
                Ok(_) => return Ok(()),
                Err(now) => top = now,
            }
        }
    }

    /// Announces that chunks were given back.
    pub(crate) fn wake(&self) {
        let returned = self.u32(offset_of!(Process, returned));
        returned.fetch_add(1, SeqCst);
        if self.waiting() {
            // That no thread waits is no failure, and there is no other.
            let _ = futex::wake(returned, futex::Flags::empty(), i32::MAX as u32);
        }
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: the map is ours, and nothing borrowed from it outlives `self`.
        let _ = unsafe { munmap(self.head.as_ptr().cast(), MAPPED) };
    }
}

/// The processor's time stamp, on machines whose agents use it.
fn processor_time() -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such processor has the instruction.
    return Some(unsafe { std::arch::x86_64::_rdtsc() });
    #[cfg(not(target_arch = "x86_64"))]
    None
}

fn large_enough(file: &File) -> std::io::Result<bool> {
    let known = file.metadata()?;
    Ok(known.is_file() && known.len() >= offset::SIZE as u64)
}
