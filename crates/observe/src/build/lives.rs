//! The lifetimes of synchronisation objects: to initialise, destroy or free one conflicts with its use.
//!
//! An object that several threads use is also a variable of the same name. Its initialisation becomes a write of the
//! variable, its uses become reads, and the end of its lifetime becomes a `free`. Most uses say nothing new, so only
//! two of each thread are in the trace: the first one, if another thread initialised the object, and the last one
//! before the object is initialised again, destroyed or freed by another thread. (All other uses of the thread are
//! ordered before or after these.) They are deferred events: they stand right before what the thread did there. So a
//! release orders the use that it is, and a thread may destroy a mutex as soon as it has got and released it after all
//! others; who is woken has ended its use of the condition.
//!
//! A file descriptor is such an object, too: to close it conflicts with its use. That it was opened conflicts with
//! nothing, because libraries open files unseen.

use super::Build;
use super::barriers::is_barrier;
use super::blocks::Actor;
use super::objects::Number;
use event::{Event, Op, Space, VarId};
use runtime::record::{Class, Kind};
use trace::binary::DeferredPosition;

/// Slots whose last use is remembered, for each object.
const MOST_USERS: usize = 1 << 8;

/// A use of an object: right before the record with this sync index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Use {
    pub(crate) sync_index: u64,
    pub(crate) slot: u32,
    pub(crate) context: u32,
}

impl Use {
    /// In `context`: the use is in the trace. (Contexts have fewer bits.)
    const EMITTED: u32 = 1 << 31;
}

/// No slot has this number.
const NEVER: Use = Use { sync_index: 0, slot: u32::MAX, context: 0 };

/// What conflicts with the uses of an object that come after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    by: Actor,
    at: DeferredPosition,
    /// A write: it was initialised. A `free`: its lifetime had ended.
    op: Op,
    /// It is in the trace.
    emitted: bool,
}

/// The lifetime of an object.
#[derive(Debug)]
pub(crate) struct Life {
    /// The last use.
    last: Use,
    /// The last uses of other slots.
    others: Vec<Use>,
    before: Option<Before>,
    var: Option<VarId>,
    /// The C library counts who has it open, so that its beginning and end say nothing of the program.
    counted: bool,
}

impl Default for Life {
    fn default() -> Self {
        Life { last: NEVER, others: Vec::new(), before: None, var: None, counted: false }
    }
}

impl Life {
    /// Notes a use, unless it is the first of its slot. Returns whether it was noted.
    #[inline]
    pub(crate) fn used_again(&mut self, used: Use) -> bool {
        if self.last.slot == used.slot {
            self.last = used;
            return true;
        }
        self.used_by_another(used)
    }

    fn used_by_another(&mut self, used: Use) -> bool {
        let Some(known) = self.others.iter_mut().find(|known| known.slot == used.slot) else { return false };
        *known = std::mem::replace(&mut self.last, used);
        true
    }

    /// Notes the first use of a slot.
    fn used_first(&mut self, used: Use) {
        let last = std::mem::replace(&mut self.last, used);
        if last.slot == NEVER.slot {
            return;
        }
        if self.others.len() < MOST_USERS {
            self.others.push(last);
        } else if let Some(first) = self.others.first_mut() {
            *first = last;
        }
    }

    /// The last uses of all slots but one.
    fn uses_of_others(&self, slot: u32) -> impl Iterator<Item = Use> + '_ {
        let all = self.others.iter().chain([&self.last]);
        all.copied().filter(move |used| used.slot != slot && used.slot != NEVER.slot)
    }
}

/// Whether objects of a class have lifetimes that their uses could miss.
fn has_life(class: u8) -> bool {
    class < Class::Latch as u8 || is_barrier(class) || class == Class::File as u8
}

/// Whether a use after the end shows that the object was not initialised again. Mutexes, conditions and read-write
/// locks may be set to their initial value without a call, as the classes of the C++ library do. (Of a destroyed mutex
/// the C library says itself that it is none.)
fn needs_initialisation(class: u8) -> bool {
    [Class::Spin, Class::Semaphore, Class::Barrier].iter().any(|&one| class == one as u8)
}

/// The space of the objects of a class.
pub(super) fn space_of(class: u8) -> Space {
    match class {
        class if class == Class::Condition as u8 => Space::Cond,
        class if class == Class::Semaphore as u8 || class == Class::NamedSemaphore as u8 => Space::Sem,
        class if class <= Class::Spin as u8 => Space::Lock,
        _ => Space::Latch,
    }
}

/// Whether a record of this kind uses its object. Who has waited does not touch it any more.
#[inline]
pub(super) fn is_use(kind: Kind) -> bool {
    !matches!(kind, Kind::Await | Kind::AwaitWaited | Kind::Woken)
}

impl Build {
    /// The lifetime of a new object.
    pub(super) fn new_life(&mut self, class: u8, number: Number, space: Space) -> Option<Life> {
        let Number::Memory(address) = number else { return None };
        if self.is_java || !has_life(class) {
            return None;
        }
        let before = self.destroyed.remove(&(address, space)).or_else(|| {
            let freed = self.freed(address)?;
            Some(Before { by: freed.by, at: freed.at, op: Op::Free, emitted: false })
        });
        Some(Life { before, ..Life::default() })
    }

    /// A record uses an object.
    pub(super) fn uses(&mut self, (slot, context): (u32, u32), (space, address): (Space, u64)) {
        let Some(state) = self.slots.get(slot as usize) else { return };
        let used = Use { sync_index: state.event_index.records(), slot, context };
        let Some(life) = self.objects.life(address, space) else { return };
        if life.used_again(used) {
            return;
        }
        life.used_first(used);
        let Some(before) = life.before.filter(|before| before.op == Op::Free || before.by.slot != slot) else { return };
        let known = life.var;
        if !self.is_seen(before.by.slot, before.by.context) || !self.is_seen(slot, context) {
            return;
        }
        let Some(var) = known.or_else(|| self.life_variable(address)) else { return };
        if !before.emitted {
            let (site, stack) = self.context(before.by.slot, before.by.context);
            let event = Event::new(before.by.thread, before.op, var.0, site);
            self.out.push_deferred(event, stack, before.at, &self.names, &self.meta);
        }
        self.emit_use(var, used);
        if let Some(life) = self.objects.life(address, space) {
            life.last.context |= Use::EMITTED;
            life.var = Some(var);
            life.before = Some(Before { emitted: true, ..before });
        }
    }

    /// A file descriptor is used. What it is called matters only if it is closed.
    pub(super) fn uses_file(&mut self, by: Actor, number: u64) {
        let class = Class::File as u8;
        if !self.is_java && self.objects.get(class, number, Space::Latch).is_none() {
            self.objects.insert(Number::new(class, number), Space::Latch, 0, Some(Life::default()));
        }
        self.uses((by.slot, by.context), (Space::Latch, number));
    }

    /// An object was initialised: its lifetime begins, and `old` ends, if it had not ended yet. Returns how many events
    /// that is.
    pub(super) fn begins(&mut self, by: Actor, class: u8, (space, address): (Space, u64), old: Option<Life>) -> u64 {
        let is_counted = class == Class::NamedSemaphore as u8;
        let old = old.filter(|old| !is_counted && !old.counted);
        let var = old.and_then(|old| self.conflicts(by, Op::Write, address, &old));
        let at = self.now(by.slot);
        if let Some(life) = self.objects.life(address, space) {
            life.var = var;
            life.counted = is_counted;
            let before = Before { by, at, op: Op::Write, emitted: var.is_some() };
            life.before = Some(before).filter(|_| !is_counted);
        }
        var.is_some().into()
    }

    /// The lifetime of an object ends, because it is destroyed. Returns how many events that is.
    pub(super) fn ends(&mut self, by: Actor, class: u8, (space, address): (Space, u64), life: Option<Life>) -> u64 {
        if life.as_ref().is_some_and(|life| life.counted) || self.is_java {
            return 0;
        }
        if needs_initialisation(class) {
            let before = Before { by, at: self.now(by.slot), op: Op::Free, emitted: false };
            self.destroyed.insert((address, space), before);
        }
        life.and_then(|life| self.conflicts(by, Op::Free, address, &life)).is_some().into()
    }

    /// The memory of objects is freed. Returns how many events that is.
    pub(super) fn freed_with(&mut self, by: Actor, lives: &[(u64, Life)]) -> u64 {
        lives.iter().filter(|(address, life)| self.conflicts(by, Op::Free, *address, life).is_some()).count() as u64
    }

    /// Ends the lifetimes of all objects in a range of addresses. Returns those that some thread has used.
    pub(super) fn end_objects(&mut self, start: u64, size: u64) -> Vec<(u64, Life)> {
        let mut lives = Vec::new();
        self.barriers.end(start, size);
        self.objects.end_range(start, size, |address, _, life| {
            if life.last.slot != NEVER.slot && !life.counted {
                lives.push((address, life));
            }
        });
        if !self.destroyed.is_empty() {
            self.destroyed.retain(|&(address, _), _| address.wrapping_sub(start) >= size);
        }
        lives
    }

    /// Emits the last uses of an object by other threads, and an event that conflicts with them. Returns the variable.
    fn conflicts(&mut self, by: Actor, op: Op, address: u64, life: &Life) -> Option<VarId> {
        if life.uses_of_others(by.slot).next().is_none() || !self.is_seen(by.slot, by.context) {
            return None;
        }
        let mut uses: Vec<Use> = life.uses_of_others(by.slot).collect();
        uses.retain(|used| self.is_seen(used.slot, used.context & !Use::EMITTED));
        if uses.is_empty() {
            return None;
        }
        let var = life.var.or_else(|| self.life_variable(address))?;
        uses.into_iter().for_each(|used| self.emit_use(var, used));
        self.plain(by, op, var.0);
        Some(var)
    }

    fn emit_use(&mut self, var: VarId, used: Use) {
        if used.context & Use::EMITTED != 0 {
            return;
        }
        let Some(position) = self.slots[used.slot as usize].event_index.find(used.sync_index) else { return };
        let (site, stack) = self.context(used.slot, used.context);
        let event = Event::new(position.thread, Op::Read, var.0, site);
        self.out.push_deferred(event, stack, position.end(), &self.names, &self.meta);
    }

    /// Behind all that a slot did.
    fn now(&self, slot: u32) -> DeferredPosition {
        self.slots[slot as usize].event_index.find(u64::MAX).unwrap_or_default().end()
    }

    /// Whether code of the program is at the top of a call context, or of a library that only passes calls on: what
    /// other code does may be in an order that no hook sees.
    fn is_seen(&mut self, slot: u32, context: u32) -> bool {
        let pc = self.slots[slot as usize].contexts.pc(context);
        self.sites.naming.has_hooks(pc)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Random uses: the last one of each slot is known.
    #[test]
    fn the_last_use_of_each_slot_is_known() {
        let mut seed = 9u64;
        let mut random = move |below: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % below
        };
        for _ in 0..200 {
            let mut life = Life::default();
            let mut expected: std::collections::BTreeMap<u32, u64> = Default::default();
            for sync_index in 0..random(60) {
                let used = Use { sync_index, slot: random(5) as u32, context: 0 };
                let is_new = expected.insert(used.slot, sync_index).is_none();
                assert_eq!(life.used_again(used), !is_new);
                if is_new {
                    life.used_first(used);
                }
            }
            let of = random(6) as u32;
            let mut found: Vec<(u32, u64)> = life.uses_of_others(of).map(|used| (used.slot, used.sync_index)).collect();
            found.sort_unstable();
            expected.remove(&of);
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>());
        }
    }
}
