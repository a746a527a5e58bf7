//! Names from the symbols and the debug information of the files that a process has loaded.

use crate::naming::{Frame, Mapped, Naming, Object};
use event::Made;
use source::{GlobalName, Modules, Symbolizer};
use std::collections::HashMap;
use std::path::PathBuf;

/// Elements of an array have names of their own if they have this many bytes: smaller ones are mostly accessed several
/// at a time.
const ELEMENT: u64 = 4;

/// Libraries whose functions on threads only pass calls on, so that their callers say who acts.
const PASSES_ON: [&str; 2] = ["libstdc++.so", "libc++.so"];

/// How far the stack of the first thread may grow below where it began.
const FIRST_STACK: u64 = 64 << 20;

/// Names of one process, looked up when they are needed.
pub struct Symbols {
    symbolizer: Symbolizer,
    /// The address above the first thread's stack.
    stack_end: u64,
    /// Whether files have hooks, as far as that was asked.
    hooked: HashMap<PathBuf, bool>,
}

impl Default for Symbols {
    fn default() -> Self {
        Symbols { symbolizer: Symbolizer::new(Modules::default()), stack_end: 0, hooked: HashMap::new() }
    }
}

impl Naming for Symbols {
    fn maps(&mut self, text: &[u8]) {
        let text = String::from_utf8_lossy(text);
        self.symbolizer.add_maps(&text);
        let stack = text.lines().find(|line| line.ends_with("[stack]"));
        let end = stack.and_then(|line| line.split_once(' ')?.0.split_once('-'));
        if let Some(end) = end.and_then(|(_, end)| u64::from_str_radix(end, 16).ok()) {
            self.stack_end = end;
        }
    }

    fn frames(&mut self, return_address: u64) -> Vec<Frame> {
        let modules = self.symbolizer.modules();
        let module = modules.find(return_address.wrapping_sub(1)).and_then(|(id, _)| modules.get(id));
        // The first module is the program.
        let library = module.filter(|module| modules.list().first() != Some(*module));
        let library =
            library.and_then(|module| module.path.file_name()).map(|name| name.to_string_lossy().into_owned());
        let frames = self.symbolizer.frames(return_address).iter();
        frames.map(|frame| Frame { site: site(frame), library: library.clone() }).collect()
    }

    fn object(&mut self, address: u64, size: u64) -> Option<Object> {
        let Some(found) = self.symbolizer.object_at(address) else {
            // Without a name of its own, such as the text of a string: where it is in its file.
            let (id, address) = self.symbolizer.modules().find(address)?;
            let path = &self.symbolizer.modules().get(id)?.path;
            let file = path.file_name()?.to_string_lossy();
            return Some(Object {
                name: format!("{file}+{address:#x}"),
                site: String::new(),
                kept: String::new(),
                made: Made::Global,
                size: 0,
            });
        };
        let name = match self.last_element(&found, address, size) {
            Some(last) => last,
            None if found.offset == 0 => found.name,
            None => format!("{}+{}", found.name, found.offset),
        };
        Some(Object { name, site: String::new(), kept: String::new(), made: Made::Global, size: found.size })
    }

    fn whole(&mut self, address: u64) -> Option<String> {
        self.symbolizer.whole_at(address)
    }

    fn cuts(&mut self, address: u64) -> u8 {
        if !self.knows(address) {
            return 0;
        }
        let ends = (self.symbolizer.object_at(address), self.symbolizer.object_at(address + 7));
        if let (Some(first), Some(last)) = &ends
            && (first.name == last.name || are_small(first, last))
        {
            return 0;
        }
        let mut cuts = 0;
        let mut before = ends.0;
        for byte in 1..8 {
            let found = self.symbolizer.object_at(address + byte);
            if let Some(found) = &found
                && found.offset == 0
                && !before.is_some_and(|before| before.bits && found.bits || are_small(&before, found))
            {
                cuts |= 1 << byte;
            }
            before = found;
        }
        cuts
    }

    fn knows(&self, address: u64) -> bool {
        self.symbolizer.modules().find(address).is_some()
    }

    fn has_hooks(&mut self, address: u64) -> bool {
        let modules = self.symbolizer.modules();
        let Some(module) = modules.find(address).and_then(|(id, _)| modules.get(id)) else { return false };
        if let Some(&known) = self.hooked.get(&module.path) {
            return known;
        }
        let name = module.path.file_name().unwrap_or_default().to_string_lossy();
        let has_hooks = PASSES_ON.iter().any(|library| name.starts_with(library))
            || source::has_hooks(&module.path).unwrap_or(false);
        self.hooked.insert(module.path.clone(), has_hooks);
        has_hooks
    }

    fn modules(&self) -> Vec<Mapped> {
        let module = |module: &source::Module| Mapped {
            path: module.path.to_string_lossy().into_owned(),
            build_id: String::new(),
            base: module.base,
            size: module.range.1.saturating_sub(module.range.0),
        };
        self.symbolizer.modules().list().iter().map(module).collect()
    }

    fn is_first_stack(&self, address: u64) -> bool {
        address < self.stack_end && self.stack_end - address <= FIRST_STACK
    }
}

impl Symbols {
    /// The name of several small elements of an array: `text[8..15]`.
    fn last_element(&mut self, first: &GlobalName, address: u64, size: u64) -> Option<String> {
        if first.size == 0 || first.offset + size <= first.size {
            return None;
        }
        let last = self.symbolizer.object_at(address + size - 1)?;
        let (_, index) = element(&last)?;
        let (array, from) = element(first)?;
        are_small(first, &last).then(|| format!("{array}[{from}..{index}]"))
    }
}

/// The array and the index, if a part of a variable is an element.
fn element(part: &GlobalName) -> Option<(&str, &str)> {
    part.name.strip_suffix(']')?.rsplit_once('[')
}

/// Whether two parts are small elements of one array.
fn are_small(one: &GlobalName, other: &GlobalName) -> bool {
    let (a, b) = (element(one), element(other));
    a.is_some() && a.map(|(array, _)| array) == b.map(|(array, _)| array) && one.size < ELEMENT
}

/// A site as `docs/traces.md` defines it: `!` before code that is not the project's, the function, the file and the
/// line. The file is named with its folders, as long as that leaves no doubt where the function ends, and there is one:
/// without a function the file is who a finding is, wherever it lies.
fn site(frame: &source::Frame) -> String {
    let mark = if frame.system { "!" } else { "" };
    let is_plain = !frame.function.is_empty() && !frame.file.contains(char::is_whitespace);
    let name = frame.file.rsplit('/').next().unwrap_or_default();
    let file = if is_plain { frame.file.as_str() } else { name };
    match (file, frame.line) {
        ("", _) => format!("{mark}{}", frame.function),
        (file, 0) => format!("{mark}{} {file}", frame.function),
        (file, line) => format!("{mark}{} {file}:{line}", frame.function),
    }
}

#[cfg(test)]
mod tests {
    use super::site;

    #[test]
    fn sites_name_files_with_their_folders() {
        let frame = |function: &str, file: &str, line, system| {
            site(&source::Frame { function: function.to_owned(), file: file.to_owned(), line, system })
        };
        assert_eq!(frame("deposit", "/home/me/bank/bank.c", 17, false), "deposit /home/me/bank/bank.c:17");
        assert_eq!(frame("memcpy", "", 0, true), "!memcpy");
        assert_eq!(frame("f", "/my files/a.c", 3, false), "f a.c:3");
        assert_eq!(frame("", "/home/me/a.c", 3, false), " a.c:3");
    }
}
