//! Layout of the file `gates` in a session's directory: places at which a controlled run holds threads back, so that
//! what was predicted comes about. `crates/control` writes the file before the program starts and reads it afterwards;
//! the agent of one process maps it and notes what happened.
//!
//! The file is a [`Gates`], then its [`Span`]s.

use core::sync::atomic::{AtomicU32, AtomicU64};

/// The name of the file.
pub const FILE: &str = "gates";
/// The version of this layout; agent and writer must agree on it.
pub const VERSION: u32 = 1;
/// Events of a file at most.
pub const EVENTS: usize = 16;

/// What threads do at an event: bits of [`Event::operations`].
pub mod operation {
    /// A read.
    pub const READ: u32 = 1;
    /// A write.
    pub const WRITE: u32 = 2;
    /// A lock is requested.
    pub const LOCK: u32 = 4;
    /// A thread begins to wait: for a condition, another thread, a semaphore, a barrier.
    pub const WAIT: u32 = 8;
    /// A condition is notified, or something is released that others wait for.
    pub const NOTIFY: u32 = 16;
    /// The access of an arrival is atomic: two such accesses do not race. Never in [`Event::operations`](super::Event).
    pub const ATOMIC: u32 = 32;
}

/// What the threads at the events of a meet must have in common: [`Gates::meet`].
pub mod meet {
    /// There is no meet; events only have an order.
    pub const NONE: u32 = 0;
    /// Two threads are about to access the same bytes, one of them writes, and not both accesses are atomic.
    pub const RACE: u32 = 1;
    /// Each thread requests a lock that the next one holds.
    pub const DEADLOCK: u32 = 2;
}

/// The head of the file.
#[repr(C)]
#[derive(Debug)]
pub struct Gates {
    /// [`MAGIC`](crate::layout::MAGIC).
    pub magic: u64,
    /// [`VERSION`].
    pub version: u32,
    /// How many [`Event`]s there are.
    pub events: u32,
    /// How many [`Span`]s follow.
    pub spans: u32,
    /// One of [`meet`].
    pub meet: u32,
    /// How long a thread is held at a time, in milliseconds.
    pub patience: u32,
    /// How often threads are held at an event in vain before it holds no more.
    pub attempts: u32,
    /// Of threads that have met, the one that came last waits a little: the others go first.
    pub last_waits: u32,
    /// The process that is held. Others that find its number here are not.
    pub owner: AtomicU32,
    /// 1: the threads stood at the events of the meet at the same time.
    pub met: AtomicU32,
    /// Unused.
    pub reserved: u32,
    /// By event.
    pub event: [Event; EVENTS],
    /// By event: which thread stood there when they met.
    pub stands: [Stand; EVENTS],
}

/// Something that threads do at some places of the program.
#[repr(C)]
#[derive(Debug)]
pub struct Event {
    /// What: bits of [`operation`].
    pub operations: u32,
    /// 1: it is part of the meet.
    pub meets: u32,
    /// Events to which a thread must have come before: bit N is the event with number N.
    pub after: u32,
    /// Not 0: a thread has come here.
    pub arrivals: AtomicU32,
    /// How often they were held in vain.
    pub given_up: AtomicU32,
}

/// Code in which an event happens. The calls of the hooks are in it.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// [`path_hash`](crate::layout::path_hash) of the file it is in.
    pub module: u64,
    /// Its first address in that file.
    pub low: u64,
    /// The address behind its last one.
    pub high: u64,
    /// The number of the event.
    pub event: u32,
    /// Unused.
    pub reserved: u32,
}

/// A thread that stood at an event when all had come.
#[repr(C)]
#[derive(Debug)]
pub struct Stand {
    /// The operating system's number of the thread; 0: no thread stood there.
    pub thread: AtomicU32,
    /// What it was about to do, one of [`operation`].
    pub operation: AtomicU32,
    /// The address of what it was about to access or to lock.
    pub object: AtomicU64,
    /// How many bytes it was about to access.
    pub size: AtomicU64,
    /// Up to eight of these bytes as they were.
    pub value: AtomicU64,
    /// Where in the code: the address to which the hook returns.
    pub at: AtomicU64,
}
