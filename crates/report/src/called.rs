//! Objects by the variables and fields through which the program reaches them, where that is known for certain.

use crate::Finding;
use std::collections::{BTreeMap, BTreeSet};

impl Finding {
    /// Calls its objects, its locks and those in its schedules what `called` says, which is asked for names in the
    /// trace. Two of one name get the numbers that they have in the trace: `account->lock#1`.
    pub fn name_objects(&mut self, called: &mut dyn FnMut(&str) -> Option<String>) {
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for name in self.mentioned() {
            if let Some(called) = called(name).filter(|called| called != name) {
                names.insert(name.to_owned(), called);
            }
        }
        for how in [numbered, in_full] {
            let mut count: BTreeMap<&str, usize> = BTreeMap::new();
            names.values().for_each(|called| *count.entry(called).or_default() += 1);
            let doubled: BTreeSet<String> =
                count.into_iter().filter(|(_, count)| *count > 1).map(|(called, _)| called.to_owned()).collect();
            let mut doubled_names = names.iter_mut().filter(|(_, called)| doubled.contains(*called));
            doubled_names.by_ref().for_each(|(name, called)| *called += &how(name));
        }
        self.called.extend(names);
        self.behind.iter_mut().for_each(|finding| finding.name_objects(called));
    }

    /// The names of objects that a reader is shown.
    fn mentioned(&self) -> BTreeSet<&str> {
        let steps = self.exhibit.schedules.iter().flat_map(|schedule| &schedule.steps);
        let texts = steps.map(|step| &step.text).chain(self.sides.iter().map(|side| &side.op));
        let mut names: BTreeSet<&str> = texts.flat_map(|text| arguments(text)).collect();
        names.extend(self.objects.iter().map(String::as_str));
        names.extend(self.sides.iter().flat_map(|side| &side.locks_held).map(String::as_str));
        names
    }
}

/// The names within the parentheses of an operation.
fn arguments(text: &str) -> impl Iterator<Item = &str> {
    let inside = text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map_or("", |(inside, _)| inside);
    inside.split(',').filter(|name| !name.is_empty())
}

/// The number in a name: `#7` of `heap#7+16`, `@3` of `Account.balance@3`.
fn numbered(name: &str) -> String {
    let Some(at) = name.find(['#', '@']) else { return String::new() };
    let digits = name[at + 1..].bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 { String::new() } else { name[at..=at + digits].to_owned() }
}

fn in_full(name: &str) -> String {
    format!(" ({name})")
}

/// A text in which every word with another name is replaced.
pub(crate) fn replaced<'a>(text: &str, name: impl Fn(&str) -> Option<&'a str>) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '(' | ')' | '\'' | '=');
    let mut out = String::with_capacity(text.len());
    for piece in text.split_inclusive(ends) {
        let word = piece.trim_end_matches(ends);
        out += name(word).unwrap_or(word);
        out += &piece[word.len()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evidence, Kind, Side};

    fn named(objects: &[&str], op: &str, called: &[(&str, &str)]) -> Vec<(String, String)> {
        let mut finding = Finding::new(Kind::Race, "hb", Evidence::warning(), String::new(), String::new());
        finding.objects = objects.iter().map(|&object| object.to_owned()).collect();
        finding.sides = vec![Side { op: op.to_owned(), ..Side::default() }];
        let of = |name: &str| called.iter().find(|(known, _)| *known == name).map(|(_, called)| (*called).to_owned());
        finding.name_objects(&mut |name| of(name));
        finding.called.into_iter().collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|&(name, called)| (name.to_owned(), called.to_owned())).collect()
    }

    #[test]
    fn all_that_is_shown_is_asked_for() {
        let called = [("heap#1+8", "pool->lock"), ("C@3", "Main.c"), ("heap#9", "q->count")];
        assert_eq!(
            named(&["heap#1+8"], "wait(C@3,heap#7)", &called),
            pairs(&[("C@3", "Main.c"), ("heap#1+8", "pool->lock")])
        );
        assert_eq!(named(&[], "r(heap#9)=\"C@3\"", &called), pairs(&[("heap#9", "q->count")]));
    }

    #[test]
    fn two_of_a_name_get_their_numbers() {
        let called = [("heap#1+8", "a->lock"), ("heap#2+8", "a->lock"), ("C@3", "Main.c")];
        let wanted = [("C@3", "Main.c"), ("heap#1+8", "a->lock#1"), ("heap#2+8", "a->lock#2")];
        assert_eq!(named(&["heap#1+8", "heap#2+8"], "acq(C@3)", &called), pairs(&wanted));
        let called = [("heap#1+8", "x"), ("heap#1+12", "x")];
        let wanted = [("heap#1+12", "x#1 (heap#1+12)"), ("heap#1+8", "x#1 (heap#1+8)")];
        assert_eq!(named(&["heap#1+8", "heap#1+12"], "", &called), pairs(&wanted));
    }

    #[test]
    fn only_whole_words_are_names() {
        let name = |word: &str| match word {
            "T1" => Some("teller"),
            "C@1" => Some("Main.c"),
            _ => None,
        };
        let text = "T1 holds T1.lock, and T10 waits for T1: T1's turn (T1), C@1=C@10";
        let wanted = "teller holds T1.lock, and T10 waits for teller: teller's turn (teller), Main.c=C@10";
        assert_eq!(replaced(text, name), wanted);
    }
}
