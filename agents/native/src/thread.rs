//! A thread of the program: its slot, its state, and how hooks and interceptors get at it.

use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use core::sync::atomic::{AtomicPtr, AtomicU32, compiler_fence};

use runtime::layout::{SLOTS, flags};
use runtime::record::{ADDRESS_BITS, Class, Kind, MAX_TEXT, TextFor, head, ticketed};

use crate::frames::{FRAMES, Frame};
use crate::machine::{self, Tls, tls};
use crate::places::Places;
use crate::ring::{self, Ring};
use crate::{session, system};

/// How far a thread's life is, in [`Tls::phase`].
mod phase {
    /// No hook has run yet.
    pub const NEW: u32 = 0;
    /// It has a slot.
    pub const WATCHED: u32 = 1;
    /// It has ended, or has no slot, or nobody watches.
    pub const OVER: u32 = 2;
}

/// What is known of a slot's life, in [`Thread::life`].
mod life {
    /// Given to a thread that has not begun, or runs.
    pub const USED: u32 = 1;
    /// Its thread has ended.
    pub const ENDED: u32 = 2;
    /// Nobody will ask for it again.
    pub const RELEASED: u32 = 4;
}

/// A thread's state. It lives in zeroed memory of its slot, and stays there when the thread is gone.
pub struct Thread {
    slot: u32,
    life: AtomicU32,
    /// The caller's address of the hook being served.
    pc: usize,
    pub(crate) ring: Ring,
    places: Places,
    /// Calls deeper than [`FRAMES`].
    pub(crate) deeper: usize,
    /// Rounds of key destructors seen.
    rounds: u32,
    pub(crate) frames: [Frame; FRAMES],
}

static THREADS: [AtomicPtr<Thread>; SLOTS] = [const { AtomicPtr::new(ptr::null_mut()) }; SLOTS];
/// The slot where the search for one to reuse begins.
static REUSED: AtomicU32 = AtomicU32::new(0);
/// The key whose destructor ends threads, + 1.
static KEY: AtomicU32 = AtomicU32::new(0);

/// Runs `f` with this thread's state; None if the agent is off, or this thread is inside a hook (signal handler).
#[inline]
pub fn enter<R>(pc: usize, f: impl FnOnce(&mut Thread) -> R) -> Option<R> {
    let tls = tls();
    // SAFETY: the thread's own storage; `busy` keeps hooks of signal handlers away from its state.
    unsafe {
        if (*tls).busy || (*tls).thread.is_null() && !attach(tls) {
            return None;
        }
        if !session::is_running() {
            let_go(tls);
            return None;
        }
        (*tls).busy = true;
        compiler_fence(SeqCst);
        let thread = &mut *(*tls).thread;
        thread.pc = pc;
        let result = f(thread);
        compiler_fence(SeqCst);
        (*tls).busy = false;
        Some(result)
    }
}

/// Whether hooks of this thread do nothing now: interceptors that need no record can go straight to the real function.
#[inline]
pub fn is_quiet() -> bool {
    // SAFETY: the thread's own storage.
    unsafe { (*tls()).busy || (*tls()).phase == phase::OVER }
}

impl Thread {
    /// Its slot.
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// Writes a ticketed record of two words.
    pub fn sync(&mut self, kind: Kind, class: Class, object: usize) {
        self.ticketed(kind, class as u8, object as u64, None);
    }

    /// Writes a ticketed record of three words.
    pub fn sync_with(&mut self, kind: Kind, class: Class, object: usize, word: u64) {
        self.ticketed(kind, class as u8, object as u64, Some(word));
    }

    /// Writes any ticketed record that is not an access.
    pub fn ticketed(&mut self, kind: Kind, aux: u8, payload: u64, word: Option<u64>) {
        debug_assert_eq!(kind.words(), if word.is_some() { 3 } else { 2 });
        let place = self.place();
        self.ring.reserve(3);
        let second = ticketed(self.ring.ticket(), place);
        let head = head(kind, aux, payload & ((1 << ADDRESS_BITS) - 1));
        match word {
            Some(word) => self.ring.put(&[head, second, word]),
            None => self.ring.put(&[head, second]),
        }
    }

    /// Writes a text for what follows, with the address it names.
    pub fn text(&mut self, purpose: TextFor, bytes: &[u8], word: Option<u64>) {
        const WORDS: usize = 1 + MAX_TEXT / 8 + 1;
        let bytes = &bytes[..bytes.len().min(MAX_TEXT)];
        let mut record = [0; WORDS];
        record[0] = head(Kind::Text, purpose as u8, bytes.len() as u64);
        for (i, &byte) in bytes.iter().enumerate() {
            record[1 + i / 8] |= u64::from(byte) << (i % 8 * 8);
        }
        let mut words = 1 + bytes.len().div_ceil(8);
        if let Some(word) = word {
            record[words] = word;
            words += 1;
        }
        self.ring.reserve(words);
        self.ring.put(&record[..words]);
    }

    /// An access of any size.
    pub fn access(&mut self, addr: usize, size: usize, write: bool) {
        let _ = (addr, size, write);
    }

    /// Memory given to the program.
    pub fn alloc(&mut self, addr: usize, size: usize) {
        let place = self.place();
        self.ring.reserve(4);
        let stamp = self.ring.stamp();
        self.ring.stamped(stamp);
        self.ring.put(&[head(Kind::Alloc, 0, addr as u64), u64::from(place), size as u64]);
    }

    /// Memory about to be taken back.
    pub fn free(&mut self, addr: usize, size: usize) {
        self.ticketed(Kind::Free, 0, addr as u64, Some(size as u64));
    }

    /// A slot for a thread about to be created. Records the `Fork`.
    pub fn new_slot(&mut self) -> Option<u32> {
        let slot = allocate()?;
        self.ticketed(Kind::Fork, 0, 0, Some(u64::from(slot)));
        Some(slot)
    }

    /// The thread could not be created.
    pub fn abandon_slot(&mut self, slot: u32) {
        if let Some(thread) = thread_of(slot) {
            thread.life.store(life::USED | life::ENDED | life::RELEASED, Release);
        }
    }

    /// Has waited for the thread of a slot. Records the `Join`.
    pub fn joined(&mut self, slot: u32) {
        self.ticketed(Kind::Join, 0, 0, Some(u64::from(slot)));
        self.detached(slot);
    }

    /// Nobody will wait for the thread of the slot: it can be used again when the thread has ended.
    pub fn detached(&mut self, slot: u32) {
        if let Some(thread) = thread_of(slot) {
            thread.life.fetch_or(life::RELEASED, AcqRel);
        }
    }

    /// The place of the hook being served.
    pub fn place(&mut self) -> u32 {
        self.place_of(self.pc)
    }

    /// The place of an address in the current function.
    fn place_of(&mut self, pc: usize) -> u32 {
        let (place, new) = self.places.intern(0, pc as u64);
        if new {
            self.ring.reserve(2);
            self.ring.put(&[head(Kind::Place, 0, u64::from(place)), pc as u64]);
        }
        place
    }

    /// Accesses are recorded again after [`Tls::accesses`] was cleared.
    pub fn reconnect(&mut self) {
        if session::flags() & flags::NO_ACCESSES == 0 {
            // SAFETY: the thread's own storage.
            unsafe { (*tls()).accesses = self };
        }
    }

    /// The program goes back to where it was with this stack pointer (longjmp).
    pub fn unwind(&mut self, sp: usize) {
        let _ = sp;
    }
}

fn thread_of(slot: u32) -> Option<&'static Thread> {
    // SAFETY: a slot's memory stays once it is there.
    unsafe { THREADS.get(slot as usize)?.load(Acquire).as_ref() }
}

/// A fresh slot with its memory; when there is none left, one whose thread is gone.
fn allocate() -> Option<u32> {
    let process = session::process()?;
    let mut used = process.slots.load(Relaxed);
    while (used as usize) < SLOTS {
        match process.slots.compare_exchange_weak(used, used + 1, AcqRel, Relaxed) {
            Ok(_) => {
                let thread = system::map(size_of::<Thread>())?.cast::<Thread>();
                // SAFETY: zeroed memory is a thread without anything.
                unsafe {
                    (*thread).slot = used;
                    (*thread).life.store(life::USED, Relaxed);
                }
                THREADS[used as usize].store(thread, Release);
                return Some(used);
            }
            Err(now) => used = now,
        }
    }
    let gone = life::USED | life::ENDED | life::RELEASED;
    for _ in 0..SLOTS {
        let slot = REUSED.fetch_add(1, Relaxed) % SLOTS as u32;
        if let Some(thread) = thread_of(slot)
            && thread.life.compare_exchange(gone, life::USED, AcqRel, Relaxed).is_ok()
        {
            return Some(slot);
        }
    }
    process.unwatched.fetch_add(1, Relaxed);
    None
}

/// Binds this thread to its slot: the first thing in the function that a new thread runs. None: it is not watched.
pub fn start_thread(slot: Option<u32>) {
    let tls = tls();
    // SAFETY: the thread's own storage.
    unsafe {
        match slot.and_then(|slot| THREADS.get(slot as usize)).map(|thread| thread.load(Acquire)) {
            Some(thread) if !thread.is_null() && session::is_running() => bind(tls, thread),
            _ => (*tls).phase = phase::OVER,
        }
    }
}

/// A thread that nobody told of takes a slot by itself. False if it is not watched.
#[cold]
#[inline(never)]
unsafe fn attach(tls: *mut Tls) -> bool {
    // SAFETY: the thread's own storage.
    unsafe {
        if (*tls).phase != phase::NEW || (*tls).busy {
            return false;
        }
        (*tls).busy = true;
        let slot = if session::start() { allocate() } else { None };
        (*tls).busy = false;
        match slot.and_then(thread_of) {
            Some(thread) => {
                thread.life.fetch_or(life::RELEASED, Relaxed);
                bind(tls, ptr::from_ref(thread).cast_mut());
                true
            }
            None => {
                (*tls).phase = phase::OVER;
                false
            }
        }
    }
}

/// At the start of the program, by its first thread.
pub fn attach_first() {
    let tls = tls();
    // SAFETY: the thread's own storage.
    unsafe {
        if (*tls).thread.is_null() {
            attach(tls);
        }
    }
}

unsafe fn bind(tls: *mut Tls, thread: *mut Thread) {
    // SAFETY: the slot's memory belongs to this thread from here on; nobody else writes what it owns.
    unsafe {
        (*tls).busy = true;
        (*tls).phase = phase::WATCHED;
        (*thread).ring.open(session::file(), (*thread).slot);
        (*thread).deeper = 0;
        (*thread).rounds = 0;
        (*thread).pc = 0;
        let id = system::thread_id();
        (*thread).ring.shared().tid.store(id, Release);
        (*thread).ticketed(Kind::ThreadStart, 0, 0, Some(u64::from(id)));
        set_key(thread);
        connect(tls, thread);
        (*tls).busy = false;
    }
}

/// Opens the fast ways of the hooks.
unsafe fn connect(tls: *mut Tls, thread: *mut Thread) {
    // SAFETY: the thread's own storage and state.
    unsafe {
        (*tls).thread = thread;
        let base = (&raw mut (*thread).frames).cast::<Frame>();
        (*tls).base = base;
        (*tls).top = base;
        (*tls).end = base.add(FRAMES);
        (*tls).shared_stack = usize::MAX;
        if session::flags() & flags::NO_ACCESSES == 0 {
            (*tls).accesses = thread;
        }
    }
}

/// Closes all ways of the hooks.
unsafe fn let_go(tls: *mut Tls) {
    // SAFETY: the thread's own storage.
    unsafe {
        (*tls).accesses = ptr::null_mut();
        (*tls).top = ptr::null_mut();
        (*tls).end = ptr::null_mut();
        (*tls).base = ptr::null_mut();
        (*tls).thread = ptr::null_mut();
        (*tls).phase = phase::OVER;
    }
}

/// Arms the key whose destructor ends the thread.
unsafe fn set_key(thread: *mut Thread) {
    let mut key = KEY.load(Acquire);
    // SAFETY: plain calls of the C library; two threads that both make a key leave one of them unused.
    unsafe {
        if key == 0 {
            let mut new = 0;
            if libc::pthread_key_create(&mut new, Some(destroy)) != 0 {
                return;
            }
            key = match KEY.compare_exchange(0, new + 1, AcqRel, Acquire) {
                Ok(_) => new + 1,
                Err(now) => now,
            };
        }
        libc::pthread_setspecific(key - 1, thread.cast());
    }
}

/// Re-arms itself until the last round, so that other destructors are still watched.
unsafe extern "C" fn destroy(thread: *mut libc::c_void) {
    const ROUNDS: u32 = 4;
    // SAFETY: the value set by `set_key`, of this very thread.
    unsafe {
        let state = thread.cast::<Thread>();
        (*state).rounds += 1;
        if (*state).rounds < ROUNDS {
            libc::pthread_setspecific(KEY.load(Acquire) - 1, thread);
            return;
        }
    }
    end_thread();
}

/// The thread ends: nothing of it is watched from here on.
pub fn end_thread() {
    let tls = tls();
    // SAFETY: the thread's own storage and state.
    unsafe {
        let thread = (*tls).thread;
        if thread.is_null() {
            (*tls).phase = phase::OVER;
            return;
        }
        (*tls).busy = true;
        if session::is_running() {
            (*thread).pc = 0;
            (*thread).ticketed(Kind::ThreadEnd, 0, 0, None);
            (*thread).ring.leave();
            (*thread).ring.shared().tid.store(0, Release);
        }
        let_go(tls);
        (*thread).places.clear();
        let frames = &raw mut (*thread).frames;
        let first = (frames as usize).next_multiple_of(4096);
        system::discard(first as *mut u8, (frames.add(1) as usize - first) & !4095);
        (*thread).life.fetch_or(life::ENDED, Release);
        (*tls).busy = false;
    }
}

/// Writes what this thread still holds back, before the process ends.
pub fn settle() {}

/// In a forked child: this thread is its first, with a slot of its own there.
pub fn after_fork_child() {
    let tls = tls();
    // SAFETY: the only thread of the process; the others' states are of no use to anybody.
    unsafe {
        let old = (*tls).thread;
        for thread in &THREADS {
            let other = thread.swap(ptr::null_mut(), AcqRel);
            if !other.is_null() && other != old {
                (*other).places.clear();
                system::unmap(other.cast(), size_of::<Thread>());
            }
        }
        if !session::is_running() {
            let_go(tls);
            return;
        }
        if old.is_null() {
            return;
        }
        (*old).ring.restart();
        (*old).places.restart();
        let Some(process) = session::process() else { return };
        process.slots.store(1, Release);
        (*old).slot = 0;
        (*old).life.store(life::USED | life::RELEASED, Relaxed);
        THREADS[0].store(old, Release);
        (*old).ring.open(session::file(), 0);
        let id = system::thread_id();
        ring::slot_of(session::file(), 0).tid.store(id, Release);
        (*old).ticketed(Kind::ThreadStart, 0, 0, Some(u64::from(id)));
        let base = machine::stack_pointer();
        let _ = base;
    }
}
