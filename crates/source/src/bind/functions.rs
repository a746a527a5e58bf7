//! Functions by name.

use super::{
    Binder, BoundFunction, CodeSpan, FunctionEntry, MAX_NAMES, NotBound, ambiguous, is_file, nearest, split_file,
};
use crate::demangle::demangle;
use crate::program::{Called, Program};
use crate::symbols::Kind;

impl Binder {
    /// Binds `transfer`, `Bank::transfer`, `file.c:transfer`. A static function needs no file if it is the only one of
    /// its name.
    pub fn function(&mut self, query: &str) -> Result<BoundFunction, NotBound> {
        self.index_functions();
        let found = self.matching_functions(query.trim())?;
        let first = found[0];
        let mut code: Vec<CodeSpan> = found.iter().map(|entry| entry.code).collect();
        code.sort_unstable();
        code.dedup();
        let module = self.programs[first.program].image.path.clone();
        Ok(BoundFunction { module, name: first.called.short(), code })
    }

    /// All code of the function that a query means, which is there and of one program. Functions have been indexed.
    pub(super) fn matching_functions(&self, query: &str) -> Result<Vec<&FunctionEntry>, NotBound> {
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
        Ok(found)
    }

    pub(super) fn index_functions(&mut self) {
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
