//! Where the program of a command line is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The file that running `program` would start.
pub(super) fn find(program: &OsStr) -> Option<PathBuf> {
    let path = Path::new(program);
    if program.as_encoded_bytes().contains(&b'/') {
        return path.canonicalize().ok();
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(path)).find(|file| file.is_file())?.canonicalize().ok()
}
