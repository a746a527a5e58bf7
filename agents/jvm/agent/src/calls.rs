//! What calls of the table tell (`weave`'s `concurrent.table`), as numbers for the hooks.

use crate::machine::{Native, Reference, Tools};
use weave::{Call, Told};

/// The words, by their numbers (from 1) in `Calls.java`.
const WORDS: [&str; 15] = [
    "acq",
    "rel",
    "tacq",
    "racq",
    "rrel",
    "rtacq",
    "wait",
    "woken",
    "notify",
    "notifyall",
    "post",
    "await",
    "up",
    "down",
    "join",
];

/// The names of a class, of those above it, and of their interfaces.
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

/// What is told before (bits 0..8: the word, + 128 if only when the result is true) and after (bits 16..24) a call of a receiver with these types.
pub(crate) fn told(call: &Call, types: &[Vec<u8>]) -> i64 {
    let row = types.iter().find_map(|name| call.rows.iter().find(|row| row.class.as_bytes() == name));
    let Some(row) = row else { return 0 };
    let code = |told: Option<Told>| {
        let Some(told) = told else { return 0 };
        let word = WORDS.iter().position(|&word| word == told.what).map_or(0, |at| at as i64 + 1);
        word | i64::from(told.if_true) << 7
    };
    code(row.before) | code(row.after) << 16
}
