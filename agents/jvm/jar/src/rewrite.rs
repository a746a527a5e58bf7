//! Decides which entries of a jar are changed, and how: classes get hooks, jars inside it are rewritten, signatures
//! that no longer hold are removed.
//!
//! A jar is read twice: first all classes, for what they should know of each other; then it is written.

use crate::error::{Error, Result};
use crate::manifest::{is_manifest, is_signature, without_digests};
use crate::zip::{Archive, Entry, Writer};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read, Seek, Write};
use weave::{Class, ClassFilter, OfflineClass, Program, inert, is_inert_name, package};

/// Larger classes, and larger jars inside of jars, are left as they are.
const MOST_OF_CLASS: u64 = 1 << 26;
const MOST_OF_JAR: u64 = 1 << 28;
/// The most bytes to which a jar may unpack, with those inside of it: more is a bomb.
const MOST_OF_ALL: u64 = 1 << 34;
/// How deep jars may be nested.
const DEEPEST: usize = 4;
/// The most notes on single entries.
const MOST_NOTES: usize = 20;

/// What was done.
#[derive(Default, Debug)]
pub struct Summary {
    /// Classes with hooks.
    pub woven: usize,
    /// Classes in which nothing is to be woven.
    pub plain: usize,
    /// Classes that are not to be watched.
    pub unwanted: usize,
    /// Classes that could not be woven.
    pub failed: usize,
    /// Methods whose accesses have no hooks, because they are too large.
    pub methods: usize,
    /// Jars inside the jar that were rewritten.
    pub nested: usize,
    /// Jars whose signatures were removed.
    pub unsigned: usize,
    /// Why entries were left as they were: the first few.
    pub notes: Vec<String>,
    /// How many more there are.
    pub more_notes: usize,
}

impl Summary {
    fn note(&mut self, name: &str, why: impl std::fmt::Display) {
        if self.notes.len() < MOST_NOTES {
            self.notes.push(format!("{name} was left as it is: {why}"));
        } else {
            self.more_notes += 1;
        }
    }
}

/// Rewrites a jar. The work stops when `stop` returns true. If it fails, what was written is useless.
pub fn rewrite(
    input: impl Read + Seek,
    out: impl Write,
    filter: &ClassFilter,
    stop: &dyn Fn() -> bool,
) -> Result<Summary> {
    rewrite_within(MOST_OF_ALL, input, out, filter, stop)
}

/// Rewrites a jar, if what must be read of it unpacks to no more than `most` bytes.
pub fn rewrite_within(
    most: u64,
    input: impl Read + Seek,
    out: impl Write,
    filter: &ClassFilter,
    stop: &dyn Fn() -> bool,
) -> Result<Summary> {
    let mut archive = Archive::open(input)?;
    let program = Program::new(filter.clone());
    let mut rewriter = Rewriter { filter, stop, program, most, unpacked: 0, summary: Summary::default() };
    let plan = rewriter.learn(&mut archive, 0)?;
    rewriter.write(&mut archive, &plan, out)?;
    Ok(rewriter.summary)
}

/// What is to be done with a jar.
#[derive(Default)]
struct Plan {
    /// Something in it is to be woven, or restored.
    changes: bool,
    /// Jars inside it that can be read, by the numbers of their entries.
    nested: BTreeMap<usize, Plan>,
}

/// What an entry is.
enum Kind {
    Class,
    Jar,
    /// A class with inert hooks, from an earlier weaving.
    Inert,
    Other,
}

fn kind(entry: &Entry) -> Kind {
    let ends = |ending: &str| {
        let begin = entry.name.len().checked_sub(ending.len());
        begin.is_some_and(|begin| entry.name[begin..].eq_ignore_ascii_case(ending.as_bytes()))
    };
    match entry.name.strip_suffix(b".class") {
        Some(class) if is_inert_name(&class[package(class).len()..]) => Kind::Inert,
        Some(_) => Kind::Class,
        None if [".jar", ".war", ".ear"].iter().any(|ending| ends(ending)) => Kind::Jar,
        None => Kind::Other,
    }
}

/// The original of a class file, and whether it was woven.
fn original(file: Vec<u8>) -> (Vec<u8>, bool) {
    match OfflineClass::of(&file).map(|offline| offline.original()) {
        Some(Ok(original)) => (original, true),
        _ => (file, false),
    }
}

struct Rewriter<'c> {
    filter: &'c ClassFilter,
    stop: &'c dyn Fn() -> bool,
    program: Program,
    most: u64,
    unpacked: u64,
    summary: Summary,
}

impl Rewriter<'_> {
    /// The data of an entry, if it is not too large and packed in a known way.
    fn read<R: Read + Seek>(
        &mut self,
        archive: &mut Archive<R>,
        (number, end): (usize, u64),
        most: u64,
    ) -> Result<std::result::Result<Vec<u8>, &'static str>> {
        if (self.stop)() {
            return Err(Error::Interrupted);
        }
        let entry = &archive.entries[number];
        if !entry.is_readable() {
            return Ok(Err("it is encrypted, or packed in a way that is not known"));
        }
        if entry.size > most {
            return Ok(Err("it is too large"));
        }
        self.unpacked += entry.size;
        if self.unpacked > self.most {
            return Err(Error::Bomb { most: self.most });
        }
        archive.read(number, end).map(Ok)
    }

    /// Whether a class is to be watched.
    fn has(&self, class: &Class) -> bool {
        class.name().is_ok_and(|name| std::str::from_utf8(name).is_ok_and(|name| self.filter.has(name)))
    }

    /// Reads all classes, and notes what cannot be read.
    fn learn<R: Read + Seek>(&mut self, archive: &mut Archive<R>, depth: usize) -> Result<Plan> {
        let mut plan = Plan::default();
        for at in archive.order.clone() {
            let name = archive.entries[at.0].shown();
            match kind(&archive.entries[at.0]) {
                Kind::Class => match self.read(archive, at, MOST_OF_CLASS)? {
                    Ok(file) => {
                        let (file, was_woven) = original(file);
                        // What is wrong with it is noted when it is woven.
                        let _ = self.program.add(&file);
                        plan.changes |= was_woven || Class::read(&file).is_ok_and(|class| self.has(&class));
                    }
                    Err(why) => {
                        self.summary.failed += 1;
                        self.summary.note(&name, why);
                    }
                },
                Kind::Jar if depth + 1 == DEEPEST => self.summary.note(&name, "it is in too many others"),
                Kind::Jar => match self.read(archive, at, MOST_OF_JAR)? {
                    Ok(file) => {
                        match Archive::open(Cursor::new(file)).and_then(|mut inner| self.learn(&mut inner, depth + 1)) {
                            Ok(inner) => {
                                plan.changes |= inner.changes;
                                plan.nested.insert(at.0, inner);
                            }
                            Err(error @ (Error::Interrupted | Error::Bomb { .. })) => return Err(error),
                            Err(error) => self.summary.note(&name, error),
                        }
                    }
                    Err(why) => self.summary.note(&name, why),
                },
                Kind::Inert | Kind::Other => {}
            }
        }
        Ok(plan)
    }

    fn write<R: Read + Seek, W: Write>(&mut self, archive: &mut Archive<R>, plan: &Plan, out: W) -> Result<()> {
        let mut out = Writer::like(archive, out)?;
        let loses_signature = plan.changes && archive.entries.iter().any(|entry| is_signature(&entry.name));
        self.summary.unsigned += usize::from(loses_signature);
        // Folders that need inert hooks.
        let (mut folders, mut hooks) = (BTreeSet::new(), Vec::new());
        for at in archive.order.clone() {
            let entry = &archive.entries[at.0];
            let new = match kind(entry) {
                Kind::Inert => continue,
                Kind::Class => match self.read(archive, at, MOST_OF_CLASS)? {
                    Ok(file) => {
                        let new = self.class(&archive.entries[at.0], file);
                        let entry = &archive.entries[at.0];
                        if let Some((_, Some(class))) = &new
                            && folders.insert(package(&entry.name).to_vec())
                        {
                            hooks.push((entry.clone(), package(class).to_vec()));
                        }
                        new.map(|(file, _)| file)
                    }
                    Err(_) => None,
                },
                Kind::Jar => match plan.nested.get(&at.0).filter(|plan| plan.changes) {
                    Some(plan) => self.jar(archive, at, plan)?,
                    None => None,
                },
                Kind::Other if loses_signature && is_signature(&entry.name) => continue,
                Kind::Other if loses_signature && is_manifest(&entry.name) => {
                    self.read(archive, at, MOST_OF_CLASS)?.ok().map(|manifest| without_digests(&manifest))
                }
                Kind::Other => None,
            };
            match new {
                Some(new) => out.replace(archive, at.0, &new)?,
                None => out.copy(archive, at.0, at.1)?,
            }
        }
        for (like, package_of) in hooks {
            let (name, file) = inert(&package_of)?;
            let name = [package(&like.name), &name[package_of.len()..], b".class"].concat();
            out.add(like.beside(name), &file)?;
        }
        out.finish()
    }

    /// The new class file; and its name, if it has hooks now. `None`: it stays as it is.
    fn class(&mut self, entry: &Entry, file: Vec<u8>) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let (file, was_woven) = original(file);
        let woven = match Class::read(&file) {
            Ok(class) if self.has(&class) => self.program.weave(&file),
            Ok(_) => {
                self.summary.unwanted += 1;
                return was_woven.then_some((file, None));
            }
            Err(error) => Err(error),
        };
        match woven {
            Ok(woven) => {
                let path = [&woven.info.name[..], b".class"].concat();
                let folder = entry.name.strip_suffix(&path[..]);
                if folder.is_none_or(|folder| !matches!(folder.last(), None | Some(b'/'))) {
                    // A loader that loads it from there may not find the hooks beside it.
                    self.summary.failed += 1;
                    self.summary.note(&entry.shown(), "it is not where its name says");
                    return was_woven.then_some((file, None));
                }
                self.summary.methods += woven.skipped.len();
                match woven.file {
                    Some(new) => {
                        self.summary.woven += 1;
                        Some((new, Some(woven.info.name)))
                    }
                    None => {
                        self.summary.plain += 1;
                        // The inert hooks are removed, so it must not keep the calls.
                        was_woven.then_some((file, None))
                    }
                }
            }
            Err(error) => {
                self.summary.failed += 1;
                self.summary.note(&entry.shown(), error);
                was_woven.then_some((file, None))
            }
        }
    }

    /// Rewrites a jar inside of the jar.
    fn jar<R: Read + Seek>(
        &mut self,
        archive: &mut Archive<R>,
        at: (usize, u64),
        plan: &Plan,
    ) -> Result<Option<Vec<u8>>> {
        let Ok(file) = self.read(archive, at, MOST_OF_JAR)? else { return Ok(None) };
        let mut inner = Archive::open(Cursor::new(file))?;
        let mut out = Vec::new();
        self.write(&mut inner, plan, &mut out)?;
        self.summary.nested += 1;
        Ok(Some(out))
    }
}
