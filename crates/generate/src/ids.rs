//! From the generator's own numbers to dense ids, handed out when a thing is first used.

use event::{Names, Space};

/// The ids of one kind of thing.
#[derive(Clone, Debug)]
pub(crate) struct Ids {
    space: Space,
    /// The id plus 1; 0: not used yet. (Zeroes cost no memory until they are touched.)
    known: Vec<u32>,
}

impl Ids {
    /// For things numbered `0..many`.
    pub(crate) fn new(space: Space, many: usize) -> Ids {
        Ids { space, known: vec![0; many] }
    }

    /// The id of a thing, named now if this is its first use.
    #[inline]
    pub(crate) fn get(&mut self, names: &mut Names, number: u32, name: impl FnOnce() -> String) -> u32 {
        match self.known[number as usize] {
            0 => self.add(names, number, &name()),
            known => known - 1,
        }
    }

    #[cold]
    fn add(&mut self, names: &mut Names, number: u32, name: &str) -> u32 {
        let id = add(names, self.space, name);
        self.known[number as usize] = id + 1;
        id
    }
}

/// The id of a name.
pub(crate) fn add(names: &mut Names, space: Space, name: &str) -> u32 {
    names.add(space, name).expect("the options bound how many names there are")
}
