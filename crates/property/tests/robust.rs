//! Nothing that can be typed makes the front end panic, hang or overflow the stack.

use property::check::{TraceNames, check_file, check_formula, explain, parse_init};
use property::syntax::ast::{Decl, Item};
use property::syntax::{Diagnostics, Loader, MAX_DEPTH, Sources, parse_file, render};

/// One text under every name: an import of anything is an import of itself.
struct Text(Vec<u8>);

impl Loader for Text {
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone())
    }
}

fn check(text: impl Into<Vec<u8>>) -> (Vec<property::syntax::Diagnostic>, String) {
    let checked = check_file("a.rvs", &Text(text.into()));
    let shown = render(&checked.diagnostics, &checked.sources, false);
    (checked.diagnostics, shown)
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

const EXAMPLES: [&str; 8] = [
    include_str!("../../../corpus/specs/01-landing.rvs"),
    include_str!("../../../corpus/specs/02-interval.rvs"),
    include_str!("../../../corpus/specs/03-permit.rvs"),
    include_str!("../../../corpus/specs/04-becomes-positive.rvs"),
    include_str!("../../../corpus/specs/05-mutex.rvs"),
    include_str!("../../../corpus/specs/06-bank.rvs"),
    include_str!("../../../corpus/specs/07-lost-wakeup.rvs"),
    include_str!("../../../corpus/specs/08-response.rvs"),
];

#[test]
fn random_bytes() {
    let mut random = Random(1);
    for _ in 0..10_000 {
        let ascii = random.below(2) == 0;
        let bytes: Vec<u8> = (0..random.below(200))
            .map(|_| if ascii { random.below(128) as u8 } else { random.below(256) as u8 })
            .collect();
        // Showing takes most of the time: a part of the cases is enough.
        if random.below(4) == 0 {
            check(bytes);
        } else {
            check_file("a.rvs", &Text(bytes));
        }
    }
}

/// The tokens of all examples.
fn vocabulary() -> Vec<&'static str> {
    let mut words: Vec<&str> = EXAMPLES.iter().flat_map(|e| e.split_whitespace()).collect();
    words
        .extend(["(", ")", "{", "}", "[", "]", "[]", "<>", "[*]", "<*>", "@j", "U", "S", "G", "o", "weak [", "start("]);
    words.extend(["⊙", "♦", "⊡", "∧", "¬", "\"s\"", "\"", "1e9", "99999999999999999999", "unknown", "next", "wuntil"]);
    words.extend([
        "exists", "forall", ".", ":", "::", "#", "fsm", "init", "bad", "else", "=>", "logic", "ere", "~", "&",
    ]);
    words.sort_unstable();
    words.dedup();
    words
}

#[test]
fn token_soup() {
    let words = vocabulary();
    let mut random = Random(2);
    for _ in 0..10_000 {
        let mut text = String::from("spec S { ");
        if random.below(2) == 0 {
            text.push_str("shared int x = 0 at c x; property p past { x > 0 && ");
        }
        for _ in 0..random.below(60) {
            text.push_str(words[random.below(words.len())]);
            text.push(' ');
        }
        if random.below(4) == 0 {
            check(text);
        } else {
            check_file("a.rvs", &Text(text.into_bytes()));
        }
    }
}

#[test]
fn examples_with_mutations() {
    let words = vocabulary();
    let mut random = Random(3);
    let mut clean = 0;
    for _ in 0..20_000 {
        let mut parts: Vec<&str> = EXAMPLES[random.below(8)].split_inclusive(' ').collect();
        for _ in 0..=random.below(3) {
            let at = random.below(parts.len());
            match random.below(4) {
                0 => parts[at] = "",
                1 => parts[at] = words[random.below(words.len())],
                2 => parts.insert(at, words[random.below(words.len())]),
                _ => {
                    let other = random.below(parts.len());
                    parts.swap(at, other);
                }
            }
        }
        let (diagnostics, shown) = check(parts.concat());
        clean += usize::from(diagnostics.is_empty());
        assert_eq!(diagnostics.is_empty(), shown.is_empty());
    }
    assert!(clean > 0 && clean < 15_000, "{clean} of 20000 mutants had no mistake");
}

/// Words and signs, blanks included.
fn tokens(text: &str) -> Vec<String> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut tokens: Vec<String> = Vec::new();
    for c in text.chars() {
        match tokens.last_mut() {
            Some(last) if in_word(c) && last.ends_with(in_word) => last.push(c),
            _ => tokens.push(c.to_string()),
        }
    }
    tokens
}

#[test]
fn one_wrong_token_is_one_diagnostic_nearly_always() {
    let mut random = Random(9);
    let (mut mistaken, mut single) = (0, 0);
    for _ in 0..10_000 {
        let mut tokens = tokens(EXAMPLES[random.below(8)]);
        let solid: Vec<usize> = (0..tokens.len()).filter(|&i| !tokens[i].trim().is_empty()).collect();
        let at = solid[random.below(solid.len())];
        match random.below(3) {
            0 => tokens[at].clear(),
            1 => tokens[at] = format!("{0} {0}", tokens[at]),
            _ => tokens[at] = tokens[solid[random.below(solid.len())]].clone(),
        }
        let text = tokens.concat();
        let (diagnostics, shown) = check(text.clone());
        assert!(diagnostics.len() <= 20, "{shown}");
        mistaken += usize::from(!diagnostics.is_empty());
        single += usize::from(diagnostics.len() == 1);
    }
    assert!(mistaken > 5_000 && single * 100 >= mistaken * 88, "{single} of {mistaken}");
}

#[test]
fn nothing_is_left_out_without_a_diagnostic() {
    let mut random = Random(10);
    let mut checked_properties = 0;
    for _ in 0..10_000 {
        let mut tokens = tokens(EXAMPLES[random.below(8)]);
        let solid: Vec<usize> = (0..tokens.len()).filter(|&i| !tokens[i].trim().is_empty()).collect();
        let at = solid[random.below(solid.len())];
        tokens[at] = tokens[solid[random.below(solid.len())]].clone();
        let text = tokens.concat();
        let checked = check_file("a.rvs", &Text(text.clone().into_bytes()));
        if checked.has_errors() {
            continue;
        }
        let mut sources = Sources::default();
        let file = sources.add("a.rvs", text);
        let tree = parse_file(&sources, file, &mut Diagnostics::default());
        let written = tree.items.iter().filter_map(|item| match item {
            Item::Spec(spec) => Some(spec.decls.iter().filter(|d| matches!(d, Decl::Property(_))).count()),
            Item::Import(_) => None,
        });
        let written: usize = written.sum();
        assert_eq!(checked.specs.iter().map(|s| s.properties.len()).sum::<usize>(), written);
        checked_properties += written;
    }
    assert!(checked_properties > 500, "{checked_properties}");
}

#[test]
fn mutated_bytes_of_examples() {
    let mut random = Random(4);
    for _ in 0..10_000 {
        let mut bytes = EXAMPLES[random.below(8)].as_bytes().to_vec();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len());
            match random.below(8) {
                0 if bytes.len() > 100 => bytes.truncate(at.max(100)),
                1..4 if bytes.len() > 100 => drop(bytes.remove(at)),
                _ => bytes[at] = random.below(256) as u8,
            }
        }
        check(bytes);
    }
}

#[test]
fn every_nesting_has_a_limit() {
    let property =
        |logic: &str, body: String| format!("spec S {{ shared bool b at c b;\nproperty p {logic} {{ {body} }} }}");
    let nest = |open: &str, close: &str, n: usize| format!("{}b{}", open.repeat(n), close.repeat(n));
    let past = [
        "(",
        "!",
        "prev ",
        "-",
        "start(",
        "[b, ",
        "[",
        "@i ",
        "exists j : thread . ",
        "f(",
        "b[",
        "once (",
        "weak [b, ",
    ];
    let close = [")", "", "", "", ")", ")", ", b)", "", "", ")", "]", ")", ")"];
    for n in [MAX_DEPTH + 1, 1000, 50_000] {
        for (open, close) in past.iter().zip(close) {
            let (diagnostics, shown) = check(property("past", nest(open, close, n)));
            assert_eq!(diagnostics.len(), 1, "{open}: {shown}");
            assert!(diagnostics[0].message.contains("nested more than"), "{open}: {shown}");
        }
        for (open, close) in [("b -> ", ""), ("b since ", ""), ("b until ", ""), ("not ", "")] {
            let (diagnostics, _) = check(property("future", nest(open, close, n)));
            assert!(diagnostics.iter().any(|d| d.message.contains("nested more than")), "{open}");
        }
        for joined in [" <-> b", " + b", " * b", " - b"] {
            let (diagnostics, shown) = check(property("past", format!("b{}", joined.repeat(n))));
            assert_eq!(diagnostics.len(), 1, "{joined}: {shown}");
            assert!(diagnostics[0].message.contains("nested more than"), "{joined}: {shown}");
        }
        for (open, close) in [("(", ")"), ("~", ""), ("", "*"), ("", "+"), ("", "?"), ("(~", ")*")] {
            let text = property("ere never", format!("{}any{}", open.repeat(n), close.repeat(n)));
            let (diagnostics, shown) = check(text);
            assert_eq!(diagnostics.len(), 1, "{open}{close}: {shown}");
            assert!(diagnostics[0].message.contains("nested more than"), "{open}{close}: {shown}");
        }
    }
}

#[test]
fn below_the_limit_all_is_well() {
    let n = MAX_DEPTH - 3;
    let quantifiers: String = (0..n).map(|i| format!("exists j{i} : thread . ")).collect();
    let nested = [
        ("past", "(".repeat(n) + "b" + &")".repeat(n)),
        ("past", "!".repeat(n) + "b"),
        ("past", "prev ".repeat(n) + "b"),
        ("past", "start(".repeat(n) + "b" + &")".repeat(n)),
        ("past", "[b, ".repeat(n) + "b" + &")".repeat(n)),
        ("past", "weak [".repeat(n) + "b" + &", b)".repeat(n)),
        ("past", "weak [b, ".repeat(n) + "b" + &")".repeat(n)),
        ("past", "b -> ".repeat(n) + "b"),
        ("past", "b wsince ".repeat(n) + "b"),
        ("past", "b since ".repeat(n) + "b"),
        ("past", "-".repeat(n) + "x > 0"),
        ("past", "(1 + ".repeat(n / 2) + "x" + &")".repeat(n / 2) + " > 0"),
        ("past", "b".to_owned() + &" <-> b".repeat(n)),
        ("past", "(b && ".repeat(n / 2) + "b" + &" || b)".repeat(n / 2)),
        ("future", "always ".repeat(n) + "b"),
        ("future", "b until ".repeat(n) + "b"),
        ("mttl at i", "@i ".repeat(n) + "b"),
        ("mttl at i", quantifiers + "b"),
        ("ere never", "(~".repeat(n / 2) + "any" + &")*".repeat(n / 2)),
        ("ere never", "(e | ".repeat(n / 2) + "any" + &" e)".repeat(n / 2)),
        ("fsm", format!("init s; bad t; otherwise stay; s {{ {}b => t; }} t {{ }}", "!".repeat(n))),
    ];
    for (logic, body) in nested {
        let param = if logic.starts_with("mttl") { "(i : thread)" } else { "" };
        let text = format!(
            "spec S {{ shared bool b at c b; shared int x at c x; event e at c e; \
             property p{param} {logic} {{ {body} }} }}"
        );
        let checked = check_file("a.rvs", &Text(text.into_bytes()));
        let shown = render(&checked.diagnostics, &checked.sources, false);
        assert!(checked.diagnostics.is_empty(), "{logic} {}: {shown}", &body[..20]);
        let spec = &checked.specs[0];
        assert!(!explain(spec, &spec.properties[0]).is_empty());
    }
}

#[test]
fn long_lists_are_no_nesting() {
    let list = |joined: &str, n: usize| format!("b{}", joined.repeat(n));
    for body in [list(" && b", 5_000), list(" || !b", 5_000), list(" && b || b", 2_000)] {
        let (diagnostics, shown) = check(format!("spec S {{ shared bool b at c b; property p past {{ {body} }} }}"));
        assert!(diagnostics.is_empty(), "{shown}");
    }
    for body in [list(" b", 5_000), list(" | b", 5_000), list(" & b", 5_000)] {
        let (diagnostics, shown) =
            check(format!("spec S {{ shared bool v at c b; let b = v; property p ere never {{ {body} }} }}"));
        assert!(diagnostics.is_empty(), "{shown}");
    }
}

#[test]
fn names_that_grow_have_a_limit() {
    let mut lets = String::from("shared bool b at c b; let n0 = b;\n");
    for i in 1..60 {
        lets.push_str(&format!("let n{i} = n{0} && !n{0};\n", i - 1));
    }
    let (diagnostics, shown) = check(format!("spec S {{ {lets} property p past {{ n59 }} }}"));
    assert_eq!(diagnostics.len(), 1, "{shown}");
    assert!(diagnostics[0].message.contains("once names are replaced"), "{shown}");
    let mut chain = String::from("shared bool b at c b; let n0 = b;\n");
    for i in 1..20_000 {
        chain.push_str(&format!("let n{i} = !n{};\n", i - 1));
    }
    let (diagnostics, shown) = check(format!("spec S {{ {chain} property p past {{ n19999 }} }}"));
    assert_eq!(diagnostics.len(), 1, "{shown}");
    assert!(diagnostics[0].message.contains("once names are replaced"), "{shown}");
}

/// As long as the environment says (`FORETRACE_FUZZ_SECONDS`, else one second): examples and mistakes, cut and mixed.
#[test]
fn fuzz_for_a_while() {
    let seconds = std::env::var("FORETRACE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let bad = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut texts: Vec<Vec<u8>> = EXAMPLES.iter().map(|e| e.as_bytes().to_vec()).collect();
    for entry in std::fs::read_dir(bad).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|e| e == "rvs") {
            texts.push(std::fs::read(path).expect("a file"));
        }
    }
    let words = vocabulary();
    let mut random = Random(if seconds == 1 { 11 } else { std::process::id().into() });
    let begin = std::time::Instant::now();
    let mut cases = 0u64;
    while begin.elapsed().as_secs() < seconds {
        let mut text = texts[random.below(texts.len())].clone();
        for _ in 0..=random.below(8) {
            let at = random.below(text.len() + 1);
            let piece: Vec<u8> = match random.below(6) {
                0 => vec![random.below(256) as u8],
                1 => words[random.below(words.len())].as_bytes().to_vec(),
                2 => words[random.below(words.len())].repeat(1 + random.below(300)).into_bytes(),
                3 => {
                    let other = &texts[random.below(texts.len())];
                    let from = random.below(other.len());
                    other[from..(from + random.below(200)).min(other.len())].to_vec()
                }
                _ => Vec::new(),
            };
            let end = (at + random.below(30)).min(text.len());
            let removed = if random.below(2) == 0 { at..end } else { at..at };
            text.splice(removed, piece);
        }
        let case = std::time::Instant::now();
        let checked = check_file("a.rvs", &Text(text.clone()));
        render(&checked.diagnostics, &checked.sources, true);
        for spec in &checked.specs {
            for property in &spec.properties {
                explain(spec, property);
            }
        }
        let text = String::from_utf8_lossy(&text);
        assert!(case.elapsed().as_secs() < 5, "slow: {text}");
        let _ =
            check_formula("property-1", &text, TraceNames { variables: &["x", "landing"], ..TraceNames::default() });
        cases += 1;
    }
    assert!(cases > 100 * seconds, "only {cases} cases");
    println!("{cases} cases in {seconds} s");
}

#[test]
fn command_line_soup() {
    let words = vocabulary();
    let mut random = Random(5);
    let known = TraceNames { variables: &["x", "y", "Demo.x", "landing", "G"], locks: &["l"], threads: &["T1"] };
    for _ in 0..10_000 {
        let mut text = String::new();
        for _ in 0..random.below(20) {
            text.push_str(words[random.below(words.len())]);
            text.push_str(if random.below(2) == 0 { " " } else { "" });
        }
        let (sources, result) = check_formula("property-1", &text, known);
        if let Err(diagnostics) = result {
            assert!(!render(&diagnostics, &sources, true).is_empty());
        }
        let (sources, result) = parse_init(&text);
        if let Err(diagnostics) = result {
            assert!(!render(&diagnostics, &sources, true).is_empty());
        }
    }
}

#[test]
fn many_mistakes_are_cut_short() {
    let text = "spec S {\n".to_owned() + &"  shared int x = = 1;\n".repeat(100_000) + "}";
    let (diagnostics, shown) = check(text);
    assert!(diagnostics.len() <= 500);
    assert!(shown.ends_with("more\n"), "{}", &shown[shown.len() - 200..]);
}
