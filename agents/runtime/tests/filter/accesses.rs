//! Random small traces of mostly plain accesses, which give the filter much to do: threads repeat themselves, and meet.

use oracle::random::Random;
use std::fmt::Write;

/// A trace of three threads at most, with a lock or two.
pub(crate) fn accesses_trace(r: &mut Random) -> String {
    let threads = 2 + r.below(2);
    let events = 8 + r.below(7);
    let variables: &[&str] = if r.percent(40) { &["x", "y"] } else { &["x", "y", "z"] };
    let locks: &[&str] = &["l", "k"][..1 + r.below(2)];
    let sync = *r.pick(&[5, 15, 30]);
    let stay = *r.pick(&[50, 70, 85]);
    let writes = *r.pick(&[30, 50, 70]);
    let mut holder: Vec<Option<usize>> = vec![None; locks.len()];
    let mut posted = false;
    let mut t = 0;
    let mut text = String::new();
    for number in 0..events {
        if !r.percent(stay) {
            t = r.below(threads);
        }
        let lock = r.below(locks.len());
        let op = if r.percent(sync) {
            match holder[lock] {
                None => {
                    holder[lock] = Some(t);
                    format!("acq({})", locks[lock])
                }
                Some(by) if by == t => {
                    holder[lock] = None;
                    format!("rel({})", locks[lock])
                }
                Some(_) if posted => "await(p)".to_string(),
                Some(_) => {
                    posted = true;
                    "post(p)".to_string()
                }
            }
        } else {
            format!("{}({})", if r.percent(writes) { 'w' } else { 'r' }, r.pick(variables))
        };
        writeln!(text, "T{}|{op}|{number}", t + 1).expect("a string");
    }
    text
}

/// A trace of up to five threads that the first one forks and joins. They read more than they write, with atomics and
/// memory that is allocated and freed; neighbours `x`, `y`, `z` are often accessed together.
pub(crate) fn forked_trace(r: &mut Random) -> String {
    let events = 10 + r.below(8);
    let most = 3 + r.below(3);
    let (forks, others) = (*r.pick(&[15, 30]), *r.pick(&[0, 5, 15]));
    let writes = *r.pick(&[10, 30, 60]);
    let stay = *r.pick(&[20, 50, 70]);
    let (mut live, mut made) = (vec![0], 1);
    let mut holder = None;
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut t = 0;
    let mut freed = false;
    while lines.len() < events {
        if !r.percent(stay) {
            t = *r.pick(&live);
        }
        let op = if r.percent(forks) {
            // Every thread forks, and joins the threads it knows.
            let others: Vec<usize> = live.iter().copied().filter(|&u| u != 0 && u != t && holder != Some(u)).collect();
            if made < most && (others.is_empty() || r.percent(60)) {
                live.push(made);
                made += 1;
                lines.push((t, format!("fork(T{made})")));
                // A thread without events orders nothing.
                lines.push((made - 1, format!("acq(m{made})")));
                continue;
            } else if !others.is_empty() {
                let child = *r.pick(&others);
                live.retain(|&u| u != child);
                format!("join(T{})", child + 1)
            } else {
                continue;
            }
        } else if r.percent(10) {
            match holder {
                None => {
                    holder = Some(t);
                    "acq(l)".to_string()
                }
                Some(by) if by == t => {
                    holder = None;
                    "rel(l)".to_string()
                }
                Some(_) => continue,
            }
        } else if r.percent(others) {
            match r.below(5) {
                0 => format!("ald({})", r.pick(&["x", "y", "z"])),
                1 => format!("ast({})", r.pick(&["x", "y", "z"])),
                2 => format!("armw({})", r.pick(&["x", "y", "z"])),
                _ => {
                    freed = !freed;
                    format!("{}(q)", if freed { "free" } else { "alloc" })
                }
            }
        } else {
            let op = if r.percent(writes) { 'w' } else { 'r' };
            let variables = *r.pick(&[&["x"][..], &["y"], &["z"], &["q"], &["x", "y"], &["y", "z"], &["x", "y", "z"]]);
            lines.extend(variables.iter().map(|variable| (t, format!("{op}({variable})"))));
            continue;
        };
        lines.push((t, op));
    }
    let line = |(number, (t, op)): (usize, &(usize, String))| format!("T{}|{op}|{number}\n", t + 1);
    lines.iter().enumerate().map(line).collect()
}

/// A trace of a thread that accesses the same variables again and again, mostly reading, under a lock, and of one or
/// two others that read some and change some. So most of what the first does is dropped, if little is kept.
pub(crate) fn rounds_trace(r: &mut Random) -> String {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut variables = vec!["x", "y", "z"];
    for k in (1..variables.len()).rev() {
        variables.swap(k, r.below(k + 1));
    }
    variables.truncate(2 + r.below(2));
    let (writes, locked) = (*r.pick(&[0, 0, 10, 30]), r.percent(80));
    for _ in 0..2 + r.below(2) {
        let lock = if locked || r.percent(50) { "l" } else { "k" };
        lines.push((0, format!("acq({lock})")));
        for variable in &variables {
            lines.push((0, format!("{}({variable})", if r.percent(writes) { 'w' } else { 'r' })));
        }
        lines.push((0, format!("rel({lock})")));
    }
    let others = 1 + r.below(2);
    for _ in 0..3 + r.below(3) {
        let t = 1 + r.below(others);
        let op = format!("{}({})", if r.percent(45) { 'w' } else { 'r' }, r.pick(&variables));
        let is_locked = r.percent(30);
        let begin = is_locked.then(|| "acq(l)".to_string());
        let end = is_locked.then(|| "rel(l)".to_string());
        let ops = begin.into_iter().chain([op]).chain(end).map(|op| (t, op));
        // Mostly behind the first thread; else between two of its sections.
        let at = if r.percent(85) { lines.len() } else { sections(&lines)[0] };
        lines.splice(at..at, ops);
    }
    let line = |(number, (t, op)): (usize, &(usize, String))| format!("T{}|{op}|{number}\n", t + 1);
    lines.iter().enumerate().map(line).collect()
}

/// A trace of two or three threads that hand data over: `h` is always read and mostly written under the lock `l`, as
/// the head of a queue is; other variables are accessed inside of these sections or between them, now and then under
/// another lock.
pub(crate) fn handed_trace(r: &mut Random) -> String {
    let threads = 2 + r.below(2);
    let (writes, heads, waits) = (*r.pick(&[30, 60]), *r.pick(&[70, 90, 100]), *r.pick(&[0, 0, 15]));
    let variables = ["x", "y", "z"];
    let access = |r: &mut Random, variables: &[&str]| {
        format!("{}({})", if r.percent(writes) { 'w' } else { 'r' }, r.pick(variables))
    };
    let mut lines: Vec<(usize, String)> = Vec::new();
    let (mut t, events) = (0, 10 + r.below(8));
    let mut waiting = None;
    while lines.len() < events {
        if r.percent(70) {
            t = (t + 1 + r.below(threads - 1)) % threads;
        }
        if waiting == Some(t) {
            continue;
        }
        let mut ops = Vec::new();
        if r.percent(60) {
            let lock = if r.percent(85) { "l" } else { "k" };
            ops.push(format!("acq({lock})"));
            let mut inside: Vec<String> = (0..r.below(3)).map(|_| access(r, &variables)).collect();
            if r.percent(heads) {
                // Reads and writes of the head, in this order, among the others.
                let at = r.below(inside.len() + 1);
                let end = at + r.below(inside.len() - at + 1);
                if r.percent(80) {
                    inside.insert(end, "w(h)".to_string());
                }
                inside.insert(at, "r(h)".to_string());
            }
            ops.extend(inside);
            if lock == "l" && waiting.is_none() && r.percent(waits) {
                waiting = Some(t);
                ops.push("wait(c,l)".to_string());
            } else if lock == "l" && waiting.is_some() && r.percent(60) {
                let u = waiting.take().expect("a thread");
                ops.extend(["notify(c)".to_string(), "rel(l)".to_string()]);
                lines.extend(ops.drain(..).map(|op| (t, op)));
                lines.extend([(u, "woken(c,l)".to_string()), (u, "rel(l)".to_string())]);
            } else {
                ops.push(format!("rel({lock})"));
            }
        } else {
            let some = &variables[..1 + r.below(3)];
            ops.push(access(r, some));
        }
        lines.extend(ops.into_iter().map(|op| (t, op)));
    }
    let line = |(number, (t, op)): (usize, &(usize, String))| format!("T{}|{op}|{number}\n", t + 1);
    lines.iter().enumerate().map(line).collect()
}

/// Behind each `rel`.
fn sections(lines: &[(usize, String)]) -> Vec<usize> {
    (1..=lines.len()).filter(|&end| lines[end - 1].1.starts_with("rel")).collect()
}
