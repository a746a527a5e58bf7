//! Threads that wait for each other at the events of a meet, and whether they conflict.

use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize};

use runtime::gates::{EVENTS, Gates, meet, operation};
use runtime::layout::SLOTS;

use super::{Arrival, count, events, has_given_up};
use crate::{failing, system, thread};

/// Threads that can wait at once; a further one is not held.
const WAITING: usize = 64;
/// Locks that are known of a thread; it holds few at a time.
const HELD: usize = 16;

/// The states of [`Waiting::state`].
mod state {
    pub const FREE: u32 = 0;
    pub const WAITS: u32 = 1;
    /// The last thread of a meet has come, and wants to know whether this one is still there: a thread that was
    /// cancelled, or has jumped out of a handler, leaves its entry behind.
    pub const ASKED: u32 = 2;
    /// It is.
    pub const STANDS: u32 = 3;
    pub const MAY_GO: u32 = 4;
}

/// A thread that stands at an event of the meet. The others look at it only while they hold [`LOOKING`].
struct Waiting {
    state: AtomicU32,
    slot: AtomicU32,
    /// The operating system's number of the thread.
    thread: AtomicU32,
    /// Its events, as bits.
    events: AtomicU32,
    operation: AtomicU32,
    object: AtomicUsize,
    size: AtomicUsize,
    pc: AtomicUsize,
}

static LOOKING: AtomicBool = AtomicBool::new(false);
static THREADS: [Waiting; WAITING] = [const {
    Waiting {
        state: AtomicU32::new(state::FREE),
        slot: AtomicU32::new(0),
        thread: AtomicU32::new(0),
        events: AtomicU32::new(0),
        operation: AtomicU32::new(0),
        object: AtomicUsize::new(0),
        size: AtomicUsize::new(0),
        pc: AtomicUsize::new(0),
    }
}; WAITING];
/// By slot: the locks that its thread holds.
static LOCKS: AtomicPtr<[AtomicUsize; HELD]> = AtomicPtr::new(ptr::null_mut());

/// Makes room for what threads hold.
pub(super) fn start() {
    if let Some(at) = system::map(SLOTS * size_of::<[AtomicUsize; HELD]>()) {
        LOCKS.store(at.cast(), Release);
    }
}

fn locks_of(slot: u32) -> &'static [AtomicUsize] {
    let at = LOCKS.load(Acquire);
    if at.is_null() || slot as usize >= SLOTS {
        return &[];
    }
    // SAFETY: there is one for each slot, zero at first.
    unsafe { &*at.add(slot as usize) }
}

/// Notes that a thread has a lock, or gives it back (`-1`).
pub(super) fn holds(slot: u32, lock: usize, by: i32) {
    let (old, new) = if by < 0 { (lock, 0) } else { (0, lock) };
    if let Some(entry) = locks_of(slot).iter().find(|entry| entry.load(Relaxed) == old) {
        entry.store(new, Release);
    }
}

fn is_held(slot: u32, lock: usize) -> bool {
    lock != 0 && locks_of(slot).iter().any(|entry| entry.load(Acquire) == lock)
}

/// A thread with its part in a meet.
#[derive(Clone, Copy)]
struct Party {
    slot: u32,
    thread: u32,
    events: u32,
    arrival: Arrival,
}

impl Party {
    fn of(waiting: &Waiting) -> Party {
        Party {
            slot: waiting.slot.load(Relaxed),
            thread: waiting.thread.load(Relaxed),
            events: waiting.events.load(Relaxed),
            arrival: Arrival {
                operation: waiting.operation.load(Relaxed),
                object: waiting.object.load(Relaxed),
                size: waiting.size.load(Relaxed),
                pc: waiting.pc.load(Relaxed),
            },
        }
    }

    /// Whether this thread and another one are about to access the same bytes, one of them writes, and not both
    /// accesses are atomic.
    fn races_with(&self, other: &Party) -> bool {
        let [a, b] = [self.arrival, other.arrival];
        (a.operation | b.operation) & operation::WRITE != 0
            && a.operation & b.operation & operation::ATOMIC == 0
            && a.object < b.object + b.size
            && b.object < a.object + a.size
    }
}

/// The threads of a meet, each with the number of its event, in the order in which they wait for each other.
struct Circle([Option<(Party, u32)>; EVENTS]);

impl Circle {
    fn parties(&self) -> impl DoubleEndedIterator<Item = &(Party, u32)> {
        self.0.iter().flatten()
    }

    fn has(&self, slot: u32) -> bool {
        self.parties().any(|(party, _)| party.slot == slot)
    }

    fn push(&mut self, party: Party, event: u32) {
        if let Some(free) = self.0.iter_mut().find(|party| party.is_none()) {
            *free = Some((party, event));
        }
    }

    fn pop(&mut self) {
        if let Some(last) = self.0.iter_mut().rfind(|party| party.is_some()) {
            *last = None;
        }
    }
}

/// Holds a thread at an event of the meet until the others have come, or its patience is over.
pub(super) fn meet(gates: &Gates, slot: u32, here: u32, arrival: &Arrival) {
    let wanted = here & meeting(gates);
    // A thread that holds no lock keeps no other one waiting.
    let cannot = || gates.meet == meet::DEADLOCK && locks_of(slot).iter().all(|lock| lock.load(Relaxed) == 0);
    if wanted == 0 || gates.met.load(Acquire) != 0 || cannot() {
        return;
    }
    let own = Party { slot, thread: system::thread_id(), events: wanted, arrival: *arrival };
    forget(slot);
    // A handler of a signal that comes here must not wait for its own thread.
    let waiting = thread::quietly(|| look(gates, own));
    match waiting {
        Look::Met => {
            if gates.last_waits != 0 {
                thread::parked(|| system::sleep(2));
            }
        }
        Look::Waits(waiting) => {
            let is_over = thread::parked(|| wait(gates, waiting, slot));
            if is_over {
                events(gates, wanted).for_each(|event| count(&event.given_up));
            }
        }
        Look::Goes => {}
    }
}

enum Look {
    /// All have come.
    Met,
    /// The thread has to wait.
    Waits(&'static Waiting),
    /// It need not.
    Goes,
}

/// Compares a thread with those that wait.
fn look(gates: &Gates, own: Party) -> Look {
    while LOOKING.swap(true, Acquire) {
        failing::pause();
    }
    let look = if gates.met.load(Relaxed) != 0 {
        Look::Goes
    } else if let Some(circle) = closed(gates, own).filter(all_stand) {
        note(gates, &circle);
        waiting_in(&circle, state::STANDS).for_each(|waiting| change(waiting, state::MAY_GO));
        Look::Met
    } else if has_given_up(gates, own.events) {
        Look::Goes
    } else if let Some(free) = THREADS.iter().find(|waiting| waiting.state.load(Relaxed) == state::FREE) {
        free.slot.store(own.slot, Relaxed);
        free.thread.store(own.thread, Relaxed);
        free.events.store(own.events, Relaxed);
        free.operation.store(own.arrival.operation, Relaxed);
        free.object.store(own.arrival.object, Relaxed);
        free.size.store(own.arrival.size, Relaxed);
        free.pc.store(own.arrival.pc, Relaxed);
        free.state.store(state::WAITS, Release);
        Look::Waits(free)
    } else {
        Look::Goes
    };
    LOOKING.store(false, Release);
    look
}

/// The entries in this state of threads in a circle.
fn waiting_in(circle: &Circle, state: u32) -> impl Iterator<Item = &'static Waiting> {
    let is_it = move |waiting: &&Waiting| waiting.state.load(Acquire) == state;
    THREADS.iter().filter(is_it).filter(|waiting| circle.has(waiting.slot.load(Relaxed)))
}

fn change(waiting: &Waiting, state: u32) {
    waiting.state.store(state, Release);
    system::futex_wake(&waiting.state);
}

/// Asks the other threads of a circle whether they still stand there. If one does not answer, its entry is given up,
/// and the others wait on.
fn all_stand(circle: &Circle) -> bool {
    /// Far longer than a thread that is there needs to answer, in milliseconds.
    const ANSWER: u64 = 200;
    waiting_in(circle, state::WAITS).for_each(|waiting| change(waiting, state::ASKED));
    let until = system::milliseconds() + ANSWER;
    while waiting_in(circle, state::ASKED).next().is_some() && system::milliseconds() < until {
        failing::pause();
    }
    for waiting in waiting_in(circle, state::ASKED) {
        let _ = waiting.state.compare_exchange(state::ASKED, state::FREE, Acquire, Relaxed);
    }
    let others = circle.parties().count() - 1;
    let stand = waiting_in(circle, state::STANDS).count() == others;
    if !stand {
        waiting_in(circle, state::STANDS).for_each(|waiting| change(waiting, state::WAITS));
    }
    stand
}

/// Gives up what a thread left behind that went away without waiting to the end.
fn forget(slot: u32) {
    for waiting in THREADS.iter().filter(|waiting| waiting.slot.load(Relaxed) == slot) {
        let _ = waiting.state.compare_exchange(state::WAITS, state::FREE, Acquire, Relaxed);
    }
}

/// Waits to be released. Returns whether patience was over before.
fn wait(gates: &Gates, waiting: &Waiting, slot: u32) -> bool {
    let until = system::milliseconds() + u64::from(gates.patience);
    // An entry that was given up may be another thread's by now.
    while waiting.slot.load(Relaxed) == slot {
        match waiting.state.load(Acquire) {
            state::WAITS => {
                let now = system::milliseconds();
                // After a meet, those that are not part of it go on, too.
                let is_over = now >= until || gates.met.load(Acquire) != 0;
                if !is_over {
                    system::futex_wait(&waiting.state, state::WAITS, super::NAP.min((until - now) as u32));
                } else if waiting.state.compare_exchange(state::WAITS, state::FREE, Acquire, Relaxed).is_ok() {
                    break;
                }
            }
            state::ASKED => {
                let _ = waiting.state.compare_exchange(state::ASKED, state::STANDS, Release, Relaxed);
            }
            state::STANDS => system::futex_wait(&waiting.state, state::STANDS, super::NAP),
            state::MAY_GO => {
                waiting.state.store(state::FREE, Release);
                return false;
            }
            _ => break,
        }
    }
    true
}

/// The events of the meet, as bits.
fn meeting(gates: &Gates) -> u32 {
    let events = gates.event.iter().enumerate().filter(|(_, event)| event.meets != 0);
    events.fold(0, |bits, (number, _)| bits | 1 << number)
}

/// The numbers of the events among these bits.
fn numbers(bits: u32) -> impl Iterator<Item = u32> {
    (0..EVENTS as u32).filter(move |number| bits >> number & 1 != 0)
}

/// The meet that a thread completes, if it does.
fn closed(gates: &Gates, own: Party) -> Option<Circle> {
    let all = meeting(gates);
    numbers(own.events).find_map(|event| {
        let mut circle = Circle([None; EVENTS]);
        circle.push(own, event);
        extend(gates, own, own, all & !(1 << event), &mut circle).then_some(circle)
    })
}

/// Adds threads to a circle, which has a first and a last one, until every event has one.
fn extend(gates: &Gates, first: Party, last: Party, left: u32, circle: &mut Circle) -> bool {
    if left == 0 {
        return match gates.meet {
            meet::DEADLOCK => is_held(first.slot, last.arrival.object),
            _ => true,
        };
    }
    THREADS.iter().filter(|waiting| waiting.state.load(Acquire) == state::WAITS).any(|waiting| {
        let next = Party::of(waiting);
        let fits = match gates.meet {
            meet::DEADLOCK => is_held(next.slot, last.arrival.object),
            _ => last.races_with(&next),
        };
        fits && !circle.has(next.slot)
            && numbers(next.events & left).any(|event| {
                circle.push(next, event);
                let is_closed = extend(gates, first, next, left & !(1 << event), circle);
                if !is_closed {
                    circle.pop();
                }
                is_closed
            })
    })
}

/// Notes who stood where.
fn note(gates: &Gates, circle: &Circle) {
    for (party, event) in circle.parties() {
        let Some(stand) = gates.stands.get(*event as usize) else { continue };
        let Arrival { operation, object, size, pc } = party.arrival;
        stand.operation.store(operation, Relaxed);
        stand.object.store(object as u64, Relaxed);
        stand.size.store(size as u64, Relaxed);
        let mut value = [0; 8];
        // SAFETY: bytes that the program is about to access; the kernel says if they are not there.
        unsafe { system::peek(object, value.as_mut_ptr(), size.clamp(1, 8)) };
        stand.value.store(u64::from_ne_bytes(value), Relaxed);
        stand.at.store(pc as u64, Relaxed);
        stand.thread.store(party.thread, Relaxed);
    }
    gates.met.store(1, Release);
}
