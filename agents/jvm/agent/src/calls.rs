//! The effects of calls (`concurrent.table` and `inside.table` of `weave`), packed into numbers that `Effect.java`
//! takes apart.

use crate::machine::{Jni, Jvmti, Reference};
use weave::{Call, Calls, Condition, EFFECT_KINDS, Effect, ORDERS, Operand, PLAIN, Target, Value, leaves_elements};

/// Targets, as packed: the first and the last that is an entry of the receiver.
const KEY: i64 = 4;
const ELEMENTS: i64 = 7;
/// The target that is each object of a collection.
const EACH: i64 = 11;

/// The names of a class, its super classes, and their interfaces, the most specific first.
pub(crate) fn types(jvmti: Jvmti, jni: Jni, class: Reference) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    let mut next = Some(class);
    while let Some(class) = next {
        let mut waiting = vec![class];
        while let Some(of) = waiting.pop() {
            if let Some(name) = jvmti.class_name(of)
                && !names.contains(&name)
            {
                names.push(name);
                waiting.extend(jvmti.interfaces(of));
            }
        }
        next = jni.parent(class);
    }
    names
}

/// The effects before and after a call on a receiver with these types (none: a static method).
pub(crate) fn effects(call: &Call, types: &[Vec<u8>]) -> (Vec<i64>, Vec<i64>) {
    let exact = types.iter().find_map(|name| call.rows.iter().find(|row| row.class.as_bytes() == name));
    let begins = |class: &str| {
        class.strip_suffix('*').is_some_and(|begin| types.iter().any(|name| name.starts_with(begin.as_bytes())))
    };
    let row = match exact {
        None if call.is_static || call.values().is_some() => call.rows.first(),
        None => {
            let is_plain = types.first().is_some_and(|name| Calls::all().is_plain(name));
            let plain = call.rows.iter().find(|row| is_plain && row.class == PLAIN);
            // The longest prefix is the most specific.
            let special = |row: &&weave::Row| row.class.len();
            plain.or_else(|| call.rows.iter().filter(|row| begins(row.class)).max_by_key(special))
        }
        exact => exact,
    };
    let Some(row) = row else { return Default::default() };
    // For a static method, the class of the argument decides which effects fit.
    let is_plain = types.first().is_some_and(|name| Calls::all().is_plain(name));
    let fits = |effect: &&Effect| match effect.kind {
        "read" | "write" => !call.is_static || is_plain,
        "post" | "await" => !call.is_static || !is_plain,
        _ => true,
    };
    let fitting = |all: &[Effect]| column(&all.iter().filter(fits).copied().collect::<Vec<_>>());
    (fitting(&row.before), fitting(&row.after))
}

/// The number of the effect kind `unseen`.
pub(crate) const UNSEEN: i64 = 32;

/// Whether an effect is on an entry of a collection: what the call does beyond that is not known.
pub(crate) fn is_of_part(packed: i64) -> bool {
    (KEY..=ELEMENTS).contains(&(packed >> 8 & 0xf))
}

/// Whether a call uses elements of a list that its row does not name: a `set` of one is no write of the list.
pub(crate) fn uses_elements(call: &Call, types: &[Vec<u8>]) -> bool {
    let is_list = types.iter().any(|name| name == b"java/util/List");
    is_list && types.first().is_some_and(|name| Calls::all().is_plain(name)) && !leaves_elements(call.name.as_bytes())
}

/// Packs a column. An effect on an entry makes a post of the whole needless: an await of the whole awaits all
/// entries.
fn column(all: &[Effect]) -> Vec<i64> {
    let is_part = |effect: &Effect| {
        matches!(effect.target, Target::Key(_) | Target::Keys(_) | Target::Element(_) | Target::Elements(_))
    };
    let is_needless =
        |effect: &&Effect| effect.kind == "post" && effect.target == Target::Receiver && all.iter().any(is_part);
    all.iter().filter(|effect| !is_needless(effect)).map(packed).collect()
}

/// The number of an effect kind; 0: there is none of this name.
fn kind_number(kind: &str) -> i64 {
    EFFECT_KINDS.iter().find(|(word, _)| *word == kind).map_or(0, |&(_, number)| number.into())
}

/// Packs an effect. `Effect.java` draws the bits.
pub(crate) fn packed(effect: &Effect) -> i64 {
    let position = |list: &[&str], of: &str| list.iter().position(|&word| word == of).unwrap_or(0) as i64;
    let result = |which: Operand| i64::from(which == Operand::Result);
    let (of, is_result) = match effect.target {
        Target::Receiver | Target::Field(_, false) => (0, 0),
        Target::Field(_, true) => (EACH, 0),
        Target::Each(which) => (EACH, result(which)),
        Target::Object(which) => (1, result(which)),
        Target::Variable => (2, 0),
        Target::Thread => (3, 0),
        Target::This => (8, 0),
        Target::All => (9, 0),
        Target::Back => (10, 0),
        Target::Key(which) => (KEY, result(which)),
        Target::Keys(which) => (5, result(which)),
        Target::Element(which) => (6, result(which)),
        Target::Elements(which) => (ELEMENTS, result(which)),
    };
    let when = match effect.condition {
        Condition::Always => 0,
        Condition::True => 1,
        Condition::False => 2,
        Condition::Negative => 3,
    };
    let (value, more) = match effect.value {
        None => (0, 0),
        Some(Value::Argument(_) | Value::Last) => (1, 0),
        Some(Value::Result) => (2, 0),
        Some(Value::ResultPlus(more)) => (2, more),
        Some(Value::ResultPlusArgument(_)) => (3, 0),
    };
    // As `event::Order` numbers them.
    let order = match ORDERS[position(&ORDERS, effect.order) as usize] {
        "relaxed" => 1,
        "acquire" => 2,
        "release" => 3,
        "acqrel" => 4,
        _ => 0,
    };
    kind_number(effect.kind)
        | of << 8
        | is_result << 12
        | when << 13
        | order << 16
        | value << 20
        | i64::from(more as u8) << 24
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, descriptor: &str, types: &[&str]) -> (Vec<i64>, Vec<i64>) {
        let call = Calls::all().calls.iter().find(|call| call.name == name && call.descriptor == descriptor);
        effects(call.expect("in the table"), &types.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn unseen_has_its_number() {
        assert_eq!(kind_number("unseen"), UNSEEN);
    }

    #[test]
    fn the_most_special_row_is_meant() {
        let acquire =
            of("lock", "()V", &["java/util/concurrent/locks/ReentrantLock", "java/util/concurrent/locks/Lock"]);
        assert_eq!(acquire, (vec![], vec![1]));
        let read = ["java/util/concurrent/locks/ReentrantReadWriteLock$ReadLock", "java/util/concurrent/locks/Lock"];
        assert_eq!(of("lock", "()V", &read), (vec![], vec![4]));
        assert_eq!(of("lock", "()V", &["com/example/Door"]), (vec![], vec![]));
    }
}
