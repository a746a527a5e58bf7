//! Tests with class files of real programs: those of the JDK come out as they went in, and woven ones do what they
//! did.

mod corpus;
mod hostile;
mod jdk;
mod many_calls;
mod offline;
mod pairs;
mod programs;
mod random;
mod rows;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a tool of the JDK, which must succeed. `JAVA_RUNTIME` may name a Java without the other tools, to run
/// programs.
fn tool(name: &str, arguments: &[&str], folder: &Path) -> std::process::Output {
    let runtime = std::env::var_os("JAVA_RUNTIME").filter(|_| name == "java");
    let mut command = match runtime.or_else(|| std::env::var_os("JAVA_HOME")) {
        Some(home) => Command::new(Path::new(&home).join("bin").join(name)),
        None => Command::new(name),
    };
    let out = command.args(arguments).current_dir(folder).output();
    let out = out.unwrap_or_else(|error| panic!("{name} of a JDK (`./test` installs one): {error}"));
    let [said, complained] = [&out.stdout, &out.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(out.status.success(), "{name} {arguments:?}: {complained}{said}");
    out
}

/// The class files in a folder.
fn classes(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(classes(&path));
        } else if path.extension().is_some_and(|extension| extension == "class") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The test programs, compiled.
fn compiled(folder: &Path) {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/weave/programs");
    let path = |name: &str| sources.join(name).to_str().expect("a path").to_owned();
    let [every, hooks, watched] =
        ["Every.java", "foretrace/agent/Hooks.java", "foretrace/agent/Watched.java"].map(path);
    tool("javac", &["--release", "11", "-g", "-d", "program", &every], folder);
    tool("javac", &["--release", "11", "-d", "hooks", &hooks, &watched], folder);
}
