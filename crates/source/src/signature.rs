//! The parameters of C++ functions, as the mangled name says them: what distinguishes overloaded functions.

use crate::demangle::{Bounded, without_suffix};

/// What may stand behind the parameters of a member function.
const QUALIFIERS: [&str; 4] = ["const", "volatile", "&&", "&"];

/// Divides `net::Conn::write(int, double) const` before its parameters. `None`: there are none. Those of
/// `operator()` are only the second pair of brackets.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    let name = name.trim();
    let inner = without_qualifiers(name);
    let mut depth = 0usize;
    let at = inner.ends_with(')').then(|| {
        inner.char_indices().rev().find_map(|(at, c)| {
            match c {
                ')' => depth += 1,
                '(' => depth = depth.saturating_sub(1),
                _ => {}
            }
            (c == '(' && depth == 0).then_some(at)
        })
    })??;
    let (name, parameters) = name.split_at(at);
    (!name.is_empty() && !name.ends_with("operator")).then_some((name.trim_end(), parameters))
}

/// The parameters of the function with this mangled name; `None`, if it says none, as in C.
pub(crate) fn of(symbol: &str) -> Option<String> {
    let symbol = cpp_demangle::Symbol::new(without_suffix(symbol)).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_return_type().hide_expression_literal_types();
    let mut out = Bounded(String::new());
    symbol.structured_demangle(&mut out, &options).ok()?;
    let (_, parameters) = split(&out.0)?;
    Some(readable(parameters))
}

/// As a reader of the source writes it.
fn readable(parameters: &str) -> String {
    const STRING: &str = "std::basic_string<char, std::char_traits<char>, std::allocator<char> >";
    let text = parameters.replace("std::__cxx11::", "std::").replace(STRING, "std::string");
    text.replace("(void)", "()").replace("> >", ">>")
}

/// Whether `wanted` means the parameters `found`. A qualifier that is not wanted is none that hinders, if `loosely`.
pub(crate) fn is_same(wanted: &str, found: &str, loosely: bool) -> bool {
    let plain = |text: &str| readable(text).split_whitespace().collect::<String>();
    let found = if loosely { without_qualifiers(found) } else { found };
    plain(wanted) == plain(found)
}

fn without_qualifiers(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some(rest) = QUALIFIERS.iter().find_map(|qualifier| text.strip_suffix(qualifier)) {
        text = rest.trim_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_divided_from_names() {
        for (name, expected) in [
            ("C::m(int)", Some(("C::m", "(int)"))),
            ("C::m() const", Some(("C::m", "() const"))),
            ("C::m(int (*)(char), long) const &", Some(("C::m", "(int (*)(char), long) const &"))),
            ("file.c:f (int)", Some(("file.c:f", "(int)"))),
            ("C::operator()", None),
            ("C::operator()(int)", Some(("C::operator()", "(int)"))),
            ("C::m", None),
            (")", None),
            ("(int)", None),
            ("", None),
        ] {
            assert_eq!(split(name), expected, "{name}");
        }
    }

    #[test]
    fn mangled_names_say_the_parameters() {
        for (symbol, expected) in [
            ("_ZN1C1mEi", Some("(int)")),
            ("_ZN1C1mEv", Some("()")),
            ("_ZNK1C1mEPKcd", Some("(char const*, double) const")),
            ("_ZN1C1mEi.constprop.0", Some("(int)")),
            ("_Z1fIiEvT_", Some("(int)")),
            ("_Z1fNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", Some("(std::string)")),
            ("_ZN1C1mESt6vectorIiSaIiEE", Some("(std::vector<int, std::allocator<int>>)")),
            ("main", None),
            ("_ZN1C1xE", None),
        ] {
            assert_eq!(of(symbol).as_deref(), expected, "{symbol}");
        }
    }

    #[test]
    fn blanks_and_spellings_do_not_matter() {
        assert!(is_same("(int,double)", "(int, double)", false));
        assert!(is_same("( )", "()", false));
        assert!(is_same("(void)", "()", false));
        assert!(!is_same("(int)", "(int) const", false));
        assert!(is_same("(int)", "(int) const", true));
        assert!(!is_same("(int)", "(long)", true));
        assert!(is_same("(std::__cxx11::string)", "(std::string)", false));
    }
}
