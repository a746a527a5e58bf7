//! Which events of a stretch of two orders matter to a reader: those of the finding, those that moved, the orders
//! between its threads, and the frame around them: where the locks were taken that they hold.

use super::{NEVER, Rank, ScheduleView};
use event::{Event, Op, ThreadId};
use std::collections::{HashMap, HashSet};

/// What the finding rests on: its events, and the locks held at them.
const CORE: Rank = 0;
/// Orders between its threads, and the ends of what moved.
const ORDER: Rank = 1;
/// What else moved.
const MOVED: Rank = 2;

/// By position in `recorded`: how much each event matters. `moved` goes by position in `predicted`.
pub(super) fn ranks(view: &ScheduleView<'_>, recorded: &[u64], predicted: &[u64], moved: &[bool]) -> Vec<Rank> {
    let mut matter = Matter { recorded, ranks: vec![NEVER; recorded.len()] };
    view.marks.iter().for_each(|&(event, _)| matter.is(event, CORE));
    let concerned = recorded.iter().copied().filter(|&event| (view.concerns)(event));
    let concerned: Vec<u64> = concerned.collect();
    concerned.iter().for_each(|&event| matter.is(event, ORDER));
    // Of a stretch of moved events its ends, in the order they come.
    let is_moved = |at: Option<usize>| at.and_then(|at| moved.get(at)) == Some(&true);
    for (at, &event) in predicted.iter().enumerate().filter(|&(at, &event)| moved[at] && !view.is_filler(event)) {
        let is_end = !is_moved(at.checked_sub(1)) || !is_moved(Some(at + 1));
        matter.is(event, if is_end { ORDER } else { MOVED });
    }
    let mut sweep = Sweep::new(view, predicted, &concerned);
    for (at, &index) in predicted.iter().enumerate() {
        sweep.step(at, index, moved[at], &mut matter);
    }
    sweep.finish(recorded, &mut matter);
    matter.ranks
}

/// The ranks so far.
struct Matter<'a> {
    recorded: &'a [u64],
    ranks: Vec<Rank>,
}

impl Matter<'_> {
    fn is(&mut self, event: u64, rank: Rank) {
        if let Ok(at) = self.recorded.binary_search(&event) {
            self.ranks[at] = self.ranks[at].min(rank);
        }
    }
}

/// An event that lets others go on, and its thread.
type Let = (u64, ThreadId);

/// What is known on the way along the predicted order.
struct Sweep<'a> {
    view: &'a ScheduleView<'a>,
    /// By thread of the finding: where in the predicted order its last event of the finding is.
    threads: HashMap<ThreadId, usize>,
    /// The locks that each thread holds: the lock, and the event that took it.
    held: HashMap<ThreadId, Vec<(u32, u64)>>,
    /// By lock: who gave it back last.
    released: HashMap<u32, Let>,
    /// By operation and object: who let others pass last.
    passed: HashMap<(Op, u32), Let>,
    /// By event that took a lock: the release that it has to come after, unlike in the recorded order.
    after: HashMap<u64, u64>,
    /// By thread, operation and object: the last event that another thread of the finding let happen, and that
    /// thread's event.
    orders: HashMap<(ThreadId, Op, u32), (u64, u64)>,
}

impl<'a> Sweep<'a> {
    fn new(view: &'a ScheduleView<'a>, predicted: &[u64], concerned: &[u64]) -> Sweep<'a> {
        let thread = |index: u64| view.event(index).thread();
        let of_finding: HashSet<u64> = view.marks.iter().map(|(event, _)| *event).chain(concerned.to_vec()).collect();
        let at = predicted.iter().enumerate().filter(|(_, event)| of_finding.contains(event));
        // The last one counts.
        let threads = at.map(|(at, &event)| (thread(event), at)).collect();
        let (held, released, passed) = Default::default();
        Sweep { view, threads, held, released, passed, after: HashMap::new(), orders: HashMap::new() }
    }

    fn step(&mut self, at: usize, index: u64, moved: bool, matter: &mut Matter<'_>) {
        let event = self.view.event(index);
        let (op, thread) = (event.op(), event.thread());
        let are_both = self.threads.contains_key(&thread) && self.threads.contains_key(&ThreadId(event.object()));
        if op == Op::Fork && are_both {
            matter.is(index, ORDER);
        }
        if self.view.is_marked(index) {
            for &(_, taken) in self.held.get(&thread).into_iter().flatten() {
                matter.is(taken, CORE);
                if let Some(&release) = self.after.get(&taken) {
                    matter.is(release, ORDER);
                }
            }
        }
        let is_of_finding = self.threads.get(&thread).is_some_and(|&last| at <= last);
        if let Some(lock) = self.view.lock(event) {
            let held = self.held.entry(thread).or_default();
            if op.opens_section() {
                held.push((lock, index));
                let release = self.released.get(&lock).filter(|&&(release, by)| by != thread && release > index);
                if let Some(&(release, _)) = release {
                    self.after.insert(index, release);
                    if moved && is_of_finding {
                        matter.is(release, ORDER);
                    }
                }
            } else if op.closes_section() {
                if let Some(place) = held.iter().rposition(|(known, _)| *known == lock) {
                    held.remove(place);
                }
                self.released.insert(lock, (index, thread));
            }
        }
        self.order(index, event, is_of_finding, matter);
    }

    /// What a thread of the finding waited for, and who of the others ended that.
    fn order(&mut self, index: u64, event: Event, is_of_finding: bool, matter: &mut Matter<'_>) {
        let (op, thread, object) = (event.op(), event.thread(), event.object());
        let by = match op {
            Op::Post | Op::Up => op,
            Op::Notify | Op::NotifyAll => Op::Notify,
            Op::Await => Op::Post,
            Op::Down => Op::Up,
            Op::Woken => Op::Notify,
            Op::Join if is_of_finding && self.threads.contains_key(&ThreadId(object)) => {
                return matter.is(index, ORDER);
            }
            _ => return,
        };
        if !op.blocks() {
            self.passed.insert((by, object), (index, thread));
        } else if is_of_finding
            && let Some(&(let_by, other)) = self.passed.get(&(by, object))
            && other != thread
            && self.threads.contains_key(&other)
        {
            self.orders.insert((thread, op, object), (let_by, index));
        }
    }

    fn finish(self, recorded: &[u64], matter: &mut Matter<'_>) {
        for (let_by, index) in self.orders.into_values() {
            matter.is(let_by, ORDER);
            matter.is(index, ORDER);
        }
        // Who would end a wait of the finding: the recorded run may show it.
        let waits = self.view.marks.iter().map(|&(event, _)| self.view.event(event));
        let wanted = waits.filter_map(|wait| match wait.op() {
            Op::AwaitRequest | Op::Await => Some((Op::Post, wait.object(), wait.thread())),
            Op::DownRequest | Op::Down => Some((Op::Up, wait.object(), wait.thread())),
            _ => None,
        });
        for (op, object, waiting) in wanted {
            let mut of_others = recorded.iter().copied().filter(|&index| {
                let event = self.view.event(index);
                let other = event.thread();
                event.op() == op && event.object() == object && other != waiting && self.threads.contains_key(&other)
            });
            if let Some(first) = of_others.next() {
                matter.is(first, ORDER);
            }
        }
    }
}
