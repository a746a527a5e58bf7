//! What a program calls the blocks of its heap: by the source line that allocates one, and the debug information.
//!
//! The line says who receives the block (`pool->queue = malloc(…)`), or which type it is of (`sizeof(struct queue)`);
//! the debug information says what lies where in it. Only what is certain gives a name: the type must have the size of
//! the block, and the source must not be newer than the program.

use crate::dwarf::types::Type;
use crate::dwarf::{Debug, Die};
use crate::program::Program;
use crate::statement::{Allocation, allocation};
use crate::{path, system};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Longer sources are not read.
const MAX_SOURCE_BYTES: u64 = 16 << 20;

/// Units that are looked into where none has the name of the source file.
const UNITS: usize = 64;

/// Where a block was allocated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Made<'a> {
    /// The function whose code makes the call.
    pub function: &'a str,
    /// The source file, and the line of the call.
    pub file: &'a str,
    /// The line.
    pub line: u32,
    /// The bytes of the block.
    pub size: u64,
}

/// The type of blocks, and what reaches them.
#[derive(Clone, Debug)]
struct Known {
    program: usize,
    type_of: Die,
    /// The bytes of the type; a block has one of it, or several.
    size: u64,
    /// A pointer: `pool->queue`.
    receiver: String,
    /// The type: `struct queue`.
    named: String,
}

/// Names the blocks of one program's heap. Files are read when the first block is asked for.
pub struct Heap {
    files: Vec<PathBuf>,
    recorded: SystemTime,
    programs: Option<Vec<Program>>,
    newest_program: SystemTime,
    sources: HashMap<PathBuf, Option<String>>,
    known: HashMap<(String, String, u32, u64), Option<Known>>,
}

impl Heap {
    /// The heap of a program that consists of these files, and ran before this time.
    pub fn new(files: Vec<PathBuf>, recorded: SystemTime) -> Heap {
        Heap {
            files,
            recorded,
            programs: None,
            newest_program: SystemTime::UNIX_EPOCH,
            sources: HashMap::new(),
            known: HashMap::new(),
        }
    }

    /// What lies so far into a block that was made there: `pool->queue.lock`, `struct queue.lock`.
    pub fn called(&mut self, made: Made<'_>, offset: u64) -> Option<String> {
        let key = (made.function.to_owned(), made.file.to_owned(), made.line, made.size);
        let known = match self.known.get(&key) {
            Some(known) => known.clone(),
            None => {
                let known = self.look_up(made);
                self.known.insert(key, known.clone());
                known
            }
        }?;
        let debug = self.programs.as_mut()?.get_mut(known.program)?.debug.as_mut()?;
        let (index, offset) = (offset / known.size, offset % known.size);
        let leaf = path::leaf(debug, Some(known.type_of), offset);
        if leaf.offset != 0 || offset + index * known.size >= made.size {
            return None;
        }
        let Known { receiver, named, size, .. } = &known;
        let is_one = *size == made.size;
        Some(match (receiver.as_str(), leaf.path.strip_prefix('.')) {
            ("", _) if is_one => format!("{named}{}", leaf.path),
            ("", _) => format!("{named}[{index}]{}", leaf.path),
            (_, Some(member)) if is_one => format!("{receiver}->{member}"),
            (_, None) if is_one => format!("(*{receiver}){}", leaf.path),
            _ => format!("{receiver}[{index}]{}", leaf.path),
        })
    }

    fn look_up(&mut self, made: Made<'_>) -> Option<Known> {
        self.open();
        let line = usize::try_from(made.line).ok().filter(|_| made.size > 0)?;
        let written = allocation(self.source(Path::new(made.file))?, line)?;
        let mut found = None;
        for (number, program) in self.programs.iter_mut().flatten().enumerate() {
            if let Some(known) = of_program(program, number, made, &written)? {
                // Two files that could be meant.
                if found.replace(known).is_some() {
                    return None;
                }
            }
        }
        found
    }

    fn open(&mut self) {
        if self.programs.is_some() {
            return;
        }
        let mut programs = Vec::new();
        for file in self.files.iter().filter(|file| file.is_absolute() && !system::is_system_module(file)) {
            // What was built after the run is not what ran.
            let Some(built) = written(file).filter(|built| *built <= self.recorded) else { continue };
            self.newest_program = self.newest_program.max(built);
            programs.extend(Program::open(file));
        }
        self.programs = Some(programs);
    }

    /// The text of a source file, if it is not newer than the program.
    fn source(&mut self, file: &Path) -> Option<&str> {
        let newest = self.newest_program;
        let text = self.sources.entry(file.to_owned()).or_insert_with(|| {
            written(file).filter(|written| *written <= newest && file.is_absolute())?;
            let mut bytes = Vec::new();
            File::open(file).ok()?.take(MAX_SOURCE_BYTES + 1).read_to_end(&mut bytes).ok()?;
            (bytes.len() as u64 <= MAX_SOURCE_BYTES).then(|| String::from_utf8_lossy(&bytes).into_owned())
        });
        text.as_deref()
    }
}

/// When a regular file was written.
fn written(file: &Path) -> Option<SystemTime> {
    let about = std::fs::metadata(file).ok()?;
    about.modified().ok().filter(|_| about.is_file())
}

/// The type of the block by one file's debug information. The outer `None`: there are several answers.
fn of_program(program: &mut Program, number: usize, made: Made<'_>, written: &Allocation) -> Option<Option<Known>> {
    let functions = functions(program, made);
    let Some(debug) = program.debug.as_mut() else { return Some(None) };
    let mut found: Option<Known> = None;
    for function in functions {
        let Some((type_of, size, receiver)) = type_of(debug, function, written, made.size) else { continue };
        let named = written.named.clone();
        let known = Known { program: number, type_of, size, receiver, named };
        match &found {
            // A header's type has an entry in each unit.
            Some(before) if is_alike(debug, before.type_of, type_of) && before.receiver == known.receiver => {}
            Some(_) => return None,
            None => found = Some(known),
        }
    }
    Some(found)
}

/// The functions of this name that come from the file.
fn functions(program: &mut Program, made: Made<'_>) -> Vec<Die> {
    let Some(debug) = program.debug.as_mut() else { return Vec::new() };
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let all = 0..debug.unit_count();
    let mut units: Vec<usize> = all.clone().filter(|&unit| name(&debug.unit_file(unit)) == name(made.file)).collect();
    if units.is_empty() {
        units = all.take(UNITS).collect();
    }
    let mut found = Vec::new();
    for unit in units {
        let Some(survey) = program.debug.as_mut().map(|debug| debug.survey(unit)) else { continue };
        for function in &survey.functions {
            let die = Die { unit, offset: function.die };
            if program.function_called(die).is_some_and(|called| called.name == made.function) {
                found.push(die);
            }
        }
    }
    found
}

/// The type of the block that a statement of a function allocates, its size, and what reaches the block.
fn type_of(debug: &mut Debug, function: Die, written: &Allocation, bytes: u64) -> Option<(Die, u64, String)> {
    let received = receiver(debug, function, &written.receiver);
    let named = (!written.named.is_empty()).then(|| named(debug, function.unit, &written.named, bytes)).flatten();
    let fits = |debug: &mut Debug, type_of: Die, exactly: bool| {
        let size = debug.size_of(Some(type_of));
        (size > 0 && (size == bytes || !exactly && bytes.is_multiple_of(size))).then_some(size)
    };
    if written.is_made {
        // A pointer may be one to a base class.
        let type_of = named?;
        let size = fits(debug, type_of, true)?;
        return Some((type_of, size, if received.is_some() { written.receiver.clone() } else { String::new() }));
    }
    if let Some(type_of) = received
        && let Some(size) = fits(debug, type_of, false)
    {
        return Some((type_of, size, written.receiver.clone()));
    }
    let type_of = named?;
    let size = fits(debug, type_of, false)?;
    Some((type_of, size, String::new()))
}

/// What the pointer points to that this way through a function's variables leads to.
fn receiver(debug: &mut Debug, function: Die, way: &str) -> Option<Die> {
    let end = way.find(['-', '.']).unwrap_or(way.len());
    let (name, mut rest) = way.split_at(end);
    if name.is_empty() {
        return None;
    }
    let mut types = debug.locals(function, name);
    if types.is_empty() {
        // A member of the class whose function it is.
        let this = debug.locals(function, "this");
        let this = only(debug, &this);
        let object = this.and_then(|this| debug.pointee(this));
        let member = object.and_then(|object| path::follow(debug, Some(object), &format!(".{name}")).ok()?.type_of);
        types = member.into_iter().collect();
    }
    if types.is_empty() {
        types = debug.globals(function.unit, name);
    }
    let mut at = only(debug, &types)?;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("->") {
            at = debug.pointee(at)?;
            rest = after;
        } else {
            rest = rest.strip_prefix('.')?;
        }
        let end = rest.find(['-', '.']).unwrap_or(rest.len());
        at = path::follow(debug, Some(at), &format!(".{}", &rest[..end])).ok()?.type_of?;
        rest = &rest[end..];
    }
    let found = debug.pointee(at)?;
    // What has no parts has nothing to say.
    matches!(&*debug.type_of(Some(found)), Type::Record { .. } | Type::Scalar { .. } | Type::Array { .. })
        .then_some(found)
}

/// The type of a name in a unit that a block of so many bytes can be of.
fn named(debug: &mut Debug, unit: usize, name: &str, bytes: u64) -> Option<Die> {
    let plain = name.rsplit([' ', ':']).next().unwrap_or(name);
    let mut found = debug.types_named(unit, plain);
    found.retain(|&die| {
        let size = debug.size_of(Some(die));
        size > 0 && bytes.is_multiple_of(size)
    });
    only(debug, &found)
}

/// The type, if there is one only, under however many entries.
fn only(debug: &mut Debug, types: &[Die]) -> Option<Die> {
    let (&first, others) = types.split_first()?;
    others.iter().all(|&other| is_alike(debug, first, other)).then_some(first)
}

/// Whether two entries are one type, as far as names of parts go.
fn is_alike(debug: &mut Debug, one: Die, other: Die) -> bool {
    let shape = |debug: &mut Debug, die: Die| match &*debug.type_of(Some(die)) {
        Type::Record { size, name, members } => {
            let members: Vec<_> = members.iter().map(|member| (member.name.clone(), member.offset)).collect();
            Some((*size, name.clone(), members))
        }
        _ => None,
    };
    one == other
        || {
            let one = (debug.pointee(one), debug.pointee(other));
            match one {
                (Some(one), Some(other)) if one == other => true,
                (Some(one), Some(other)) => shape(debug, one).is_some_and(|one| Some(one) == shape(debug, other)),
                _ => false,
            }
        }
        || shape(debug, one).is_some_and(|one| Some(one) == shape(debug, other))
}
