//! Logics that users define (docs/semantics.md, "Logics of your own"): each (state, letter) is asked for once.

use super::automaton::{Automaton, Product, Reader};
use super::completing::Completing;
use super::intern::Interner;
use super::leaves::{LeafSet, atoms};
use super::letter::Alphabet;
use super::options::{CompileError, Options, TooLarge};
use super::verdict::Verdict;
use super::{AnyMonitor, Lazy};
use crate::Formula;
use crate::logic::{Answer, Logic, LogicError};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most that the texts of all states and the transitions between them may take together, in bytes.
const MAX_STATE_BYTES: usize = 256 << 20;
/// About what a transition takes in memory.
const ENTRY_BYTES: usize = 100;

/// What became of the questions that a monitor put to a logic.
#[derive(Clone, Default, Debug)]
pub struct Asked(Arc<Mutex<Tally>>);

#[derive(Default, Debug)]
struct Tally {
    questions: u64,
    error: Option<LogicError>,
}

impl Asked {
    /// Why the logic gave no answer, if it ever did not. The verdict is then unknown.
    pub fn error(&self) -> Option<LogicError> {
        self.lock().error.clone()
    }

    /// How many questions were put: few, if the logic has few states.
    pub fn questions(&self) -> u64 {
        self.lock().questions
    }

    fn lock(&self) -> MutexGuard<'_, Tally> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question, counts it, and notes that it was not answered. A logic that failed once is not asked again:
    /// its answers could not be matched with questions.
    fn put<T>(&self, question: impl FnOnce() -> Result<T, LogicError>) -> Result<T, TooLarge> {
        let mut tally = self.lock();
        if tally.error.is_some() {
            return Err(TooLarge);
        }
        tally.questions += 1;
        drop(tally);
        question().map_err(|error| {
            self.lock().error.get_or_insert(error);
            TooLarge
        })
    }
}

/// A monitor for a formula of a user's logic, which talks about these propositions (past-time formulas).
pub fn user(
    logic: Box<dyn Logic>,
    propositions: &[(String, Formula)],
    options: &Options<'_>,
) -> Result<(AnyMonitor, Asked), UserError> {
    let mut leaves = LeafSet::default();
    let mut used = 0;
    // Propositions with the same meaning are one leaf.
    let mut numbers = Vec::new();
    for (_, formula) in propositions {
        used |= atoms(formula)?;
        numbers.push(leaves.add(formula)?);
    }
    let names = propositions.iter().map(|(name, _)| name.clone()).zip(numbers).collect();
    let asked = Asked::default();
    let reader = Questions::new(logic, names, asked.clone())?;
    let product = Product::new(leaves.finish()?, reader, &options.limits);
    let automaton: Box<dyn Automaton> = if options.unknown & used == 0 {
        Box::new(product)
    } else {
        Box::new(Completing::new(product, used, options.unknown, options.limits.states))
    };
    // Never a table: to know all states ahead, every one would have to be asked for.
    Ok((AnyMonitor::Lazy(Lazy::new(automaton, Alphabet::new(used, options.unknown))), asked))
}

/// Why a property of a user's logic has no monitor.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UserError {
    /// Its propositions cannot be decided.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// The logic does not understand it.
    #[error(transparent)]
    Logic(#[from] LogicError),
}

/// Reads letters by asking a logic. A state is a state of the logic before a step, and the letter of that step: so the
/// end of a run can be judged from the state before it.
struct Questions {
    talk: RefCell<Talk>,
    names: Vec<(String, u32)>,
    asked: Asked,
    states: Interner<(u32, u64)>,
    first: u32,
}

struct Talk {
    logic: Box<dyn Logic>,
    texts: Interner<String>,
    bytes: usize,
    steps: HashMap<(u32, u64), u32>,
    verdicts: HashMap<u32, Verdict>,
    ends: HashMap<(u32, u64), Verdict>,
}

impl Questions {
    fn new(mut logic: Box<dyn Logic>, names: Vec<(String, u32)>, asked: Asked) -> Result<Questions, LogicError> {
        let initial = logic.init()?;
        let mut talk = Talk {
            logic,
            texts: Interner::default(),
            bytes: 0,
            steps: HashMap::new(),
            verdicts: HashMap::new(),
            ends: HashMap::new(),
        };
        let first = talk.texts.intern(initial);
        Ok(Questions { talk: RefCell::new(talk), names, asked, states: Interner::default(), first })
    }

    fn holding(&self, leaves: u64) -> Vec<&str> {
        self.names.iter().filter(|(_, leaf)| leaves >> leaf & 1 == 1).map(|(name, _)| name.as_str()).collect()
    }

    /// The state of the logic after a step.
    fn next(&self, before: u32, leaves: u64) -> Result<u32, TooLarge> {
        let talk = &mut *self.talk.borrow_mut();
        if let Some(&after) = talk.steps.get(&(before, leaves)) {
            return Ok(after);
        }
        let after = self.asked.put(|| {
            let text = talk.logic.step(talk.texts.get(before), &self.holding(leaves))?;
            let (length, states) = (text.len(), talk.texts.len());
            let after = talk.texts.intern(text);
            // The text is kept twice if it is new; the transition is in any case.
            talk.bytes += ENTRY_BYTES + if talk.texts.len() > states { 2 * length } else { 0 };
            if talk.bytes > MAX_STATE_BYTES {
                return Err(LogicError::TooManyStates { states, bytes: MAX_STATE_BYTES });
            }
            Ok(after)
        })?;
        talk.steps.insert((before, leaves), after);
        Ok(after)
    }

    fn known(&self, state: u32) -> Verdict {
        let talk = &mut *self.talk.borrow_mut();
        if let Some(&verdict) = talk.verdicts.get(&state) {
            return verdict;
        }
        let state_text = talk.texts.get(state);
        let answer = self.asked.put(|| match talk.logic.verdict(state_text)? {
            // More may come: what holds only at the end is no answer.
            answer @ (Answer::Unfulfilled | Answer::Fulfilled) => Err(LogicError::Nonsense {
                program: "the logic".to_owned(),
                question: format!("the verdict in {state_text}"),
                answer: verdict(answer).to_string(),
            }),
            answer => Ok(answer),
        });
        let verdict = answer.map_or(Verdict::Unknown, verdict);
        talk.verdicts.insert(state, verdict);
        verdict
    }

    fn state(&mut self, before: u32, leaves: u64) -> Result<u32, TooLarge> {
        self.next(before, leaves)?;
        Ok(self.states.intern((before, leaves)))
    }
}

impl Reader for Questions {
    fn init(&mut self, leaves: u64) -> Result<u32, TooLarge> {
        self.state(self.first, leaves)
    }

    fn step(&mut self, q: u32, leaves: u64) -> Result<u32, TooLarge> {
        let (before, last) = *self.states.get(q);
        let after = self.next(before, last)?;
        self.state(after, leaves)
    }

    fn verdict(&self, q: u32) -> Verdict {
        let (before, last) = *self.states.get(q);
        self.next(before, last).map_or(Verdict::Unknown, |after| self.known(after))
    }

    fn at_end(&self, q: u32) -> Verdict {
        let decided = self.verdict(q);
        if decided != Verdict::Pending {
            return decided;
        }
        let (before, last) = *self.states.get(q);
        let talk = &mut *self.talk.borrow_mut();
        if let Some(&verdict) = talk.ends.get(&(before, last)) {
            return verdict;
        }
        let answer = self.asked.put(|| talk.logic.at_end(talk.texts.get(before), &self.holding(last)));
        let verdict = answer.map_or(Verdict::Unknown, verdict);
        talk.ends.insert((before, last), verdict);
        verdict
    }

    fn is_sink(&self, q: u32) -> bool {
        // What is decided stays decided, whatever the logic would say.
        self.verdict(q).is_final()
    }
}

fn verdict(answer: Answer) -> Verdict {
    match answer {
        Answer::Violated => Verdict::Violated,
        Answer::Satisfied => Verdict::Satisfied,
        Answer::Unfulfilled => Verdict::Unfulfilled,
        Answer::Fulfilled => Verdict::Fulfilled,
        Answer::Pending => Verdict::Pending,
    }
}
