//! From a finding to the gates of a run.

use crate::events::{self, Event};
use crate::file;
use report::{Finding, Kind};
use runtime::gates::{EVENTS, meet};
use source::Binder;
use std::fmt;

/// The gates of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gates {
    /// One of [`meet`].
    pub(crate) meet: u32,
    pub(crate) events: Vec<Event>,
}

/// How long threads are held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hold {
    /// At a time, in milliseconds.
    pub patience: u32,
    /// How often threads are held at an event in vain before it holds no more.
    pub attempts: u32,
    /// After a meet, the thread that came last lets the others go first.
    pub last_waits: bool,
}

/// Why a run cannot be driven towards a finding.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Undrivable {
    /// Gates cannot bring about findings of this kind yet.
    Kind(Kind),
    /// Threads cannot be held before this operation.
    Operation(String),
    /// No code of the program is known for a site.
    Place(String),
    /// It has more events than there may be, or too few.
    Events(usize),
}

impl fmt::Display for Undrivable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undrivable::Kind(kind) => {
                write!(out, "a run cannot be driven towards findings of kind {} yet", kind.text())
            }
            Undrivable::Operation(op) => write!(out, "threads cannot be held before `{op}`"),
            Undrivable::Place(site) if site.is_empty() => write!(out, "it is not known where it is in the program"),
            Undrivable::Place(site) => write!(out, "`{site}` is not found in the program (built with -g?)"),
            Undrivable::Events(count) => write!(out, "it has {count} events"),
        }
    }
}

impl Gates {
    /// The gates that bring a finding about.
    ///
    /// # Errors
    ///
    /// There are none for such a finding, or the program does not have its places.
    pub fn of(finding: &Finding, binder: &mut Binder) -> Result<Gates, Undrivable> {
        let meet = match finding.kind {
            Kind::Race => meet::RACE,
            Kind::Deadlock | Kind::LockOrder => meet::DEADLOCK,
            kind => return Err(Undrivable::Kind(kind)),
        };
        let sides = finding.sides.len();
        if !(2..=EVENTS).contains(&sides) || meet == meet::RACE && sides != 2 {
            return Err(Undrivable::Events(sides));
        }
        let events = finding.sides.iter().map(|side| events::of(side, binder)).collect::<Result<_, _>>()?;
        Ok(Gates { meet, events })
    }

    /// The file that leads the agent.
    pub fn bytes(&self, hold: Hold) -> Vec<u8> {
        file::bytes(self, hold)
    }

    /// These gates, and one more: the thread of one side takes its locks only when threads have come to all other
    /// events. They may need these locks on their way. `None` if it holds no locks there.
    pub fn locks_later(&self, finding: &Finding, side: usize, binder: &mut Binder) -> Option<Gates> {
        let mut lock = events::first_lock(finding.sides.get(side)?, binder)?;
        lock.after = (0..self.events.len()).filter(|&other| other != side).fold(0, |bits, other| bits | 1 << other);
        let mut gates = self.clone();
        gates.events.push(lock);
        (gates.events.len() <= EVENTS).then_some(gates)
    }

    /// How many events take part in the meet; they are the first ones.
    pub fn meeting(&self) -> usize {
        self.events.iter().filter(|event| event.meets).count()
    }
}
