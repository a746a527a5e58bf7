//! Records: what an agent writes into its chunks, as words of 64 bits. `docs/recording/transport.md` draws them.
//!
//! The first word holds the kind (bits 0..8), an auxiliary byte (8..16) and a payload of 48 bits, mostly an address. It
//! is never zero and is written last, so that a reader sees a record whole or not at all.
//!
//! What each kind means is said for C and C++. The agent for Java differs in these:
//!
//! * Every access is of a whole word, so a mask is always 0xff.
//! * `WatchRead`, `WatchWrite` and atomic accesses: the upper half of aux says what the value is (0 unknown, 1 a whole
//!   number, 2 a boolean, 3 a floating-point number), and not how large it is; the lower half is the memory order.
//! * `ThreadStart` has the thread's generation in bits 32 and up of word 2, and no stack. In `Fork` and `Join` the
//!   generation of the other thread stands there, above its slot.
//! * `Request` is kept until it is known whether the thread waits for ever. Only then does it become an event.

use crate::hand_off::Timing;

/// Bits of an address.
pub const ADDRESS_BITS: u32 = 48;
/// Bits of the number of a call context.
pub const CONTEXT_BITS: u32 = 24;
/// A text is cut to this many bytes.
pub const MAX_TEXT: usize = 1024;

/// The auxiliary byte of a `Free` that is no access.
pub const SILENT: u8 = 1;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $words:literal, $order:ident;)*) => {
        /// The kind of a record.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $name = $code,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)*];

            /// The kind with this code, if there is one.
            #[inline]
            pub const fn from_code(code: u8) -> Option<Kind> {
                match code { $($code => Some(Kind::$name),)* _ => None }
            }

            /// How many words a record of this kind has, the text behind a `Text` not counted.
            #[inline]
            pub const fn words(self) -> usize {
                match self { $(Kind::$name => $words,)* }
            }

            /// How records of this kind are ordered.
            #[inline]
            pub const fn order(self) -> Ordered {
                match self { $(Kind::$name => Ordered::$order,)* }
            }
        }
    };
}

/// How a record is ordered among those of other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// It has a time, whose low 40 bits are the high ones of its second word. It advances the sync index of its thread:
    /// the writer calls `Recorder::synchronised` once (or `mark`), and the observer counts one. Otherwise all deferred
    /// records behind it would be misplaced.
    Timed,
    /// It describes its thread or other accesses, and has no time.
    Untimed,
}

kinds! {
    /// Word 1: the whole time of the next timed record. Written when 40 bits would not be enough to extend the time
    /// since the last one (0 at first); see [`extended`].
    FullTime = 1, 2, Untimed;
    /// Defines call context `payload & 0xff_ffff`, called from context `payload >> 24`; word 1: the return address.
    Context = 2, 2, Untimed;
    /// A deferred access: aux mask, payload word; word 1: sync index << 24 | context; word 2: [`deferred_third`].
    Deferred = 3, 3, Untimed;
    /// Accesses of the word were dropped: word 1: sync index << 24; word 2: [`deferred_third`], whether writes were
    /// among them.
    DropBarrier = 4, 3, Untimed;
    /// Text of `payload` bytes in the words behind it; aux: [`TextFor`].
    Text = 5, 1, Untimed;
    /// The thread could not write `payload` records.
    Lost = 6, 1, Untimed;
    /// `Deferred` accesses of whole words: [`bulk_words`]; the other words as in a `Deferred` of the lowest. Each other
    /// one has the next sequence number.
    DeferredBulk = 7, 3, Untimed;
    /// `DropBarrier`s of whole words, likewise.
    DropBarrierBulk = 8, 3, Untimed;
    /// Memory is allocated: payload address; word 2: size.
    Alloc = 9, 3, Timed;
    /// A value of the `Internal` that follows: aux [`ValueOf`]; word 1: the value.
    Argument = 10, 2, Untimed;
    /// A conflicting read: aux mask, payload word.
    ConflictRead = 16, 2, Timed;
    /// A conflicting write.
    ConflictWrite = 17, 2, Timed;
    /// Memory is freed: payload address; word 2: size. With aux [`SILENT`], that conflicts with nothing.
    Free = 18, 3, Timed;
    /// A read of a watched variable: aux log2 size, payload address; word 2: value.
    WatchRead = 19, 3, Timed;
    /// A write of a watched variable. Until its value is known, aux has [`PENDING`].
    WatchWrite = 20, 3, Timed;
    /// Atomic load: aux [`atomic_aux`], payload address; word 2: value.
    AtomicLoad = 21, 3, Timed;
    /// Atomic store.
    AtomicStore = 22, 3, Timed;
    /// Atomic read-modify-write: the value written.
    AtomicRmw = 23, 3, Timed;
    /// A fence: aux [`atomic_aux`].
    Fence = 24, 2, Timed;
    /// Only begins a sync index: its thread has deferred too many accesses since the last.
    Mark = 25, 2, Timed;
    /// Conflicting reads of whole words, at once: [`bulk_words`].
    ConflictReadBulk = 26, 2, Timed;
    /// Conflicting writes of whole words, at once.
    ConflictWriteBulk = 27, 2, Timed;
    /// The thread begins: payload the address above its stack (0: not known); word 2: the operating system's id, pages
    /// of the stack << 32.
    ThreadStart = 32, 3, Timed;
    /// The thread ends. Aux 1: it ends the process, and what it did may not be over.
    ThreadEnd = 33, 2, Timed;
    /// Creates the thread of slot `word 2`.
    Fork = 34, 3, Timed;
    /// Has waited for the thread of slot `word 2`.
    Join = 35, 3, Timed;
    /// Acquires a lock exclusively. From here on, aux is the [`Class`] of the object, and payload the object.
    Acquire = 36, 2, Timed;
    /// Gives it back.
    Release = 37, 2, Timed;
    /// Acquires a lock shared.
    ReadAcquire = 38, 2, Timed;
    /// Gives it back.
    ReadRelease = 39, 2, Timed;
    /// A try or timed lock that succeeded.
    TryAcquire = 40, 2, Timed;
    /// One that failed.
    TryFail = 41, 2, Timed;
    /// Is about to block on a lock.
    Request = 42, 2, Timed;
    /// Begins to wait on the condition; word 2: the lock.
    Wait = 43, 3, Timed;
    /// Was woken; word 2: the lock | reason << 48 (0 notified, or spurious: the observer decides; 1 timeout; 2
    /// spurious; 3 notified, or else timeout).
    Woken = 44, 3, Timed;
    /// Wakes one waiter.
    Notify = 45, 2, Timed;
    /// Wakes every waiter.
    NotifyAll = 46, 2, Timed;
    /// Releases a latch-like object: later `Await`s of it pass.
    Post = 47, 2, Timed;
    /// Acquires a latch-like object, because of the `Post`s before.
    Await = 48, 2, Timed;
    /// Increments a semaphore.
    Up = 49, 2, Timed;
    /// Decrements it.
    Down = 50, 2, Timed;
    /// Initialises a lock, condition or semaphore (word 2: its initial count or kind).
    Init = 51, 3, Timed;
    /// Ends its lifetime.
    Destroy = 52, 2, Timed;
    /// Enters the block named by the `Text` before it (aux 1: a region of a specification, payload its number).
    Begin = 53, 2, Timed;
    /// Leaves it.
    End = 54, 2, Timed;
    /// An internal event named by the `Text` before it, with the values of the `Argument`s and `Text`s before it; word
    /// 2: its value, if payload is 1.
    Internal = 55, 3, Timed;
    /// Misuse of the object, described by the `Text` before it; aux: [`Class`].
    Misuse = 56, 2, Timed;
    /// Is about to block on an object that is no lock, or (aux 0) until the thread of slot `payload` ends.
    Announce = 57, 2, Timed;
    /// Decrements a semaphore, by a call that waits for as long as it takes.
    DownWaited = 58, 2, Timed;
    /// The thread of another slot was seen waiting: aux and payload as in `Announce`, or those of a lock; payload for
    /// aux 0: slot of the awaited thread | its number in that slot << 16. Word 2: slot of the waiting thread | its sync
    /// index then << 16.
    SeenWaiting = 59, 3, Timed;
    /// Uses the object, in a way that orders nothing: no event, unless the end of the object's lifetime conflicts.
    Use = 60, 2, Timed;
    /// Passes a latch-like object, by a call that waits for as long as it takes.
    AwaitWaited = 61, 2, Timed;
    /// Has waited for the thread of slot `word 2`, by a call that waits for as long as it takes.
    JoinWaited = 62, 3, Timed;
    /// Something else than the records show may let threads go on that wait for the object, or the thread (aux 0; slot
    /// | its number in that slot << 16), whatever that waits for.
    FromOutside = 63, 2, Timed;
}

/// In the auxiliary byte of a `WatchWrite`: its value is not written yet.
pub const PENDING: u8 = 0x80;

/// Bits of a slot in the words of a `SeenWaiting`.
pub const SEEN_SLOT_BITS: u32 = 16;

/// What a `Text` is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum TextFor {
    /// The name of the thread.
    ThreadName = 1,
    /// The name of the block or event of the next record.
    Label = 2,
    /// The name of the memory at the address in the word behind the text.
    ObjectName = 3,
    /// What is wrong, for the `Misuse` that follows.
    Misuse = 4,
    /// Something that the report should say.
    Note = 5,
    /// Races on the memory at the address in the word behind the text are intended: its size in decimal, a space, the
    /// reason.
    Benign = 6,
    /// A value of the `Internal` that follows.
    Argument = 7,
}

/// What the value of an `Argument` is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ValueOf {
    /// It is not known.
    Unknown = 0,
    /// A whole number.
    Int = 1,
    /// 0 or 1.
    Bool = 2,
    /// The bits of a floating-point number.
    Real = 3,
    /// An address: the value is what is there.
    Object = 4,
    /// A thread, as in a `Fork`.
    Thread = 5,
    /// An address: the value is the lock there.
    Lock = 6,
}

/// What kind of thing a synchronisation object is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Class {
    /// A mutex.
    Mutex = 1,
    /// A read-write lock.
    RwLock = 2,
    /// A spin lock.
    Spin = 3,
    /// A condition variable.
    Condition = 4,
    /// A semaphore.
    Semaphore = 5,
    /// What is posted and awaited, of any kind (Java). Of `Init`, the count is how many posts an await needs.
    Latch = 6,
    /// `pthread_once` and the like.
    Once = 7,
    /// The guard of a function-local static.
    Guard = 8,
    /// A file descriptor; the object is its number (20 bits) and its generation (above), or a connection (bit 47).
    Descriptor = 9,
    /// A signal; the object is its number.
    Signal = 10,
    /// An object that annotations name.
    Annotated = 11,
    /// A word that threads wait on (futex, `atomic::wait`).
    Futex = 12,
    /// `atexit` and the end of `main`.
    AtExit = 13,
    /// A named semaphore, in `Init` and `Destroy`: who opens and closes it is counted by the C library. In all other
    /// records it is a [`Class::Semaphore`].
    NamedSemaphore = 14,
    /// The number of a file descriptor, in `Init`, `Use` and `Destroy`; the object is [`FILES`] and the number.
    File = 15,
    /// The loader, which loads and unloads libraries under a lock of its own.
    Loader = 16,
    /// A barrier. `Init` has the number of threads that it lets go on together, and maybe [`BARRIER_IS_SHARED`];
    /// `Post`: a thread arrives; `Await`: it leaves.
    Barrier = 17,
    /// A barrier, by other means than to arrive and to leave: its action, a reset, a question.
    BarrierState = 18,
}

/// A bit in the number of threads that the `Init` of a barrier has: other processes may use the barrier, too.
pub const BARRIER_IS_SHARED: u64 = 1 << 40;

/// Where the objects of [`Class::File`] begin: no memory of a program is there.
pub const FILES: u64 = 0xffff << 32;

/// The first word of a record.
#[inline]
pub const fn head(kind: Kind, aux: u8, payload: u64) -> u64 {
    kind as u64 | (aux as u64) << 8 | payload << 16
}

/// The second word of a timed record.
#[inline]
pub const fn timed(time: u64, context: u32) -> u64 {
    time << CONTEXT_BITS | context as u64
}

/// How the time of a record with this head is found, if nothing more is known. A record that lets others go on, and is
/// written before they can (a release, a notify), needs a time before that only.
#[inline]
pub const fn default_timing(head: u64) -> Timing {
    const GIVE: u64 = bits(&[Kind::Release, Kind::ReadRelease, Kind::Notify, Kind::NotifyAll, Kind::Post]);
    let kind = head as u8;
    if kind < 64 && GIVE >> kind & 1 != 0 { Timing::Before } else { Timing::Now }
}

/// A bit for each of these kinds.
const fn bits(kinds: &[Kind]) -> u64 {
    let (mut bits, mut i) = (0, 0);
    while i < kinds.len() {
        bits |= 1 << kinds[i] as u64;
        i += 1;
    }
    bits
}

/// Bits of a time that a record has room for.
pub const TIME_BITS: u32 = 64 - CONTEXT_BITS;

/// How far a record's time may be from the last `FullTime`: half of what [`extended`] could resolve.
pub const MOST_BETWEEN: u64 = 1 << (TIME_BITS - 2);

/// Extends the time in a second word to 64 bits: the one nearest to the time before it in its slot.
#[inline]
pub const fn extended(before: u64, second: u64) -> u64 {
    let further = (second & !((1 << CONTEXT_BITS) - 1)).wrapping_sub(before << CONTEXT_BITS) as i64;
    before.wrapping_add((further >> CONTEXT_BITS) as u64)
}

/// Words of a block of 64 bytes.
const BLOCK_WORDS: u64 = 8;
/// Blocks of a strip: no record covers more.
const STRIP_BLOCKS: u64 = 8;

/// Decodes a bulk record: the numbers of its words (their addresses divided by 8), the lowest first. `aux` is a bitmap
/// of the words in the first 64-byte block, the low 6 bits of the payload count the whole blocks after it. (More than a
/// strip has make no sense, and count as 0.)
#[inline]
pub fn bulk_words(head: u64) -> impl Iterator<Item = u64> + Clone {
    let words = head >> 8 & 0xff;
    let behind = Some(head >> 16 & 63).filter(|&behind| behind < STRIP_BLOCKS).unwrap_or(0);
    let first = head >> 16 >> 6 << 3;
    let is_one = move |number: &u64| *number >= BLOCK_WORDS || words >> number & 1 == 1;
    (0..BLOCK_WORDS * (1 + behind)).filter(is_one).map(move |number| (first + number) & ((1 << (ADDRESS_BITS - 3)) - 1))
}

/// The third word of a `Deferred` or `DropBarrier` record: whose access it was, and whether it wrote; of a
/// `DropBarrier`, whether a dropped access may have.
#[inline]
pub const fn deferred_third(slot: u32, write: bool) -> u64 {
    slot as u64 | (write as u64) << 32
}

/// Whether the access of such a third word wrote.
#[inline]
pub const fn is_deferred_write(third: u64) -> bool {
    third >> 32 & 1 == 1
}

/// Bits of the sequence number in such a third word.
pub const SEQ_BITS: u32 = 30;

/// Adds the sequence number (bits 34..64) to a third word: the order among the deferred records of a thread with one
/// sync index.
#[inline]
pub const fn with_seq(third: u64, seq: u32) -> u64 {
    third | (seq as u64) << (64 - SEQ_BITS)
}

/// The auxiliary byte of an atomic access: memory order (as `event::Order` numbers them: 0 seqcst, 1 relaxed, 2
/// acquire, 3 release, 4 acqrel) and log2 of the size.
#[inline]
pub const fn atomic_aux(order: u8, log2: u8) -> u8 {
    order | log2 << 4
}
