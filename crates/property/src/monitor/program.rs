//! Past-time formulas as a flat program over bits: the recurrences of Havelund and Roşu (semantics.md, section 2).
//!
//! Negations are marks on operands, and dualities bring the operators down to a few: `hist f = !once !f`,
//! `once f = true since f`, `[f, g) = !(!f wsince g)`, `weak [f, g) = !(!f since g)`, `wyesterday f = !yesterday !f`,
//! `end(f) = start(!f)`. All hold in Kleene's logic. Equal subformulas are one node. A node becomes one instruction:
//! two operands and one stored bit select a bit of a truth table, so that no instruction branches.

use super::intern::Interner;
use super::letter::{Letter, MAX_ATOMS};
use super::options::CompileError;
use crate::{AtomId, Formula};

/// Registers of a program: the constant, the used atoms, one for each node.
const REGISTERS: usize = 256;
/// Registers of a long program.
pub(super) const MAX_REGISTERS: usize = 1 << 15;

/// A node and whether it is negated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Edge(u32);

const FALSE: Edge = Edge(0);
const TRUE: Edge = Edge(1);

impl Edge {
    fn node(self) -> u32 {
        self.0 >> 1
    }
    fn negated(self) -> bool {
        self.0 & 1 == 1
    }
    fn not(self) -> Self {
        Self(self.0 ^ 1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node {
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
mod kleene {
    pub(super) fn not(a: u8) -> u8 {
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
    fn operands(self) -> (Edge, Edge) {
        match self {
            Self::False | Self::Atom(_) => (FALSE, FALSE),
            Self::And(a, b) | Self::Xor(a, b) | Self::Since(a, b) | Self::WSince(a, b) => (a, b),
            Self::Prev(a) | Self::Yesterday(a) | Self::Start(a) => (a, FALSE),
        }
    }

    /// The node whose value of the step before is looked at.
    fn looks_back_at(self, itself: u32) -> Option<u32> {
        match self {
            Self::False | Self::Atom(_) | Self::And(..) | Self::Xor(..) => None,
            Self::Prev(a) | Self::Yesterday(a) | Self::Start(a) => Some(a.node()),
            Self::Since(..) | Self::WSince(..) => Some(itself),
        }
    }

    /// The value, from the operands and the stored value. `None`: there is no step before.
    fn value(self, a: u8, b: u8, pre: Option<u8>) -> u8 {
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

/// One instruction: `a`, `b` and the stored value select from two truth tables. With two values the index is
/// `a + 2b + 4pre` and the second words are zero; with three it is `a + 4b + 16pre`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Op {
    value: [u64; 2],
    store: [u64; 2],
    /// The registers of the operands.
    pub(super) a: u16,
    pub(super) b: u16,
    /// The place of the stored value, if it looks back.
    pub(super) bit: u16,
    /// Its width as a mask.
    pub(super) mask: u8,
    /// Whether it looks at the stored value.
    pub(super) looks_back: bool,
    /// Whether it is the one that stores the next.
    pub(super) keeps: bool,
}

impl Op {
    /// What it computes and what it stores, from the operands and the stored value.
    pub(super) fn apply(&self, three_valued: bool, a: u8, b: u8, pre: u8) -> (u8, u8) {
        let width = if three_valued { 2 } else { 1 };
        let index = (a | b << width | pre << (2 * width)) & 63;
        let pick = |table: &[u64; 2]| (table[0] >> index & 1 | (table[1] >> index & 1) << 1) as u8;
        (pick(&self.value), pick(&self.store))
    }
}

/// Where the stored bits are: one word, or several.
pub(super) trait Bits {
    fn get(&self, bit: u16, mask: u8) -> u8;
    fn put(&mut self, bit: u16, value: u8);
}

impl Bits for u64 {
    #[inline(always)]
    fn get(&self, bit: u16, mask: u8) -> u8 {
        (*self >> (bit & 63)) as u8 & mask
    }
    #[inline(always)]
    fn put(&mut self, bit: u16, value: u8) {
        *self |= u64::from(value) << (bit & 63);
    }
}

impl Bits for Box<[u64]> {
    fn get(&self, bit: u16, mask: u8) -> u8 {
        self[usize::from(bit / 64)].get(bit % 64, mask)
    }
    fn put(&mut self, bit: u16, value: u8) {
        self[usize::from(bit / 64)].put(bit % 64, value);
    }
}

/// The registers after a step.
pub(super) enum Registers {
    Few([u8; REGISTERS]),
    Many(Box<[u8]>),
}

impl Registers {
    #[inline(always)]
    fn get(&self, at: u16) -> u8 {
        match self {
            Self::Few(regs) => regs[usize::from(at) % REGISTERS],
            Self::Many(regs) => regs[usize::from(at)],
        }
    }
}

/// Several past-time formulas, evaluated together.
#[derive(Clone, Debug)]
pub(super) struct Program {
    atoms: Box<[u8]>,
    first: Box<[Op]>,
    later: Box<[Op]>,
    roots: Box<[(u16, bool)]>,
    registers: usize,
    wide: Box<[bool]>,
    bits: u16,
    three_valued: bool,
}

impl Program {
    /// Compiles formulas; the values of `unknown` atoms may be unknown.
    pub(super) fn new(formulas: &[&Formula], unknown: u64) -> Result<Self, CompileError> {
        let mut graph = Graph::default();
        graph.nodes.intern(Node::False);
        let roots = formulas.iter().map(|f| graph.add(f)).collect::<Result<Vec<_>, _>>()?;
        graph.layout(&roots, unknown)
    }

    /// The atoms, which are in the registers from 1 on.
    pub(super) fn atoms(&self) -> &[u8] {
        &self.atoms
    }

    /// The instructions of later steps; their registers follow those of the atoms.
    pub(super) fn later(&self) -> &[Op] {
        &self.later
    }

    /// Whether the value of a register can be unknown.
    pub(super) fn is_wide(&self, register: u16) -> bool {
        self.wide[usize::from(register)]
    }

    /// Whether any value can be unknown.
    pub(super) fn three_valued(&self) -> bool {
        self.three_valued
    }

    /// The register of a formula, and whether its value is to be negated.
    pub(super) fn root_register(&self, which: usize) -> (u16, bool) {
        self.roots[which]
    }

    /// Bits of a state.
    pub(super) fn bits(&self) -> u32 {
        u32::from(self.bits)
    }

    /// A state of several words, all zero. Instructions without a bit of their own touch the first word.
    pub(super) fn blank(&self) -> Box<[u64]> {
        vec![0; usize::from(self.bits).div_ceil(64).max(1)].into()
    }

    /// Memory that the program takes.
    pub(super) fn bytes(&self) -> usize {
        (self.first.len() + self.later.len()) * size_of::<Op>() + self.atoms.len()
    }

    /// Step 0. `after` is all zero before.
    #[inline]
    pub(super) fn init<S: Bits>(&self, after: &mut S, letter: Letter) -> Registers {
        self.run(&self.first, None, after, letter)
    }

    /// A later step. `after` is all zero before.
    #[inline]
    pub(super) fn step<S: Bits>(&self, before: &S, after: &mut S, letter: Letter) -> Registers {
        self.run(&self.later, Some(before), after, letter)
    }

    /// The value of a formula: 0 false, 1 true, 2 unknown.
    #[inline]
    pub(super) fn root(&self, which: usize, registers: &Registers) -> u8 {
        let (register, negated) = self.roots[which];
        let value = registers.get(register);
        if negated && value < 2 { value ^ 1 } else { value }
    }

    /// The first `count` formulas as a bit set. None of them can be unknown.
    pub(super) fn roots(&self, count: usize, registers: &Registers) -> u64 {
        (0..count).fold(0, |set, which| set | u64::from(self.root(which, registers) & 1) << which)
    }

    #[inline(always)]
    fn run<S: Bits>(&self, ops: &[Op], before: Option<&S>, after: &mut S, letter: Letter) -> Registers {
        if self.registers <= REGISTERS {
            let mut regs = [0; REGISTERS];
            if self.three_valued {
                self.run_three(ops, before, after, letter, |at| usize::from(at) % REGISTERS, &mut regs);
            } else {
                self.run_two(ops, before, after, letter, |at| usize::from(at) % REGISTERS, &mut regs);
            }
            Registers::Few(regs)
        } else {
            let mut regs = vec![0; self.registers].into_boxed_slice();
            if self.three_valued {
                self.run_three(ops, before, after, letter, usize::from, &mut regs);
            } else {
                self.run_two(ops, before, after, letter, usize::from, &mut regs);
            }
            Registers::Many(regs)
        }
    }

    #[inline(always)]
    fn run_two<S: Bits>(
        &self,
        ops: &[Op],
        before: Option<&S>,
        after: &mut S,
        letter: Letter,
        at: impl Fn(u16) -> usize,
        regs: &mut [u8],
    ) {
        let mut out = 1;
        for atom in &self.atoms {
            regs[at(out)] = (letter.holds >> (atom & 63)) as u8 & 1;
            out += 1;
        }
        for op in ops {
            let pre = before.map_or(0, |q| q.get(op.bit, 1));
            let index = regs[at(op.a)] | regs[at(op.b)] << 1 | pre << 2;
            regs[at(out)] = (op.value[0] >> (index & 63)) as u8 & 1;
            after.put(op.bit, (op.store[0] >> (index & 63)) as u8 & 1);
            out += 1;
        }
    }

    #[inline(always)]
    fn run_three<S: Bits>(
        &self,
        ops: &[Op],
        before: Option<&S>,
        after: &mut S,
        letter: Letter,
        at: impl Fn(u16) -> usize,
        regs: &mut [u8],
    ) {
        let pick = |table: &[u64; 2], index: u8| {
            (table[0] >> (index & 63)) as u8 & 1 | ((table[1] >> (index & 63)) as u8 & 1) << 1
        };
        let mut out = 1;
        for atom in &self.atoms {
            let (holds, unknown) = (letter.holds >> (atom & 63) & 1, letter.unknown >> (atom & 63) & 1);
            regs[at(out)] = (holds & !unknown | unknown << 1) as u8;
            out += 1;
        }
        for op in ops {
            let pre = before.map_or(0, |q| q.get(op.bit, op.mask));
            let index = regs[at(op.a)] | regs[at(op.b)] << 2 | pre << 4;
            regs[at(out)] = pick(&op.value, index);
            after.put(op.bit, pick(&op.store, index));
            out += 1;
        }
    }
}

#[derive(Default)]
struct Graph {
    nodes: Interner<Node>,
}

impl Graph {
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

    fn add(&mut self, formula: &Formula) -> Result<Edge, CompileError> {
        if self.nodes.len() >= MAX_REGISTERS - 1 {
            return Err(CompileError::TooManyParts(MAX_REGISTERS));
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

    /// Numbers registers and bits, and makes the truth tables.
    fn layout(&self, roots: &[Edge], unknown: u64) -> Result<Program, CompileError> {
        let count = self.nodes.len();
        let mut needed = vec![false; count];
        for root in roots {
            needed[root.node() as usize] = true;
        }
        for id in (1..count as u32).rev().filter(|id| self.nodes.get(*id) != &Node::False) {
            if needed[id as usize] {
                let (a, b) = self.nodes.get(id).operands();
                needed[a.node() as usize] = true;
                needed[b.node() as usize] = true;
            }
        }
        let order = (1..count as u32).filter(|id| needed[*id as usize]).collect::<Vec<_>>();
        let (atoms, inner): (Vec<u32>, Vec<u32>) =
            order.iter().partition(|id| matches!(self.nodes.get(**id), Node::Atom(_)));
        let mut register = vec![0_u16; count];
        for (at, id) in atoms.iter().chain(&inner).enumerate() {
            register[*id as usize] = at as u16 + 1;
        }

        let mut maybe = vec![false; count];
        for id in &order {
            let node = self.nodes.get(*id);
            let (a, b) = node.operands();
            maybe[*id as usize] = match node {
                Node::Atom(atom) => unknown >> atom & 1 == 1,
                _ => maybe[a.node() as usize] || maybe[b.node() as usize],
            };
        }
        let three_valued = order.iter().any(|id| maybe[*id as usize]);

        let mut place = vec![None; count];
        let mut bits = 0_u16;
        for id in &inner {
            let Some(stored) = self.nodes.get(*id).looks_back_at(*id) else { continue };
            if place[stored as usize].is_none() {
                let width = if maybe[stored as usize] { 2 } else { 1 };
                if bits % 64 + width > 64 {
                    bits += 1;
                }
                place[stored as usize] = Some(bits);
                bits += width;
            }
        }

        let mut stored = vec![false; count];
        let (mut first, mut later) = (Vec::new(), Vec::new());
        for id in &inner {
            let node = *self.nodes.get(*id);
            let back = node.looks_back_at(*id);
            // The first that looks back at a node stores it for all; a `since` looks back at itself, before others can.
            let keeps = back.is_some_and(|back| !std::mem::replace(&mut stored[back as usize], true));
            let shape = Shape {
                node,
                three_valued,
                looks_back: back.is_some(),
                keeps,
                bit: back.and_then(|back| place[back as usize]).unwrap_or(0),
                wide: back.is_some_and(|back| maybe[back as usize]),
            };
            first.push(shape.op(&register, true));
            later.push(shape.op(&register, false));
        }
        Ok(Program {
            atoms: atoms
                .iter()
                .map(|id| match self.nodes.get(*id) {
                    Node::Atom(atom) => *atom as u8,
                    _ => 0,
                })
                .collect(),
            first: first.into(),
            later: later.into(),
            roots: roots.iter().map(|edge| (register[edge.node() as usize], edge.negated())).collect(),
            registers: 1 + order.len(),
            wide: std::iter::once(0).chain(atoms.iter().chain(&inner).copied()).map(|id| maybe[id as usize]).collect(),
            bits,
            three_valued,
        })
    }
}

struct Shape {
    node: Node,
    three_valued: bool,
    looks_back: bool,
    keeps: bool,
    bit: u16,
    wide: bool,
}

impl Shape {
    fn op(&self, register: &[u16], first: bool) -> Op {
        let (left, right) = self.node.operands();
        let mut op = Op {
            value: [0; 2],
            store: [0; 2],
            a: register[left.node() as usize],
            b: register[right.node() as usize],
            bit: self.bit,
            mask: if self.wide { 3 } else { 1 },
            looks_back: self.looks_back,
            keeps: self.keeps,
        };
        let (values, width) = if self.three_valued { (3, 2) } else { (2, 1) };
        let sign = |edge: Edge, value: u8| if edge.negated() { kleene::not(value) } else { value };
        for a in 0..values {
            for b in 0..values {
                for pre in 0..values {
                    let index = a | b << width | pre << (2 * width);
                    // What is stored is the value of the node, the mark of the operand aside.
                    let stored = match self.node {
                        Node::Since(..) | Node::WSince(..) => pre,
                        _ => sign(left, pre),
                    };
                    let value = self.node.value(sign(left, a), sign(right, b), (!first).then_some(stored));
                    let store = match self.node {
                        _ if !self.keeps => 0,
                        Node::Since(..) | Node::WSince(..) => value,
                        _ => a,
                    };
                    for rail in 0..2 {
                        op.value[rail] |= u64::from(value >> rail & 1) << index;
                        op.store[rail] |= u64::from(store >> rail & 1) << index;
                    }
                }
            }
        }
        op
    }
}
