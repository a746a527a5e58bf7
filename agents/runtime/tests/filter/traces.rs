//! Small traces through the filter: every event by the recorder of its thread, and the trace that comes out.

use crate::decode::{Stands, decode};
use crate::memory::{Cells, Owned, Records, cells};
use crate::paths::{Fates, Path, address};
use event::{Event, Id, Op, Space, Value, VarId};
use oracle::random::Random;
use runtime::filter::{Atomic, AtomicEntry, Limits, Look, Recorder, Shape, Sink, clear_summary};
use runtime::hand_off::HandOff;
use runtime::record::{Kind, head};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::AtomicU64;
use trace::Trace;
use trace::text::{event_text, value_text};

/// How variables lie in words.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Lie {
    /// Each has one.
    Apart,
    /// `x` and `y` share one.
    Together,
    /// `x`, `y` and `z` share one, and two of them a half of it.
    Bytes,
    /// `x`, `y`, `z` and `q` have one each, side by side from this one on; so have the others.
    Side(usize),
}

/// Where a variable is.
fn word(lie: Lie, names: &event::Names, var: VarId) -> (usize, u8) {
    match (lie, names.var(var)) {
        (Lie::Together, "x") => (0, 0x0f),
        (Lie::Together, "y") => (0, 0xf0),
        (Lie::Bytes, "x") => (0, 0x03),
        (Lie::Bytes, "y") => (0, 0x0c),
        (Lie::Bytes, "z") => (0, 0xf0),
        (Lie::Side(first), "x") => (first, 0xff),
        (Lie::Side(first), "y") => (first + 1, 0xff),
        (Lie::Side(first), "z") => (first + 2, 0xff),
        (Lie::Side(first), "q") => (first + 3, 0xff),
        (Lie::Side(first), _) => (first + 4 + var.index(), 0xff),
        _ => (1 + var.index(), 0xff),
    }
}

/// The trace without what is not recorded: values of plain accesses (or all `values`), drop barriers. In a shared word,
/// an access of `z` is one of `x` and one of `y`. Every event has a site of its own, its number.
pub(crate) fn plain(text: &str, lie: Lie, values: bool, r: &mut Random) -> String {
    let whole = lie == Lie::Together && r.percent(60);
    let mut out = String::new();
    let mut number = 0;
    let lines: Vec<&str> = text.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let Some((event, _)) = line.rsplit_once('|') else {
            writeln!(out, "{line}").expect("a string");
            continue;
        };
        let (thread, op) = event.split_once('|').expect("a thread");
        if is_given_up(thread, op, &lines[at + 1..]) {
            continue;
        }
        // Memory is allocated and freed in whole words.
        let is_part = |name: &str| name == "x" || name == "y" || name == "z" && lie == Lie::Bytes;
        let block = op.strip_prefix("alloc(").or_else(|| op.strip_prefix("free(")).and_then(|op| op.strip_suffix(')'));
        let parted = matches!(lie, Lie::Together | Lie::Bytes) && block.is_some_and(is_part);
        if op.starts_with("pin(") || op.starts_with("rpin(") || parted {
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

/// Whether an announced wait is given up, and nothing but plain accesses of its thread follow. If these are dropped,
/// the trace says that the thread waits for ever (docs/traces.md), which it does not: no agent announces such a wait.
fn is_given_up(thread: &str, op: &str, later: &[&str]) -> bool {
    let of_thread =
        |line: &&str| line.split_once('|').filter(|(other, _)| *other == thread).map(|(_, op)| op.to_owned());
    let is_plain = |op: &String| ["r(", "w(", "pin(", "rpin("].iter().any(|plain| op.starts_with(plain));
    let announces = ["jreq(", "areq(", "dreq("].iter().any(|announced| op.starts_with(announced));
    let mut later = later.iter().filter_map(of_thread).peekable();
    announces && later.peek().is_some() && later.all(|op| is_plain(&op))
}

/// What a filter may keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) entries: u32,
    pub(crate) nodes: u32,
    pub(crate) per_context: u8,
    /// How often a conflict is recorded that what threads have read rules out as a race. `None`: any.
    pub(crate) per_pair: Option<u8>,
    /// Threads use up their sequence numbers now and then.
    pub(crate) few_seqs: bool,
}

/// Enough for every small trace.
pub(crate) const AMPLE: Room = Room { entries: 8, nodes: 200, per_context: 200, per_pair: None, few_seqs: false };

/// What came out of the filter.
pub(crate) struct Filtered {
    pub(crate) text: String,
    /// By its event: the one that it was. `None`: it stands for bytes that the event there did not touch.
    pub(crate) was: Vec<Option<usize>>,
    /// Accesses that neither were recorded nor will be.
    pub(crate) left_out: BTreeSet<usize>,
    /// Events that are one access of a block: they have no order among themselves.
    pub(crate) together: Vec<Range<usize>>,
    pub(crate) barriers: usize,
    pub(crate) deferred: usize,
    /// Slots that were used again.
    pub(crate) reused: usize,
    /// Atomic accesses that were left out.
    pub(crate) looks: usize,
    /// Times that were not by the clock: of lock acquires, and others.
    pub(crate) handed: [usize; 2],
}

/// Runs a trace through the filter. `sites`: how many call contexts accesses share; `None`: each has its own.
pub(crate) fn filtered(trace: &Trace, lie: Lie, room: Room, sites: Option<usize>, r: &mut Random) -> Filtered {
    let (names, batch) = (&trace.names, &trace.batch);
    let threads = names.space(Space::Thread).len();
    let shape = Shape { slots: threads as u32, nodes: room.nodes };
    let filter = Owned::new(
        shape,
        Limits {
            entries: room.entries,
            per_context: room.per_context,
            per_pair: room.per_pair.unwrap_or_else(|| *r.pick(&[0, 0, 1, 200])),
            long: r.below(3) as u32,
            ..Limits::default()
        },
    );
    let clock = AtomicU64::new(0);
    // Of whole blocks.
    let cells = cells((16 + names.space(Space::Var).len()).next_multiple_of(8));
    // Of even and of odd slots.
    let summaries: [AtomicEntry; 2] = Default::default();
    let mut sinks: Vec<Records> = (0..threads).map(|_| Records::new(&clock)).collect();
    let mut recorders: Vec<Option<Recorder>> = (0..threads).map(|_| None).collect();
    let mut slots = Slots::new(threads);
    let hand_offs = hand_offs(trace);
    let is_condition = |e: &&Event| matches!(e.op(), Op::Wait | Op::Notify | Op::NotifyAll);
    let conditions: BTreeMap<u32, HandOff> =
        batch.events.iter().filter(is_condition).map(|e| (e.object(), HandOff::default())).collect();
    let begin = |t: usize, slots: &mut Slots, sinks: &mut [Records]| {
        let slot = slots.of[t];
        let mut recorder = Recorder::begin(&filter, slot as u32, false);
        slots.users[slot].push((recorder.sync_index() + 1, t));
        recorder.timed(&mut sinks[slot], head(Kind::ThreadStart, 0, 0), 0, Some(0));
        Some(recorder)
    };
    let forked: BTreeSet<usize> =
        batch.events.iter().filter(|e| e.op() == Op::Fork).map(|e| e.child().index()).collect();
    for t in (0..threads).filter(|t| !forked.contains(t)) {
        recorders[t] = begin(t, &mut slots, &mut sinks);
    }
    let mut fates = Fates::default();
    let mut looks = 0;
    let mut e = 0;
    while e < batch.events.len() {
        let event = batch.events[e];
        let t = event.thread().index();
        if recorders[t].is_none() {
            recorders[t] = begin(t, &mut slots, &mut sinks);
        }
        let slot = slots.of[t];
        let recorder = recorders[t].as_mut().expect("it has begun");
        let sink = &mut sinks[slot];
        // Several that are one access.
        let mut count = 1;
        while is_pair(trace, lie, e + count - 1) && r.percent(90) {
            count += 1;
        }
        let context = |e: usize| sites.map_or(e, |sites| e % sites) as u32;
        if event.op().is_plain_access() {
            if room.few_seqs && r.percent(15) {
                recorder.use_up_seq(r.below(10) as u32);
            }
            let (at, _) = word(lie, names, event.var());
            let mut way = Path {
                filter: &filter,
                cells: &cells,
                summaries: &summaries,
                recorder,
                sink,
                fates: &mut fates,
                context: context(e),
                write: event.op() == Op::Write,
            };
            if matches!(lie, Lie::Side(_)) {
                way.side_by_side(at..at + count, e..e + count, r);
            } else {
                let parts = batch.events[e..e + count].iter();
                let mask = parts.map(|event| word(lie, names, event.var()).1).fold(0, |mask, part| mask | part);
                way.one(at, mask, true, e..e + count, r);
            }
        } else {
            if event.op() == Op::Fork {
                slots.give(event.child().index(), |slot| filter.may_use_again(slot as u32, recorder), r);
            }
            if event.op().is_atomic() || matches!(event.op(), Op::Alloc | Op::Free) {
                summaries.iter().for_each(clear_summary);
            }
            let lock = mutex(trace, event).and_then(|lock| hand_offs.get(&lock));
            match lock {
                Some(lock) => {
                    sink.reserve(3);
                    match event.op() {
                        Op::Release => recorder.released(sink, head(Kind::Release, 0, e as u64), 0, lock),
                        Op::Wait => {
                            let condition = conditions.get(&event.object()).expect("all are there");
                            let mutex = u64::from(mutex(trace, event).expect("it has one"));
                            recorder.waits(sink, head(Kind::Wait, 0, e as u64), 0, mutex, Some([condition, lock]));
                        }
                        Op::Woken => recorder.woken(sink, head(Kind::Woken, 0, e as u64), 0, 0, Some(lock)),
                        _ => recorder.acquired(sink, head(Kind::Acquire, 0, e as u64), 0, lock),
                    }
                }
                None if matches!(event.op(), Op::Notify | Op::NotifyAll) => {
                    sink.reserve(2);
                    let condition = conditions.get(&event.object()).expect("all are there");
                    let mutex = |mutex: u64| hand_offs.get(&(mutex as u32));
                    recorder.notified(sink, head(Kind::Notify, 0, e as u64), 0, condition, mutex);
                }
                None if event.op().is_atomic() && is_repeated(trace, lie, e, recorder, &cells) => {
                    fates.left_out.insert(e);
                    looks += 1;
                }
                None if event.op() == Op::TryFail => {
                    let look = failure(trace, e);
                    if recorder.is_repeated(None, look) {
                        fates.left_out.insert(e);
                        looks += 1;
                    } else {
                        let before = recorder.now();
                        recorder.timed(sink, head(Kind::Internal, 0, e as u64), 0, Some(0));
                        recorder.failed(before, look);
                    }
                }
                None => {
                    if event.op() == Op::Wait
                        && let Some(condition) = conditions.get(&event.object())
                    {
                        condition.set_clock_only();
                    }
                    synchronise(trace, lie, event, e, &filter, recorder, sink, &cells, &slots);
                }
            }
            if event.op() == Op::Fork {
                let child = event.child().index();
                if r.percent(50) {
                    recorders[child] = begin(child, &mut slots, &mut sinks);
                }
            } else if event.op() == Op::Join {
                let child = event.child().index();
                if let Some(mut child) = recorders[child].take() {
                    child.timed(&mut sinks[child.slot() as usize], head(Kind::ThreadEnd, 0, 0), 0, None);
                    child.end(&filter);
                }
                let child = slots.of[child];
                let recorder = recorders[t].as_mut().expect("it has begun");
                recorder.timed(&mut sinks[slot], head(Kind::Join, 0, e as u64), 0, Some(child as u64));
                recorder.join(&filter, child as u32);
            }
        }
        e += count;
    }
    // The process ends: the last thread writes what is left.
    if let Some(last) = batch.events.last().map(|event| event.thread().index())
        && let Some(recorder) = &mut recorders[last]
    {
        let sink = &mut sinks[slots.of[last]];
        for at in 0..cells.len() {
            if cells.cell(at).is_contended() {
                recorder.write_remaining(&filter, sink, cells.cell(at), || false, address(at));
            }
        }
        recorder.timed(sink, head(Kind::Mark, 0, 0), 0, None);
    }
    let words: Vec<&[u64]> = sinks.iter().map(|sink| &sink.words[..]).collect();
    let handed = [0, 1].map(|which| sinks.iter().map(|sink| sink.handed[which]).sum());
    Filtered { handed, looks, ..written(trace, lie, &decode(&words), fates, &slots) }
}

/// The lock that an event acquires or releases, if it is exclusive.
fn mutex(trace: &Trace, event: Event) -> Option<u32> {
    match event.op() {
        Op::Acquire | Op::TryAcquire | Op::Release => Some(event.object()),
        Op::Wait | Op::Woken => Some(trace.batch.extra(event).lock.0),
        _ => None,
    }
}

/// The hand-offs of locks whose times agents hand off: exclusive ones, without failed try-locks.
fn hand_offs(trace: &Trace) -> BTreeMap<u32, HandOff> {
    let events = &trace.batch.events;
    let mut all: BTreeMap<u32, HandOff> =
        events.iter().filter_map(|&event| Some((mutex(trace, event)?, HandOff::default()))).collect();
    for event in events {
        if let Op::ReadAcquire | Op::ReadRelease | Op::TryFail = event.op() {
            all.remove(&event.object());
        }
    }
    all
}

/// Which thread has which slot.
struct Slots {
    /// By thread.
    of: Vec<usize>,
    /// By slot: from which sync index on it is whose.
    users: Vec<Vec<(u64, usize)>>,
    taken: usize,
}

impl Slots {
    /// At first, each thread has its own.
    fn new(threads: usize) -> Slots {
        Slots { of: (0..threads).collect(), users: vec![Vec::new(); threads], taken: 0 }
    }

    /// Gives a thread that is about to begin the slot of one that is over, if there is one.
    fn give(&mut self, child: usize, may_use_again: impl Fn(usize) -> bool, r: &mut Random) {
        let is_given = |slot: usize| {
            let waits = |&t: &usize| self.of[t] == slot && !self.users[slot].iter().any(|user| user.1 == t);
            (0..self.of.len()).filter(waits).any(|t| t != slot)
        };
        let over: Vec<usize> = (0..self.users.len()).filter(|&slot| may_use_again(slot) && !is_given(slot)).collect();
        if !over.is_empty() && r.percent(70) {
            self.of[child] = *r.pick(&over);
            self.taken += 1;
        }
    }

    /// The thread at a sync index.
    fn user(&self, slot: usize, sync_index: u64) -> usize {
        let user = self.users[slot].iter().rfind(|user| user.0 <= sync_index);
        user.expect("a thread had the slot").1
    }
}

/// Whether the next two events are neighbours of one access.
fn is_pair(trace: &Trace, lie: Lie, e: usize) -> bool {
    let (names, events) = (&trace.names, &trace.batch.events);
    let Some(&next) = events.get(e + 1) else { return false };
    let event = events[e];
    let is_access =
        lie != Lie::Apart && event.op().is_plain_access() && (event.op(), event.thread()) == (next.op(), next.thread());
    is_access && {
        let [(at, mask), (next_at, next_mask)] = [event, next].map(|event| word(lie, names, event.var()));
        if matches!(lie, Lie::Side(_)) { at + 1 == next_at } else { at == next_at && mask < next_mask }
    }
}

/// Records an event that is no plain access. The payload of the record is the event's number, where there is room for
/// it; else its call context is.
#[allow(clippy::too_many_arguments)]
fn synchronise(
    trace: &Trace,
    lie: Lie,
    event: Event,
    e: usize,
    filter: &Owned,
    recorder: &mut Recorder,
    sink: &mut Records,
    cells: &Cells,
    slots: &Slots,
) {
    let number = e as u64;
    match event.op() {
        op if op.is_atomic() => {
            let (at, _) = word(lie, &trace.names, event.var());
            let (Look { kind, aux, value, address: of }, is_unchanging) = look(trace, e);
            let act = || Atomic { kind, aux, value, is_unchanging, result: () };
            // Here the call context is the event's number.
            recorder.atomic(filter, sink, &[(cells.cell(at), address(at))], of, e as u32, act);
        }
        Op::Alloc => {
            let (at, _) = word(lie, &trace.names, event.var());
            // What gave the memory back, unseen.
            recorder.timed(sink, head(Kind::ThreadStart, 0, 0), 0, Some(0));
            recorder.allocated(sink, number, 8, 0);
            if e.is_multiple_of(2) || !recorder.alloc_at_once(filter, cells.cell(at)) {
                recorder.alloc(filter, sink, cells.cell(at), || false, address(at));
            }
        }
        Op::Free => {
            let (at, _) = word(lie, &trace.names, event.var());
            if e.is_multiple_of(2) || !recorder.free_at_once(filter, cells.cell(at)) {
                recorder.free(filter, sink, cells.cell(at), || false, address(at));
            }
            recorder.timed(sink, head(Kind::Free, 0, number), 0, Some(8));
        }
        Op::Fork => {
            let child = slots.of[event.child().index()] as u32;
            recorder.timed(sink, head(Kind::Fork, 0, number), 0, Some(u64::from(child)));
            recorder.fork(filter, child);
        }
        Op::Join => {}
        _ => recorder.timed(sink, head(Kind::Internal, 0, number), 0, Some(0)),
    }
}

/// The value of an atomic access that the trace does not know. An agent always knows it: a load whose value is known,
/// and one whose value is not, are not the same.
const UNKNOWN: u64 = u64::MAX;

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// An atomic access as its record has it, and whether it leaves memory as it is. Each variable has an address of its
/// own.
fn look(trace: &Trace, e: usize) -> (Look, bool) {
    let value = |event: Event| match trace.batch.extra(event).value {
        Value::Unknown => None,
        Value::Int(value) => Some(value as u64),
        other => Some(hash(&value_text(&trace.names, other))),
    };
    let event = trace.batch.events[e];
    let kind = match event.op() {
        Op::AtomicLoad => Kind::AtomicLoad,
        Op::AtomicStore => Kind::AtomicStore,
        _ => Kind::AtomicRmw,
    };
    let order = trace.batch.extra(event).order as u8;
    let look = Look { kind, aux: order, address: u64::from(event.object()), value: value(event).unwrap_or(UNKNOWN) };
    let is_write = |before: &&Event| {
        let is_access = before.op().space() == Some(Space::Var) && before.object() == event.object();
        is_access && !matches!(before.op(), Op::Read | Op::AtomicLoad)
    };
    let before = trace.batch.events[..e].iter().rfind(is_write).and_then(|&before| value(before));
    let repeats_value = kind == Kind::AtomicRmw && before.is_some() && before == value(event);
    (look, kind == Kind::AtomicLoad || repeats_value)
}

/// A try-lock that fails, and because of which section of its lock.
fn failure(trace: &Trace, e: usize) -> Look {
    let lock = trace.batch.events[e].object();
    let changes = |event: &&Event| {
        let is_wait = matches!(event.op(), Op::Wait | Op::Woken);
        let of = if is_wait { trace.batch.extra(**event).lock.0 } else { event.object() };
        (is_wait || event.op().space() == Some(Space::Lock)) && of == lock && event.op() != Op::TryFail
    };
    let section = trace.batch.events[..e].iter().filter(changes).count() as u64;
    Look { kind: Kind::TryFail, aux: 0, address: u64::from(lock), value: section }
}

/// Whether an atomic access need not be recorded.
fn is_repeated(trace: &Trace, lie: Lie, e: usize, recorder: &Recorder, cells: &Cells) -> bool {
    let (at, _) = word(lie, &trace.names, trace.batch.events[e].var());
    let (look, is_unchanging) = look(trace, e);
    is_unchanging && recorder.is_repeated(Some(cells.cell(at)), look)
}

/// The records as text again.
fn written(
    trace: &Trace,
    lie: Lie,
    all: &[Stands],
    Fates { kept, left_out, together }: Fates,
    slots: &Slots,
) -> Filtered {
    let (names, batch) = (&trace.names, &trace.batch);
    let mut text = String::new();
    for init in &batch.inits {
        writeln!(text, "#! init {}={}", names.str(init.name), value_text(names, init.value)).expect("a string");
    }
    let mut lines: Vec<(usize, String, Option<usize>)> = Vec::new();
    let vars = (0..names.space(Space::Var).len() as u32).map(VarId);
    let mut variables: Vec<(VarId, (usize, u8))> = vars.map(|var| (var, word(lie, names, var))).collect();
    // In the order in which `plain` has the parts of an access.
    variables.sort_by_key(|variable| variable.1);
    // Of the events of an access, that of one of its variables.
    let which = |mut events: Range<usize>, write: bool, var: VarId| {
        events.find(|&e| {
            let event = batch.events[e];
            event.op() == (if write { Op::Write } else { Op::Read }) && event.var() == var
        })
    };
    let (mut barriers, mut count) = (0, 0);
    for stands in all {
        let thread = match stands {
            Stands::OnTime(record) => slots.user(record.slot, record.sync_index),
            Stands::Deferred(deferred) => slots.user(deferred.slot, deferred.sync_index),
        };
        match stands {
            Stands::OnTime(record) => match record.kind {
                Kind::ThreadStart | Kind::ThreadEnd | Kind::Mark => {}
                Kind::ConflictRead | Kind::ConflictWrite => {
                    let write = record.kind == Kind::ConflictWrite;
                    for &(var, (at, mask)) in &variables {
                        if address(at) == record.payload && mask & record.aux != 0 {
                            let events = kept[&(record.slot, record.sync_index, u32::MAX)].clone();
                            let was = which(events, write, var);
                            lines.push((thread, access(names, write, var), was));
                        }
                    }
                }
                kind => {
                    let is_atomic = matches!(kind, Kind::AtomicLoad | Kind::AtomicStore | Kind::AtomicRmw);
                    let e = if is_atomic { record.context as usize } else { record.payload as usize };
                    lines.push((thread, op_text(trace, e), Some(e)));
                }
            },
            Stands::Deferred(deferred) => {
                barriers += usize::from(deferred.is_barrier);
                count += 1;
                let events = kept.get(&(deferred.slot, deferred.sync_index, deferred.seq));
                assert!(events.is_some() || deferred.is_barrier, "nothing was kept there: {deferred:?} {kept:?}");
                for &(var, (at, mask)) in &variables {
                    if address(at) == deferred.word && mask & deferred.mask != 0 {
                        if deferred.is_barrier {
                            let kind = if deferred.write { "pin" } else { "rpin" };
                            lines.push((thread, format!("{kind}({}", names.var(var)), None));
                        } else {
                            let was = events.and_then(|events| which(events.clone(), deferred.write, var));
                            lines.push((thread, access(names, deferred.write, var), was));
                        }
                    }
                }
            }
        }
    }
    let mut counts = BTreeMap::<usize, usize>::new();
    for (number, (thread, op, _)) in lines.iter().enumerate() {
        let count = counts.entry(*thread).or_default();
        let op = if op.starts_with("pin(") || op.starts_with("rpin(") { format!("{op},{count})") } else { op.clone() };
        *count += 1;
        writeln!(text, "{}|{op}|{number}", names.get(Space::Thread, *thread as u32)).expect("a string");
    }
    let was = lines.into_iter().map(|line| line.2).collect();
    let reused = slots.taken;
    Filtered { text, was, left_out, together, barriers, deferred: count, reused, looks: 0, handed: [0; 2] }
}

fn access(names: &event::Names, write: bool, var: VarId) -> String {
    format!("{}({})", if write { 'w' } else { 'r' }, names.var(var))
}

/// The operation of an event, as in the text it came from.
fn op_text(trace: &Trace, e: usize) -> String {
    event_text(&trace.names, &trace.batch, trace.batch.events[e])
}
