//! Every program of `corpus/programs/java` gives exactly the findings its `expected.toml` lists, as it is and with its mutation.
//!
//! `FORETRACE_RUNS=20` runs each that many times, `FORETRACE_ONLY=NAME` only one; `FORETRACE_JAVA` names the virtual machine that they run on, if it is not the one that
//! compiles them. With `FORETRACE_WOVEN=1` they are woven offline first.

use crate::common::Folder;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a folder's `expected.toml` says that a run can show.
#[derive(Deserialize)]
struct Expected {
    main: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    exit: i32,
    spec: Option<String>,
    #[serde(default = "eleven")]
    release: u32,
    #[serde(default)]
    finding: Vec<Finding>,
    mutation: Option<Mutation>,
}

/// After so many seconds a program is ended, and what that gives as code.
const LONGEST: u32 = 90;
const ENDED: i32 = 124;

fn eleven() -> u32 {
    11
}

/// The line that breaks a correct program.
#[derive(Deserialize)]
struct Mutation {
    find: String,
    replace: String,
    finding: Vec<Finding>,
}

/// A finding, as far as it does not depend on the run.
#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Finding {
    kind: String,
    object: Option<String>,
    #[serde(default)]
    functions: Vec<String>,
}

impl Finding {
    fn of(finding: &Value) -> Finding {
        let texts = |value: &Value| -> Vec<String> {
            value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
        };
        let mut functions: Vec<String> =
            texts(&finding["sites"]).iter().map(|site| site.split(' ').next().unwrap_or_default().to_owned()).collect();
        functions.sort();
        let mut objects: Vec<String> = texts(&finding["objects"]).iter().map(|name| without_numbers(name)).collect();
        objects.sort();
        let kind = finding["kind"].as_str().unwrap_or_default().to_owned();
        Finding { kind, object: Some(objects.join(", ")), functions }
    }

    /// Whether this expectation describes that finding.
    fn means(&self, found: &Finding) -> bool {
        self.kind == found.kind
            && (self.object.is_none() || self.object == found.object)
            && (self.functions.is_empty() || self.functions == found.functions)
    }
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

/// A program to be watched.
struct Case {
    name: String,
    folder: PathBuf,
    expected: Expected,
    wanted: BTreeSet<Finding>,
}

/// Copies a program, with one line changed if there is one to be changed.
fn copy(from: &Path, to: &Path, mutation: Option<&Mutation>) {
    std::fs::create_dir_all(to).expect("writable");
    for entry in std::fs::read_dir(from).expect("readable") {
        let path = entry.expect("an entry").path();
        let name = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &name, mutation);
            continue;
        }
        let mut text = std::fs::read_to_string(&path).expect("text");
        if let Some(mutation) = mutation
            && path.extension().is_some_and(|extension| extension == "java")
        {
            text = text.replacen(&mutation.find, &mutation.replace, 1);
        }
        std::fs::write(name, text).expect("writable");
    }
}

fn cases(work: &Path) -> Vec<Case> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/programs/java");
    let only = std::env::var("FORETRACE_ONLY").ok();
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(corpus).expect("the corpus is there") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if !path.is_dir() || only.as_ref().is_some_and(|only| *only != name) {
            continue;
        }
        let text = std::fs::read_to_string(path.join("expected.toml")).expect("readable");
        let expected = || toml::from_str::<Expected>(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        let wanted = expected().finding.into_iter().collect();
        let folder = work.join(&name);
        copy(&path, &folder, None);
        cases.push(Case { name: name.clone(), folder, expected: expected(), wanted });
        if let Some(mutation) = expected().mutation {
            let folder = work.join(format!("{name}-mutated"));
            copy(&path, &folder, Some(&mutation));
            let wanted = mutation.finding.into_iter().collect();
            cases.push(Case { name: format!("{name} (mutated)"), folder, expected: expected(), wanted });
        }
    }
    assert!(!cases.is_empty(), "no program of the corpus is called {only:?}");
    cases
}

/// The virtual machine that runs the programs.
pub(crate) fn java() -> String {
    std::env::var("FORETRACE_JAVA").unwrap_or_else(|_| "java".to_owned())
}

/// The release that both the JDK which compiles and the virtual machine which runs have.
pub(crate) fn release() -> u32 {
    let of = |tool: &str| -> u32 {
        let said = Command::new(tool).arg("--version").output().expect("a JDK is needed: ./test installs it").stdout;
        let said = String::from_utf8_lossy(&said).into_owned();
        said.split_whitespace().nth(1).and_then(|version| version.split('.').next()?.parse().ok()).expect("its version")
    };
    of("javac").min(of(&java()))
}

/// Compiles all programs, each into its folder of `out`.
fn compile(cases: &[Case], out: &Path) {
    let weave = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/jvm");
    for release in cases.iter().map(|case| case.expected.release).collect::<BTreeSet<_>>() {
        let mut java = Command::new("java");
        java.arg(weave.join("weave/tests/weave/programs/Corpus.java")).args(["compile", &release.to_string()]);
        java.arg(weave.join("api/foretrace/Monitor.java")).arg(out);
        java.args(cases.iter().filter(|case| case.expected.release == release).map(|case| &case.folder));
        let compiled = java.output().expect("java runs");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    }
}

impl Case {
    /// Puts a jar that was woven offline in the place of the classes.
    fn weave(&self, work: &Folder, out: &Path) {
        let classes = out.join(self.folder.file_name().expect("a name"));
        let plain = classes.with_extension("jar");
        let made = Command::new("jar").args(["-c", "-f"]).arg(&plain).arg("-C").arg(&classes).arg(".").status();
        assert!(made.is_ok_and(|made| made.success()), "jar runs");
        std::fs::remove_dir_all(&classes).expect("writable");
        work.ok(&["weave", plain.to_str().expect("UTF-8"), classes.to_str().expect("UTF-8")]);
    }

    fn run_once(&self, work: &Folder, out: &Path) -> Result<(), String> {
        let number = format!("{:x}", self as *const Case as usize);
        let result = work.path(&format!("{number}.json"));
        let _ = std::fs::remove_file(&result);
        let spec = self.expected.spec.as_ref().map(|spec| self.folder.join(spec));
        let classes = out.join(self.folder.file_name().expect("a name"));
        let text = |path: &Path| path.to_str().expect("UTF-8").to_owned();
        let trace = text(&work.path(&format!("{number}.ftrace")));
        let mut args = vec!["run".to_owned(), "--json".to_owned(), text(&result), "-o".to_owned(), trace];
        if let Some(spec) = &spec {
            args.extend(["--spec".to_owned(), text(spec)]);
        }
        args.extend(["--".to_owned(), java(), "-cp".to_owned(), text(&classes)]);
        args.push(self.expected.main.clone().unwrap_or_else(|| "Main".to_owned()));
        args.extend(self.expected.args.iter().cloned());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut ran = work.run_within(LONGEST, &args);
        if ran.code == Some(ENDED) && self.wanted.iter().any(|wanted| wanted.kind == "deadlock") {
            // What it only could have done, it has done: such programs avoid that by time, which a busy machine does not keep.
            ran = work.run_within(LONGEST, &args);
        }
        let Ok(json) = std::fs::read(&result) else {
            return Err(format!("no result; code {:?}\n{}{}", ran.code, ran.stdout, ran.stderr));
        };
        let json: Value = serde_json::from_slice(&json).expect("JSON");
        let findings = json["findings"].as_array().expect("findings").iter();
        let found: BTreeSet<Finding> =
            findings.filter(|finding| finding["status"] != "warning").map(Finding::of).collect();
        let unexpected: Vec<&Finding> = found.iter().filter(|f| !self.wanted.iter().any(|w| w.means(f))).collect();
        let missing: Vec<&Finding> = self.wanted.iter().filter(|w| !found.iter().any(|f| w.means(f))).collect();
        let right_code = match ran.code {
            Some(code) if self.wanted.is_empty() => code == self.expected.exit,
            // A handler of a specification has codes of its own.
            Some(code) if spec.is_some() => code != 0,
            code => code == Some(1),
        };
        let is_watched = json["processes"][0]["agent"] == "java";
        let complete = json["trace"]["complete"] == true;
        let possible = !self.wanted.is_empty() || json["trace"]["problems"].as_array().is_none_or(Vec::is_empty);
        if unexpected.is_empty() && missing.is_empty() && right_code && complete && possible && is_watched {
            return Ok(());
        }
        Err(format!(
            "unexpected {unexpected:#?}\nmissing {missing:#?}\ncode {:?}, complete: {complete}, possible: {possible}\n{}{}",
            ran.code, ran.stdout, ran.stderr
        ))
    }
}

#[test]
fn every_program_gives_its_findings() {
    let runs = std::env::var("FORETRACE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1);
    let work = Folder::new();
    let (sources, out) = (work.path("sources"), work.path("classes"));
    let release = release();
    let mut cases = cases(&sources);
    cases.retain(|case| case.expected.release <= release);
    compile(&cases, &out);
    if std::env::var_os("FORETRACE_WOVEN").is_some() {
        cases.iter().for_each(|case| case.weave(&work, &out));
    }
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    for run in 1..=runs {
                        if let Err(error) = case.run_once(&work, &out) {
                            failures.lock().expect("no panic").insert(case.name.clone(), format!("run {run}: {error}"));
                            break;
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    // `agents/jvm/check-jdks` reads this.
    println!("{} variants, {} exact, {} differing", cases.len(), cases.len() - failures.len(), failures.len());
    let text: Vec<String> = failures.iter().map(|(name, error)| format!("== {name}: {error}")).collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), cases.len(), text.join("\n"));
}
