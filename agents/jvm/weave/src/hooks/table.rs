//! The table of calls that synchronise (`concurrent.table`): which of them have hooks, and what these tell.
//!
//! Which row a call is of is known when it is made, by the class of the receiver. So those with one name and type are a [`Call`], and all of its rows are asked.

use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// The table, as text: it says itself how it is to be read.
const TABLE: &str = include_str!("concurrent.table");

/// What is told of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Told {
    /// What: `acq`, `rel` and so on.
    pub what: &'static str,
    /// Of what.
    pub of: Of,
    /// Only if the result is true, or not null.
    pub if_true: bool,
}

/// Of what something is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    /// Of the object that is called.
    Receiver,
    /// Of an argument; the first is 1.
    Argument(u8),
    /// Of what is returned.
    Result,
}

/// A row of the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Row {
    /// The class of the receivers.
    pub class: &'static str,
    /// What is told before it.
    pub before: Option<Told>,
    /// What is told after it.
    pub after: Option<Told>,
}

/// Calls of one name and type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The name of the method.
    pub name: &'static str,
    /// Its type.
    pub descriptor: &'static str,
    /// What is told, by the class of the receiver.
    pub rows: Vec<Row>,
}

/// All of them.
#[derive(Default, Debug)]
pub struct Calls {
    /// By their numbers.
    pub calls: Vec<Call>,
    by_name: FxHashMap<(&'static str, &'static str), usize>,
    classes: FxHashSet<&'static str>,
}

impl Calls {
    /// Those of the table.
    pub fn all() -> &'static Calls {
        static ALL: LazyLock<Calls> = LazyLock::new(|| Calls::read(TABLE));
        &ALL
    }

    fn read(table: &'static str) -> Calls {
        let mut all = Calls::default();
        for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["=", class, same] => {
                    all.classes.extend([class, same]);
                }
                [class, name, descriptor, before, after] => {
                    let number = *all.by_name.entry((name, descriptor)).or_insert(all.calls.len());
                    if number == all.calls.len() {
                        all.calls.push(Call { name, descriptor, rows: Vec::new() });
                    }
                    all.classes.insert(class);
                    all.calls[number].rows.push(Row { class, before: told(before), after: told(after) });
                }
                _ => unreachable!("a test reads the whole table"),
            }
        }
        all
    }

    /// The number of the calls that one of a method of this class is of.
    pub(crate) fn find(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<usize> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let &number = self.by_name.get(&(text(name)?, text(descriptor)?))?;
        let class = text(class)?;
        let is_jdk = ["java/", "javax/", "jdk/", "sun/", "com/sun/"].iter().any(|prefix| class.starts_with(prefix));
        (!is_jdk || self.classes.contains(class)).then_some(number)
    }
}

fn told(text: &'static str) -> Option<Told> {
    if text == "-" {
        return None;
    }
    let (text, if_true) = text.strip_suffix('?').map_or((text, false), |text| (text, true));
    let (what, of) = match text.split_once('@') {
        None => (text, Of::Receiver),
        Some((what, "=")) => (what, Of::Result),
        Some((what, number)) => (what, Of::Argument(number.parse().unwrap_or(0))),
    };
    Some(Told { what, of, if_true })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::{Kind, of_method};

    #[test]
    fn the_table_makes_sense() {
        const WORDS: &str = "acq rel tacq racq rrel rtacq wait woken notify notifyall post await up down tdown";
        let all = Calls::all();
        assert!(all.calls.len() > 10);
        for call in &all.calls {
            let (arguments, result) = of_method(call.descriptor.as_bytes()).expect("a method's type");
            for row in &call.rows {
                assert!(row.before.is_some() || row.after.is_some(), "{call:?}");
                assert!(row.before.is_none_or(|told| !told.if_true && told.of != Of::Result), "{call:?}");
                for told in [row.before, row.after].into_iter().flatten() {
                    assert!(WORDS.split(' ').any(|word| word == told.what), "{call:?}");
                    let is_fit = match told.of {
                        Of::Receiver => true,
                        Of::Result => Kind::of(result) == Kind::Object,
                        Of::Argument(number) => {
                            let argument = usize::from(number).checked_sub(1).and_then(|index| arguments.get(index));
                            argument.is_some_and(|argument| Kind::of(argument) == Kind::Object)
                        }
                    };
                    assert!(is_fit, "{call:?}");
                    assert!(!told.if_true || result == b"Z" || Kind::of(result) == Kind::Object, "{call:?}");
                }
            }
            let classes: FxHashSet<&str> = call.rows.iter().map(|row| row.class).collect();
            assert_eq!(classes.len(), call.rows.len(), "{call:?}");
        }
    }

    #[test]
    fn calls_are_found() {
        let find = |class: &str, name: &str, descriptor: &str| {
            Calls::all().find(class.as_bytes(), name.as_bytes(), descriptor.as_bytes())
        };
        let lock = find("java/util/concurrent/locks/Lock", "lock", "()V");
        assert!(lock.is_some());
        // The program's own may be one.
        assert_eq!(find("com/example/Door", "lock", "()V"), lock);
        assert_eq!(find("java/util/concurrent/locks/ReentrantLock", "lock", "()V"), lock);
        assert_eq!(find("java/nio/channels/FileChannel", "lock", "()V"), None);
        assert_eq!(find("com/example/Door", "lock", "(I)V"), None);
    }
}
