//! Class files, read and written back byte for byte, and the hooks that Foretrace weaves into them.
//!
//! * [`Class`]: a class file and its parts. What nothing changes comes out as it was.
//! * [`Code`]: a method's code, with what is woven in around its instructions ([`Edit`]).
//! * [`weave`]: the hooks; [`thread()`]: those of threads.
//! * [`weave_offline`]: the same before classes are loaded; [`Prepared`]: what becomes of these when they are; [`inert()`]: the hooks that they have until then.
//! * [`Choice`]: which classes; [`Program`]: what they know of each other.
//! * [`Constants`]: what instructions name; new ones go behind the old.
//!
//! There is no crate for this: those that write class files compute frames anew or lose some. Here nothing is computed, and nothing understood that is not needed.

mod bytes;
pub mod class;
mod class_filter;
mod code;
mod constants;
mod descriptor;
mod emit;
mod error;
mod hooks;
mod inert;
mod instruction;
mod offline;
mod program;

pub use class::{Attribute, Class, Member};
pub use class_filter::ClassFilter;
pub use code::{Caught, Code, Edit, Guard};
pub use constants::{Constants, Named};
pub use error::{Error, Result};
pub use hooks::{
    ADDED, CELL, CELL_WORDS, Call, Calls, ClassContext, ClassInfo, Condition, EFFECT_KINDS, Effect, HOOKS, Inside,
    InsideRow, Mark, ORDERS, Operand, PLAIN, Row, Site, SiteKind, THREAD_STATE, Target, Value, WATCHED, Woven,
    has_cell, thread, weave, weave_inside,
};
pub use inert::{inert, inert_name, is_inert_name};
pub use instruction::{Instruction, opcode};
pub use offline::{ATTRIBUTE, OfflineClass, package, version, weave_offline};
pub use program::Program;
