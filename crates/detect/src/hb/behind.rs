//! Races behind a race: conflicting accesses that happens-before does not order, but a race does, for somebody has read
//! what it raced with.
//!
//! **Definition.** Happens-before is the order of `hb` without its edges from plain writes to the reads that see them.
//! A pair is *behind* a race if its accesses conflict, happens-before does not order them, and SHB does.
//!
//! **There is such a race.** Take a chain of edges of SHB from the earlier access to the later one. An edge from a
//! write to its read that is not in happens-before is a race, or SHB has another chain from that write to that read, on
//! which all such edges have earlier reads. With the edge replaced by that chain, and so on, a chain is left on which
//! all such edges are races or part of happens-before. It cannot be all happens-before. The race that is named is the
//! last one by which the later thread knows of the earlier access.
//!
//! **Follows** `hb` itself: clocks note what is known by races only (`clocks/by_race.rs`), and an access is tested and
//! forgotten as in `shadow.rs`, by happens-before alone. What is remembered of a variable is the same for both orders
//! until an access that one order knows and the other does not matters; then the variable gets an [`Accesses`] of its
//! own. So nothing here costs anything before the first race.
//!
//! **May miss** what `hb` misses, a pair whose later access is part of a race itself (the access is reported then), and
//! pairs that drop barriers order: the recorder dropped accesses there, and what ordered them may not be in the trace.

use super::clocks::{ByRace, KnownTimes, Thread};
use super::shadow::Mark;
use super::who::Packing;
use super::{Hb, access};
use crate::race::{Behind, Log, Race};
use event::{Event, Op, SiteId, VarId};
use rustc_hash::FxHashMap;

/// Races behind races that are kept, and of them so many of two sites.
const MOST: usize = 1000;
const MOST_ALIKE: usize = 4;

/// What is remembered of a kind of access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Writes,
    Reads,
    AtomicReads,
    AtomicWrites,
}

const KINDS: [Kind; 4] = [Kind::Writes, Kind::Reads, Kind::AtomicReads, Kind::AtomicWrites];

/// The accesses of a variable by happens-before alone: by [`Kind`].
type Accesses = [Vec<Mark>; 4];

/// What is behind races.
#[derive(Debug)]
pub(super) struct BehindRaces {
    vars: FxHashMap<u32, Accesses>,
    /// How many accesses these have.
    marks: usize,
    log: Log,
    /// By race of the log: which race orders its first pair.
    by: Vec<Option<u32>>,
}

impl Default for BehindRaces {
    fn default() -> Self {
        BehindRaces { vars: FxHashMap::default(), marks: 0, log: Log::new(MOST).with_alike(MOST_ALIKE), by: Vec::new() }
    }
}

/// What a thread knows, with what of it comes from races.
#[derive(Clone, Copy)]
struct Knows<'a> {
    row: KnownTimes<'a>,
    by_race: &'a [ByRace],
}

impl Knows<'_> {
    /// Whether happens-before orders an access.
    fn has(self, mark: Mark) -> bool {
        self.row.has(mark) && self.race(mark).is_none()
    }

    /// The race without which the access would not be known.
    fn race(self, mark: Mark) -> Option<u32> {
        let slot = self.row.packing.slot(mark.who);
        let entry = self.by_race.iter().find(|entry| entry.brings(slot, mark.time));
        entry.filter(|_| self.row.has(mark)).map(|entry| entry.race())
    }
}

/// With which kinds an operation conflicts.
fn conflicts(op: Op) -> &'static [Kind] {
    match op {
        Op::Read => &[Kind::Writes, Kind::AtomicWrites],
        Op::AtomicLoad => &[Kind::Writes],
        Op::AtomicStore | Op::AtomicRmw => &[Kind::Writes, Kind::Reads],
        _ => &KINDS,
    }
}

/// Which kinds an operation makes superfluous where it knows them, and which it is itself.
fn replaces(op: Op) -> (&'static [Kind], Kind) {
    match op {
        Op::Read => (&[Kind::Reads], Kind::Reads),
        Op::AtomicLoad => (&[Kind::AtomicReads], Kind::AtomicReads),
        Op::AtomicStore | Op::AtomicRmw => (&[Kind::AtomicWrites], Kind::AtomicWrites),
        _ => (&KINDS, Kind::Writes),
    }
}

impl BehindRaces {
    /// About how many bytes it takes.
    pub(super) fn memory(&self) -> usize {
        self.marks * size_of::<Mark>() + self.vars.len() * size_of::<(u32, Accesses)>()
    }

    /// Forgets all accesses.
    pub(super) fn forget(&mut self) {
        (self.vars, self.marks) = (FxHashMap::default(), 0);
    }

    /// Forgets the accesses of a variable.
    pub(super) fn forget_var(&mut self, var: u32) {
        if let Some(old) = self.vars.remove(&var) {
            self.marks -= old.iter().map(Vec::len).sum::<usize>();
        }
    }

    pub(super) fn repack(&mut self, old: Packing, new: Packing) {
        let marks = self.vars.values_mut().flatten().flatten();
        marks.for_each(|mark| old.repack(&mut mark.who, new));
    }

    /// What was found, without what is a race of its own as well; and how many events were left out.
    pub(super) fn finish(self, is_race: impl Fn(VarId, SiteId, SiteId) -> bool) -> (Vec<Behind>, u64) {
        let found = self.log.finish();
        let left_out = found.left_out;
        let pairs = found.races.into_iter().zip(self.by);
        let news = pairs.filter(|(race, _)| !is_race(race.variable, race.earlier.site, race.later.site));
        let (known, unknown): (Vec<_>, Vec<_>) = news.partition(|(_, by)| by.is_some());
        let events = |race: &Race| race.events + race.others;
        let left_out = left_out + unknown.iter().map(|(race, _)| events(race)).sum::<u64>();
        let behind = |(race, by): (Race, Option<u32>)| Some(Behind { race, by: by? as usize });
        (known.into_iter().filter_map(behind).collect(), left_out)
    }
}

impl Hb {
    fn knows(&self, me: Thread) -> Knows<'_> {
        Knows { row: self.clocks.known(me.row), by_race: self.clocks.by_race(me.row) }
    }

    /// Looks for a partner behind a race, before the access learns from what it reads.
    #[inline]
    pub(super) fn test_behind(&mut self, event: Event, me: Thread, mark: Mark) {
        if !me.is_plain {
            self.find_behind(event, me, mark);
        }
    }

    #[cold]
    fn find_behind(&mut self, event: Event, me: Thread, mark: Mark) {
        let knows = self.knows(me);
        let mut partner = Mark::default();
        for &kind in conflicts(event.op()) {
            self.each_mark(event.object(), kind, |mark| {
                if knows.race(mark).is_some() {
                    partner = partner.or_later(mark);
                }
            });
        }
        let Some(race) = knows.race(partner) else { return };
        let Hb { base, clocks, sets, behind, .. } = self;
        let accesses = || (access(*base, clocks, sets, partner), access(*base, clocks, sets, mark));
        behind.log.racy(event.var(), (partner.site, mark.site), accesses);
        if behind.log.races().len() > behind.by.len() {
            behind.by.push(Some(race).filter(|&race| race != u32::MAX));
        }
    }

    /// Remembers an access in the order of happens-before, before SHB does.
    #[inline]
    pub(super) fn remember_behind(&mut self, event: Event, me: Thread, mark: Mark) {
        // A variable with accesses of its own has a wide part, too.
        if !me.is_plain || !self.behind.vars.is_empty() && self.vars[event.object() as usize].wide != 0 {
            self.put_behind(event, me, mark);
        }
    }

    #[cold]
    fn put_behind(&mut self, event: Event, me: Thread, mark: Mark) {
        let (var, (replaced, kind)) = (event.object(), replaces(event.op()));
        let mut own = self.behind.vars.remove(&var);
        if own.is_none() {
            let knows = self.knows(me);
            let mut differs = false;
            for &kind in replaced {
                self.each_mark(var, kind, |mark| differs |= knows.race(mark).is_some());
            }
            if !differs {
                return;
            }
            own = Some(KINDS.map(|kind| {
                let mut marks = Vec::new();
                self.each_mark(var, kind, |mark| marks.push(mark));
                marks
            }));
        } else {
            let before = own.iter().flatten().map(Vec::len).sum::<usize>();
            self.behind.marks -= before;
        }
        let Some(mut own) = own else { return };
        let knows = self.knows(me);
        for &kind in replaced {
            own[kind as usize].retain(|&mark| !knows.has(mark));
        }
        // What this write replaces, SHB forgets, too: the two orders remember the same again.
        let is_alone = kind == Kind::Writes && own.iter().all(Vec::is_empty);
        if !is_alone {
            own[kind as usize].push(mark);
            self.widen(var);
            self.behind.marks += own.iter().map(Vec::len).sum::<usize>();
            self.behind.vars.insert(var, own);
        }
    }

    /// The accesses of a kind that happens-before alone remembers of a variable.
    fn each_mark(&self, var: u32, kind: Kind, mut each: impl FnMut(Mark)) {
        if let Some(own) = self.behind.vars.get(&var) {
            return own[kind as usize].iter().copied().for_each(each);
        }
        let var = self.vars[var as usize];
        let wide = self.wides.get((var.wide as usize).wrapping_sub(1));
        match kind {
            Kind::Writes => {
                if var.write.time != 0 {
                    each(var.write);
                }
                wide.iter().for_each(|wide| wide.writes.each(&mut each));
            }
            Kind::Reads => self.reads.each(var.read, each),
            Kind::AtomicReads => wide.iter().for_each(|wide| wide.atomic_reads.each(&mut each)),
            Kind::AtomicWrites => wide.iter().for_each(|wide| wide.atomic_writes.each(&mut each)),
        }
    }
}
