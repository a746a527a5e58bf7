//! Places in programs, by the rules of each language.

use crate::syntax::ast::{self, Lang};
use crate::syntax::{Diagnostic, Diagnostics};

/// A place in the program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The language.
    pub lang: Lang,
    /// The file of a C name that only it knows.
    pub file: Option<String>,
    /// The parts: packages, classes and member in Java; object and field in C; crate, modules and item in Rust.
    pub parts: Vec<String>,
}

impl Place {
    /// The name as recorders write it.
    pub fn recorded(&self) -> String {
        let separator = match self.lang {
            Lang::Rust => "::",
            _ => ".",
        };
        let name = self.parts.join(separator);
        match &self.file {
            Some(file) => format!("{file}:{name}"),
            None => name,
        }
    }
}

/// What a place is for.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Use {
    /// A field or global.
    Data,
    /// A function or method.
    Code,
    /// A lock: a field, or the objects of a class.
    Lock,
}

/// Checks a place as written.
pub(super) fn check(place: &ast::Place, usage: Use, out: &mut Diagnostics) -> Option<Place> {
    let path = place.path.as_str();
    let complain = |out: &mut Diagnostics, label: &str, help: String| {
        let lang = place.lang.text();
        let diagnostic = Diagnostic::error("place", format!("`{}` is not a {lang} place", path.escape_debug()));
        out.push(diagnostic.at(place.span, label).help(help));
        None
    };
    if path.is_empty() {
        return complain(out, "an empty name", "write the name as the program has it".to_owned());
    }
    match place.lang {
        Lang::Trace => Some(Place { lang: Lang::Trace, file: None, parts: vec![path.to_owned()] }),
        Lang::Java => {
            let dotted = path.replace('#', ".");
            if path.contains(':') {
                let help = format!("Java names are dotted: `java {}`", path.replace("::", ".").replace(':', "."));
                return complain(out, "`:` is not Java", help);
            }
            let parts: Vec<String> = dotted.split('.').map(str::to_owned).collect();
            if parts.len() < 2 && usage != Use::Lock {
                let member = if usage == Use::Code { "method" } else { "field" };
                return complain(out, "the class is missing", format!("write the class too: `java Class.{member}`"));
            }
            Some(Place { lang: Lang::Java, file: None, parts })
        }
        Lang::C => {
            let (scoped, parameters) = if usage == Use::Code { without_parameters(path) } else { (path, "") };
            let dotted = if usage == Use::Code { scoped.replace("::", ".") } else { scoped.to_owned() };
            if dotted.contains("::") || dotted.contains('#') {
                let help = "C names are `name`, `file.c:name` or `object.field`".to_owned();
                return complain(out, "not a C name", help);
            }
            let (file, name) = match dotted.rsplit_once(':') {
                Some((file, name)) => (Some(file.to_owned()), name),
                None => (None, dotted.as_str()),
            };
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
                return complain(out, "no name after the file", "write `file.c:name`".to_owned());
            }
            let mut parts: Vec<String> = name.split('.').map(str::to_owned).collect();
            if let Some(last) = parts.last_mut() {
                last.push_str(parameters);
            }
            Some(Place { lang: Lang::C, file, parts })
        }
        Lang::Rust => {
            if path.replace("::", "").contains([':', '.', '#']) {
                let help =
                    format!("Rust paths have `::`: `rust {}`", path.replace("::", ":").replace([':', '.', '#'], "::"));
                return complain(out, "not a Rust path", help);
            }
            Some(Place { lang: Lang::Rust, file: None, parts: path.split("::").map(str::to_owned).collect() })
        }
    }
}

/// Divides the name of a C++ function before its parameters, if it has some: `Conn::send(int, char const*) const`.
fn without_parameters(path: &str) -> (&str, &str) {
    let after_operator = path.find("operator()").map_or(0, |at| at + "operator()".len());
    match path[after_operator..].find('(') {
        Some(at) => path.split_at(after_operator + at),
        None => (path, ""),
    }
}
