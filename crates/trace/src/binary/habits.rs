//! What actions do as a rule, so that only surprises are stored. Writer and reader hold equal habits at every event.
//!
//! After an action its thread does the one that followed the last time. An action's object is as far from its last one as that was from the one
//! before (a walk through memory, or the same again), or as far from the thread's last object of the kind as it was then (another field of a
//! node; the lock to be given back). Tables have a fixed size: collisions cost bytes, never correctness.

use super::actions::SPACES;

/// What is known of a thread: by the kind of object its last one, and behind them its last action. A line of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Lane([u32; LANE]);

const LANE: usize = 16;
const ACTION: usize = LANE - 1;
const _: () = assert!(SPACES <= ACTION);

/// Bits of the byte that tells how an event was foretold.
pub(super) mod code {
    /// The action is stored: another one followed the last time.
    pub(crate) const ACTION_STORED: u8 = 1;
    /// The object is found by the thread's last one, not by the action's.
    pub(crate) const OBJECT_BY_THREAD: u8 = 1 << 1;
    /// The object is stored.
    pub(crate) const OBJECT_STORED: u8 = 1 << 2;
    /// The event has more to it than its action and its object.
    pub(crate) const HAS_EXTRA: u8 = 1 << 3;
    /// Every bit that has a meaning.
    pub(crate) const ALL: u8 = ACTION_STORED | OBJECT_BY_THREAD | OBJECT_STORED | HAS_EXTRA;
}

const ACTIONS: usize = 1 << 16;
const THREADS: usize = 1 << 12;

/// What is known of an action.
#[derive(Clone, Copy, Default)]
struct Habit {
    /// The action that followed it.
    next: u32,
    /// Its last object.
    object: u32,
    /// How far that was from the object before.
    stride: u32,
    /// How far that was from the thread's object before.
    step: u32,
}

pub(super) struct Habits {
    habits: Box<[Habit; ACTIONS]>,
    lanes: Box<[Lane; THREADS]>,
}

/// A table on the heap that never was on the stack.
pub(super) fn boxed<T: Clone + Default, const N: usize>() -> Box<[T; N]> {
    match vec![T::default(); N].into_boxed_slice().try_into() {
        Ok(table) => table,
        Err(_) => unreachable!("a vector of N elements has N"),
    }
}

impl Habits {
    pub(super) fn new() -> Self {
        Habits { habits: boxed(), lanes: boxed() }
    }

    pub(super) fn reset(&mut self) {
        self.habits.fill(Habit::default());
        self.lanes.fill(Lane::default());
    }

    /// The habits of a thread.
    #[inline]
    pub(super) fn of(&mut self, thread: u32) -> Own<'_> {
        Own { habits: &mut self.habits, lane: &mut self.lanes[thread as usize % THREADS] }
    }

    /// The action that a thread should do next.
    #[inline]
    pub(super) fn next(&self, thread: u32) -> u32 {
        let previous = self.lanes[thread as usize % THREADS].0[ACTION];
        self.habits[previous as usize % ACTIONS].next
    }

    /// A thread does an action on an object that was foretold as a code says, or on the one that is `stored`. Which one.
    #[inline]
    pub(super) fn found(
        &mut self,
        thread: u32,
        action: u32,
        space: usize,
        how: u8,
        stored: impl FnOnce() -> u32,
    ) -> u32 {
        let lane = &mut self.lanes[thread as usize % THREADS];
        self.habits[lane.0[ACTION] as usize % ACTIONS].next = action;
        let habit = &mut self.habits[action as usize % ACTIONS];
        let object = match how & (code::OBJECT_STORED | code::OBJECT_BY_THREAD) {
            0 => habit.object.wrapping_add(habit.stride),
            code::OBJECT_BY_THREAD => lane.0[space % LANE].wrapping_add(habit.step),
            _ => stored(),
        };
        habit.learn(lane, action, space, object);
        object
    }
}

/// The habits of a thread that does something.
pub(super) struct Own<'a> {
    habits: &'a mut [Habit; ACTIONS],
    lane: &'a mut Lane,
}

impl Own<'_> {
    /// The thread does an action on an object. What of that was foretold: bits of a [`code`].
    #[inline]
    pub(super) fn told(&mut self, action: u32, space: usize, object: u32) -> u8 {
        let next = &mut self.habits[self.lane.0[ACTION] as usize % ACTIONS].next;
        let followed = std::mem::replace(next, action);
        let (leads, does) = self.habits[action as usize % ACTIONS].learn(self.lane, action, space, object);
        // No branch: nobody could foretell it.
        let by_thread = if does == object { code::OBJECT_BY_THREAD } else { code::OBJECT_STORED };
        let stored = u8::from(leads != object).wrapping_neg() & by_thread;
        stored | (u8::from(followed != action) * code::ACTION_STORED)
    }
}

impl Habit {
    /// A thread does this on an object. The objects that the action would have led to, and the thread.
    #[inline]
    fn learn(&mut self, lane: &mut Lane, action: u32, space: usize, object: u32) -> (u32, u32) {
        lane.0[ACTION] = action;
        let last = &mut lane.0[space % LANE];
        let expected = (self.object.wrapping_add(self.stride), last.wrapping_add(self.step));
        self.stride = object.wrapping_sub(self.object);
        self.object = object;
        self.step = object.wrapping_sub(*last);
        *last = object;
        expected
    }
}
