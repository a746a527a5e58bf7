//! What is not the user's own: the system's libraries and headers, compilers, and our own agent.

use std::path::Path;

/// Whether a loaded file is the system's or ours.
pub fn is_system_module(path: &Path) -> bool {
    const FOLDERS: [&str; 5] = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/", "/usr/local/lib/"];
    const OURS: [&str; 4] = ["libtsan.", "libclang_rt.", "libforetrace", "ld-linux"];
    let text = path.to_string_lossy();
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    text.starts_with('[')
        || FOLDERS.iter().any(|folder| text.starts_with(folder))
        || OURS.iter().any(|start| name.starts_with(start))
}

/// Whether a source file is the system's.
pub(crate) fn is_system_file(path: &str) -> bool {
    const STARTS: [&str; 6] =
        ["/usr/include/", "/usr/lib/", "/usr/local/include/", "/usr/src/", "/rustc/", "/build/glibc"];
    const PARTS: [&str; 4] = ["/include/c++/", "/lib/gcc/", "/agents/native/src/", "/agents/runtime/src/"];
    STARTS.iter().any(|start| path.starts_with(start)) || PARTS.iter().any(|part| path.contains(part))
}

/// Whether a function belongs to a runtime that is linked into the program.
pub(crate) fn is_system_function(name: &str) -> bool {
    name.starts_with("__tsan_") || name.starts_with("foretrace_")
}
