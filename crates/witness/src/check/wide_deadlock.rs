//! Deadlocks around more than locks, by docs/detectors.md: after a feasible prefix, threads stand at requests that they
//! block for each other.

use super::claims::check_prefix;
use super::common;
use super::conditions::pairs;
use super::locks::LockCheck;
use super::positions::Positions;
use super::refusal::{Reason, Refusal, WrongClaim};
use super::semaphores::initial_counts;
use crate::sections::effect;
use event::{Batch, Causality, Event, Names, Op, Space, Value, VarId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// Checks a deadlock around any requests: `prefix` is feasible, the threads of `requests` stand at them, all of these
/// are blocked by the others, and no smaller set of two or more of them blocks itself. A `wait` stands in the prefix.
pub fn check_wide_deadlock(
    model: Causality,
    names: &Names,
    trace: &Batch,
    initial: &dyn Fn(VarId) -> Value,
    prefix: &[u64],
    requests: &[u64],
) -> Result<(), Refusal> {
    let event = |index: u64| index.checked_sub(trace.first).and_then(|at| trace.events.get(usize::try_from(at).ok()?));
    let is_wait = |index: &&u64| event(**index).is_some_and(|event| event.op() == Op::Wait);
    let next: Vec<u64> = requests.iter().filter(|index| !is_wait(index)).copied().collect();
    let mut positions = Positions::new(trace.first, trace.events.len(), &[prefix, &next].concat())?;
    let behind: Vec<u32> = next.iter().map(|&index| positions.offset(index)).collect();
    check_prefix(model, names, trace, initial, prefix, &mut positions, &behind);
    common::check(names, trace, &mut positions);
    let refuse = |index: u64, claim| {
        let position = prefix.iter().position(|&other| other == index).unwrap_or(prefix.len());
        Refusal { position, event: index, reason: Reason::WrongClaim(claim) }
    };
    // A wait that is claimed is in the prefix; only then may offsets be made of all requests.
    if let Some(&wait) = requests.iter().filter(is_wait).find(|index| !prefix.contains(index)) {
        return Err(refuse(wait, WrongClaim::Missing));
    }
    let mut unused = Positions::new(trace.first, trace.events.len(), &[])?;
    let locks = LockCheck::new(names, trace, &mut unused);
    let open = locks.open_sections(trace, prefix, &positions);
    positions.into_result()?;

    let scene = Scene::new(trace, prefix, open);
    let mut stands: BTreeMap<u32, Stand> = BTreeMap::new();
    for &index in requests {
        let at = (index - trace.first) as u32;
        let stand = scene.stand(names, &locks, at).map_err(|claim| refuse(index, claim))?;
        if stands.insert(trace.events[at as usize].thread().0, stand).is_some() {
            return Err(refuse(index, WrongClaim::SameThread));
        }
    }
    let index_of = |thread: &u32| trace.first + u64::from(stands[thread].at);
    let all: BTreeSet<u32> = stands.keys().copied().collect();
    if let Some(free) = scene.first_free(&stands, &all) {
        return Err(refuse(index_of(&free), WrongClaim::CanGoOn));
    }
    if all.len() < 2 {
        let lonely = requests.first().copied().unwrap_or(trace.first);
        return Err(refuse(lonely, WrongClaim::NoCycle));
    }
    for without in &all {
        let mut part: BTreeSet<u32> = all.iter().copied().filter(|thread| thread != without).collect();
        // What a set blocks, a larger one blocks, too: taking out what is free leaves the greatest part that blocks
        // itself.
        while let Some(free) = scene.first_free(&stands, &part) {
            part.remove(&free);
        }
        if part.len() >= 2 {
            return Err(refuse(index_of(without), WrongClaim::NotNeeded));
        }
    }
    Ok(())
}

/// What a thread waits for.
#[derive(Clone, Copy)]
enum Wanted {
    /// A lock, and whether it is requested shared.
    Lock(u32, bool),
    End(u32),
    /// Something that these operations on the object grant, and that is not there.
    Grant(u32, &'static [Op]),
    /// Something that is there.
    Nothing,
}

/// Where a thread stands.
struct Stand {
    at: u32,
    wanted: Wanted,
}

/// The trace and the prefix, as far as they matter here.
struct Scene<'a> {
    trace: &'a Batch,
    in_prefix: HashSet<u32>,
    /// The last event of the prefix of each thread, pins aside.
    last: HashMap<u32, u32>,
    /// Threads with an event in the prefix.
    acted: HashSet<u32>,
    /// By thread, lock and whether shared: open sections.
    open: BTreeMap<(u32, u32, bool), u32>,
    /// By thread: who forks it outside of the prefix; none if some fork is inside.
    forkers: HashMap<u32, Option<BTreeSet<u32>>>,
    /// By object and operation that grants: the threads that do so outside of the prefix.
    granters: HashMap<(Op, u32), BTreeSet<u32>>,
    prefix: Vec<u32>,
}

impl<'a> Scene<'a> {
    fn new(trace: &'a Batch, prefix: &[u64], open: BTreeMap<(u32, u32, bool), u32>) -> Scene<'a> {
        let prefix: Vec<u32> = prefix.iter().map(|&index| (index - trace.first) as u32).collect();
        let mut scene = Scene {
            trace,
            in_prefix: prefix.iter().copied().collect(),
            last: HashMap::new(),
            acted: HashSet::new(),
            open,
            forkers: HashMap::new(),
            granters: HashMap::new(),
            prefix,
        };
        for &at in &scene.prefix {
            let event = trace.events[at as usize];
            scene.acted.insert(event.thread().0);
            if !event.op().is_drop_barrier() {
                scene.last.insert(event.thread().0, at);
            }
        }
        for (at, event) in (0u32..).zip(&trace.events) {
            let outside = !scene.in_prefix.contains(&at);
            match event.op() {
                Op::Fork => {
                    let forkers = scene.forkers.entry(event.object()).or_insert_with(|| Some(BTreeSet::new()));
                    match forkers {
                        Some(list) if outside => drop(list.insert(event.thread().0)),
                        _ => *forkers = None,
                    }
                }
                op @ (Op::Post | Op::Up | Op::Notify | Op::NotifyAll) if outside => {
                    scene.granters.entry((op, event.object())).or_default().insert(event.thread().0);
                }
                _ => {}
            }
        }
        scene
    }

    /// The next event of its thread after an event, drop barriers aside.
    fn goes_on_with(&self, at: u32) -> Option<Event> {
        let thread = self.trace.events[at as usize].thread();
        let own = |event: &&Event| event.thread() == thread && !event.op().is_drop_barrier();
        self.trace.events[at as usize + 1..].iter().find(own).copied()
    }

    /// What the thread of a request waits for there.
    fn stand(&self, names: &Names, locks: &LockCheck, at: u32) -> Result<Stand, WrongClaim> {
        let event = self.trace.events[at as usize];
        let (thread, object) = (event.thread().0, event.object());
        let holds_alone = self.open.contains_key(&(thread, object, false));
        let answered_by = |op: Op| self.goes_on_with(at).is_none_or(|next| next.op() == op && next.object() == object);
        let wanted = match event.op() {
            Op::Acquire if locks.effect(at) & effect::OPENS != 0 => Wanted::Lock(object, false),
            Op::ReadAcquire if locks.effect(at) & effect::OPENS_SHARED != 0 => Wanted::Lock(object, true),
            Op::Request if !holds_alone => Wanted::Lock(object, false),
            Op::JoinRequest if answered_by(Op::Join) => Wanted::End(object),
            Op::AwaitRequest if answered_by(Op::Await) && !self.awaited_without_post(object) => {
                let posts = self.count(Op::Post, object);
                if posts < needed_posts(names, self.trace, object) {
                    Wanted::Grant(object, &[Op::Post])
                } else {
                    Wanted::Nothing
                }
            }
            Op::DownRequest if answered_by(Op::Down) && !self.goes_below_zero(names, object) => {
                let initial = initial_counts(names, self.trace)[object as usize];
                if initial + self.count(Op::Up, object) > self.count(Op::Down, object) {
                    Wanted::Nothing
                } else {
                    Wanted::Grant(object, &[Op::Up])
                }
            }
            Op::Wait if self.last.get(&thread) == Some(&at) => {
                let paired = || pairs(names, self.trace).iter().any(|pair| pair.wait == at);
                if self.goes_on_with(at).is_some() && !paired() {
                    return Err(WrongClaim::NotARequest);
                }
                let after = self.prefix.iter().skip_while(|&&other| other != at);
                let mut after = after.map(|&other| self.trace.events[other as usize]);
                if after.any(|other| other.op().notifies() && other.object() == object) {
                    Wanted::Nothing
                } else {
                    Wanted::Grant(object, &[Op::Notify, Op::NotifyAll])
                }
            }
            _ => return Err(WrongClaim::NotARequest),
        };
        Ok(Stand { at, wanted })
    }

    /// How many events of the prefix do this to an object.
    fn count(&self, op: Op, object: u32) -> u64 {
        let is_it = |at: &&u32| {
            let event = self.trace.events[**at as usize];
            event.op() == op && event.object() == object
        };
        self.prefix.iter().filter(is_it).count() as u64
    }

    fn awaited_without_post(&self, latch: u32) -> bool {
        let of_it = |event: &&Event| matches!(event.op(), Op::Post | Op::Await) && event.object() == latch;
        self.trace.events.iter().find(of_it).is_some_and(|first| first.op() == Op::Await)
    }

    fn goes_below_zero(&self, names: &Names, sem: u32) -> bool {
        let mut count = initial_counts(names, self.trace)[sem as usize];
        for event in self.trace.events.iter().filter(|event| event.op().counts() && event.object() == sem) {
            match event.op() {
                Op::Up => count = count.saturating_add(1),
                _ if count == 0 => return true,
                _ => count -= 1,
            }
        }
        false
    }

    /// The threads of a set, and those that only these could fork.
    fn held_back(&self, part: &BTreeSet<u32>) -> BTreeSet<u32> {
        let mut held = part.clone();
        loop {
            let new = self.forkers.iter().filter(|(thread, forkers)| {
                let by_held = forkers.as_ref().is_some_and(|forkers| forkers.is_subset(&held));
                by_held && !held.contains(thread) && !self.acted.contains(thread)
            });
            let new: Vec<u32> = new.map(|(&thread, _)| thread).collect();
            if new.is_empty() {
                return held;
            }
            held.extend(new);
        }
    }

    /// The first thread of a set whose request the set does not block.
    fn first_free(&self, stands: &BTreeMap<u32, Stand>, part: &BTreeSet<u32>) -> Option<u32> {
        let held = self.held_back(part);
        let blocked = |thread: u32| match stands[&thread].wanted {
            Wanted::Nothing => false,
            Wanted::Lock(lock, to_share) => part.iter().any(|&other| {
                let has = |shared: bool| self.open.contains_key(&(other, lock, shared));
                other != thread && (has(false) || (!to_share && has(true)))
            }),
            // A thread that has not begun is not waited for.
            Wanted::End(other) => other != thread && part.contains(&other),
            Wanted::Grant(object, ops) => {
                let by = || ops.iter().filter_map(|&op| self.granters.get(&(op, object))).flatten();
                by().all(|granter| held.contains(granter)) && by().any(|&granter| granter != thread)
            }
        };
        part.iter().copied().find(|&thread| !blocked(thread))
    }
}

/// How many posts an await of a latch-like object needs: what `#! init` says last before its first use, else 1.
fn needed_posts(names: &Names, trace: &Batch, latch: u32) -> u64 {
    let uses = |event: &Event| event.op().space() == Some(Space::Latch) && event.object() == latch;
    let first = trace.events.iter().position(uses).unwrap_or(usize::MAX);
    let given =
        |init: &&event::Init| init.before as usize <= first && names.str(init.name) == names.get(Space::Latch, latch);
    match trace.inits.iter().rfind(given).map(|init| init.value) {
        Some(Value::Int(count)) => u64::try_from(count).unwrap_or(0),
        _ => 1,
    }
}
