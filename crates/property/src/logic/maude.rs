//! Maude as the home of a logic: the user's module rewrites states, one `reduce` for each new (state, letter).
//!
//! What a module must define is said in `logics/foretrace.maude`, which is loaded before it.

use super::child::{Said, Talk};
use super::{Answer, Logic, LogicError};
use std::path::Path;
use std::process::Command;

/// The modules that come with Foretrace, by file name: the first is loaded before any other, the others show how a
/// logic is written.
pub const SHIPPED: [(&str, &str); 4] = [
    ("foretrace.maude", include_str!("../../logics/foretrace.maude")),
    ("prop.maude", include_str!("../../logics/prop.maude")),
    ("ltl.maude", include_str!("../../logics/ltl.maude")),
    ("ptltl.maude", include_str!("../../logics/ptltl.maude")),
];

/// A logic in a module of Maude's.
pub struct Maude {
    talk: Talk,
    formula: String,
    /// Counts the questions, so that each has its own end mark.
    asked: u64,
}

/// The module in which everything is asked: the user's, with the atoms of the property.
const ASKED: &str = "FORETRACE-ASKED";

impl Maude {
    /// Starts Maude, loads the module and declares the atoms.
    pub fn start(
        file: &str,
        module: &str,
        formula: &[String],
        atoms: &[String],
        folder: &Path,
    ) -> Result<Maude, LogicError> {
        let path = folder.join(file);
        let load = |reason: String| LogicError::Load { what: path.display().to_string(), reason };
        let text = std::fs::read_to_string(&path).map_err(|error| load(error.to_string()))?;
        let mut command = Command::new("maude");
        command.args(["-no-banner", "-no-advise", "-no-wrap", "-no-ansi-color", "-no-tecla"]);
        // What a module loads itself, it names from its own folder.
        if let Some(own) = path.parent().filter(|own| own.is_dir()) {
            command.current_dir(own);
        }
        let talk = Talk::start(command, true, "; on Debian: apt-get install maude")?;
        let mut maude = Maude { talk, formula: formula.join(" "), asked: 0 };
        maude.talk.send("set show command off .\nset show timing off .\nset show stats off .\n");
        maude.load("foretrace.maude", SHIPPED[0].1)?;
        maude.load(&path.display().to_string(), &text)?;
        let atoms = if atoms.is_empty() { String::new() } else { format!("ops {} : -> Atom .", atoms.join(" ")) };
        maude.load(&format!("module {module}"), &format!("fmod {ASKED} is including {module} . {atoms} endfm\n"))?;
        Ok(maude)
    }

    /// Sends text and hears what it has to say against it.
    fn load(&mut self, what: &str, text: &str) -> Result<(), LogicError> {
        self.talk.send(text);
        self.talk.send("\n");
        let (_, complaints) = self.reduce("FORETRACE", "pending", what)?;
        // An atom like `x_1` looks to Maude as if it had a place for an argument; it is understood all the same.
        let serious = complaints.into_iter().find(|line| !line.contains("number of underscores"));
        match serious {
            Some(reason) => Err(LogicError::Load { what: what.to_owned(), reason }),
            None => Ok(()),
        }
    }

    /// The normal form of a term, and what was complained of.
    fn reduce(
        &mut self,
        module: &str,
        term: &str,
        question: &str,
    ) -> Result<(Option<String>, Vec<String>), LogicError> {
        self.asked += 1;
        let mark = format!("done-{}", self.asked);
        // The mark is a quoted identifier of Maude's own: whatever the module does, it reduces to itself.
        self.talk.send(&format!("red in {module} : {term} .\nred in QID : '{mark} .\n"));
        let mut result = None;
        let mut complaints = Vec::new();
        let mark = format!("'{mark}");
        self.talk.hear(question, |said| {
            let Said::Out(line) = said else { return None };
            if let Some((_, term)) = line.strip_prefix("result ").and_then(|rest| rest.split_once(": ")) {
                if term == mark {
                    return Some(());
                }
                result = Some(term.to_owned());
            } else if line.starts_with("Warning:") || line.starts_with("Error:") {
                complaints.push(line.clone());
            }
            None
        })?;
        Ok((result, complaints))
    }

    fn ask(&mut self, term: &str) -> Result<String, LogicError> {
        let (result, complaints) = self.reduce(ASKED, term, term)?;
        match (result, complaints.first()) {
            (Some(result), None) => Ok(result),
            (_, Some(complaint)) => Err(self.talk.nonsense(term, complaint)),
            (None, None) => Err(self.talk.nonsense(term, "nothing")),
        }
    }

    fn ask_verdict(&mut self, term: &str) -> Result<Answer, LogicError> {
        let word = self.ask(term)?;
        Answer::from_word(&word).ok_or_else(|| self.talk.nonsense(term, &word))
    }
}

fn letter(atoms: &[&str]) -> String {
    if atoms.is_empty() { "none".to_owned() } else { format!("({})", atoms.join(" ")) }
}

impl Logic for Maude {
    fn init(&mut self) -> Result<String, LogicError> {
        let term = format!("init({})", self.formula);
        self.ask(&term)
    }

    fn step(&mut self, state: &str, atoms: &[&str]) -> Result<String, LogicError> {
        self.ask(&format!("step(({state}), {})", letter(atoms)))
    }

    fn verdict(&mut self, state: &str) -> Result<Answer, LogicError> {
        self.ask_verdict(&format!("verdict({state})"))
    }

    fn at_end(&mut self, state: &str, atoms: &[&str]) -> Result<Answer, LogicError> {
        self.ask_verdict(&format!("atEnd(({state}), {})", letter(atoms)))
    }
}
