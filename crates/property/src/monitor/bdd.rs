//! Reduced ordered binary decision diagrams: equal Boolean functions are equal numbers.

use super::intern::{FastMap, Interner};
use super::options::TooLarge;

/// A Boolean function.
pub(super) type Bdd = u32;

/// The function that is always false.
pub(super) const FALSE: Bdd = 0;
/// The function that is always true.
pub(super) const TRUE: Bdd = 1;

/// A variable, and the functions where it is false and where it is true.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Node {
    pub(super) var: u32,
    pub(super) low: Bdd,
    pub(super) high: Bdd,
}

/// All functions made so far.
pub(super) struct Bdds {
    nodes: Interner<Node>,
    ite: FastMap<(Bdd, Bdd, Bdd), Bdd>,
    limit: usize,
}

impl Bdds {
    pub(super) fn new(limit: usize) -> Self {
        let mut nodes = Interner::default();
        // The variable of a constant is after all others.
        nodes.intern(Node { var: u32::MAX, low: FALSE, high: FALSE });
        nodes.intern(Node { var: u32::MAX, low: TRUE, high: TRUE });
        Self { nodes, ite: FastMap::default(), limit }
    }

    /// A function that is not constant, taken apart.
    pub(super) fn node(&self, f: Bdd) -> Node {
        *self.nodes.get(f)
    }

    /// The function that is true where the variable is.
    pub(super) fn var(&mut self, var: u32) -> Result<Bdd, TooLarge> {
        self.make(var, FALSE, TRUE)
    }

    fn make(&mut self, var: u32, low: Bdd, high: Bdd) -> Result<Bdd, TooLarge> {
        if low == high {
            return Ok(low);
        }
        let f = self.nodes.intern(Node { var, low, high });
        if self.nodes.len() > self.limit { Err(TooLarge) } else { Ok(f) }
    }

    /// `if f then g else h`.
    pub(super) fn ite(&mut self, f: Bdd, g: Bdd, h: Bdd) -> Result<Bdd, TooLarge> {
        match (f, g, h) {
            (TRUE, g, _) => return Ok(g),
            (FALSE, _, h) => return Ok(h),
            (_, g, h) if g == h => return Ok(g),
            (f, TRUE, FALSE) => return Ok(f),
            _ => {}
        }
        if let Some(r) = self.ite.get(&(f, g, h)) {
            return Ok(*r);
        }
        let var = self.node(f).var.min(self.node(g).var).min(self.node(h).var);
        let half = |this: &Self, f: Bdd, high: bool| {
            let node = this.node(f);
            match (node.var == var, high) {
                (false, _) => f,
                (true, false) => node.low,
                (true, true) => node.high,
            }
        };
        let (f0, g0, h0) = (half(self, f, false), half(self, g, false), half(self, h, false));
        let (f1, g1, h1) = (half(self, f, true), half(self, g, true), half(self, h, true));
        let low = self.ite(f0, g0, h0)?;
        let high = self.ite(f1, g1, h1)?;
        let r = self.make(var, low, high)?;
        if self.ite.len() > self.limit {
            return Err(TooLarge);
        }
        self.ite.insert((f, g, h), r);
        Ok(r)
    }

    pub(super) fn not(&mut self, f: Bdd) -> Result<Bdd, TooLarge> {
        self.ite(f, FALSE, TRUE)
    }

    pub(super) fn and(&mut self, f: Bdd, g: Bdd) -> Result<Bdd, TooLarge> {
        self.ite(f, g, FALSE)
    }

    pub(super) fn or(&mut self, f: Bdd, g: Bdd) -> Result<Bdd, TooLarge> {
        self.ite(f, TRUE, g)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_functions_are_equal_numbers() -> Result<(), TooLarge> {
        let mut b = Bdds::new(1000);
        let (x, y, z) = (b.var(0)?, b.var(1)?, b.var(2)?);
        let (xy, xz) = (b.and(x, y)?, b.and(x, z)?);
        let left = b.or(xy, xz)?;
        let yz = b.or(z, y)?;
        assert_eq!(left, b.and(yz, x)?);
        let not = b.not(x)?;
        assert_eq!(b.and(x, not)?, FALSE);
        assert_eq!(b.or(x, not)?, TRUE);
        let n = b.not(y)?;
        let (e, d) = (b.ite(x, y, n)?, b.ite(x, n, y)?);
        assert_eq!(b.not(d)?, e);
        assert_eq!(b.not(not)?, x);
        Ok(())
    }

    #[test]
    fn the_bound_is_an_error() {
        let mut b = Bdds::new(8);
        assert!((0..20).any(|v| b.var(v).is_err()));
    }
}
