//! The declarations of one kind, prepared so that many recorded names are compared with them.

use super::subject::Subject;
use crate::syntax::ast::Sort;
use std::collections::BTreeMap;

/// Something declared, and of which instance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Meant {
    /// Its number in the specification.
    pub(crate) number: u32,
    /// The instance of an indexed one.
    pub(crate) index: Option<Subject>,
}

/// Declarations by what they look for in recorded names.
pub(super) struct Declared<'s> {
    /// By recorded name: the numbers of those that mean it alone.
    single: BTreeMap<String, Vec<u32>>,
    /// The indexed ones: number, what their names begin with, sort of the index.
    indexed: Vec<(u32, String, &'s Sort)>,
}

impl<'s> Declared<'s> {
    /// Declarations with their numbers, in order: their recorded names, and the sorts of their indexes.
    pub(super) fn new(declarations: impl Iterator<Item = (u32, String, Option<&'s Sort>)>) -> Declared<'s> {
        let mut declared = Declared { single: BTreeMap::new(), indexed: Vec::new() };
        for (number, recorded, sort) in declarations {
            match sort {
                Some(sort) => declared.indexed.push((number, recorded, sort)),
                None => declared.single.entry(recorded).or_default().push(number),
            }
        }
        declared
    }

    /// The numbers of those that mean this name alone.
    pub(super) fn single(&self, name: &str) -> &[u32] {
        self.single.get(name).map_or(&[], Vec::as_slice)
    }

    /// All that mean this name, in the order of their numbers. `index` finds the instance of an indexed one in what
    /// follows its recorded name; it is also given that name, and the sort of the index.
    pub(super) fn meant(&self, name: &str, mut index: impl FnMut(&str, &str, &Sort) -> Option<Subject>) -> Vec<Meant> {
        let single = self.single(name);
        let mut meant: Vec<Meant> = single.iter().map(|&number| Meant { number, index: None }).collect();
        for (number, recorded, sort) in &self.indexed {
            if let Some(rest) = name.strip_prefix(recorded.as_str())
                && let Some(index) = index(rest, recorded, sort)
            {
                meant.push(Meant { number: *number, index: Some(index) });
            }
        }
        if !single.is_empty() {
            meant.sort_by_key(|meant| meant.number);
        }
        meant
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_and_indexed_declarations_keep_their_order() {
        let sort = Sort::Thread;
        let list = [("a[1]", None), ("a", Some(&sort)), ("b", None), ("a[1]", None)];
        let numbered = list.into_iter().zip(0..).map(|((name, sort), number)| (number, name.to_owned(), sort));
        let declared = Declared::new(numbered);
        let meant = |name: &str| -> Vec<u32> {
            let index = |rest: &str, recorded: &str, _: &Sort| {
                assert_eq!(recorded, "a");
                rest.starts_with('[').then_some(Subject::Int(1))
            };
            declared.meant(name, index).into_iter().map(|meant| meant.number).collect()
        };
        assert_eq!(meant("a[1]"), [0, 1, 3]);
        assert_eq!(meant("a[2]"), [1]);
        assert_eq!(meant("b"), [2]);
        assert_eq!(meant("ab"), [] as [u32; 0]);
        assert_eq!(meant("c"), [] as [u32; 0]);
        assert_eq!(declared.single("a[1]"), [0, 3]);
    }
}
