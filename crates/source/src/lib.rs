//! Addresses of native programs to names, and names to addresses.
//!
//! [`maps::parse`] says which file lies where in a running program; a [`Symbolizer`] says what is at an address of it:
//! functions with their inlined calls, files and lines, and the parts of variables. A [`Binder`] goes the other way,
//! from `file.c:table[3].count` to where that is. [`kind`] says how a program can be watched.
//!
//! Everything is read from ELF files and their DWARF, of which nothing is believed: what is wrong with one is an
//! [`Error`] that names it or makes names poorer, and [`limits`] bound what it can cost.

mod bind;
mod demangle;
mod dwarf;
mod error;
mod headers;
mod heap;
mod image;
pub mod limits;
pub mod maps;
mod nearest;
mod path;
mod program;
mod signature;
mod statement;
mod symbolizer;
mod symbols;
mod system;
mod watched;

pub use bind::{Binder, Bound, BoundFunction, CodeSpan, Entry, ModuleCode, NotBound};
pub use demangle::demangle;
pub use dwarf::parameters::{Parameter, Place};
pub use dwarf::types::ValueKind;
pub use error::Error;
pub use heap::{Heap, Made};
pub use maps::{Module, ModuleId, Modules};
pub use nearest::nearest;
pub use program::GlobalName;
pub use symbolizer::{Frame, Symbolizer};
pub use system::is_system_module;
pub use watched::{Watched, has_hooks, kind};
