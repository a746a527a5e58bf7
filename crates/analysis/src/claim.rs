//! What a detector claims, before it was checked and its names were looked up.

use crate::detectors::DetectorId;
use crate::recorded::Recorded;
use detect::Schedule;
use event::{BlockId, CondId, LockId, Names, SiteId, Space, ThreadId, VarId};
use report::Kind;

/// Says whether a witness shows a claim; if not, why. It asks the independent checker of `crates/witness`.
pub(crate) type Check = fn(&Claim, &[u64], &Recorded<'_>) -> Result<(), String>;

/// How a claim is known.
#[derive(Clone, Debug)]
pub(crate) enum Basis {
    /// The recorded run shows it as it stands.
    Observed,
    /// The recorded run shows it, and a reordering that this check accepts makes it plain.
    ObservedReordered(Check),
    /// An order of events shows it, if the check accepts it. That of a race or a deadlock ends with the claim's parts.
    Predicted(Witness, Check),
    /// A pattern, without an order that shows it.
    Warning,
}

/// The order that shows a claim.
#[derive(Clone, Debug)]
pub(crate) enum Witness {
    /// This one. The events before its window are added when it is needed.
    Window(Schedule),
    /// A sync-preserving one. It is built when it is needed, for such orders are long.
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
    /// Objects of any kind.
    Objects(Vec<(Space, u32)>),
    /// Something that only a recorder's note names.
    Named(String),
}

impl About {
    /// The objects it is about. A block without a name is none.
    pub(crate) fn ids(&self) -> Vec<(Space, u32)> {
        match self {
            About::Variable(var) => vec![(Space::Var, var.0)],
            About::Locks(locks) => locks.iter().map(|lock| (Space::Lock, lock.0)).collect(),
            About::Block(BlockId(0)) => Vec::new(),
            About::Block(block) => vec![(Space::Block, block.0)],
            About::Condition(cond, _) => vec![(Space::Cond, cond.0)],
            About::Objects(objects) => objects.clone(),
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

impl Part {
    /// An event without known locks.
    pub(crate) fn at((event, thread, site): (u64, ThreadId, SiteId), role: &'static str) -> Part {
        Part { event, thread, site, locks: Vec::new(), role }
    }
}

/// What a detector claims.
#[derive(Clone, Debug)]
pub(crate) struct Claim {
    pub(crate) kind: Kind,
    pub(crate) detector: DetectorId,
    pub(crate) basis: Basis,
    pub(crate) about: About,
    pub(crate) parts: Vec<Part>,
    /// Why it is one, in words.
    pub(crate) why: String,
    /// How many more times it was found.
    pub(crate) more: u64,
    /// It is a warning of two accesses that no other order of the recorded events brings together.
    pub(crate) apart: bool,
    /// Of a race: what only this race orders. The recorded run shows it, if the race is no warning.
    pub(crate) behind: Vec<Claim>,
}

impl Claim {
    /// How certain it is; less is more certain.
    pub(crate) fn rank(&self) -> u8 {
        match self.basis {
            Basis::Observed | Basis::ObservedReordered(_) => 0,
            Basis::Predicted(..) => 1,
            Basis::Warning => 2,
        }
    }

    /// Whether the recorded run shows it.
    pub(crate) fn is_observed(&self) -> bool {
        self.rank() == 0
    }

    /// It, and what is behind it.
    pub(crate) fn with_behind(&self) -> impl Iterator<Item = &Claim> {
        std::iter::once(self).chain(&self.behind)
    }

    /// Whether it is a pattern only.
    pub(crate) fn is_warning(&self) -> bool {
        matches!(self.basis, Basis::Warning)
    }
}
