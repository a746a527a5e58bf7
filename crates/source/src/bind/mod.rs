//! From the names in a specification to where they are: variables and their parts, and functions.

mod code;
mod entries;
mod functions;
mod libraries;
mod variables;

use crate::Error;
use crate::dwarf::Die;
use crate::dwarf::types::ValueKind;
use crate::nearest::nearest;
use crate::program::{Called, DebugVariable, Program};
pub use code::ModuleCode;
pub use entries::Entry;
use std::path::{Path, PathBuf};

/// A variable, or a part of one, that a name was bound to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The file it is in.
    pub module: PathBuf,
    /// Its address in that file (an ELF virtual address), or how far it is into each thread's copy if it is
    /// thread-local.
    pub address: u64,
    /// How many bytes it has.
    pub size: u64,
    /// What they mean.
    pub kind: ValueKind,
    /// Of a bit-field: its first bit, counted from the lowest of the first byte, and how many bits.
    pub bits: Option<(u64, u64)>,
    /// Whether each thread has its own.
    pub tls: bool,
    /// The name in full, as reports show it.
    pub name: String,
}

/// Some code of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CodeSpan {
    /// The first address.
    pub low: u64,
    /// The address behind the last one.
    pub high: u64,
    /// Whether it is inlined into another function.
    pub inlined: bool,
}

/// A function that a name was bound to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoundFunction {
    /// The file it is in.
    pub module: PathBuf,
    /// The name in full.
    pub name: String,
    /// All of its code in that file: out of line, in parts and clones, and inlined. Of overloaded functions, all.
    pub code: Vec<CodeSpan>,
    /// If the name is that of overloaded functions: all of them, with their parameters.
    pub overloads: Vec<String>,
    /// Whether the compiler says that it has inlined some of its calls. Nothing else may be left of these.
    pub inlined: bool,
}

/// Why a name could not be bound.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{why}{}", offers(nearest))]
pub struct NotBound {
    /// In words.
    pub why: String,
    /// Names that were perhaps meant; if several things have the name, all of them.
    pub nearest: Vec<String>,
}

fn offers(names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("; did you mean {}?", names.join(", ")) }
}

/// A function's code under one name.
#[derive(Clone)]
struct FunctionEntry {
    program: usize,
    called: Called,
    code: CodeSpan,
    /// Its entry of the debug information, if there is one.
    die: Option<Die>,
}

/// A variable under its name.
struct VariableEntry {
    program: usize,
    called: Called,
    what: What,
}

/// Where a variable is known from.
enum What {
    Debug(DebugVariable),
    Symbol { address: u64, size: u64, tls: bool },
}

/// Finds variables and functions by name in a program, and in those libraries it needs that lie beside it or where it
/// says (`rpath`); libraries of the system are not searched.
pub struct Binder {
    programs: Vec<Program>,
    variables: Option<Vec<VariableEntry>>,
    functions: Option<Vec<FunctionEntry>>,
}

/// How many bytes the names of one kind may take together.
const MAX_NAMES: usize = 256 << 20;

impl Binder {
    /// Opens a program.
    pub fn open(path: &Path) -> Result<Binder, Error> {
        let program = Program::open(path)?;
        let mut programs = vec![program];
        libraries::open_needed(&mut programs);
        Ok(Binder { programs, variables: None, functions: None })
    }

    /// The files that are searched: the program, then libraries.
    pub fn modules(&self) -> impl Iterator<Item = &Path> {
        self.programs.iter().map(|program| program.image.path.as_path())
    }

    /// Whether the program itself has debug information.
    pub fn has_debug_information(&self) -> bool {
        self.programs[0].debug.is_some()
    }

    fn without_debug(&self) -> &'static str {
        if self.has_debug_information() { "" } else { " (it has no debug information: compile with -g)" }
    }

    fn program_name(&self) -> String {
        self.programs[0].image.path.display().to_string()
    }
}

/// A query: the file, if it names one, and the rest.
fn split_file(query: &str) -> (Option<&str>, &str) {
    let bytes = query.as_bytes();
    let single = |at: &usize| {
        bytes[*at] == b':' && bytes.get(at + 1) != Some(&b':') && at.checked_sub(1).is_none_or(|k| bytes[k] != b':')
    };
    match (0..bytes.len()).find(single) {
        Some(at) => (Some(&query[..at]), &query[at + 1..]),
        None => (None, query),
    }
}

/// Whether a file of the program is the one a query names: its path, or the end of it.
fn is_file(path: &str, wanted: &str) -> bool {
    path.strip_suffix(wanted).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// The error for a name that several things have.
fn ambiguous(query: &str, called: impl Iterator<Item = Called>) -> NotBound {
    let mut all: Vec<Called> = called.collect();
    all.sort();
    all.dedup();
    let short: Vec<String> = all.iter().map(Called::short).collect();
    let distinct = short.iter().all(|name| short.iter().filter(|other| *other == name).count() == 1);
    let nearest = if distinct { short } else { all.iter().map(Called::long).collect() };
    NotBound { why: format!("`{query}` is the name of several"), nearest }
}
