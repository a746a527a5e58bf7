//! Mangled names to what a reader of the source calls them: no parameters, no hashes, short template arguments.

use crate::limits::MAX_NAME_BYTES;
use std::fmt::{self, Write};

/// Template arguments up to this length are shown as they are.
const SHORT_ARGUMENTS: usize = 24;

/// Stops a demangler whose output would never end: a few bytes of substitutions can stand for gigabytes.
pub(crate) struct Bounded(pub(crate) String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_NAME_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// The name as its programmer writes it: `Account::audit`, `Queue<int>::push`, `krate::module::function`. A name that
/// is not mangled stays, but for what the compiler put behind it for a clone.
pub fn demangle(raw: &str) -> String {
    let raw = without_suffix(raw);
    if !raw.starts_with("_Z") && !raw.starts_with("_R") && !raw.starts_with("__Z") {
        return raw.to_owned();
    }
    if let Some(name) = rust(raw) {
        let mut out = Bounded(String::new());
        return if write!(out, "{name:#}").is_ok() { out.0 } else { raw.to_owned() };
    }
    cpp(raw).map_or_else(|| raw.to_owned(), |name| shorten(&name))
}

/// A name of Rust's. Its older manglings look like those of C++, but end in a hash.
pub(crate) fn rust(raw: &str) -> Option<rustc_demangle::Demangle<'_>> {
    let hash = || {
        let hash = raw.strip_suffix('E')?.rsplit_once("17h")?.1;
        Some(hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    let its_own = raw.starts_with("_R") || hash().unwrap_or(false);
    rustc_demangle::try_demangle(raw).ok().filter(|_| its_own)
}

fn cpp(raw: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(raw).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().no_return_type().hide_expression_literal_types();
    let mut out = Bounded(String::new());
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(out.0)
}

/// Without a version (`@@GLIBC_2.2.5`) and without what marks a clone or a part of a function (`.part.0`, `.cold`,
/// `.constprop.1`, `.isra.0`, `.llvm.123`), or the copy of a local static variable (`counter.0`).
pub(crate) fn without_suffix(raw: &str) -> &str {
    let raw = raw.split('@').next().unwrap_or(raw);
    let Some(at) = raw.get(1..).and_then(|rest| rest.find('.')).map(|at| at + 1) else { return raw };
    let compiler = raw[at + 1..].split('.').all(|part| {
        part.bytes().all(|b| b.is_ascii_digit())
            || matches!(part, "part" | "cold" | "constprop" | "isra" | "llvm" | "lto_priv" | "clone" | "localalias")
            || part.strip_prefix("__uniq").is_some()
    });
    if compiler { &raw[..at] } else { raw }
}

/// Long template arguments become `<...>`; anonymous namespaces and the `[abi:…]` tags of the standard library go.
pub(crate) fn shorten(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("(anonymous namespace)::") {
            rest = after;
        } else if rest.starts_with("[abi:") {
            rest = rest.find(']').map_or("", |end| &rest[end + 1..]);
        } else if let Some(operator) = operator(rest).filter(|_| !ends_in_identifier(&out)) {
            out.push_str(operator);
            rest = &rest[operator.len()..];
        } else if first == '<' {
            let end = closing(rest);
            let arguments = &rest[..end];
            if arguments.len() <= SHORT_ARGUMENTS + 2 {
                out.push_str(&arguments.replace("> >", ">>"));
            } else {
                out.push_str("<...>");
            }
            rest = &rest[end..];
        } else if first == '(' && !out.ends_with("operator") {
            // The parameters of a function around a local name.
            rest = &rest[closing(rest)..];
            rest = rest.strip_prefix(" const").unwrap_or(rest);
        } else if let Some(after) = rest.strip_prefix("{lambda(") {
            out.push_str("{lambda");
            rest = &rest[rest.len() - after.len() - 1..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    if out.ends_with(" const") {
        out.truncate(out.len() - " const".len());
    }
    out
}

fn ends_in_identifier(text: &str) -> bool {
    text.chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// An operator's name whose angle brackets are no template arguments.
fn operator(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("operator")?;
    let sign = ["<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"];
    let sign = sign.into_iter().find(|sign| rest.starts_with(sign))?;
    Some(&text[.."operator".len() + sign.len()])
}

/// The length of the template arguments that `text` begins with, its brackets included.
fn closing(text: &str) -> usize {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' | '(' | '{' => depth += 1,
            // The arrow of a trailing return type closes nothing.
            '>' if before == '-' => {}
            '>' | ')' | '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
        before = c;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::demangle;

    #[test]
    fn names_are_those_of_the_source() {
        for (raw, name) in [
            ("main", "main"),
            ("_ZN7Account5auditEv", "Account::audit"),
            ("_ZNK7Account5auditEi.part.0", "Account::audit"),
            ("transfer.constprop.0.isra.1", "transfer"),
            ("counter.0", "counter"),
            ("memcpy@@GLIBC_2.14", "memcpy"),
            ("_ZN12_GLOBAL__N_15startEv", "start"),
            ("_ZN5QueueIiE4pushEi", "Queue<int>::push"),
            ("_ZNSt6vectorISsSaISsEE9push_backERKSs", "std::vector<...>::push_back"),
            ("_ZN5krate6module8function17h0123456789abcdefE", "krate::module::function"),
            ("_ZZ3foovE7counter", "foo::counter"),
            ("_ZN2ns12_GLOBAL__N_18namelessE", "ns::nameless"),
            ("_ZZ4mainENKUliE_clEi", "main::{lambda#1}::operator()"),
            ("_ZlsRSoRK7Account", "operator<<"),
            ("_Znonsense", "_Znonsense"),
            ("a.out", "a.out"),
            (".", "."),
            ("", ""),
        ] {
            assert_eq!(demangle(raw), name, "{raw}");
        }
    }

    #[test]
    fn output_without_end_is_cut_off() {
        // Each substitution doubles the one before it.
        let mut raw = String::from("_Z1fI1AIiiE");
        for k in 0..60 {
            let s = if k == 0 { "S0_".to_owned() } else { format!("S{}_", to36(k)) };
            raw.push_str(&format!("1AI{s}{s}E"));
        }
        raw.push_str("Evv");
        assert!(demangle(&raw).len() <= crate::limits::MAX_NAME_BYTES);
    }

    fn to36(n: usize) -> String {
        let digit = |d: usize| char::from(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[d]);
        if n < 36 { digit(n).to_string() } else { format!("{}{}", digit(n / 36), digit(n % 36)) }
    }
}
