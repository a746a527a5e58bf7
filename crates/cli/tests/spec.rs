//! `foretrace spec` on the command line.

use crate::common::{Folder, corpus};

const NAMES: [&str; 8] = [
    "01-landing",
    "02-interval",
    "03-permit",
    "04-becomes-positive",
    "05-mutex",
    "06-bank",
    "07-lost-wakeup",
    "08-response",
];

fn example(name: &str) -> String {
    corpus(&format!("specs/{name}.rvs")).to_str().unwrap().to_owned()
}

/// The lines of an entry of a property, without the word that opens it.
fn entry(text: &str, property: &str, word: &str) -> Vec<String> {
    let of = text.split("\nproperty ").find(|part| part.starts_with(property)).unwrap_or_else(|| panic!("{text}"));
    let mut lines = of.lines().skip_while(|line| !line.trim_start().starts_with(word));
    let first = lines.next().unwrap_or_else(|| panic!("no {word}: {of}")).trim_start();
    let more = lines.take_while(|line| line.starts_with("      "));
    [&first[word.len()..]].into_iter().chain(more).map(|line| line.trim().to_owned()).collect()
}

#[test]
fn the_examples_are_explained() {
    let folder = Folder::new();
    for (name, expected) in NAMES.iter().zip([
        &[
            "spec Landing for c",
            "shared int radio = 1     at c radio",
            "settings        causality = full_hb, breadth = all",
        ][..],
        &["property p2 past", "whenever x > 0, then y == 0 has held", "table of 3 states"],
        &["property permitted past", "landing becomes true"],
        &["property by_fsm fsm", "from s1 to s4: when x > 0 becomes true", "property by_pattern ere never_from_start"],
        &["property exclusive(i : thread) mttl", "evaluated by a later version", "check mutex of critical"],
        &["local int block = 0", "check races on checking, saving using weak_hb", "steps = all"],
        &["lock mon[object<Event>]", "check deadlocks upto 4 threads"],
        &["event request(id : int)   at rust server::Queue::push", "for every id : int"],
    ]) {
        let ran = folder.ok(&["spec", &example(name)]);
        assert!(ran.stderr.is_empty(), "{name}: {}", ran.stderr);
        for text in expected {
            assert!(ran.stdout.contains(text), "{name}: no {text}:\n{}", ran.stdout);
        }
    }
}

#[test]
fn the_shortest_runs_are_those_that_a_human_would_give() {
    let folder = Folder::new();
    let landing = folder.ok(&["spec", &example("01-landing")]).stdout;
    assert_eq!(entry(&landing, "safe_landing", "violated by"), ["step 0: nothing", "step 1: landing == 1"]);
    let met = ["step 0: nothing", "step 1: approved == 1", "step 2: landing == 1, approved == 1"];
    assert_eq!(entry(&landing, "safe_landing", "condition met"), met, "one event writes one variable");
    let response = folder.ok(&["spec", &example("08-response")]).stdout;
    assert!(entry(&response, "answered", "violated by")[0].starts_with("no run for good"), "{response}");
    let owed = ["step 0: nothing", "step 1: request(id)", "the end"];
    assert_eq!(entry(&response, "answered", "unfulfilled by"), owed);
    let met = ["step 0: nothing", "step 1: request(id)", "step 2: response(id)"];
    assert_eq!(entry(&response, "answered", "condition met"), met);
    let positive = folder.ok(&["spec", &example("04-becomes-positive")]).stdout;
    for property in ["by_fsm", "by_formula", "by_pattern"] {
        assert_eq!(entry(&positive, property, "violated by"), ["step 0: nothing", "step 1: x > 0"]);
    }
    let bank = folder.ok(&["spec", &example("06-bank")]).stdout;
    let adjacent = ["step 0: nothing", "step 1: write(checking, j)", "step 2: write(checking, i)"];
    assert_eq!(entry(&bank, "race_adjacent", "violated by"), adjacent, "i and j are two threads");
}

#[test]
fn dot_is_one_graph_that_names_every_property() {
    let folder = Folder::new();
    for name in NAMES {
        let dot = folder.ok(&["spec", &example(name), "--dot"]).stdout;
        assert!(dot.starts_with("digraph specification {\n") && dot.ends_with("}\n"), "{dot}");
        let outside: String = dot.split('"').step_by(2).collect();
        assert_eq!(outside.matches('{').count(), outside.matches('}').count(), "{dot}");
        let text = std::fs::read_to_string(example(name)).unwrap();
        let named = text
            .lines()
            .filter_map(|line| line.trim().strip_prefix("property "))
            .map(|rest| rest.split([' ', '(']).next().unwrap());
        let mut properties = 0;
        for property in named {
            properties += 1;
            assert!(dot.contains(&format!(": {property}")), "{property}: {dot}");
        }
        assert_eq!(dot.matches("subgraph cluster_").count(), properties);
    }
    let dot = folder.ok(&["spec", &example("01-landing"), "--dot"]).stdout;
    assert!(dot.contains("p0_start -> p0_q0") && dot.contains("doubleoctagon"), "{dot}");
    assert!(dot.contains("landing == 1"), "{dot}");
}

#[test]
fn imports_are_found_beside_the_file() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("lib")).unwrap();
    folder.write("lib/a.rvs", "spec A { shared int x = 0 at c x; property a past { x == 0 } }");
    folder.write("lib/main.rvs", "import \"a.rvs\";\nspec B { shared int y = 0 at c y; property b past { y == 0 } }");
    let ran = folder.ok(&["spec", "lib/main.rvs"]);
    assert!(ran.stdout.find("property a past") < ran.stdout.find("property b past"), "{}", ran.stdout);
    assert!(ran.stdout.contains("spec A\n"), "{}", ran.stdout);
    folder.write("lib/main.rvs", "import \"b.rvs\";\n");
    let ran = folder.run(&["spec", "lib/main.rvs"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("cannot read lib/b.rvs"), "{ran:?}");
    assert!(ran.stderr.contains("lib/main.rvs:1:8"), "{ran:?}");
}

#[test]
fn a_missing_file_is_a_failure() {
    let ran = Folder::new().run(&["spec", "no.rvs"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("cannot read no.rvs: No such file"), "{ran:?}");
    assert!(ran.stdout.is_empty());
}

#[test]
fn all_mistakes_are_shown_with_their_lines() {
    let folder = Folder::new();
    let spec = "\
spec S {
  shared int x = 0 at c x;
  property a past { y > 0 }
  property b past { eventually x > 0 }
  property c past { x == \"one\" }
}
";
    folder.write("bad.rvs", spec);
    for args in [vec!["spec", "bad.rvs"], vec!["spec", "bad.rvs", "--dot"]] {
        let ran = folder.run(&args);
        assert!(ran.code == Some(2) && ran.stdout.is_empty(), "{ran:?}");
        assert_eq!(ran.stderr.matches("error[").count(), 3, "{}", ran.stderr);
        for line in 3..=5 {
            assert!(ran.stderr.contains(&format!("--> bad.rvs:{line}:")), "line {line}: {}", ran.stderr);
        }
        assert!(ran.stderr.ends_with("foretrace: bad.rvs: 3 errors\n"), "{}", ran.stderr);
        assert!(!ran.stderr.contains('\x1b'));
    }
    assert!(folder.run(&["spec", "bad.rvs", "--color", "always"]).stderr.contains("\x1b["));
}

/// What a specification with these declarations says about a property, and what is said on standard error.
fn with_property(property: &str) -> (String, String) {
    let folder = Folder::new();
    let declared = "\
shared int x = 0 at c x; shared int y = 0 at c y; shared bool b = false at c b; shared real r at c r;
shared string s at c s; event go at c go; event stop at c stop;";
    folder.write("s.rvs", format!("spec S {{\n{declared}\nproperty p{property}\n}}\n"));
    let ran = folder.ok(&["spec", "s.rvs"]);
    (ran.stdout, ran.stderr)
}

#[test]
fn what_can_never_be_violated_is_a_warning() {
    for property in [
        " past { x > 0 -> x > -1 }",
        " past { !(x == 0 && x == 1) }",
        " past { !(x > 0 && x < 1) }",
        " past { !(x < 0.5 && x > 0.1) }",
        " past { b -> !(b == false) }",
        " past { !(s > \"a\" && s < \"a\") }",
        " past { r >= 2.5 -> r > 2 }",
        " past { !(go && stop) }",
        " past { !(start(x > 0) && start(y > 0)) }",
        " past { start(x > 0) -> !go }",
        " past { write(y) -> !end(x == 0) }",
        "(i : thread, j : thread where i != j) past { !(write(x, i) && write(x, j)) }",
        " future { always (go -> eventually stop) } with { at_end = none; }",
        " ere never { go & stop }",
    ] {
        let (text, said) = with_property(property);
        let expected = "the property `p` can never be violated";
        assert!(said.contains("warning[useless]") && said.contains(expected), "{property}: {said}\n{text}");
        assert!(said.contains("--> s.rvs:4:10"), "{said}");
        assert_eq!(entry(&text, "p", "violated by"), ["no run"], "{property}");
    }
}

#[test]
fn what_can_be_violated_is_not() {
    for (property, last) in [
        (" past { x > 0 -> x > 1 }", "step 1: x > 0"),
        (" past { !(r > 0.1 && r < 0.2) }", "step 0: r > 0.1, r < 0.2"),
        (" past { !(s > \"a\" && s < \"b\") }", "step 0: s > \"a\", s < \"b\""),
        (" past { !(x > 0 && y > 0) }", "step 2: x > 0, y > 0"),
        (" past { !(read(x) && write(x)) }", "step 1: read(x), write(x)"),
        (" past { write(x) -> !end(x == 0) }", "step 1: write(x)"),
        ("(i : thread, j : thread) past { !(write(x, i) && write(x, j)) }", "step 1: write(x, i), write(x, j)"),
    ] {
        let (text, said) = with_property(property);
        assert!(said.is_empty(), "{property}: {said}");
        assert_eq!(entry(&text, "p", "violated by").last().map(String::as_str), Some(last), "{property}");
    }
}

#[test]
fn what_is_always_violated_is_a_warning() {
    let (text, said) = with_property(" past { x > 0 }");
    assert!(said.contains("the property `p` is violated at the very first step of every run"), "{said}");
    assert_eq!(entry(&text, "p", "violated by"), ["step 0: nothing"]);
    let (text, said) = with_property(" future { eventually (x > 0 && x < 0) }");
    assert!(said.contains("the property `p` can never be satisfied"), "{said}");
    assert_eq!(entry(&text, "p", "satisfied by"), ["no run"]);
}

#[test]
fn a_logic_that_does_not_start_is_a_failure() {
    let folder = Folder::new();
    let spec =
        |logic: &str| format!("spec S {{\n  event go at c go;\n  property p logic \"{logic}\" {{ \"go\" }}\n}}\n");
    for (logic, what) in [
        ("process:./no-such-program", "no-such-program"),
        ("maude:missing.maude:LTL", "missing.maude"),
        ("prolog", "`prolog` is not a logic"),
    ] {
        folder.write("s.rvs", spec(logic));
        let ran = folder.run(&["spec", "s.rvs"]);
        assert!(ran.code == Some(2) && ran.stderr.contains(what), "{ran:?}");
        assert!(ran.stderr.contains("--> s.rvs:3:") && ran.stdout.is_empty(), "{ran:?}");
    }
}
