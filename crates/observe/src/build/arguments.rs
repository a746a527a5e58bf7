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
            of if of == ValueOf::Object as u8 => {
                let name = self.describe(word, 1).0;
                self.string(&name)
            }
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
