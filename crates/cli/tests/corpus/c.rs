//! The programs of `corpus/programs/c`, compiled by `foretrace cc` with gcc and with clang.

use crate::common::{Folder, Ran};
use crate::program::{Finding, Program, programs, runs, texts};
use libtest_mimic::Trial;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// The compilers to try, for C and for C++.
const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];

pub(crate) fn trials() -> Vec<Trial> {
    if std::env::var_os("FORETRACE_COMPARE").is_some() {
        return vec![Trial::test("c::compare", || Ok(crate::compare::compare(COMPILERS[0])?))];
    }
    let mut trials = Vec::new();
    for compiler in COMPILERS {
        // gcc is needed; clang is a second opinion.
        let is_missing = compiler.0 == "clang" && !(is_on_path(compiler.0) && is_on_path(compiler.1));
        for program in programs("c") {
            let name = format!("c::{}::{}", compiler.0, program.test_name());
            let trial = Trial::test(name, move || Ok(check(&program, compiler)?));
            trials.push(trial.with_ignored_flag(is_missing));
        }
    }
    if std::env::var_os("FORETRACE_ONLY").is_none() {
        trials.push(Trial::test("c::corpus_is_large_and_varied", || {
            is_large_and_varied();
            Ok(())
        }));
    }
    trials
}

fn is_on_path(tool: &str) -> bool {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|folder| folder.join(tool).is_file())
}

/// Compiles and runs a program.
fn check(program: &Program, compiler: (&str, &str)) -> Result<(), String> {
    let work = build(program, compiler)?;
    for run in 1..=runs() {
        run_once(program, &work).map_err(|error| format!("run {run}: {error}"))?;
    }
    Ok(())
}

/// Compiles a program.
pub(crate) fn build(program: &Program, compiler: (&str, &str)) -> Result<Folder, String> {
    let work = Folder::new();
    program.copy_to(&work.path("."));
    let mut sources = work.names();
    sources.retain(|name| name.ends_with(".c") || name.ends_with(".cc"));
    let command = if sources.iter().any(|name| name.ends_with(".cc")) { "c++" } else { "cc" };
    let mut args = vec![command, "-O1", "-pthread"];
    args.extend(program.expected.flags.iter().chain(&sources).map(String::as_str));
    args.extend(["-o", "program"]);
    let mut build = work.command(&args);
    build.env("FORETRACE_CC", compiler.0).env("FORETRACE_CXX", compiler.1);
    let built = build.output().expect("foretrace runs");
    if !built.status.success() {
        return Err(format!("does not compile:\n{}", String::from_utf8_lossy(&built.stderr)));
    }
    Ok(work)
}

fn run_once(program: &Program, work: &Folder) -> Result<(), String> {
    let (ran, result) = run(program, work, std::env::var("FORETRACE_RECORD").ok().as_deref())?;
    program.compare(&ran, &result, finding)
}

/// Runs a program that was compiled, and reads the result. `record`: what is recorded, if not the default.
pub(crate) fn run(program: &Program, work: &Folder, record: Option<&str>) -> Result<(Ran, Value), String> {
    let mut args = vec!["run", "--json", "result.json", "-o", "run.ftrace"];
    if let Some(spec) = &program.expected.spec {
        args.extend(["--spec", spec]);
    }
    if let Some(what) = record {
        args.extend(["--record", what]);
    }
    args.extend(["--", "./program"]);
    args.extend(program.expected.args.iter().map(String::as_str));
    let ran = work.run(&args);
    let Ok(json) = std::fs::read(work.path("result.json")) else {
        return Err(format!("no result; code {:?}\n{}{}", ran.code, ran.stdout, ran.stderr));
    };
    Ok((ran, serde_json::from_slice(&json).expect("JSON")))
}

/// The parts of a finding in the JSON report that do not depend on the run.
pub(crate) fn finding(finding: &Value) -> Finding {
    let stacks = finding["stacks"].as_array().into_iter().flatten().map(texts);
    let sites = texts(&finding["sites"]).into_iter().zip(stacks);
    let mut functions: Vec<String> = sites.map(|(site, stack)| report::code_identity(&site, &stack)).collect();
    functions.sort();
    // Of an instance of a property, the property: numbers of heap blocks are no names.
    let mut objects = texts(&finding["objects"]);
    objects.iter_mut().for_each(|object| object.truncate(object.find(" for ").unwrap_or(object.len())));
    objects.sort();
    let kind = finding["kind"].as_str().unwrap_or_default().to_owned();
    Finding { kind, object: Some(objects.join(", ")), functions }
}

/// The corpus is as large and varied as its README says.
fn is_large_and_varied() {
    let mut constructs = BTreeMap::new();
    let (mut correct, mut wrong, mut long) = (0, 0, 0);
    for program in programs("c").into_iter().filter(|program| !program.mutated) {
        let (name, expected) = (&program.name, &program.expected);
        assert!(!expected.about.is_empty(), "{name} says what it is");
        if let Some(other) = constructs.insert(expected.constructs.clone(), name.clone()) {
            panic!("{name} and {other} have the same constructs");
        }
        let texts = |endings: &[&str]| -> Vec<String> {
            let files = std::fs::read_dir(&program.folder).expect("readable");
            let files = files.map(|entry| entry.expect("an entry").path());
            let has_ending = |path: &Path| path.extension().is_some_and(|end| endings.iter().any(|one| end == *one));
            files.filter(|path| has_ending(path)).map(|path| program.text(&path)).collect()
        };
        match (&expected.mutation, expected.findings.is_empty()) {
            (Some(mutation), true) => {
                correct += 1;
                assert!(
                    !mutation.findings.is_empty() || !mutation.warnings.is_empty(),
                    "{name}: its mutation is found"
                );
                let sources = texts(&["c", "cc", "h", "rvs"]);
                let count: usize = sources.iter().map(|text| text.matches(&mutation.find).count()).sum();
                assert_eq!(count, 1, "{name}: the text to be changed stands there once");
            }
            (None, false) => wrong += 1,
            _ => panic!("{name} is correct with a mutation, or wrong with findings"),
        }
        let lines: usize = texts(&["c", "cc", "h"]).iter().map(|text| text.lines().count()).sum();
        long += usize::from(lines > 300);
    }
    assert!(correct + wrong >= 40 && correct >= 20 && wrong >= 20 && long >= 8, "{correct} {wrong} {long}");
}
