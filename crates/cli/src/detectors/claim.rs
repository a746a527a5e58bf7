//! What a detector claims, before anybody checked it or gave it names.

use crate::args::Detector;
use detect::Schedule;
use event::{BlockId, CondId, LockId, Names, SiteId, Space, ThreadId, VarId};
use report::Kind;

/// How a claim is known.
#[derive(Clone, Debug)]
pub(crate) enum Shown {
    /// The recorded run shows it.
    Observed,
    /// An order of events shows it, if the checker agrees. That of a race or a deadlock ends with its parts.
    Predicted(Witness),
    /// A pattern.
    Warning,
}

/// The order that shows a claim.
#[derive(Clone, Debug)]
pub(crate) enum Witness {
    /// This one; it is made whole when it is needed.
    Window(Schedule),
    /// One that keeps the order of synchronisation; it is made when it is needed, for they are long.
    SyncPreserving,
}

/// What a claim is about.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum About {
    /// A variable.
    Variable(VarId),
    /// The locks around a cycle.
    Locks(Vec<LockId>),
    /// An atomic block.
    Block(BlockId),
    /// A condition, and the lock of its wait, if that is known.
    Condition(CondId, Option<LockId>),
    /// Something that no event but a recorder's note names.
    Named(String),
}

impl About {
    /// What it is about, by number. A block without a name is nothing.
    pub(crate) fn ids(&self) -> Vec<(Space, u32)> {
        match self {
            About::Variable(var) => vec![(Space::Var, var.0)],
            About::Locks(locks) => locks.iter().map(|lock| (Space::Lock, lock.0)).collect(),
            About::Block(BlockId(0)) => Vec::new(),
            About::Block(block) => vec![(Space::Block, block.0)],
            About::Condition(cond, _) => vec![(Space::Cond, cond.0)],
            About::Named(_) => Vec::new(),
        }
    }

    /// The names of what it is about.
    pub(crate) fn objects(&self, names: &Names) -> Vec<String> {
        if let About::Named(name) = self {
            return vec![name.clone()];
        }
        self.ids().into_iter().map(|(space, id)| names.get(space, id).to_owned()).collect()
    }
}

/// One of the events that make a claim, as far as its detector knows it.
#[derive(Clone, Debug)]
pub(crate) struct Part {
    pub(crate) event: u64,
    pub(crate) thread: ThreadId,
    pub(crate) site: SiteId,
    /// The locks that its thread holds, if the detector knows.
    pub(crate) locks: Vec<LockId>,
    /// What is said of it in the order that shows the claim; empty for nothing.
    pub(crate) role: &'static str,
}

/// What a detector claims.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) kind: Kind,
    pub(crate) detector: Detector,
    pub(crate) shown: Shown,
    pub(crate) about: About,
    pub(crate) parts: Vec<Part>,
    /// Why it is one, in words.
    pub(crate) why: String,
    /// How many more times the same was found.
    pub(crate) more: u64,
}

impl Claim {
    /// How sure it is; less is surer.
    pub(crate) fn rank(&self) -> u8 {
        match self.shown {
            Shown::Observed => 0,
            Shown::Predicted(_) => 1,
            Shown::Warning => 2,
        }
    }
}
