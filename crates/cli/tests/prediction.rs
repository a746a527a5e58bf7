//! `check` on the runs that did not happen: the figures of the papers, witnesses, limits, handlers and exit codes.

use crate::common::{Folder, Ran, corpus};
use serde_json::{Value, json};

/// Runs `check --count --json -` on an example of the corpus.
fn count(example: &str, args: &[&str]) -> (Ran, Value) {
    let path = |name: &str| corpus("traces").join(example).join(name).to_str().unwrap().to_owned();
    let (trace, spec) = (path("trace.std"), path("spec.rvs"));
    let all = [&["check", &trace, "--detect", "none", "--spec", &spec, "--count", "--json", "-"], args].concat();
    let ran = Folder::new().run(&all);
    let json = serde_json::from_str(&ran.stdout).unwrap_or_else(|e| panic!("{e}: {ran:?}"));
    (ran, json)
}

/// `cuts/edges/runs, bad runs` of an entry.
fn figures(entry: &Value) -> String {
    let text = |field: &str| entry[field].as_str().unwrap_or("?").to_owned();
    format!("{}/{}/{}, {}", entry["cuts"], entry["edges"], text("runs"), text("bad_runs"))
}

/// Entries of a property, the whole first.
fn entries<'a>(json: &'a Value, name: &str) -> Vec<&'a Value> {
    json["properties"].as_array().unwrap().iter().filter(|p| p["name"] == name).collect()
}

/// (verdict, causality, figures) of a property as a whole.
fn whole(json: &Value, name: &str) -> (String, String, String) {
    let entry = entries(json, name)[0];
    let text = |field: &str| entry[field].as_str().unwrap().to_owned();
    (text("verdict"), text("causality"), figures(entry))
}

fn expect(json: &Value, name: &str, verdict: &str, causality: &str, figures: &str) {
    assert_eq!(whole(json, name), (verdict.to_owned(), causality.to_owned(), figures.to_owned()), "{json}");
}

#[test]
fn row_1_the_landing_controller() {
    let (ran, json) = count("landing", &[]);
    expect(&json, "safe_landing", "predicted", "full-hb", "6/7/3, 2");
    assert_eq!(ran.code, Some(11), "the handler of predicted: {ran:?}");
    let entry = &json["properties"][0];
    assert_eq!((&entry["violating_event"], &entry["truncated"]), (&json!(5), &json!(false)));
    assert_eq!(entry["witness"], json!([0, 1, 2, 3, 4, 6, 5]), "the radio fails before the landing");
    let finding = &json["findings"][0];
    assert_eq!((&finding["status"], &finding["kind"]), (&json!("predicted"), &json!("property")));
    assert_eq!((&finding["witness"], &finding["events"]), (&entry["witness"], &json!([5])));
    assert_eq!(finding["sites"], json!(["landing.c:27"]));
    let (ran, json) = count("landing", &["--causality", "observed"]);
    assert_eq!((ran.code, whole(&json, "safe_landing").0.as_str()), (Some(0), "holds"), "the recorded run is good");
    assert_eq!(json["properties"][0]["runs"], "1");
}

#[test]
fn row_2_the_interval() {
    let (ran, json) = count("interval", &["--causality", "full-hb"]);
    expect(&json, "p2", "predicted", "full-hb", "7/8/3, 1");
    assert_eq!(ran.code, Some(1));
    // x=0, y=1, z=1, x=1
    let witness = json["properties"][0]["witness"].as_array().unwrap();
    let writes: Vec<u64> = witness.iter().map(|e| e.as_u64().unwrap()).filter(|e| [1, 4, 6, 7].contains(e)).collect();
    assert_eq!(writes, [1, 7, 4, 6]);
    // The default finds it in the first model.
    let (_, json) = count("interval", &[]);
    expect(&json, "p2", "predicted", "full-hb", "7/8/3, 1");
    let (_, json) = count("interval", &["--causality", "observed"]);
    assert_eq!(whole(&json, "p2").0, "holds");
}

#[test]
fn row_3_the_permit() {
    let (ran, json) = count("permit", &[]);
    expect(&json, "permitted", "predicted", "weak-hb", "8/9/3, 1");
    assert_eq!((ran.code, &json["properties"][0]["witness"]), (Some(1), &json!([1, 2, 0, 3])));
    for model in ["full-hb", "full_hb"] {
        let (ran, json) = count("permit", &["--causality", model]);
        expect(&json, "permitted", "holds", "full-hb", "4/3/1, 0");
        assert_eq!((ran.code, &json["findings"]), (Some(0), &json!([])));
    }
    let (_, json) = count("permit", &["--causality", "auto"]);
    assert_eq!(json["properties"][0]["tried"], json!([{"causality": "full-hb", "why": "no violation"}]));
    assert_eq!(json["properties"][0]["causality"], "weak-hb");
}

#[test]
fn row_4_the_automaton() {
    let properties = ["by_fsm", "by_formula", "by_pattern"];
    let (ran, json) = count("automaton", &[]);
    assert_eq!(ran.code, Some(1));
    for name in properties {
        expect(&json, name, "predicted", "weak-hb", "13/15/4, 1");
        assert_eq!(entries(&json, name)[0]["witness"], json!([3]), "t2's write of x comes first");
    }
    let (_, json) = count("automaton", &["--causality", "full-hb"]);
    properties.iter().for_each(|name| expect(&json, name, "holds", "full-hb", "3/2/1, 0"));
    let (_, json) = count("automaton", &["--causality", "full-hb", "--steps", "all"]);
    properties.iter().for_each(|name| expect(&json, name, "holds", "full-hb", "10/11/3, 0"));
}

#[test]
fn row_6_adjacent_accesses() {
    let (ran, json) = count("adjacency", &[]);
    assert_eq!(ran.code, Some(1));
    expect(&json, "race_adjacent", "predicted", "weak-hb", "21/28/18, 2");
    let all = entries(&json, "race_adjacent");
    assert_eq!(all.len(), 3, "the property, and two instances: {json}");
    for entry in &all[1..] {
        assert_eq!((figures(entry), &entry["verdict"]), ("21/28/18, 1".to_owned(), &json!("predicted")));
    }
    assert_eq!(all[1]["instance"], json!({"i": "t1", "j": "t2"}));
    let (ran, json) = count("adjacency", &["--causality", "full-hb"]);
    expect(&json, "race_adjacent", "holds", "full-hb", "9/8/1, 0");
    assert_eq!((ran.code, entries(&json, "race_adjacent").len()), (Some(0), 1));
}

#[test]
fn row_7_the_lost_signal() {
    let (ran, json) = count("rax", &["--at-end", "none"]);
    assert_eq!(ran.code, Some(1));
    expect(&json, "no_lost_signal", "predicted", "weak-hb", "17/19/4, 3");
    let (_, json) = count("rax", &["--at-end", "none", "--causality", "full-hb"]);
    let entry = entries(&json, "no_lost_signal")[0];
    assert_eq!((&entry["verdict"], &entry["runs"], &entry["bad_runs"]), (&json!("holds"), &json!("1"), &json!("0")));
}

#[test]
fn row_8_request_and_response() {
    let (ran, json) = count("response", &[]);
    assert_eq!(ran.code, Some(12));
    let all = entries(&json, "answered");
    assert_eq!((all.len(), &all[1]["instance"], &all[1]["verdict"]), (3, &json!({"id": "2"}), &json!("unfulfilled")));
    assert_eq!(all[0]["verdict"], "unfulfilled");
    // Nothing orders the first answer behind its request.
    assert_eq!((&all[2]["instance"], &all[2]["verdict"]), (&json!({"id": "1"}), &json!("predicted-unfulfilled")));
}

/// 12 threads with 12 writes each, none of which has anything to do with another: 13^12 cuts.
fn wide() -> String {
    let line = |k: usize| format!("T{0}|w(v{0})={1}|{0}\n", k % 12, k / 12 + 1);
    let inits: Vec<String> = (0..12).map(|t| format!("v{t}=0")).collect();
    format!("#! init {}\n", inits.join(" ")) + &(0..144).map(line).collect::<String>()
}

#[test]
fn a_lattice_too_wide_for_its_limits_is_never_called_good() {
    let folder = Folder::new();
    folder.write("t.std", wide());
    // Never false, but only looking at every run shows that.
    let formula: Vec<String> = (0..12).map(|t| format!("v{t} < 13")).collect();
    let formula = formula.join(" && ") + " && (v0 == 12 -> v0 > v1 - 13)";
    for limit in [["--breadth", "50"], ["--max-cuts", "100000"]] {
        for model in ["full-hb", "weak-hb", "maximal"] {
            let args = [
                "check",
                "t.std",
                "--detect",
                "none",
                "--property",
                &formula,
                "--causality",
                model,
                "--json",
                "-",
                limit[0],
                limit[1],
            ];
            let ran = folder.ok(&args);
            let json: Value = serde_json::from_str(&ran.stdout).unwrap();
            let entry = &json["properties"][0];
            assert_eq!((&entry["verdict"], &entry["truncated"]), (&json!("truncated"), &json!(true)), "{model} {json}");
            let said = "t.std: the search for violations of property-1 was cut short: ";
            assert!(ran.stderr.contains(said) && ran.stderr.contains(limit[1]), "{}", ran.stderr);
            assert_eq!(folder.run(&[&args[..], &["--strict"]].concat()).code, Some(1));
        }
    }
    // What is near the recorded run is found all the same, and the verdict stays.
    let near = format!("!(v1 == 12 && v0 == 11) && {formula}");
    let args = [
        "check",
        "t.std",
        "--detect",
        "none",
        "--property",
        &near,
        "--causality",
        "full-hb",
        "--breadth",
        "50",
        "--json",
        "-",
    ];
    let ran = folder.run(&args);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let entry = &json["properties"][0];
    assert_eq!((ran.code, &entry["verdict"], &entry["truncated"]), (Some(1), &json!("predicted"), &json!(true)));
}

#[test]
fn limits_of_the_specification_count_and_the_command_line_wins() {
    let folder = Folder::new();
    folder.write("t.std", wide());
    let text = "spec S {\n  shared int a = 0 at trace \"v0\";\n  shared int b = 0 at trace \"v1\";\n  \
        explore { causality = full_hb; breadth = 2; }\n  property p past { a < 20 || b < 20 }\n  \
        on truncated { exec \"echo cut >> marker\"; exit 9; }\n}\n";
    folder.write("s.rvs", text);
    let ran = folder.ok(&["check", "t.std", "--detect", "none", "--spec", "s.rvs", "--quiet"]);
    assert!(ran.stderr.contains("2 cuts per level"), "{}", ran.stderr);
    assert_eq!(folder.read("marker"), b"cut\n");
    assert_eq!(
        folder.run(&["check", "t.std", "--detect", "none", "--spec", "s.rvs", "--strict", "--quiet"]).code,
        Some(9)
    );
    let ran = folder.ok(&["check", "t.std", "--detect", "none", "--spec", "s.rvs", "--breadth", "all", "--strict"]);
    assert!(ran.stdout.contains("p  holds        past, full-hb\n"), "{}", ran.stdout);
    for bad in
        [["--breadth", "0"], ["--breadth", "many"], ["--window", "0"], ["--max-cuts", "0"], ["--causality", "hb"]]
    {
        assert_eq!(folder.run(&["check", "t.std", "--detect", "none", bad[0], bad[1]]).code, Some(2), "{bad:?}");
    }
}

#[test]
fn sync_only_says_that_its_values_may_be_impossible() {
    let (ran, json) = count("permit", &["--causality", "sync_only"]);
    assert_eq!((ran.code, json["properties"][0]["causality"].as_str()), (Some(1), Some("sync-only")));
    assert!(json["findings"][0]["message"].as_str().unwrap().contains("may be impossible"), "{json}");
    let path = |name: &str| corpus("traces/permit").join(name).to_str().unwrap().to_owned();
    let args =
        ["check", &path("trace.std"), "--detect", "none", "--spec", &path("spec.rvs"), "--causality", "sync-only"];
    let text = Folder::new().run(&args).stdout;
    assert!(text.contains("past, sync-only, whose values may be impossible"), "{text}");
}

#[test]
fn a_violation_of_the_recorded_run_is_reported_as_such() {
    let folder = Folder::new();
    folder.write("t.std", "#! init x=0 y=0\nA|w(x)=1|1\nB|w(y)=1|2\nA|w(x)=2|3\n");
    let json = |formula: &str| -> Value {
        let ran = folder.run(&["check", "t.std", "--detect", "none", "--property", formula, "--json", "-"]);
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let violated = json("x < 2");
    let entry = &violated["properties"][0];
    assert_eq!((&entry["verdict"], &entry["causality"]), (&json!("violated"), &json!("observed")));
    assert_eq!((&entry["witness"], &entry["violating_event"]), (&json!([0, 1, 2]), &json!(2)));
    let from_the_start = json("x > 0");
    let entry = &from_the_start["properties"][0];
    assert_eq!((&entry["witness"], entry.get("violating_event")), (&json!([]), None));
}

/// What a witness shows is what a reader is shown: the locks held in the predicted order, and what moved.
#[test]
fn long_schedules_are_shown_where_they_differ() {
    let folder = Folder::new();
    let idle = |n: usize| "A|r(z)|5\n".repeat(n);
    let trace = format!(
        "#! init x=0 y=0\n{}A|w(x)=1|1\n{}A|w(x)=0|2\n{}B|acq(l)|3\nB|w(y)=1|4\nB|rel(l)|5\n",
        idle(500),
        idle(300),
        idle(700)
    );
    folder.write("t.std", trace);
    let ran = folder.run(&["check", "t.std", "--detect", "none", "--property", "!(x == 1 && y == 1)"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("B  w(y)=1  event 1503  at 4  holding l\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("  values    x = 1, y = 1\n"), "{}", ran.stdout);
    assert!(ran.stdout.contains("events as recorded"), "{}", ran.stdout);
    let orders = "\
    … 500 events        … 500 events as recorded
    w(x)=1              w(x)=1
    … 300 events        … 300 events
    w(x)=0            *         acq(l)
    … 700 events      *         w(y)=1            <- violation
            acq(l)
            w(y)=1
";
    assert!(ran.stdout.contains(orders), "{}", ran.stdout);
    assert!(ran.stdout.lines().count() < 60, "{}", ran.stdout);
    assert!(!ran.stdout.contains(" witness "), "the orders say it better: {}", ran.stdout);
}

#[test]
fn incomplete_traces_and_traces_with_problems_are_searched_as_well() {
    let folder = Folder::new();
    let formula = ["--property", "!(x == 1 && y == 1)", "--init", "x=0,y=0"];
    for (trace, said) in [
        ("A|w(x)=1|1\nA|w(x)=0|2\nB|w(y)=1|3\nB|w(", "incomplete"),
        ("A|rel(l)|0\nA|w(x)=1|1\nA|w(x)=0|2\nB|w(y)=1|3\n", "problem"),
    ] {
        folder.write("t.std", trace);
        let ran = folder.run(&[&["check", "t.std", "--detect", "none"], &formula[..]].concat());
        assert!(ran.code == Some(1) && ran.stdout.contains("predicted violation of property-1"), "{ran:?}");
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
}

#[test]
fn the_same_input_gives_the_same_json() {
    for example in ["landing", "adjacency", "rax", "automaton"] {
        let text = |ran: Ran| ran.stdout.split("\"stats\"").next().unwrap().to_owned();
        let (first, again) = (text(count(example, &[]).0), text(count(example, &[]).0));
        assert!(first.len() > 500 && first == again, "{first}\n{again}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_search_ends_soon_and_tells_what_is_known() {
    let folder = Folder::new();
    folder.write("t.std", wide());
    let args = [
        "--property",
        "v0 < 12",
        "--property",
        "v0 + v1 + v2 + v3 + v4 + v5 + v6 + v7 < 200 || v8 < 20",
        "--causality",
        "full-hb",
    ];
    let mut command = folder.command(&[&["check", "t.std", "--detect", "none", "--json", "-"], &args[..]].concat());
    let child = command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1500));
    let asked = std::time::Instant::now();
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert!(asked.elapsed().as_secs() < 5, "{:?}", asked.elapsed());
    assert_eq!(ran.code, Some(130), "{ran:?}");
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    let verdicts: Vec<&str> =
        json["properties"].as_array().unwrap().iter().map(|p| p["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["violated", "truncated"], "{json}");
    assert!(ran.stderr.contains("property-2 was cut short: "), "{}", ran.stderr);
}
