//! What has no sync-preserving prefix is asked window by window: is there any feasible one?

use super::candidates::Candidates;
use super::patterns::{Pattern, Patterns};
use super::requests::Requests;
use super::{DeadlockOptions, Deadlocks, Evidence};
use crate::windows::{Schedule, offset};
use event::{Batch, Names, Value, VarId};
use reach::{Answer, Limits, Question, Reach, Window, Windows};
use rustc_hash::FxHashMap;
use std::time::Instant;

/// All windows together add so many times as many patterns as the whole trace may have.
const MOST_TIMES: usize = 4;

/// Asks about every candidate that is left, in every window that has all of a cycle. If not all patterns are known,
/// those of the window are looked for before.
pub(super) fn search(
    names: &Names,
    batch: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    requests: &Requests,
    options: &DeadlockOptions<'_>,
    candidates: &mut Candidates,
    report: &mut Deadlocks,
) {
    let events = batch.events.len();
    let mut left = Windows::count(events, options.window) as u32;
    let order = requests.in_order();
    let mut by_request = ByRequest::default();
    for window in Windows::new(names, batch, options.window) {
        if options.is_over() {
            report.undecided_windows += u64::from(left);
            let unknown = candidates.list.iter_mut().filter(|candidate| candidate.found.is_none());
            unknown.for_each(|candidate| candidate.undecided = true);
            break;
        }
        report.windows += 1;
        let some = of_window(&order, &window);
        let mut decided = true;
        if !report.all_patterns {
            let room = options.most_patterns.saturating_mul(MOST_TIMES).saturating_sub(candidates.patterns() as usize);
            let most = options.most_patterns.min(room);
            let found = Patterns::find(requests, &some, most, options.pattern_steps);
            decided = found.all;
            candidates.add(requests, found.patterns);
        }
        by_request.update(candidates);
        let now = Instant::now();
        let deadline = options.deadline.map(|deadline| now + deadline.saturating_duration_since(now) / left.max(1));
        left = left.saturating_sub(1);
        let limits = Limits { steps: options.question_steps, deadline, stop: options.stop };
        let mut reach = None;
        for number in by_request.candidates(&some) {
            let candidate = &mut candidates.list[number];
            if candidate.found.is_some() {
                continue;
            }
            let tuples = tuples(&candidate.patterns, requests, &window, options.most_questions);
            let mut answered = tuples.all;
            for tuple in tuples.list {
                let reach = reach.get_or_insert_with(|| Reach::new(names, &window.batch, window.fixed, initial));
                let next: Vec<u32> = tuple.iter().filter_map(|&event| offset(&window, event)).collect();
                match reach.ask(&Question { next: &next, ..Question::default() }, &limits) {
                    Answer::Reached(prefix) => {
                        candidate.found = Some((Evidence::Maximal, tuple, Schedule::new(&window, &prefix)));
                        break;
                    }
                    Answer::Impossible => {}
                    Answer::Undecided => {
                        answered = false;
                        if (DeadlockOptions { deadline, ..*options }).is_over() {
                            break;
                        }
                    }
                }
            }
            if candidate.found.is_none() && !answered {
                candidate.undecided = true;
                decided = false;
            }
        }
        report.undecided_windows += u64::from(!decided);
    }
    if events > options.window {
        let near = (options.window / 2) as u32;
        let apart = candidates.list.iter().filter(|candidate| {
            candidate.found.is_none() && candidate.patterns.iter().any(|pattern| span(pattern, requests) > near)
        });
        report.apart = apart.count() as u64;
    }
}

/// The abstract requests that a window has an event of, in order.
fn of_window(order: &[(u32, u32)], window: &Window) -> Vec<u32> {
    let from = order.partition_point(|request| u64::from(request.0) < window.range.start);
    let to = order.partition_point(|request| u64::from(request.0) < window.range.end);
    let mut some: Vec<u32> = order[from..to].iter().map(|request| request.1).collect();
    some.sort_unstable();
    some.dedup();
    some
}

/// By abstract request: the candidates that begin with it.
#[derive(Default)]
struct ByRequest {
    candidates: FxHashMap<u32, Vec<usize>>,
    /// Of each candidate: how many patterns are here.
    known: Vec<usize>,
}

impl ByRequest {
    fn update(&mut self, candidates: &Candidates) {
        self.known.resize(candidates.list.len(), 0);
        for (number, candidate) in candidates.list.iter().enumerate() {
            for pattern in &candidate.patterns[self.known[number]..] {
                self.candidates.entry(pattern.requests[0]).or_default().push(number);
            }
            self.known[number] = candidate.patterns.len();
        }
    }

    /// Those that these may be part of, each once, in order.
    fn candidates(&self, some: &[u32]) -> Vec<usize> {
        let mut all: Vec<usize> =
            some.iter().filter_map(|request| self.candidates.get(request)).flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// How far apart the requests of an instance can be.
fn span(pattern: &Pattern, requests: &Requests) -> u32 {
    let events = || pattern.requests.iter().flat_map(|&number| &requests.list[number as usize].events);
    let (first, last) = (events().map(|event| event.0).min(), events().map(|event| event.0).max());
    last.unwrap_or(0) - first.unwrap_or(0)
}

/// Instances of patterns in a window.
struct Tuples {
    list: Vec<Vec<u64>>,
    /// These are all.
    all: bool,
}

fn tuples(patterns: &[Pattern], requests: &Requests, window: &Window, most: usize) -> Tuples {
    let mut tuples = Tuples { list: Vec::new(), all: true };
    for pattern in patterns {
        let parts: Vec<&[(u32, u32)]> = pattern
            .requests
            .iter()
            .map(|&number| {
                let events = &requests.list[number as usize].events;
                let from = events.partition_point(|event| u64::from(event.0) < window.range.start);
                let to = events.partition_point(|event| u64::from(event.0) < window.range.end);
                &events[from..to]
            })
            .collect();
        if parts.iter().all(|part| !part.is_empty()) {
            tuples.all &= choose(&parts, requests, &mut Vec::new(), &mut tuples.list, most);
        }
    }
    // Requests near each other need least.
    tuples
        .list
        .sort_by_key(|tuple| tuple.iter().max().copied().unwrap_or(0) - tuple.iter().min().copied().unwrap_or(0));
    tuples
}

/// Adds all ways to choose one request of each part; whether there was room.
fn choose(
    parts: &[&[(u32, u32)]],
    requests: &Requests,
    chosen: &mut Vec<(u32, u32)>,
    list: &mut Vec<Vec<u64>>,
    most: usize,
) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        if list.len() >= most {
            return false;
        }
        list.push(chosen.iter().map(|event| u64::from(event.0)).collect());
        return true;
    };
    for &event in *part {
        if chosen.iter().all(|other| requests.concurrent(other.1, event.1)) {
            chosen.push(event);
            let room = choose(rest, requests, chosen, list, most);
            chosen.pop();
            if !room {
                return false;
            }
        }
    }
    true
}
