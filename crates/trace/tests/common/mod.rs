//! Shared by the tests of all formats: arbitrary traces with every operation, and traces put into words to compare
//! them.
#![allow(dead_code, reason = "each test uses its part")]

use event::{
    Batch, Event, Extra, Id, Init, LockId, Meta, Names, Op, Order, SiteId, Space, StackId, StrId, ThreadId, Value, Wake,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// What arbitrary traces may contain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Config {
    /// Names of any characters, and none at all; otherwise names as recorders give them.
    pub(crate) hostile: bool,
    /// Call stacks, which not every format holds.
    pub(crate) stacks: bool,
    /// At most this many events.
    pub(crate) events: usize,
}

/// A trace in memory, as one batch.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub(crate) names: Names,
    pub(crate) meta: Meta,
    pub(crate) batch: Batch,
}

/// Names that formats are likely to get wrong.
const TRICKY: &[&str] = &[
    "",
    "\\",
    "\\e",
    "\\\\e",
    "\\x7c",
    "\\x7C",
    "\\x5cx7c",
    "\\xc2\\xa0",
    "\\xc2",
    "\\x",
    "\\x0",
    "|",
    ")",
    "(",
    ",",
    "a,b",
    "a b",
    " ",
    "#",
    "#x",
    "#! init x=0",
    "=",
    "a=b",
    "@",
    "x@acquire",
    "?",
    "\0",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{85}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    "\u{feff}T1",
    "\u{200b}",
    "\u{10ffff}",
    "T1|r(x)|3",
    "operator()(int, int)",
    "größe",
    "\"",
    "\\\"",
    "\\n",
    "dummy",
    "init",
    "-0.0",
    "sixteen_bytes_16",
    "seventeen_bytes17",
    "eight__8",
    "nine____9",
];

fn name(hostile: bool) -> BoxedStrategy<String> {
    if hostile {
        prop_oneof![
            3 => prop::sample::select(TRICKY).prop_map(str::to_owned),
            2 => any::<String>(),
            2 => "[\\\\xce0279a8f|),#= \n\u{a0}\u{85}é]{0,12}",
            1 => "[a-zA-Z0-9_]{1,40}",
        ]
        .boxed()
    } else {
        "[a-zA-Z_][a-zA-Z0-9_.$@:\\[\\]]{0,20}".boxed()
    }
}

/// A value whose strings are indexes into the pool of names.
#[derive(Clone, Debug)]
enum Draft {
    Plain(Value),
    Str(usize),
}

fn value() -> impl Strategy<Value = Draft> {
    const EDGES: &[i64] = &[i64::MIN, -1, 0, 1, i64::MAX];
    const REALS: &[f64] = &[0.0, -0.0, 1.0, 0.1, 1e300, -5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
    prop_oneof![
        2 => Just(Draft::Plain(Value::Unknown)),
        1 => any::<bool>().prop_map(|b| Draft::Plain(Value::Bool(b))),
        2 => any::<i64>().prop_map(|i| Draft::Plain(Value::Int(i))),
        1 => prop::sample::select(EDGES).prop_map(|i| Draft::Plain(Value::Int(i))),
        // Every pattern of bits, so that NaNs with a sign and a payload are among them.
        1 => any::<u64>().prop_map(|bits| Draft::Plain(Value::Real(f64::from_bits(bits)))),
        1 => prop::sample::select(REALS).prop_map(|r| Draft::Plain(Value::Real(r))),
        2 => any::<usize>().prop_map(Draft::Str),
    ]
}

#[derive(Clone, Debug)]
struct EventDraft {
    op: Op,
    thread: usize,
    object: usize,
    lock: usize,
    site: usize,
    value: Draft,
    order: Order,
    wake: Wake,
    args: Vec<Draft>,
    stack: usize,
    inexact: bool,
}

fn event() -> impl Strategy<Value = EventDraft> {
    let parts = (
        (prop::sample::select(Op::ALL), any::<usize>(), any::<usize>(), any::<usize>(), any::<usize>()),
        value(),
        prop::sample::select(&Order::ALL[..]),
        prop::sample::select(&Wake::ALL[..]),
        vec(value(), 0..4),
        any::<usize>(),
        prop::bool::weighted(0.1),
    );
    parts.prop_map(|((op, thread, object, lock, site), value, order, wake, args, stack, inexact)| EventDraft {
        op,
        thread,
        object,
        lock,
        site,
        value,
        order,
        wake,
        args,
        stack,
        inexact,
    })
}

/// Arbitrary traces with every operation. Extras hold only what their operation can have.
pub(crate) fn arbitrary_batch(config: Config) -> impl Strategy<Value = Sample> {
    let inits = vec((any::<usize>(), any::<usize>(), value()), 0..6);
    (vec(name(config.hostile), 1..12), vec(event(), 0..=config.events), inits)
        .prop_map(move |(pool, events, inits)| build(config, &pool, &events, &inits))
}

fn build(config: Config, pool: &[String], events: &[EventDraft], inits: &[(usize, usize, Draft)]) -> Sample {
    let mut names = Names::default();
    let mut meta = Meta::default();
    let mut batch = Batch::default();
    let pick = |index: usize| pool[index % pool.len()].as_str();
    let add = |names: &mut Names, space: Space, index: usize| names.add(space, pick(index)).expect("room");
    let fix = |names: &mut Names, draft: &Draft| match *draft {
        Draft::Plain(value) => value,
        Draft::Str(index) => Value::Str(StrId::from_index(add(names, Space::Str, index) as usize)),
    };
    for draft in events {
        let op = draft.op;
        let thread = ThreadId(add(&mut names, Space::Thread, draft.thread));
        let object = op.space().map_or(0, |space| add(&mut names, space, draft.object));
        let site = SiteId(add(&mut names, Space::Site, draft.site));
        let mut extra = Extra { inexact: draft.inexact, ..Extra::default() };
        if op.has_value() {
            extra.value = fix(&mut names, &draft.value);
        }
        if op.has_order() {
            extra.order = draft.order;
        }
        if op.has_number() {
            extra.value = Value::Int((draft.lock >> 1) as i64);
        }
        if op.has_lock_argument() {
            extra.lock = LockId(add(&mut names, Space::Lock, draft.lock));
        }
        if op.has_arguments() && !draft.args.is_empty() {
            extra.args_start = batch.args.len() as u32;
            extra.args_len = draft.args.len() as u16;
            for arg in &draft.args {
                let arg = fix(&mut names, arg);
                batch.args.push(arg);
            }
        }
        if op.has_wake_reason() {
            extra.wake = draft.wake;
        }
        if config.stacks && draft.stack % 3 == 0 {
            let caller = StackId((draft.stack % meta.stacks.len()) as u32);
            extra.stack = meta.stacks.push(site, caller).expect("a caller that exists");
        }
        let extra = batch.add_extra(extra);
        batch.events.push(Event::with_extra(thread, op, object, site, extra));
    }
    let mut inits: Vec<_> = inits.iter().map(|(at, name, value)| (at % (events.len() + 1), *name, value)).collect();
    inits.sort_by_key(|&(at, ..)| at);
    for (at, name, value) in inits {
        let name = StrId::from_index(add(&mut names, Space::Str, name) as usize);
        let value = fix(&mut names, value);
        batch.inits.push(Init { before: at as u32, name, value });
    }
    Sample { names, meta, batch }
}

/// A value in words.
pub(crate) fn value_in_words(names: &Names, value: Value) -> String {
    match value {
        Value::Str(id) => format!("{:?}", names.str(id)),
        Value::Real(real) if real.is_nan() => format!("NaN {:x}", real.to_bits()),
        Value::Real(real) => format!("{real:?}"),
        Value::Int(int) => int.to_string(),
        Value::Bool(truth) => truth.to_string(),
        Value::Unknown => "?".into(),
    }
}

/// Everything that the events and initial values of a batch say, one item an event or value, whatever their numbers.
pub(crate) fn in_words(names: &Names, batch: &Batch) -> Vec<String> {
    let mut words = Vec::new();
    let mut inits = batch.inits.iter().peekable();
    let init_in_words = |i: &Init| format!("init {:?} {}", names.str(i.name), value_in_words(names, i.value));
    for (index, &event) in batch.events.iter().enumerate() {
        while let Some(init) = inits.next_if(|init| init.before as usize <= index) {
            words.push(init_in_words(init));
        }
        let (op, extra) = (event.op(), batch.extra(event));
        let mut line = format!("{:?} {op:?}", names.thread(event.thread()));
        if let Some(space) = op.space() {
            line += &format!(" {:?}", names.get(space, event.object()));
        }
        if op.has_lock_argument() {
            line += &format!(" lock {:?}", names.lock(extra.lock));
        }
        if extra.value.is_known() {
            line += &format!(" = {}", value_in_words(names, extra.value));
        }
        if extra.order != Order::SeqCst {
            line += &format!(" {:?}", extra.order);
        }
        if extra.wake != Wake::Notified {
            line += &format!(" {:?}", extra.wake);
        }
        if extra.inexact {
            line += " inexact";
        }
        for &arg in batch.args(event) {
            line += &format!(" arg {}", value_in_words(names, arg));
        }
        words.push(format!("{line} at {:?}", names.site(event.site())));
    }
    words.extend(inits.map(init_in_words));
    words
}
