//! A property as its author wrote it.

use property::check::{Logic, Property};
use property::syntax::Sources;

/// Longer ones are not shown: the reader has the file.
const MAX_SHOWN: usize = 300;

/// What a property says, on one line, if it is short enough for that: a formula, or another logic with its braces.
pub fn formula(property: &Property, sources: &Sources) -> Option<String> {
    let text = sources.slice(property.span);
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let text = lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
    let body = match &property.logic {
        // A formula of the command line stands alone.
        Logic::Past(_) | Logic::Future(_) if !text.starts_with("property ") => text,
        Logic::Past(_) | Logic::Future(_) => braces(&text)?.trim().to_owned(),
        Logic::Ere { .. } => {
            let from = text.find(" ere ")?;
            let inner = braces(&text[from..])?;
            text[from..].split('{').next()?.trim().to_owned() + " {" + inner + "}"
        }
        _ => return None,
    };
    (body.chars().count() <= MAX_SHOWN).then_some(body)
}

/// What stands in the first pair of braces.
fn braces(text: &str) -> Option<&str> {
    let open = text.find('{')?;
    let mut depth = 0;
    for (at, c) in text[open..].char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[open + 1..open + at]);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use property::check::{TraceNames, check_file, check_formula};
    use property::syntax::Loader;

    struct One(&'static str);

    impl Loader for One {
        fn load(&self, _: &str) -> Result<Vec<u8>, String> {
            Ok(self.0.as_bytes().to_vec())
        }
    }

    #[test]
    fn as_written_on_one_line() {
        let checked = check_file(
            "s",
            &One("spec S {\n  shared int x = 0 at trace \"x\";\n  event p = x > 1;\n  \
                 property a past {\n    x > 0 // why\n    -> prev x > 0\n  }\n  with { steps = all; }\n  \
                 property b ere never_from_start { {x > 1} p }\n  property c fsm { init s; bad s; s { } }\n}\n"),
        );
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let shown: Vec<Option<String>> =
            checked.specs[0].properties.iter().map(|property| formula(property, &checked.sources)).collect();
        let expected = ["x > 0 -> prev x > 0", "ere never_from_start { {x > 1} p }"];
        assert_eq!(shown, [Some(expected[0].to_owned()), Some(expected[1].to_owned()), None]);
        let (sources, spec) =
            check_formula("p", "once  x == 1", TraceNames { variables: &["x"], ..TraceNames::default() });
        let spec = spec.unwrap_or_else(|diagnostics| panic!("{diagnostics:?}"));
        assert_eq!(formula(&spec.properties[0], &sources).as_deref(), Some("once x == 1"));
    }
}
