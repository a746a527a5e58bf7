//! Orders of a window's events in which a notify comes between the test and the wait.

use super::{LostWakeup, Waits};
use crate::windows::{Schedule, Search, offset};
use event::{Batch, Names, Value, VarId};
use reach::{Answer, Question, Reach, Window, Windows};

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
        let mut windows = Windows::new(names, batch, search.window);
        loop {
            let mut mine: Vec<usize> = Vec::new();
            let wanted = windows.next_with(|range| {
                let range = range.start as u64..range.end as u64;
                let notify = |k: &usize| waits.candidates[*k].notify.event;
                let from = order.partition_point(|k| notify(k) < range.start);
                let to = order.partition_point(|k| notify(k) < range.end);
                let common = |k: &&usize| range.contains(&waits.candidates[**k].wait.event);
                mine = order[from..to].iter().filter(common).copied().filter(|&k| states[k] != State::Lost).collect();
                !mine.is_empty()
            });
            let Some(window) = wanted else { break };
            let mut reach = Reach::new(names, &window.batch, window.fixed, initial);
            for k in mine {
                if search.is_over() {
                    break;
                }
                let (state, lost) = ask(&mut reach, &window, waits, k, search);
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
    window: &Window,
    waits: &Waits,
    k: usize,
    search: &Search<'_>,
) -> (State, Option<LostWakeup>) {
    let wakeup = waits.candidates[k];
    let (Some(wait), Some(notify)) = (offset(window, wakeup.wait.event), offset(window, wakeup.notify.event)) else {
        return (State::Apart, None);
    };
    // A test before the window has happened before everything in it.
    let test = offset(window, wakeup.test.event);
    let before: Vec<(u32, u32)> = test.map(|test| (test, notify)).into_iter().chain([(notify, wait)]).collect();
    let question = Question { next: &[], contains: &[wait], before: &before };
    match reach.ask(&question, &search.limits()) {
        Answer::Reached(prefix) => {
            let end = prefix.iter().position(|&event| event == wait).map_or(prefix.len(), |at| at + 1);
            let schedule = Schedule::new(window, &prefix[..end]);
            (State::Lost, Some(LostWakeup { wakeup, schedule }))
        }
        Answer::Impossible => (State::Impossible, None),
        Answer::Undecided => (State::Undecided, None),
    }
}
