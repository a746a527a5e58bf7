//! The names that a program gave its threads, where a reader can tell the threads apart by them.

use event::{Meta, Names, Space};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// By name in the trace: what the program calls a thread.
pub(crate) struct ThreadNames<'a> {
    given: HashMap<&'a str, &'a str>,
}

/// Whether it is a name that no program chose: Java counts its threads so.
fn is_default(name: &str) -> bool {
    name.strip_prefix("Thread-").is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl<'a> ThreadNames<'a> {
    pub(crate) fn new(names: &'a Names, meta: &'a Meta) -> ThreadNames<'a> {
        // Of several names the last is true.
        let last: HashMap<&str, &str> =
            meta.threads.iter().map(|info| (names.thread(info.thread), names.str(info.name))).collect();
        let mut users: HashMap<&str, usize> = HashMap::new();
        last.values().for_each(|called| *users.entry(called).or_default() += 1);
        let given = last.iter().filter_map(|(&name, &called)| {
            let is_taken = names.space(Space::Thread).find(called.as_bytes()).is_some();
            let is_clear = !called.is_empty() && !is_default(called) && !is_taken && users[called] == 1;
            is_clear.then_some((name, called))
        });
        ThreadNames { given: given.collect() }
    }

    /// What those of these threads are called that have a name of their own.
    pub(crate) fn of(&self, threads: &BTreeSet<&str>) -> BTreeMap<String, String> {
        let given = threads.iter().filter_map(|&name| Some((name.to_owned(), (*self.given.get(name)?).to_owned())));
        given.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use event::{SiteId, StackId, StrId, ThreadId, ThreadInfo};

    #[test]
    fn only_names_that_tell_threads_apart_are_used() {
        let (mut names, mut meta) = (Names::default(), Meta::default());
        for (name, called) in
            [("main", "main"), ("T1", "teller"), ("T2", "clerk"), ("T3", "clerk"), ("T4", "Thread-0"), ("T5", "")]
        {
            let thread = ThreadId(names.add(Space::Thread, name).expect("room"));
            let name = StrId(names.add(Space::Str, called).expect("room"));
            meta.threads.push(ThreadInfo { thread, name, site: SiteId(0), stack: StackId(0) });
        }
        let given = ThreadNames::new(&names, &meta).of(&["main", "T1", "T2", "T3", "T4", "T5"].into());
        assert_eq!(given, [("T1".to_owned(), "teller".to_owned())].into());
    }
}
