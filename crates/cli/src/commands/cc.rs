//! `foretrace cc` and `foretrace c++`: the compiler, with what makes its programs watchable.
//!
//! Compiling adds the compiler's own thread-sanitizer hooks; linking a program adds our agent in the place of the
//! sanitizer's runtime. A shared library gets the hooks alone: they are the program's.

use anyhow::{Context, Result, bail};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// Which language's driver is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Cpp,
}

/// Whose options a compiler understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Gcc,
    Clang,
}

/// Functions that gcc expands in place, where no hook sees what they write. (clang calls them.) Functions that only
/// read are left alone: programs use them in constant expressions.
const KEPT_CALLS: [&str; 10] = [
    "-fno-builtin-memcpy",
    "-fno-builtin-mempcpy",
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
    "-fno-builtin-strcpy",
    "-fno-builtin-stpcpy",
    "-fno-builtin-strncpy",
    "-fno-builtin-strcat",
    "-fno-builtin-sprintf",
    "-fno-builtin-snprintf",
];

/// Room for a hook at each function, whose arguments specifications may want: six bytes before it, and two at its
/// begin, that do nothing. Five would be enough, but C++ keeps a mark in the lowest bit of pointers to members, so
/// functions must have even addresses.
const ROOM: &str = "-fpatchable-function-entry=8,6";

/// What a command line of the compiler makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Makes {
    /// A program: the agent belongs into it.
    Program,
    /// A shared library: hooks, no agent.
    Library,
    /// Objects, assembler, dependencies: no linking.
    Parts,
    /// A program without a loader, which is what the agent needs to find the functions it stands before.
    Static,
    /// Something that has no place for an agent (`-r`, `-nostdlib`), or no code at all.
    Bare,
}

pub(crate) fn run(language: Language, args: &[OsString]) -> Result<u8> {
    let words = compiler(language)?;
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    let agents = agents::Agents::ready().context("the agent is not there")?;
    let makes = makes(args);
    if makes == Makes::Static {
        bail!("a fully static program cannot be watched: leave out -static");
    }
    // A build may ask for anything here (`--version`): only what compiles is ours.
    if makes != Makes::Bare {
        match family(&words) {
            // gcc warns that its own runtime knows no fences; ours does.
            Family::Gcc => command.args(["-g", "-fsanitize=thread", "-Wno-tsan", ROOM]).args(KEPT_CALLS),
            // Without the second option clang leaves out the read of `x++`.
            Family::Clang => command.args([
                "-g",
                "-fsanitize=thread",
                "-fno-sanitize-link-runtime",
                "-mllvm",
                "-tsan-instrument-read-before-write=1",
                ROOM,
                "-Wno-unused-command-line-argument",
            ]),
        };
        command.arg("-idirafter").arg(agents.include());
    }
    command.args(args);
    match makes {
        Makes::Program => {
            let mut list = OsString::from("-Wl,--dynamic-list=");
            list.push(agents.symbols());
            let mut object = OsString::from("-Wl,");
            object.push(agents.object());
            // As an option of the linker, so that a language named by -x does not apply to it.
            command.arg("-L").arg(agents.link()).arg(object).arg(list).args(["-ldl", "-lpthread"]);
        }
        // The hooks are found in the program that loads it.
        Makes::Library => {
            command.arg("-L").arg(agents.link()).arg("-Wl,-z,undefs");
        }
        Makes::Parts | Makes::Static | Makes::Bare => {}
    }
    let error = command.exec();
    Err(error).with_context(|| format!("cannot run {}", words[0].display()))
}

/// The compiler's command: named by the environment, or found.
fn compiler(language: Language) -> Result<Vec<OsString>> {
    let named = |name: &str| {
        let words: Vec<OsString> = std::env::var(name).ok()?.split_whitespace().map(OsString::from).collect();
        (!words.is_empty()).then_some(words)
    };
    let c = named("FORETRACE_CC");
    let words = match language {
        Language::C => c,
        Language::Cpp => named("FORETRACE_CXX").or_else(|| c.map(|words| words.into_iter().map(cpp_of).collect())),
    };
    if let Some(words) = words {
        return Ok(words);
    }
    let candidates = match language {
        Language::C => ["gcc", "clang", "cc"],
        Language::Cpp => ["g++", "clang++", "c++"],
    };
    match candidates.iter().find(|name| super::doctor::find(name).is_some()) {
        Some(name) => Ok(vec![name.into()]),
        None => bail!("no compiler is installed: {} (or name one by FORETRACE_CC)", candidates.join(", ")),
    }
}

/// The C++ driver that comes with a C one: `gcc-12` and `g++-12`, `clang` and `clang++`.
fn cpp_of(word: OsString) -> OsString {
    let Some(text) = word.to_str() else { return word };
    let (folder, name) = text.rsplit_once('/').map_or((None, text), |(folder, name)| (Some(folder), name));
    let name = match name {
        "cc" => "c++".to_owned(),
        _ if name.contains("gcc") => name.replacen("gcc", "g++", 1),
        _ if name.contains("clang") && !name.contains("clang++") => name.replacen("clang", "clang++", 1),
        _ => return word,
    };
    folder.map_or_else(|| name.clone(), |folder| format!("{folder}/{name}")).into()
}

fn family(words: &[OsString]) -> Family {
    for word in words {
        let name = word.to_string_lossy();
        let name = name.rsplit('/').next().unwrap_or_default();
        if name.contains("clang") {
            return Family::Clang;
        }
        if name.contains("gcc") || name.contains("g++") {
            return Family::Gcc;
        }
    }
    let says = Command::new(&words[0]).args(&words[1..]).arg("--version").stdin(Stdio::null()).output();
    match says {
        Ok(says) if String::from_utf8_lossy(&says.stdout).contains("clang") => Family::Clang,
        _ => Family::Gcc,
    }
}

fn makes(args: &[OsString]) -> Makes {
    let has = |wanted: &[&str]| args.iter().any(|arg| wanted.iter().any(|option| arg == option));
    let inputs = args.iter().any(|arg| !arg.as_encoded_bytes().starts_with(b"-") || arg == "-");
    if has(&["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only"]) {
        Makes::Parts
    } else if !inputs || has(&["-r", "-Wl,-r", "-nostdlib", "-nostartfiles", "-nodefaultlibs"]) {
        Makes::Bare
    } else if has(&["-static", "-static-pie"]) {
        Makes::Static
    } else if has(&["-shared", "-dynamiclib", "-Wl,-shared"]) {
        Makes::Library
    } else {
        Makes::Program
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn tells_what_a_command_line_makes() {
        for (line, expected) in [
            ("-O2 x.c -o x", Makes::Program),
            ("x.o y.o -lm", Makes::Program),
            ("-c x.c", Makes::Parts),
            ("-MM x.c", Makes::Parts),
            ("-shared -fPIC x.c -o x.so", Makes::Library),
            ("--version", Makes::Bare),
            ("-v", Makes::Bare),
            ("-r a.o b.o -o c.o", Makes::Bare),
            ("-static x.c", Makes::Static),
            ("-static -c x.c", Makes::Parts),
            ("-x c -", Makes::Program),
        ] {
            assert_eq!(makes(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn finds_the_family_and_the_other_language() {
        for (line, expected) in
            [("gcc", Family::Gcc), ("ccache clang-16", Family::Clang), ("/opt/x86-gcc-12", Family::Gcc)]
        {
            assert_eq!(family(&words(line)), expected, "{line}");
        }
        for (c, cpp) in
            [("gcc-12", "g++-12"), ("clang", "clang++"), ("/usr/bin/cc", "/usr/bin/c++"), ("ccache", "ccache")]
        {
            assert_eq!(cpp_of(c.into()), OsString::from(cpp));
        }
    }
}
