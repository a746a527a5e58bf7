//! Monitors: one deterministic object per property that the prediction engine can carry along every path.
//!
//! [`past`], [`future`], [`ere`] and [`fsm`] compile what the checker of the language resolved. The result is an
//! [`AnyMonitor`]; its state is a `u64`, so that a node of a lattice holds a set of them.
//!
//! Each logic is first an automaton whose states have a meaning (bits of operators, a residual, a derivative, a set of
//! machine states) and whose transitions are computed. Where a letter may leave atoms unknown, the past logic
//! computes in Kleene's three values, and the others follow every completion of the letter as a set of states. A small
//! automaton is then computed completely, minimised and laid out as a [`Table`]; a larger one is discovered as it runs
//! ([`Lazy`]); a large past formula is evaluated by its [`Program`](PastMonitor).

mod automaton;
mod bdd;
mod blocks;
mod completing;
mod derivative;
mod dot;
mod ere;
mod explore;
mod follows;
mod fsm;
mod future;
mod graph;
pub(crate) mod intern;
mod lazy;
mod leaves;
mod letter;
mod minimise;
mod normal;
mod options;
mod past;
mod program;
mod table;
mod user;
mod verdict;

pub use ere::ere;
pub use explore::Exploration;
pub use fsm::fsm;
pub use future::future;
pub use lazy::Lazy;
pub use letter::{Alphabet, Letter, MAX_ATOMS};
pub use options::{AtEnd, CompileError, EreMode, Limits, Options, Possible};
pub use past::{PastMonitor, past};
pub use table::Table;
pub use user::{Asked, UserError, user};
pub use verdict::Verdict;

/// The state of a monitor. Equal states behave equally for ever.
pub type Q = u64;

/// How large a monitor is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// How it is represented.
    pub form: Form,
    /// States of the minimal automaton (table), or discovered so far (lazy). `None` for a program.
    pub states: Option<usize>,
    /// Bits of the state of the past-time part.
    pub bits: u32,
    /// Letters that behave differently (table); all letters otherwise, saturating.
    pub letters: usize,
    /// Memory that the monitor itself takes.
    pub bytes: usize,
}

/// How a monitor is represented.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// A complete minimal automaton.
    Table,
    /// A program over bits, run at each step.
    Program,
    /// An automaton discovered as it runs.
    Lazy,
}

/// A deterministic monitor of one property. It can be shared by threads; only states change.
pub trait Monitor: Send + Sync {
    /// The state after step 0.
    fn init(&self, step0: Letter) -> Q;

    /// The state after one more step.
    fn step(&self, q: Q, letter: Letter) -> Q;

    /// What is known after the steps so far.
    fn verdict(&self, q: Q) -> Verdict;

    /// What is known when no more steps come. `q` is the state after the last step, whose letter `last` is; monitors of
    /// this crate remember what they need of it.
    fn at_end(&self, q: Q, last: Letter) -> Verdict;

    /// Whether some continuation (of possible letters) is violated. `true` where the automaton is not known completely.
    fn can_violate(&self, q: Q) -> bool;

    /// Whether some continuation is violated, or is unfulfilled at its end. `true` where that is not known.
    fn can_fail(&self, q: Q) -> bool;

    /// Whether the monitor hit a bound of [`Limits`] on this path: the verdict is and stays `unknown`.
    fn gave_up(&self, q: Q) -> bool;

    /// How large it is.
    fn size(&self) -> Size;

    /// The atoms it looks at.
    fn alphabet(&self) -> &Alphabet;
}

/// A monitor of any logic. To run many steps, match once and be generic over [`Monitor`].
#[derive(Debug)]
pub enum AnyMonitor {
    /// A complete minimal automaton.
    Table(Table),
    /// A past-time formula, evaluated.
    Past(PastMonitor),
    /// An automaton discovered as it runs.
    Lazy(Lazy),
}

macro_rules! each {
    ($self:expr, $m:ident => $e:expr) => {
        match $self {
            AnyMonitor::Table($m) => $e,
            AnyMonitor::Past($m) => $e,
            AnyMonitor::Lazy($m) => $e,
        }
    };
}

impl Monitor for AnyMonitor {
    #[inline]
    fn init(&self, step0: Letter) -> Q {
        each!(self, m => m.init(step0))
    }
    #[inline]
    fn step(&self, q: Q, letter: Letter) -> Q {
        each!(self, m => m.step(q, letter))
    }
    #[inline]
    fn verdict(&self, q: Q) -> Verdict {
        each!(self, m => m.verdict(q))
    }
    fn at_end(&self, q: Q, last: Letter) -> Verdict {
        each!(self, m => m.at_end(q, last))
    }
    #[inline]
    fn can_violate(&self, q: Q) -> bool {
        each!(self, m => m.can_violate(q))
    }
    #[inline]
    fn can_fail(&self, q: Q) -> bool {
        each!(self, m => m.can_fail(q))
    }
    fn gave_up(&self, q: Q) -> bool {
        each!(self, m => m.gave_up(q))
    }
    fn size(&self) -> Size {
        each!(self, m => m.size())
    }
    fn alphabet(&self) -> &Alphabet {
        each!(self, m => m.alphabet())
    }
}
