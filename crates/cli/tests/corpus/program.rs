//! A program of the corpus, as it is or mutated, and the comparison of what is found with what is expected.

use crate::common::{Ran, corpus};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What a folder's `expected.toml` says. The READMEs of `corpus/programs/c` and `corpus/programs/java` define the keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Expected {
    pub(crate) about: String,
    pub(crate) constructs: BTreeSet<String>,
    #[serde(default = "default_main")]
    pub(crate) main: String,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    #[serde(default)]
    pub(crate) exit: i32,
    pub(crate) spec: Option<String>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    #[serde(default = "default_release")]
    pub(crate) release: u32,
    #[serde(default, rename = "finding")]
    pub(crate) findings: BTreeSet<Finding>,
    /// If it is given: all that races hide, below any finding.
    #[serde(default)]
    pub(crate) behind: BTreeSet<Finding>,
    pub(crate) mutation: Option<Mutation>,
    /// What the recorder's filter keeps an analysis from finding.
    #[serde(default)]
    pub(crate) lost: Vec<Lost>,
}

/// A finding that is there only if every access is recorded, and why that is so.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lost {
    pub(crate) finding: Finding,
    pub(crate) reason: String,
}

fn default_main() -> String {
    "Main".to_owned()
}

fn default_release() -> u32 {
    11
}

/// The change that breaks a correct program.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Mutation {
    pub(crate) find: String,
    pub(crate) replace: String,
    #[serde(default, rename = "finding")]
    pub(crate) findings: BTreeSet<Finding>,
    #[serde(default, rename = "warning")]
    pub(crate) warnings: BTreeSet<Finding>,
    #[serde(default)]
    pub(crate) exit: i32,
}

/// The parts of a finding that do not depend on the run.
#[derive(Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finding {
    pub(crate) kind: String,
    pub(crate) object: Option<String>,
    #[serde(default)]
    pub(crate) functions: Vec<String>,
}

impl Finding {
    /// Whether this expectation describes that finding. A key that is missing matches anything.
    pub(crate) fn describes(&self, found: &Finding) -> bool {
        let object = |wanted: &String| {
            let found = found.object.as_deref().unwrap_or_default();
            found == wanted || wanted == "heap" && found.starts_with("heap")
        };
        self.kind == found.kind
            && self.object.as_ref().is_none_or(object)
            && (self.functions.is_empty() || self.functions == found.functions)
    }
}

/// A program to be watched: a folder of the corpus as it is, or with its mutation applied.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    pub(crate) expected: Expected,
    pub(crate) mutated: bool,
}

impl Program {
    /// The name of its test, below the group.
    pub(crate) fn test_name(&self) -> String {
        if self.mutated { format!("{}::mutated", self.name) } else { self.name.clone() }
    }

    /// What must be found: exactly this, warnings aside.
    pub(crate) fn wanted(&self) -> &BTreeSet<Finding> {
        match &self.expected.mutation {
            Some(mutation) if self.mutated => &mutation.findings,
            _ => &self.expected.findings,
        }
    }

    /// What must be behind the races, if that is compared.
    fn behind(&self) -> Option<&BTreeSet<Finding>> {
        Some(&self.expected.behind).filter(|behind| !self.mutated && !behind.is_empty())
    }

    /// The warnings of hangs and waits without a loop that must be given: exactly these. Others are not compared.
    fn warnings(&self) -> &BTreeSet<Finding> {
        static NONE: BTreeSet<Finding> = BTreeSet::new();
        match &self.expected.mutation {
            Some(mutation) if self.mutated => &mutation.warnings,
            _ => &NONE,
        }
    }

    /// The exit code of the program itself.
    fn exit(&self) -> i32 {
        match &self.expected.mutation {
            Some(mutation) if self.mutated => mutation.exit,
            _ => self.expected.exit,
        }
    }

    /// Copies the program, with its mutation applied if this is the mutated one.
    pub(crate) fn copy_to(&self, folder: &Path) {
        self.copy(&self.folder, folder);
    }

    fn copy(&self, from: &Path, to: &Path) {
        std::fs::create_dir_all(to).expect("writable");
        for entry in std::fs::read_dir(from).expect("readable") {
            let path = entry.expect("an entry").path();
            let copied = to.join(path.file_name().expect("a name"));
            if path.is_dir() {
                self.copy(&path, &copied);
                continue;
            }
            std::fs::write(copied, self.text(&path)).expect("writable");
        }
    }

    /// The text of one of its files.
    pub(crate) fn text(&self, path: &Path) -> String {
        let text = std::fs::read_to_string(path).expect("text");
        match &self.expected.mutation {
            Some(mutation) if self.mutated && !path.ends_with("expected.toml") => {
                text.replacen(&mutation.find, &mutation.replace, 1)
            }
            _ => text,
        }
    }

    /// Compares what a run reported with what is expected; the difference, if there is one.
    pub(crate) fn compare(&self, ran: &Ran, result: &Value, finding: fn(&Value) -> Finding) -> Result<(), String> {
        let wanted = self.wanted();
        let findings = || result["findings"].as_array().expect("findings").iter();
        let is_warning = |one: &&Value| one["status"] == "warning";
        let found: BTreeSet<Finding> = findings().filter(|one| !is_warning(one)).map(finding).collect();
        let is_compared = |one: &&Value| one["kind"] == "hang" || one["kind"] == "wait-without-loop";
        let warnings = findings().filter(is_warning).filter(is_compared).map(finding).collect();
        let (mut unexpected, mut missing) = difference(wanted, &found);
        let (more, fewer) = difference(self.warnings(), &warnings);
        unexpected.extend(more);
        missing.extend(fewer);
        if let Some(wanted) = self.behind() {
            let behind = findings().flat_map(|one| one["behind"].as_array().into_iter().flatten());
            let behind: BTreeSet<Finding> = behind.map(finding).collect();
            let (more, fewer) = difference(wanted, &behind);
            let lost: Vec<String> = more.iter().chain(&fewer).map(|one| format!("{one:?}")).collect();
            if !lost.is_empty() {
                return Err(format!("behind races: {}\n{}{}", lost.join("\n"), ran.stdout, ran.stderr));
            }
        }
        let right_code = match ran.code {
            Some(code) if wanted.is_empty() => code == self.exit(),
            // A handler of a specification may set any exit code.
            Some(code) if self.expected.spec.is_some() => code != 0,
            code => code == Some(1),
        };
        let complete = result["trace"]["complete"] == true;
        // A trace of a correct program shows nothing that cannot have happened.
        let possible = !wanted.is_empty() || result["trace"]["problems"].as_array().is_none_or(Vec::is_empty);
        if unexpected.is_empty() && missing.is_empty() && right_code && complete && possible {
            return Ok(());
        }
        Err(format!(
            "unexpected {unexpected:#?}\nmissing {missing:#?}\ncode {:?}, complete: {complete}, \
             possible: {possible}\n{}{}",
            ran.code, ran.stdout, ran.stderr
        ))
    }
}

/// What was found and is not wanted, and what is wanted and was not found.
fn difference<'a>(wanted: &'a BTreeSet<Finding>, found: &'a BTreeSet<Finding>) -> (Vec<&'a Finding>, Vec<&'a Finding>) {
    let unexpected = found.iter().filter(|found| !wanted.iter().any(|wanted| wanted.describes(found)));
    let missing = wanted.iter().filter(|wanted| !found.iter().any(|found| wanted.describes(found)));
    (unexpected.collect(), missing.collect())
}

/// The programs of a folder of `corpus/programs`, each followed by its mutation if it has one.
pub(crate) fn programs(language: &str) -> Vec<Program> {
    let only = std::env::var("FORETRACE_ONLY").ok();
    let folders = std::fs::read_dir(corpus("programs").join(language)).expect("the corpus is there");
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.expect("an entry").path()).collect();
    folders.retain(|path| path.is_dir() && only.as_ref().is_none_or(|only| path.ends_with(only)));
    folders.sort();
    let mut programs = Vec::new();
    for folder in folders {
        let name = folder.file_name().expect("a name").to_string_lossy().into_owned();
        let program = |mutated| {
            let text = std::fs::read_to_string(folder.join("expected.toml")).expect("readable");
            let expected = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            Program { name: name.clone(), folder: folder.clone(), expected, mutated }
        };
        let plain = program(false);
        let mutated = plain.expected.mutation.is_some().then(|| program(true));
        programs.push(plain);
        programs.extend(mutated);
    }
    programs
}

/// How often each program runs.
pub(crate) fn runs() -> usize {
    std::env::var("FORETRACE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1)
}

/// The strings of a JSON array.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
