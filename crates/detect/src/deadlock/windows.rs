//! What has no sync-preserving prefix is asked window by window: is there any feasible one?

use super::patterns::Pattern;
use super::requests::Requests;
use super::{Candidate, DeadlockOptions, Deadlocks, Evidence};
use crate::Schedule;
use event::{Batch, Names, Value, VarId};
use reach::{Answer, Excerpt, Excerpts, Limits, Question, Reach};
use std::time::Instant;

/// Asks about every candidate that is left, in every window that has all of a cycle.
pub(super) fn search(
    names: &Names,
    batch: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    requests: &Requests,
    options: &DeadlockOptions<'_>,
    candidates: &mut [Candidate],
    report: &mut Deadlocks,
) {
    let events = batch.events.len();
    let mut left = 1 + events.saturating_sub(options.window).div_ceil((options.window / 2).max(1));
    for excerpt in Excerpts::new(names, batch, options.window) {
        report.windows += 1;
        let deadline = options.deadline.map(|deadline| {
            let now = Instant::now();
            now + deadline.saturating_duration_since(now) / u32::try_from(left.max(1)).unwrap_or(u32::MAX)
        });
        left = left.saturating_sub(1);
        let limits = Limits { steps: options.question_steps, deadline, stop: options.stop };
        let mut reach = None;
        let mut decided = true;
        for candidate in candidates.iter_mut().filter(|candidate| candidate.found.is_none()) {
            let tuples = tuples(&candidate.patterns, requests, &excerpt, options.most_questions);
            let mut answered = tuples.all;
            for tuple in tuples.list {
                let reach = reach.get_or_insert_with(|| Reach::new(names, &excerpt.batch, excerpt.fixed, initial));
                let offset = |event: u64| (excerpt.fixed as u64 + event - excerpt.window.start) as u32;
                let next: Vec<u32> = tuple.iter().map(|&event| offset(event)).collect();
                match reach.ask(&Question { next: &next, ..Question::default() }, &limits) {
                    Answer::Reached(prefix) => {
                        candidate.found = Some((Evidence::Maximal, tuple, Schedule::new(&excerpt, &prefix)));
                        break;
                    }
                    Answer::Impossible => {}
                    Answer::Undecided => {
                        answered = false;
                        if options.is_over() {
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
        let apart = candidates.iter().filter(|candidate| {
            candidate.found.is_none() && candidate.patterns.iter().any(|pattern| span(pattern, requests) > near)
        });
        report.apart = apart.count() as u64;
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

fn tuples(patterns: &[Pattern], requests: &Requests, excerpt: &Excerpt, most: usize) -> Tuples {
    let mut tuples = Tuples { list: Vec::new(), all: true };
    for pattern in patterns {
        let parts: Vec<&[(u32, u32)]> = pattern
            .requests
            .iter()
            .map(|&number| {
                let events = &requests.list[number as usize].events;
                let from = events.partition_point(|event| u64::from(event.0) < excerpt.window.start);
                let to = events.partition_point(|event| u64::from(event.0) < excerpt.window.end);
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
