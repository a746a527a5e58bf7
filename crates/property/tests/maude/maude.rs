//! Modules that are missing, wrong or do not end, and a Maude that is not there: an error, and never a verdict.

use crate::{folder, impatient, known, message, monitor, shipped, start, verdicts};
use property::logic::{LogicError, SHIPPED, Starter};
use property::monitor::Verdict::{Pending, Unknown, Violated};
use property::monitor::{Letter, Monitor};
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A folder with this module in `m.maude`.
fn module(test: &str, text: &str) -> PathBuf {
    let folder = folder(test);
    std::fs::write(folder.join("m.maude"), text).expect("written");
    folder
}

/// A module M whose states are numbers; `atEnd` and what is given are its last lines.
fn counting(test: &str, equations: &str) -> PathBuf {
    let text = format!(
        "fmod M is\n  protecting FORETRACE .\n  protecting NAT .\n  sort State .\n  subsort Nat < State .\n  \
         op below : Nat -> State .\n  op init : Nat -> State .\n  op step : State Letter -> State .\n  \
         op verdict : State -> Verdict .\n  op atEnd : State Letter -> Verdict .\n  vars N M : Nat .\n  \
         var L : Letter .\n  var S : State .\n  eq init(N) = N .\n  eq atEnd(S, L) = pending .\n{equations}\nendfm\n"
    );
    module(test, &text)
}

#[test]
fn maude_is_missing() {
    let starter = Starter { maude: "no-such-maude".to_owned(), ..Starter::default() };
    let error = message(starter.start("maude:ltl.maude:LTL", &["True".to_owned()], &[], &shipped()));
    assert!(error.contains("cannot start no-such-maude") && error.contains("apt-get install maude"), "{error}");
}

#[test]
fn the_file_is_missing() {
    let error = message(start("maude:nowhere.maude:LTL", "True", &[], &shipped()));
    assert!(error.contains("nowhere.maude does not load"), "{error}");
}

#[test]
fn the_module_is_missing() {
    let error = message(start("maude:ltl.maude:NOWHERE", "True", &[], &shipped()));
    assert!(error.contains("module NOWHERE does not load"), "{error}");
}

#[test]
fn the_module_does_not_parse() {
    let folder = module("does not parse", "fmod M is\n  protecting FORETRACE .\n  op x : -> Nowhere .\nendfm\n");
    let error = message(start("maude:m.maude:M", "x", &[], &folder));
    assert!(error.contains("m.maude does not load: line 3") && error.contains("Nowhere"), "{error}");
}

#[test]
fn the_module_does_not_end() {
    for (k, text) in ["fmod M is\n  protecting FORETRACE .\n", "fmod M is\n op x : -> Bool .\n eq x = (true .\nendfm\n"]
        .iter()
        .enumerate()
    {
        let folder = module(&format!("does not end {k}"), text);
        let error = message(impatient(Duration::from_secs(2), "maude:m.maude:M", "x", &[], &folder));
        assert!(error.contains("m.maude does not load"), "{error}");
    }
}

#[test]
fn the_module_lacks_step() {
    let text = "fmod M is\n  protecting FORETRACE .\n  sort State .\n  op s : -> State .\n  \
                op init : Atom -> State .\n  \
                op verdict : State -> Verdict .\n  eq init(A:Atom) = s .\n  eq verdict(s) = pending .\nendfm\n";
    let folder = module("lacks step", text);
    let (monitor, asked) = monitor(start("maude:m.maude:M", "p", &["p"], &folder).expect("starts"), &["p"], 0);
    let q = monitor.init(Letter::known(1));
    assert_eq!((monitor.verdict(q), monitor.at_end(q, Letter::known(1))), (Unknown, Unknown));
    let error = asked.error().expect("an error").to_string();
    assert!(error.contains("step"), "{error}");
}

#[test]
fn the_module_lacks_an_equation() {
    // No equation for the step: a `verdict` for all the rest would call it pending for ever.
    let folder = counting("lacks equation", "  eq step(0, L) = 1 .\n  eq verdict(S) = pending .");
    let (monitor, asked) = monitor(start("maude:m.maude:M", "0", &["p"], &folder).expect("starts"), &["p"], 0);
    assert_eq!(verdicts(&monitor, &known(&[0, 0])), [(Pending, Pending), (Unknown, Unknown)]);
    let error = asked.error().expect("an error").to_string();
    assert!(error.contains("no equation applies"), "{error}");
}

#[test]
fn formulas_that_are_none() {
    let begun = Instant::now();
    let formulas = [
        "p /\\",
        "p q",
        "p p",
        "q",
        "[] (p -> q)",
        "p)",
        "(p",
        "p) . quit . red in LTL : (p",
        "p *** more",
        "p --- more",
        "q:Atom",
        "[] X:Formula",
        "q:[Formula]",
        "p /\\ \"",
        "\u{7}",
        "",
        "none",
        "violated",
        "p . q",
    ];
    for formula in formulas {
        let logic = start("maude:ltl.maude:LTL", formula, &["p"], &shipped());
        let error = message(logic.and_then(|mut logic| logic.init()));
        assert!(!error.is_empty(), "{formula}");
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "one of them was waited for");
}

#[test]
fn rewriting_does_not_end() {
    let equations = "  eq step(N, L) = if N < 2 then N + 1 else step(N + 1, L) fi .\n  eq verdict(S) = pending .";
    let folder = counting("for ever", equations);
    let logic = impatient(Duration::from_secs(1), "maude:m.maude:M", "0", &["p"], &folder).expect("starts");
    let (monitor, asked) = monitor(logic, &["p"], 0);
    let begun = Instant::now();
    let found = verdicts(&monitor, &known(&[0, 0, 0, 0]));
    assert_eq!(found, [(Pending, Pending), (Pending, Pending), (Unknown, Unknown), (Unknown, Unknown)]);
    let error = asked.error().expect("an error");
    // A stack may overflow before the patience ends.
    assert!(matches!(error, LogicError::Hangs { .. } | LogicError::Died { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(20));
    #[cfg(target_os = "linux")]
    assert!(!children().iter().any(|status| status.starts_with("Z (maude")), "a zombie");
}

/// The states (and names) of the processes that this one started.
#[cfg(target_os = "linux")]
fn children() -> Vec<String> {
    let me = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").expect("processes");
    let stats = processes.filter_map(|entry| std::fs::read_to_string(entry.ok()?.path().join("stat")).ok());
    stats
        .filter_map(|stat| {
            let (before, after) = stat.split_once(") ")?;
            let mut words = after.split(' ');
            let (state, parent) = (words.next()?, words.next()?);
            (parent == me).then(|| format!("{state} {}", before.split_once(' ').map_or("", |(_, name)| name)))
        })
        .collect()
}

#[test]
fn infinitely_many_states() {
    let equations = "  eq step(N, L) = N + (if L == none then 0 else 1 fi) .\n  eq step(below(N), L) = below(N) .\n  \
                     eq verdict(N) = if N > 200 then violated else pending fi .";
    let folder = counting("infinite", equations);
    let (monitor, asked) = monitor(start("maude:m.maude:M", "0", &["p"], &folder).expect("starts"), &["p"], 0);
    let mut q = monitor.init(Letter::known(0));
    for _ in 0..100 {
        q = monitor.step(q, Letter::known(0));
    }
    let few = asked.questions();
    for _ in 0..200 {
        assert_eq!(monitor.verdict(q), Pending);
        q = monitor.step(q, Letter::known(1));
    }
    assert!(few < 10 && asked.questions() > few + 390, "{few} {}", asked.questions());
    assert_eq!(monitor.verdict(monitor.step(q, Letter::known(1))), Violated);
    assert_eq!(asked.error(), None);
}

#[test]
fn a_folder_with_a_space_and_a_module_that_loads_another() {
    let folder = folder("loads another");
    for (name, text) in SHIPPED {
        std::fs::write(folder.join(name), text).expect("written");
    }
    let (monitor, _) = monitor(start("maude:ltl.maude:LTL", "[] p", &["p"], &folder).expect("starts"), &["p"], 0);
    assert_eq!(monitor.verdict(monitor.init(Letter::known(0))), Violated);
    std::fs::remove_file(folder.join("prop.maude")).expect("removed");
    let error = message(start("maude:ltl.maude:LTL", "[] p", &["p"], &folder));
    assert!(error.contains("ltl.maude does not load") && error.contains("prop"), "{error}");
}

#[test]
fn a_file_that_sets_what_is_printed() {
    let equations = "  eq step(N, L) = N + 1 .\n  eq verdict(N) = if N > 1 then violated else pending fi .";
    let folder = counting("settings", equations);
    let file = folder.join("m.maude");
    let text = std::fs::read_to_string(&file).expect("read");
    let settings =
        "set trace on .\nset print mixfix off .\nset print graph on .\nset show command on .\nset break on .\n";
    std::fs::write(&file, format!("{text}red in M : step(5, none) .\n{settings}")).expect("written");
    let (monitor, asked) = monitor(start("maude:m.maude:M", "0", &["p"], &folder).expect("starts"), &["p"], 0);
    assert_eq!(verdicts(&monitor, &known(&[0, 0])), [(Pending, Pending), (Violated, Violated)]);
    assert_eq!(asked.error(), None);
}
