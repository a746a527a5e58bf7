//! Brzozowski derivatives of extended regular expressions, normalised so that there are finitely many.

use super::intern::{FastMap, Interner};
use super::leaves::LeafSet;
use super::options::{CompileError, TooLarge};
use crate::{Ere, Formula};

/// An expression.
pub(super) type Term = u32;

/// Expressions modulo associativity, commutativity and idempotence of `|` and `&`, with constants folded. Sequences
/// nest to the right.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Node {
    Empty,
    Eps,
    Any,
    Leaf(u32),
    Cat(Term, Term),
    Or(Box<[Term]>),
    And(Box<[Term]>),
    Not(Term),
    Star(Term),
}

/// No word.
pub(super) const EMPTY: Term = 0;
const EPS: Term = 1;
/// Every word.
pub(super) const ALL: Term = 2;

/// The terms made so far.
pub(super) struct Terms {
    nodes: Interner<Node>,
    nullable: Vec<bool>,
    derivatives: FastMap<(Term, u64), Term>,
    limit: usize,
}

impl Terms {
    pub(super) fn new(limit: usize) -> Self {
        let mut nodes = Interner::default();
        nodes.intern(Node::Empty);
        nodes.intern(Node::Eps);
        nodes.intern(Node::Not(EMPTY));
        Self { nodes, nullable: vec![false, true, true], derivatives: FastMap::default(), limit }
    }

    /// Whether the empty word is in the language.
    pub(super) fn nullable(&self, t: Term) -> bool {
        self.nullable[t as usize]
    }

    fn make(&mut self, node: Node) -> Result<Term, TooLarge> {
        let nullable = match &node {
            Node::Empty | Node::Any | Node::Leaf(_) => false,
            Node::Eps | Node::Star(_) => true,
            Node::Cat(a, b) => self.nullable(*a) && self.nullable(*b),
            Node::Or(parts) => parts.iter().any(|t| self.nullable(*t)),
            Node::And(parts) => parts.iter().all(|t| self.nullable(*t)),
            Node::Not(a) => !self.nullable(*a),
        };
        let term = self.nodes.intern(node);
        if self.nodes.len() > self.nullable.len() {
            self.nullable.push(nullable);
        }
        if self.nodes.len() > self.limit { Err(TooLarge) } else { Ok(term) }
    }

    /// `a b`
    pub(super) fn cat(&mut self, a: Term, b: Term) -> Result<Term, TooLarge> {
        match (a, b) {
            (EMPTY, _) | (_, EMPTY) => return Ok(EMPTY),
            (EPS, x) | (x, EPS) => return Ok(x),
            (ALL, ALL) => return Ok(ALL),
            _ => {}
        }
        if let Node::Cat(first, rest) = *self.nodes.get(a) {
            let rest = self.cat(rest, b)?;
            return self.cat(first, rest);
        }
        self.make(Node::Cat(a, b))
    }

    /// Union, or with `and` intersection: the two differ in what is neutral and what absorbs.
    fn join(&mut self, a: Term, b: Term, and: bool) -> Result<Term, TooLarge> {
        let (neutral, absorbing) = if and { (ALL, EMPTY) } else { (EMPTY, ALL) };
        let mut parts = Vec::new();
        for t in [a, b] {
            match self.nodes.get(t) {
                Node::Or(inner) if !and => parts.extend_from_slice(inner),
                Node::And(inner) if and => parts.extend_from_slice(inner),
                _ => parts.push(t),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        parts.retain(|t| *t != neutral);
        if parts.contains(&absorbing) {
            return Ok(absorbing);
        }
        match parts[..] {
            [] => Ok(neutral),
            [one] => Ok(one),
            _ if and => self.make(Node::And(parts.into())),
            _ => self.make(Node::Or(parts.into())),
        }
    }

    fn not(&mut self, a: Term) -> Result<Term, TooLarge> {
        match *self.nodes.get(a) {
            Node::Not(inner) => Ok(inner),
            _ => self.make(Node::Not(a)),
        }
    }

    fn star(&mut self, a: Term) -> Result<Term, TooLarge> {
        match self.nodes.get(a) {
            Node::Empty | Node::Eps => Ok(EPS),
            Node::Any => Ok(ALL),
            Node::Star(_) => Ok(a),
            _ if a == ALL => Ok(ALL),
            _ => self.make(Node::Star(a)),
        }
    }

    /// The term of an expression. `leaves` collects what its letters must satisfy.
    pub(super) fn add(&mut self, e: &Ere, leaves: &mut LeafSet) -> Result<Term, CompileError> {
        Ok(match e {
            Ere::Empty | Ere::Leaf(Formula::Const(false)) => EMPTY,
            Ere::Eps => EPS,
            Ere::Any | Ere::Leaf(Formula::Const(true)) => self.make(Node::Any)?,
            Ere::Leaf(formula) => {
                let leaf = leaves.add(formula)?;
                self.make(Node::Leaf(leaf))?
            }
            Ere::Cat(a, b) => {
                let (a, b) = (self.add(a, leaves)?, self.add(b, leaves)?);
                self.cat(a, b)?
            }
            Ere::Or(a, b) | Ere::And(a, b) => {
                let and = matches!(e, Ere::And(..));
                let (a, b) = (self.add(a, leaves)?, self.add(b, leaves)?);
                self.join(a, b, and)?
            }
            Ere::Not(a) => {
                let a = self.add(a, leaves)?;
                self.not(a)?
            }
            Ere::Star(a) => {
                let a = self.add(a, leaves)?;
                self.star(a)?
            }
            Ere::Plus(a) => {
                let a = self.add(a, leaves)?;
                let star = self.star(a)?;
                self.cat(a, star)?
            }
            Ere::Opt(a) => {
                let a = self.add(a, leaves)?;
                self.join(a, EPS, false)?
            }
        })
    }

    /// What may follow a letter at which `leaves` hold.
    pub(super) fn derivative(&mut self, t: Term, leaves: u64) -> Result<Term, TooLarge> {
        if let Some(d) = self.derivatives.get(&(t, leaves)) {
            return Ok(*d);
        }
        let d = match self.nodes.get(t).clone() {
            Node::Empty | Node::Eps => EMPTY,
            Node::Any => EPS,
            Node::Leaf(leaf) if leaves >> leaf & 1 == 1 => EPS,
            Node::Leaf(_) => EMPTY,
            Node::Cat(a, b) => {
                let first = self.derivative(a, leaves)?;
                let first = self.cat(first, b)?;
                if self.nullable(a) {
                    let second = self.derivative(b, leaves)?;
                    self.join(first, second, false)?
                } else {
                    first
                }
            }
            Node::Or(parts) => {
                let mut sum = EMPTY;
                for part in parts {
                    let d = self.derivative(part, leaves)?;
                    sum = self.join(sum, d, false)?;
                }
                sum
            }
            Node::And(parts) => {
                let mut product = ALL;
                for part in parts {
                    let d = self.derivative(part, leaves)?;
                    product = self.join(product, d, true)?;
                }
                product
            }
            Node::Not(a) => {
                let d = self.derivative(a, leaves)?;
                self.not(d)?
            }
            Node::Star(a) => {
                let d = self.derivative(a, leaves)?;
                self.cat(d, t)?
            }
        };
        self.derivatives.insert((t, leaves), d);
        Ok(d)
    }
}
