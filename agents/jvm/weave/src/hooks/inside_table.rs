//! The table of what synchronises inside the JDK (`inside.table`).

use super::effect::Effect;
use super::rows::rows;
use std::sync::LazyLock;

/// The table. Its head says how it is read.
const TABLE: &str = include_str!("inside.table");
/// A row of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InsideRow {
    /// The class. With `*` at its end, a prefix of names; `{` and `}` are around several, with `|` between them.
    pub class: &'static str,
    /// The method; or, with the name of its class before it, a member that methods use. Empty: all monitors.
    pub member: &'static str,
    /// Its type.
    pub descriptor: &'static str,
    /// Its effects before it, as numbers in [`Inside::effects`].
    pub before: Vec<u16>,
    /// Its effects after it.
    pub after: Vec<u16>,
    /// The first and the last release of Java that has it.
    pub releases: [u16; 2],
}

impl InsideRow {
    /// Whether a release of Java has it.
    pub fn is_of(&self, release: u16) -> bool {
        (self.releases[0]..=self.releases[1]).contains(&release)
    }

    pub(super) fn is_in(&self, class: &[u8]) -> bool {
        let (package, names) = self.class.split_once('{').unwrap_or(("", self.class));
        let Some(class) = class.strip_prefix(package.as_bytes()) else { return false };
        names.trim_end_matches('}').split('|').any(|name| match name.strip_suffix('*') {
            Some(begin) => class.starts_with(begin.as_bytes()),
            None => class == name.as_bytes(),
        })
    }

    /// The class and the name of a member that methods use.
    pub(super) fn used(&self) -> Option<(&[u8], &[u8])> {
        self.member.split_once('.').map(|(class, name)| (class.as_bytes(), name.as_bytes()))
    }
}

/// The whole table.
#[derive(Default, Debug)]
pub struct Inside {
    /// Its rows.
    pub rows: Vec<InsideRow>,
    /// All effects of all rows.
    pub effects: Vec<Effect>,
    /// The effect of a constructor's end on an object that will be finalized. No row has it: it is woven into classes
    /// of programs.
    pub constructed: u16,
}

impl Inside {
    /// The table.
    pub fn all() -> &'static Inside {
        static ALL: LazyLock<Inside> = LazyLock::new(|| Inside::read(TABLE));
        &ALL
    }

    fn read(table: &'static str) -> Inside {
        let mut all = Inside::default();
        for line in rows(table) {
            let (class, member, descriptor, before, after, releases) = match line.split(' ').collect::<Vec<_>>()[..] {
                ["monitors", class] => (class, "", "", "-", "-", "11-"),
                [class, member, descriptor, before, after] => (class, member, descriptor, before, after, "11-"),
                [class, member, descriptor, before, after, releases] => {
                    (class, member, descriptor, before, after, releases)
                }
                _ => unreachable!("a test reads the whole table: {line}"),
            };
            let (first, last) = releases.split_once('-').unwrap_or((releases, releases));
            let releases = [first.parse().unwrap_or(u16::MAX), last.parse().unwrap_or(u16::MAX)];
            let [before, after] = [before, after].map(|column| all.add(column));
            all.rows.push(InsideRow { class, member, descriptor, before, after, releases });
        }
        all.constructed = all.add("post")[0];
        all
    }

    fn add(&mut self, column: &'static str) -> Vec<u16> {
        let begin = self.effects.len();
        self.effects.extend(Effect::column(column).unwrap_or_else(|| unreachable!("a test reads all: {column}")));
        (begin..self.effects.len()).map(|number| number as u16).collect()
    }

    /// Whether anything is to be woven into a class of this name.
    pub fn has(&self, class: &[u8]) -> bool {
        self.rows.iter().any(|row| row.is_in(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descriptor::{Kind, of_method};
    use crate::hooks::inside::has_one;
    use crate::hooks::{Condition, Operand, Target};
    use rustc_hash::FxHashSet;

    #[test]
    fn the_table_makes_sense() {
        let all = Inside::all();
        assert!(all.rows.len() > 50 && all.has(b"java/util/Vector") && !all.has(b"java/util/ArrayList"));
        let constructed = all.effects[usize::from(all.constructed)];
        assert!(
            (constructed.kind, constructed.target, constructed.condition)
                == ("post", Target::Receiver, Condition::Always)
        );
        for row in &all.rows {
            assert!(!row.before.iter().chain(&row.after).any(|&number| number == all.constructed), "{row:?}");
            assert!(row.releases[0] <= row.releases[1] && row.releases[0] >= 11, "{row:?}");
            if row.member.is_empty() {
                continue;
            }
            let effects =
                |numbers: &[u16]| numbers.iter().map(|&number| all.effects[usize::from(number)]).collect::<Vec<_>>();
            let (before, after) = (effects(&row.before), effects(&row.after));
            assert!(!before.is_empty() || !after.is_empty(), "{row:?}");
            assert!(before.iter().all(|effect| effect.condition == Condition::Always), "{row:?}");
            assert!(!before.iter().chain(&after).any(|effect| effect.is_thrown || effect.value.is_some()), "{row:?}");
            match row.used() {
                Some(_) => {
                    let ofs: FxHashSet<bool> =
                        before.iter().chain(&after).map(|effect| effect.target == Target::This).collect();
                    let count = of_method(row.descriptor.as_bytes()).map_or(0, |(arguments, _)| arguments.len());
                    let is_last = |effect: &Effect| effect.target.argument().map(usize::from) == Some(count);
                    let is_result = |effect: &Effect| effect.target == Target::Object(Operand::Result);
                    let is_known = |effect: &Effect| {
                        matches!(effect.target, Target::Receiver | Target::This) || is_last(effect) || is_result(effect)
                    };
                    assert!(ofs.len() == 1 && before.iter().chain(&after).all(is_known), "{row:?}");
                    assert!(!after.iter().any(is_last), "{row:?}");
                    // Below arguments, and values of two slots, the receiver cannot be reached.
                    let size = match of_method(row.descriptor.as_bytes()) {
                        Ok((arguments, result)) => {
                            let is_above = has_one(row.descriptor.as_bytes()).unwrap_or(false) && after.is_empty();
                            let is_reached = before.iter().all(is_last) || ofs.contains(&true) || is_above;
                            assert!(arguments.is_empty() || is_reached, "{row:?}");
                            if result == b"V" { 0 } else { Kind::of(result).size() }
                        }
                        Err(_) => Kind::of(row.descriptor.as_bytes()).size(),
                    };
                    assert!(size < 2 || ofs.contains(&true), "{row:?}");
                }
                None => {
                    let (arguments, result) = of_method(row.descriptor.as_bytes()).expect("a method's type");
                    assert!(row.member != "<init>" || before.is_empty(), "{row:?}");
                    for effect in before.iter().chain(&after) {
                        let is_known = match effect.target {
                            Target::Receiver | Target::Field(..) => {
                                effect.condition == Condition::Always || result != b"V" && Kind::of(result).size() == 1
                            }
                            Target::This => effect.condition == Condition::Always,
                            Target::Object(Operand::Argument(number)) => {
                                Kind::of(arguments[usize::from(number) - 1]) == Kind::Object
                                    && effect.condition == Condition::Always
                            }
                            Target::Object(Operand::Result) | Target::Each(Operand::Result) => {
                                Kind::of(result) == Kind::Object
                            }
                            Target::Thread => effect.condition == Condition::Always,
                            Target::All => {
                                effect.condition == Condition::Always || result != b"V" && Kind::of(result).size() == 1
                            }
                            _ => false,
                        };
                        assert!(is_known, "{row:?}");
                    }
                }
            }
        }
    }
}
