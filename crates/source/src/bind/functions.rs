//! Functions by name.

use super::{
    Binder, BoundFunction, CodeSpan, FunctionEntry, MAX_NAMES, NotBound, ambiguous, is_file, nearest, split_file,
};
use crate::demangle::demangle;
use crate::program::{Called, Program};
use crate::signature;
use crate::symbols::Kind;

impl Binder {
    /// Binds `transfer`, `Bank::transfer`, `file.c:transfer`, `Bank::transfer(int)`. A static function needs no file if
    /// it is the only one of its name. Overloaded functions are all meant if their parameters are not named.
    pub fn function(&mut self, query: &str) -> Result<BoundFunction, NotBound> {
        let found = self.matching_functions(query)?;
        let first = &found[0];
        let mut code: Vec<CodeSpan> = found.iter().map(|entry| entry.code).collect();
        code.sort_unstable();
        code.dedup();
        let module = self.programs[first.program].image.path.clone();
        let mut overloads: Vec<String> = found.iter().map(|entry| self.with_parameters(entry)).collect();
        overloads.sort_unstable();
        overloads.dedup();
        if overloads.len() == 1 {
            overloads.clear();
        }
        let inlined = found.iter().any(|entry| {
            let debug = self.programs[entry.program].debug.as_mut();
            debug.zip(entry.die).is_some_and(|(debug, die)| debug.linked(die).inlined)
        });
        Ok(BoundFunction { module, name: first.called.short(), code, overloads, inlined })
    }

    /// All code of the function that a query means, which is there and of one program.
    pub(super) fn matching_functions(&mut self, query: &str) -> Result<Vec<FunctionEntry>, NotBound> {
        self.index_functions();
        let query = query.trim();
        let Some((name, parameters)) = signature::split(query) else { return self.functions_of_name(query) };
        let all = self.functions_of_name(name)?;
        let own: Vec<Option<String>> = all.iter().map(|entry| self.parameters_of(entry)).collect();
        for loosely in [false, true] {
            let is_it =
                |own: &Option<String>| own.as_deref().is_some_and(|own| signature::is_same(parameters, own, loosely));
            if own.iter().any(is_it) {
                return Ok(all.into_iter().zip(own).filter(|(_, own)| is_it(own)).map(|(entry, _)| entry).collect());
            }
        }
        let why = format!("no function `{query}` in {}{}", self.program_name(), self.without_debug());
        let mut nearest: Vec<String> = all.iter().map(|entry| self.with_parameters(entry)).collect();
        nearest.sort_unstable();
        nearest.dedup();
        Err(NotBound { why, nearest })
    }

    /// The name of some code, with the parameters of its function if that is of C++.
    fn with_parameters(&mut self, entry: &FunctionEntry) -> String {
        entry.called.short() + &self.parameters_of(entry).unwrap_or_default()
    }

    fn parameters_of(&mut self, entry: &FunctionEntry) -> Option<String> {
        let program = &mut self.programs[entry.program];
        let linked = program.debug.as_mut().zip(entry.die).map(|(debug, die)| debug.linked(die));
        let of_debug = linked.and_then(|linked| signature::of(linked.symbol.as_deref()?));
        of_debug.or_else(|| {
            let symbols = &program.image.symbols;
            let symbol = symbols.at(entry.code.low, &[Kind::Function]);
            let symbol = symbol.filter(|symbol| symbol.address == entry.code.low && !entry.code.inlined)?;
            signature::of(symbols.name(symbol))
        })
    }

    fn functions_of_name(&self, query: &str) -> Result<Vec<FunctionEntry>, NotBound> {
        let all = self.functions.as_deref().unwrap_or_default();
        let (file, name) = split_file(query);
        let fits = |entry: &&FunctionEntry| {
            let in_file = |wanted| entry.called.file.as_ref().is_some_and(|file| is_file(file, wanted));
            entry.called.name == name && file.is_none_or(in_file)
        };
        let mut found: Vec<&FunctionEntry> = all.iter().filter(fits).collect();
        if found.iter().any(|entry| entry.called.file.is_none()) {
            found.retain(|entry| entry.called.file.is_none());
        }
        let Some(first) = found.first().copied() else {
            let why = format!("no function `{query}` in {}{}", self.program_name(), self.without_debug());
            let names: Vec<String> = all.iter().map(|entry| entry.called.short()).collect();
            return Err(NotBound { why, nearest: nearest(query, names.iter().map(String::as_str)) });
        };
        found.retain(|entry| entry.program == first.program);
        if found.iter().any(|entry| entry.called != first.called) {
            return Err(ambiguous(query, found.iter().map(|entry| entry.called.clone())));
        }
        Ok(found.into_iter().cloned().collect())
    }

    fn index_functions(&mut self) {
        if self.functions.is_some() {
            return;
        }
        let mut all = Vec::new();
        let mut bytes = 0;
        for (program, file) in self.programs.iter_mut().enumerate() {
            file.each_function(|file, die, function, ranges| {
                let Some(called) = file.function_called(die) else { return };
                for (low, high) in ranges {
                    bytes += called.bytes();
                    if bytes <= MAX_NAMES {
                        let code = CodeSpan { low, high, inlined: function.depth > 0 };
                        all.push(FunctionEntry { program, called: called.clone(), code, die: Some(die) });
                    }
                }
            });
            if file.debug.is_none() {
                add_symbols(program, file, &mut all);
            }
        }
        self.functions = Some(all);
    }
}

fn add_symbols(program: usize, file: &Program, all: &mut Vec<FunctionEntry>) {
    let symbols = &file.image.symbols;
    let mut bytes = 0;
    for symbol in symbols.iter().filter(|s| s.kind == Kind::Function && s.size > 0) {
        let name = demangle(symbols.name(symbol));
        bytes += name.len();
        if name.is_empty() || bytes > MAX_NAMES {
            continue;
        }
        let source = symbols.file(symbol);
        let source = (symbol.local && !source.is_empty()).then(|| source.to_owned());
        let code = CodeSpan { low: symbol.address, high: symbol.address.saturating_add(symbol.size), inlined: false };
        all.push(FunctionEntry { program, called: Called { file: source, name }, code, die: None });
    }
}
