//! Reads and writes class files byte for byte, and weaves Foretrace's hooks into them.
//!
//! * [`Class`]: a class file and its parts. What nothing changes comes out as it was.
//! * [`Code`]: a method's code, with what is woven in around its instructions ([`Edit`]).
//! * [`weave`]: the hooks of a program's class; [`weave_inside`]: those of the JDK's classes; [`thread()`]: those of
//!   threads.
//! * [`weave_offline`]: weaves a class before it is loaded. [`OfflineClass`]: such a class, when it is loaded.
//!   [`inert()`]: the hooks that it calls without the agent.
//! * [`ClassFilter`]: which classes are watched. [`Program`]: what classes know of each other.
//! * [`Constants`]: what instructions name; new ones go after the old.
//!
//! There is no crate for this: those that write class files compute frames again, or lose some attributes. Here
//! nothing is computed, and only what must be is understood.

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
    ADDED, CELL, CELL_WORDS, Call, CallMark, Calls, ClassContext, ClassInfo, Condition, EFFECT_KINDS, Effect, Inside,
    InsideRow, Mark, MarkValue, ORDERS, Operand, PLAIN, Row, Site, SiteKind, THREAD_STATE, Target, Value, ValueSource,
    WATCHED, Woven, leaves_elements, thread, weave, weave_inside,
};
pub use inert::{inert, inert_name, is_inert_name};
pub use instruction::Instruction;
pub use offline::{ATTRIBUTE, OfflineClass, package, version, weave_offline};
pub use program::Program;
