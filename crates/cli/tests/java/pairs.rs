//! For every row of the tables of the agent for Java, one program that races and one that does not
//! (`agents/jvm/weave/tests/weave/pairs.table`), all in one virtual machine: the races of the first are found, and
//! nothing in the others.
//!
//! `FORETRACE_JAVA` names the virtual machine that they run on, if it is not the one that compiles them.

#[path = "../../../../agents/jvm/weave/tests/weave/pairs.rs"]
#[allow(unreachable_pub, reason = "it is of other tests, too")]
mod programs;

use crate::common::{Folder, java, java_release};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Names of programs in a finding: the classes of its objects and sites.
fn named(finding: &Value) -> BTreeSet<String> {
    let texts = ["objects", "sites"].map(|part| finding[part].as_array().into_iter().flatten());
    let texts = texts.into_iter().flatten().filter_map(Value::as_str);
    let words = texts.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric()));
    words.filter(|word| word.starts_with("Pair") && word.len() > 8).map(str::to_owned).collect()
}

#[test]
fn every_pair_is_distinguished() {
    let work = Folder::new();
    let release = java_release();
    // Optimistic reads, which the program discards if they were disturbed, are races by the tables alone; the agent
    // does not record them.
    let is_here = |one: &programs::Program| u32::from(one.release) <= release && !one.row.contains("optimistic-read");
    let programs = programs::programs().into_iter().filter(is_here);
    let programs: Vec<_> = programs.collect();
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/jvm/weave/tests/weave/programs/Pairs.java");
    let mut sources = format!("\"{}\"\n", driver.to_str().expect("UTF-8"));
    let mut list = String::new();
    for program in &programs {
        work.write(&format!("{}.java", program.name), &program.source);
        sources.push_str(&format!("{}.java\n", program.name));
        list.push_str(&format!("{} {} {}\n", program.name, if program.is_racy { "racy" } else { "safe" }, program.row));
    }
    work.write("sources", sources);
    work.write("list", list);
    let mut javac = Command::new("javac");
    javac.args(["--release", &release.to_string(), "-nowarn", "-g", "-d", "classes", "@sources"]);
    let compiled = javac.current_dir(work.path("")).output().expect("a JDK is needed: ./test installs it");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));

    let (trace, java) = ("pairs.ftrace", java());
    let args = ["run", "--json", "pairs.json", "-o", trace, "--", &java, "-cp", "classes", "Pairs", "list"];
    let ran = work.run_within(300, &args);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    let json: Value = serde_json::from_slice(&work.read("pairs.json")).expect("JSON");
    assert_eq!(json["trace"]["complete"], true);
    let findings = json["findings"].as_array().expect("findings").iter().filter(|one| one["status"] != "warning");
    let (mut races, mut others) = (BTreeSet::new(), Vec::new());
    for finding in findings {
        let named = named(finding);
        let is_of_x = finding["objects"].as_array().is_some_and(|objects| {
            objects
                .iter()
                .filter_map(Value::as_str)
                .any(|object| object.strip_suffix(".x").is_some_and(|class| named.contains(class)))
        });
        if finding["kind"] == "race" && is_of_x && named.len() == 1 {
            races.extend(named);
        } else {
            others.push(format!("== {} on {}: {}", finding["kind"], finding["objects"], finding["sites"]));
        }
    }
    let wrong = programs.iter().filter(|program| races.contains(&program.name) != program.is_racy);
    let wrong: Vec<String> = wrong.map(|program| format!("== {}: {}", program.name, program.row)).collect();
    // `agents/jvm/check-jdks` reads this.
    println!("{} programs of pairs, {} wrong", programs.len(), wrong.len() + others.len());
    assert!(wrong.is_empty() && others.is_empty(), "\n{}", [wrong, others].concat().join("\n"));
}
