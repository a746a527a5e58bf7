//! An explored automaton as a graph for Graphviz.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::explore::Exploration;
use super::letter::Letter;
use super::verdict::Verdict;
use crate::AtomId;

impl Exploration {
    /// The automaton in DOT. Edges carry conditions on atoms, which `name` names; letters that cannot occur are free to
    /// make the conditions short.
    pub fn to_dot(&self, name: &dyn Fn(AtomId) -> String) -> String {
        format!("digraph monitor {{\n  rankdir=LR;\n{}}}\n", self.to_dot_part("", name))
    }

    /// The nodes and edges alone, to be put in a larger graph. Names of nodes begin with `prefix`.
    pub fn to_dot_part(&self, prefix: &str, name: &dyn Fn(AtomId) -> String) -> String {
        let mut out = format!("  {prefix}start [shape=point];\n");
        for (q, verdict) in self.verdicts.iter().enumerate() {
            let shape = match verdict {
                Verdict::Violated => "shape=doubleoctagon, color=red",
                Verdict::Satisfied => "shape=doublecircle, color=green",
                _ => "shape=circle",
            };
            let end = self.ends[q];
            let label =
                if end == *verdict { format!("{q}\\n{verdict}") } else { format!("{q}\\n{verdict}, at end {end}") };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  {prefix}q{q} [{shape}, label=\"{label}\"];");
        }
        let starts = self.starts.iter().map(|(letter, to)| (None, *letter, *to));
        let steps = self.edges.iter().map(|(from, letter, to)| (Some(*from), *letter, *to));
        let mut letters: BTreeMap<Option<u32>, BTreeMap<u32, Vec<Letter>>> = BTreeMap::new();
        for (from, letter, to) in starts.chain(steps) {
            letters.entry(from).or_default().entry(to).or_default().push(letter);
        }
        for (from, targets) in &letters {
            for (to, on) in targets {
                let off = targets.iter().filter(|(other, _)| *other != to).flat_map(|(_, letters)| letters);
                let mut off = off.copied().collect::<Vec<_>>();
                let label = self.condition(&mut on.clone(), &mut off, name);
                let from = from.map_or("start".into(), |q| format!("q{q}"));
                let _ = writeln!(out, "  {prefix}{from} -> {prefix}q{to} [label=\"{}\"];", escape(&label));
            }
        }
        out
    }

    fn condition(&self, on: &mut [Letter], off: &mut [Letter], name: &dyn Fn(AtomId) -> String) -> String {
        let atoms = (0..64).filter(|atom| self.alphabet.used() >> atom & 1 == 1).collect::<Vec<_>>();
        let mut cubes = Vec::new();
        cover(on, off, &atoms, &mut Vec::new(), &mut cubes);
        let literal = |(atom, holds): &(AtomId, bool)| {
            if *holds { name(*atom) } else { format!("!{}", wrap(&name(*atom))) }
        };
        let cube = |cube: &Vec<(AtomId, bool)>| {
            if cube.is_empty() { "true".into() } else { cube.iter().map(literal).collect::<Vec<_>>().join(" && ") }
        };
        cubes.iter().map(cube).collect::<Vec<_>>().join(" || ")
    }
}

fn wrap(name: &str) -> String {
    if name.chars().all(|c| c.is_alphanumeric() || c == '_') { name.into() } else { format!("({name})") }
}

fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

/// Conjunctions that hold at every letter of `on` and at none of `off`: an atom is asked only if it matters.
fn cover(
    on: &mut [Letter],
    off: &mut [Letter],
    atoms: &[AtomId],
    path: &mut Vec<(AtomId, bool)>,
    out: &mut Vec<Vec<(AtomId, bool)>>,
) {
    if on.is_empty() {
        return;
    }
    if off.is_empty() {
        out.push(path.clone());
        return;
    }
    let Some((atom, rest)) = atoms.split_first() else { return };
    // An atom does not matter if, without it, no letter of one set is a letter of the other.
    let key = |letter: &Letter| rest.iter().fold(0_u64, |set, atom| set | letter.holds & 1 << atom);
    let mut ons = on.iter().map(key).collect::<Vec<_>>();
    ons.sort_unstable();
    if !off.iter().any(|letter| ons.binary_search(&key(letter)).is_ok()) {
        cover(on, off, rest, path, out);
        return;
    }
    let split = |letters: &mut [Letter]| {
        letters.sort_by_key(|letter| letter.holds >> atom & 1);
        letters.partition_point(|letter| letter.holds >> atom & 1 == 0)
    };
    let (on_at, off_at) = (split(on), split(off));
    let (on_low, on_high) = on.split_at_mut(on_at);
    let (off_low, off_high) = off.split_at_mut(off_at);
    for (holds, on, off) in [(true, on_high, off_high), (false, on_low, off_low)] {
        path.push((*atom, holds));
        cover(on, off, rest, path, out);
        path.pop();
    }
}
