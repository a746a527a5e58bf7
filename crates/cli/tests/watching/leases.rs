//! Leases of blocks, which are revoked: what threads do to the same words at the same time is all recorded, and once.
//!
//! `FORETRACE_RUNS=20` runs the program so often. An agent whose revokers do not wait for the holder loses an access in
//! about every tenth run.

use crate::common::Folder;
use event::{Op, Space, VarId};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use trace::Trace;

/// Threads, and words of each table, as in the program.
const THREADS: usize = 3;
const WORDS: usize = 48 * 2048;

#[test]
fn what_threads_do_at_once_is_recorded_once() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/watching/programs/leases.c");
    let folder = Folder::new();
    folder.write("program.c", std::fs::read_to_string(source).expect("a program"));
    folder.ok(&["cc", "-O1", "-pthread", "program.c", "-o", "program"]);
    let runs = std::env::var("FORETRACE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(1);
    for run in 1..=runs {
        folder.ok(&["record", "-o", "t.ftrace", "--", "./program"]);
        let file = File::open(folder.path("t.ftrace")).expect("recorded");
        let mut opened = trace::open_file(file, |_| unreachable!("it is a file")).expect("a trace");
        let trace = Trace::read(opened.source.as_mut()).expect("a trace");
        assert!(trace.losses.is_empty(), "run {run}: {:?}", trace.losses);
        assert_eq!(recorded(&trace), [THREADS * WORDS, THREADS * WORDS, WORDS], "run {run}");
    }
}

/// How many words of the first table were written by how many threads, and how many of the second read and written.
fn recorded(trace: &Trace) -> [usize; 3] {
    let table = |var: VarId| trace.names.var(var).split_once('[').map(|(table, _)| table.to_owned());
    let tables: Vec<Option<String>> =
        (0..trace.names.space(Space::Var).len() as u32).map(|var| table(VarId(var))).collect();
    let mut counts: BTreeMap<(VarId, bool, u32), usize> = BTreeMap::new();
    for event in trace.batch.events.iter().filter(|event| matches!(event.op(), Op::Read | Op::Write)) {
        *counts.entry((event.var(), event.op() == Op::Write, event.thread().0)).or_default() += 1;
    }
    let mut found = [0; 3];
    for ((var, writes, _), count) in counts {
        let table = match (tables[var.0 as usize].as_deref(), writes) {
            (Some("written"), true) => 0,
            (Some("read"), false) => 1,
            (Some("read"), true) => 2,
            _ => continue,
        };
        assert_eq!(count, 1, "{} is recorded more than once", trace.names.var(var));
        found[table] += 1;
    }
    found
}
