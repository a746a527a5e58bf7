//! The line protocol: a program that answers each line with a line.

use super::child::Talk;
use super::{Answer, Logic, LogicError, Starter};
use std::path::Path;
use std::process::Command;

/// A logic in a program of the user's, which answers each line on its standard input with one line on its standard
/// output (and must not keep it in a buffer).
///
/// Fields are separated by tabs; a letter is the names of the atoms that hold, separated by spaces.
///
/// ```text
/// foretrace-logic⇥1                    ok
/// atoms⇥p⇥q                            ok
/// formula⇥LINE⇥LINE                    ok
/// init                                 state⇥STATE           the state before step 0
/// step⇥STATE⇥p q                       state⇥STATE
/// verdict⇥STATE                        verdict⇥violated | satisfied | pending
/// end⇥STATE⇥p q                        verdict⇥violated | satisfied | unfulfilled | fulfilled | pending
/// anything                             error⇥MESSAGE
/// ```
///
/// STATE is any text without tabs and newlines; it comes back as it was said. `end` gives the state before the last
/// step, and its letter. The program must keep nothing between questions: they come for any state, in any order.
/// What it says on standard error is shown if it dies. It ends when its standard input does.
pub struct Process {
    talk: Talk,
}

impl Process {
    /// Starts the command (words separated by white space) in the folder, and sends it the formula.
    pub(super) fn start(
        starter: &Starter,
        command: &str,
        formula: &[String],
        atoms: &[String],
        folder: &Path,
    ) -> Result<Process, LogicError> {
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
        let mut process = Process { talk: Talk::start(child, false, "", starter.patience)? };
        process.expect_ok(&["foretrace-logic".into(), "1".into()])?;
        let mut line = vec!["atoms".to_owned()];
        line.extend(atoms.iter().map(|atom| plain(atom)));
        process.expect_ok(&line)?;
        line = vec!["formula".to_owned()];
        line.extend(formula.iter().map(|text| plain(text)));
        process.expect_ok(&line)?;
        Ok(process)
    }

    /// The answer to a question, if it is of this kind.
    fn ask(&mut self, fields: &[String], kind: &str) -> Result<Option<String>, LogicError> {
        let question = fields.join("\t");
        self.talk.unasked(&question)?;
        self.talk.send(question.clone() + "\n");
        let answer = self.talk.hear(&question, |line| Some(line.to_owned()))?;
        match answer.split_once('\t') {
            Some((said, rest)) if said == kind && !rest.contains('\t') => Ok(Some(rest.to_owned())),
            None if answer == kind => Ok(None),
            _ => Err(self.talk.nonsense(&question, &answer)),
        }
    }

    fn expect_ok(&mut self, fields: &[String]) -> Result<(), LogicError> {
        match self.ask(fields, "ok")? {
            None => Ok(()),
            Some(more) => Err(self.talk.nonsense(&fields.join("\t"), &format!("ok\t{more}"))),
        }
    }

    fn expect_state(&mut self, fields: &[String]) -> Result<String, LogicError> {
        let state = self.ask(fields, "state")?;
        state.ok_or_else(|| self.talk.nonsense(&fields.join("\t"), "state (but not which)"))
    }

    fn expect_verdict(&mut self, fields: &[String]) -> Result<Answer, LogicError> {
        let word = self.ask(fields, "verdict")?.unwrap_or_default();
        let answer = Answer::from_word(&word);
        answer.ok_or_else(|| self.talk.nonsense(&fields.join("\t"), &format!("verdict\t{word}")))
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
