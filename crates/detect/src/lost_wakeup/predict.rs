//! Orders of a window's events in which a notify comes between the test and the wait.

use super::{LostWakeup, Waits};
use crate::windows::{Schedule, Search, offset};
use event::{Batch, Names, Value, VarId};
use reach::{Answer, Excerpt, Excerpts, Question, Reach};

/// What a search found, and what it left out.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Predicted {
    /// Wake-ups that another run loses.
    pub lost: Vec<LostWakeup>,
    /// Candidates for which a limit was met.
    pub undecided: u64,
    /// Candidates whose wait and notify are in no common window.
    pub apart: u64,
    /// Candidates not looked at, because time was up.
    pub unasked: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Apart,
    Impossible,
    Undecided,
    Lost,
}

/// Looks for orders that lose one of the candidates, in windows of the whole trace.
pub fn predict(
    names: &Names,
    batch: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    waits: &Waits,
    search: &Search<'_>,
) -> Predicted {
    let mut found = Predicted::default();
    let mut states = vec![State::Apart; waits.candidates.len()];
    let mut unseen = waits.candidates.len();
    if unseen > 0 {
        // In the order of their notifies: those of a window stand together.
        let mut order: Vec<usize> = (0..waits.candidates.len()).collect();
        order.sort_by_key(|&k| waits.candidates[k].notify.event);
        let mut excerpts = Excerpts::new(names, batch, search.window);
        loop {
            let mut mine: Vec<usize> = Vec::new();
            let wanted = excerpts.next_with(|window| {
                let window = window.start as u64..window.end as u64;
                let notify = |k: &usize| waits.candidates[*k].notify.event;
                let from = order.partition_point(|k| notify(k) < window.start);
                let to = order.partition_point(|k| notify(k) < window.end);
                let common = |k: &&usize| window.contains(&waits.candidates[**k].wait.event);
                mine = order[from..to].iter().filter(common).copied().filter(|&k| states[k] != State::Lost).collect();
                !mine.is_empty()
            });
            let Some(excerpt) = wanted else { break };
            let mut reach = Reach::new(names, &excerpt.batch, excerpt.fixed, initial);
            for k in mine {
                if search.is_over() {
                    break;
                }
                let (state, lost) = ask(&mut reach, &excerpt, waits, k, search);
                unseen -= usize::from(states[k] == State::Apart);
                // What one window could not decide, another that shows nothing does not decide either.
                if states[k] != State::Undecided || state == State::Lost {
                    states[k] = state;
                }
                found.lost.extend(lost);
            }
            if search.is_over() {
                break;
            }
        }
    }
    let unseen = unseen as u64;
    if search.is_over() {
        found.unasked = unseen;
    } else {
        found.apart = unseen;
    }
    found.undecided = states.iter().filter(|&&state| state == State::Undecided).count() as u64;
    found.lost.sort_by_key(|lost| (lost.wakeup.wait.event, lost.wakeup.notify.event));
    found
}

fn ask(
    reach: &mut Reach,
    excerpt: &Excerpt,
    waits: &Waits,
    k: usize,
    search: &Search<'_>,
) -> (State, Option<LostWakeup>) {
    let wakeup = waits.candidates[k];
    let (Some(wait), Some(notify)) = (offset(excerpt, wakeup.wait.event), offset(excerpt, wakeup.notify.event)) else {
        return (State::Apart, None);
    };
    // A test before the window has happened before everything in it.
    let test = offset(excerpt, wakeup.test.event);
    let before: Vec<(u32, u32)> = test.map(|test| (test, notify)).into_iter().chain([(notify, wait)]).collect();
    let question = Question { next: &[], contains: &[wait], before: &before };
    match reach.ask(&question, &search.limits()) {
        Answer::Reached(prefix) => {
            let end = prefix.iter().position(|&event| event == wait).map_or(prefix.len(), |at| at + 1);
            let schedule = Schedule::new(excerpt, &prefix[..end]);
            (State::Lost, Some(LostWakeup { wakeup, schedule }))
        }
        Answer::Impossible => (State::Impossible, None),
        Answer::Undecided => (State::Undecided, None),
    }
}
