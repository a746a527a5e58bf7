//! Records: what an agent writes into its chunks, as 64-bit words. `docs/recording.md` says what each means.
//!
//! The first word holds the kind (bits 0..8), an auxiliary byte (8..16) and a payload of 48 bits, most often an
//! address. It is never zero and is written last, so that a reader sees a record whole or not at all.

use crate::hand_off::Timing;

/// Addresses fit this many bits.
pub const ADDRESS_BITS: u32 = 48;
/// Places (call stacks) fit this many bits.
pub const CONTEXT_BITS: u32 = 24;
/// No more words than this in one record, texts aside.
pub const MAX_WORDS: usize = 4;
/// A text is cut to this many bytes.
pub const MAX_TEXT: usize = 1024;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $words:literal, $order:ident;)*) => {
        /// What a record says.
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

/// How a record finds its place among those of other threads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ordered {
    /// It has a time, whose lower 40 bits are the upper ones of its second word. It takes a position in its thread:
    /// who writes one calls `Recorder::synchronised` once (or `mark`), and the observer counts one. Else all late records behind it
    /// go astray.
    Timed,
    /// It says something about its thread or about others, and has no place.
    Aside,
}

kinds! {
    /// Word 1: the time of the next timed record. It is written when so much has passed since the last (0 at
    /// first) that 40 bits could not tell; see [`extended`].
    Stamp = 1, 2, Aside;
    /// Defines place `payload & 0xff_ffff`, called from place `payload >> 24`; word 1: the return address.
    Context = 2, 2, Aside;
    /// An access kept until now: aux mask, payload granule; word 1: position << 24 | place; word 2: [`late`].
    Deferred = 3, 3, Aside;
    /// Accesses of the granule were dropped: word 1: position << 24; word 2: [`late`], whether writes were among them.
    DropBarrier = 4, 3, Aside;
    /// Text of `payload` bytes in the words behind; aux: [`TextFor`].
    Text = 5, 1, Aside;
    /// The thread could not write this many (payload) records.
    Lost = 6, 1, Aside;
    /// `Late`s of whole granules: [`several`]; the words as of a `Late` of
    /// the lowest. Each other one has the next rank.
    DeferredBulk = 7, 3, Aside;
    /// The same of `Pin`s.
    DropBarrierBulk = 8, 3, Aside;
    /// Memory given: payload address; word 2: size.
    Alloc = 9, 3, Timed;
    /// An access by which a thread arrives at a granule: aux mask, payload granule.
    ConflictRead = 16, 2, Timed;
    /// The same, a write.
    ConflictWrite = 17, 2, Timed;
    /// Memory taken back: payload address; word 2: size.
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
    /// Nothing but a position: its thread has kept too many accesses since the last.
    Mark = 25, 2, Timed;
    /// Arrivals at whole granules, at once: [`several`].
    ConflictReadBulk = 26, 2, Timed;
    /// The same, writes.
    ConflictWriteBulk = 27, 2, Timed;
    /// The thread begins: payload the address above its stack (0: not known); word 2: the operating system's id, pages of the stack << 32.
    ThreadStart = 32, 3, Timed;
    /// The thread ends.
    ThreadEnd = 33, 2, Timed;
    /// Creates the thread of slot `word 2`.
    Fork = 34, 3, Timed;
    /// Has waited for the thread of slot `word 2`.
    Join = 35, 3, Timed;
    /// From here on aux: [`Class`], payload: the object. Takes a lock exclusively.
    Acquire = 36, 2, Timed;
    /// Gives it back.
    Release = 37, 2, Timed;
    /// Takes a lock shared.
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
    /// Was woken; word 2: the lock | reason << 48 (0 notified, or by nobody: the observer tells; 1 timeout; 2 spurious; 3 notified, or else timeout).
    Woken = 44, 3, Timed;
    /// Wakes one waiter.
    Notify = 45, 2, Timed;
    /// Wakes every waiter.
    NotifyAll = 46, 2, Timed;
    /// Lets later awaits of the object pass.
    Post = 47, 2, Timed;
    /// Passes because of the posts before.
    Await = 48, 2, Timed;
    /// Increments a semaphore.
    Up = 49, 2, Timed;
    /// Decrements it.
    Down = 50, 2, Timed;
    /// Makes a lock, condition, semaphore (word 2: its initial count or kind); where it came from.
    Init = 51, 3, Timed;
    /// Ends its life.
    Destroy = 52, 2, Timed;
    /// Enters the block named by the `Text` before it (aux 1: a region of a specification, payload its number).
    Begin = 53, 2, Timed;
    /// Leaves it.
    End = 54, 2, Timed;
    /// An internal event named by the `Text` before it; word 2: its value; payload 1 if it has one.
    Internal = 55, 3, Timed;
    /// Misuse of the object told by the `Text` before it; aux: [`Class`].
    Misuse = 56, 2, Timed;
}

/// In the auxiliary byte of a `WatchWrite`: its value is not written yet.
pub const PENDING: u8 = 0x80;

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
    /// Something the report should tell.
    Note = 5,
    /// Races on the memory at the address in the word behind the text are meant: its size in decimal, a space, why.
    Benign = 6,
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
    /// A barrier.
    Barrier = 6,
    /// `pthread_once` and the like.
    Once = 7,
    /// The guard of a function-local static.
    Guard = 8,
    /// A file descriptor; the object is its number (20 bits) and which life it is (above), or a connection (bit 47).
    Descriptor = 9,
    /// A signal; the object is its number.
    Signal = 10,
    /// Told by annotations.
    Annotated = 11,
    /// A word that threads wait on (futex, `atomic::wait`).
    Futex = 12,
    /// `atexit` and the end of `main`.
    AtExit = 13,
}

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

/// How the time of a record with this first word is found, if nothing more is known: of one that tells that others may go on, and is written before they can (a lock is given
/// back, a condition notified), it need only be before that.
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

/// Bits of a time that are in a record.
pub const TIME_BITS: u32 = 64 - CONTEXT_BITS;

/// How far a record's time may be from the last `Stamp`'s: half of what [`extended`] could tell.
pub const MOST_BETWEEN: u64 = 1 << (TIME_BITS - 2);

/// The time whose lower bits are in this second word, which is the one nearest to the time before it in its slot.
#[inline]
pub const fn extended(before: u64, second: u64) -> u64 {
    let further = (second & !((1 << CONTEXT_BITS) - 1)).wrapping_sub(before << CONTEXT_BITS) as i64;
    before.wrapping_add((further >> CONTEXT_BITS) as u64)
}

/// Granules of a block, of 64 bytes.
const BLOCK: u64 = 8;
/// Blocks of a row: no record is of more.
const ROW: u64 = 8;

/// The numbers of the granules (their addresses divided by 8) of a record of several, by its head, the lowest first: aux tells which of a block of 64 bytes (bit 0 the
/// lowest), payload the block's address, and in the six bits that an address of a block has not, how many blocks behind it are meant as a whole. (More than a row has make no sense,
/// and are none.)
#[inline]
pub fn bulk_words(head: u64) -> impl Iterator<Item = u64> + Clone {
    let words = head >> 8 & 0xff;
    let behind = Some(head >> 16 & 63).filter(|&behind| behind < ROW).unwrap_or(0);
    let first = head >> 16 >> 6 << 3;
    let is_one = move |number: &u64| *number >= BLOCK || words >> number & 1 == 1;
    (0..BLOCK * (1 + behind)).filter(is_one).map(move |number| (first + number) & ((1 << (ADDRESS_BITS - 3)) - 1))
}

/// The third word of a `Late` or `Pin`: whose access, and whether it wrote; of a `Pin`, whether what was dropped may have.
#[inline]
pub const fn deferred_third(slot: u32, write: bool) -> u64 {
    slot as u64 | (write as u64) << 32
}

/// Whether it wrote.
#[inline]
pub const fn is_deferred_write(third: u64) -> bool {
    third >> 32 & 1 == 1
}

/// Bits of the rank of a `Late` or `Pin`.
pub const SEQ_BITS: u32 = 30;

/// The same third word with the rank (bits 34..64): its order among the late records of its thread with the same position.
#[inline]
pub const fn with_seq(third: u64, seq: u32) -> u64 {
    third | (seq as u64) << (64 - SEQ_BITS)
}

/// Memory order (as `event::Order` numbers them: 0 seqcst, 1 relaxed, 2 acquire, 3 release, 4 acqrel) and log2 of the size.
#[inline]
pub const fn atomic_aux(order: u8, log2: u8) -> u8 {
    order | log2 << 4
}
