//! Every program of `corpus/programs/c` gives exactly the findings its `expected.toml` lists, and none after that list.
//!
//! `FORETRACE_RUNS=20` runs each that many times, `FORETRACE_ONLY=NAME` only one.

use crate::common::Folder;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a folder's `expected.toml` says.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    about: String,
    constructs: Vec<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    exit: i32,
    spec: Option<String>,
    #[serde(default)]
    flags: Vec<String>,
    #[serde(default, rename = "finding")]
    findings: Vec<Finding>,
    mutation: Option<Mutation>,
}

/// The line that breaks a correct program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mutation {
    find: String,
    replace: String,
    #[serde(rename = "finding")]
    findings: Vec<Finding>,
}

/// A finding, as far as it does not depend on the run.
#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(deny_unknown_fields)]
struct Finding {
    kind: String,
    object: Option<String>,
    #[serde(default)]
    functions: Vec<String>,
}

/// The compilers to try.
const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];

fn folders() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/programs/c");
    let only = std::env::var("FORETRACE_ONLY").ok();
    let mut folders: Vec<PathBuf> = std::fs::read_dir(corpus)
        .expect("the corpus is there")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("expected.toml").is_file())
        .filter(|path| only.as_ref().is_none_or(|only| path.ends_with(only)))
        .collect();
    folders.sort();
    assert!(!folders.is_empty(), "no program of the corpus is called {only:?}");
    folders
}

fn expected(folder: &Path) -> Expected {
    let text = std::fs::read_to_string(folder.join("expected.toml")).expect("readable");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

fn is_there(tool: &str) -> bool {
    Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
}

/// A program to be watched: a folder of the corpus as it is, or with its line changed.
struct Case {
    name: String,
    folder: PathBuf,
    mutated: bool,
    compiler: (&'static str, &'static str),
}

impl Case {
    /// Compiles and runs it; what is wrong with its findings, if something is.
    fn check(&self, runs: usize) -> Result<(), String> {
        let expected = expected(&self.folder);
        let work = Folder::new();
        for entry in std::fs::read_dir(&self.folder).expect("readable") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_str().expect("UTF-8").to_owned();
            let mut text = std::fs::read_to_string(&path).expect("text");
            if let (true, Some(mutation)) = (self.mutated, &expected.mutation) {
                text = text.replacen(&mutation.find, &mutation.replace, 1);
            }
            work.write(&name, text);
        }
        let mut sources: Vec<String> =
            work.names().into_iter().filter(|name| name.ends_with(".c") || name.ends_with(".cc")).collect();
        let cpp = sources.iter().any(|name| name.ends_with(".cc"));
        let mut args = vec![if cpp { "c++" } else { "cc" }.to_owned(), "-O1".into(), "-pthread".into()];
        args.extend(expected.flags.iter().cloned());
        args.append(&mut sources);
        args.extend(["-o", "program"].map(str::to_owned));
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let built = work
            .command(&args)
            .env("FORETRACE_CC", self.compiler.0)
            .env("FORETRACE_CXX", self.compiler.1)
            .output()
            .expect("foretrace runs");
        if !built.status.success() {
            return Err(format!("does not compile:\n{}", String::from_utf8_lossy(&built.stderr)));
        }
        let wanted: BTreeSet<Finding> = match (&expected.mutation, self.mutated) {
            (Some(mutation), true) => mutation.findings.iter().cloned().collect(),
            _ => expected.findings.iter().cloned().collect(),
        };
        for number in 1..=runs {
            self.run_once(&work, &expected, &wanted).map_err(|error| format!("run {number}: {error}"))?;
        }
        Ok(())
    }

    fn run_once(&self, work: &Folder, expected: &Expected, wanted: &BTreeSet<Finding>) -> Result<(), String> {
        let mut args = vec!["run", "--json", "result.json", "-o", "run.ftrace"];
        if let Some(spec) = &expected.spec {
            args.extend(["--spec", spec]);
        }
        args.extend(["--", "./program"]);
        args.extend(expected.args.iter().map(String::as_str));
        let ran = work.run(&args);
        let Ok(json) = std::fs::read(work.path("result.json")) else {
            return Err(format!("no result; code {:?}\n{}{}", ran.code, ran.stdout, ran.stderr));
        };
        let result: Value = serde_json::from_slice(&json).expect("JSON");
        let found: BTreeSet<Finding> = result["findings"]
            .as_array()
            .expect("findings")
            .iter()
            .filter(|finding| finding["status"] != "warning")
            .map(Finding::of)
            .collect();
        let unexpected: Vec<&Finding> = found.iter().filter(|f| !wanted.iter().any(|w| w.means(f))).collect();
        let missing: Vec<&Finding> = wanted.iter().filter(|w| !found.iter().any(|f| w.means(f))).collect();
        let right_code = match ran.code {
            Some(code) if wanted.is_empty() => code == expected.exit,
            // A handler of a specification has codes of its own.
            Some(code) if expected.spec.is_some() => code != 0,
            code => code == Some(1),
        };
        let complete = result["trace"]["complete"] == true;
        // What cannot have happened did not happen in a program without mistakes.
        let possible = !wanted.is_empty() || result["trace"]["problems"].as_array().is_none_or(Vec::is_empty);
        if unexpected.is_empty() && missing.is_empty() && right_code && complete && possible {
            return Ok(());
        }
        Err(format!(
            "unexpected {unexpected:#?}\nmissing {missing:#?}\ncode {:?}, complete: {complete}, possible: {possible}\n{}{}",
            ran.code, ran.stdout, ran.stderr
        ))
    }
}

impl Finding {
    /// What a finding of the JSON says that does not depend on the run.
    fn of(finding: &Value) -> Finding {
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let sites = texts(&finding["sites"]);
        let stacks: Vec<Vec<String>> = finding["stacks"].as_array().into_iter().flatten().map(texts).collect();
        let mut functions: Vec<String> =
            sites.iter().zip(&stacks).map(|(site, stack)| report::code_identity(site, stack)).collect();
        functions.sort();
        let mut objects = texts(&finding["objects"]);
        objects.sort();
        Finding {
            kind: finding["kind"].as_str().unwrap_or_default().to_owned(),
            object: Some(objects.join(", ")),
            functions,
        }
    }

    /// Whether this expectation describes that finding.
    fn means(&self, found: &Finding) -> bool {
        let object = |wanted: &String| {
            let found = found.object.as_deref().unwrap_or_default();
            found == wanted || wanted == "heap" && found.starts_with("heap")
        };
        self.kind == found.kind
            && self.object.as_ref().is_none_or(object)
            && (self.functions.is_empty() || self.functions == found.functions)
    }
}

/// Watches every program, and every mutation, with one compiler.
fn all_with(compiler: (&'static str, &'static str)) {
    if !is_there(compiler.0) || !is_there(compiler.1) {
        assert_ne!(compiler.0, "gcc", "gcc and g++ are needed");
        return;
    }
    let runs = std::env::var("FORETRACE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1);
    let mut cases = Vec::new();
    for folder in folders() {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let mutable = expected(&folder).mutation.is_some();
        cases.push(Case { name: name.clone(), folder: folder.clone(), mutated: false, compiler });
        if mutable {
            cases.push(Case { name: name + " (mutated)", folder, mutated: true, compiler });
        }
    }
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(error) = case.check(runs) {
                        failures.lock().expect("no panic").insert(case.name.clone(), error);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    let text: Vec<String> = failures.iter().map(|(name, error)| format!("== {name}: {error}")).collect();
    assert!(failures.is_empty(), "{} of {} with {}:\n{}", failures.len(), cases.len(), compiler.0, text.join("\n"));
}

#[test]
fn every_program_gives_its_findings_with_gcc() {
    all_with(COMPILERS[0]);
}

#[test]
fn every_program_gives_its_findings_with_clang() {
    all_with(COMPILERS[1]);
}

#[test]
fn the_corpus_is_as_large_and_varied_as_it_says() {
    if std::env::var_os("FORETRACE_ONLY").is_some() {
        return;
    }
    let mut constructs = BTreeMap::new();
    let (mut correct, mut wrong, mut long) = (0, 0, 0);
    for folder in folders() {
        let expected = expected(&folder);
        let name = folder.display().to_string();
        assert!(!expected.about.is_empty(), "{name} says what it is");
        let list: BTreeSet<String> = expected.constructs.iter().cloned().collect();
        if let Some(other) = constructs.insert(list, name.clone()) {
            panic!("{name} and {other} have the same constructs");
        }
        match (&expected.mutation, expected.findings.is_empty()) {
            (Some(mutation), true) => {
                correct += 1;
                assert!(!mutation.findings.is_empty(), "{name}: its mutation is found");
                let texts = std::fs::read_dir(&folder).expect("readable");
                let texts: Vec<String> = texts
                    .map(|entry| entry.expect("an entry").path())
                    .filter(|path| path.extension().is_some_and(|e| e != "toml"))
                    .map(|path| std::fs::read_to_string(path).expect("text"))
                    .collect();
                let count: usize = texts.iter().map(|text| text.matches(&mutation.find).count()).sum();
                assert_eq!(count, 1, "{name}: the text to be changed stands there once");
            }
            (None, false) => wrong += 1,
            _ => panic!("{name} is correct with a mutation, or wrong with findings"),
        }
        let lines = |path: PathBuf| std::fs::read_to_string(path).map_or(0, |text| text.lines().count());
        let sources = std::fs::read_dir(&folder).expect("readable").map(|entry| entry.expect("an entry").path());
        let sources = sources.filter(|path| path.extension().is_some_and(|e| e == "c" || e == "cc" || e == "h"));
        long += usize::from(sources.map(lines).sum::<usize>() > 300);
    }
    assert!(correct + wrong >= 40 && correct >= 20 && wrong >= 20 && long >= 8, "{correct} {wrong} {long}");
}
