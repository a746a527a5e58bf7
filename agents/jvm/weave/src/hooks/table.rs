//! The table of calls that synchronise (`concurrent.table`): which have hooks, and what their effects are.
//!
//! The class of the receiver decides which row applies, and it is known only when the call is made. So all calls of
//! one name and type are a [`Call`] with several rows. A static method, and a method of any type (`VarHandle`), has
//! one row.

use super::JDK;
use super::effect::{Effect, Target};
use super::rows::rows;
use crate::descriptor::of_method;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;

/// The table. Its head says how it is read.
const TABLE: &str = include_str!("concurrent.table");

/// A row of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// The class of the receivers. With `*` at its end, a prefix of their names.
    pub class: &'static str,
    /// Its effects before the call.
    pub before: Vec<Effect>,
    /// Its effects after the call.
    pub after: Vec<Effect>,
}

impl Row {
    /// All its effects.
    pub fn effects(&self) -> impl Iterator<Item = &Effect> {
        self.before.iter().chain(&self.after)
    }

    /// Whether the call may wait without a time limit.
    pub fn blocks(&self) -> bool {
        self.before.iter().any(|effect| effect.kind == "blocks")
    }

    /// Whether it has an effect on an entry of a collection before the call.
    pub fn names_entry(&self) -> bool {
        self.before.iter().any(|effect| {
            matches!(effect.target, Target::Key(_) | Target::Keys(_) | Target::Element(_) | Target::Elements(_))
        })
    }
}

/// Calls of one name and type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Call {
    /// The name of the method.
    pub name: &'static str,
    /// Its type. `*` and a digit: any type; so many of the last arguments are values, and those before them name a
    /// variable.
    pub descriptor: &'static str,
    /// Whether it is a static method.
    pub is_static: bool,
    /// The rows, by the class of the receiver.
    pub rows: Vec<Row>,
}

impl Call {
    /// The argument that rows name; the first is 1.
    pub fn argument(&self) -> Option<u8> {
        self.rows.iter().flat_map(Row::effects).find_map(|effect| effect.target.argument())
    }

    /// The argument whose value rows name.
    pub fn value(&self) -> Option<u8> {
        self.rows.iter().flat_map(Row::effects).find_map(Effect::value_argument)
    }

    /// How many arguments of a method of any type are values.
    pub fn values(&self) -> Option<usize> {
        self.descriptor.strip_prefix('*')?.parse().ok()
    }
}

/// The whole table.
#[derive(Default, Debug)]
pub struct Calls {
    /// All calls, by their numbers.
    pub calls: Vec<Call>,
    by_name: FxHashMap<(&'static str, &'static str), usize>,
    /// Static methods and those of any type, by class, name and type.
    of_class: FxHashMap<[&'static str; 3], usize>,
    classes: FxHashSet<&'static str>,
    /// Collections that do not synchronise.
    plain: FxHashSet<&'static str>,
}

/// The class of rows of collections that do not synchronise.
pub const PLAIN: &str = "~";

/// Whether a method of a list that does not synchronise neither reads nor writes its elements, or only the one that
/// its row names. Rows of other methods leave the elements out.
pub fn leaves_elements(method: &[u8]) -> bool {
    const STRUCTURE: [&[u8]; 11] = [
        b"size",
        b"isEmpty",
        b"add",
        b"addFirst",
        b"addLast",
        b"clear",
        b"get",
        b"subList",
        b"iterator",
        b"listIterator",
        b"stream",
    ];
    STRUCTURE.contains(&method)
}

impl Calls {
    /// Whether objects of exactly this class are collections that do not synchronise.
    pub fn is_plain(&self, class: &[u8]) -> bool {
        std::str::from_utf8(class).is_ok_and(|class| self.plain.contains(class))
    }

    /// The table.
    pub fn all() -> &'static Calls {
        static ALL: LazyLock<Calls> = LazyLock::new(|| Calls::read(TABLE));
        &ALL
    }

    fn read(table: &'static str) -> Calls {
        let mut all = Calls::default();
        for line in rows(table) {
            let mut words: Vec<&str> = line.split(' ').collect();
            // The first release with the method. In older releases it is not called, so the number is not needed.
            words.pop_if(|last| last.parse::<u16>().is_ok());
            match words[..] {
                ["=", ref classes @ ..] => all.classes.extend(classes),
                ["~=", ref classes @ ..] => all.plain.extend(classes),
                ["static", class, name, descriptor, before, after] => {
                    let number = all.number(class, name, descriptor, true);
                    all.add(number, class, before, after);
                }
                [class, name, descriptor, before, after] => {
                    let number = all.number(class, name, descriptor, false);
                    all.classes.insert(class);
                    all.add(number, class, before, after);
                }
                _ => unreachable!("a test reads the whole table: {line}"),
            }
        }
        all
    }

    fn number(&mut self, class: &'static str, name: &'static str, descriptor: &'static str, is_static: bool) -> usize {
        let new = self.calls.len();
        let number = if is_static || descriptor.starts_with('*') {
            // A method of any type is not looked up by its type.
            let descriptor = if is_static { descriptor } else { "*" };
            *self.of_class.entry([class, name, descriptor]).or_insert(new)
        } else {
            *self.by_name.entry((name, descriptor)).or_insert(new)
        };
        if number == new {
            self.calls.push(Call { name, descriptor, is_static, rows: Vec::new() });
        }
        number
    }

    fn add(&mut self, number: usize, class: &'static str, before: &'static str, after: &'static str) {
        let read = |column| Effect::column(column).unwrap_or_else(|| unreachable!("a test reads all: {column}"));
        self.calls[number].rows.push(Row { class, before: read(before), after: read(after) });
    }

    /// The number of the [`Call`] with a method, if it has a row for collections that do not synchronise.
    pub(super) fn plain(&self, name: &[u8], descriptor: &[u8]) -> Option<usize> {
        let [name, descriptor] = [name, descriptor].map(|bytes| std::str::from_utf8(bytes).ok());
        let &number = self.by_name.get(&(name?, descriptor?))?;
        self.calls[number].rows.iter().any(|row| row.class == PLAIN).then_some(number)
    }

    /// The number of the [`Call`] for a call of a method of this class.
    pub(crate) fn find(&self, class: &[u8], name: &[u8], descriptor: &[u8], is_static: bool) -> Option<usize> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        let (class, name, descriptor) = (text(class)?, text(name)?, text(descriptor)?);
        if is_static {
            return self.of_class.get(&[class, name, descriptor]).copied();
        }
        if let Some(&number) = self.of_class.get(&[class, name, "*"]) {
            return Some(number);
        }
        let &number = self.by_name.get(&(name, descriptor))?;
        // Every class has these methods.
        if matches!(name, "toString" | "hashCode") {
            // By an interface that does not declare them, they are called as those of `Object`.
            let is_any = class == "java/lang/Object" && name == "toString" || self.classes.contains(class);
            let is_row = |row: &Row| row.class == class || row.class == PLAIN && is_any;
            return self.calls[number].rows.iter().any(is_row).then_some(number);
        }
        let is_jdk = JDK.iter().any(|prefix| class.starts_with(prefix));
        (!is_jdk || self.classes.contains(class)).then_some(number)
    }
}

/// How the first arguments of a method of any type name a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum VariableKey {
    /// Not at all: it is a static field, or the handle itself says which.
    Nothing,
    /// By an object.
    Object,
    /// By an object and an index.
    Element,
}

impl VariableKey {
    /// How the arguments of a call of this type name the variable, if so many of them are values. None: in a way that
    /// is not known.
    pub(super) fn of(descriptor: &[u8], values: usize) -> Option<VariableKey> {
        let (arguments, _) = of_method(descriptor).ok()?;
        let is_object = |argument: &[u8]| matches!(argument.first(), Some(b'L' | b'['));
        match arguments.get(..arguments.len().checked_sub(values)?)? {
            [] => Some(VariableKey::Nothing),
            [object] if is_object(object) => Some(VariableKey::Object),
            [array, index] if is_object(array) && *index == b"I" => Some(VariableKey::Element),
            // Memory and a position in it. These do not say whether two positions are the same.
            [memory, at @ ..] if is_object(memory) && at.iter().all(|at| *at == b"J") => Some(VariableKey::Object),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::Kind;
    use crate::hooks::{Condition, Operand, Target, Value};

    #[test]
    fn the_head_explains_what_rows_use() {
        let head: Vec<&str> = TABLE.lines().take_while(|line| line.starts_with('#')).collect();
        let words: Vec<&str> = head.iter().flat_map(|line| line.split([' ', '`', ',', ':', '.'])).collect();
        let effects = || Calls::all().calls.iter().flat_map(|call| call.rows.iter().flat_map(Row::effects));
        let used = effects().flat_map(|effect| [effect.kind, effect.order]);
        let marks = ["~", "~=", "@!", "@<", "@*", "#=", "%=", "?", "?!", "&!"];
        let missing: Vec<&str> = used.chain(marks).filter(|word| !words.contains(word)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }

    #[test]
    fn the_table_makes_sense() {
        let all = Calls::all();
        assert!(all.calls.len() > 100);
        for call in &all.calls {
            let effects = || call.rows.iter().flat_map(Row::effects);
            assert!(call.rows.iter().all(|row| row.effects().next().is_some()), "{call:?}");
            assert!(
                call.rows.iter().flat_map(|row| &row.before).all(|effect| effect.condition == Condition::Always),
                "{call:?}"
            );
            // Hooks get one argument and one value.
            assert!(
                effects().filter_map(|effect| effect.target.argument()).all(|of| Some(of) == call.argument()),
                "{call:?}"
            );
            assert!(effects().filter_map(Effect::value_argument).all(|of| Some(of) == call.value()), "{call:?}");
            let classes: FxHashSet<&str> = call.rows.iter().map(|row| row.class).collect();
            assert_eq!(classes.len(), call.rows.len(), "{call:?}");
            let is_first = |row: &Row| row.effects().skip(1).all(|effect| effect.kind != "blocks");
            assert!(call.rows.iter().all(is_first), "{call:?}");
            assert!(!effects().any(|effect| effect.target == Target::This), "{call:?}");
            // When the call throws, there is no result, and arguments are not passed.
            let is_thrown = effects().any(|effect| effect.is_thrown);
            assert!(!is_thrown || call.argument().is_none() && call.value().is_none(), "{call:?}");
            if call.values().is_some() {
                assert!(effects().all(|effect| effect.target == Target::Variable), "{call:?}");
                continue;
            }
            let (arguments, result) = of_method(call.descriptor.as_bytes()).expect("a method's type");
            for effect in effects() {
                let of = effect.target.argument().map(|number| arguments[usize::from(number) - 1]);
                let is_index = effect.target == Target::Object(Operand::Argument(1)) && of == Some(b"I");
                assert!(of.is_none_or(|of| is_index || Kind::of(of) == Kind::Object), "{call:?}");
                assert!(effect.value_argument().is_none_or(|of| usize::from(of) <= arguments.len()), "{call:?}");
                let is_of_result = matches!(
                    effect.target,
                    Target::Object(Operand::Result) | Target::Key(Operand::Result) | Target::Element(Operand::Result)
                );
                assert!(!is_of_result || Kind::of(result) == Kind::Object, "{call:?}");
                assert!(effect.condition == Condition::Always || result != b"V", "{call:?}");
                assert!(effect.value != Some(Value::Result) || result != b"V", "{call:?}");
                assert!(effect.value != Some(Value::Last) && effect.target != Target::Variable, "{call:?}");
            }
        }
    }

    #[test]
    fn calls_are_found() {
        let find = |class: &str, name: &str, descriptor: &str, is_static| {
            Calls::all().find(class.as_bytes(), name.as_bytes(), descriptor.as_bytes(), is_static)
        };
        let lock = find("java/util/concurrent/locks/Lock", "lock", "()V", false);
        assert!(lock.is_some());
        // A class of the program may be a lock.
        assert_eq!(find("com/example/Door", "lock", "()V", false), lock);
        assert_eq!(find("java/util/concurrent/locks/ReentrantLock", "lock", "()V", false), lock);
        assert_eq!(find("java/nio/channels/FileChannel", "lock", "()V", false), None);
        assert_eq!(find("com/example/Door", "lock", "(I)V", false), None);
        let text = |class| find(class, "toString", "()Ljava/lang/String;", false);
        assert!(text("java/util/concurrent/atomic/AtomicLong").is_some() && text("com/example/Door").is_none());
        let park = |class| find(class, "park", "()V", true);
        assert!(park("java/util/concurrent/locks/LockSupport").is_some() && park("com/example/Car").is_none());
        let get = |class, of| find(class, "getVolatile", of, false);
        assert!(get("java/lang/invoke/VarHandle", "(LA;)I").is_some() && get("A", "(LA;)I").is_none());
    }

    #[test]
    fn arguments_name_variables() {
        for (descriptor, values, names) in [
            (&b"()I"[..], 0, Some(VariableKey::Nothing)),
            (b"(I)V", 1, Some(VariableKey::Nothing)),
            (b"(LA;JJ)Z", 2, Some(VariableKey::Object)),
            (b"([LA;ILB;)V", 1, Some(VariableKey::Element)),
            (b"(LA;JI)V", 1, Some(VariableKey::Object)),
            (b"(LA;DI)V", 1, None),
            (b"(I)V", 2, None),
        ] {
            assert_eq!(VariableKey::of(descriptor, values), names, "{descriptor:?}");
        }
    }
}
