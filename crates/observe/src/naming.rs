//! Names of the addresses of a process: the interface, and names by file and offset.

use event::Made;
use std::fmt::Write as _;

/// A function call at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The site as reports show it: `function file.c:12`.
    pub site: String,
    /// The name of the shared library's file that the code is in, if it is one.
    pub library: Option<String>,
}

/// Something of the program at an address.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its name: `account.balance`, `file.c:count`.
    pub name: String,
    /// Where it is defined, or was made, if that is known: `file.c:12`.
    pub site: String,
    /// The field in which it was put where it was made, if that is known: `Desk.lock`.
    pub kept: String,
    /// How it came to be.
    pub made: Made,
    /// Its size; 0 if that is not known.
    pub size: u64,
}

/// A loaded file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mapped {
    /// Its path.
    pub path: String,
    /// Its build id in hexadecimal, or nothing.
    pub build_id: String,
    /// Where it is loaded.
    pub base: u64,
    /// How many bytes it takes.
    pub size: u64,
}

/// Names the addresses of one process.
pub trait Naming: Send {
    /// Takes a copy of `/proc/PID/maps`. More may follow, when libraries were loaded; what an earlier one said stays
    /// true.
    fn maps(&mut self, text: &[u8]);
    /// The calls at a return address, innermost first: more than one where functions were inlined.
    fn frames(&mut self, return_address: u64) -> Vec<Frame>;
    /// The variable that covers these bytes.
    fn object(&mut self, address: u64, size: u64) -> Option<Object>;
    /// The name of the largest variable, or part of one, that begins at an address and is no array.
    fn whole(&mut self, _address: u64) -> Option<String> {
        None
    }
    /// The bytes among the eight from an address on with which another variable, or part of one, begins.
    fn cuts(&mut self, _address: u64) -> u8 {
        0
    }
    /// Whether an address lies in one of the files.
    fn knows(&self, address: u64) -> bool;
    /// Whether the code at an address was compiled with the hooks of ThreadSanitizer, or only passes calls on to such
    /// code's libraries (the C++ library's).
    fn has_hooks(&mut self, _address: u64) -> bool {
        true
    }
    /// The files that the maps named.
    fn modules(&self) -> Vec<Mapped>;
    /// Whether an address lies in the stack of the first thread.
    fn is_first_stack(&self, address: u64) -> bool;
    /// The caller's context and the address of a call context, if contexts are defined here and not by records.
    fn context(&mut self, _number: u32) -> Option<(u32, u64)> {
        None
    }
    /// Notes of the agent that came with the names.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Names by file and offset alone.
#[derive(Default)]
pub struct Offsets {
    ranges: Vec<Range>,
}

struct Range {
    begin: u64,
    end: u64,
    offset: u64,
    path: String,
}

impl Offsets {
    fn at(&self, address: u64) -> Option<&Range> {
        self.ranges.iter().rev().find(|range| range.begin <= address && address < range.end)
    }

    fn name(&self, address: u64) -> Option<String> {
        let range = self.at(address).filter(|range| range.path.starts_with('/'))?;
        let file = range.path.rsplit('/').next().unwrap_or_default();
        let mut name = file.to_owned();
        let _ = write!(name, "+{:#x}", address - range.begin + range.offset);
        Some(name)
    }
}

impl Naming for Offsets {
    fn maps(&mut self, text: &[u8]) {
        for line in String::from_utf8_lossy(text).lines() {
            let mut fields = line.splitn(6, ' ');
            let (Some(range), Some(_), Some(offset)) = (fields.next(), fields.next(), fields.next()) else { continue };
            let Some((begin, end)) = range.split_once('-') else { continue };
            let number = |text| u64::from_str_radix(text, 16).ok();
            let (Some(begin), Some(end), Some(offset)) = (number(begin), number(end), number(offset)) else { continue };
            let path = fields.nth(2).unwrap_or_default().trim_start().to_owned();
            self.ranges.push(Range { begin, end, offset, path });
        }
    }

    fn frames(&mut self, return_address: u64) -> Vec<Frame> {
        let address = return_address.saturating_sub(1);
        let site = self.name(address).unwrap_or_else(|| format!("{address:#x}"));
        vec![Frame { site, library: None }]
    }

    fn object(&mut self, address: u64, _size: u64) -> Option<Object> {
        Some(Object {
            name: self.name(address)?,
            site: String::new(),
            kept: String::new(),
            made: Made::Global,
            size: 0,
        })
    }

    fn knows(&self, address: u64) -> bool {
        self.at(address).is_some_and(|range| range.path.starts_with('/'))
    }

    fn modules(&self) -> Vec<Mapped> {
        let mut modules: Vec<Mapped> = Vec::new();
        for range in self.ranges.iter().filter(|range| range.path.starts_with('/')) {
            match modules.iter_mut().find(|module| module.path == range.path) {
                Some(module) => module.size = module.size.max(range.end.saturating_sub(module.base)),
                None => modules.push(Mapped {
                    path: range.path.clone(),
                    build_id: String::new(),
                    base: range.begin.saturating_sub(range.offset),
                    size: range.end - range.begin,
                }),
            }
        }
        modules
    }

    fn is_first_stack(&self, address: u64) -> bool {
        self.at(address).is_some_and(|range| range.path == "[stack]")
    }
}
