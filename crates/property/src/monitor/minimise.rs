//! The coarsest partition of an automaton's states that its transitions respect (Hopcroft).

/// Block numbers of states. `next` has `width` successors for each state; `kinds` says which states differ from the
/// start.
pub(super) fn minimise(next: &[u32], width: usize, kinds: &[u32]) -> Vec<u32> {
    let states = kinds.len();
    let mut partition = Partition::new(kinds);
    let inverse = Inverse::new(next, width, states);
    let mut waiting = (0..partition.blocks.len()).flat_map(|b| (0..width).map(move |l| (b, l))).collect::<Vec<_>>();
    let mut is_waiting = vec![true; partition.blocks.len() * width];
    let mut touched = Vec::new();
    let mut splitter = Vec::new();
    while let Some((block, letter)) = waiting.pop() {
        is_waiting[block * width + letter] = false;
        splitter.clear();
        splitter.extend_from_slice(partition.members(block));
        touched.clear();
        for to in &splitter {
            for from in inverse.of(*to, letter) {
                partition.mark(*from, &mut touched);
            }
        }
        for old in touched.drain(..) {
            let Some(new) = partition.split(old) else { continue };
            is_waiting.resize(partition.blocks.len() * width, false);
            let smaller = if partition.members(new).len() < partition.members(old).len() { new } else { old };
            for letter in 0..width {
                let add = if is_waiting[old * width + letter] { new } else { smaller };
                if !std::mem::replace(&mut is_waiting[add * width + letter], true) {
                    waiting.push((add, letter));
                }
            }
        }
    }
    partition.of
}

struct Inverse {
    starts: Vec<u32>,
    from: Vec<u32>,
    width: usize,
}

impl Inverse {
    fn new(next: &[u32], width: usize, states: usize) -> Self {
        let mut starts = vec![0_u32; states * width + 1];
        for (at, to) in next.iter().enumerate() {
            starts[*to as usize * width + at % width + 1] += 1;
        }
        for at in 0..states * width {
            starts[at + 1] += starts[at];
        }
        let mut fill = starts.clone();
        let mut from = vec![0; next.len()];
        for (at, to) in next.iter().enumerate() {
            let place = &mut fill[*to as usize * width + at % width];
            from[*place as usize] = (at / width) as u32;
            *place += 1;
        }
        Self { starts, from, width }
    }

    fn of(&self, to: u32, letter: usize) -> &[u32] {
        let at = to as usize * self.width + letter;
        &self.from[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

struct Block {
    start: usize,
    end: usize,
    /// Members before this place are marked.
    marked: usize,
}

struct Partition {
    of: Vec<u32>,
    order: Vec<u32>,
    place: Vec<usize>,
    blocks: Vec<Block>,
}

impl Partition {
    fn new(kinds: &[u32]) -> Self {
        let mut order = (0..kinds.len() as u32).collect::<Vec<_>>();
        order.sort_by_key(|q| kinds[*q as usize]);
        let mut this = Self { of: vec![0; kinds.len()], place: vec![0; kinds.len()], blocks: Vec::new(), order };
        for (at, q) in this.order.iter().enumerate() {
            if at == 0 || kinds[*q as usize] != kinds[this.order[at - 1] as usize] {
                this.blocks.push(Block { start: at, end: at, marked: at });
            }
            let block = this.blocks.len() - 1;
            this.blocks[block].end = at + 1;
            this.of[*q as usize] = block as u32;
            this.place[*q as usize] = at;
        }
        this
    }

    fn members(&self, block: usize) -> &[u32] {
        &self.order[self.blocks[block].start..self.blocks[block].end]
    }

    fn mark(&mut self, q: u32, touched: &mut Vec<usize>) {
        let block = self.of[q as usize] as usize;
        let (at, marked) = (self.place[q as usize], self.blocks[block].marked);
        if at < marked {
            return;
        }
        if marked == self.blocks[block].start {
            touched.push(block);
        }
        let other = self.order[marked];
        self.order.swap(at, marked);
        self.place[q as usize] = marked;
        self.place[other as usize] = at;
        self.blocks[block].marked += 1;
    }

    /// Makes the marked members a block of their own, unless that is all of them.
    fn split(&mut self, block: usize) -> Option<usize> {
        let Block { start, end, marked } = self.blocks[block];
        self.blocks[block].marked = start;
        if marked == end {
            return None;
        }
        let new = self.blocks.len();
        self.blocks.push(Block { start, end: marked, marked: start });
        self.blocks[block].start = marked;
        self.blocks[block].marked = marked;
        for at in start..marked {
            self.of[self.order[at] as usize] = new as u32;
        }
        Some(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moore's refinement, the slow and obvious way.
    fn moore(next: &[u32], width: usize, kinds: &[u32]) -> Vec<Vec<u32>> {
        let mut of = kinds.to_vec();
        loop {
            let signature = |q: usize| {
                let mut s = vec![of[q]];
                s.extend(next[q * width..(q + 1) * width].iter().map(|to| of[*to as usize]));
                s
            };
            let signatures = (0..kinds.len()).map(signature).collect::<Vec<_>>();
            let mut sorted = signatures.clone();
            sorted.sort();
            sorted.dedup();
            let fresh = signatures.iter().map(|s| sorted.binary_search(s).unwrap_or(0) as u32).collect::<Vec<_>>();
            let mut before = of.clone();
            before.sort_unstable();
            before.dedup();
            of = fresh;
            if sorted.len() == before.len() {
                let mut blocks = vec![Vec::new(); sorted.len()];
                for (q, b) in of.iter().enumerate() {
                    blocks[*b as usize].push(q as u32);
                }
                blocks.sort();
                return blocks;
            }
        }
    }

    #[test]
    fn agrees_with_the_obvious_way() {
        let mut seed = 7_u64;
        let mut random = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) % below
        };
        for round in 0..3000 {
            let states = 1 + random(12);
            let width = 1 + random(3) as usize;
            let next = (0..states * width as u64).map(|_| random(states) as u32).collect::<Vec<_>>();
            let kinds = (0..states).map(|_| random(2) as u32 * 5).collect::<Vec<_>>();
            let of = minimise(&next, width, &kinds);
            let mut blocks = vec![Vec::new(); *of.iter().max().unwrap_or(&0) as usize + 1];
            for (q, b) in of.iter().enumerate() {
                blocks[*b as usize].push(q as u32);
            }
            blocks.sort();
            assert_eq!(blocks, moore(&next, width, &kinds), "round {round}: {next:?} {kinds:?}");
        }
    }
}
