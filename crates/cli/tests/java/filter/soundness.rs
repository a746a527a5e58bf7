//! What must hold between all that a program did and what was recorded of it.

use super::acts::{Act, Do, MADE, SHARING, VARIABLES, Way, trace_of};
use super::recorded::Recorded;
use detect::hb::Hb;
use event::Causality;
use oracle::definition::Definition;
use oracle::{initial_values, read};
use std::collections::BTreeSet;
use trace::Trace;

/// Events of a trace whose other runs are enumerated.
const MOST_FOR_BRUTE_FORCE: usize = 22;

fn definition(trace: &Trace) -> Definition {
    Definition::new(Causality::Maximal, &trace.names, &trace.batch, &initial_values(trace, &[]))
}

/// The racy variables of the run as it was.
fn racy(trace: &Trace) -> BTreeSet<String> {
    let mut hb = Hb::new();
    hb.batch(&trace.names, &trace.batch);
    hb.finish().races.iter().map(|race| trace.names.var(race.variable).to_string()).collect()
}

/// Order by definition: who comes before whom in the run as it was, and which pairs are races.
pub(crate) struct Order {
    /// By act: those before it, and itself.
    before: Vec<Vec<bool>>,
    races: BTreeSet<(usize, usize)>,
}

pub(crate) fn access(act: &Act) -> Option<(Way, usize)> {
    if let Do::Access(way, v) = act.what { Some((way, v)) } else { None }
}

fn writes(way: Way) -> bool {
    matches!(way, Way::Write | Way::Store | Way::Rmw)
}

pub(crate) fn is_atomic(way: Way) -> bool {
    !matches!(way, Way::Read | Way::Write)
}

/// Two accesses of a variable that do not commute.
pub(crate) fn conflict(e: &Act, f: &Act) -> bool {
    match (access(e), access(f)) {
        (Some((way, v)), Some((other, w))) => v == w && (writes(way) || writes(other)),
        _ => false,
    }
}

/// The last write before a read: the one that it sees.
fn writer(acts: &[Act], read: usize) -> Option<usize> {
    (0..read).rev().find(|&w| access(&acts[w]).is_some_and(|(way, _)| writes(way)) && conflict(&acts[w], &acts[read]))
}

impl Order {
    /// By what synchronises; and, if that is asked for, also by what plain reads have seen.
    pub(crate) fn of(acts: &[Act], with_reads: bool) -> Order {
        let mut order = Order { before: Vec::new(), races: BTreeSet::new() };
        for (f, act) in acts.iter().enumerate() {
            let comes_first = |e: usize| match (acts[e].what, act.what) {
                _ if acts[e].thread == act.thread => true,
                (Do::Fork(t), _) if t == act.thread => true,
                (Do::Fork(t), Do::Join(u)) if t == u => true,
                (_, Do::Join(t)) => t == acts[e].thread,
                (Do::Release(l), Do::Acquire(m)) => l == m,
                _ => false,
            };
            let mut before = vec![false; acts.len()];
            let take = |before: &mut Vec<bool>, e: usize, known: &Vec<Vec<bool>>| {
                before.iter_mut().zip(&known[e]).for_each(|(to, from)| *to |= from);
            };
            for e in (0..f).filter(|&e| comes_first(e)) {
                take(&mut before, e, &order.before);
            }
            let both_atomic =
                |e: usize| [e, f].iter().all(|&a| access(&acts[a]).is_some_and(|(way, _)| is_atomic(way)));
            let reads = access(act).is_some_and(|(way, _)| !matches!(way, Way::Write | Way::Store));
            let from = if reads { writer(acts, f) } else { None };
            // Atomic accesses synchronise, whether or not they race.
            if let Some(w) = from.filter(|&w| both_atomic(w)) {
                take(&mut before, w, &order.before);
            }
            for e in (0..f).filter(|&e| acts[e].thread != act.thread && conflict(&acts[e], act)) {
                if !both_atomic(e) && !before[e] {
                    order.races.insert((e, f));
                }
            }
            let both_plain =
                |e: usize| [e, f].iter().all(|&a| access(&acts[a]).is_some_and(|(way, _)| !is_atomic(way)));
            if let Some(w) = from.filter(|&w| with_reads && both_plain(w)) {
                take(&mut before, w, &order.before);
            }
            before[f] = true;
            order.before.push(before);
        }
        order
    }

    pub(crate) fn racy(&self, acts: &[Act]) -> BTreeSet<String> {
        self.races.iter().filter_map(|&(e, _)| access(&acts[e])).map(|(_, v)| VARIABLES[v].name.to_owned()).collect()
    }
}

/// What was recorded must be what happened: whole, in its order, with its races, and nothing that can be predicted from
/// it that cannot be from all.
pub(crate) struct Case<'c> {
    pub(crate) acts: &'c [Act],
    pub(crate) recorded: &'c Recorded,
}

#[derive(Default, Debug)]
pub(crate) struct Figures {
    pub(crate) acts: usize,
    pub(crate) events: usize,
    pub(crate) pins: usize,
    pub(crate) racy: usize,
    /// Racy variables whose race is ordered by what was read in another.
    pub(crate) hidden: usize,
    pub(crate) predicted: usize,
}

impl Case<'_> {
    fn is_there(&self, act: usize) -> bool {
        self.recorded.was.contains(&Some(act))
    }

    /// What is wrong.
    pub(crate) fn wrong(&self, figures: &mut Figures) -> Option<String> {
        let whole = trace_of(self.acts);
        figures.acts += whole.lines().count();
        figures.events += self.recorded.was.len();
        figures.pins += self.recorded.was.iter().filter(|was| was.is_none()).count();
        let found = self.missing().or_else(|| self.swapped()).or_else(|| self.reads_otherwise());
        if found.is_some() {
            return found;
        }
        let (before, after) = match std::panic::catch_unwind(|| (read(&whole), read(&self.recorded.text))) {
            Ok(both) => both,
            Err(_) => return Some("no possible trace".to_owned()),
        };
        self.races(&before, &after, figures).or_else(|| self.refuted(&before, &after, figures))
    }

    /// Everything but accesses is recorded; of atomic accesses only a repeated load may be left out, with nothing but
    /// loads since.
    fn missing(&self) -> Option<String> {
        let must = |i: &usize| match self.acts[*i].what {
            Do::Access(Way::Load, v) => {
                let is_recorded = |e: &usize| self.acts[*e].thread == self.acts[*i].thread && self.is_there(*e);
                let is_load = |e: &usize| matches!(self.acts[*e].what, Do::Access(Way::Load, _));
                let mut loads = (0..*i).rev().filter(is_recorded).take_while(is_load);
                !loads.any(|e| self.acts[e].what == Do::Access(Way::Load, v))
            }
            Do::Access(way, _) => is_atomic(way),
            Do::Make(_) | Do::Take(_) => false,
            _ => true,
        };
        (0..self.acts.len()).filter(must).find(|&i| !self.is_there(i)).map(|i| format!("act {i} is missing"))
    }

    /// Threads' own acts, and those that do not commute, are in their order.
    fn swapped(&self) -> Option<String> {
        let present: Vec<usize> = self.recorded.was.iter().copied().flatten().collect();
        let lock = |e: usize| match self.acts[e].what {
            Do::Acquire(l) | Do::Release(l) => Some(l),
            _ => None,
        };
        let keep = |e: usize, f: usize| {
            self.acts[e].thread == self.acts[f].thread
                || conflict(&self.acts[e], &self.acts[f])
                || lock(e).is_some() && lock(e) == lock(f)
                || matches!(self.acts[f].what, Do::Fork(t) if t == self.acts[e].thread)
                || matches!(self.acts[e].what, Do::Join(t) if t == self.acts[f].thread)
        };
        let mut pairs = present.iter().enumerate().flat_map(|(i, &e)| present[i + 1..].iter().map(move |&f| (e, f)));
        pairs.find(|&(e, f)| e > f && keep(e, f)).map(|(e, f)| format!("act {f} is recorded after act {e}"))
    }

    /// A read that is recorded sees what it saw; or, if that is not in the trace, another write of the same thread; or
    /// none, if it was the thread's own.
    fn reads_otherwise(&self) -> Option<String> {
        let present: Vec<usize> = self.recorded.was.iter().copied().flatten().collect();
        for (at, &read) in present.iter().enumerate() {
            let Some((Way::Read | Way::Load | Way::Rmw, v)) = access(&self.acts[read]) else { continue };
            let is_write = |w: &&usize| access(&self.acts[**w]).is_some_and(|(way, of)| of == v && writes(way));
            let seen = present[..at].iter().rev().find(is_write).copied();
            let saw = writer(self.acts, read);
            let same = match (seen, saw) {
                (_, Some(was)) if self.may_be_pinned(v) && !self.is_there(was) => true,
                (Some(w), Some(was)) => w == was || !self.is_there(was) && self.acts[w].thread == self.acts[was].thread,
                (None, Some(was)) => !self.is_there(was) && self.acts[was].thread == self.acts[read].thread,
                (seen, None) => seen.is_none(),
            };
            if !same {
                return Some(format!("act {read} reads from {seen:?}, and did from {saw:?}"));
            }
        }
        None
    }

    /// Variables whose accesses may be recorded as drop barriers only.
    fn may_be_pinned(&self, v: usize) -> bool {
        SHARING.contains(&v) || MADE.contains(&v) && self.acts.iter().any(|act| matches!(act.what, Do::Take(_)))
    }

    /// Whether an object goes from the thread that makes it to one other, which was there before, by ways that are not
    /// watched, and the first does nothing to it from then on.
    fn is_handed_over(&self, v: usize) -> bool {
        let (acts, object) = (self.acts, VARIABLES[v].of);
        let find = |what: Do| acts.iter().position(|act| act.what == what);
        let (Some(made), Some(taken)) = (find(Do::Make(object)), find(Do::Take(object))) else { return false };
        let (maker, taker) = (acts[made].thread, acts[taken].thread);
        let is_known =
            |act: &Act| access(act).is_some_and(|(_, w)| VARIABLES[w].refers == Some(object) && act.thread != maker);
        let is_there = taker == 0 || find(Do::Fork(taker)).is_some_and(|fork| fork < made);
        let mut of = acts.iter().enumerate().filter(|(_, act)| access(act).is_some_and(|(_, w)| w == v));
        is_there
            && !acts.iter().any(is_known)
            && of.all(|(i, act)| if i < taken { act.thread == maker } else { act.thread == taker })
    }

    fn races(&self, before: &Trace, after: &Trace, figures: &mut Figures) -> Option<String> {
        let order = Order::of(self.acts, true);
        let (all, found) = (racy(before), racy(after));
        if all != order.racy(self.acts) {
            return Some(format!("the definition: {:?}, but hb: {all:?}", order.racy(self.acts)));
        }
        figures.racy += all.len();
        figures.hidden += all.difference(&found).count();
        // A read that is not recorded again may be ordered by a racy read, which is recorded.
        let present: Vec<Act> = self.recorded.was.iter().flatten().map(|&act| self.acts[act]).collect();
        let [all, found] = [self.acts, &present[..]].map(|acts| Order::of(acts, false).racy(acts));
        let pinned: BTreeSet<String> =
            (0..VARIABLES.len()).filter(|&v| self.may_be_pinned(v)).map(|v| VARIABLES[v].name.to_owned()).collect();
        let missed: Vec<&String> = all.difference(&found).filter(|name| !pinned.contains(*name)).collect();
        if !missed.is_empty() {
            return Some(format!("no race of {missed:?}"));
        }
        if let Some(v) = MADE.into_iter().find(|&v| self.is_handed_over(v) && racy(after).contains(VARIABLES[v].name)) {
            return Some(format!("{} passed to another thread, and races", VARIABLES[v].name));
        }
        let mut hb = Hb::new();
        hb.batch(&after.names, &after.batch);
        let was = |event: u64| self.recorded.was[event as usize].unwrap_or(usize::MAX);
        let races = hb.finish().races;
        let untrue = races
            .iter()
            .map(|race| (was(race.earlier.event), was(race.later.event)))
            .find(|pair| !order.races.contains(pair));
        untrue.map(|pair| format!("no race: acts {pair:?}"))
    }

    /// What brute force finds on what was recorded, it finds on all that happened.
    fn refuted(&self, before: &Trace, after: &Trace, figures: &mut Figures) -> Option<String> {
        if before.batch.events.len() > MOST_FOR_BRUTE_FORCE || after.batch.events.len() > MOST_FOR_BRUTE_FORCE {
            return None;
        }
        let whole = definition(before);
        let event_of: Vec<usize> =
            (0..self.acts.len()).filter(|&i| !matches!(self.acts[i].what, Do::Make(_) | Do::Take(_))).collect();
        let races = definition(after).races();
        if races.is_empty() {
            return None;
        }
        figures.predicted += races.len();
        let real: BTreeSet<(usize, usize)> =
            whole.races().into_iter().map(|(e, f)| (event_of[e], event_of[f])).collect();
        // Those before and after it that say the same, and were left out.
        let alike = |e: usize| {
            let same = move |f: &usize| self.acts[*f] == self.acts[e];
            let earlier = (0..e).rev().filter(same).take_while(|&f| !self.is_there(f));
            let later = (e + 1..self.acts.len()).filter(same).take_while(|&f| !self.is_there(f));
            earlier.chain([e]).chain(later).collect::<Vec<usize>>()
        };
        let is_real = |&(e, f): &(usize, usize)| match (self.recorded.was[e], self.recorded.was[f]) {
            (Some(e), Some(f)) => {
                alike(e).into_iter().any(|e| alike(f).into_iter().any(|f| real.contains(&(e.min(f), e.max(f)))))
            }
            _ => false,
        };
        let untrue = races.into_iter().find(|race| !is_real(race));
        untrue.map(|(e, f)| format!("predicted, but not so: a race of events {e} and {f} of what was recorded"))
    }
}
