//! One file with all that is known of it: what its addresses are called, from debug information or from symbols.

use crate::Error;
use crate::demangle::{demangle, without_suffix};
use crate::dwarf::{Debug, Die, Function, Location, Variable};
use crate::image::Image;
use crate::path;
use crate::symbols::Kind;
use std::cmp::Reverse;
use std::path::Path;
use std::sync::Arc;

/// The variable that an address is part of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GlobalName {
    /// Its name and the way to the part: `landing`, `file.c:counter`, `table[3].count`.
    pub name: String,
    /// How far into that part the address is.
    pub offset: u64,
    /// How many bytes that part has; 0 if it is unknown.
    pub size: u64,
    /// Whether each thread has its own.
    pub tls: bool,
    /// Whether that part is a bit-field: others may have a part in its bytes.
    pub bits: bool,
}

/// A variable of the debug information.
#[derive(Clone, Debug)]
pub(crate) struct DebugVariable {
    pub(crate) die: Die,
    pub(crate) place: Location,
    pub(crate) function: Option<Die>,
    pub(crate) type_of: Option<Die>,
    size: u64,
}

impl DebugVariable {
    fn address(&self, tls: bool) -> Option<u64> {
        match self.place {
            Location::Static(address) if !tls => Some(address),
            Location::ThreadLocal(offset) if tls => Some(offset),
            _ => None,
        }
    }
}

/// What a variable or function is called.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Called {
    /// The source file, if only it knows the name.
    pub(crate) file: Option<String>,
    pub(crate) name: String,
}

impl Called {
    /// How much memory its text takes.
    pub(crate) fn bytes(&self) -> usize {
        self.name.len() + self.file.as_ref().map_or(0, String::len)
    }

    /// With the file's name alone, without its folders.
    pub(crate) fn short(&self) -> String {
        match &self.file {
            Some(file) => format!("{}:{}", file.rsplit('/').next().unwrap_or(file), self.name),
            None => self.name.clone(),
        }
    }

    /// With the file as the compiler was given it.
    pub(crate) fn long(&self) -> String {
        self.file.as_ref().map_or_else(|| self.name.clone(), |file| format!("{file}:{}", self.name))
    }
}

/// A program or library.
pub(crate) struct Program {
    pub(crate) image: Image,
    pub(crate) debug: Option<Debug>,
    /// Its variables by address: static ones, then thread-local ones, then those that are gone.
    variables: Option<Arc<Vec<DebugVariable>>>,
}

impl Program {
    pub(crate) fn open(path: &Path) -> Result<Program, Error> {
        let mut image = Image::read(path)?.with_separate_debug();
        let debug = Debug::take(&mut image);
        Ok(Program { image, debug, variables: None })
    }

    /// All variables of the debug information, each place once.
    pub(crate) fn variables(&mut self) -> Arc<Vec<DebugVariable>> {
        if let Some(known) = &self.variables {
            return Arc::clone(known);
        }
        let mut all = Vec::new();
        if let Some(debug) = &mut self.debug {
            for unit in 0..debug.unit_count() {
                let survey = debug.survey(unit);
                all.extend(survey.variables.iter().map(|variable| known(debug, unit, variable)));
            }
        }
        let order = |v: &DebugVariable| match v.place {
            Location::Static(address) => (0, address),
            Location::ThreadLocal(offset) => (1, offset),
            Location::Gone => (2, 0),
        };
        all.sort_by_key(|v| (order(v), Reverse(v.size), v.die));
        // An inlined function's static variable has an entry for each copy of the function.
        all.dedup_by(|b, a| a.place == b.place && a.size == b.size && a.place != Location::Gone);
        let all = Arc::new(all);
        self.variables = Some(Arc::clone(&all));
        all
    }

    /// What a variable is called.
    pub(crate) fn called(&mut self, variable: &DebugVariable) -> Option<Called> {
        let debug = self.debug.as_mut()?;
        let linked = debug.linked(variable.die);
        if linked.name.is_empty() {
            return None;
        }
        let origin = linked.origin.unwrap_or(variable.die);
        if linked.rust {
            return Some(Called { file: None, name: linked.qualified.clone().unwrap_or_else(|| linked.name.clone()) });
        }
        let file = Some(debug.unit_file(origin.unit)).filter(|file| !file.is_empty());
        if let Some(function) = variable.function {
            let function = debug.linked(function);
            let around = function.qualified.as_ref().unwrap_or(&function.name);
            return Some(Called { file, name: format!("{around}.{}", linked.name) });
        }
        let name = linked.qualified.clone().unwrap_or_else(|| linked.name.clone());
        Some(Called { file: file.filter(|_| !linked.external), name })
    }

    /// What a function, or a copy of it, is called.
    pub(crate) fn function_called(&mut self, die: Die) -> Option<Called> {
        let debug = self.debug.as_mut()?;
        let linked = debug.linked(die);
        let name = linked.qualified.clone().unwrap_or_else(|| linked.name.clone());
        let file = debug.unit_file(linked.origin.unwrap_or(die).unit);
        let file = Some(file).filter(|file| !linked.external && !linked.rust && !file.is_empty());
        (!name.is_empty()).then_some(Called { file, name })
    }

    /// Calls `f` with every piece of code of the debug information.
    pub(crate) fn each_function(
        &mut self,
        mut f: impl FnMut(&mut Program, Die, &Function, &mut dyn Iterator<Item = (u64, u64)>),
    ) {
        let units = self.debug.as_ref().map_or(0, Debug::unit_count);
        for unit in 0..units {
            let Some(debug) = &mut self.debug else { return };
            let survey = debug.survey(unit);
            let mut ranges: Vec<_> = survey.ranges.iter().map(|r| (r.function, r.low, r.high)).collect();
            ranges.sort_unstable();
            let mut at = 0;
            for (k, function) in survey.functions.iter().enumerate() {
                let from = at;
                while ranges.get(at).is_some_and(|r| r.0 as usize == k) {
                    at += 1;
                }
                f(self, Die { unit, offset: function.die }, function, &mut ranges[from..at].iter().map(|r| (r.1, r.2)));
            }
        }
    }

    /// The variable at an address of the file, or so far into a thread's copy of its thread-local variables.
    pub(crate) fn object(&mut self, address: u64, tls: bool) -> Option<GlobalName> {
        self.object_by_debug(address, tls).or_else(|| self.object_by_symbol(address, tls))
    }

    fn object_by_debug(&mut self, address: u64, tls: bool) -> Option<GlobalName> {
        // One variable may lie in another only by a linker's trick; a few steps back are enough.
        const STEPS: usize = 16;
        let all = self.variables();
        let key = |v: &DebugVariable| match v.place {
            Location::Static(address) => (0, address),
            Location::ThreadLocal(offset) => (1, offset),
            Location::Gone => (2, 0),
        };
        let after = all.partition_point(|v| key(v) <= (u8::from(tls), address));
        for variable in all[..after].iter().rev().take(STEPS) {
            let Some(start) = variable.address(tls) else { break };
            let symbol = || self.image.symbols.at(start, &[kind(tls)]).filter(|s| s.address == start).map(|s| s.size);
            let size = if variable.size == 0 { symbol().unwrap_or(0) } else { variable.size };
            if address - start >= size.max(1) {
                continue;
            }
            let Some(called) = self.called(variable) else { continue };
            let debug = self.debug.as_mut()?;
            let leaf = path::leaf(debug, variable.type_of, address - start);
            let name = called.short() + &leaf.path;
            let size = if leaf.path.is_empty() && leaf.size == 0 { size } else { leaf.size };
            return Some(GlobalName { name, offset: leaf.offset, size, tls, bits: leaf.bits });
        }
        None
    }

    fn object_by_symbol(&self, address: u64, tls: bool) -> Option<GlobalName> {
        let symbols = &self.image.symbols;
        let symbol = symbols.at(address, &[kind(tls)])?;
        let name = demangle(symbols.name(symbol));
        let file = symbols.file(symbol);
        let name = if file.is_empty() { name } else { format!("{file}:{name}") };
        Some(GlobalName { name, offset: address - symbol.address, size: symbol.size, tls, bits: false })
    }

    /// The function whose symbol contains an address.
    pub(crate) fn function_by_symbol(&self, address: u64) -> Option<String> {
        let symbols = &self.image.symbols;
        symbols.at(address, &[Kind::Function]).map(|symbol| demangle(symbols.name(symbol)))
    }

    /// Whether the file itself defines a symbol, of a variable, with that name; and where.
    pub(crate) fn variable_symbol(&self, name: &str) -> Option<u64> {
        let symbols = &self.image.symbols;
        let found =
            symbols.iter().find(|s| s.kind == Kind::Variable && !s.local && without_suffix(symbols.name(s)) == name);
        found.map(|s| s.address)
    }
}

fn known(debug: &mut Debug, unit: usize, variable: &Variable) -> DebugVariable {
    let die = Die { unit, offset: variable.die };
    let type_of = debug.linked(die).type_of;
    let function = variable.function.map(|offset| Die { unit, offset });
    let size = debug.size_of(type_of);
    DebugVariable { die, place: variable.place, function, type_of, size }
}

fn kind(tls: bool) -> Kind {
    if tls { Kind::ThreadLocal } else { Kind::Variable }
}
