//! Logics that users define: the extension contract, as a Rust trait and as a line protocol to a child process.
//!
//! A logic gives meaning to a formula by `init`, `step`, `verdict` and `at_end` over opaque states (texts of one
//! line). [`monitor::user`](crate::monitor::user) asks it once for each (state, letter), and is then as fast as any
//! other monitor; a logic with infinitely many states is only as fast as its answers.
//!
//! * [`Process`] speaks the protocol with a program of the user's: `logic "process:COMMAND" { "…" }`.
//! * [`Maude`] drives the Maude system with a module of the user's: `logic "maude:FILE:MODULE" { "…" }`.

mod child;
mod maude;
mod process;

pub use maude::{Maude, SHIPPED};
pub use process::Process;

use std::path::Path;
use std::time::Duration;

/// What is known of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Violated, whatever comes.
    Violated,
    /// Satisfied, whatever comes.
    Satisfied,
    /// At the end only: violated because nothing more came.
    Unfulfilled,
    /// At the end only: satisfied because nothing more came.
    Fulfilled,
    /// Not known yet.
    Pending,
}

impl Answer {
    fn from_word(word: &str) -> Option<Answer> {
        Some(match word {
            "violated" => Answer::Violated,
            "satisfied" => Answer::Satisfied,
            "unfulfilled" => Answer::Unfulfilled,
            "fulfilled" => Answer::Fulfilled,
            "pending" => Answer::Pending,
            _ => return None,
        })
    }
}

/// Why a logic gave no answer. There is then no verdict at all: never a wrong one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LogicError {
    /// The program that runs the logic is not there.
    #[error("cannot start {program}: {reason}{advice}")]
    Start {
        /// The program.
        program: String,
        /// What the system said.
        reason: String,
        /// What may help, with its own separator; or nothing.
        advice: &'static str,
    },
    /// The module or its file did not load.
    #[error("{what} does not load: {reason}")]
    Load {
        /// What was to be loaded.
        what: String,
        /// What was said about it.
        reason: String,
    },
    /// It said something that is not an answer.
    #[error("asked for `{question}`, {program} answered: {answer}")]
    Nonsense {
        /// The program.
        program: String,
        /// What was asked.
        question: String,
        /// What came.
        answer: String,
    },
    /// It took too long.
    #[error("asked for `{question}`, {program} gave no answer in {waited:?}")]
    Hangs {
        /// The program.
        program: String,
        /// What was asked.
        question: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It ended.
    #[error("asked for `{question}`, {program} ended{last_words}")]
    Died {
        /// The program.
        program: String,
        /// What was asked.
        question: String,
        /// What it said before, with its own separator; or nothing.
        last_words: String,
    },
    /// Its states outgrew what is kept.
    #[error("the logic has more states than can be kept: {states} states took more than {bytes} bytes")]
    TooManyStates {
        /// How many there were.
        states: usize,
        /// How much they may take.
        bytes: usize,
    },
    /// A name of the property means something else in the logic.
    #[error("the name `{name}` already means something in {place}: call it otherwise")]
    Clash {
        /// The name.
        name: String,
        /// Where it has its own meaning.
        place: String,
    },
    /// The text of a formula cannot be one.
    #[error("the formula `{formula}` cannot be asked for: {reason}")]
    Formula {
        /// The formula.
        formula: String,
        /// Why not.
        reason: String,
    },
    /// The name of the logic is not one.
    #[error("`{0}` is not a logic: write \"maude:FILE:MODULE\" or \"process:COMMAND\"")]
    Unknown(String),
}

/// The extension contract. States are texts of one line, without tabs; equal states behave equally.
pub trait Logic: Send {
    /// The state before step 0.
    fn init(&mut self) -> Result<String, LogicError>;

    /// The state after a step at which these atoms hold.
    fn step(&mut self, state: &str, atoms: &[&str]) -> Result<String, LogicError>;

    /// What is known in a state: violated, satisfied or pending.
    fn verdict(&mut self, state: &str) -> Result<Answer, LogicError>;

    /// What is known if a step at which these atoms hold, taken from this state, is the last.
    fn at_end(&mut self, state: &str, atoms: &[&str]) -> Result<Answer, LogicError>;
}

/// How logics are started.
#[derive(Clone, Debug)]
pub struct Starter {
    /// The program that is Maude.
    pub maude: String,
    /// How long an answer may take.
    pub patience: Duration,
}

impl Default for Starter {
    fn default() -> Self {
        Self { maude: "maude".to_owned(), patience: Duration::from_secs(10) }
    }
}

impl Starter {
    /// Starts the logic of this name (`maude:FILE:MODULE`, `process:COMMAND`) for a formula over these atoms. Files
    /// are found from `folder`, the one of the specification.
    pub fn start(
        &self,
        name: &str,
        formula: &[String],
        atoms: &[String],
        folder: &Path,
    ) -> Result<Box<dyn Logic>, LogicError> {
        let unknown = || LogicError::Unknown(name.to_owned());
        if let Some(place) = name.strip_prefix("maude:") {
            let (file, module) =
                place.rsplit_once(':').filter(|(f, m)| !f.is_empty() && !m.is_empty()).ok_or_else(unknown)?;
            return Ok(Box::new(Maude::start(self, (file, module), formula, atoms, folder)?));
        }
        match name.strip_prefix("process:").map(str::trim) {
            Some(command) if !command.is_empty() => {
                Ok(Box::new(Process::start(self, command, formula, atoms, folder)?))
            }
            _ => Err(unknown()),
        }
    }
}

/// [`Starter::start`] as usual.
pub fn start(name: &str, formula: &[String], atoms: &[String], folder: &Path) -> Result<Box<dyn Logic>, LogicError> {
    Starter::default().start(name, formula, atoms, folder)
}
