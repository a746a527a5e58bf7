//! An agent without a program: writes records into a process' file as `docs/recording.md` says, or wrong ones.
#![allow(unsafe_code, missing_docs, dead_code, unreachable_pub)]

use runtime::layout::{
    CHUNK_WORDS, CHUNKS, CLOCK_VARIABLE, CacheLine, Chunk, MAGIC, Process, SESSION_VARIABLE, SLOTS, Slot, VERSION,
    chunk, clock, offset, process,
};
use runtime::record::{Class, Kind, MOST_BETWEEN, TextFor, atomic_aux, deferred_third, head, timed, with_seq};
use rustix::mm::{MapFlags, ProtFlags, mmap};
use rustix::thread::futex;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64};

/// The shared file of a process image. It stays mapped for ever.
#[derive(Clone, Copy)]
pub struct Agent {
    map: *mut u8,
}

// SAFETY: the map is there for ever, and is used by atomics, or by one thread alone.
unsafe impl Send for Agent {}
// SAFETY: as above.
unsafe impl Sync for Agent {}

pub fn session() -> PathBuf {
    std::env::var_os(SESSION_VARIABLE).expect("a session").into()
}

impl Agent {
    pub fn start(image: u32) -> Agent {
        let agent = Agent::create(&session().join(format!("p-{}-{image}", std::process::id())));
        agent.head(std::process::id());
        agent.ready();
        agent
    }

    pub fn create(path: &Path) -> Agent {
        let file = File::options().read(true).write(true).create_new(true).open(path).expect("a new file");
        file.set_len(offset::SIZE as u64).expect("room");
        // SAFETY: a new map of a file of that size.
        let map = unsafe {
            mmap(
                std::ptr::null_mut(),
                offset::SIZE,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::NORESERVE,
                &file,
                0,
            )
        };
        Agent { map: map.expect("a map").cast() }
    }

    /// Fills the head as an agent does before it is ready.
    pub fn head(&self, pid: u32) {
        self.word(0).store(MAGIC, Relaxed);
        self.half(std::mem::offset_of!(Process, version)).store(VERSION, Relaxed);
        self.half(std::mem::offset_of!(Process, pid)).store(pid, Relaxed);
        self.half(std::mem::offset_of!(Process, agent)).store(1, Relaxed);
        self.half(std::mem::offset_of!(Process, clock)).store(clock(), Relaxed);
    }

    pub fn ready(&self) {
        self.process().state.store(process::RUNNING, Release);
    }

    pub fn end(&self, state: u32) {
        self.process().state.store(state, Release);
    }

    /// The word at an offset of the file.
    pub fn word(&self, at: usize) -> &'static AtomicU64 {
        assert!(at + 8 <= offset::SIZE && at.is_multiple_of(8));
        // SAFETY: inside the map, aligned, and there for ever.
        unsafe { AtomicU64::from_ptr(self.map.add(at).cast()) }
    }

    pub fn half(&self, at: usize) -> &'static AtomicU32 {
        assert!(at + 4 <= offset::SIZE && at.is_multiple_of(4));
        // SAFETY: as above.
        unsafe { AtomicU32::from_ptr(self.map.add(at).cast()) }
    }

    pub fn process(&self) -> &'static Process {
        // SAFETY: it is at the beginning of the map; what changes in it is atomic.
        unsafe { &*self.map.cast() }
    }

    pub fn slot(&self, index: usize) -> &'static Slot {
        assert!(index < SLOTS);
        // SAFETY: as above.
        unsafe { &*self.map.add(offset::SLOTS_AT + index * size_of::<Slot>()).cast() }
    }

    pub fn chunk(&self, index: usize) -> &'static Chunk {
        assert!(index < CHUNKS);
        // SAFETY: as above.
        unsafe { &*self.map.add(offset::CHUNKS_AT + index * size_of::<Chunk>()).cast() }
    }

    pub fn time(&self) -> u64 {
        #[cfg(target_arch = "x86_64")]
        if self.process().clock == clock::PROCESSOR {
            // SAFETY: every such processor has them.
            return unsafe {
                std::arch::x86_64::_mm_lfence();
                std::arch::x86_64::_rdtsc()
            };
        }
        let CacheLine(counter) = &self.process().counter;
        counter.fetch_add(1, AcqRel) + 1
    }

    pub fn maps(&self, image: u32, text: &str) {
        let number = self.process().maps.load(Relaxed);
        let name = format!("p-{}-{image}.maps-{number}", std::process::id());
        std::fs::write(session().join(name), text).expect("written");
        self.process().maps.store(number + 1, Release);
    }

    /// A thread in the next slot.
    pub fn thread(&self) -> Thread {
        let slot = self.process().slots.fetch_add(1, AcqRel);
        Thread { agent: *self, slot, chunk: None, at: 0, sequence: 0, time: 0, last_full_time: 0, contexts: 0 }
    }

    fn take_chunk(&self) -> usize {
        let process = self.process();
        let (CacheLine(free), CacheLine(returned), CacheLine(waiting)) =
            (&process.free, &process.returned, &process.waiting);
        loop {
            let before = returned.load(SeqCst);
            let top = free.load(SeqCst);
            if top as u32 != 0 {
                let index = top as u32 as usize - 1;
                let next = self.chunk(index).next.load(Relaxed);
                let new = ((top >> 32).wrapping_add(1) << 32) | u64::from(next);
                if free.compare_exchange(top, new, SeqCst, SeqCst).is_ok() {
                    return index;
                }
                continue;
            }
            let fresh = process.chunks.load(SeqCst);
            if (fresh as usize) < LIMIT.load(Relaxed) as usize {
                if process.chunks.compare_exchange(fresh, fresh + 1, SeqCst, SeqCst).is_ok() {
                    return fresh as usize;
                }
                continue;
            }
            waiting.fetch_add(1, SeqCst);
            let timeout = futex::Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
            let _ = futex::wait(returned, futex::Flags::empty(), before, Some(&timeout));
            waiting.fetch_sub(1, SeqCst);
        }
    }
}

/// The clock that a real agent would choose.
fn clock() -> u32 {
    let kernels = std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let is_trusted = cfg!(target_arch = "x86_64") && kernels.is_ok_and(|name| name.trim_end() == "tsc");
    let is_wanted = std::env::var_os(CLOCK_VARIABLE).is_none_or(|how| how != "counter");
    if is_trusted && is_wanted { clock::PROCESSOR } else { clock::COUNTER }
}

/// Chunks of a file: a test that wants threads to wait makes them fewer.
pub static LIMIT: AtomicU32 = AtomicU32::new(CHUNKS as u32);

/// A thread of the watched program.
pub struct Thread {
    pub agent: Agent,
    pub slot: u32,
    chunk: Option<usize>,
    at: usize,
    sequence: u64,
    time: u64,
    last_full_time: u64,
    contexts: u32,
}

impl Thread {
    /// Makes room for this many words, and a full time, before a time is taken.
    pub fn reserve(&mut self, words: usize) {
        if self.chunk.is_some() && self.at + words + Kind::FullTime.words() <= CHUNK_WORDS {
            return;
        }
        if let Some(old) = self.chunk {
            self.agent.chunk(old).state.store(chunk::FULL, Release);
        }
        let index = self.agent.take_chunk();
        let new = self.agent.chunk(index);
        new.slot.store(self.slot, Relaxed);
        new.sequence.store(self.sequence, Relaxed);
        new.state.store(chunk::ACTIVE, Release);
        self.sequence += 1;
        self.chunk = Some(index);
        self.at = 0;
    }

    pub fn put(&mut self, words: &[u64]) {
        self.reserve(words.len());
        self.put_reserved(words);
    }

    fn put_reserved(&mut self, words: &[u64]) {
        let base = offset::words(self.chunk.expect("reserved")) + self.at * 8;
        for (k, &word) in words.iter().enumerate().skip(1) {
            self.agent.word(base + k * 8).store(word, Relaxed);
        }
        self.agent.word(base).store(words[0], Release);
        self.at += words.len();
    }

    /// Where in the file the next record will be.
    pub fn next_record(&mut self) -> usize {
        self.reserve(16);
        offset::words(self.chunk.expect("reserved")) + self.at * 8
    }

    /// Puts a value into a record of three words, and then its head.
    pub fn patch(&self, record: usize, value: u64, head: u64) {
        self.agent.word(record + 16).store(value, Relaxed);
        self.agent.word(record).store(head, Release);
    }

    pub fn full(&mut self) {
        if let Some(old) = self.chunk.take() {
            self.agent.chunk(old).state.store(chunk::FULL, Release);
        }
    }

    pub fn context(&mut self, caller: u32, pc: u64) -> u32 {
        self.contexts += 1;
        self.put(&[head(Kind::Context, 0, u64::from(self.contexts) | u64::from(caller) << 24), pc]);
        self.contexts
    }

    /// Announces a record, and takes its time. There is room.
    pub fn begin_record(&mut self) -> u64 {
        let writing = &self.agent.slot(self.slot as usize).writing;
        writing.store(self.time + 1, Relaxed);
        std::sync::atomic::compiler_fence(SeqCst);
        self.time = self.agent.time();
        if self.time.wrapping_sub(self.last_full_time) >= MOST_BETWEEN {
            self.last_full_time = self.time;
            self.put_reserved(&[head(Kind::FullTime, 0, 0), self.time]);
        }
        self.time
    }

    /// The record is written.
    pub fn end_record(&self) {
        self.agent.slot(self.slot as usize).writing.store(0, Release);
    }

    /// A timed record of two words.
    pub fn sync(&mut self, kind: Kind, aux: u8, payload: u64, context: u32) {
        self.reserve(2);
        let time = self.begin_record();
        self.put_reserved(&[head(kind, aux, payload), timed(time, context)]);
        self.end_record();
    }

    /// One of three.
    pub fn sync3(&mut self, kind: Kind, aux: u8, payload: u64, context: u32, word: u64) {
        self.reserve(3);
        let time = self.begin_record();
        self.put_reserved(&[head(kind, aux, payload), timed(time, context), word]);
        self.end_record();
    }

    pub fn begin(&mut self) {
        self.sync3(Kind::ThreadStart, 0, 0, 0, 1);
    }

    pub fn read(&mut self, word: u64, mask: u8, context: u32) {
        self.sync(Kind::ConflictRead, mask, word, context);
    }

    pub fn alloc(&mut self, address: u64, size: u64, context: u32) {
        self.sync3(Kind::Alloc, 0, address, context, size);
    }

    pub fn free(&mut self, address: u64, size: u64, context: u32) {
        self.sync3(Kind::Free, 0, address, context, size);
    }

    pub fn acquire(&mut self, lock: u64, context: u32) {
        self.sync(Kind::Acquire, Class::Mutex as u8, lock, context);
    }

    pub fn release(&mut self, lock: u64, context: u32) {
        self.sync(Kind::Release, Class::Mutex as u8, lock, context);
    }

    pub fn deferred(&mut self, word: u64, mask: u8, whose: (u32, u64, u32), write: bool, seq: u32) {
        let (slot, sync_index, context) = whose;
        let third = with_seq(deferred_third(slot, write), seq);
        self.put(&[head(Kind::Deferred, mask, word), timed(sync_index, context), third]);
    }

    /// Several, of whole words of a block.
    pub fn deferred_bulk(
        &mut self,
        kind: Kind,
        (block, words): (u64, u8),
        whose: (u32, u64, u32),
        write: bool,
        seq: u32,
    ) {
        let (slot, sync_index, context) = whose;
        let third = with_seq(deferred_third(slot, write), seq);
        self.put(&[head(kind, words, block), timed(sync_index, context), third]);
    }

    pub fn drop_barrier(&mut self, word: u64, mask: u8, (slot, sync_index): (u32, u64), write: bool, seq: u32) {
        let third = with_seq(deferred_third(slot, write), seq);
        self.put(&[head(Kind::DropBarrier, mask, word), timed(sync_index, 0), third]);
    }

    pub fn text(&mut self, purpose: TextFor, text: &str, word: Option<u64>) {
        let mut words = vec![head(Kind::Text, purpose as u8, text.len() as u64)];
        for bytes in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            words.push(u64::from_le_bytes(word));
        }
        words.extend(word);
        self.put(&words);
    }

    pub fn fork(&mut self, slot: u32, context: u32) {
        self.sync3(Kind::Fork, 0, 0, context, slot.into());
    }

    pub fn join(&mut self, slot: u32, context: u32) {
        self.sync3(Kind::Join, 0, 0, context, slot.into());
    }

    pub fn atomic(&mut self, kind: Kind, order: u8, log2: u8, address: u64, value: u64) {
        self.sync3(kind, atomic_aux(order, log2), address, 0, value);
    }
}
