//! Variables by name.

use super::{Binder, Bound, MAX_NAMES, NotBound, VariableEntry, What, ambiguous, is_file, nearest, split_file};
use crate::demangle::demangle;
use crate::dwarf::Location;
use crate::dwarf::types::ValueKind;
use crate::path;
use crate::program::{Called, DebugVariable, Program};
use crate::symbols::Kind;

impl Binder {
    /// Binds `landing`, `file.c:name`, `file.c:function.name`, `object.field`, `table[3].count`, `ns::name`. A static
    /// variable needs no file if it is the only one of its name.
    pub fn variable(&mut self, query: &str) -> Result<Bound, NotBound> {
        let query = query.trim();
        self.index_variables();
        let (found, rest) = self.matching(query)?;
        let entry = &self.variables.as_deref().unwrap_or_default()[found];
        let (program, called) = (entry.program, entry.called.clone());
        match &entry.what {
            What::Debug(known) => {
                let known = known.clone();
                self.bound(program, &called, &known, &query[query.len() - rest..])
            }
            What::Symbol { .. } if rest > 0 => Err(NotBound {
                why: format!("without debug information there are no parts of `{}` to be found", called.short()),
                nearest: vec![called.short()],
            }),
            What::Symbol { address, size, tls } => Ok(Bound {
                module: self.programs[program].image.path.clone(),
                address: *address,
                size: *size,
                kind: ValueKind::Unknown,
                bits: None,
                tls: *tls,
                name: called.short(),
            }),
        }
    }

    /// The names of all variables that can be bound, for messages.
    pub fn variable_names(&mut self) -> impl Iterator<Item = String> {
        self.index_variables();
        self.variables.as_deref().unwrap_or_default().iter().map(|entry| entry.called.short())
    }

    fn index_variables(&mut self) {
        if self.variables.is_some() {
            return;
        }
        let mut all = Vec::new();
        let mut bytes = 0;
        for (program, file) in self.programs.iter_mut().enumerate() {
            for variable in file.variables().iter() {
                let Some(called) = file.called(variable) else { continue };
                bytes += called.bytes();
                if bytes > MAX_NAMES {
                    break;
                }
                all.push(VariableEntry { program, called, what: What::Debug(variable.clone()) });
            }
            if file.debug.is_none() {
                add_symbols(program, file, &mut all);
            }
        }
        self.variables = Some(all);
    }

    /// The variable that a query means, and how many bytes of the query follow its name.
    fn matching(&self, query: &str) -> Result<(usize, usize), NotBound> {
        let all = self.variables.as_deref().unwrap_or_default();
        let (file, rest) = split_file(query);
        let mut found: Vec<(usize, usize)> = Vec::new();
        for (k, entry) in all.iter().enumerate() {
            let Some(after) = rest.strip_prefix(&entry.called.name) else { continue };
            let whole = after.is_empty() || after.starts_with(['.', '[']);
            let in_file =
                file.is_none_or(|wanted| entry.called.file.as_ref().is_some_and(|file| is_file(file, wanted)));
            if whole && in_file {
                found.push((k, after.len()));
            }
        }
        // The longest name that fits: `f.counter` is a local static variable of `f` before it is a field of a variable.
        let shortest = found.iter().map(|(_, after)| *after).min().unwrap_or(0);
        found.retain(|(_, after)| *after == shortest);
        prefer(&mut found, |k| !matches!(&all[k].what, What::Debug(DebugVariable { place: Location::Gone, .. })));
        prefer(&mut found, |k| all[k].called.file.is_none());
        // The program's own definition takes the place of a library's.
        let first = found.iter().map(|(k, _)| all[*k].program).min().unwrap_or(0);
        prefer(&mut found, |k| all[k].called.file.is_some() || all[k].program == first);
        if let [one] = found[..] {
            return Ok(one);
        }
        if found.is_empty() {
            let why = format!("no variable `{query}` in {}{}", self.program_name(), self.without_debug());
            let names: Vec<String> = all.iter().map(|entry| entry.called.short()).collect();
            let mut near = nearest(query, names.iter().map(String::as_str));
            if near.is_empty() {
                // The path may be right and the name wrong.
                let root = query.find(['.', '[']).filter(|_| file.is_none()).map_or(query, |end| &query[..end]);
                near = nearest(root, names.iter().map(String::as_str));
            }
            return Err(NotBound { why, nearest: near });
        }
        Err(ambiguous(query, found.iter().map(|(k, _)| all[*k].called.clone())))
    }

    fn bound(&mut self, program: usize, called: &Called, known: &DebugVariable, rest: &str) -> Result<Bound, NotBound> {
        let name = format!("{}{rest}", called.short());
        let (address, tls) = match known.place {
            Location::Static(address) => (address, false),
            Location::ThreadLocal(offset) => (offset, true),
            Location::Gone => {
                let why = format!("the compiler left no place in memory for `{}`", called.short());
                return Err(NotBound { why, nearest: Vec::new() });
            }
        };
        let not_there = || NotBound { why: format!("no debug information of `{name}`"), nearest: Vec::new() };
        let file = &mut self.programs[program];
        let debug = file.debug.as_mut().ok_or_else(not_there)?;
        let part = path::follow(debug, known.type_of, rest).map_err(|astray| {
            let names: Vec<String> = astray.instead.iter().map(|path| called.short() + path).collect();
            let near = nearest(&name, names.iter().map(String::as_str));
            let few = names.into_iter().take(5).collect();
            NotBound { why: format!("`{name}`: {}", astray.why), nearest: if near.is_empty() { few } else { near } }
        })?;
        let kind = debug.kind_of(part.type_of);
        let symbol = debug.linked(known.die);
        let module = file.image.path.clone();
        let mut bound = Bound {
            module,
            address: address.wrapping_add(part.offset),
            size: part.size,
            kind,
            bits: part.bits,
            tls,
            name,
        };
        if bound.size == 0 {
            let symbols = &file.image.symbols;
            let whole = symbols.at(address, &[Kind::Variable, Kind::ThreadLocal]).map_or(0, |s| s.size);
            bound.size = whole.saturating_sub(part.offset);
        }
        if program > 0 && !tls && called.file.is_none() {
            // A program at a fixed address keeps a library's variable in its own memory (a copy relocation).
            let own = symbol.symbol.as_ref().unwrap_or(&symbol.name);
            if let Some(copy) = self.programs[0].variable_symbol(own) {
                bound.module = self.programs[0].image.path.clone();
                bound.address = copy.wrapping_add(part.offset);
            }
        }
        Ok(bound)
    }
}

/// Keeps those that are preferred, if there are any.
fn prefer(found: &mut Vec<(usize, usize)>, better: impl Fn(usize) -> bool) {
    if found.iter().any(|(k, _)| better(*k)) {
        found.retain(|(k, _)| better(*k));
    }
}

fn add_symbols(program: usize, file: &Program, all: &mut Vec<VariableEntry>) {
    let symbols = &file.image.symbols;
    let mut bytes = 0;
    for symbol in symbols.iter().filter(|s| s.kind != Kind::Function) {
        let name = demangle(symbols.name(symbol));
        bytes += name.len();
        if name.is_empty() || bytes > MAX_NAMES {
            continue;
        }
        let source = symbols.file(symbol);
        let source = (symbol.local && !source.is_empty()).then(|| source.to_owned());
        let (address, size, tls) = (symbol.address, symbol.size, symbol.kind == Kind::ThreadLocal);
        let what = What::Symbol { address, size, tls };
        all.push(VariableEntry { program, called: Called { file: source, name }, what });
    }
}
