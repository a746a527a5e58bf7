//! Embeds the built agents, so that `cargo build` alone gives a `foretrace` that can watch programs.
//!
//! They are written to a folder of the user the first time they are needed, because a loader and a linker want files.

mod unpack;

pub use unpack::{Agents, Error};

/// A file to be written.
struct File {
    /// Its name in the folder.
    name: &'static str,
    content: &'static [u8],
}

/// The shared library: preloaded, or in libtsan's place.
const LIBRARY: &str = "libforetrace_native.so";

/// The library that Java virtual machines load.
const JVM: &str = "libforetrace_jvm.so";

/// Names under which programs look for their sanitizer's runtime. All are links to the one library, so that the loader
/// sees one file however often it is asked for.
const ALIASES: [&str; 5] =
    ["libtsan.so.2", "libtsan.so.1", "libtsan.so.0", "libclang_rt.tsan-x86_64.so", "libclang_rt.tsan.so"];

/// All files that are unpacked. The build script hashes those that change.
const FILES: &[File] = &[
    File { name: LIBRARY, content: include_bytes!(concat!(env!("OUT_DIR"), "/libforetrace_native.so")) },
    File { name: JVM, content: include_bytes!(concat!(env!("OUT_DIR"), "/libforetrace_jvm.so")) },
    File { name: "foretrace_native.o", content: include_bytes!(concat!(env!("OUT_DIR"), "/foretrace_native.o")) },
    File { name: "foretrace.syms", content: include_bytes!(concat!(env!("OUT_DIR"), "/foretrace.syms")) },
    File { name: "include/foretrace.h", content: include_bytes!("../../native/include/foretrace.h") },
    // gcc insists on -ltsan when it links with -fsanitize=thread; the agent's object comes by itself.
    File { name: "link/libtsan.a", content: b"!<arch>\n" },
];
