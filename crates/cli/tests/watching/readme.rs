//! Runs every command of the README and compares what it prints.
//!
//! A block that is fenced as `console` is a session in a shell: a line that begins with `$ ` is a command, the lines up
//! to the next one are what it prints, standard error included. All sessions run in one folder, in which `corpus` is
//! the corpus, with `foretrace` on the path. Two marks stand for output that is left out or differs from machine to
//! machine: a line that is only `…` for any number of lines, and `…` inside a line for any text.
//!
//! Blocks that are fenced as `sh` are not run: they install things.

use crate::common::{Folder, corpus};
use std::path::Path;
use std::process::{Command, Stdio};

/// Printed before the output of each command, so that one shell can run a whole session.
const MARK: &str = "\u{1}command";

/// A command of a session, and what it is to print.
struct Step {
    line: usize,
    command: String,
    expected: Vec<String>,
}

/// The sessions of a document.
fn sessions(text: &str) -> Vec<Vec<Step>> {
    let mut sessions = Vec::new();
    // The fence that is open: what stands behind it, and how far it is indented.
    let mut open: Option<(&str, usize)> = None;
    for (index, line) in text.lines().enumerate() {
        let indent = line.len() - line.trim_start().len();
        if let Some(kind) = line.trim_start().strip_prefix("```") {
            open = if open.is_some() { None } else { Some((kind, indent)) };
            if open.is_some_and(|(kind, _)| kind == "console") {
                sessions.push(Vec::new());
            }
            continue;
        }
        let Some((kind, indent)) = open else { continue };
        let line = line.get(indent..).unwrap_or_default();
        assert!(kind == "console" || !line.starts_with("$ "), "line {}: a command that no test runs", index + 1);
        let Some(session) = sessions.last_mut().filter(|_| kind == "console") else { continue };
        match (line.strip_prefix("$ "), session.last_mut()) {
            (Some(command), _) => {
                session.push(Step { line: index + 1, command: command.to_owned(), expected: Vec::new() });
            }
            (None, Some(step)) => step.expected.push(line.to_owned()),
            (None, None) => panic!("line {}: output without a command", index + 1),
        }
    }
    sessions
}

/// Runs a session; what each command printed.
fn run(session: &[Step], folder: &Folder) -> Vec<Vec<String>> {
    let mut script = String::from("exec 2>&1\n");
    for step in session {
        // The exit code of the command before stays what `$?` is.
        script.push_str(&format!("code=$?; echo '{MARK}'; (exit $code)\n{}\n", step.command));
    }
    let tools = Path::new(env!("CARGO_BIN_EXE_foretrace")).parent().expect("a folder").to_owned();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::env::join_paths([tools].into_iter().chain(std::env::split_paths(&paths))).expect("a path");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).current_dir(folder.path(".")).env("PATH", paths).env_remove("NO_COLOR");
    let output = shell.stdin(Stdio::null()).output().expect("sh runs").stdout;
    let output = String::from_utf8(output).expect("UTF-8");
    let mark = format!("{MARK}\n");
    output.split(&mark).skip(1).map(|printed| printed.lines().map(str::to_owned).collect()).collect()
}

/// Whether lines are as expected, with the two marks.
fn matches(expected: &[String], printed: &[String]) -> bool {
    match expected.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line.trim() == "…" => (0..=printed.len()).any(|from| matches(rest, &printed[from..])),
        Some((line, rest)) => {
            printed.split_first().is_some_and(|(first, others)| line_matches(line, first) && matches(rest, others))
        }
    }
}

/// Whether a line is as expected: the parts between marks occur in this order.
fn line_matches(expected: &str, printed: &str) -> bool {
    let Some((begin, rest)) = expected.split_once('…') else { return expected == printed };
    let Some(printed) = printed.strip_prefix(begin) else { return false };
    let starts = printed.char_indices().map(|(at, _)| at).chain([printed.len()]);
    starts.into_iter().any(|at| line_matches(rest, &printed[at..]))
}

#[test]
fn every_command_of_the_readme_prints_what_it_says() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let text = std::fs::read_to_string(readme).expect("readable");
    let folder = Folder::new();
    std::os::unix::fs::symlink(corpus("").canonicalize().expect("there"), folder.path("corpus")).expect("a link");
    let (mut commands, mut wrong) = (0, String::new());
    for session in sessions(&text) {
        let printed = run(&session, &folder);
        assert_eq!(printed.len(), session.len(), "each command of a session runs");
        for (step, printed) in session.iter().zip(&printed) {
            commands += 1;
            if !matches(&step.expected, printed) {
                wrong += &format!("README.md:{}: $ {}\n{}\n", step.line, step.command, printed.join("\n"));
            }
        }
    }
    assert!(commands > 10, "{commands} commands were found");
    assert!(wrong.is_empty(), "these print something else:\n{wrong}");
}

#[test]
fn marks_stand_for_what_is_left_out() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    let matches = |expected: &str, printed: &str| matches(&lines(expected), &lines(printed));
    assert!(matches("a\n…\nd", "a\nb\nc\nd") && matches("a\n…\nd", "a\nd") && matches("… events", "8 events"));
    assert!(!matches("a\n…\nd", "a\nb") && !matches("a", "b") && !matches("a", "a\nb") && !matches("a…b", "ac"));
}
