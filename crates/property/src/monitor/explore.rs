//! What a monitor can do, found by running it on every possible letter: shortest runs, and facts for warnings.

use super::intern::FastMap;
use super::letter::{Alphabet, Letter, subsets};
use super::options::Possible;
use super::verdict::Verdict;
use super::{Monitor, Q};

/// Letters of an alphabet that are all tried; of larger ones only some are.
const MAX_LETTER_BITS: u32 = 12;

/// The states that a monitor reaches by possible letters without unknown atoms, breadth first.
#[derive(Clone, Debug)]
pub struct Exploration {
    pub(super) alphabet: Alphabet,
    pub(super) states: Vec<Q>,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) ends: Vec<Verdict>,
    /// How each state was first reached.
    from: Vec<(Option<u32>, Letter)>,
    pub(super) starts: Vec<(Letter, u32)>,
    pub(super) edges: Vec<(u32, Letter, u32)>,
    complete: bool,
}

/// Letters with few atoms first, so that the runs found are plain. `false`: not all of them.
fn letters(alphabet: &Alphabet) -> (Vec<Letter>, bool) {
    let used = alphabet.used();
    let all = used.count_ones() <= MAX_LETTER_BITS;
    let mut letters = if all {
        subsets(used).map(Letter::known).collect::<Vec<_>>()
    } else {
        let one = (0..64).map(|atom| 1_u64 << atom).filter(|bit| used & bit != 0).collect::<Vec<_>>();
        let pairs = one.iter().flat_map(|a| one.iter().map(move |b| a | b));
        pairs.flat_map(|set| [set, used & !set]).chain([0, used]).map(Letter::known).collect()
    };
    letters.sort_by_key(|letter| (letter.holds.count_ones(), letter.holds));
    letters.dedup();
    (letters, all)
}

impl Exploration {
    /// Explores with at most `limit` steps.
    pub fn new(monitor: &impl Monitor, possible: Possible<'_>, limit: usize) -> Self {
        let alphabet = monitor.alphabet().clone();
        let (letters, complete) = letters(&alphabet);
        let mut this = Self {
            alphabet,
            states: Vec::new(),
            verdicts: Vec::new(),
            ends: Vec::new(),
            from: Vec::new(),
            starts: Vec::new(),
            edges: Vec::new(),
            complete,
        };
        let mut ids = FastMap::default();
        for letter in letters.iter().filter(|letter| (possible.at_start)(letter)) {
            let id = this.state(monitor, &mut ids, monitor.init(*letter), None, *letter);
            this.starts.push((*letter, id));
        }
        let later = letters.into_iter().filter(|letter| (possible.later)(letter)).collect::<Vec<_>>();
        let mut at = 0;
        while at < this.states.len() {
            if this.edges.len() + later.len() > limit {
                this.complete = false;
                break;
            }
            for letter in &later {
                let to = monitor.step(this.states[at], *letter);
                let id = this.state(monitor, &mut ids, to, Some(at as u32), *letter);
                this.edges.push((at as u32, *letter, id));
            }
            at += 1;
        }
        if this.states.iter().any(|q| monitor.gave_up(*q)) {
            this.complete = false;
        }
        this
    }

    fn state(
        &mut self,
        monitor: &impl Monitor,
        ids: &mut FastMap<Q, u32>,
        q: Q,
        from: Option<u32>,
        letter: Letter,
    ) -> u32 {
        *ids.entry(q).or_insert_with(|| {
            self.states.push(q);
            self.verdicts.push(monitor.verdict(q));
            self.ends.push(monitor.at_end(q, letter));
            self.from.push((from, letter));
            self.states.len() as u32 - 1
        })
    }

    /// Whether everything was explored; if not, `None` and `false` below mean "not found".
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// How many states were reached.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    fn run_to(&self, mut found: impl FnMut(usize) -> bool) -> Option<Vec<Letter>> {
        let mut at = (0..self.states.len()).find(|q| found(*q))? as u32;
        let mut run = Vec::new();
        loop {
            let (from, letter) = self.from[at as usize];
            run.push(letter);
            match from {
                Some(before) => at = before,
                None => break,
            }
        }
        run.reverse();
        Some(run)
    }

    /// Whether some run is violated. If not, and everything was explored, the property can never be.
    pub fn can_violate(&self) -> bool {
        self.verdicts.contains(&Verdict::Violated)
    }

    /// Whether some run is unfulfilled at its end.
    pub fn can_be_unfulfilled(&self) -> bool {
        self.ends.contains(&Verdict::Unfulfilled)
    }

    /// Whether step 0 always violates the property.
    pub fn is_violated_at_start(&self) -> bool {
        !self.starts.is_empty() && self.starts.iter().all(|(_, q)| self.verdicts[*q as usize] == Verdict::Violated)
    }

    /// A shortest run, from step 0 on, at whose last step the property is violated.
    pub fn shortest_violating(&self) -> Option<Vec<Letter>> {
        self.run_to(|q| self.verdicts[q] == Verdict::Violated)
    }

    /// A shortest run at whose end the property is unfulfilled.
    pub fn shortest_unfulfilled(&self) -> Option<Vec<Letter>> {
        self.run_to(|q| self.ends[q] == Verdict::Unfulfilled)
    }

    /// A shortest run that satisfies the property: true at its end where the end judges, not violated where it does
    /// not.
    pub fn shortest_satisfying(&self) -> Option<Vec<Letter>> {
        self.run_to(|q| matches!(self.ends[q], Verdict::Satisfied | Verdict::Fulfilled))
            .or_else(|| self.run_to(|q| self.ends[q] == Verdict::Pending))
    }
}
