//! The values of internal events: each comes in a record of its own before the event.

use super::Build;
use crate::decode::aux;
use event::{Space, StrId, Value};
use runtime::record::ValueOf;

/// More values are not kept.
const MAX_ARGUMENTS: usize = 255;

impl Build {
    /// A value of the next internal event of a slot.
    pub(super) fn argument_record(&mut self, slot: u32, record: &[u64]) {
        let word = record[1];
        let value = match aux(record[0]) {
            of if of == ValueOf::Int as u8 => Value::Int(word as i64),
            of if of == ValueOf::Bool as u8 => Value::Bool(word & 1 == 1),
            of if of == ValueOf::Real as u8 => Value::Real(f64::from_bits(word)),
            of if of == ValueOf::Object as u8 => self.object_value(word),
            of if of == ValueOf::Lock as u8 => match self.lock(word) {
                Some(lock) => {
                    let name = self.names.get(Space::Lock, lock.0).to_owned();
                    self.string(&name)
                }
                None => Value::Unknown,
            },
            of if of == ValueOf::Thread as u8 => self.thread_value(word),
            _ => Value::Unknown,
        };
        self.argument(slot, value);
    }

    /// Keeps a value for the next internal event of a slot.
    pub(super) fn argument(&mut self, slot: u32, value: Value) {
        let arguments = &mut self.slot(slot).arguments;
        if arguments.len() < MAX_ARGUMENTS {
            arguments.push(value);
        }
    }

    /// What a pointer points to. The memory of a stack is not distinguished from what was there before, so what lies
    /// there is not known.
    fn object_value(&mut self, address: u64) -> Value {
        if address == 0 || self.stack_owner(address).is_some() {
            return Value::Unknown;
        }
        let is_given = self.given.contains_key(&address);
        let name = match self.sites.naming.whole(address).filter(|_| !is_given) {
            Some(name) => name,
            None => self.describe(address, 1).0,
        };
        self.string(&name)
    }

    /// A text as a value; not known if there are too many texts.
    pub(super) fn string(&mut self, text: &str) -> Value {
        self.names.add(Space::Str, text).map_or(Value::Unknown, |id| Value::Str(StrId(id)))
    }

    /// The name of a thread, as `Fork` records mean it.
    fn thread_value(&mut self, word: u64) -> Value {
        let (slot, generation) = self.child(word);
        let state = usize::try_from(slot).ok().and_then(|slot| self.slots.get(slot));
        let Some(thread) = state.and_then(|state| state.generations.get(&generation).copied().or(state.thread)) else {
            return Value::Unknown;
        };
        let name = self.names.thread(thread).to_owned();
        self.string(&name)
    }
}
