//! The line protocol: a program that answers each line with a line.
//!
//! Fields are separated by tabs; a letter is the names of the atoms that hold, separated by spaces.
//!
//! ```text
//! foretrace-logic⇥1                    ok
//! atoms⇥p⇥q                            ok
//! formula⇥LINE⇥LINE                    ok
//! init                                 state⇥STATE           the state before step 0
//! step⇥STATE⇥p q                       state⇥STATE
//! verdict⇥STATE                        verdict⇥violated | satisfied | pending
//! end⇥STATE⇥p q                        verdict⇥violated | satisfied | unfulfilled | fulfilled | pending
//! anything                             error⇥MESSAGE
//! ```
//!
//! STATE is any text without tabs and newlines. `end` gives the state before the last step, and its letter.

use super::child::{Said, Talk};
use super::{Answer, Logic, LogicError};
use std::path::Path;
use std::process::Command;

/// A logic in a program of the user's.
pub struct Process {
    talk: Talk,
}

impl Process {
    /// Starts the command (words separated by white space) in the folder, and tells it the formula.
    pub fn start(command: &str, formula: &[String], atoms: &[String], folder: &Path) -> Result<Process, LogicError> {
        let mut words = command.split_whitespace();
        let program = words.next().unwrap_or_default();
        let failed = |error: std::io::Error| LogicError::Start {
            program: program.to_owned(),
            reason: error.to_string(),
            advice: "",
        };
        let folder = std::path::absolute(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let folder = folder.map_err(failed)?;
        // A program named by a path is meant from the folder of the specification, whatever the current one is.
        let mut child = if program.contains('/') { Command::new(folder.join(program)) } else { Command::new(program) };
        child.args(words).current_dir(&folder);
        let mut process = Process { talk: Talk::start(child, false, "")? };
        process.expect_ok(&["foretrace-logic".into(), "1".into()])?;
        let mut line = vec!["atoms".to_owned()];
        line.extend(atoms.iter().map(|atom| plain(atom)));
        process.expect_ok(&line)?;
        line = vec!["formula".to_owned()];
        line.extend(formula.iter().map(|text| plain(text)));
        process.expect_ok(&line)?;
        Ok(process)
    }

    fn ask(&mut self, fields: &[String]) -> Result<(String, String), LogicError> {
        let question = fields.join("\t");
        self.talk.send(&(question.clone() + "\n"));
        let answer = self.talk.hear(&question, |said| match said {
            Said::Out(line) => Some(line.clone()),
            _ => None,
        })?;
        match answer.split_once('\t') {
            Some(("error", message)) => Err(self.talk.nonsense(&question, &format!("error: {message}"))),
            Some((kind, rest)) => Ok((kind.to_owned(), rest.to_owned())),
            None => Ok((answer, String::new())),
        }
    }

    fn expect_ok(&mut self, fields: &[String]) -> Result<(), LogicError> {
        match self.ask(fields)? {
            (kind, _) if kind == "ok" => Ok(()),
            (kind, rest) => Err(self.talk.nonsense(&fields.join("\t"), &format!("{kind}\t{rest}"))),
        }
    }

    fn expect_state(&mut self, fields: &[String]) -> Result<String, LogicError> {
        match self.ask(fields)? {
            (kind, state) if kind == "state" && !state.contains('\t') => Ok(state),
            (kind, rest) => Err(self.talk.nonsense(&fields.join("\t"), &format!("{kind}\t{rest}"))),
        }
    }

    fn expect_verdict(&mut self, fields: &[String]) -> Result<Answer, LogicError> {
        let (kind, word) = self.ask(fields)?;
        let answer = Answer::from_word(&word).filter(|_| kind == "verdict");
        answer.ok_or_else(|| self.talk.nonsense(&fields.join("\t"), &format!("{kind}\t{word}")))
    }
}

impl Logic for Process {
    fn init(&mut self) -> Result<String, LogicError> {
        self.expect_state(&["init".into()])
    }

    fn step(&mut self, state: &str, atoms: &[&str]) -> Result<String, LogicError> {
        self.expect_state(&["step".into(), state.into(), atoms.join(" ")])
    }

    fn verdict(&mut self, state: &str) -> Result<Answer, LogicError> {
        self.expect_verdict(&["verdict".into(), state.into()])
    }

    fn at_end(&mut self, state: &str, atoms: &[&str]) -> Result<Answer, LogicError> {
        self.expect_verdict(&["end".into(), state.into(), atoms.join(" ")])
    }
}

/// Text that stays one field of one line.
fn plain(text: &str) -> String {
    text.replace(['\t', '\n', '\r'], " ")
}
