//! What actions do as a rule, so that only surprises are stored. Writer and reader hold equal habits at every event.
//!
//! After an action its thread does the one that followed the last time. An action's object is as far from its last one as that was from the one
//! before (a walk through memory, or the same again), or as far from the thread's last object of the kind as it was then (another field of a
//! node; the lock to be given back). Tables have a fixed size: collisions cost bytes, never correctness.

use super::actions::SPACES;

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

/// What is known of a thread.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// Its last action.
    action: u32,
    /// By the kind of object: its last one.
    objects: [u32; SPACES],
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

    /// The action that a thread should do next.
    #[inline]
    pub(super) fn next(&self, thread: u32) -> u32 {
        let previous = self.lanes[thread as usize % THREADS].action;
        self.habits[previous as usize % ACTIONS].next
    }

    /// A thread does an action, on the object that `object` says: it is given the one that the action leads to, and the one
    /// that the thread does.
    #[inline]
    pub(super) fn learn(
        &mut self,
        thread: u32,
        action: u32,
        space: usize,
        object: impl FnOnce(u32, u32) -> u32,
    ) -> u32 {
        let lane = &mut self.lanes[thread as usize % THREADS];
        self.habits[lane.action as usize % ACTIONS].next = action;
        lane.action = action;
        let habit = &mut self.habits[action as usize % ACTIONS];
        let last = &mut lane.objects[space];
        let object = object(habit.object.wrapping_add(habit.stride), last.wrapping_add(habit.step));
        habit.stride = object.wrapping_sub(habit.object);
        habit.object = object;
        habit.step = object.wrapping_sub(*last);
        *last = object;
        object
    }
}
