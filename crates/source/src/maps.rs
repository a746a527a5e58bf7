//! Which file lies where in a running program: `/proc/PID/maps`, and the program headers of the files it names.

use crate::headers::{self, Headers, Segment};
use crate::limits::MAX_MAPPINGS;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A loaded file: an index into [`Modules::list`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ModuleId(pub u32);

/// A loaded program or library.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// Its path, or a name in brackets such as `[vdso]`.
    pub path: PathBuf,
    /// What is added to an address in the file to get the one in memory (the load bias).
    pub base: u64,
    /// The first address it takes in memory, and the first one behind it.
    pub range: (u64, u64),
    /// Where thread-local variables of the file begin, and how far below a thread's pointer they begin (x86-64).
    pub(crate) tls: Option<Segment>,
}

/// The loaded files of a program. Files that came later (`dlopen`) are added; where one lies in the place of an earlier
/// one, that one had been unloaded, and the later one is found.
#[derive(Clone, Default, Debug)]
pub struct Modules {
    modules: Vec<Module>,
    /// Memory by its first address: the last one, and whose it is. Disjoint.
    ranges: std::collections::BTreeMap<u64, (u64, ModuleId)>,
    /// Which module a path loaded at a base is.
    known: HashMap<(PathBuf, u64), ModuleId>,
    headers: HashMap<PathBuf, Option<Headers>>,
}

/// One line of `/proc/PID/maps` that has a path.
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    path: PathBuf,
}

/// The modules of a program from the text of its `/proc/PID/maps`. Reads the headers of the files named there: only
/// they say which addresses in the file a mapping stands for, and how far its zeroed variables reach.
pub fn parse(text: &str) -> Modules {
    let mut modules = Modules::default();
    modules.add(text);
    modules
}

impl Modules {
    /// Adds what a later look at `/proc/PID/maps` shows.
    pub fn add(&mut self, text: &str) {
        let mut mappings: Vec<Mapping> = text.lines().filter_map(mapping).take(MAX_MAPPINGS).collect();
        // The kernel's own page can lie before the program, which is to come first.
        mappings.sort_by_key(|mapping| mapping.path == Path::new("[vdso]"));
        let mut at = 0;
        while at < mappings.len() {
            let path = &mappings[at].path;
            let same = mappings[at..].iter().take_while(|m| m.path == *path).count();
            self.load(&mappings[at..at + same]);
            at += same;
        }
    }

    /// Adds a module by hand: for traces that say themselves what was loaded where.
    pub fn insert(&mut self, path: &Path, base: u64, start: u64, end: u64) -> ModuleId {
        let headers = self.headers_of(path);
        let id = self.module(path, base, headers.and_then(|h| h.tls));
        self.claim(id, start, end);
        id
    }

    /// All modules, in the order they were found. The first is the program itself.
    pub fn list(&self) -> &[Module] {
        &self.modules
    }

    /// The module with that id.
    pub fn get(&self, id: ModuleId) -> Option<&Module> {
        self.modules.get(id.0 as usize)
    }

    /// The module that an address belongs to, and the address as the file itself counts it (its ELF virtual address).
    pub fn find(&self, address: u64) -> Option<(ModuleId, u64)> {
        let (_, &(end, id)) = self.ranges.range(..=address).next_back()?;
        let module = self.get(id).filter(|_| address < end)?;
        Some((id, address.wrapping_sub(module.base)))
    }

    fn headers_of(&mut self, path: &Path) -> Option<Headers> {
        if let Some(known) = self.headers.get(path) {
            return known.clone();
        }
        let read = headers::of_file(path).ok().flatten();
        self.headers.insert(path.to_owned(), read.clone());
        read
    }

    fn module(&mut self, path: &Path, base: u64, tls: Option<Segment>) -> ModuleId {
        *self.known.entry((path.to_owned(), base)).or_insert_with(|| {
            self.modules.push(Module { path: path.to_owned(), base, range: (u64::MAX, 0), tls });
            ModuleId(self.modules.len() as u32 - 1)
        })
    }

    /// Gives memory to a module, and takes it from the module that had it.
    fn claim(&mut self, id: ModuleId, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let overlapping: Vec<_> =
            self.ranges.range(..end).rev().take_while(|(_, (e, _))| *e > start).map(|(s, v)| (*s, *v)).collect();
        for (s, (e, owner)) in overlapping {
            self.ranges.remove(&s);
            if s < start {
                self.ranges.insert(s, (start, owner));
            }
            if e > end {
                self.ranges.insert(end, (e, owner));
            }
        }
        self.ranges.insert(start, (end, id));
        let range = &mut self.modules[id.0 as usize].range;
        *range = (range.0.min(start), range.1.max(end));
    }

    /// Neighbouring mappings of one file: usually one loaded copy of it, or several.
    fn load(&mut self, mappings: &[Mapping]) {
        let path = &mappings[0].path;
        let headers = if path.is_absolute() { self.headers_of(path) } else { None };
        let mut base = None;
        for (k, mapping) in mappings.iter().enumerate() {
            let loaded = headers.as_ref().and_then(|h| Some((h, segment(h, mapping, base)?)));
            let Some((headers, (segment, bias))) = loaded else {
                // Without headers, the copy begins where the file does.
                let first = mappings[..=k].iter().rev().find(|m| m.offset == 0).unwrap_or(mapping);
                let id = self.module(path, first.start.wrapping_sub(first.offset), None);
                self.claim(id, mapping.start, mapping.end);
                continue;
            };
            let id = self.module(path, bias, headers.tls);
            if base.replace(bias) != Some(bias) {
                // With a large alignment, those have a segment of their own, which shows nothing of the file.
                for zeros in headers.loads.iter().filter(|segment| segment.file_size == 0) {
                    let start = bias.wrapping_add(zeros.address);
                    self.claim(id, start, start.saturating_add(zeros.size));
                }
            }
            self.claim(id, mapping.start, mapping.end);
            // Variables that begin as zero lie behind the file's bytes, in memory that names no file.
            let end = bias.wrapping_add(segment.address).wrapping_add(segment.size);
            let next = mappings.get(k + 1).map_or(u64::MAX, |m| m.start);
            self.claim(id, mapping.end, end.min(next));
        }
    }
}

/// The segment whose bytes a mapping shows, and the load bias that this gives. Two segments can share a page of the
/// file, so a segment that fits the bias known so far is the one; without such, another copy of the file begins.
fn segment(headers: &Headers, mapping: &Mapping, base: Option<u64>) -> Option<(Segment, u64)> {
    const PAGE: u64 = 4096;
    let fits = |s: &&Segment| {
        let end = s.offset.saturating_add(s.file_size);
        s.offset / PAGE * PAGE <= mapping.offset && mapping.offset < end
    };
    let bias = |s: &Segment| mapping.start.wrapping_sub(s.address.wrapping_sub(s.offset)).wrapping_sub(mapping.offset);
    let with_bias = || headers.loads.iter().filter(fits).map(|s| (*s, bias(s)));
    with_bias().find(|(_, bias)| Some(*bias) == base).or_else(|| with_bias().next())
}

fn mapping(line: &str) -> Option<Mapping> {
    let mut rest = line;
    let mut field = || {
        rest = rest.trim_start_matches(' ');
        let end = rest.find(' ').unwrap_or(rest.len());
        let (field, after) = rest.split_at(end);
        rest = after;
        field
    };
    let (start, end) = field().split_once('-')?;
    let _permissions = field();
    let offset = u64::from_str_radix(field(), 16).ok()?;
    let (_device, _inode) = (field(), field());
    let (start, end) = (u64::from_str_radix(start, 16).ok()?, u64::from_str_radix(end, 16).ok()?);
    let path = rest.trim_start_matches(' ');
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    let anonymous = path.is_empty() || (path.starts_with('[') && path != "[vdso]");
    let device = path.starts_with("/dev/") || path.starts_with("/memfd:") || path.starts_with("/SYSV");
    if anonymous || device || start >= end || offset.checked_add(end - start).is_none() {
        return None;
    }
    // The kernel writes a line feed in a path as an escape.
    Some(Mapping { start, end, offset, path: PathBuf::from(path.replace("\\012", "\n")) })
}
