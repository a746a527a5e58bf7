//! Findings call memory of the heap as the program's sources do: `pool->queue.lock` for `heap#1+8`.

use event::{Made, Meta, Names, SiteId, Space, StackId};
use report::{Finding, Report, split_site};
use source::Heap;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// How the names of memory in the heap begin.
const HEAP: &str = "heap#";

/// The system's frames of a stack that may lie between the program's call and the allocation: `std::make_unique`.
const BETWEEN: usize = 8;

/// Names what the findings of a trace are about. Nothing is read as long as no finding speaks of the heap.
pub(crate) fn name(report: &mut Report, names: &Names, meta: &Meta, trace: &Path) {
    // A trace from a stream does not say when it was recorded.
    let Ok(recorded) = std::fs::metadata(trace).and_then(|about| about.modified()) else { return };
    let files = meta.modules.iter().map(|module| PathBuf::from(names.str(module.path))).collect();
    let mut blocks = Blocks { names, meta, made: None, heap: Heap::new(files, recorded) };
    report.findings.update(|finding: &mut Finding| {
        finding.name_objects(&mut |name| blocks.called(name));
        for origin in finding.origins.iter_mut().filter(|origin| origin.called.is_none()) {
            origin.called = finding.called.get(&origin.name).cloned();
        }
    });
}

/// The blocks of the heap, by their numbers.
struct Blocks<'a> {
    names: &'a Names,
    meta: &'a Meta,
    /// Where each was made, and its size.
    made: Option<HashMap<u64, (SiteId, StackId, u64)>>,
    heap: Heap,
}

impl Blocks<'_> {
    fn called(&mut self, name: &str) -> Option<String> {
        let (number, offset) = place(name)?;
        let (names, meta) = (self.names, self.meta);
        let made = self.made.get_or_insert_with(|| {
            let in_heap = meta.origins.iter().filter(|origin| origin.made == Made::Heap);
            let known = in_heap.filter_map(|origin| {
                let (number, _) = place(names.get(origin.space, origin.id))?;
                Some((number, (origin.site, origin.stack, origin.size)))
            });
            known.collect()
        });
        let &(site, stack, size) = made.get(&number)?;
        let mut frames = meta.stacks.frames(stack).map(|frame| names.site(frame)).take(BETWEEN);
        // The program's own code: what the C++ library allocates for it is a call there, too.
        let own = frames.find(|frame| !frame.starts_with('!')).unwrap_or(names.get(Space::Site, site.0));
        let (function, place) = split_site(own);
        let (file, line) = place.rsplit_once(':')?;
        let made = source::Made { function: function?, file, line: line.parse().ok()?, size };
        self.heap.called(made, offset)
    }
}

/// The number of a block, and how far into it: of `heap#7+16`. Parts of words that were divided have a name behind.
fn place(name: &str) -> Option<(u64, u64)> {
    let rest = name.strip_prefix(HEAP)?;
    let (number, offset) = rest.split_once('+').unwrap_or((rest, "0"));
    Some((number.parse().ok()?, offset.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn names_say_where_in_the_heap() {
        assert_eq!(place("heap#7+16"), Some((7, 16)));
        assert_eq!(place("heap#7"), Some((7, 0)));
        for name in ["heap#7+16#2", "heap#", "heap#x", "heap#1+", "Main.x@3"] {
            assert_eq!(place(name), None, "{name}");
        }
    }
}
