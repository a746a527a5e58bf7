//! Small traces through the filter: every event by the recorder of its thread, and the trace that comes out.

use crate::decode::{Stands, decode};
use crate::memory::{Owned, Records, cells};
use event::{Event, Id, Op, Space, VarId};
use law::random::Random;
use runtime::filter::{Access, Limits, Outcome, Recorder, Shape};
use runtime::record::{Kind, head};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use trace::Trace;
use trace::text::{event_text, value_text};

/// How variables lie in granules.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Lie {
    /// Each has one.
    Apart,
    /// `x` and `y` share one.
    Together,
}

/// Where a variable is.
fn granule(lie: Lie, names: &event::Names, var: VarId) -> (usize, u8) {
    match (lie, names.var(var)) {
        (Lie::Together, "x") => (0, 0x0f),
        (Lie::Together, "y") => (0, 0xf0),
        _ => (1 + var.index(), 0xff),
    }
}

/// The trace without what is not recorded: values of plain accesses (or all `values`), pins; in the granule of both, an access of `z` is one of `x`
/// and one of `y`. Every event has a site of its own, its number.
pub(crate) fn plain(text: &str, lie: Lie, values: bool, r: &mut Random) -> String {
    let whole = lie == Lie::Together && r.percent(60);
    let mut out = String::new();
    let mut number = 0;
    for line in text.lines() {
        let Some((event, _)) = line.rsplit_once('|') else {
            writeln!(out, "{line}").expect("a string");
            continue;
        };
        let (thread, op) = event.split_once('|').expect("a thread");
        // Memory is given and taken back in whole granules.
        let parted = lie == Lie::Together && ["alloc(x)", "alloc(y)", "free(x)", "free(y)"].contains(&op);
        if op.starts_with("pin") || parted {
            continue;
        }
        let is_plain = op.starts_with("r(") || op.starts_with("w(");
        let is_atomic = ["ald", "ast", "armw"].iter().any(|atomic| op.starts_with(atomic));
        let op = match op.split_once('=') {
            Some((op, _)) if is_plain => op.to_string(),
            // Where what changes them is left out, they make no sense.
            Some((op, rest)) if is_atomic && !values => {
                format!("{op}{}", rest.find('@').map_or("", |at| &rest[at..]))
            }
            _ => op.to_string(),
        };
        let both = [op.replace("(z)", "(x)"), op.replace("(z)", "(y)")];
        let ops = if whole && (op == "r(z)" || op == "w(z)") { &both[..] } else { &[op] };
        for op in ops {
            writeln!(out, "{thread}|{op}|{number}").expect("a string");
            number += 1;
        }
    }
    out
}

/// What a filter may keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) entries: u32,
    pub(crate) nodes: u32,
    pub(crate) taken: u32,
}

/// Enough for every small trace.
pub(crate) const AMPLE: Room = Room { entries: 8, nodes: 200, taken: 200 };

/// What came out of the filter.
pub(crate) struct Filtered {
    pub(crate) text: String,
    /// By its event: the one that it was. `None`: it stands for bytes that the event at its place did not touch.
    pub(crate) was: Vec<Option<usize>>,
    /// Accesses that neither were written nor will be.
    pub(crate) left_out: BTreeSet<usize>,
    pub(crate) pins: usize,
    pub(crate) late: usize,
}

/// Runs a trace through the filter. `sites`: how many places accesses share; `None`: each has its own.
pub(crate) fn filtered(trace: &Trace, lie: Lie, room: Room, sites: Option<usize>, r: &mut Random) -> Filtered {
    let (names, batch) = (&trace.names, &trace.batch);
    let threads = names.space(Space::Thread).len();
    let shape = Shape { slots: threads as u32, nodes: room.nodes };
    let filter = Owned::new(shape, Limits { entries: room.entries, taken: room.taken, ..Limits::default() });
    let ticket = AtomicU64::new(0);
    let cells = cells(1 + names.space(Space::Var).len());
    let mut sinks: Vec<Records> = (0..threads).map(|_| Records::new(&ticket)).collect();
    let mut recorders: Vec<Option<Recorder>> = (0..threads).map(|_| None).collect();
    let begin = |t: usize, sink: &mut Records| {
        let mut recorder = Recorder::begin(&filter, t as u32, false);
        recorder.ticketed(sink, head(Kind::ThreadStart, 0, 0), 0, Some(0));
        Some(recorder)
    };
    let forked: BTreeSet<usize> =
        batch.events.iter().filter(|e| e.op() == Op::Fork).map(|e| e.child().index()).collect();
    for t in (0..threads).filter(|t| !forked.contains(t)) {
        recorders[t] = begin(t, &mut sinks[t]);
    }
    // By slot, position and rank: the event that was kept; without a rank: written.
    let mut kept: BTreeMap<(usize, u64, u32), Range<usize>> = BTreeMap::new();
    let mut left_out = BTreeSet::new();
    let mut e = 0;
    while e < batch.events.len() {
        let event = batch.events[e];
        let t = event.thread().index();
        if recorders[t].is_none() {
            recorders[t] = begin(t, &mut sinks[t]);
        }
        let recorder = recorders[t].as_mut().expect("it has begun");
        let sink = &mut sinks[t];
        // Two that are one access.
        let count = 1 + usize::from(is_pair(trace, lie, e) && r.percent(90));
        let place = |e: usize| sites.map_or(e, |sites| e % sites) as u32;
        if event.op().is_plain_access() {
            let write = event.op() == Op::Write;
            let (at, mask) = granule(lie, names, event.var());
            let mask = if count == 2 { 0xff } else { mask };
            let access = Access { granule: at as u64, mask, write };
            let before = (recorder.position(), recorder.rank());
            // One of the ways that a hook can go.
            let cell = &cells[at];
            let outcome = if recorder.covered(cell, mask, write) {
                None
            } else if match r.below(3) {
                0 => recorder.again(cell, mask, write, place(e)),
                1 => recorder.again_among_others(cell, mask, write, place(e)),
                _ => false,
            } {
                Some(Outcome::Kept)
            } else {
                Some(recorder.access(&filter, sink, cell, || r.percent(50), access, |_| place(e)))
            };
            let now = (recorder.position(), recorder.rank());
            if outcome == Some(Outcome::Written) {
                kept.insert((t, recorder.position(), u32::MAX), e..e + count);
            } else if before == now {
                // Covered, or part of another.
                left_out.extend(e..e + count);
            } else {
                kept.insert((t, now.0, now.1), e..e + count);
            }
        } else {
            synchronise(trace, lie, event, e, &filter, recorder, sink, &cells);
            if event.op() == Op::Fork {
                let child = event.child().index();
                if r.percent(50) {
                    recorders[child] = begin(child, &mut sinks[child]);
                }
            } else if event.op() == Op::Join {
                let child = event.child().index();
                if let Some(mut child) = recorders[child].take() {
                    child.ticketed(&mut sinks[child.slot() as usize], head(Kind::ThreadEnd, 0, 0), 0, None);
                    child.end(&filter);
                }
                let recorder = recorders[t].as_mut().expect("it has begun");
                recorder.ticketed(&mut sinks[t], head(Kind::Join, 0, e as u64), 0, Some(child as u64));
                recorder.join(&filter, child as u32);
            }
        }
        e += count;
    }
    let words: Vec<&[u64]> = sinks.iter().map(|sink| &sink.words[..]).collect();
    written(trace, lie, &decode(&words), &kept, left_out)
}

/// Whether the next two events are `x` and `y` of one access.
fn is_pair(trace: &Trace, lie: Lie, e: usize) -> bool {
    let (names, events) = (&trace.names, &trace.batch.events);
    let Some(&next) = events.get(e + 1) else { return false };
    let event = events[e];
    lie == Lie::Together
        && event.op().is_plain_access()
        && (event.op(), event.thread()) == (next.op(), next.thread())
        && (names.var(event.var()), names.var(next.var())) == ("x", "y")
}

/// What is no plain access. The payload of the record is the event's number, where there is room for it; else its place is.
#[allow(clippy::too_many_arguments)]
fn synchronise(
    trace: &Trace,
    lie: Lie,
    event: Event,
    e: usize,
    filter: &Owned,
    recorder: &mut Recorder,
    sink: &mut Records,
    cells: &[runtime::filter::Cell],
) {
    let number = e as u64;
    match event.op() {
        op if op.is_atomic() => {
            let kind = match op {
                Op::AtomicLoad => Kind::AtomicLoad,
                Op::AtomicStore => Kind::AtomicStore,
                _ => Kind::AtomicRmw,
            };
            let (at, _) = granule(lie, &trace.names, event.var());
            recorder.atomic(filter, sink, &[(&cells[at], at as u64)], number, 0, || (kind, 0, 0, ()));
        }
        Op::Alloc => {
            let (at, _) = granule(lie, &trace.names, event.var());
            // What gave the memory back, unseen.
            recorder.ticketed(sink, head(Kind::ThreadStart, 0, 0), 0, Some(0));
            recorder.allocated(sink, number, 8, 0);
            recorder.alloc(filter, sink, &cells[at], || false, at as u64);
        }
        Op::Free => {
            let (at, _) = granule(lie, &trace.names, event.var());
            recorder.ticketed(sink, head(Kind::Free, 0, number), 0, Some(8));
            recorder.free(filter, sink, &cells[at], || false, at as u64);
        }
        Op::Fork => {
            let child = event.child().index() as u32;
            recorder.ticketed(sink, head(Kind::Fork, 0, number), 0, Some(u64::from(child)));
            recorder.fork(filter, child);
        }
        Op::Join => {}
        _ => recorder.ticketed(sink, head(Kind::Internal, 0, number), 0, Some(0)),
    }
}

/// The records as text again.
fn written(
    trace: &Trace,
    lie: Lie,
    all: &[Stands],
    kept: &BTreeMap<(usize, u64, u32), Range<usize>>,
    left_out: BTreeSet<usize>,
) -> Filtered {
    let (names, batch) = (&trace.names, &trace.batch);
    let mut text = String::new();
    for init in &batch.inits {
        writeln!(text, "#! init {}={}", names.str(init.name), value_text(names, init.value)).expect("a string");
    }
    let mut lines: Vec<(usize, String, Option<usize>)> = Vec::new();
    let vars = (0..names.space(Space::Var).len() as u32).map(VarId);
    let mut variables: Vec<(VarId, (usize, u8))> = vars.map(|var| (var, granule(lie, names, var))).collect();
    // In the order in which `plain` has the parts of an access.
    variables.sort_by_key(|variable| variable.1);
    // Of the events of an access, that of one of its variables.
    let which = |mut events: Range<usize>, write: bool, var: VarId| {
        events.find(|&e| {
            let event = batch.events[e];
            event.op() == (if write { Op::Write } else { Op::Read }) && event.var() == var
        })
    };
    let (mut pins, mut lates) = (0, 0);
    for stands in all {
        match stands {
            Stands::OnTime(record) => match record.kind {
                Kind::ThreadStart | Kind::ThreadEnd | Kind::Mark => {}
                Kind::ArriveRead | Kind::ArriveWrite => {
                    let write = record.kind == Kind::ArriveWrite;
                    for &(var, (at, mask)) in &variables {
                        if at as u64 == record.payload && mask & record.aux != 0 {
                            let events = kept[&(record.slot, record.position, u32::MAX)].clone();
                            let was = which(events, write, var);
                            lines.push((record.slot, access(names, write, var), was));
                        }
                    }
                }
                _ => {
                    let e = record.payload as usize;
                    lines.push((record.slot, op_text(trace, e), Some(e)));
                }
            },
            Stands::Late(late) => {
                pins += usize::from(late.pin);
                lates += 1;
                let events = kept.get(&(late.slot, late.position, late.rank));
                assert!(events.is_some() || late.pin, "nothing was kept there: {late:?} {kept:?}");
                for &(var, (at, mask)) in &variables {
                    if at as u64 == late.granule && mask & late.mask != 0 {
                        if late.pin {
                            lines.push((late.slot, format!("pin({}", names.var(var)), None));
                        } else {
                            let was = events.and_then(|events| which(events.clone(), late.write, var));
                            lines.push((late.slot, access(names, late.write, var), was));
                        }
                    }
                }
            }
        }
    }
    let mut counts = BTreeMap::<usize, usize>::new();
    for (number, (slot, op, _)) in lines.iter().enumerate() {
        let count = counts.entry(*slot).or_default();
        let op = if op.starts_with("pin(") { format!("{op},{count})") } else { op.clone() };
        *count += 1;
        writeln!(text, "{}|{op}|{number}", names.get(Space::Thread, *slot as u32)).expect("a string");
    }
    let was = lines.into_iter().map(|line| line.2).collect();
    Filtered { text, was, left_out, pins, late: lates }
}

fn access(names: &event::Names, write: bool, var: VarId) -> String {
    format!("{}({})", if write { 'w' } else { 'r' }, names.var(var))
}

/// The operation of an event, as in the text it came from.
fn op_text(trace: &Trace, e: usize) -> String {
    event_text(&trace.names, &trace.batch, trace.batch.events[e])
}
