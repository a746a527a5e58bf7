//! Where the read summaries are ([`runtime::filter::SUMMARY_BITS`]): one stretch of address space for those of all
//! memory there can be, so that a hook finds one by a shift. Next to nothing of it is ever touched.

use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use runtime::filter::{ADDRESS_BITS, AtomicEntry, Recorder, SUMMARY_BITS, clear_summary};

use crate::system;

/// Bytes of the summaries of one kind: of threads with even slots, or with odd ones.
const BYTES: usize = size_of::<AtomicEntry>() << (ADDRESS_BITS - SUMMARY_BITS);

/// Where the summaries of even slots begin; those of odd slots are behind them. 0: there was no address space, and
/// nothing is noted.
static SUMMARIES: AtomicUsize = AtomicUsize::new(0);

/// Far from the memory of programs: a bad pointer near their own memory still faults.
const FAR: usize = 1 << 45;

/// An empty summary.
static NOTHING: Nothing = Nothing([0; 2]);

#[repr(align(16))]
struct Nothing([usize; 2]);

/// Reserves the address space, if there is enough.
pub fn start() {
    let Some(at) = system::map_near(FAR, 2 * BYTES) else { return };
    // SAFETY: the mapping is ours.
    unsafe {
        system::wipe_on_fork(at, 2 * BYTES);
        system::leave_out_of_dumps(at, 2 * BYTES);
    }
    SUMMARIES.store(at as usize, Relaxed);
}

/// The bytes of address space that are reserved.
pub fn reserved() -> usize {
    if SUMMARIES.load(Relaxed) == 0 { 0 } else { 2 * BYTES }
}

/// Where the summaries of even or odd slots begin; 0 if there are none. Then nothing is ever noted (`Recorder::noted`
/// stays 0), and no hook looks there.
pub fn of_kind(odd: bool) -> usize {
    match SUMMARIES.load(Relaxed) {
        0 => 0,
        even => even + if odd { BYTES } else { 0 },
    }
}

/// The summary of an address, where [`of_kind`] is not 0.
#[inline(always)]
pub unsafe fn among(summaries: usize, addr: usize) -> &'static AtomicEntry {
    let offset = ((addr >> SUMMARY_BITS) * size_of::<AtomicEntry>()) & (BYTES - size_of::<AtomicEntry>());
    // SAFETY: masked to the summaries of one kind.
    unsafe { &*((summaries + offset) as *const AtomicEntry) }
}

/// The summary of an address, if there are any.
#[inline(always)]
fn summary(addr: usize, odd: bool) -> Option<&'static AtomicEntry> {
    let summaries = SUMMARIES.load(Relaxed);
    // SAFETY: they are there.
    (summaries != 0).then(|| unsafe { among(summaries + if odd { BYTES } else { 0 }, addr) })
}

/// The summary of an address, for reading only: all zero, if there is none.
#[inline]
pub fn to_look_at(addr: usize, odd: bool) -> &'static AtomicEntry {
    // SAFETY: zeros, of its size and alignment.
    summary(addr, odd).unwrap_or_else(|| unsafe { &*NOTHING.0.as_ptr().cast() })
}

/// Notes that a thread is about to read a word. If the word is watched, or was freed, the read ends at another sync
/// index, and the note with it.
#[inline]
pub fn note_read(addr: usize, recorder: &mut Recorder) {
    // The test that mostly fails comes first.
    if recorder.notes_reads()
        && let Some(summary) = summary(addr, recorder.is_second())
    {
        recorder.note_read(summary, addr as u64);
    }
}

/// Notes reads of several words: `note` gets the summary.
#[inline]
pub fn note(addr: usize, recorder: &mut Recorder, note: impl FnOnce(&mut Recorder, &AtomicEntry)) {
    if recorder.notes_reads()
        && let Some(summary) = summary(addr, recorder.is_second())
    {
        note(recorder, summary);
    }
}

/// Clears the summaries of an address: threads must look at its cells again.
#[inline]
pub fn forget(addr: usize) {
    if let Some(even) = summary(addr, false) {
        clear_summary(even);
        // SAFETY: behind those of the other kind.
        clear_summary(unsafe { among(of_kind(true), addr) });
    }
}

/// In a forked child, nothing is noted, even if the kernel has copied it.
pub fn after_fork_child() {
    let summaries = SUMMARIES.load(Relaxed);
    if summaries != 0 {
        // SAFETY: the whole mapping.
        unsafe { system::discard(summaries as *mut u8, 2 * BYTES) };
    }
}
