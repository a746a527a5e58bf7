//! Orders of a window's events that are not serialisable, though the recorded one is: cycles through two threads.
//!
//! The event that closes a cycle is of a block A: it is the last one, a2, and comes after an event b2 of the other
//! thread. That is in one transaction with an event b1, or comes after it in its thread, and b1 comes after an earlier
//! event a1 of A. So for each block and each two of its accesses this asks for a feasible prefix with a1 before b1, and
//! b2, after which a2 is next; as the last event it may read anything.
//!
//! **Prunes** what cannot be, or was asked often enough: variables of one thread, or never written; events kept apart
//! by two sections of one lock; of equal accesses in a block (site, variable, kind) all but the first and the last; of
//! the others' accesses all but the few nearest of each kind; and patterns (block, four sites) that were found, are
//! violated in the recorded run, or were asked about a few times. Conflicts of other kinds (locks, forks, semaphores)
//! are not asked about: a block that takes a lock twice would always be violated.
//!
//! **May miss** therefore cycles through more threads, and rare neighbours; **raises no false alarm**: what is found is
//! a feasible prefix that passes `witness::check_atomicity`.

use super::accesses::{Access, NONE, Whole, WindowAccesses};
use super::report::Violations;
use crate::place::Place;
use crate::windows::{Schedule, Search, offset};
use event::{Batch, BlockId, Names, Op, SiteId, Value, VarId};
use reach::{Answer, Limits, Question, Reach, Window, Windows};
use rustc_hash::{FxHashMap, FxHashSet};

/// So often is asked about one pattern.
const TRIES: u8 = 4;
/// So many accesses of a variable by others are looked at, before a block and after its beginning.
const NEAR: usize = 24;

/// A block that is not serialisable in another run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Predicted {
    /// The block's name.
    pub block: BlockId,
    /// Its first event.
    pub begin: Place,
    /// An event of the block, and a later one of another thread that conflicts with it.
    pub leaves: [Place; 2],
    /// An event of that thread, in the same transaction or a later one, and a later one of the block that conflicts
    /// with it.
    pub enters: [Place; 2],
    /// The variables of these conflicts.
    pub variables: [VarId; 2],
    /// The order that shows it; its last event closes the cycle, and may be a terminal read.
    pub schedule: Schedule,
}

/// What a search found, and what it left out.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Predictions {
    /// Violations, one for each pattern (the block's name and four sites).
    pub found: Vec<Predicted>,
    /// Questions asked.
    pub asked: u64,
    /// Patterns for which a limit was met, and none was found.
    pub undecided: u64,
    /// Further occurrences of patterns that had been asked about often enough.
    pub left_out: u64,
    /// Windows not looked at, or not to the end, because time was up.
    pub unasked: u64,
}

/// A block's name, the sites of a1, b1, b2 and a2, and the variables if a site is not known.
type Pattern = (BlockId, [SiteId; 4], [u32; 2]);

#[derive(Clone, Copy, Default)]
struct Tried {
    tries: u8,
    undecided: bool,
    resolved: bool,
}

/// What may be a cycle: a1 and b1, b2 and a2.
#[derive(Clone, Copy)]
struct Cycle {
    leaves: [Access; 2],
    enters: [Access; 2],
}

struct Finder<'a> {
    names: &'a Names,
    batch: &'a Batch,
    initial: &'a dyn Fn(VarId) -> Value,
    whole: Whole,
    tried: FxHashMap<Pattern, Tried>,
    found: Predictions,
    /// The end of the window before.
    seen: u64,
    /// Possible cycles looked at so far.
    looked: u64,
}

/// After so many possible cycles it is asked whether time is left.
const STRIDE: u64 = 256;

/// How far a window was looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looked {
    /// To its end.
    Whole,
    /// Up to the first question, which cannot be answered before the window is made.
    Asks,
    /// Until time was up.
    Late,
}

/// A window, with what answers questions about it once there is one.
struct Asked<'w> {
    window: &'w Window,
    reach: Option<Reach>,
}

/// Looks for violations in windows of the whole trace. Only blocks of these names count, if some are given;
/// `observed` are the violations of the recorded run, which need no prediction.
pub fn predict(
    names: &Names,
    batch: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    of: Option<&FxHashSet<String>>,
    observed: &Violations,
    search: &Search<'_>,
) -> Predictions {
    let mut finder = Finder {
        names,
        batch,
        initial,
        whole: Whole::new(names, batch, of),
        tried: FxHashMap::default(),
        found: Predictions::default(),
        seen: 0,
        looked: 0,
    };
    for violation in &observed.found {
        if let [leaves, enters] = violation.cycle[..] {
            let sites = [leaves[0], leaves[1], enters[0], enters[1]].map(|place| place.site);
            let events = [leaves[0], enters[1]].map(|place| batch.events.get(place.event as usize));
            let vars = events.map(|event| event.map_or(0, |event| event.object()));
            let resolved = Tried { resolved: true, ..Tried::default() };
            finder.tried.insert(pattern(violation.block, sites, vars), resolved);
        }
    }
    let windows_after = |end: u64| (batch.events.len() as u64 - end).div_ceil((search.window as u64 / 2).max(1));
    let mut windows = Windows::new(names, batch, search.window);
    // Most windows have nothing to ask about: only the others are made into traces of their own.
    loop {
        let mut late = None;
        let next = windows.next_with(|range| {
            let left = 1 + windows_after(range.end as u64);
            if late.is_some() || search.is_over() {
                late.get_or_insert(left);
                return false;
            }
            let accesses = WindowAccesses::new(&finder.whole, &batch.events[range.clone()], range.start);
            let left_out = finder.found.left_out;
            let looked = finder.window(&accesses, None, &search.share(left));
            match looked {
                Looked::Whole => finder.seen = range.end as u64,
                Looked::Late => finder.found.unasked += 1,
                Looked::Asks => finder.found.left_out = left_out,
            }
            looked == Looked::Asks
        });
        let Some(window) = next else {
            finder.found.unasked += late.unwrap_or(0);
            break;
        };
        let range = window.range.start as usize..window.range.end as usize;
        let accesses = WindowAccesses::new(&finder.whole, &batch.events[range.clone()], range.start);
        let search = search.share(1 + windows_after(window.range.end));
        match finder.window(&accesses, Some(&mut Asked { window: &window, reach: None }), &search) {
            Looked::Late => finder.found.unasked += 1,
            _ => finder.seen = window.range.end,
        }
    }
    let open = |tried: &&Tried| tried.undecided && !tried.resolved;
    finder.found.undecided = finder.tried.values().filter(open).count() as u64;
    finder.found
}

fn pattern(block: BlockId, sites: [SiteId; 4], vars: [u32; 2]) -> Pattern {
    let known = sites.iter().all(|&site| site != SiteId(0));
    (block, sites, if known { [0; 2] } else { vars })
}

impl Finder<'_> {
    /// Looks at a window and asks its questions. Without `asked` it only looks whether there is one.
    fn window(&mut self, accesses: &WindowAccesses, mut asked: Option<&mut Asked<'_>>, search: &Search<'_>) -> Looked {
        let mut looked = accesses.order.iter().map(|&block| self.block(accesses, block, &mut asked, search));
        looked.find(|&looked| looked != Looked::Whole).unwrap_or(Looked::Whole)
    }

    /// Whether time is up, now and then.
    fn is_late(&mut self, search: &Search<'_>) -> bool {
        self.looked += 1;
        self.looked.is_multiple_of(STRIDE) && search.is_over()
    }

    fn pattern(&self, cycle: &Cycle) -> Pattern {
        let Cycle { leaves: [a1, b1], enters: [b2, a2] } = cycle;
        let sites = [a1, b1, b2, a2].map(|access| access.event.site());
        let block = self.batch.events[a1.block as usize].block();
        pattern(block, sites, [a1, a2].map(|access| access.event.object()))
    }

    /// Asks about the cycles that a block may be on, as far as they are worth a question. Whether there was time for
    /// all: a long block has more of them than can be kept, so each is asked about as it comes.
    fn block(
        &mut self,
        accesses: &WindowAccesses,
        block: u32,
        asked: &mut Option<&mut Asked<'_>>,
        search: &Search<'_>,
    ) -> Looked {
        let mine: Vec<Access> = accesses.blocks[&block].iter().map(|&place| accesses.all[place as usize]).collect();
        let mut kinds = FxHashSet::default();
        for (k, a1) in mine.iter().enumerate() {
            if self.is_late(search) {
                return Looked::Late;
            }
            if !kinds.insert(a1.kind()) {
                continue;
            }
            let ends = first_and_last(&mine[k + 1..]);
            for b1 in near(accesses, a1, block) {
                let together = match accesses.blocks.get(&b1.block) {
                    Some(places) if b1.block != NONE => firsts(accesses, places, &b1),
                    _ => vec![b1],
                };
                for a2 in &ends {
                    if self.is_late(search) {
                        return Looked::Late;
                    }
                    let later = later(accesses, &b1, a2);
                    for &b2 in together.iter().filter(|b2| b2.conflicts(a2)).chain(&later) {
                        let cycle = Cycle { leaves: [*a1, b1], enters: [b2, *a2] };
                        if !self.is_worth_asking(&cycle, asked.is_some()) {
                            continue;
                        }
                        let Some(Asked { window, reach }) = asked.as_deref_mut() else { return Looked::Asks };
                        if search.is_over() {
                            return Looked::Late;
                        }
                        let reach = reach
                            .get_or_insert_with(|| Reach::new(self.names, &window.batch, window.fixed, self.initial));
                        self.ask(reach, window, cycle, &search.limits());
                    }
                }
            }
        }
        Looked::Whole
    }

    /// Whether to ask about a cycle; if it `asks`, that is one of the tries of its pattern.
    fn is_worth_asking(&mut self, cycle: &Cycle, asks: bool) -> bool {
        let Cycle { leaves: [a1, b1], enters: [b2, a2] } = *cycle;
        let latest = [b1, b2, a2].map(|access| u64::from(access.index)).into_iter().max().unwrap_or(0);
        if latest < self.seen || self.whole.exclude([a1.index, a2.index], [b1.index, b2.index]) {
            return false;
        }
        let pattern = self.pattern(cycle);
        let tried = self.tried.entry(pattern).or_default();
        if tried.resolved {
            return false;
        }
        if tried.tries >= TRIES {
            self.found.left_out += 1;
            return false;
        }
        tried.tries += u8::from(asks);
        true
    }

    fn ask(&mut self, reach: &mut Reach, window: &Window, cycle: Cycle, limits: &Limits<'_>) {
        let pattern = self.pattern(&cycle);
        let Cycle { leaves: [a1, b1], enters: [b2, a2] } = cycle;
        let all = [a1, b1, b2, a2].map(|access| offset(window, u64::from(access.index)));
        let [Some(o1), Some(p1), Some(p2), Some(o2)] = all else { return };
        // A read-modify-write is never a terminal read: it has to see what it saw.
        let strict = a2.event.op() == Op::AtomicRmw;
        let before = [(o1, p1), (p1, o2), (p2, o2)];
        let question = if strict {
            Question { next: &[], contains: &[], before: &before }
        } else {
            Question { next: &[o2], contains: &[p2], before: &before[..1] }
        };
        self.found.asked += 1;
        let answer = reach.ask(&question, limits);
        let tried = self.tried.entry(pattern).or_default();
        match answer {
            Answer::Reached(mut prefix) => {
                tried.resolved = true;
                if strict {
                    let end = prefix.iter().position(|&event| event == o2).map_or(prefix.len(), |at| at + 1);
                    prefix.truncate(end);
                } else {
                    prefix.push(o2);
                }
                let place = |access: Access| self.place(access.index);
                self.found.found.push(Predicted {
                    block: pattern.0,
                    begin: self.place(a1.block),
                    leaves: [a1, b1].map(place),
                    enters: [b2, a2].map(place),
                    variables: [a1, a2].map(|access| VarId(access.event.object())),
                    schedule: Schedule::new(window, &prefix),
                });
            }
            Answer::Impossible => {}
            Answer::Undecided => tried.undecided = true,
        }
    }

    fn place(&self, index: u32) -> Place {
        Place::new(self.batch.events[index as usize], u64::from(index))
    }
}

/// Of each kind of access the first and the last.
fn first_and_last(accesses: &[Access]) -> Vec<Access> {
    let mut kinds: FxHashMap<(u32, u32, bool), (usize, usize)> = FxHashMap::default();
    for (k, access) in accesses.iter().enumerate() {
        kinds.entry(access.kind()).or_insert((k, k)).1 = k;
    }
    let mut chosen: Vec<usize> = kinds.into_values().flat_map(|(first, last)| [first, last]).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|k| accesses[k]).collect()
}

/// Of each kind of access of a block the first, and this one.
fn firsts(accesses: &WindowAccesses, places: &[u32], also: &Access) -> Vec<Access> {
    let mut kinds = FxHashSet::default();
    let all = places.iter().map(|&place| accesses.all[place as usize]);
    all.filter(|access| kinds.insert(access.kind()) || access.index == also.index).collect()
}

/// Conflicting accesses of others, the nearest of each kind and thread before and after an access.
fn near(accesses: &WindowAccesses, access: &Access, block: u32) -> Vec<Access> {
    let places = &accesses.vars[&access.event.object()];
    let at = places.partition_point(|&place| accesses.all[place as usize].index < access.index);
    let mut kinds = FxHashSet::default();
    let mut chosen = Vec::new();
    let before = places[..at].iter().rev().take(NEAR);
    let after = places[at..].iter().take(NEAR);
    for (side, places) in [before.collect::<Vec<_>>(), after.collect()].into_iter().enumerate() {
        for other in places.into_iter().map(|&place| accesses.all[place as usize]) {
            let kind = (side, other.kind(), other.event.thread());
            if other.block != block && other.conflicts(access) && kinds.insert(kind) {
                chosen.push(other);
            }
        }
    }
    chosen
}

/// Accesses of the same thread that conflict with a2 and come after b1 in other transactions: the nearest of each kind.
fn later(accesses: &WindowAccesses, b1: &Access, a2: &Access) -> Vec<Access> {
    let places = &accesses.vars[&a2.event.object()];
    let at = places.partition_point(|&place| accesses.all[place as usize].index <= b1.index);
    let mut kinds = FxHashSet::default();
    let all = places[at..].iter().take(NEAR).map(|&place| accesses.all[place as usize]);
    let same = |b2: &Access| b2.event.thread() == b1.event.thread() && (b2.block == NONE || b2.block != b1.block);
    all.filter(|b2| same(b2) && b2.conflicts(a2) && kinds.insert(b2.kind())).collect()
}
