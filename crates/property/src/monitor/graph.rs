//! Past-time formulas as a graph of few operators: the recurrences of Havelund and Roşu.
//!
//! docs/semantics.md, "Past-time operators", lists them.
//!
//! Negations are marks on operands, and dualities bring the operators down to a few: `hist f = !once !f`,
//! `once f = true since f`, `[f, g) = !(!f wsince g)`, `weak [f, g) = !(!f since g)`, `wyesterday f = !yesterday !f`,
//! `end(f) = start(!f)`. All hold in Kleene's logic. Equal subformulas are one node.

use super::intern::Interner;
use super::letter::MAX_ATOMS;
use super::options::CompileError;
use crate::{AtomId, Formula};

/// Different subformulas of one property.
const MAX_NODES: usize = 1 << 15;

/// A node and whether it is negated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Edge(u32);

const FALSE: Edge = Edge(0);
const TRUE: Edge = Edge(1);

impl Edge {
    pub(super) fn node(self) -> u32 {
        self.0 >> 1
    }
    pub(super) fn negated(self) -> bool {
        self.0 & 1 == 1
    }
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

/// Subformulas, each once.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Node {
    False,
    Atom(AtomId),
    And(Edge, Edge),
    Xor(Edge, Edge),
    Prev(Edge),
    Yesterday(Edge),
    Start(Edge),
    Since(Edge, Edge),
    WSince(Edge, Edge),
}

/// Kleene's values: 0 false, 1 true, 2 unknown.
pub(super) mod kleene {
    pub(crate) fn not(a: u8) -> u8 {
        [1, 0, 2][a as usize]
    }
    pub(super) fn and(a: u8, b: u8) -> u8 {
        match (a, b) {
            (0, _) | (_, 0) => 0,
            (1, 1) => 1,
            _ => 2,
        }
    }
    pub(super) fn or(a: u8, b: u8) -> u8 {
        not(and(not(a), not(b)))
    }
    pub(super) fn xor(a: u8, b: u8) -> u8 {
        if a == 2 || b == 2 { 2 } else { a ^ b }
    }
}

impl Node {
    pub(super) fn operands(self) -> (Edge, Edge) {
        match self {
            Self::False | Self::Atom(_) => (FALSE, FALSE),
            Self::And(a, b) | Self::Xor(a, b) | Self::Since(a, b) | Self::WSince(a, b) => (a, b),
            Self::Prev(a) | Self::Yesterday(a) | Self::Start(a) => (a, FALSE),
        }
    }

    /// The node whose value of the step before is looked at.
    pub(super) fn looks_back_at(self, itself: u32) -> Option<u32> {
        match self {
            Self::False | Self::Atom(_) | Self::And(..) | Self::Xor(..) => None,
            Self::Prev(a) | Self::Yesterday(a) | Self::Start(a) => Some(a.node()),
            Self::Since(..) | Self::WSince(..) => Some(itself),
        }
    }

    /// The value, from the operands and the stored value. `None`: there is no step before.
    pub(super) fn value(self, a: u8, b: u8, pre: Option<u8>) -> u8 {
        use kleene::{and, not, or, xor};
        match self {
            Self::False | Self::Atom(_) => 0,
            Self::And(..) => and(a, b),
            Self::Xor(..) => xor(a, b),
            Self::Prev(_) => pre.unwrap_or(a),
            Self::Yesterday(_) => pre.unwrap_or(0),
            Self::Start(_) => pre.map_or(0, |pre| and(a, not(pre))),
            Self::Since(..) => or(b, and(a, pre.unwrap_or(0))),
            Self::WSince(..) => or(b, and(a, pre.unwrap_or(1))),
        }
    }
}

/// The nodes of some formulas, operands before what they are operands of. Node 0 is the constant.
pub(super) struct Graph {
    pub(super) nodes: Interner<Node>,
}

impl Graph {
    pub(super) fn new() -> Self {
        let mut nodes = Interner::default();
        nodes.intern(Node::False);
        Self { nodes }
    }

    fn node(&mut self, node: Node) -> Edge {
        Edge(self.nodes.intern(node) << 1)
    }

    /// Folds constants and equal operands only: `f && !f` is not false where `f` is unknown.
    fn and(&mut self, a: Edge, b: Edge) -> Edge {
        match (a, b) {
            (FALSE, _) | (_, FALSE) => FALSE,
            (TRUE, x) | (x, TRUE) => x,
            (a, b) if a == b => a,
            (a, b) => self.node(if a.0 < b.0 { Node::And(a, b) } else { Node::And(b, a) }),
        }
    }

    fn xor(&mut self, a: Edge, b: Edge) -> Edge {
        let flip = a.negated() != b.negated();
        let (a, b) = (Edge(a.0 & !1), Edge(b.0 & !1));
        let edge = match (a, b) {
            (FALSE, x) | (x, FALSE) => x,
            (a, b) => self.node(if a.0 < b.0 { Node::Xor(a, b) } else { Node::Xor(b, a) }),
        };
        if flip { edge.not() } else { edge }
    }

    /// `make` of an operand that is not constant.
    fn unary(&mut self, a: Edge, constant: impl Fn(Edge) -> Option<Edge>, make: fn(Edge) -> Node) -> Edge {
        match a {
            FALSE | TRUE => match constant(a) {
                Some(edge) => edge,
                None => self.node(make(a)),
            },
            _ => self.node(make(a)),
        }
    }

    fn since(&mut self, a: Edge, b: Edge, weak: bool) -> Edge {
        match (a, b) {
            (_, TRUE) => TRUE,
            (FALSE, b) => b,
            (TRUE, _) if weak => TRUE,
            (_, FALSE) if !weak => FALSE,
            (a, b) => self.node(if weak { Node::WSince(a, b) } else { Node::Since(a, b) }),
        }
    }

    /// The node of a formula.
    pub(super) fn add(&mut self, formula: &Formula) -> Result<Edge, CompileError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(CompileError::TooManyParts(MAX_NODES));
        }
        Ok(match formula {
            Formula::Const(value) => Edge(u32::from(*value)),
            Formula::Atom(atom) if *atom < MAX_ATOMS => self.node(Node::Atom(*atom)),
            Formula::Atom(atom) => return Err(CompileError::TooManyAtoms(*atom)),
            Formula::Not(f) => self.add(f)?.not(),
            Formula::And(f, g) => {
                let (f, g) = (self.add(f)?, self.add(g)?);
                self.and(f, g)
            }
            Formula::Or(f, g) => {
                let (f, g) = (self.add(f)?, self.add(g)?);
                self.and(f.not(), g.not()).not()
            }
            Formula::Implies(f, g) => {
                let (f, g) = (self.add(f)?, self.add(g)?);
                self.and(f, g.not()).not()
            }
            Formula::Iff(f, g) => {
                let (f, g) = (self.add(f)?, self.add(g)?);
                self.xor(f, g).not()
            }
            Formula::Prev(f) => {
                let f = self.add(f)?;
                self.unary(f, Some, Node::Prev)
            }
            Formula::Yesterday(f) => {
                let f = self.add(f)?;
                self.unary(f, |f| (f == FALSE).then_some(FALSE), Node::Yesterday)
            }
            Formula::WYesterday(f) => {
                let f = self.add(f)?.not();
                self.unary(f, |f| (f == FALSE).then_some(FALSE), Node::Yesterday).not()
            }
            Formula::Once(f) => {
                let f = self.add(f)?;
                self.since(TRUE, f, false)
            }
            Formula::Hist(f) => {
                let f = self.add(f)?.not();
                self.since(TRUE, f, false).not()
            }
            Formula::Since(f, g) => {
                let (f, g) = (self.add(f)?, self.add(g)?);
                self.since(f, g, false)
            }
            Formula::WSince(f, g) => {
                let (f, g) = (self.add(f)?, self.add(g)?);
                self.since(f, g, true)
            }
            Formula::Interval(f, g) => {
                let (f, g) = (self.add(f)?, self.add(g)?);
                self.since(f.not(), g, true).not()
            }
            Formula::WInterval(f, g) => {
                let (f, g) = (self.add(f)?, self.add(g)?);
                self.since(f.not(), g, false).not()
            }
            Formula::Start(f) => {
                let f = self.add(f)?;
                self.unary(f, |_| Some(FALSE), Node::Start)
            }
            Formula::End(f) => {
                let f = self.add(f)?.not();
                self.unary(f, |_| Some(FALSE), Node::Start)
            }
            Formula::Always(_) => return Err(CompileError::FutureOperator("always")),
            Formula::Eventually(_) => return Err(CompileError::FutureOperator("eventually")),
            Formula::Next(_) => return Err(CompileError::FutureOperator("next")),
            Formula::WNext(_) => return Err(CompileError::FutureOperator("wnext")),
            Formula::Until(..) => return Err(CompileError::FutureOperator("until")),
            Formula::WUntil(..) => return Err(CompileError::FutureOperator("wuntil")),
            Formula::Releases(..) => return Err(CompileError::FutureOperator("releases")),
        })
    }
}
