//! Layout of the shared memory between watched processes and the observer. Both sides map it; neither trusts the
//! other's numbers.
//!
//! A session is a directory named by the environment variable [`SESSION_VARIABLE`]. It holds the file `session`
//! ([`Session`], then its [`Watch`]es), and for each watched process image a file `p-PID-N` ([`Process`], [`Slot`]s,
//! [`Chunk`] heads, then the chunks), with `p-PID-N.maps-K` beside it: copies of `/proc/self/maps`, K counting from 0.
//! An agent that cannot watch its process leaves the name of a reason instead ([`refused`]).

use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64};

/// The environment variable that names the session's directory.
pub const SESSION_VARIABLE: &str = "FORETRACE_SESSION";
/// The first word of both files, "foretrac".
pub const MAGIC: u64 = u64::from_le_bytes(*b"foretrac");
/// The version of this layout; agent and observer must agree on it.
pub const VERSION: u32 = 12;
/// Slots of a process: threads that run at once, or that come one after the other in the same slot.
pub const SLOTS: usize = (1 << 13) - 1;
/// Words of a chunk.
pub const CHUNK_WORDS: usize = 2048;
/// Chunks of a process at most; see [`chunks_for`].
pub const CHUNKS: usize = 1 << 13;

/// Chunks that a process with this many slots may have. A program can be some megabytes ahead of its observer, and not
/// more, because this is memory that it would not need without us. Each of many threads can still have one that it
/// fills and one that is read.
pub const fn chunks_for(slots: usize) -> usize {
    let wanted = AHEAD + 2 * slots;
    if wanted < CHUNKS { wanted } else { CHUNKS }
}

/// Chunks that are full and wait to be read.
const AHEAD: usize = 192;

/// The head of the file `session`.
#[repr(C, align(64))]
pub struct Session {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Bits of [`flags`].
    pub flags: u32,
    /// The observer's process.
    pub observer: u32,
    /// How many [`Watch`]es follow.
    pub watches: u32,
    /// When the program ends, its young threads get this much time, in milliseconds.
    pub exit_wait: u32,
    /// Counts up while the observer lives, several times a second.
    pub heartbeat: AtomicU64,
}

/// Bits of [`Session::flags`].
pub mod flags {
    /// No filters: every access is written.
    pub const RECORD_ALL: u32 = 1;
    /// Drop records rather than wait when the buffers are full.
    pub const LOSSY: u32 = 2;
    /// Only synchronisation matters: accesses are not recorded at all.
    pub const NO_ACCESSES: u32 = 4;
}

/// A variable or a function that a specification names.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watch {
    /// [`path_hash`] of the file it is in.
    pub module: u64,
    /// Its address in that file.
    pub address: u64,
    /// Its size in bytes (a function's length).
    pub size: u32,
    /// One of [`watch`].
    pub what: u16,
    /// Its number, for functions: the payload of `Begin`, `End` and `Internal`.
    pub number: u16,
    /// The parameters of a [`watch::CALLED`] function, up to the first that is of no [`place`](parameter).
    pub parameters: [Parameter; PARAMETERS],
}

/// Parameters of a function at most whose values are recorded.
pub const PARAMETERS: usize = 8;

/// A parameter of a function whose value is recorded.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Parameter {
    /// Where it is when the function is entered: one of [`parameter`].
    pub place: u8,
    /// How large it is: 1, 2, 4 or 8 bytes.
    pub size: u8,
    /// What it means: one of [`meaning`].
    pub meaning: u8,
    /// Always 0.
    pub unused: u8,
    /// The register's number, how far it is above the return address, or the constant.
    pub at: i32,
}

/// The values of [`Parameter::place`].
pub mod parameter {
    /// There is no such parameter.
    pub const NONE: u8 = 0;
    /// In one of the registers that pass whole numbers, numbered in the order of the calling convention.
    pub const REGISTER: u8 = 1;
    /// In a vector register.
    pub const VECTOR: u8 = 2;
    /// On the stack.
    pub const STACK: u8 = 3;
    /// It is always the same.
    pub const CONSTANT: u8 = 4;
}

/// The values of [`Parameter::meaning`].
pub mod meaning {
    /// A whole number with a sign.
    pub const SIGNED: u8 = 0;
    /// A whole number without a sign.
    pub const UNSIGNED: u8 = 1;
    /// A floating-point number.
    pub const FLOAT: u8 = 2;
    /// A truth value.
    pub const BOOL: u8 = 3;
    /// A pointer to what is meant.
    pub const OBJECT: u8 = 4;
    /// A pointer to a lock.
    pub const LOCK: u8 = 5;
    /// A pointer to a text that ends in a zero byte.
    pub const TEXT: u8 = 6;
}

/// The values of [`Watch::what`].
pub mod watch {
    /// A variable whose values are recorded.
    pub const VALUE: u16 = 0;
    /// A function whose calls are blocks.
    pub const REGION: u16 = 1;
    /// A function whose entry is an event.
    pub const ENTERED: u16 = 2;
    /// A function whose exit is an event.
    pub const LEFT: u16 = 3;
    /// A function whose entry is an event, with the values of its parameters. It has room for a hook at its entry: five
    /// bytes before its address, and two there (or behind an `endbr64`), that do nothing.
    pub const CALLED: u16 = 4;
}

/// FNV-1a of a path.
pub const fn path_hash(path: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325;
    let mut i = 0;
    while i < path.len() {
        hash = (hash ^ path[i] as u64).wrapping_mul(0x100_0000_01b3);
        i += 1;
    }
    hash
}

/// A value alone in its cache line.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct CacheLine<T>(pub T);

/// Where times come from: [`Process::clock`].
pub mod clock {
    /// [`Process::counter`](super::Process::counter): every time is another number.
    pub const COUNTER: u32 = 0;
    /// The processor's time stamp, which the kernel trusts to be equal on all processors. It must count faster than a
    /// lock can move between processors, and faster than a thread writes records; some tens of ticks per microsecond
    /// are too slow.
    pub const PROCESSOR: u32 = 1;
}

/// The environment variable that makes an agent use the counter, if its value is `counter`.
pub const CLOCK_VARIABLE: &str = "FORETRACE_CLOCK";

/// The environment variable by which tests make an agent fail: a place and a number, `refill 3`.
pub const FAIL_VARIABLE: &str = "FORETRACE_FAIL";

/// An agent that cannot watch its process leaves an empty file `refused-PID-WHY` in the session's directory. `WHY` is
/// one of these.
pub mod refused {
    /// There is too little address space or memory.
    pub const MEMORY: &str = "memory";
    /// The session's directory has no room for the process' file.
    pub const ROOM: &str = "room";
    /// The session is of another version.
    pub const VERSION: &str = "version";
    /// The program has more rights than its user (setuid, capabilities).
    pub const SECURE: &str = "secure";
}

/// The states of [`Process::state`].
pub mod process {
    /// Being set up: not to be read yet.
    pub const STARTING: u32 = 0;
    /// Recording.
    pub const RUNNING: u32 = 1;
    /// Ended by itself; everything is flushed.
    pub const EXITED: u32 = 2;
    /// Has called exec; what follows in this process belongs to another file.
    pub const EXECUTED: u32 = 3;
    /// The agent gave up (the observer died, no memory); the program went on unwatched.
    pub const DETACHED: u32 = 4;
}

/// The head of a process' file.
#[repr(C)]
pub struct Process {
    /// [`MAGIC`].
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// Its id.
    pub pid: u32,
    /// Its parent's id.
    pub parent: u32,
    /// Which agent: 0 linked statically into the program, 1 in libtsan's place or linked as a library, 2 preloaded into
    /// a program without hooks, 3 in a Java virtual machine.
    pub agent: u32,
    /// One of [`process`].
    pub state: AtomicU32,
    /// Slots used so far: the [`Slot`]s below this number are valid.
    pub slots: AtomicU32,
    /// Chunks used so far (the file is sparse beyond them).
    pub chunks: AtomicU32,
    /// Copies of the memory map written so far.
    pub maps: AtomicU32,
    /// One of [`clock`].
    pub clock: u32,
    /// The last time that was taken, if `clock` is the counter.
    pub counter: CacheLine<AtomicU64>,
    /// A past time that the observer announces now and then, if `clock` is the processor's. A thread that takes a time
    /// without the clock reads this first, and takes none that is earlier.
    pub coarse: CacheLine<AtomicU64>,
    /// The stack of free chunks: index + 1 of the first one in the lower half, a counter against ABA in the upper half.
    pub free: CacheLine<AtomicU64>,
    /// A futex that counts up when the observer gives chunks back.
    pub returned: CacheLine<AtomicU32>,
    /// Threads waiting for a chunk.
    pub waiting: CacheLine<AtomicU32>,
    /// Records lost for want of room.
    pub lost: AtomicU64,
    /// Threads not watched for want of a slot.
    pub unwatched: AtomicU64,
    /// Entries of shadow cells that were dropped.
    pub dropped: AtomicU64,
    /// Hooks that failed, and recorded nothing.
    pub failed: AtomicU64,
    /// Why the agent gave up, if it did: a text, up to the first zero.
    pub reason: [AtomicU8; REASON],
}

/// Bytes of [`Process::reason`].
pub const REASON: usize = 256;

/// The part of a slot that the observer sees.
#[repr(C, align(64))]
pub struct Slot {
    /// Not 0 while a timed record is being written: its time is not below this. Set before the time is taken, cleared
    /// after the record is written.
    pub writing: AtomicU64,
    /// The operating system's id of the thread that has it now, 0 if none.
    pub tid: AtomicU32,
}

/// The states of [`Chunk::state`].
pub mod chunk {
    /// In the stack of free chunks, or never used. All its words are zero.
    pub const FREE: u32 = 0;
    /// A thread writes into it. It can be read up to the first zero head.
    pub const ACTIVE: u32 = 1;
    /// No thread writes into it any more.
    pub const FULL: u32 = 2;
}

/// The head of a chunk.
#[repr(C, align(64))]
pub struct Chunk {
    /// One of [`chunk`].
    pub state: AtomicU32,
    /// The slot that it belongs to.
    pub slot: AtomicU32,
    /// Its number among the chunks of its slot, from 0, without gaps.
    pub sequence: AtomicU64,
    /// While it is free: the next free chunk (index + 1).
    pub next: AtomicU32,
}

/// Offsets in a process' file.
pub mod offset {
    use super::{CHUNK_WORDS, CHUNKS, Chunk, Process, SLOTS, Slot};

    const fn page(bytes: usize) -> usize {
        (bytes + 4095) & !4095
    }

    /// The first [`Slot`].
    pub const SLOTS_AT: usize = page(size_of::<Process>());
    /// The first [`Chunk`].
    pub const CHUNKS_AT: usize = page(SLOTS_AT + SLOTS * size_of::<Slot>());
    /// The words of the first chunk.
    pub const WORDS_AT: usize = page(CHUNKS_AT + CHUNKS * size_of::<Chunk>());
    /// The whole file.
    pub const SIZE: usize = WORDS_AT + CHUNKS * CHUNK_WORDS * 8;

    /// The words of a chunk.
    pub const fn words(chunk: usize) -> usize {
        WORDS_AT + chunk * CHUNK_WORDS * 8
    }
}
