//! Predicts the next action of a thread and its object, so that only mispredictions are stored. Writer and reader hold
//! equal predictors at every event.
//!
//! * Action: the one that followed the thread's last action the last time.
//! * Object, by the action: as far from the action's last object as that was from the one before (a walk through
//!   memory, or one object again).
//! * Object, by the thread: as far from the thread's last object of the kind as it was the last time (another field of
//!   a node, the lock to be given back).
//!
//! Tables have a fixed size: collisions cost bytes, never correctness.

use super::actions::SPACES;

/// The last objects of a thread, by kind, and in the last word its last action. One cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct ThreadHistory([u32; THREAD_WORDS]);

const THREAD_WORDS: usize = 16;
const ACTION: usize = THREAD_WORDS - 1;
const _: () = assert!(SPACES <= ACTION);

/// Bits of the byte that says how an event was predicted.
pub(super) mod code {
    /// The action is stored: another one followed the last time.
    pub(crate) const ACTION_STORED: u8 = 1;
    /// The object is found by the thread's last one, not by the action's.
    pub(crate) const OBJECT_BY_THREAD: u8 = 1 << 1;
    /// The object is stored.
    pub(crate) const OBJECT_STORED: u8 = 1 << 2;
    /// The event has an extra.
    pub(crate) const HAS_EXTRA: u8 = 1 << 3;
    /// Every bit that has a meaning.
    pub(crate) const ALL: u8 = ACTION_STORED | OBJECT_BY_THREAD | OBJECT_STORED | HAS_EXTRA;
}

const ACTIONS: usize = 1 << 16;
const THREADS: usize = 1 << 12;

/// What an action did before.
#[derive(Clone, Copy, Default)]
struct ActionHistory {
    /// The action that followed it.
    next: u32,
    /// Its last object.
    object: u32,
    /// How far that was from the object before.
    stride: u32,
    /// How far that was from the thread's object before.
    step: u32,
}

pub(super) struct ActionPredictor {
    histories: Box<[ActionHistory; ACTIONS]>,
    threads: Box<[ThreadHistory; THREADS]>,
}

/// A table on the heap that is never built on the stack.
pub(super) fn boxed<T: Clone + Default, const N: usize>() -> Box<[T; N]> {
    match vec![T::default(); N].into_boxed_slice().try_into() {
        Ok(table) => table,
        Err(_) => unreachable!("a vector of N elements has N"),
    }
}

impl ActionPredictor {
    pub(super) fn new() -> Self {
        ActionPredictor { histories: boxed(), threads: boxed() }
    }

    pub(super) fn reset(&mut self) {
        self.histories.fill(ActionHistory::default());
        self.threads.fill(ThreadHistory::default());
    }

    /// The predictor for the events of a thread.
    #[inline]
    pub(super) fn for_thread(&mut self, thread: u32) -> ThreadPredictor<'_> {
        ThreadPredictor { histories: &mut self.histories, own: &mut self.threads[thread as usize % THREADS] }
    }

    /// The action that is predicted for a thread.
    #[inline]
    pub(super) fn next(&self, thread: u32) -> u32 {
        let previous = self.threads[thread as usize % THREADS].0[ACTION];
        self.histories[previous as usize % ACTIONS].next
    }

    /// Learns that a thread does an action, on the object that was predicted as `how` says or that is `stored`. Returns
    /// the object.
    #[inline]
    pub(super) fn decode(
        &mut self,
        thread: u32,
        action: u32,
        space: usize,
        how: u8,
        stored: impl FnOnce() -> u32,
    ) -> u32 {
        let own = &mut self.threads[thread as usize % THREADS];
        self.histories[own.0[ACTION] as usize % ACTIONS].next = action;
        let history = &mut self.histories[action as usize % ACTIONS];
        let object = match how & (code::OBJECT_STORED | code::OBJECT_BY_THREAD) {
            0 => history.object.wrapping_add(history.stride),
            code::OBJECT_BY_THREAD => own.0[space % THREAD_WORDS].wrapping_add(history.step),
            _ => stored(),
        };
        history.learn(own, action, space, object);
        object
    }
}

/// The predictor for the events of one thread.
pub(super) struct ThreadPredictor<'a> {
    histories: &'a mut [ActionHistory; ACTIONS],
    own: &'a mut ThreadHistory,
}

impl ThreadPredictor<'_> {
    /// Learns that the thread does an action on an object. Returns what of that was predicted: bits of a [`code`].
    #[inline]
    pub(super) fn encode(&mut self, action: u32, space: usize, object: u32) -> u8 {
        let next = &mut self.histories[self.own.0[ACTION] as usize % ACTIONS].next;
        let followed = std::mem::replace(next, action);
        let (leads, does) = self.histories[action as usize % ACTIONS].learn(self.own, action, space, object);
        // Without branches, which the processor could not predict.
        let by_thread = if does == object { code::OBJECT_BY_THREAD } else { code::OBJECT_STORED };
        let stored = u8::from(leads != object).wrapping_neg() & by_thread;
        stored | (u8::from(followed != action) * code::ACTION_STORED)
    }
}

impl ActionHistory {
    /// Learns that a thread does this action on an object. Returns the objects predicted by the action and by the
    /// thread.
    #[inline]
    fn learn(&mut self, own: &mut ThreadHistory, action: u32, space: usize, object: u32) -> (u32, u32) {
        own.0[ACTION] = action;
        let last = &mut own.0[space % THREAD_WORDS];
        let expected = (self.object.wrapping_add(self.stride), last.wrapping_add(self.step));
        self.stride = object.wrapping_sub(self.object);
        self.object = object;
        self.step = object.wrapping_sub(*last);
        *last = object;
        expected
    }
}
