//! Extended regular expressions by docs/semantics.md: which words match, and which can be continued to a match.

use std::collections::{HashMap, HashSet};

use property::monitor::{EreMode, Verdict};
use property::{Ere, Formula};

use crate::naive_past::{Run, values};

/// The leaves that hold at a letter, as a set of numbers.
type Letters = Vec<usize>;

fn collect(e: &Ere, out: &mut Vec<Formula>) {
    match e {
        Ere::Empty | Ere::Eps | Ere::Any => {}
        Ere::Leaf(f) => {
            if !out.contains(f) {
                out.push(f.clone());
            }
        }
        Ere::Cat(a, b) | Ere::Or(a, b) | Ere::And(a, b) => {
            collect(a, out);
            collect(b, out);
        }
        Ere::Not(a) | Ere::Star(a) | Ere::Plus(a) | Ere::Opt(a) => collect(a, out),
    }
}

/// A pattern, with a complete automaton to decide which words can be continued.
pub(crate) struct Definition {
    pattern: Ere,
    leaves: Vec<Formula>,
    dfa: Dfa,
    atoms: usize,
}

impl Definition {
    /// `None` if the textbook construction grows too large.
    pub(crate) fn new(pattern: &Ere, atoms: usize) -> Option<Self> {
        let mut leaves = Vec::new();
        collect(pattern, &mut leaves);
        if leaves.len() > 4 {
            return None;
        }
        let dfa = Dfa::of(pattern, &leaves)?;
        Some(Self { pattern: pattern.clone(), leaves, dfa, atoms })
    }

    /// Which leaves hold at each step; step 0 is there for those that look back.
    fn letters(&self, run: &Run) -> Letters {
        let truth = self.leaves.iter().map(|f| values(f, run)).collect::<Vec<_>>();
        let at =
            |k: usize| truth.iter().enumerate().fold(0, |set, (leaf, t)| set | usize::from(t[k] == Some(true)) << leaf);
        (0..run.len()).map(at).collect()
    }

    /// Whether the letters of steps `from + 1 ..= to` are a word of the language: by the definition of each operator.
    fn matches(&self, e: &Ere, w: &Letters, from: usize, to: usize) -> bool {
        let is = |e: &Ere, from: usize, to: usize| self.matches(e, w, from, to);
        match e {
            Ere::Empty => false,
            Ere::Eps => from == to,
            Ere::Any => to == from + 1,
            Ere::Leaf(f) => {
                let leaf = self.leaves.iter().position(|g| g == f).expect("collected");
                to == from + 1 && w[to] >> leaf & 1 == 1
            }
            Ere::Cat(a, b) => (from..=to).any(|mid| is(a, from, mid) && is(b, mid, to)),
            Ere::Or(a, b) => is(a, from, to) || is(b, from, to),
            Ere::And(a, b) => is(a, from, to) && is(b, from, to),
            Ere::Not(a) => !is(a, from, to),
            Ere::Star(a) => from == to || (from + 1..=to).any(|mid| is(a, from, mid) && is(e, mid, to)),
            Ere::Plus(a) => is(a, from, to) || (from + 1..to).any(|mid| is(a, from, mid) && is(e, mid, to)),
            Ere::Opt(a) => from == to || is(a, from, to),
        }
    }

    /// The verdict after each step, and the verdict if the run ended there. All atoms are known.
    pub(crate) fn verdicts(&self, run: &Run, mode: EreMode) -> Vec<(Verdict, Verdict)> {
        let w = self.letters(run);
        let mut violated = false;
        (0..run.len())
            .map(|k| {
                let whole = self.matches(&self.pattern, &w, 0, k);
                violated |= match mode {
                    EreMode::Never => (0..=k).any(|from| self.matches(&self.pattern, &w, from, k)),
                    EreMode::NeverFromStart => whole,
                    EreMode::Follows => !self.can_match(&run[..=k].to_vec()),
                };
                match (violated, mode, whole) {
                    (true, ..) => (Verdict::Violated, Verdict::Violated),
                    (_, EreMode::Follows, true) => (Verdict::Pending, Verdict::Fulfilled),
                    (_, EreMode::Follows, false) => (Verdict::Pending, Verdict::Unfulfilled),
                    _ => (Verdict::Pending, Verdict::Pending),
                }
            })
            .collect()
    }

    /// Whether some continuation of the run, by any atoms, matches. Two runs with the same state of the automaton and
    /// the same values of all parts of the leaves at their last steps have the same continuations.
    fn can_match(&self, run: &Run) -> bool {
        let mut parts = Vec::new();
        self.leaves.iter().for_each(|f| all_parts(f, &mut parts));
        let key = |run: &Run| {
            let state = self.letters(run).into_iter().skip(1).fold(self.dfa.start, |q, l| self.dfa.next[q][l]);
            let last = parts.iter().map(|f| *values(f, run).last().expect("a step")).collect::<Vec<_>>();
            (state, last)
        };
        let mut seen = HashSet::from([key(run)]);
        let mut todo = vec![run.clone()];
        while let Some(run) = todo.pop() {
            if self.dfa.accept[key(&run).0] {
                return true;
            }
            for holds in 0..1 << self.atoms {
                let mut longer = run.clone();
                longer.push((0..self.atoms).map(|atom| Some(holds >> atom & 1 == 1)).collect());
                if seen.insert(key(&longer)) {
                    todo.push(longer);
                }
            }
        }
        false
    }
}

fn all_parts(f: &Formula, out: &mut Vec<Formula>) {
    use Formula::*;
    // An atom or a Boolean operator at the last step decides nothing later, but what it is under may look back at it.
    if !out.contains(f) {
        out.push(f.clone());
    }
    match f {
        Not(a) | Prev(a) | Yesterday(a) | WYesterday(a) | Once(a) | Hist(a) | Start(a) | End(a) => all_parts(a, out),
        And(a, b)
        | Or(a, b)
        | Implies(a, b)
        | Iff(a, b)
        | Since(a, b)
        | WSince(a, b)
        | Interval(a, b)
        | WInterval(a, b) => {
            all_parts(a, out);
            all_parts(b, out);
        }
        _ => {}
    }
}

/// A complete automaton, composed the textbook way: products, complement, subsets.
struct Dfa {
    start: usize,
    next: Vec<Vec<usize>>,
    accept: Vec<bool>,
}

const MAX_STATES: usize = 300;

impl Dfa {
    fn of(e: &Ere, leaves: &[Formula]) -> Option<Self> {
        let letters = 1 << leaves.len();
        let of = |e: &Ere| Self::of(e, leaves);
        let one = |takes: &dyn Fn(usize) -> bool| Self {
            start: 0,
            next: vec![
                (0..letters).map(|l| if takes(l) { 1 } else { 2 }).collect(),
                vec![2; letters],
                vec![2; letters],
            ],
            accept: vec![false, true, false],
        };
        let dfa = match e {
            Ere::Empty => Self { start: 0, next: vec![vec![0; letters]], accept: vec![false] },
            Ere::Eps => Self { start: 0, next: vec![vec![1; letters]; 2], accept: vec![true, false] },
            Ere::Any => one(&|_| true),
            Ere::Leaf(f) => {
                let leaf = leaves.iter().position(|g| g == f).expect("collected");
                one(&|l| l >> leaf & 1 == 1)
            }
            Ere::Or(a, b) => Self::subsets(&of(a)?, &of(b)?, letters, Kind::Or)?,
            Ere::And(a, b) => Self::subsets(&of(a)?, &of(b)?, letters, Kind::And)?,
            Ere::Cat(a, b) => Self::subsets(&of(a)?, &of(b)?, letters, Kind::Cat)?,
            Ere::Star(a) | Ere::Plus(a) | Ere::Opt(a) => {
                let a = of(a)?;
                let kind = if matches!(e, Ere::Opt(_)) { Kind::Opt } else { Kind::Plus };
                let plus = Self::subsets(&a, &a, letters, kind)?;
                if matches!(e, Ere::Star(_)) { Self::subsets(&plus, &plus, letters, Kind::Opt)? } else { plus }
            }
            Ere::Not(a) => {
                let mut a = of(a)?;
                a.accept.iter_mut().for_each(|accept| *accept = !*accept);
                a
            }
        };
        Some(dfa.minimal(letters))
    }

    /// States are a state of `a`, a set of states of `b`, and whether nothing was read.
    fn subsets(a: &Self, b: &Self, letters: usize, kind: Kind) -> Option<Self> {
        type State = (usize, Vec<usize>, bool);
        let enter = |q: usize, mut set: Vec<usize>| {
            if a.accept[q] && matches!(kind, Kind::Cat | Kind::Plus) {
                set.push(b.start);
            }
            set.sort_unstable();
            set.dedup();
            set
        };
        let first = match kind {
            Kind::Or | Kind::And => vec![b.start],
            Kind::Cat => enter(a.start, Vec::new()),
            Kind::Plus | Kind::Opt => Vec::new(),
        };
        let start: State = (a.start, first, true);
        let mut ids = HashMap::from([(start.clone(), 0)]);
        let mut order = vec![start];
        let mut next = Vec::new();
        while next.len() < order.len() {
            let (q, set, _) = order[next.len()].clone();
            let mut row = Vec::new();
            for l in 0..letters {
                let to = a.next[q][l];
                let mut moved = set.iter().map(|q| b.next[*q][l]).collect::<Vec<_>>();
                if kind == Kind::Plus {
                    // The first round is in `a`; a match of any round may begin another.
                    if a.accept[q] {
                        moved.push(b.next[b.start][l]);
                    }
                    if set.iter().any(|q| b.accept[*q]) {
                        moved.push(b.next[b.start][l]);
                    }
                    moved.sort_unstable();
                    moved.dedup();
                } else {
                    moved = enter(to, moved);
                }
                let state = (to, moved, false);
                let fresh = order.len();
                let id = *ids.entry(state.clone()).or_insert(fresh);
                if id == fresh {
                    order.push(state);
                }
                row.push(id);
            }
            next.push(row);
            if order.len() > MAX_STATES {
                return None;
            }
        }
        let accept = order.iter().map(|(q, set, nothing)| {
            let second = set.iter().any(|q| b.accept[*q]);
            match kind {
                Kind::Or => a.accept[*q] || second,
                Kind::And => a.accept[*q] && second,
                Kind::Cat => second,
                Kind::Plus => a.accept[*q] || second,
                Kind::Opt => a.accept[*q] || *nothing,
            }
        });
        Some(Self { start: 0, accept: accept.collect(), next })
    }

    fn minimal(self, letters: usize) -> Self {
        let mut block = self.accept.iter().map(|a| usize::from(*a)).collect::<Vec<_>>();
        loop {
            let mut ids = HashMap::new();
            let fresh = (0..block.len())
                .map(|q| {
                    let row = (0..letters).map(|l| block[self.next[q][l]]).collect::<Vec<_>>();
                    let id = ids.len();
                    *ids.entry((block[q], row)).or_insert(id)
                })
                .collect::<Vec<_>>();
            let before = block.iter().collect::<HashSet<_>>().len();
            let count = ids.len();
            block = fresh;
            if count == before {
                let mut next = vec![Vec::new(); count];
                let mut accept = vec![false; count];
                for (q, b) in block.iter().enumerate() {
                    next[*b] = self.next[q].iter().map(|to| block[*to]).collect();
                    accept[*b] = self.accept[q];
                }
                return Self { start: block[self.start], next, accept };
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Or,
    And,
    Cat,
    Plus,
    Opt,
}
