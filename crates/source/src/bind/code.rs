//! The code of a place that a report names: a line of a file, or an offset in a module.

use super::{Binder, is_file};
use std::path::PathBuf;

/// Some code of a module.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ModuleCode {
    /// The file that it is in.
    pub module: PathBuf,
    /// The first address, in that file.
    pub low: u64,
    /// The address behind the last one.
    pub high: u64,
}

impl Binder {
    /// All code of a place as a [`Frame`](crate::Frame) gives it: `bank.c:17`, with any part of the path before, or
    /// `bank+0x12ab`. Nothing if no module has it.
    pub fn code_of(&mut self, place: &str) -> Vec<ModuleCode> {
        let mut found = Vec::new();
        let line = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
        let offset =
            place.rsplit_once("+0x").and_then(|(module, hex)| Some((module, u64::from_str_radix(hex, 16).ok()?)));
        for program in &mut self.programs {
            let module = program.image.path.clone();
            let add = |(low, high)| ModuleCode { module: module.clone(), low, high };
            if let Some((name, address)) = offset {
                // A frame of a call is named by the address to which it returns.
                let is_it = module.file_name().is_some_and(|file| file == name) && address > 0;
                found.extend(is_it.then(|| add((address - 1, address))));
            } else if let (Some((file, line)), Some(debug)) = (line, &mut program.debug) {
                found.extend(debug.code_of_line(line, |path| is_file(path, file)).into_iter().map(add));
            }
        }
        found.sort();
        found.dedup();
        found
    }
}
