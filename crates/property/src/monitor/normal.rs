//! Future-time formulas as Boolean functions over leaves and obligations, and what becomes of them at a step.
//!
//! An obligation is an `until` or a `next` (and their duals where negations must stay inside) over functions of smaller
//! obligations. `eventually f = true until f`, `always f = !eventually !f`, `f releases g = !(!f until !g)`,
//! `f wuntil g = (f until g) || always f`, `wnext f = !next !f`. Functions are canonical, hence so are obligations, and
//! so are residuals: there are finitely many.

use super::bdd::{Bdd, Bdds, FALSE, TRUE};
use super::intern::{FastMap, Interner};
use super::leaves::{LeafSet, parts};
use super::options::{AtEnd, CompileError, Limits, TooLarge};
use crate::Formula;

/// A variable of the functions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Var {
    Leaf(u32),
    Until(Bdd, Bdd),
    Next(Bdd),
    Releases(Bdd, Bdd),
    WNext(Bdd),
}

/// The functions of one formula.
pub(super) struct Normal {
    bdds: Bdds,
    vars: Interner<Var>,
    /// Parts of the formula, by address, while it is borrowed.
    added: FastMap<(usize, bool), Bdd>,
    progress: FastMap<(Bdd, u64), Bdd>,
    limit: usize,
    /// An equal function with duals expressed by negation.
    plain: FastMap<Bdd, Bdd>,
    /// Negations are pushed to the leaves: the rule for the end depends on it.
    positive: bool,
}

fn has(formula: &Formula, what: fn(&Formula) -> bool) -> bool {
    let mut todo = vec![formula];
    while let Some(f) = todo.pop() {
        if what(f) {
            return true;
        }
        todo.extend(parts(f));
    }
    false
}

fn is_future(f: &Formula) -> bool {
    use Formula::{Always, Eventually, Next, Releases, Until, WNext, WUntil};
    matches!(f, Always(_) | Eventually(_) | Next(_) | WNext(_) | Until(..) | WUntil(..) | Releases(..))
}

impl Normal {
    pub(super) fn new(at_end: AtEnd, limits: &Limits) -> Self {
        Self {
            bdds: Bdds::new(limits.terms),
            vars: Interner::default(),
            added: FastMap::default(),
            progress: FastMap::default(),
            limit: limits.terms,
            plain: FastMap::default(),
            positive: at_end == AtEnd::Weak,
        }
    }

    fn var(&mut self, var: Var) -> Result<Bdd, TooLarge> {
        let id = self.vars.intern(var);
        self.bdds.var(id)
    }

    fn until(&mut self, f: Bdd, g: Bdd) -> Result<Bdd, TooLarge> {
        self.var(Var::Until(f, g))
    }

    /// `f releases g` of functions; with a negation, where that is allowed.
    fn releases(&mut self, f: Bdd, g: Bdd) -> Result<Bdd, TooLarge> {
        if self.positive {
            return self.var(Var::Releases(f, g));
        }
        let (f, g) = (self.bdds.not(f)?, self.bdds.not(g)?);
        let until = self.until(f, g)?;
        self.bdds.not(until)
    }

    fn wnext(&mut self, f: Bdd) -> Result<Bdd, TooLarge> {
        if self.positive {
            return self.var(Var::WNext(f));
        }
        let f = self.bdds.not(f)?;
        let next = self.var(Var::Next(f))?;
        self.bdds.not(next)
    }

    /// The function of a formula. `leaves` collects the past-time parts.
    pub(super) fn whole(&mut self, formula: &Formula, leaves: &mut LeafSet) -> Result<Bdd, CompileError> {
        self.added.clear();
        self.add(formula, false, leaves)
    }

    /// The function of a part of the formula, or of its negation. Each is made once, or `<->` would double the work.
    fn add(&mut self, formula: &Formula, not: bool, leaves: &mut LeafSet) -> Result<Bdd, CompileError> {
        let key = (std::ptr::from_ref(formula) as usize, not);
        if let Some(f) = self.added.get(&key) {
            return Ok(*f);
        }
        let f = self.make(formula, not, leaves)?;
        self.added.insert(key, f);
        Ok(f)
    }

    fn make(&mut self, formula: &Formula, not: bool, leaves: &mut LeafSet) -> Result<Bdd, CompileError> {
        use Formula::{
            Always, And, Atom, Const, Eventually, Iff, Implies, Next, Not, Or, Releases, Until, WNext, WUntil,
        };
        Ok(match formula {
            Const(value) => Bdd::from(*value != not),
            Not(f) => self.add(f, !not, leaves)?,
            And(f, g) | Or(f, g) | Implies(f, g) => {
                let first = matches!(formula, Implies(..)) != not;
                let f = self.add(f, first, leaves)?;
                let g = self.add(g, not, leaves)?;
                if matches!(formula, And(..)) != not { self.bdds.and(f, g)? } else { self.bdds.or(f, g)? }
            }
            Iff(f, g) => {
                let (f1, g1) = (self.add(f, false, leaves)?, self.add(g, not, leaves)?);
                let (f0, g0) = (self.add(f, true, leaves)?, self.add(g, !not, leaves)?);
                let both = self.bdds.and(f1, g1)?;
                let neither = self.bdds.and(f0, g0)?;
                self.bdds.or(both, neither)?
            }
            Always(f) => {
                let f = self.add(f, not, leaves)?;
                if not { self.until(TRUE, f)? } else { self.releases(FALSE, f)? }
            }
            Eventually(f) => {
                let f = self.add(f, not, leaves)?;
                if not { self.releases(FALSE, f)? } else { self.until(TRUE, f)? }
            }
            Next(f) | WNext(f) => {
                let f = self.add(f, not, leaves)?;
                if matches!(formula, Next(_)) != not { self.var(Var::Next(f))? } else { self.wnext(f)? }
            }
            Until(f, g) | Releases(f, g) => {
                let (f, g) = (self.add(f, not, leaves)?, self.add(g, not, leaves)?);
                if matches!(formula, Until(..)) != not { self.until(f, g)? } else { self.releases(f, g)? }
            }
            WUntil(f, g) => {
                let (f, g) = (self.add(f, not, leaves)?, self.add(g, not, leaves)?);
                if not {
                    let (releases, until) = (self.releases(f, g)?, self.until(TRUE, f)?);
                    self.bdds.and(releases, until)?
                } else {
                    let (until, always) = (self.until(f, g)?, self.releases(FALSE, f)?);
                    self.bdds.or(until, always)?
                }
            }
            past => {
                if !matches!(past, Atom(_)) && has(past, is_future) {
                    return Err(CompileError::FutureOperator(future_name(past)));
                }
                let leaf = leaves.add(past)?;
                let leaf = self.var(Var::Leaf(leaf))?;
                if not { self.bdds.not(leaf)? } else { leaf }
            }
        })
    }

    /// `f{s}`, where `s` is the set of leaves that hold.
    pub(super) fn progress(&mut self, f: Bdd, s: u64) -> Result<Bdd, TooLarge> {
        if f == FALSE || f == TRUE {
            return Ok(f);
        }
        if let Some(r) = self.progress.get(&(f, s)) {
            return Ok(*r);
        }
        let node = self.bdds.node(f);
        let now = match *self.vars.get(node.var) {
            Var::Leaf(leaf) => (s >> leaf & 1) as Bdd,
            Var::Next(f) | Var::WNext(f) => f,
            Var::Until(f, g) => {
                let (f, g) = (self.progress(f, s)?, self.progress(g, s)?);
                let still = self.bdds.var(node.var)?;
                let holds = self.bdds.and(f, still)?;
                self.bdds.or(g, holds)?
            }
            Var::Releases(f, g) => {
                let (f, g) = (self.progress(f, s)?, self.progress(g, s)?);
                let still = self.bdds.var(node.var)?;
                let holds = self.bdds.or(f, still)?;
                self.bdds.and(g, holds)?
            }
        };
        let (low, high) = (self.progress(node.low, s)?, self.progress(node.high, s)?);
        let r = self.bdds.ite(now, high, low)?;
        if self.progress.len() >= self.limit {
            self.progress.clear();
        }
        self.progress.insert((f, s), r);
        Ok(r)
    }

    /// `f{s*}`: the step is the last.
    pub(super) fn end(&self, f: Bdd, s: u64, rule: AtEnd) -> bool {
        let mut known = FastMap::default();
        self.end_of(f, s, rule, &mut known)
    }

    fn end_of(&self, mut f: Bdd, s: u64, rule: AtEnd, known: &mut FastMap<u32, bool>) -> bool {
        while f != FALSE && f != TRUE {
            let node = self.bdds.node(f);
            let holds = match known.get(&node.var) {
                Some(holds) => *holds,
                None => {
                    let holds = self.end_of_var(node.var, s, rule, known);
                    known.insert(node.var, holds);
                    holds
                }
            };
            f = if holds { node.high } else { node.low };
        }
        f == TRUE
    }

    fn end_of_var(&self, var: u32, s: u64, rule: AtEnd, known: &mut FastMap<u32, bool>) -> bool {
        let weak = rule == AtEnd::Weak;
        match *self.vars.get(var) {
            Var::Leaf(leaf) => s >> leaf & 1 == 1,
            Var::Until(f, g) => self.end_of(g, s, rule, known) || weak && self.end_of(f, s, rule, known),
            Var::Releases(_, g) => self.end_of(g, s, rule, known),
            Var::Next(_) | Var::WNext(_) if weak => true,
            // Without the duals a `wnext` is a negated `next`, and false becomes true.
            Var::Next(_) if rule == AtEnd::Strong => false,
            Var::Next(f) | Var::WNext(f) => self.end_of(f, s, rule, known),
        }
    }

    /// The function with duals expressed by negation, so that contradictions show alike under every rule for the end.
    pub(super) fn plain(&mut self, f: Bdd) -> Result<Bdd, TooLarge> {
        if !self.positive || f == FALSE || f == TRUE {
            return Ok(f);
        }
        if let Some(r) = self.plain.get(&f) {
            return Ok(*r);
        }
        let node = self.bdds.node(f);
        let var = match *self.vars.get(node.var) {
            leaf @ Var::Leaf(_) => self.var(leaf)?,
            Var::Until(f, g) => {
                let (f, g) = (self.plain(f)?, self.plain(g)?);
                self.until(f, g)?
            }
            Var::Next(f) => {
                let f = self.plain(f)?;
                self.var(Var::Next(f))?
            }
            Var::Releases(f, g) => {
                let (f, g) = (self.plain(f)?, self.plain(g)?);
                let (f, g) = (self.bdds.not(f)?, self.bdds.not(g)?);
                let until = self.until(f, g)?;
                self.bdds.not(until)?
            }
            Var::WNext(f) => {
                let f = self.plain(f)?;
                let f = self.bdds.not(f)?;
                let next = self.var(Var::Next(f))?;
                self.bdds.not(next)?
            }
        };
        let (low, high) = (self.plain(node.low)?, self.plain(node.high)?);
        let r = self.bdds.ite(var, high, low)?;
        self.plain.insert(f, r);
        Ok(r)
    }
}

fn future_name(formula: &Formula) -> &'static str {
    let mut todo = vec![formula];
    while let Some(f) = todo.pop() {
        match f {
            Formula::Always(_) => return "always",
            Formula::Eventually(_) => return "eventually",
            Formula::Next(_) => return "next",
            Formula::WNext(_) => return "wnext",
            Formula::Until(..) => return "until",
            Formula::WUntil(..) => return "wuntil",
            Formula::Releases(..) => return "releases",
            other => todo.extend(parts(other)),
        }
    }
    "next"
}
