//! The libraries of a program that are searched, too: those beside it, or where it says that they are.

use crate::program::Program;
use std::path::{Path, PathBuf};

/// The most libraries that are opened.
const MOST: usize = 64;

/// Opens the libraries that the programs need, and those that these need.
pub(super) fn open_needed(programs: &mut Vec<Program>) {
    let mut at = 0;
    while at < programs.len() {
        for path in needed(&programs[at]) {
            let known = programs.iter().any(|program| program.image.path == path);
            if !known && programs.len() <= MOST {
                // One that cannot be read has no names to offer; the program's loader will say so better.
                programs.extend(Program::open(&path).ok());
            }
        }
        at += 1;
    }
}

fn needed(program: &Program) -> Vec<PathBuf> {
    let beside = program.image.path.parent().unwrap_or(Path::new(""));
    let beside = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
    let origin = beside.to_string_lossy();
    let said = program.image.run_paths.iter().filter(|folder| !folder.is_empty());
    let said = said.map(|folder| PathBuf::from(folder.replace("${ORIGIN}", &origin).replace("$ORIGIN", &origin)));
    let folders: Vec<PathBuf> = said.chain([beside.to_owned()]).collect();
    let names = program.image.needed.iter().filter(|name| !crate::system::is_system_module(Path::new(name)));
    let find = |name: &String| {
        let path = Path::new(name);
        if name.contains('/') {
            return path.is_file().then(|| path.to_owned());
        }
        folders.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    };
    names.filter_map(find).filter(|path| !crate::system::is_system_module(path)).collect()
}
