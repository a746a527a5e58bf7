//! One thing that went wrong or can go wrong, with every name already resolved.

use crate::{Confirm, Evidence, Origin, ProcessOf, Schedule, Status};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What kind of thing goes wrong. The order is that of reports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Two conflicting accesses that nothing orders.
    Race,
    /// Threads that wait for each other around a cycle.
    Deadlock,
    /// Locks taken in contradicting orders.
    LockOrder,
    /// An atomic block that is not serialisable.
    Atomicity,
    /// A notify that comes before its wait.
    LostWakeup,
    /// A woken thread that goes on without looking again at what it had tested.
    WaitWithoutLoop,
    /// A lock or memory that is used as it must not be.
    Misuse,
    /// A thread that waits for ever when the run ends.
    Hang,
    /// A property of the user's that does not hold.
    Property,
}

impl Kind {
    /// Every kind, in the order of reports.
    pub const ALL: [Kind; 9] = [
        Kind::Race,
        Kind::Deadlock,
        Kind::LockOrder,
        Kind::Atomicity,
        Kind::LostWakeup,
        Kind::WaitWithoutLoop,
        Kind::Misuse,
        Kind::Hang,
        Kind::Property,
    ];

    /// The kind as the JSON and the fingerprint spell it.
    pub const fn text(self) -> &'static str {
        match self {
            Kind::Race => "race",
            Kind::Deadlock => "deadlock",
            Kind::LockOrder => "lock-order",
            Kind::Atomicity => "atomicity",
            Kind::LostWakeup => "lost-wakeup",
            Kind::WaitWithoutLoop => "wait-without-loop",
            Kind::Misuse => "misuse",
            Kind::Hang => "hang",
            Kind::Property => "property",
        }
    }

    /// Several of the kind, in words.
    pub(crate) const fn plural(self) -> &'static str {
        match self {
            Kind::Race => "races",
            Kind::Deadlock => "deadlocks",
            Kind::LockOrder => "lock-order conflicts",
            Kind::Atomicity => "atomicity violations",
            Kind::LostWakeup => "lost wake-ups",
            Kind::WaitWithoutLoop => "waits without a loop",
            Kind::Misuse => "misuses",
            Kind::Hang => "hangs",
            Kind::Property => "violations of properties",
        }
    }
}

/// One of the events that make a finding: an access of a race, a request of a deadlock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub struct Side {
    /// The event's index in the recorded order.
    pub event: u64,
    /// The thread's name.
    pub thread: String,
    /// What it did, as a text trace spells it (`w(x)=1`); empty if not known.
    pub op: String,
    /// Where in the program; empty if not recorded.
    pub site: String,
    /// The locks its thread held, in the order they were taken.
    pub locks_held: Vec<String>,
    /// Where each of them was taken; empty where that is not known.
    pub lock_sites: Vec<String>,
    /// Its call stack, leaf first; empty if not recorded.
    pub stack: Vec<String>,
    /// The names of the shared libraries' files that its frames are in, empty for those of the program itself. Frames
    /// behind the last one in a library are left out.
    pub libraries: Vec<String>,
}

impl Side {
    /// Whether the recorder was not sure of the event's value or place: a text trace has `~` behind it then.
    pub fn is_inexact(&self) -> bool {
        self.op.ends_with('~')
    }
}

/// What readers are shown of a finding beside its facts; not in the JSON.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Exhibit {
    /// A word and a text each (`values`, `x = 1`).
    pub entries: Vec<(String, String)>,
    /// The recorded order, and the one that shows the finding; as far as they matter.
    pub schedules: Vec<Schedule>,
    /// By a thread's name in the trace: what the program itself calls it.
    pub threads: BTreeMap<String, String>,
}

/// One thing found.
///
/// In the JSON the sides become parallel lists (`events`, `threads`, `ops`, `locks_held`, `lock_sites`, `sites`,
/// `stacks`, `libraries`), and the evidence becomes `status`, `witness` and `confirm`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What kind of thing it is.
    pub kind: Kind,
    /// Who found it: a detector's name, or the property's.
    pub detector: String,
    /// How it is known.
    pub evidence: Evidence,
    /// Its identity, see [`fingerprint`](fn@crate::fingerprint).
    pub fingerprint: String,
    /// Why it is a finding: one line, in words.
    pub message: String,
    /// The names of the variables, locks, blocks or conditions concerned.
    pub objects: Vec<String>,
    /// By the name of an object in the trace: the variable or field through which the program reaches it, if that is
    /// known for certain. It is no part of the identity.
    pub called: BTreeMap<String, String>,
    /// The events that make it.
    pub sides: Vec<Side>,
    /// Where its objects, its locks and its threads came from, as far as that is known.
    pub origins: Vec<Origin>,
    /// The process that it was found in, if a program was watched.
    pub process: Option<ProcessOf>,
    /// It is a warning of events that no other order of the recorded ones brings together. That does not refute it:
    /// with other values the program may take another way.
    pub kept_apart: bool,
    /// Of a race: conflicting accesses that happens-before does not order, and only this race does.
    pub behind: Vec<Finding>,
    /// The user does not want to hear of it.
    pub suppressed: bool,
    /// How many further findings with the same fingerprint this one stands for.
    pub merged: u64,
    /// What readers are shown beside that.
    pub exhibit: Exhibit,
}

impl Finding {
    /// A finding that concerns no object and no event yet.
    pub fn new(kind: Kind, detector: &str, evidence: Evidence, fingerprint: String, message: String) -> Finding {
        Finding {
            kind,
            detector: detector.to_owned(),
            evidence,
            fingerprint,
            message,
            objects: Vec::new(),
            called: BTreeMap::new(),
            sides: Vec::new(),
            origins: Vec::new(),
            process: None,
            kept_apart: false,
            behind: Vec::new(),
            suppressed: false,
            merged: 0,
            exhibit: Exhibit::default(),
        }
    }

    /// How it is known.
    pub fn status(&self) -> Status {
        self.evidence.status()
    }

    /// If it is suppressed: what is behind it, which then is to be reported by itself.
    pub fn uncover(&mut self) -> Vec<Finding> {
        if self.suppressed { std::mem::take(&mut self.behind) } else { Vec::new() }
    }

    /// Notes what came of driving the real program towards it.
    pub fn tried(&mut self, outcome: Confirm) {
        let evidence = std::mem::replace(&mut self.evidence, Evidence::warning());
        self.evidence = evidence.tried(outcome);
    }
}
