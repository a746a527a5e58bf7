//! Logics that users define: the modules of Maude's that are shipped mean what the built-in logics mean, the line
//! protocol works, and whatever fails is an error and never a verdict.
//!
//! Maude must be installed; without it these tests fail.

mod agree;
mod balanced;
mod broken;
mod maude;
mod names;

mod print;
mod random;

use property::Formula;
use property::logic::{Logic, LogicError, Starter};
use property::monitor::{AnyMonitor, Asked, Letter, Monitor, Options, Verdict, user};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The folder of the modules that are shipped.
fn shipped() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("logics")
}

/// An empty folder of its own for a test; its name has a space.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("logic {test}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// A logic that is not waited for long.
fn start(name: &str, formula: &str, atoms: &[&str], folder: &Path) -> Result<Box<dyn Logic>, LogicError> {
    impatient(Duration::from_secs(10), name, formula, atoms, folder)
}

fn impatient(
    patience: Duration,
    name: &str,
    formula: &str,
    atoms: &[&str],
    folder: &Path,
) -> Result<Box<dyn Logic>, LogicError> {
    let atoms: Vec<String> = atoms.iter().map(|&atom| atom.to_owned()).collect();
    Starter { patience, ..Starter::default() }.start(name, &[formula.to_owned()], &atoms, folder)
}

/// The monitor of a logic whose propositions are atoms of these names.
fn monitor(logic: Box<dyn Logic>, atoms: &[&str], unknown: u64) -> (AnyMonitor, Asked) {
    let propositions: Vec<_> =
        atoms.iter().enumerate().map(|(k, name)| ((*name).to_owned(), Formula::Atom(k as u32))).collect();
    user(logic, &propositions, &Options { unknown, ..Options::default() }).expect("the logic takes the formula")
}

/// The verdict after each step, and the verdict if the run ended there.
fn verdicts(monitor: &AnyMonitor, run: &[Letter]) -> Vec<(Verdict, Verdict)> {
    let mut out = Vec::new();
    let mut q = 0;
    for (k, letter) in run.iter().enumerate() {
        q = if k == 0 { monitor.init(*letter) } else { monitor.step(q, *letter) };
        out.push((monitor.verdict(q), monitor.at_end(q, *letter)));
    }
    out
}

fn known(run: &[u64]) -> Vec<Letter> {
    run.iter().map(|holds| Letter::known(*holds)).collect()
}

/// The message of what must fail.
fn message<T>(result: Result<T, LogicError>) -> String {
    match result {
        Err(error) => error.to_string(),
        Ok(_) => panic!("this must be an error"),
    }
}
