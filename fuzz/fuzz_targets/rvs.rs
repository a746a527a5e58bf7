//! Specifications: the parser, the checker, the printer and the monitors' compiler.
#![no_main]

use property::check::{Settings, check_file, explain};
use property::syntax::{Loader, render};
use std::path::Path;

struct Bytes<'a>(&'a [u8]);

impl Loader for Bytes<'_> {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        if path == "main.rvs" { Ok(self.0.to_vec()) } else { Err("there is only one file".into()) }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let checked = check_file("main.rvs", &Bytes(bytes));
    let _ = render(&checked.diagnostics, &checked.sources, false);
    for spec in &checked.specs {
        for property in &spec.properties {
            let _ = explain(spec, property);
            // A user-defined logic would start a process.
            if !matches!(property.logic, property::check::Logic::Logic { .. }) {
                let _ = property::compile::compile(property, &Settings::default(), Path::new(""));
            }
        }
    }
});
