//! What was recorded of each program: its events, and which acts they are.

use super::acts::{Act, Do, LOCKS, VARIABLES, loaded, sites_and_values};
use super::source::Source;
use event::{Event, Names, Op, Space};
use std::collections::BTreeMap;
use std::fmt::Write;
use trace::Trace;
use trace::text::event_text;

/// The recorded trace of one program. Threads are t0, t1, …; names are without the numbers of objects.
#[derive(Default, Clone, Debug)]
pub(crate) struct Recorded {
    pub(crate) text: String,
    /// By event: the act that it is; pins are none.
    pub(crate) was: Vec<Option<usize>>,
}

/// A name without the numbers of objects.
fn without_numbers(name: &str) -> String {
    let mut parts = name.split('@');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        // An order is no number.
        out.push_str(if rest.len() == part.len() { "@" } else { "" });
        out.push_str(rest);
    }
    out
}

/// The line of a site: the number after its last colon.
fn line(site: &str) -> Option<usize> {
    site.rsplit_once(':')?.1.parse().ok()
}

/// Which program and which of its threads this is: `p17.2`.
fn thread_of(name: &str) -> Option<(u64, usize)> {
    let (program, thread) = name.strip_prefix('p')?.split_once('.')?;
    Some((program.parse().ok()?, thread.parse().ok()?))
}

struct Reader<'r> {
    source: &'r Source,
    names: &'r Names,
    /// By their names in the trace.
    threads: BTreeMap<&'r str, (u64, usize)>,
}

impl Reader<'_> {
    /// The act that an event is: of those of its thread that look the same, the first that was not seen before.
    fn act(
        &self,
        event: Event,
        text: &str,
        acts: &[Act],
        thread: usize,
        before: &[Option<usize>],
    ) -> Result<Option<usize>, String> {
        let op = text.split('(').next().unwrap_or_default();
        // A fence that orders nothing is a place for what is late; an announced wait orders nothing either.
        if matches!(event.op(), Op::Pin | Op::ReadPin | Op::Fence | Op::JoinRequest) {
            return Ok(None);
        }
        let sites = sites_and_values(acts);
        let name = |start: &str| text[start.len() + 1..].split(')').next().unwrap_or_default().to_owned();
        let site = self.names.site(event.site());
        let is_it = |i: &usize| {
            let act = &acts[*i];
            act.thread == thread
                && !before.contains(&Some(*i))
                && match act.what {
                    Do::Access(way, v) => {
                        let here = line(site).and_then(|line| self.source.lines.get(&line));
                        op == way.text() && name(op) == VARIABLES[v].name && here == Some(&(way, v, sites[*i].0))
                    }
                    Do::Acquire(l) => op == "acq" && name(op) == LOCKS[l],
                    Do::Release(l) => op == "rel" && name(op) == LOCKS[l],
                    Do::Fork(t) => text == format!("fork(t{t})"),
                    Do::Join(t) => text == format!("join(t{t})"),
                    Do::Make(_) | Do::Take(_) => false,
                }
        };
        (0..acts.len())
            .find(is_it)
            .map(Some)
            .ok_or_else(|| format!("t{thread}|{text}|{site} is no act, or was recorded twice"))
    }

    /// What an event does, with the names of the program.
    fn text(&self, trace: &Trace, event: Event) -> String {
        let text = event_text(self.names, &trace.batch, event);
        match event.op() {
            Op::Fork | Op::Join => {
                let name = &text[5..text.len() - 1];
                let thread = self.threads.get(name).map_or(name.to_owned(), |(_, thread)| format!("t{thread}"));
                format!("{}({thread})", &text[..4])
            }
            _ => without_numbers(&text),
        }
    }
}

/// The traces of programs, out of that of them all. An error names what no act explains.
pub(crate) fn recorded(
    trace: &Trace,
    programs: &BTreeMap<u64, Vec<Act>>,
    source: &Source,
) -> BTreeMap<u64, Result<Recorded, String>> {
    let names = &trace.names;
    let known = trace
        .meta
        .threads
        .iter()
        .filter_map(|info| thread_of(names.str(info.name)).map(|thread| (names.thread(info.thread), thread)));
    let mut reader = Reader { source, names, threads: known.collect() };
    let mut all: BTreeMap<u64, Result<Recorded, String>> =
        programs.keys().map(|&number| (number, Ok(Recorded::default()))).collect();
    for &event in &trace.batch.events {
        let Some(&(number, thread)) = reader.threads.get(names.thread(event.thread())) else { continue };
        let acts = &programs[&number];
        let of = all.get_mut(&number).expect("a program");
        let Ok(one) = of else { continue };
        if event.op() == Op::Fork {
            // A thread that does nothing never says its name.
            let is_next = |i: &usize| acts[*i].thread == thread && !one.was.contains(&Some(*i));
            let mut forks = (0..acts.len())
                .filter(is_next)
                .filter_map(|i| if let Do::Fork(t) = acts[i].what { Some(t) } else { None });
            let child = names.get(Space::Thread, event.object());
            reader.threads.entry(child).or_insert_with(|| (number, forks.next().unwrap_or(usize::MAX)));
        }
        let text = reader.text(trace, event);
        match reader.act(event, &text, acts, thread, &one.was) {
            Ok(act) => {
                let site = act.map_or(String::new(), |act| act.to_string());
                // Initial values are unknown here.
                let is_known = event.op() != Op::AtomicLoad || act.is_some_and(|act| loaded(acts)[act].is_some());
                let text = if is_known { &text } else { text.split('=').next().unwrap_or_default() };
                writeln!(one.text, "t{thread}|{text}|{site}").expect("a string");
                one.was.push(act);
            }
            Err(error) => *of = Err(format!("{error}\nafter\n{}", one.text)),
        }
    }
    all
}
