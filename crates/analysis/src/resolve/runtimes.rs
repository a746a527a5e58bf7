//! Doubt from libraries whose synchronisation no recorder sees: what their threads seem to do wrong is a warning.
//!
//! OpenMP's runtimes and their like wait by atomics and system calls of their own, in code without hooks. Two accesses
//! that such a library keeps apart look like a race, so the claim is only that they may be one.

use crate::claim::{Basis, Claim};
use event::{Meta, Names, ThreadId};
use report::Kind;
use std::collections::HashMap;

/// The files of such libraries, and how their functions begin.
const LIBRARIES: [(&str, &[&str]); 4] = [
    ("libgomp", &["gomp_", "GOMP_"]),
    ("libomp", &["__kmp_", "__kmpc_"]),
    ("libiomp5", &[]),
    ("libtbb", &["tbb::", "rml::"]),
];

/// The library that a site of its own lies in.
fn library(site: &str) -> Option<&'static str> {
    // What is the user's own has no mark, whatever its name.
    let site = site.strip_prefix('!')?;
    let in_file = |name: &str| {
        let mut words = site.split(' ').map(|word| word.split('+').next().unwrap_or_default());
        words.any(|word| word.strip_prefix(name).is_some_and(|rest| rest.starts_with(".so")))
    };
    let found = LIBRARIES
        .iter()
        .find(|(file, functions)| in_file(file) || functions.iter().any(|start| site.starts_with(start)));
    found.map(|(file, _)| *file)
}

/// Makes warnings of claims that rest on what the threads of such libraries did.
pub(crate) fn doubt(claims: &mut [Claim], names: &Names, meta: &Meta) {
    let of = |info: &event::ThreadInfo| Some((info.thread, library(names.site(info.site))?));
    let threads: HashMap<ThreadId, &str> = meta.threads.iter().filter_map(of).collect();
    if threads.is_empty() {
        return;
    }
    for claim in claims.iter_mut().filter(|claim| claim.kind != Kind::Misuse && !claim.is_warning()) {
        claim.behind.retain(|pair| !pair.parts.iter().any(|part| threads.contains_key(&part.thread)));
        let part = claim.parts.iter().find_map(|part| Some((part.thread, threads.get(&part.thread)?)));
        if let Some((thread, library)) = part {
            claim.basis = Basis::Warning;
            let thread = names.thread(thread);
            claim.why += &format!(
                "; but {thread} is a thread of {library}, which orders its threads by means that were not seen"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::library;

    #[test]
    fn libraries_are_known_by_file_or_function() {
        assert_eq!(library("!libgomp.so.1.0.0+0x1d390"), Some("libgomp"));
        assert_eq!(library("!gomp_team_start team.c:842"), Some("libgomp"));
        assert_eq!(library("!__kmp_create_worker libomp.so.5+0x99"), Some("libomp"));
        assert_eq!(library("gomp_mine main.c:3"), None);
        assert_eq!(library("!main libgompish.c:3"), None);
        assert_eq!(library("!start_thread pthread_create.c:442"), None);
    }
}
