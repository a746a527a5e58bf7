//! Names from the symbols and the debug information of the files that a process has loaded.

use crate::naming::{Frame, Mapped, Naming, Object};
use source::{Modules, Symbolizer};

/// How far the stack of the first thread may grow below where it began.
const FIRST_STACK: u64 = 64 << 20;

/// Names of one process, looked up when they are needed.
pub struct Symbols {
    symbolizer: Symbolizer,
    /// The address above the first thread's stack.
    stack_end: u64,
}

impl Default for Symbols {
    fn default() -> Self {
        Symbols { symbolizer: Symbolizer::new(Modules::default()), stack_end: 0 }
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
        self.symbolizer.frames(return_address).iter().map(|frame| Frame { site: site(frame) }).collect()
    }

    fn object(&mut self, address: u64, _size: u64) -> Option<Object> {
        let found = self.symbolizer.object_at(address)?;
        let name = if found.offset == 0 { found.name } else { format!("{}+{}", found.name, found.offset) };
        Some(Object { name, site: String::new(), size: found.size })
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

/// A place as `docs/traces.md` says: `!` before what is not the project's, the function, the file and the line.
fn site(frame: &source::Frame) -> String {
    let mark = if frame.system { "!" } else { "" };
    let file = frame.file.rsplit('/').next().unwrap_or_default();
    match (file, frame.line) {
        ("", _) => format!("{mark}{}", frame.function),
        (file, 0) => format!("{mark}{} {file}", frame.function),
        (file, line) => format!("{mark}{} {file}:{line}", frame.function),
    }
}
