//! Computes the version of this crate from its sources: classes that another version has woven offline are woven
//! again when they are loaded.

use std::hash::Hasher;
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else {
            found.push(path);
        }
    }
}

fn main() {
    println!("cargo:rerun-if-changed=src");
    let mut found = Vec::new();
    files(Path::new("src"), &mut found);
    found.sort();
    let mut hasher = std::hash::DefaultHasher::new();
    for path in found {
        hasher.write(path.to_string_lossy().as_bytes());
        hasher.write(&std::fs::read(&path).expect("readable"));
    }
    // The version is never zero.
    println!("cargo:rustc-env=FORETRACE_WEAVE={}", hasher.finish() | 1);
}
