//! Tests that numbers which Java and Rust both write down agree. They read the sources of the agent's classes as
//! text.

use crate::call_contexts::CALLED;
use crate::calls::packed;
use crate::classes::variable;
use crate::session::BLOCKS;
use runtime::java::{GUESSED, SITES};
use runtime::record::{CONTEXT_BITS, Class, Kind, MOST_BETWEEN, SEEN_SLOT_BITS, TextFor, ValueOf};
use weave::{CELL, CELL_WORDS, Condition, EFFECT_KINDS, Effect, ORDERS, Operand, THREAD_STATE, Target, Value};

const RECORD: &str = include_str!("../java/foretrace/agent/Record.java");
const RECORD_WRITER: &str = include_str!("../java/foretrace/agent/RecordWriter.java");
const DEFERRED_ACCESS: &str = include_str!("../java/foretrace/agent/DeferredAccess.java");
const EFFECT_RECORDER: &str = include_str!("../java/foretrace/agent/EffectRecorder.java");
const CALL_CONTEXTS: &str = include_str!("../java/foretrace/agent/CallContexts.java");
const CELLS: &str = include_str!("../java/foretrace/agent/Cells.java");
const ENTRIES: &str = include_str!("../java/foretrace/agent/EntrySync.java");
const HELD: &str = include_str!("../java/foretrace/agent/HeldLocks.java");
const LAST_WAITS: &str = include_str!("../java/foretrace/agent/LastWaits.java");
const LOCKS: &str = include_str!("../java/foretrace/agent/Locks.java");
const MONITORS: &str = include_str!("../java/foretrace/agent/Monitors.java");
const NATIVE: &str = include_str!("../java/foretrace/agent/Native.java");
const SITES_JAVA: &str = include_str!("../java/foretrace/agent/Sites.java");
const HOOKS_JAVA: &str = include_str!("../java/foretrace/agent/Hooks.java");
const EFFECT: &str = include_str!("../java/foretrace/agent/Effect.java");

/// Names and values.
type Constants = Vec<(&'static str, i64)>;

/// The constants of a source that are whole numbers, grouped as they are declared. Expressions that are not
/// understood are left out.
fn declarations(source: &'static str) -> Vec<Constants> {
    let mut known = Constants::new();
    let mut all = Vec::new();
    for declaration in source.split("static final ").skip(1) {
        let Some((kind, rest)) = declaration.split_once(' ') else { continue };
        if kind != "int" && kind != "long" {
            continue;
        }
        let list = rest.split(';').next().unwrap_or_default().split(',');
        let begin = known.len();
        for (name, value) in list.filter_map(|one| one.split_once('=')) {
            known.extend(value_of(value.trim(), &known).map(|value| (name.trim(), value)));
        }
        all.push(known[begin..].to_vec());
    }
    all
}

/// The value of an expression of numbers, names, `+` and `<<`.
fn value_of(text: &str, known: &[(&str, i64)]) -> Option<i64> {
    if let Some((value, bits)) = text.split_once(" << ") {
        return value_of(value, known)?.checked_shl(u32::try_from(value_of(bits, known)?).ok()?);
    }
    if let Some((one, other)) = text.split_once(" + ") {
        return Some(value_of(one, known)? + value_of(other, known)?);
    }
    let named = known.iter().find(|(name, _)| *name == text).map(|&(_, value)| value);
    named.or_else(|| text.strip_suffix('L').unwrap_or(text).parse().ok())
}

/// All constants that are declared together with one.
fn beside(source: &'static str, name: &str) -> Constants {
    let found = declarations(source).into_iter().find(|all| all.iter().any(|(of, _)| *of == name));
    found.unwrap_or_else(|| panic!("there is no {name}"))
}

fn constant(source: &'static str, name: &str) -> i64 {
    let found = beside(source, name).into_iter().find(|(of, _)| *of == name);
    found.map(|(_, value)| value).expect("it was found")
}

/// `READ_ACQUIRE` as `ReadAcquire`.
fn camel(name: &str) -> String {
    name.split('_').map(|word| format!("{}{}", &word[..1], word[1..].to_ascii_lowercase())).collect()
}

#[test]
fn sources_are_understood() {
    let all =
        declarations("private static final int A = 3, B = 1 << A,\n C = A + 20; static final long D = 1L << C + 2;");
    assert_eq!(all, [vec![("A", 3), ("B", 8), ("C", 23)], vec![("D", 1 << 25)]]);
    assert_eq!(camel("NOTIFY_ALL"), "NotifyAll");
}

#[test]
fn kinds_of_effects_have_their_numbers() {
    let java = beside(EFFECT, "ACQ").into_iter().map(|(name, number)| (name.replace('_', "").to_lowercase(), number));
    let rust = EFFECT_KINDS.iter().map(|&(word, number)| (word.to_owned(), i64::from(number)));
    assert_eq!(java.collect::<Vec<_>>(), rust.collect::<Vec<_>>());
}

#[test]
fn effects_are_packed_as_they_are_unpacked() {
    let plain = Effect {
        kind: "acq",
        order: "seqcst",
        target: Target::Receiver,
        value: None,
        condition: Condition::Always,
        is_thrown: false,
    };
    let part = |effect: Effect, bits: u32, mask: i64| packed(&effect) >> bits & mask;
    let argument = Operand::Argument(1);
    let targets = [
        ("RECEIVER", Target::Receiver),
        ("OBJECT", Target::Object(argument)),
        ("VARIABLE", Target::Variable),
        ("THREAD", Target::Thread),
        ("KEY", Target::Key(argument)),
        ("KEYS", Target::Keys(argument)),
        ("ELEMENT", Target::Element(argument)),
        ("ELEMENTS", Target::Elements(argument)),
        ("THIS", Target::This),
        ("ALL", Target::All),
        ("BACK", Target::Back),
        ("EACH", Target::Each(Operand::Result)),
    ];
    assert_eq!(
        beside(EFFECT, "RECEIVER"),
        targets.map(|(name, target)| (name, part(Effect { target, ..plain }, 8, 0xf)))
    );
    let conditions = [
        ("ALWAYS", Condition::Always),
        ("TRUE", Condition::True),
        ("FALSE", Condition::False),
        ("NEGATIVE", Condition::Negative),
    ];
    assert_eq!(
        beside(EFFECT, "ALWAYS"),
        conditions.map(|(name, condition)| (name, part(Effect { condition, ..plain }, 13, 7)))
    );
    let value = [
        ("NO_VALUE", None),
        ("ARGUMENT", Some(Value::Argument(1))),
        ("RESULT", Some(Value::Result)),
        ("BOTH", Some(Value::ResultPlusArgument(1))),
    ];
    assert_eq!(beside(EFFECT, "NO_VALUE"), value.map(|(name, value)| (name, part(Effect { value, ..plain }, 20, 0xf))));
    let orders = beside(EFFECT, "RELAXED");
    assert_eq!(orders.len(), ORDERS.len());
    for order in ORDERS {
        let number = part(Effect { order, ..plain }, 16, 0xf);
        assert!(orders.contains(&(&order.to_ascii_uppercase(), number)), "{order} = {number}");
    }
    assert_eq!(constant(HELD, "RELAXED"), constant(EFFECT, "RELAXED"));
}

#[test]
fn records_have_their_kinds() {
    for (name, code) in beside(RECORD, "FULL_TIME") {
        let same = match name {
            "READ" => "ConflictRead".to_owned(),
            "WRITE" => "ConflictWrite".to_owned(),
            "WATCHED_READ" => "WatchRead".to_owned(),
            "WATCHED_WRITE" => "WatchWrite".to_owned(),
            "LOAD" | "STORE" | "RMW" => format!("Atomic{}", camel(name)),
            "START" | "END" => format!("Thread{}", camel(name)),
            "LEAVE" => "End".to_owned(),
            _ => camel(name),
        };
        let kind = u8::try_from(code).ok().and_then(Kind::from_code);
        assert_eq!(kind.map(|kind| format!("{kind:?}")), Some(same), "{name} = {code}");
    }
    let texts = [
        ("THREAD_NAME", TextFor::ThreadName),
        ("LABEL", TextFor::Label),
        ("MISUSE_TEXT", TextFor::Misuse),
        ("ARGUMENT_TEXT", TextFor::Argument),
    ];
    assert_eq!(beside(RECORD, "THREAD_NAME"), texts.map(|(name, is)| (name, is as i64)));
    let values = [
        ("VALUE_UNKNOWN", ValueOf::Unknown),
        ("VALUE_INT", ValueOf::Int),
        ("VALUE_BOOL", ValueOf::Bool),
        ("VALUE_REAL", ValueOf::Real),
        ("VALUE_OBJECT", ValueOf::Object),
        ("VALUE_THREAD", ValueOf::Thread),
    ];
    assert_eq!(beside(RECORD, "VALUE_UNKNOWN"), values.map(|(name, is)| (name, is as i64)));
    let classes = [
        (MONITORS, "MUTEX", Class::Mutex),
        (MONITORS, "CONDITION", Class::Condition),
        (LOCKS, "RWLOCK", Class::RwLock),
        (EFFECT_RECORDER, "SEMAPHORE", Class::Semaphore),
        (ENTRIES, "LATCH", Class::Latch),
        (ENTRIES, "BARRIER", Class::Barrier),
        (ENTRIES, "BARRIER_STATE", Class::BarrierState),
    ];
    for (source, name, class) in classes {
        assert_eq!(constant(source, name), class as i64, "{name}");
    }
}

#[test]
fn words_have_room_for_what_there_is() {
    assert_eq!(constant(RECORD, "CONTEXT_BITS"), CONTEXT_BITS.into());
    assert_eq!(constant(CALL_CONTEXTS, "GUESSED"), GUESSED.into());
    assert_eq!(constant(RECORD_WRITER, "MOST_SINCE_FULL_TIME"), MOST_BETWEEN as i64);
    assert_eq!(1 << constant(DEFERRED_ACCESS, "SITE_BITS"), SITES);
    assert_eq!(1 << (64 - constant(DEFERRED_ACCESS, "BLOCK_SHIFT")), BLOCKS);
    assert_eq!(constant(LAST_WAITS, "SLOT_BITS"), SEEN_SLOT_BITS.into());
}

#[test]
fn the_library_is_asked_for_what_it_knows() {
    assert_eq!(constant(NATIVE, "CALLED") as i32, CALLED as i32);
    let variables = [
        ("NOTHING", variable::NOTHING),
        ("PLAIN", variable::PLAIN),
        ("VOLATILE", variable::VOLATILE),
        ("WATCHED", variable::WATCHED),
    ];
    for (name, is) in variables {
        assert_eq!(constant(CELLS, name), is as i64, "{name}");
    }
}

#[test]
fn added_fields_have_their_names() {
    let words: String = CELL_WORDS.iter().collect();
    assert!(SITES_JAVA.contains(&format!("\"{CELL}\" + number + \"{words}\".charAt(word)")));
    assert!(HOOKS_JAVA.contains(&format!("hide(Thread.class, java.util.Set.of(\"{THREAD_STATE}\"))")));
}

#[test]
fn plain_collections_are_those_of_the_table() {
    let source = include_str!("../java/foretrace/agent/PlainCollections.java");
    let listed = source.split("Set.of(").nth(1).and_then(|rest| rest.split(");").next()).expect("a list");
    let names: Vec<String> = listed.split('"').skip(1).step_by(2).map(|name| name.replace('.', "/")).collect();
    assert!(names.len() > 10);
    assert!(names.iter().all(|name| weave::Calls::all().is_plain(name.as_bytes())), "{names:?}");
    let table = include_str!("../../weave/src/hooks/concurrent.table").replace("\n    ", " ");
    let count = table.lines().filter_map(|line| line.strip_prefix("~= ")).flat_map(str::split_whitespace).count();
    assert_eq!(names.len(), count);
}
