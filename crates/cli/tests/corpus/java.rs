//! The programs of `corpus/programs/java`, run by `foretrace run -- java …`.
//!
//! Starting a compiler for each of 150 programs would take longer than the tests. The first test that needs classes
//! compiles all programs whose classes are missing or out of date, by one compiler, and leaves them in the folder that
//! Cargo has for the files of tests. The others wait for it: a lock on a file makes them take turns.

use crate::common::{Folder, Ran, java, java_release};
use crate::program::{Finding, Program, programs, runs, texts};
use libtest_mimic::{Completion, Failed, Trial};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program that runs for so many seconds is ended, with this exit code.
const LONGEST: u32 = 90;
const ENDED: i32 = 124;

/// The oldest release of Java that a JDK for these tests can have: only programs that need a newer one ask for it.
const OLDEST: u32 = 11;

/// Programs of which the filter loses a finding that `--record all` gives, and why.
const LOST: &[(&str, &str)] = &[];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |program: Program| {
        Trial::ignorable_test(format!("java::{}", program.test_name()), move || check(&program).map_err(Failed::from))
    };
    programs("java").into_iter().map(trial).collect()
}

fn check(program: &Program) -> Result<Completion, String> {
    if program.expected.release > OLDEST && program.expected.release > java_release() {
        return Ok(Completion::ignored_with(format!("needs Java {}", program.expected.release)));
    }
    let classes = compiled(program)?;
    let work = Folder::new();
    let classes = if std::env::var_os("FORETRACE_WOVEN").is_some() { woven(&classes, &work) } else { classes };
    if std::env::var_os("FORETRACE_COMPARE").is_some() {
        return compare_with_all(program, &classes, &work).map(|()| Completion::Completed);
    }
    for run in 1..=runs() {
        run_once(program, &classes, &work).map_err(|error| format!("run {run}: {error}"))?;
    }
    Ok(Completion::Completed)
}

fn run_once(program: &Program, classes: &Path, work: &Folder) -> Result<(), String> {
    let (ran, json) = watched(program, classes, work, false)?;
    program.compare(&ran, &json, finding)
}

/// Runs a program with the filter and with `--record all`, and says which findings only one of them gives. Fails if the
/// filter loses one, unless the program is [listed](LOST).
fn compare_with_all(program: &Program, classes: &Path, work: &Folder) -> Result<(), String> {
    let findings = |records_all| -> Result<BTreeSet<Finding>, String> {
        let (_, json) = watched(program, classes, work, records_all)?;
        let findings = json["findings"].as_array().into_iter().flatten();
        Ok(findings.filter(|one| one["status"] != "warning").map(finding).collect())
    };
    let (filtered, all) = (findings(false)?, findings(true)?);
    let (lost, more): (Vec<_>, Vec<_>) = (all.difference(&filtered).collect(), filtered.difference(&all).collect());
    let why = LOST.iter().find(|(name, _)| *name == program.test_name()).map(|(_, why)| *why);
    println!("{}: {} with the filter, {} with all", program.test_name(), filtered.len(), all.len());
    println!("only with all: {lost:?}{}", why.map(|why| format!(" ({why})")).unwrap_or_default());
    println!("only with the filter: {more:?}");
    if lost.is_empty() || why.is_some() { Ok(()) } else { Err(format!("the filter loses {lost:?}")) }
}

/// Runs a program under `foretrace run`, with every access recorded if that is wanted.
fn watched(program: &Program, classes: &Path, work: &Folder, records_all: bool) -> Result<(Ran, Value), String> {
    let (java, spec) = (java(), program.expected.spec.as_ref().map(|spec| program.folder.join(spec)));
    let mut args = vec!["run", "--json", "result.json", "-o", "run.ftrace"];
    if records_all {
        args.extend(["--record", "all"]);
    }
    if let Some(spec) = &spec {
        args.extend(["--spec", spec.to_str().expect("UTF-8")]);
    }
    args.extend(["--", &java, "-cp", classes.to_str().expect("UTF-8"), &program.expected.main]);
    args.extend(program.expected.args.iter().map(String::as_str));
    let mut ran = work.run_within(LONGEST, &args);
    if ran.code == Some(ENDED) && program.wanted().iter().any(|wanted| wanted.kind == "deadlock") {
        // The deadlock that is only to be predicted has happened. Such programs avoid it by pauses, which a busy
        // machine does not keep.
        ran = work.run_within(LONGEST, &args);
    }
    let Ok(json) = std::fs::read(work.path("result.json")) else {
        return Err(format!("no result; code {:?}\n{}{}", ran.code, ran.stdout, ran.stderr));
    };
    let json: Value = serde_json::from_slice(&json).expect("JSON");
    if json["processes"][0]["agent"] != "java" {
        return Err(format!("the agent does not watch it\n{}{}", ran.stdout, ran.stderr));
    }
    Ok((ran, json))
}

/// The parts of a finding in the JSON report that do not depend on the run.
fn finding(finding: &Value) -> Finding {
    let sites = texts(&finding["sites"]);
    let mut functions: Vec<String> =
        sites.iter().map(|site| site.split(' ').next().unwrap_or_default().to_owned()).collect();
    functions.sort();
    let mut objects: Vec<String> = texts(&finding["objects"]).iter().map(|name| without_numbers(name)).collect();
    objects.sort();
    let kind = finding["kind"].as_str().unwrap_or_default().to_owned();
    Finding { kind, object: Some(objects.join(", ")), functions }
}

/// A name without the numbers of objects and indexes, and a class of the JDK without its package.
fn without_numbers(name: &str) -> String {
    let name = name.split(" for ").next().unwrap_or_default();
    let end = name.find(['@', '#']).unwrap_or(name.len());
    let name = &name[..end];
    match name.rsplit_once('.') {
        Some((package, class)) if package.starts_with("java.") => class.to_owned(),
        _ => name.to_owned(),
    }
}

/// Where the classes and sources of programs are kept between runs of the tests.
fn kept(part: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("java-corpus").join(part)
}

/// A program's folder below the folders of sources and of classes.
fn folder_name(program: &Program) -> String {
    if program.mutated { format!("{}-mutated", program.name) } else { program.name.clone() }
}

/// The folder with a program's classes, compiled if need be.
fn compiled(program: &Program) -> Result<PathBuf, String> {
    let classes = kept("classes").join(folder_name(program));
    std::fs::create_dir_all(kept("")).expect("writable");
    let lock = File::create(kept("lock")).expect("writable");
    lock.lock().expect("a lock on a file");
    if is_up_to_date(program) {
        return Ok(classes);
    }
    let release = java_release();
    let mut outdated = programs("java");
    outdated.retain(|other| other.expected.release <= release && !is_up_to_date(other));
    if compile(&outdated).is_err() {
        // Some program does not compile. Each test then says so of its own program only.
        compile(std::slice::from_ref(program))?;
    }
    Ok(classes)
}

/// Compiles programs by one compiler, each into a folder of its own, and notes of which sources the classes are.
fn compile(programs: &[Program]) -> Result<(), String> {
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/jvm");
    for release in programs.iter().map(|program| program.expected.release).collect::<BTreeSet<_>>() {
        let mut java = Command::new("java");
        java.arg(agent.join("weave/tests/weave/programs/Corpus.java")).args(["compile", &release.to_string()]);
        java.arg(agent.join("api/foretrace/Monitor.java")).arg(kept("classes"));
        for program in programs.iter().filter(|program| program.expected.release == release) {
            let sources = kept("sources").join(folder_name(program));
            for old in [&sources, &kept("classes").join(folder_name(program))] {
                let _ = std::fs::remove_dir_all(old);
            }
            program.copy_to(&sources);
            java.arg(sources);
        }
        let compiled = java.output().expect("java runs");
        if !compiled.status.success() {
            return Err(format!("does not compile:\n{}", String::from_utf8_lossy(&compiled.stderr)));
        }
    }
    for program in programs {
        std::fs::write(note(program), digest(program)).expect("writable");
    }
    Ok(())
}

/// Says of which sources a program's classes are.
fn note(program: &Program) -> PathBuf {
    kept("classes").join(folder_name(program)).with_extension("digest")
}

fn is_up_to_date(program: &Program) -> bool {
    std::fs::read_to_string(note(program)).is_ok_and(|noted| noted == digest(program))
}

/// Differs if a source of the program does, or the interface for programs that it is compiled with.
fn digest(program: &Program) -> String {
    let interface = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/jvm/api/foretrace/Monitor.java");
    let mut hasher = std::hash::DefaultHasher::new();
    hasher.write(&std::fs::read(interface).expect("readable"));
    hasher.write_u32(program.expected.release);
    let mut folders = vec![program.folder.clone()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).expect("readable");
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
        paths.sort();
        for path in paths {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "java") {
                hasher.write(path.as_os_str().as_encoded_bytes());
                hasher.write(program.text(&path).as_bytes());
            }
        }
    }
    format!("{:016x}", hasher.finish())
}

/// A jar with the classes, instrumented offline.
fn woven(classes: &Path, work: &Folder) -> PathBuf {
    let plain = work.path("plain.jar");
    let made = Command::new("jar").args(["-c", "-f"]).arg(&plain).arg("-C").arg(classes).arg(".").status();
    assert!(made.is_ok_and(|made| made.success()), "jar runs");
    work.ok(&["weave", "plain.jar", "woven.jar"]);
    work.path("woven.jar")
}
