//! How a program can be watched: which sanitizer runtime it has, if any.

use crate::headers::{self, Headers};
use crate::{Error, image};
use object::elf::STB_LOCAL;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSymbol};
use std::io::Read;
use std::path::Path;

/// How a file that is to be run can be watched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Watched {
    /// Built with `-fsanitize=thread` and linked to a `libtsan.so`: ours can take its place.
    LibtsanDynamic,
    /// Built with `-fsanitize=thread` and linked to clang's shared runtime (`-shared-libsan`).
    ClangDynamic,
    /// Linked to our shared library.
    ForetraceDynamic,
    /// Our agent is linked into it.
    ForetraceStatic,
    /// Another ThreadSanitizer is linked into it and cannot be replaced.
    StaticTsan,
    /// Built without: its calls of the thread library can be seen, its accesses not.
    Plain,
    /// It loads no libraries, so nothing of it can be seen.
    StaticExecutable,
    /// For a machine that is not x86-64.
    OtherArchitecture,
    /// A script that names its interpreter.
    Script {
        /// The interpreter's path.
        interpreter: String,
    },
    /// Neither a program nor a script.
    NotElf,
}

/// Finds out how the program in a file can be watched.
pub fn kind(path: &Path) -> Result<Watched, Error> {
    let mut first = Vec::new();
    let (file, _) = headers::open(path)?;
    file.take(256).read_to_end(&mut first).map_err(|e| Error::new(path, e))?;
    if let Some(line) = first.strip_prefix(b"#!") {
        let line = String::from_utf8_lossy(line.split(|b| *b == b'\n').next().unwrap_or_default()).into_owned();
        let interpreter = line.split_whitespace().next().unwrap_or_default().to_owned();
        return Ok(Watched::Script { interpreter });
    }
    if !first.starts_with(b"\x7fELF") {
        return Ok(Watched::NotElf);
    }
    let Some(headers) = headers::of_file(path)? else { return Ok(Watched::OtherArchitecture) };
    if headers.machine != object::elf::EM_X86_64.0 {
        return Ok(Watched::OtherArchitecture);
    }
    let bytes = headers::read(path)?;
    let bad = |e: object::Error| Error::new(path, format!("not a program: {e}"));
    let file = ElfFile64::<Endianness>::parse(&*bytes).map_err(bad)?;
    Ok(of_elf(&file, &headers))
}

fn of_elf(file: &ElfFile64<'_, Endianness>, headers: &Headers) -> Watched {
    let (needed, _) = image::dynamic(file);
    let needs = |start: &str| needed.iter().any(|name| name.starts_with(start));
    // A program that uses our shared library still has its symbols among those it asks for, so only definitions count.
    let defines = |wanted: &str| {
        let mut all = file.symbols().chain(file.dynamic_symbols());
        all.any(|s| !s.is_undefined() && s.elf_symbol().st_bind() != STB_LOCAL && s.name() == Ok(wanted))
    };
    if defines("foretrace_agent_version") {
        Watched::ForetraceStatic
    } else if defines("__tsan_init") {
        Watched::StaticTsan
    } else if needs("libforetrace") {
        Watched::ForetraceDynamic
    } else if needs("libtsan.so") {
        Watched::LibtsanDynamic
    } else if needs("libclang_rt.tsan") {
        Watched::ClangDynamic
    } else if !headers.interpreter {
        Watched::StaticExecutable
    } else {
        Watched::Plain
    }
}

/// Whether the code of a program or library calls the hooks of ThreadSanitizer, ours or another's.
pub fn has_hooks(path: &Path) -> Result<bool, Error> {
    let bytes = headers::read(path)?;
    let bad = |e: object::Error| Error::new(path, format!("not a program: {e}"));
    let file = ElfFile64::<Endianness>::parse(&*bytes).map_err(bad)?;
    // A file that calls the hooks has an undefined symbol for them, or has them linked in.
    let mut all = file.dynamic_symbols().chain(file.symbols());
    Ok(all.any(|symbol| symbol.name().is_ok_and(|name| name.starts_with("__tsan_"))))
}
