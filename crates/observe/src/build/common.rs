//! The fast path of most records: accesses and plain operations in known call contexts, one behind the other.

use super::Build;
use super::contexts::Contexts;
use super::lives::Use;
use super::objects::Objects;
use super::sync;
use super::variables::Variables;
use crate::decode::{aux, context, payload};
use event::{CondId, Op, Space};
use runtime::record::{Kind, extended};
use trace::binary::ActionEvent;
use trace::validate::Conditions;

/// The classes of records that the fast path distinguishes.
#[derive(Clone, Copy)]
pub(super) enum Common {
    /// An access.
    Access(Op),
    /// Accesses of words side by side.
    Accesses(Op),
    /// One event of one object.
    Plain(Op, Space),
    /// A deferred access, or a drop barrier.
    Deferred,
    /// A bulk record of them, of this kind.
    DeferredBulk(Kind),
    /// Something else.
    No,
}

impl Common {
    const fn new(kind: Kind) -> Common {
        match kind {
            Kind::ConflictRead => Common::Access(Op::Read),
            Kind::ConflictWrite => Common::Access(Op::Write),
            Kind::ConflictReadBulk => Common::Accesses(Op::Read),
            Kind::ConflictWriteBulk => Common::Accesses(Op::Write),
            Kind::Deferred | Kind::DropBarrier => Common::Deferred,
            Kind::DeferredBulk => Common::DeferredBulk(Kind::Deferred),
            Kind::DropBarrierBulk => Common::DeferredBulk(Kind::DropBarrier),
            // After a request, the thread waits.
            Kind::Request => Common::No,
            // Two events.
            Kind::DownWaited | Kind::AwaitWaited => Common::No,
            kind => match sync::plain(kind) {
                Some(op) => match op.space() {
                    Some(space) => Common::Plain(op, space),
                    None => Common::No,
                },
                None => Common::No,
            },
        }
    }

    /// The class of a record with this head.
    #[inline]
    pub(super) fn of(head: u64) -> Common {
        const TABLE: [Common; 256] = {
            let mut table = [Common::No; 256];
            let mut i = 0;
            while i < Kind::ALL.len() {
                table[Kind::ALL[i] as usize] = Common::new(Kind::ALL[i]);
                i += 1;
            }
            table
        };
        TABLE[usize::from(head as u8)]
    }
}

/// A record of one event: its operation, and what its object is. Two bytes, so that the table stays small.
#[derive(Clone, Copy)]
struct One {
    op: Op,
    /// The number of a [`Space`], [`WORD`] or [`NONE`].
    of: u8,
}

/// The object is a word of memory.
const WORD: u8 = NONE - 1;
/// It is no such record.
const NONE: u8 = u8::MAX;

/// By the code of their kind.
const ONES: [One; 256] = {
    let mut table = [One { op: Op::Fence, of: NONE }; 256];
    let mut i = 0;
    while i < Kind::ALL.len() {
        let kind = Kind::ALL[i];
        if let Common::Access(op) = Common::new(kind) {
            table[kind as usize] = One { op, of: WORD };
        } else if let Common::Plain(op, space) = Common::new(kind) {
            table[kind as usize] = One { op, of: space as u8 };
        }
        assert!(table[kind as usize].of == NONE || kind.words() == WORDS);
        i += 1;
    }
    table
};

/// Words of the records that [`Build::find_run`] takes.
const WORDS: usize = 2;

impl Build {
    /// Takes records of a slot as long as each is one event of a known object in a known call context, and none is
    /// before the last or after `limit`. `time` is that of the first, and becomes that of the last that was taken.
    /// Returns how many words were taken.
    pub(super) fn find_run(&mut self, slot: u32, words: &[u64], time: &mut u64, limit: u64) -> usize {
        let mut taken = 0;
        while let Some(state) = self.slots.get_mut(slot as usize).filter(|state| state.waiting.is_none())
            && !state.is_answered_next()
            && let Some(thread) = state.thread
        {
            let room = self.out.room();
            let most = room.len();
            let count = find(
                &words[taken..],
                (time, limit),
                (slot, state.event_index.records(), &state.contexts),
                (&mut self.objects, &mut self.conditions),
                &mut self.variables,
                // The values that writes replace must be forgotten.
                !self.values.is_empty(),
                room,
            );
            state.event_index.ones(count as u64);
            taken += count * WORDS;
            self.out.found(thread, count, &self.names, &self.meta);
            if count < most {
                break;
            }
        }
        taken
    }
}

/// Applies a `notify` or `notifyall` to its condition.
#[inline]
pub(super) fn notified(conditions: &mut Conditions, op: Op, cond: u32) {
    match op {
        Op::Notify => conditions.notify(CondId(cond)),
        Op::NotifyAll => conditions.notify_all(CondId(cond)),
        _ => {}
    }
}

/// Finds the events of records. Returns how many were found.
#[inline]
fn find(
    words: &[u64],
    (time, limit): (&mut u64, u64),
    (slot, sync_index, contexts): (u32, u64, &Contexts),
    (objects, conditions): (&mut Objects, &mut Conditions),
    variables: &mut Variables,
    has_values: bool,
    found: &mut [ActionEvent],
) -> usize {
    let mut last = *time;
    let mut count = 0;
    for (record, found) in words.chunks_exact(WORDS).zip(found) {
        let &[head, second] = record else { break };
        let One { op, of } = ONES[usize::from(head as u8)];
        let now = extended(last, second);
        if of == NONE || now < last || now > limit {
            break;
        }
        let context = context(second);
        let object = match of {
            WORD if !has_values => variables.one(payload(head) >> 3, aux(head)).map(|var| var.0),
            WORD => None,
            space => {
                let used = Use { sync_index: sync_index + count as u64, slot, context };
                objects.cached(aux(head), payload(head), space, (op != Op::Await).then_some(used))
            }
        };
        let Some(object) = object else { break };
        let Some(&action) = contexts.action(context, op) else { break };
        if of == Space::Cond as u8 {
            notified(conditions, op, object);
        }
        last = now;
        *found = ActionEvent { action, object };
        count += 1;
    }
    *time = last;
    count
}
