//! What the language means: aliases, names, imports, lowering, the command line.

use event::Causality;
use property::check::{
    Arg, Atom, Breadth, CheckKind, Checked, Const, EventPattern, Logic, RaceMethod, Spec, TraceNames, Valuation, Value,
    VarRef, check_file, check_formula, explain, holds, parse_init,
};
use property::syntax::{Loader, Severity, render};
use property::{Ere, Formula};
use std::collections::BTreeMap;

struct Files(BTreeMap<&'static str, String>);

impl Loader for Files {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        self.0.get(path).map(|t| t.clone().into_bytes()).ok_or_else(|| "no such file".to_owned())
    }
}

fn check(text: &str) -> Checked {
    check_file("a.rvs", &Files([("a.rvs", text.to_owned())].into()))
}

fn shown(checked: &Checked) -> String {
    render(&checked.diagnostics, &checked.sources, false)
}

/// The only specification of a text without mistakes or warnings.
fn spec(text: &str) -> Spec {
    let mut checked = check(text);
    assert!(checked.diagnostics.is_empty(), "{}", shown(&checked));
    assert_eq!(checked.specs.len(), 1);
    checked.specs.remove(0)
}

const NAMES: &str = "shared bool a at c a; shared bool b at c b; shared int n = 0 at c n;";

/// A formula and its atoms.
fn future(formula: &str) -> (Formula, Vec<Atom>) {
    let spec =
        spec(&format!("spec S {{ {NAMES} let all = a && b; property p future {{ (all || !all) && ({formula}) }} }}"));
    match &spec.properties[0].logic {
        // The first conjunct gives a and b the numbers 0 and 1.
        Logic::Future(Formula::And(_, f)) => {
            ((**f).clone(), spec.properties[0].atoms.iter().map(|(atom, _)| atom.clone()).collect())
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn aliases_mean_what_the_words_mean() {
    for (alias, words) in [
        ("⊙ a", "prev a"),
        ("Y a", "yesterday a"),
        ("Z a", "wyesterday a"),
        ("♦ a", "once a"),
        ("<*> a", "once a"),
        ("⊡ a", "hist a"),
        ("[*] a", "hist a"),
        ("a S b", "a since b"),
        ("↑ a", "start(a)"),
        ("↓(a)", "end(a)"),
        ("[] a", "always a"),
        ("G a", "always a"),
        ("□ a", "always a"),
        ("<> a", "eventually a"),
        ("F a", "eventually a"),
        ("◇a", "eventually a"),
        ("o a", "next a"),
        ("X(a)", "next a"),
        ("a U b", "a until b"),
        ("a ∧ ¬b ∨ a", "a && !b || a"),
        ("a → b ↔ a", "a -> b <-> a"),
        ("n ≤ 1 ∧ n ≥ 0 ∧ n ≠ 2", "n <= 1 && n >= 0 && n != 2"),
        ("[](a -> <> b)", "always (a -> eventually b)"),
        ("G F a", "always eventually a"),
        ("a U b U a", "a until (b until a)"),
        ("!a && b || a -> b", "(((!a) && b) || a) -> b"),
        ("a -> b -> a", "a -> (b -> a)"),
        ("a <-> b <-> a", "(a <-> b) <-> a"),
        ("once a since b", "(once a) since b"),
        ("!n == 1", "!(n == 1)"),
        ("a == true", "a"),
        ("a == b", "a <-> b"),
        ("a != b", "!(a <-> b)"),
        ("n - 1 - 1 == 0", "(n - 1) - 1 == 0"),
    ] {
        assert_eq!(future(alias), future(words), "{alias}");
    }
    assert_ne!(future("n - 1 - 1 == 0"), future("n - (1 - 1) == 0"));
}

#[test]
fn one_letter_names_are_names_where_they_are_declared() {
    let spec = spec(
        "spec S { shared bool G at c G; shared bool S at c S; shared bool o at c o;
           shared int start = 0 at c start; shared int end = 0 at c end; shared bool weak at c weak;
           property p past { G && o && S S S -> start(start > end) && end(weak) && weak [G, o) } }",
    );
    assert_eq!(spec.properties[0].relevant.variables.len(), 6);
}

#[test]
fn parameters_without_blanks_and_quantifiers() {
    let spec = spec(
        "spec S { region r at java A.m; local int v = 0;
           property p(i:thread,j:thread where i!=j) mttl at i { r -> !@j r && forall k:thread where k!=i.(@k(v)<=v) }
           property q(t:thread) past { v[t] > 0 -> r[t] } }",
    );
    let words: Vec<String> = spec.properties.iter().map(|p| explain(&spec, p)).collect();
    assert!(words[0].contains("for every thread k with k != i, @k(v) <= v"), "{}", words[0]);
    assert!(words[1].contains("whenever v[t] > 0, then r[t]"), "{}", words[1]);
}

#[test]
fn names_for_formulas_are_replaced() {
    let spec = spec(
        "spec S { shared int x = 0 at c x; shared int y = 0 at c y; event e(k : int) at c f;
           let big(v : int) = x > v; let sum = x + y; let w(t : thread) = write(x, t); let at(k : int) = e(k);
           property p(t : thread) past { big(3) && sum > 2 && w(t) && w(_) && at(7) && x > 3 } }",
    );
    let property = &spec.properties[0];
    assert_eq!(property.atoms.len(), 5, "big(3) is x > 3: {:?}", property.atoms);
    let events: Vec<&EventPattern> = property.relevant.events.iter().collect();
    assert!(matches!(events[0], EventPattern::Write(_, Arg::Param(0))));
    assert!(matches!(events[1], EventPattern::Write(_, Arg::Free)));
    assert!(matches!(events[2], EventPattern::User(0, args) if args == &[Arg::Const(Const::Int(7))]));
}

#[test]
fn relevance_is_syntactic() {
    let spec = spec("spec S { shared int x = 0 at c x; shared int y = 0 at c y; property p past { x >= x || true } }");
    let relevant = &spec.properties[0].relevant;
    assert_eq!(relevant.variables.iter().map(|v| v.var).collect::<Vec<_>>(), [0]);
}

#[test]
fn conditions_on_parameters_are_the_same_at_every_step() {
    let spec = spec(
        "spec S { shared int x = 0 at c x;
           property p(i : thread, j : thread where i != j || i == j) past { i == j -> write(x, i) && write(x, j) } }",
    );
    let property = &spec.properties[0];
    assert!(matches!(property.atoms[0].0, Atom::Instance(_)));
    assert!(property.filter.is_some());
}

#[test]
fn a_machine_is_total_if_its_guards_are() {
    let machine = |guards: &str| {
        check(&format!("spec S {{ {NAMES} property m fsm {{ init s; bad t; s {{ {guards} }} t {{ }} }} }}"))
    };
    for guards in
        ["else => t;", "a => s; !a => t;", "a && b => s; !a => s; !b => t;", "true => t;", "once a => s; !once a => t;"]
    {
        let checked = machine(guards);
        assert!(checked.diagnostics.is_empty(), "{guards}\n{}", shown(&checked));
    }
    for guards in ["a => t;", "a => s; b => t;", "n > 0 => t; n <= 0 => s;"] {
        assert!(machine(guards).has_errors(), "{guards}");
    }
}

#[test]
fn several_mistakes_in_one_go() {
    let checked = check(
        "spec S {
           shared int x = true at c x;
           shared int y = = at c y;
           property p past { x > 0 -> zz }
           explore { breath = 1; }
           property q past { y > 0 && (x > }
           property r past { eventually x > 0 }
           check mutex of x;
         }",
    );
    assert_eq!(checked.diagnostics.len(), 7, "{}", shown(&checked));
    let places: Vec<_> = checked.diagnostics.iter().map(|d| d.labels[0].0).collect();
    assert!(places.is_sorted());
}

#[test]
fn imports_bring_specifications_in() {
    let files = |b: &str| {
        Files(
            [
                ("dir/a.rvs", "import \"b.rvs\"; import \"./c.rvs\"; spec A { }".to_owned()),
                ("dir/b.rvs", b.to_owned()),
                ("dir/c.rvs", "import \"../dir/b.rvs\"; spec C { }".to_owned()),
            ]
            .into(),
        )
    };
    let checked = check_file("dir/a.rvs", &files("spec B { }"));
    assert!(checked.diagnostics.is_empty(), "{}", shown(&checked));
    assert_eq!(checked.specs.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["B", "C", "A"]);

    let checked = check_file("dir/a.rvs", &files("spec B { property p past { x } }"));
    assert!(shown(&checked).contains("--> dir/b.rvs:1:28"), "{}", shown(&checked));

    let checked = check_file("dir/a.rvs", &files("import \"c.rvs\"; spec B { }"));
    assert_eq!(checked.diagnostics.len(), 1);
    assert!(shown(&checked).contains("dir/b.rvs → dir/c.rvs → dir/b.rvs"), "{}", shown(&checked));

    let checked = check_file("nowhere.rvs", &files(""));
    assert!(shown(&checked).contains("cannot read nowhere.rvs"), "{}", shown(&checked));
}

#[test]
fn settings_and_checks_become_data() {
    let spec = spec(
        "spec S { shared int x = 0 at c x; region r at c f; lock l at c m;
           explore { causality = weak-hb; breadth = all; max_cuts = 5; window = 10; }
           property p past { x > 0 } with { causality = full_hb; breadth = 3; }
           check races on x using sync-preserving; check races using maximal with { window = 7; };
           check deadlocks upto 3 threads; check mutex of r; check lost_wakeup on l;
           on truncated { report \"cut\"; exec \"true\"; stop; exit 9; }
           suppress p at \"a b.c:12\" because \"known\"; suppress races at \"x.c:1\"; }",
    );
    assert_eq!(spec.settings.causality, Some(Causality::WeakHb.into()));
    let settings = spec.properties[0].settings.or(spec.settings);
    assert_eq!((settings.causality, settings.breadth), (Some(Causality::FullHb.into()), Some(Breadth::Cuts(3))));
    assert_eq!((settings.max_cuts, settings.window, settings.steps), (Some(5), Some(10), None));
    let checks: Vec<&CheckKind> = spec.checks.iter().map(|c| &c.what).collect();
    assert_eq!(checks[0], &CheckKind::Races(vec![0], Some(RaceMethod::SyncPreserving)));
    assert_eq!(checks[1], &CheckKind::Races(vec![], Some(RaceMethod::Model(Causality::Maximal))));
    assert_eq!(
        checks[2..],
        [&CheckKind::Deadlocks(Some(3)), &CheckKind::Mutex(vec![1]), &CheckKind::LostWakeup(vec![0])]
    );
    assert_eq!(spec.checks[1].settings.window, Some(7));
    assert_eq!((spec.handlers.len(), spec.handlers[0].actions.len()), (1, 4));
    assert_eq!((spec.suppressions.len(), spec.suppressions[0].line), (2, 12));
    assert_eq!(spec.suppressions[0].file, "a b.c");
}

#[test]
fn places_are_names_of_traces() {
    let spec = spec(
        "spec S { shared int a at java p.Outer$Inner.x; shared int b at c file.c:landing; shared int c at rust k::m::N;
           shared int d at trace \"int[]@5[2]\"; shared int e at c obj.field; shared int f at c \"my-file.c:x\";
           region r at java A.<init>; region s at java A#exit; lock l at java Event;
           region t at c net::Conn::send; region u at c \"f.cc:net::Conn::send(std::string const&, int) const\";
           region v at c \"C::operator()\"; region w at c \"C::operator()(int)\"; }",
    );
    let names: Vec<String> = spec.variables.iter().filter_map(|v| v.place.as_ref()).map(|p| p.recorded()).collect();
    assert_eq!(
        names,
        [
            "p.Outer$Inner.x",
            "file.c:landing",
            "k::m::N",
            "int[]@5[2]",
            "obj.field",
            "my-file.c:x",
            "A.<init>",
            "A.exit",
            "net.Conn.send",
            "f.cc:net.Conn.send(std::string const&, int) const",
            "C.operator()",
            "C.operator()(int)",
        ]
    );
}

#[test]
fn other_logics_get_the_propositions_they_mention() {
    let spec = spec(&format!(
        "spec S {{ {NAMES} let pos = n > 0; \
         property p logic \"maude:LTL.maude:LTL\" {{ \"[] (pos -> <> a)\" \"unrelated n\" }} }}"
    ));
    let Logic::Logic { which, lines, propositions } = &spec.properties[0].logic else { panic!("another logic") };
    assert_eq!((which.as_str(), lines.len()), ("maude:LTL.maude:LTL", 2));
    assert_eq!(propositions.iter().map(|p| p.0.as_str()).collect::<Vec<_>>(), ["pos", "a"]);
}

#[test]
fn leaves_of_expressions_look_back() {
    let spec = spec(&format!(
        "spec S {{ {NAMES} event p = start(a); property e ere follows {{ p {{ prev b }}+ (any | eps) }} }}"
    ));
    let Logic::Ere { ere: Ere::Cat(..), .. } = &spec.properties[0].logic else { panic!("an expression") };
    assert_eq!(spec.properties[0].atoms.len(), 2);
}

#[test]
fn a_formula_from_the_command_line() {
    let known = TraceNames {
        variables: &["Demo.x", "file.c:landing", "int[]@5[2]", "G", "v"],
        locks: &["m"],
        threads: &["T1"],
    };
    let text =
        "start(Demo.x > 0) -> [file.c:landing == 1, `int[]@5[2]` < 0) && !G && (write(v, T1) || acquire(m, T1) || v)";
    let (sources, result) = check_formula("property-1", text, known);
    let spec = result.unwrap_or_else(|d| panic!("{}", render(&d, &sources, false)));
    assert_eq!(spec.properties[0].atoms.len(), 7);
    assert_eq!(spec.variables.len(), 5);

    for (text, expected) in [
        ("Demo.y > 0", "did you mean `Demo.x`?"),
        ("v > 0 )", "expected an operator or the end of the formula, found `)`"),
        ("eventually v > 0", "`eventually` in a past-time property"),
        ("", "expected a formula, found the end"),
        ("v + \"a\" > 0", "`+` needs numbers"),
    ] {
        let (sources, result) = check_formula("property-1", text, known);
        let diagnostics = result.expect_err(text);
        let shown = render(&diagnostics, &sources, false);
        assert_eq!(diagnostics.len(), 1, "{shown}");
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn initial_values_from_the_command_line() {
    let (_, values) = parse_init("x=0, Demo.y@3 =-1.5,z=true,s=\"a,\\\"b=\",u=unknown");
    let expected = [
        ("x", Const::Int(0)),
        ("Demo.y@3", Const::Real(-1.5)),
        ("z", Const::Bool(true)),
        ("s", Const::Str("a,\"b=".to_owned())),
    ];
    assert_eq!(values.expect("values"), expected.map(|(n, c)| (n.to_owned(), c)));
    for (text, expected) in [
        ("x", "without a value"),
        ("=1", "without a name"),
        ("x=1,x=2", "two initial values"),
        ("x=abc", "a string stands in quotes"),
        ("x=1 2", "not a constant"),
        ("x=99999999999999999999", "not a constant"),
    ] {
        let (sources, values) = parse_init(text);
        let diagnostics = values.expect_err(text);
        let shown = render(&diagnostics, &sources, false);
        assert_eq!(diagnostics.len(), 1, "{shown}");
        assert!(shown.contains(expected), "{shown}");
    }
}

#[test]
fn colours_only_when_asked_for() {
    let checked = check("spec S { property p past { x } }");
    assert_eq!(checked.diagnostics[0].severity, Severity::Error);
    assert!(!render(&checked.diagnostics, &checked.sources, false).contains('\x1b'));
    assert!(render(&checked.diagnostics, &checked.sources, true).contains('\x1b'));
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let checked = check("spec S { \u{1b}[31m \u{7} shared int x \u{202e} at c x; }");
    let text = shown(&checked);
    assert!(!text.contains('\u{1b}') && !text.contains('\u{7}'), "{text:?}");
}

/// Variables by number.
struct At<'a>(&'a [Value<'a>]);

impl Valuation for At<'_> {
    fn variable(&self, var: &VarRef) -> Value<'_> {
        self.0[var.var as usize]
    }
    fn param(&self, _: u32) -> Value<'_> {
        Value::Unknown
    }
}

#[test]
fn state_atoms_are_evaluated() {
    let spec = spec(
        "spec S { shared int n = 0 at c n; shared string s at c s; shared real r at c r; shared bool f at c f;
           property p past { n * 2 + 1 > 6 && s == \"up\" && r / n >= 0.5 && f && n % 2 == -1 } }",
    );
    let on = |values: &[Value<'_>]| -> Vec<Option<bool>> {
        let atoms = spec.properties[0].atoms.iter();
        atoms
            .map(|(atom, _)| match atom {
                Atom::State(e) => holds(e, &At(values)).ok(),
                other => panic!("{other:?}"),
            })
            .collect()
    };
    use Value::{Bool, Int, Real, Str, Unknown};
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(on(&[Int(3), Str("up"), Real(1.5), Bool(true)]), [yes, yes, yes, yes, no]);
    assert_eq!(on(&[Int(-3), Str("down"), Real(1.5), Int(0)]), [no, no, no, no, yes]);
    assert_eq!(on(&[Int(0), Unknown, Real(1.5), Unknown]), [no, None, None, None, no]);
    assert_eq!(on(&[Int(i64::MAX), Str(""), Real(f64::NAN), Bool(false)]), [None, no, None, no, no]);
}
