//! `check --spec` and `--property`: the examples of the language on recorded runs, verdicts, handlers and exit codes.

use crate::common::{Folder, Ran, corpus};
use serde_json::Value;

fn spec(name: &str) -> String {
    corpus("specs").join(name).to_str().unwrap().to_owned()
}

/// Runs `check` on a trace given as text; the result and the JSON.
fn check(folder: &Folder, trace: &str, args: &[&str]) -> (Ran, Value) {
    folder.write("t.std", trace);
    let ran = folder.run(&[&["check", "t.std", "--detect", "none", "--json", "out.json"], args].concat());
    let json = serde_json::from_slice(&folder.read("out.json")).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran, json)
}

/// (name, verdict, violating event) of each entry.
fn verdicts(json: &Value) -> Vec<(String, String, Option<u64>)> {
    let text = |v: &Value| v.as_str().unwrap().to_owned();
    let entries = json["properties"].as_array().unwrap();
    entries.iter().map(|p| (text(&p["name"]), text(&p["verdict"]), p["violating_event"].as_u64())).collect()
}

const LANDING: &str = "#! init landing=0\nC|r(radio)=1|1\nC|w(approved)=1|2\nC|w(landing)=1|3\nR|w(radio)=0|4\n";

#[test]
fn the_recorded_landing_is_good() {
    let folder = Folder::new();
    let (ran, json) = check(&folder, LANDING, &["--spec", &spec("01-landing.rvs"), "--causality", "observed"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(verdicts(&json), [("safe_landing".into(), "holds".into(), None)]);
    assert_eq!(json["properties"][0]["causality"], "observed");
    assert_eq!(json["properties"][0]["logic"], "past");
    assert!(ran.stdout.contains("safe_landing  holds"), "{}", ran.stdout);
}

#[test]
fn a_bad_landing_is_a_finding_and_its_handler_sets_the_exit_code() {
    let folder = Folder::new();
    let bad = "C|w(approved)=1|2\nR|w(radio)=0|4\nC|w(landing)=1|landing.c:27\n";
    let (ran, json) = check(&folder, bad, &["--spec", &spec("01-landing.rvs")]);
    assert_eq!(ran.code, Some(10), "{ran:?}");
    assert_eq!(verdicts(&json), [("safe_landing".into(), "violated".into(), Some(2))]);
    let finding = &json["findings"][0];
    assert_eq!((finding["kind"].as_str(), finding["status"].as_str()), (Some("property"), Some("observed")));
    assert_eq!(finding["detector"], "safe_landing");
    assert_eq!(
        (&finding["events"], &finding["sites"]),
        (&serde_json::json!([2]), &serde_json::json!(["landing.c:27"]))
    );
    assert!(finding["message"].as_str().unwrap().contains("landing began without a live approval"));
}

#[test]
fn the_interval_and_the_automaton_of_the_papers() {
    let folder = Folder::new();
    let states = "A|w(Demo.x)=0|1\nB|w(Demo.z)=1|2\nA|w(Demo.x)=1|3\nB|w(Demo.y)=1|4\n";
    let (ran, json) = check(&folder, states, &["--spec", &spec("02-interval.rvs"), "--causality", "observed"]);
    assert_eq!((ran.code, verdicts(&json)[0].1.as_str()), (Some(0), "holds"));
    // The run that prediction finds.
    let other = "A|w(Demo.x)=0|1\nB|w(Demo.y)=1|4\nB|w(Demo.z)=1|2\nA|w(Demo.x)=1|3\n";
    let (ran, json) = check(&folder, other, &["--spec", &spec("02-interval.rvs")]);
    assert_eq!((ran.code, &verdicts(&json)[0]), (Some(1), &("p2".into(), "violated".into(), Some(3))));

    let fig2 = "1|w(Demo.x)=-1|1\n1|r(Demo.x)=-1|2\n2|w(Demo.x)=1|3\n2|r(Demo.x)=1|4\n";
    let (ran, json) = check(&folder, fig2, &["--spec", &spec("04-becomes-positive.rvs"), "--causality", "observed"]);
    assert_eq!(ran.code, Some(0));
    assert!(verdicts(&json).iter().all(|v| v.1 == "holds") && verdicts(&json).len() == 3, "{json}");
    let positive_first = "2|w(Demo.x)=1|3\n1|w(Demo.x)=-1|1\n";
    let (ran, json) = check(&folder, positive_first, &["--spec", &spec("04-becomes-positive.rvs")]);
    assert_eq!(ran.code, Some(1));
    assert!(
        verdicts(&json).iter().all(|v| v.1 == "violated" && v.2 == Some(0)),
        "machine, formula and pattern: {json}"
    );
}

#[test]
fn requests_are_answered_per_instance() {
    let folder = Folder::new();
    let (push, reply) = ("server::Queue::push", "server::Queue::reply");
    let trace = format!("T|ev({push},1)|a\nT|ev({reply},1)|b\nT|ev({push},2)|a\n");
    let (ran, json) = check(&folder, &trace, &["--spec", &spec("08-response.rvs")]);
    assert_eq!(ran.code, Some(12), "the handler of unfulfilled: {ran:?}");
    assert_eq!(json["properties"].as_array().unwrap().len(), 2);
    assert_eq!(json["properties"][1]["instance"], serde_json::json!({"id": "2"}));
    assert_eq!(json["properties"][1]["verdict"], "unfulfilled");
    // Without the rule for the end there is nothing to say against it.
    let (ran, json) = check(&folder, &trace, &["--spec", &spec("08-response.rvs"), "--at-end", "none"]);
    assert_eq!((ran.code, verdicts(&json)[0].1.as_str()), (Some(0), "holds"));
    assert_eq!(json["properties"][0]["end"], "pending");
    // An event that never happens is no mistake, but worth a word.
    let (ran, _) = check(&folder, &format!("T|ev({push},1)|a\n"), &["--spec", &spec("08-response.rvs")]);
    assert_eq!(ran.code, Some(12));
    assert!(ran.stderr.contains("event response is bound to `server::Queue::reply`"), "{}", ran.stderr);
}

#[test]
fn the_lost_signal_per_object_and_thread() {
    let folder = Folder::new();
    let test = "P|r(Event.count@1)=0|1\n";
    let wait = "P|acq(Event@1)|2\nP|wait(Event@1)|3\n";
    let signal = "E|acq(Event@1)|4\nE|w(Event.count@1)=1|5\nE|notify(Event@1)|6\nE|rel(Event@1)|7\n";
    let good = &[test, wait, signal].concat();
    let observed = ["--spec", &spec("07-lost-wakeup.rvs"), "--at-end", "none", "--causality", "observed"];
    let (ran, json) = check(&folder, good, &observed);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(verdicts(&json).iter().all(|v| v.1 == "holds"), "{json}");
    // The signal comes between the test and the wait.
    let lost = &[test, signal, wait].concat();
    let (ran, json) = check(&folder, lost, &["--spec", &spec("07-lost-wakeup.rvs")]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let instance = serde_json::json!({"e": "Event@1", "t": "P"});
    let lost = json["properties"].as_array().unwrap().iter().find(|p| p["instance"] == instance).unwrap();
    assert_eq!((&lost["name"], &lost["verdict"]), (&"no_lost_signal".into(), &"violated".into()));
    assert_eq!(lost["violating_event"], 6);
    assert!(
        json["properties"].as_array().unwrap().iter().any(|p| p["name"] == "woken" && p["verdict"] == "unfulfilled")
    );
}

#[test]
fn a_formula_on_the_command_line_needs_no_file() {
    let folder = Folder::new();
    let formula = "start(landing == 1) -> [approved == 1, radio == 0)";
    let init = "landing=0,approved=0,radio=1";
    let (ran, json) = check(&folder, LANDING, &["--property", formula, "--init", init, "--causality", "observed"]);
    assert_eq!((ran.code, verdicts(&json)), (Some(0), vec![("property-1".into(), "holds".into(), None)]));
    let (ran, json) = check(&folder, LANDING, &["--property", formula, "--init", init]);
    assert_eq!((ran.code, verdicts(&json)), (Some(1), vec![("property-1".into(), "predicted".into(), Some(2))]));
    let (ran, json) =
        check(&folder, LANDING, &["--property", "radio == 1", "--property", "landing == 0", "--init", init]);
    assert_eq!(ran.code, Some(1));
    let expected =
        [("property-1".into(), "violated".into(), Some(3)), ("property-2".into(), "violated".into(), Some(2))];
    assert_eq!(verdicts(&json), expected);
    // Without an initial value there is no verdict.
    let (ran, json) = check(&folder, "A|w(y)|1\nA|w(x)=1|2\n", &["--property", "y == 1 || x < 5"]);
    assert_eq!((ran.code, verdicts(&json)[0].1.as_str()), (Some(0), "unknown"));
    // From standard input, too.
    let ran = folder.run_with_input(&["check", "-", "--detect", "none", "--property", "x < 1"], b"A|w(x)=1|2\n");
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let folder = Folder::new();
    folder.write("t.std", LANDING);
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--property", "start(landin == 1) -> once approvd"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("unknown name `landin`") && ran.stderr.contains("did you mean `landing`?"),
        "{}",
        ran.stderr
    );
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--property", "eventually landing == 1"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("eventually"), "{}", ran.stderr);
    folder.write("s.rvs", "spec S {\n  shared int x at trace \"landin\";\n  property p past { x > 0 }\n}\n");
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--spec", "s.rvs"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.stderr.contains("variable x is bound to `landin`") && ran.stderr.contains("the trace has `landing`"),
        "{}",
        ran.stderr
    );
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--spec", "nowhere.rvs"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("nowhere.rvs"), "{}", ran.stderr);
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--property", "x > 0", "--init", "x"]);
    assert!(ran.code == Some(2), "{ran:?}");
}

#[test]
fn a_property_that_says_nothing_is_warned_of() {
    let folder = Folder::new();
    folder.write("s.rvs", "spec S { shared int x = 0 at trace \"x\"; property p past { x > 0 || x <= 0 } }\n");
    let (ran, _) = check(&folder, "A|w(x)=1|1\n", &["--spec", "s.rvs"]);
    assert!(ran.stderr.contains("can never be violated"), "{}", ran.stderr);
}

#[test]
fn values_that_cannot_be_computed_are_reported_once() {
    let folder = Folder::new();
    let trace = "A|w(x)=0|1\nA|w(y)=1|2\nA|w(x)=0|3\n";
    let (ran, json) = check(&folder, trace, &["--property", "y / x > 0", "--init", "x=1,y=1"]);
    assert_eq!((ran.code, verdicts(&json)[0].1.as_str()), (Some(0), "unknown"), "{ran:?}");
    assert_eq!(ran.stderr.matches("division by zero").count(), 1, "{}", ran.stderr);
}

#[test]
fn handlers_run_commands_and_stop_the_analysis() {
    let folder = Folder::new();
    folder.write(
        "s.rvs",
        "spec S {\n  shared int x = 0 at trace \"x\";\n  property p past { x < 2 }\n  \
         on violation { report \"x grew\"; exec \"echo done > marker\"; stop; exit 7; }\n}\n",
    );
    let trace = "A|w(x)=1|1\nA|w(x)=2|2\n".to_owned() + &"A|w(x)=0|3\n".repeat(100_000);
    let (ran, json) = check(&folder, &trace, &["--spec", "s.rvs"]);
    assert_eq!(ran.code, Some(7), "{ran:?}");
    assert_eq!(folder.read("marker"), b"done\n");
    assert!(json["trace"]["events"].as_u64().unwrap() < 100_000, "it stopped: {}", json["trace"]);
}

/// An object's memory is taken back and given again: the second object is another one.
#[test]
fn instances_end_with_their_objects() {
    let folder = Folder::new();
    folder.write(
        "s.rvs",
        "spec S {\n  shared int v[o : object<C>] = 0 at java C.v;\n  \
         property once_only(o : object<C>) past { write(v[o]) -> !prev once write(v[o]) }\n  \
         property closed(o : object<C>) future { always (v[o] == 1 -> eventually v[o] == 2) }\n}\n",
    );
    let one = "T|alloc(C.v@1)|1\nT|w(C.v@1)=1|2\nT|free(C.v@1)|3\n";
    let (ran, json) = check(&folder, &one.repeat(2), &["--spec", "s.rvs"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let of = |name: &str| -> Vec<String> {
        let entries = json["properties"].as_array().unwrap().iter().filter(|p| p["name"] == name);
        entries.map(|p| p["verdict"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(of("once_only"), ["holds"], "each of the two objects was written once");
    assert_eq!(of("closed"), ["unfulfilled"; 3], "the property, and both objects");
    let (_, json) = check(&folder, "T|w(C.v@1)=1|2\nT|w(C.v@1)=1|2\n", &["--spec", "s.rvs"]);
    assert_eq!(json["properties"][0]["verdict"], "violated");
}

#[test]
fn nothing_is_said_of_an_end_that_was_not_seen() {
    let folder = Folder::new();
    let cut = "T|ev(server::Queue::push,1)|a\nT|ev(serv";
    let (ran, json) = check(&folder, cut, &["--spec", &spec("08-response.rvs")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(
        (&json["properties"][0]["verdict"], &json["properties"][0]["truncated"]),
        (&"truncated".into(), &true.into())
    );
}

#[test]
fn what_is_not_carried_out_is_reported() {
    let folder = Folder::new();
    let (ran, json) =
        check(&folder, "A|begin(Server.critical)|1\nA|end(Server.critical)|2\n", &["--spec", &spec("05-mutex.rvs")]);
    assert_eq!(ran.code, Some(0));
    assert_eq!(verdicts(&json), [("exclusive".into(), "unknown".into(), None)]);
    assert!(ran.stderr.contains("mttl"), "{}", ran.stderr);
}

/// What the second reviewer found: sorts, conditions on parameters, reused names, handlers.
#[test]
fn parameters_stand_only_for_subjects_of_their_sorts() {
    let folder = Folder::new();
    let other = "P|acq(Other@7)|1\nP|wait(Other@7)|2\nP|r(Event.count@1)=0|3\nP|acq(Event@1)|4\n";
    let (ran, json) = check(&folder, other, &["--spec", &spec("07-lost-wakeup.rvs")]);
    assert_eq!(ran.code, Some(0), "{ran:?} {json}");
    folder.write(
        "s.rvs",
        "spec S {\n  event req(id : int) at trace \"req\";\n  lock m[o : object<C>] at java C;\n  \
         event open(o : object<C>) at trace \"open\";\n  \
         property big(id : int) past { req(id) -> hist (id > 3) }\n  \
         property far(a : int) past { req(a) -> a + 1 > a }\n  \
         property opened(o : object<C>) past { acquire(m[o]) -> once open(o) }\n}\n",
    );
    let trace =
        "T|ev(req,5)|1\nT|ev(req,\"s\")|2\nT|ev(req,9223372036854775807)|3\nT|ev(open,\"C@3\")|4\nT|acq(C@3)|5\n";
    let (ran, json) = check(&folder, trace, &["--spec", "s.rvs"]);
    let entries = verdicts(&json);
    let of = |name: &str| -> Vec<&str> { entries.iter().filter(|v| v.0 == name).map(|v| v.1.as_str()).collect() };
    assert_eq!(of("big"), ["holds"], "{json}");
    assert_eq!(of("far"), ["unknown", "unknown"], "the property, and the instance whose sum is beyond 64 bits: {json}");
    assert_eq!(of("opened"), ["holds"], "{json}");
    assert!(ran.stderr.contains("beyond 64 bits"), "{}", ran.stderr);
}

#[test]
fn findings_name_the_locks_held_and_keep_properties_apart() {
    let folder = Folder::new();
    let one = |name: &str| {
        format!(
            "spec {name} {{ shared int x = 0 at trace \"x\"; property p past {{ x < 1 }} \
             on violation {{ report \"{name}\"; }} }}\n"
        )
    };
    folder.write("a.rvs", one("A"));
    folder.write("b.rvs", one("B"));
    let (ran, json) = check(&folder, "T|acq(l)|1\nT|w(x)=1|2\n", &["--spec", "a.rvs", "--spec", "b.rvs"]);
    assert_eq!(ran.code, Some(1));
    assert_eq!(json["findings"].as_array().unwrap().len(), 2, "{json}");
    assert_eq!(json["findings"][0]["locks_held"], serde_json::json!([["l"]]));
}

#[test]
fn a_command_of_a_handler_does_not_disturb_the_json() {
    let folder = Folder::new();
    folder.write(
        "s.rvs",
        "spec S { shared int x = 0 at trace \"x\"; property p past { x < 1 } on violation { exec \"echo OUT\"; } }\n",
    );
    folder.write("t.std", "T|w(x)=1|2\n");
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--spec", "s.rvs", "--json", "-"]);
    assert!(serde_json::from_str::<Value>(&ran.stdout).is_ok() && ran.stderr.contains("OUT"), "{ran:?}");
}

/// Work and memory stay in proportion: a million values of a parameter are a million instances, not their square.
#[test]
fn many_instances_stay_linear() {
    let folder = Folder::new();
    let trace: String =
        (0..300_000).map(|n| format!("T|ev(server::Queue::push,{n})|a\nT|ev(server::Queue::reply,{n})|a\n")).collect();
    let started = std::time::Instant::now();
    let (ran, json) = check(&folder, &trace, &["--spec", &spec("08-response.rvs"), "--causality", "observed"]);
    assert_eq!((ran.code, verdicts(&json)[0].1.as_str()), (Some(0), "holds"), "{ran:?}");
    assert!(started.elapsed().as_secs() < 30, "{:?}", started.elapsed());
    // Of other runs only the first instances are looked at, and that is said.
    let trace: String = trace.lines().take(2400).map(|line| format!("{line}\n")).collect();
    let (ran, json) = check(&folder, &trace, &["--spec", &spec("08-response.rvs")]);
    assert_eq!((ran.code, verdicts(&json)[0].1.as_str()), (Some(0), "truncated"), "{ran:?}");
    assert!(ran.stderr.contains("200 instances were not looked at"), "{ran:?}");
}

/// The modules that come with the program need no file; a user's own file of that name wins.
#[test]
fn user_defined_logics() {
    let folder = Folder::new();
    let spec = "spec M {\n  shared int x = 0 at trace \"x\";\n  event p = x == 1;\n  event q = x == 2;\n  \
        property resp logic \"maude:ltl.maude:LTL\" { \"[] (p -> <> q)\" }\n  \
        property past logic \"maude:ptltl.maude:PTLTL\" { \"q -> once p\" }\n}\n";
    folder.write("s.rvs", spec);
    let (ran, json) = check(&folder, "A|w(x)=1|1\nA|w(x)=2|2\n", &["--spec", "s.rvs"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(verdicts(&json).iter().all(|v| v.1 == "holds"), "{json}");
    let (_, json) = check(&folder, "A|w(x)=2|1\nA|w(x)=1|2\n", &["--spec", "s.rvs"]);
    let expected = [("resp".into(), "unfulfilled".into(), None), ("past".into(), "violated".into(), Some(0))];
    assert_eq!(verdicts(&json), expected);
    folder.write("ltl.maude", "fmod NOTHING is endfm\n");
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--spec", "s.rvs"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("module LTL does not load"), "{ran:?}");
    // The example of a program that answers by lines.
    let logics = corpus("specs/logics");
    std::fs::copy(logics.join("balanced.sh"), folder.path("balanced.sh")).unwrap();
    folder.write(
        "b.rvs",
        spec.replace("maude:ltl.maude:LTL", "process:sh balanced.sh").replace("[] (p -> <> q)", "balanced p q"),
    );
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--spec", "b.rvs"]);
    assert!(ran.code == Some(1), "one q before any p: {ran:?}");
    assert!(!ran.stderr.contains("questions"), "{}", ran.stderr);
    // It counts without bound: every step is a new state, and a line on standard error says so.
    folder.write("t.std", "A|w(x)=1|1\n".repeat(1100));
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--spec", "b.rvs"]);
    assert!(ran.stderr.contains("questions were put to its logic"), "{}", ran.stderr);
}

#[test]
fn steps_can_be_all_events() {
    let folder = Folder::new();
    let trace = "A|w(x)=1|1\nA|r(z)|2\nA|w(x)=2|3\n";
    let (_, relevant) = check(&folder, trace, &["--property", "!(x == 2 && prev x == 1)"]);
    let (_, all) =
        check(&folder, trace, &["--property", "!(x == 2 && prev (x == 1 && prev x == 1))", "--steps", "all"]);
    assert_eq!((verdicts(&relevant)[0].2, verdicts(&all)[0].2), (Some(2), Some(2)));
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--property", "x > 0", "--init", "q=1"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("there is no variable `q`"), "{ran:?}");
    let (_, json) = check(&folder, trace, &["--property", "!(x == 2 && prev (x == 1 && prev x == 1))"]);
    assert_eq!(verdicts(&json)[0].1, "unknown", "before its first write x is not known");
}

/// A property of which nothing happened does not just hold.
#[test]
fn without_a_step_a_property_is_vacuous() {
    let folder = Folder::new();
    folder.write(
        "s.rvs",
        "spec S {\n  shared int x = 0 at trace \"x\";\n  event open(o : object<C>) at java C.open;\n  \
         event used at java C.use;\n  lock l at trace \"l\";\n  \
         property opened(o : object<C>) past { open(o) -> ! yesterday open(o) }\n  \
         property used_once past { used -> ! prev used }\n  property small past { x < 5 }\n  \
         property locked past { acquire(l) -> x < 5 } with { steps = all; }\n  \
         property owed future { eventually used }\n  property both(o : object<C>) past { used -> once open(o) }\n}\n",
    );
    // The event has no argument, as agents recorded it once.
    let trace = "T|ev(C.open)|1\nT|r(x)=0|2\nT|acq(m)|3\n";
    let (ran, json) = check(&folder, trace, &["--spec", "s.rvs"]);
    let entries = verdicts(&json);
    let of = |name: &str| entries.iter().find(|entry| entry.0 == name).map(|entry| entry.1.as_str());
    for name in ["opened", "used_once", "small", "locked", "both"] {
        assert_eq!(of(name), Some("vacuous"), "{name}: {json}");
    }
    // The end says more.
    assert_eq!((of("owed"), ran.code), (Some("unfulfilled"), Some(1)), "{json}");
    let unseen: Vec<&Value> = json["properties"].as_array().unwrap().iter().map(|p| &p["unseen"][0]).collect();
    assert_eq!(unseen[0], "event `open` saw nothing: `C.open` was not recorded with (o : object<C>)");
    assert_eq!(unseen[1], "event `used` saw nothing: `C.use` was not recorded");
    assert_eq!(unseen[2], "variable `x` (x) was not written");
    assert!(ran.stdout.contains("small      vacuous"), "{}", ran.stdout);
    assert!(ran.stdout.contains("variable `x` (x) was not written"), "{}", ran.stdout);
    // One step is enough, and a vacuous property is no finding.
    let trace = "T|ev(C.open,\"C@1\")|1\nT|ev(C.use)|1\nT|w(x)=1|2\nT|acq(l)|3\n";
    let (ran, json) = check(&folder, trace, &["--spec", "s.rvs"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(verdicts(&json).iter().all(|entry| entry.1 == "holds"), "{json}");
    let (ran, _) = check(&folder, "T|r(x)=0|2\n", &["--property", "x < 5", "--init", "x=0"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

/// Two events at one place are two, and a value may be of a subclass: the recorder has looked.
#[test]
fn java_events_have_names_by_how_they_are_bound() {
    let folder = Folder::new();
    folder.write(
        "s.rvs",
        "spec S {\n  event before(n : int) at java C.m;\n  \
         event after(o : object<C>, r : int) at java C.m after (this, result);\n  \
         property small(n : int) past { before(n) -> hist (n < 5) }\n  \
         property same(o : object<C>, r : int) past { after(o, r) -> hist (r < 5) }\n}\n",
    );
    let trace = "T|ev(C.m,1)|1\nT|ev(C.m/after/this/result,\"Sub@3\",7)|2\n";
    let (ran, json) = check(&folder, trace, &["--spec", "s.rvs"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let entries = verdicts(&json);
    let of = |name: &str| -> Vec<&str> { entries.iter().filter(|v| v.0 == name).map(|v| v.1.as_str()).collect() };
    assert_eq!((of("small"), of("same")), (vec!["holds"], vec!["violated", "violated"]), "{json}");
    assert_eq!(json["findings"][0]["objects"][0], "same for o = Sub@3, r = 7", "{json}");
}
