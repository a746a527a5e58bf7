//! `foretrace locks`: who took which lock while holding which, and the cycles in it.

use super::print_lines;
use crate::args::Locks;
use crate::input;
use crate::interrupt::Interrupt;
use crate::output::say;
use crate::walk::walk;
use analysis::unsearched_lock_cycles;
use anyhow::Result;
use detect::lock_order::{LockCycle, LockMode, LockNode, LockOrder, LockOrderOptions, LockRequest};
use event::{Names, Space};
use report::Paths;
use std::ops::ControlFlow;

/// Lines of one tree, and cycles, before the rest is only counted.
const SHOWN: usize = 200;

pub(crate) fn run(args: &Locks) -> Result<u8> {
    let mut input = input::open(&args.trace)?;
    let interrupt = Interrupt::listen();
    let mut detector = LockOrder::new(LockOrderOptions::default());
    let walked = walk(&mut input, &interrupt, |source, batch| {
        detector.batch(source.names(), batch);
        ControlFlow::Continue(())
    });
    walked.complain(&input)?;
    let report = detector.finish();
    let names = input.source.names();
    let paths = Paths::of_sites((0..names.space(Space::Site).len()).map(|site| names.get(Space::Site, site as u32)));
    let mut text = String::new();
    for tree in detector.lock_trees() {
        if tree.locks.is_empty() {
            continue;
        }
        text += &format!("{}\n", names.thread(tree.thread));
        let mut lines = Vec::new();
        nodes(&tree.locks, 1, names, &paths, &mut lines);
        let more = lines.len().saturating_sub(SHOWN);
        lines.truncate(SHOWN);
        lines.iter().for_each(|line| text += &format!("{line}\n"));
        if more > 0 {
            text += &format!("  … and {more} more\n");
        }
        text += "\n";
    }
    if text.is_empty() {
        text += "no lock is taken\n\n";
    }
    for cycle in report.cycles.iter().take(SHOWN) {
        text += &format!("{}\n\n", describe(cycle, names, &paths));
    }
    let more = report.cycles.len().saturating_sub(SHOWN) as u64 + report.left_out;
    if more > 0 {
        text += &format!("… and {more} more cycles\n\n");
    }
    text += &match report.cycles.len() as u64 + report.left_out {
        0 => "no cycle: locks are taken in consistent orders\n".to_owned(),
        1 => "1 cycle\n".to_owned(),
        n => format!("{n} cycles\n"),
    };
    if let Some(what) = unsearched_lock_cycles(&report) {
        say(&format!("{}: not all cycles were looked for: {what}", input.name));
    }
    print_lines(&text)?;
    Ok(walked.interrupted.unwrap_or(0))
}

/// What is taken under each other, indented.
fn nodes(list: &[LockNode], depth: usize, names: &Names, paths: &Paths, lines: &mut Vec<String>) {
    // A trace can nest as deep as it likes: this does not.
    let mut left: Vec<(&LockNode, usize)> = list.iter().rev().map(|node| (node, depth)).collect();
    while let Some((node, depth)) = left.pop() {
        let how = match (node.mode, node.blocking) {
            (LockMode::Shared, _) => ", as a reader",
            (LockMode::Exclusive, false) => ", by a try",
            (LockMode::Exclusive, true) => "",
        };
        let at = at(&paths.site(names.site(node.site)));
        let times = match node.count {
            0 => ", taken under locks that were given back before it".to_owned(),
            1 => String::new(),
            n => format!(", {n} times"),
        };
        lines.push(format!("{}{}{at}{how}{times}", "  ".repeat(depth.min(40)), names.lock(node.lock)));
        left.extend(node.inside.iter().rev().map(|inside| (inside, depth + 1)));
    }
}

fn at(site: &str) -> String {
    if site.is_empty() { String::new() } else { format!(" at {site}") }
}

/// A cycle, one request a line.
fn describe(cycle: &LockCycle, names: &Names, paths: &Paths) -> String {
    let request = |request: &LockRequest| {
        let held: Vec<&str> = request.held.iter().map(|held| names.lock(held.lock)).collect();
        let at = at(&paths.site(names.site(request.site)));
        let (thread, lock) = (names.thread(request.thread), names.lock(request.lock));
        format!("  {thread} holds {} and asks for {lock}{at} (event {})", held.join(", "), request.event)
    };
    let lines: Vec<String> = cycle.requests.iter().map(request).collect();
    let locks: Vec<&str> = cycle.locks().into_iter().map(|lock| names.lock(lock)).collect();
    let what = if cycle.happened() { "deadlock" } else { "cycle" };
    format!("{what} of {}\n{}", locks.join(", "), lines.join("\n"))
}
