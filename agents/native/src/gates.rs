//! Gates: holds threads at chosen places of the program, so that what one run predicts comes about in another.
//!
//! `foretrace confirm` leaves a file of events beside the session (`runtime::gates`). A thread that comes to an event
//! waits there before it does anything, until
//!
//! * a thread has ever come to each event that has to come before (it may not have done it yet);
//! * or, if the event is part of a meet, threads stand at all its other events, too, and they conflict
//!   ([`meeting`]). That is noted, and all of them go on;
//! * or its patience is over. No thread is held for long: the others may have no way to come at all.
//!
//! All other threads run freely. In a process with gates, the fast paths of hooks are closed, so that every access
//! comes through here. In all others, nothing of this costs more than a look at [`is_on`], on slow paths.

mod meeting;

use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize};

use runtime::gates::{EVENTS, Event, Gates, Span, VERSION, operation};
use runtime::layout::MAGIC;

use crate::path::Path;
use crate::{session, system, thread, watch};

/// What a thread is about to do.
#[derive(Clone, Copy)]
pub struct Arrival {
    /// One of [`operation`].
    pub operation: u32,
    /// What it accesses, locks or waits for.
    pub object: usize,
    /// How many bytes it accesses.
    pub size: usize,
    /// The address to which its hook returns.
    pub pc: usize,
}

/// Code of an event in this process.
#[derive(Clone, Copy)]
#[repr(C)]
struct Place {
    low: usize,
    high: usize,
    event: u32,
}

/// Code of events that is looked at; a line has little.
const PLACES: usize = 4096;
/// Pauses between two looks of a thread that waits, in milliseconds.
const NAP: u32 = 20;

static ON: AtomicBool = AtomicBool::new(false);
static FILE: AtomicPtr<Gates> = AtomicPtr::new(ptr::null_mut());
static PLACES_AT: AtomicPtr<Place> = AtomicPtr::new(ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Counts up when a thread comes to an event.
static ARRIVALS: AtomicU32 = AtomicU32::new(0);

/// Whether this process has gates.
#[inline(always)]
pub fn is_on() -> bool {
    ON.load(Relaxed)
}

/// Looks for gates in the session's directory.
pub fn start(directory: &Path) {
    let mut name = *directory;
    name.push(b"/").push(runtime::gates::FILE.as_bytes());
    let Some(fd) = name.is_whole().then(|| system::open(name.bytes(), libc::O_RDWR)).flatten() else { return };
    let length = system::length(fd);
    let at = if length < size_of::<Gates>() { None } else { system::map_file(fd, length, true) };
    system::close(fd);
    let Some(at) = at else { return };
    let room = (length - size_of::<Gates>()) / size_of::<Span>();
    // SAFETY: the file is as long as its head, which is never unmapped.
    let gates = unsafe { &*at.cast::<Gates>() };
    let is_right = gates.magic == MAGIC
        && gates.version == VERSION
        && gates.events as usize <= EVENTS
        && gates.spans as usize <= room;
    let own = system::process_id();
    if is_right && gates.owner.compare_exchange(0, own, AcqRel, Acquire).is_ok() {
        FILE.store(at.cast(), Release);
        find();
        meeting::start();
        ON.store(true, Release);
    }
}

/// A forked child has none.
pub fn after_fork_child() {
    ON.store(false, Relaxed);
}

/// Finds the code of events, in modules that were loaded since, too.
pub fn find() {
    let gates = FILE.load(Acquire);
    if gates.is_null() {
        return;
    }
    if PLACES_AT.load(Acquire).is_null() {
        let Some(at) = system::map(PLACES * size_of::<Place>()) else { return };
        PLACES_AT.store(at.cast(), Release);
    }
    // SAFETY: `start` has compared the number of spans with the file's length.
    let spans = unsafe { core::slice::from_raw_parts(gates.add(1).cast::<Span>(), (*gates).spans as usize) };
    watch::each_module(|module, bias| {
        for span in spans.iter().filter(|span| span.module == module && (span.event as usize) < EVENTS) {
            let [low, high] = [span.low, span.high].map(|address| bias.wrapping_add(address as usize));
            let count = COUNT.load(Acquire);
            let is_known = places().iter().any(|place| place.low == low && place.event == span.event);
            if !is_known && count < PLACES {
                // SAFETY: there is room for `PLACES`; readers look at the first `COUNT` only.
                unsafe { *PLACES_AT.load(Acquire).add(count) = Place { low, high, event: span.event } };
                COUNT.store(count + 1, Release);
            }
        }
    });
}

fn places() -> &'static [Place] {
    let at = PLACES_AT.load(Acquire);
    // SAFETY: the first `COUNT` are there and do not change.
    if at.is_null() { &[] } else { unsafe { core::slice::from_raw_parts(at, COUNT.load(Acquire)) } }
}

/// The file, if this process has gates.
fn file() -> Option<&'static Gates> {
    // SAFETY: mapped for the life of the process.
    if is_on() { unsafe { FILE.load(Acquire).as_ref() } } else { None }
}

/// A thread is about to access memory.
#[cold]
pub fn access(object: usize, size: usize, read: bool, write: bool, pc: usize) {
    let kinds = if read { operation::READ } else { 0 } | if write { operation::WRITE } else { 0 };
    arrive(Arrival { operation: kinds, object, size, pc });
}

/// A thread is about to do something else: it waits here as long as it should.
#[cold]
pub fn arrive(arrival: Arrival) {
    let Some(gates) = file() else { return };
    // Its first hook gives a thread its slot.
    let Some(slot) = thread::enter(arrival.pc, |thread| thread.slot) else { return };
    // Once threads have met, no thread is held. A thread that is alone in the process has no other one to meet.
    let is_alone = session::process().is_none_or(|process| process.slots.load(Relaxed) < 2);
    let here = events_at(gates, &arrival);
    if here == 0 || gates.met.load(Relaxed) != 0 {
        return;
    }
    let mut is_first = false;
    for event in events(gates, here).filter(|event| event.arrivals.load(Relaxed) == 0) {
        count(&event.arrivals);
        is_first = true;
    }
    if is_first {
        count(&ARRIVALS);
        system::futex_wake(&ARRIVALS);
    }
    if is_alone {
        return;
    }
    wait_for_others(gates, here);
    meeting::meet(gates, slot, here, &arrival);
}

/// A thread has a lock, or gives it back (`-1`).
#[cold]
pub fn holds(lock: usize, by: i32) {
    if let Some(slot) = thread::own_slot() {
        meeting::holds(slot, lock, by);
    }
}

/// The events that an arrival belongs to, as bits.
fn events_at(gates: &Gates, arrival: &Arrival) -> u32 {
    // The address before is inside the call of the hook.
    let at = arrival.pc.wrapping_sub(1);
    let is_here = |place: &&Place| {
        let wanted = gates.event.get(place.event as usize).map_or(0, |event| event.operations);
        (place.low..place.high).contains(&at) && wanted & arrival.operation != 0
    };
    places().iter().filter(is_here).fold(0, |events, place| events | 1 << place.event)
}

/// Waits until threads have come to all events that have to come before these, or the thread's patience is over.
fn wait_for_others(gates: &Gates, here: u32) {
    let wanted = events(gates, here).fold(0, |wanted, event| wanted | event.after);
    let is_open = || events(gates, wanted).all(|event| event.arrivals.load(Acquire) > 0);
    if is_open() || has_given_up(gates, here) {
        return;
    }
    let until = system::milliseconds() + u64::from(gates.patience);
    thread::parked(|| {
        while !is_open() && system::milliseconds() < until {
            let seen = ARRIVALS.load(Acquire);
            if !is_open() {
                system::futex_wait(&ARRIVALS, seen, NAP);
            }
        }
    });
    if !is_open() {
        events(gates, here).for_each(|event| count(&event.given_up));
    }
}

/// Whether threads were held often enough in vain at one of these events.
fn has_given_up(gates: &Gates, here: u32) -> bool {
    events(gates, here).any(|event| event.given_up.load(Relaxed) >= gates.attempts)
}

/// Counts one more.
fn count(counter: &AtomicU32) {
    counter.fetch_add(1, AcqRel);
}

/// The events among these bits.
fn events(gates: &Gates, bits: u32) -> impl Iterator<Item = &Event> {
    gates.event.iter().enumerate().filter(move |(number, _)| bits >> number & 1 != 0).map(|(_, event)| event)
}
