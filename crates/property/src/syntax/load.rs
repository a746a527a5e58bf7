//! Files and the files they import.

use super::ast::{Item, Spec};
use super::{Diagnostic, Diagnostics, MAX_SOURCE, Sources, Span, parse_file};

/// How many files one specification may consist of.
const MAX_FILES: usize = 256;

/// Where files come from.
pub trait Loader {
    /// The bytes of a file, or why there are none.
    fn load(&self, path: &str) -> Result<Vec<u8>, String>;
}

/// Files on disk.
#[derive(Clone, Copy, Default, Debug)]
pub struct Disk;

impl Loader for Disk {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        use std::io::Read;
        let mut bytes = Vec::new();
        let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
        // One byte more than allowed shows that it is too long, and a device without end is not read for ever.
        file.take(MAX_SOURCE as u64 + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        Ok(bytes)
    }
}

/// Parses a file and all it imports, each once: specifications of imported files come first.
pub fn load(path: &str, loader: &dyn Loader, sources: &mut Sources, out: &mut Diagnostics) -> Vec<Spec> {
    let mut state = State { loader, sources, out, done: Vec::new(), open: Vec::new(), specs: Vec::new() };
    state.file(&normal(path), None);
    state.specs
}

struct State<'a> {
    loader: &'a dyn Loader,
    sources: &'a mut Sources,
    out: &'a mut Diagnostics,
    done: Vec<String>,
    /// The chain of imports that leads here, with the place of each.
    open: Vec<(String, Option<Span>)>,
    specs: Vec<Spec>,
}

impl State<'_> {
    fn file(&mut self, path: &str, from: Option<Span>) {
        if self.done.iter().any(|p| p == path) {
            return;
        }
        if let Some(at) = self.open.iter().position(|(p, _)| p == path) {
            let chain: Vec<&str> = self.open[at..].iter().map(|(p, _)| p.as_str()).chain([path]).collect();
            let mut d = Diagnostic::error("import", format!("files import each other: {}", chain.join(" → ")));
            d.labels.extend(from.map(|s| (s, "this closes the circle".to_owned())));
            self.out.push(d.help(if chain.len() == 2 {
                "remove the import"
            } else {
                "move what both need into a third file"
            }));
            return;
        }
        if self.done.len() + self.open.len() >= MAX_FILES {
            let mut d = Diagnostic::error("limit", format!("more than {MAX_FILES} files"));
            d.labels.extend(from.map(|s| (s, "not read".to_owned())));
            self.out.push(d);
            return;
        }
        let Some(text) = self.text(path, from) else {
            self.done.push(path.to_owned());
            return;
        };
        let number = self.sources.add(path, text);
        let parsed = parse_file(self.sources, number, self.out);
        self.open.push((path.to_owned(), from));
        let mut specs = Vec::new();
        for item in parsed.items {
            match item {
                Item::Import(text) => self.file(&beside(path, &text.value), Some(text.span)),
                Item::Spec(spec) => specs.push(spec),
            }
        }
        self.specs.append(&mut specs);
        self.open.pop();
        self.done.push(path.to_owned());
    }

    fn text(&mut self, path: &str, from: Option<Span>) -> Option<String> {
        let problem = match self.loader.load(path) {
            Ok(bytes) if bytes.len() > MAX_SOURCE => format!("longer than {MAX_SOURCE} bytes"),
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => return Some(text),
                Err(e) => format!("not UTF-8 text (byte {})", e.utf8_error().valid_up_to()),
            },
            Err(problem) => problem,
        };
        let mut d = Diagnostic::error("import", format!("cannot read {path}: {problem}"));
        d.labels.extend(from.map(|s| (s, "imported here".to_owned())));
        self.out.push(d);
        None
    }
}

/// The path of an import, relative to the file that has it.
fn beside(from: &str, import: &str) -> String {
    if import.starts_with('/') {
        return normal(import);
    }
    match from.rfind('/') {
        Some(end) => normal(&format!("{}/{import}", &from[..end])),
        None => normal(import),
    }
}

/// Without `.` and `..` where they can be resolved from the text alone, so that one file has one path.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "." => {}
            "" if !parts.is_empty() => {}
            ".." if parts.last().is_some_and(|p| !matches!(*p, ".." | "")) => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
