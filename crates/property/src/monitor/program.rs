//! Past-time formulas as a flat program over bits.
//!
//! A node of the graph becomes one instruction: two operands and one stored bit select from a truth table, so that no
//! instruction branches on what it computes.

use super::graph::{Edge, Graph, Node, kleene};
use super::letter::Letter;
use super::options::CompileError;
use crate::Formula;

/// Registers (the constant, the used atoms, one for each node) that need no memory of their own.
const FEW_REGISTERS: usize = 256;

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
        let mut graph = Graph::new();
        let roots = formulas.iter().map(|f| graph.add(f)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self::layout(&graph, &roots, unknown))
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
    pub(super) fn is_windowed(&self, register: u16) -> bool {
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

    /// Step 0: sets the bits of `after`, which is all zero, and lets `read` look at the registers.
    pub(super) fn init<S: Bits, R>(&self, after: &mut S, letter: Letter, read: impl FnOnce(&[u8]) -> R) -> R {
        self.run(&self.first, None, after, letter, read)
    }

    /// A later step.
    pub(super) fn step<S: Bits, R>(
        &self,
        before: &S,
        after: &mut S,
        letter: Letter,
        read: impl FnOnce(&[u8]) -> R,
    ) -> R {
        self.run(&self.later, Some(before), after, letter, read)
    }

    /// The value of a formula: 0 false, 1 true, 2 unknown.
    pub(super) fn root(&self, which: usize, registers: &[u8]) -> u8 {
        let (register, negated) = self.roots[which];
        let value = registers[usize::from(register)];
        if negated { kleene::not(value) } else { value }
    }

    /// The formulas as a bit set. None of them can be unknown.
    pub(super) fn roots(&self, registers: &[u8]) -> u64 {
        (0..self.roots.len()).fold(0, |set, which| set | u64::from(self.root(which, registers) & 1) << which)
    }

    fn run<S: Bits, R>(
        &self,
        ops: &[Op],
        before: Option<&S>,
        after: &mut S,
        letter: Letter,
        read: impl FnOnce(&[u8]) -> R,
    ) -> R {
        let (mut few, mut many) = ([0; FEW_REGISTERS], Vec::new());
        let regs = if self.registers <= FEW_REGISTERS {
            &mut few[..]
        } else {
            many.resize(self.registers, 0);
            &mut many[..]
        };
        let mut out = 1;
        for (at, atom) in self.atoms.iter().enumerate() {
            let unknown = self.wide[at + 1] && letter.unknown >> (atom & 63) & 1 == 1;
            regs[out] = if unknown { 2 } else { (letter.holds >> (atom & 63)) as u8 & 1 };
            out += 1;
        }
        for op in ops {
            let pre = before.filter(|_| op.looks_back).map_or(0, |q| q.get(op.bit, op.mask));
            let (a, b) = (regs[usize::from(op.a)], regs[usize::from(op.b)]);
            let (value, store) = op.apply(self.three_valued, a, b, pre);
            regs[out] = value;
            if op.keeps {
                after.put(op.bit, store);
            }
            out += 1;
        }
        read(regs)
    }

    /// Numbers registers and bits, and makes the truth tables.
    fn layout(graph: &Graph, roots: &[Edge], unknown: u64) -> Self {
        let nodes = &graph.nodes;
        let count = nodes.len();
        let mut needed = vec![false; count];
        for root in roots {
            needed[root.node() as usize] = true;
        }
        for id in (1..count as u32).rev().filter(|id| nodes.get(*id) != &Node::False) {
            if needed[id as usize] {
                let (a, b) = nodes.get(id).operands();
                needed[a.node() as usize] = true;
                needed[b.node() as usize] = true;
            }
        }
        let order = (1..count as u32).filter(|id| needed[*id as usize]).collect::<Vec<_>>();
        let (atoms, inner): (Vec<u32>, Vec<u32>) =
            order.iter().partition(|id| matches!(nodes.get(**id), Node::Atom(_)));
        let mut register = vec![0_u16; count];
        for (at, id) in atoms.iter().chain(&inner).enumerate() {
            register[*id as usize] = at as u16 + 1;
        }

        let mut maybe = vec![false; count];
        for id in &order {
            let node = nodes.get(*id);
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
            let Some(stored) = nodes.get(*id).looks_back_at(*id) else { continue };
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
            let node = *nodes.get(*id);
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
        Self {
            atoms: atoms
                .iter()
                .map(|id| match nodes.get(*id) {
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
        }
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
