//! What calls tell (`weave`'s `concurrent.table` and `inside.table`), as numbers for the hooks: `Told.java` takes them apart.

use crate::machine::{Native, Reference, Tools};
use weave::{Call, Calls, ORDERS, Of, PLAIN, Told, Value, WORDS, When, Which};

/// Of what something is told, as packed: an entry, entries, an element, elements.
const KEY: i64 = 4;
const ELEMENTS: i64 = 7;
/// Each object of a collection.
const EACH: i64 = 11;

/// The names of a class, of those above it, and of their interfaces, the most special first.
pub(crate) fn types(tools: Tools, native: Native, class: Reference) -> Vec<Vec<u8>> {
    let mut names = Vec::new();
    let mut next = Some(class);
    while let Some(class) = next {
        let mut waiting = vec![class];
        while let Some(of) = waiting.pop() {
            if let Some(name) = tools.class_name(of)
                && !names.contains(&name)
            {
                names.push(name);
                waiting.extend(tools.interfaces(of));
            }
        }
        next = native.parent(class);
    }
    names
}

/// What is told before and after a call of a receiver with these types (none: a static method).
pub(crate) fn told(call: &Call, types: &[Vec<u8>]) -> (Vec<i64>, Vec<i64>) {
    let exact = types.iter().find_map(|name| call.rows.iter().find(|row| row.class.as_bytes() == name));
    let begins = |class: &str| {
        class.strip_suffix('*').is_some_and(|begin| types.iter().any(|name| name.starts_with(begin.as_bytes())))
    };
    let row = match exact {
        None if call.is_static || call.values().is_some() => call.rows.first(),
        None => {
            let is_plain = types.first().is_some_and(|name| Calls::all().is_plain(name));
            let plain = call.rows.iter().find(|row| is_plain && row.class == PLAIN);
            // The longest beginning says most.
            let special = |row: &&weave::Row| row.class.len();
            plain.or_else(|| call.rows.iter().filter(|row| begins(row.class)).max_by_key(special))
        }
        exact => exact,
    };
    let Some(row) = row else { return Default::default() };
    // Of an argument: what fits its class.
    let is_plain = types.first().is_some_and(|name| Calls::all().is_plain(name));
    let fits = |told: &&Told| match told.what {
        "read" | "write" => !call.is_static || is_plain,
        "post" | "await" => !call.is_static || !is_plain,
        _ => true,
    };
    let fitting = |all: &[Told]| column(&all.iter().filter(fits).copied().collect::<Vec<_>>());
    (fitting(&row.before), fitting(&row.after))
}

/// The word `unseen`.
pub(crate) const UNSEEN: i64 = 32;

/// Whether something is told of a part of a collection: the rest of what it does is not told.
pub(crate) fn is_of_part(packed: i64) -> bool {
    (KEY..=ELEMENTS).contains(&(packed >> 8 & 0xf))
}

/// All that is told at once. What is told of an entry or an element is not told of the whole once more: who asks for that is told of all entries.
fn column(all: &[Told]) -> Vec<i64> {
    let is_part = |told: &Told| matches!(told.of, Of::Key(_) | Of::Keys(_) | Of::Element(_) | Of::Elements(_));
    let is_needless = |told: &&Told| told.what == "post" && told.of == Of::Receiver && all.iter().any(is_part);
    all.iter().filter(|told| !is_needless(told)).map(packed).collect()
}

/// Bits 0..8: the word; 8..12: of what; 12: of the result; 13..16: when; 16..20: the memory order; 20..24: the value; 24..32: how much more that is.
pub(crate) fn packed(told: &Told) -> i64 {
    let position = |list: &[&str], of: &str| list.iter().position(|&word| word == of).unwrap_or(0) as i64;
    let result = |which: Which| i64::from(which == Which::Result);
    let (of, is_result) = match told.of {
        Of::Receiver | Of::Field(_, false) => (0, 0),
        Of::Field(_, true) => (EACH, 0),
        Of::Each(which) => (EACH, result(which)),
        Of::Object(which) => (1, result(which)),
        Of::Variable => (2, 0),
        Of::Thread => (3, 0),
        Of::This => (8, 0),
        Of::All => (9, 0),
        Of::Back => (10, 0),
        Of::Key(which) => (KEY, result(which)),
        Of::Keys(which) => (5, result(which)),
        Of::Element(which) => (6, result(which)),
        Of::Elements(which) => (ELEMENTS, result(which)),
    };
    let when = match told.when {
        When::Always => 0,
        When::True => 1,
        When::False => 2,
        When::Negative => 3,
    };
    let (value, more) = match told.value {
        None => (0, 0),
        Some(Value::Argument(_) | Value::Last) => (1, 0),
        Some(Value::Result) => (2, 0),
        Some(Value::ResultPlus(more)) => (2, more),
        Some(Value::ResultPlusArgument(_)) => (3, 0),
    };
    // As `event::Order` numbers them.
    let order = match ORDERS[position(&ORDERS, told.order) as usize] {
        "relaxed" => 1,
        "acquire" => 2,
        "release" => 3,
        "acqrel" => 4,
        _ => 0,
    };
    let word = position(&WORDS, told.what) + 1;
    word | of << 8 | is_result << 12 | when << 13 | order << 16 | value << 20 | i64::from(more as u8) << 24
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str, descriptor: &str, types: &[&str]) -> (Vec<i64>, Vec<i64>) {
        let call = Calls::all().calls.iter().find(|call| call.name == name && call.descriptor == descriptor);
        told(call.expect("in the table"), &types.iter().map(|name| name.as_bytes().to_vec()).collect::<Vec<_>>())
    }

    #[test]
    fn unseen_has_its_number() {
        assert_eq!(WORDS[UNSEEN as usize - 1], "unseen");
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
