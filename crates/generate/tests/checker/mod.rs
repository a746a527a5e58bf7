//! The rules of well-formed traces, one by one and slowly, straight from their definition.

use event::{Batch, Event, Names, Op, Space, Value, Wake};
use std::collections::{HashMap, HashSet};
use trace::Trace;

#[derive(Default)]
struct Lock {
    owner: Option<u32>,
    depth: usize,
    readers: HashMap<u32, usize>,
}

impl Lock {
    fn owned_by_other(&self, thread: u32) -> bool {
        self.owner.is_some_and(|o| o != thread)
    }

    fn read_by_other(&self, thread: u32) -> bool {
        self.readers.iter().any(|(&t, &n)| t != thread && n > 0)
    }
}

#[derive(Default)]
struct Thread {
    events: i64,
    joined: bool,
    blocks: Vec<u32>,
    requested: Option<u32>,
    /// Condition, lock, index of the wait, depth of the lock.
    waiting: Option<(u32, u32, usize, usize)>,
}

struct Notify {
    at: usize,
    all: bool,
    consumed: bool,
}

/// What has happened so far.
#[derive(Default)]
struct State {
    threads: HashMap<u32, Thread>,
    forked: HashSet<u32>,
    main: Option<u32>,
    locks: HashMap<u32, Lock>,
    notifies: HashMap<u32, Vec<Notify>>,
    counts: HashMap<u32, i64>,
    posted: HashSet<u32>,
    freed: HashSet<u32>,
    values: HashMap<u32, Value>,
    inits: HashMap<String, Value>,
    /// The threads that have accessed each variable.
    accessed: HashMap<u32, HashSet<u32>>,
    used: HashMap<Space, u32>,
    live: usize,
    most_live: usize,
}

/// What the checker saw on its way.
pub(crate) struct Summary {
    /// The most threads that were alive at once.
    pub(crate) most_live: usize,
    /// The threads that wait at the end.
    pub(crate) stranded: usize,
}

macro_rules! ensure {
    ($holds:expr, $($why:tt)*) => {
        if !$holds {
            return Err(format!($($why)*));
        }
    };
}

/// Whether the whole trace obeys every rule. `stranded`: threads may be left waiting at its end.
pub(crate) fn check(trace: &Trace, stranded: bool) -> Result<Summary, String> {
    let mut state = State::default();
    for init in &trace.batch.inits {
        ensure!(init.before == 0, "an initial value in the middle");
        state.inits.insert(trace.names.str(init.name).to_owned(), init.value);
    }
    for (at, &event) in trace.batch.events.iter().enumerate() {
        state
            .step(at, event, &trace.batch, &trace.names)
            .map_err(|why| format!("event {at} {event:?} {:?}: {why}", trace.batch.extra(event)))?;
    }
    state.end(stranded, &trace.names)
}

impl State {
    fn step(&mut self, at: usize, event: Event, batch: &Batch, names: &Names) -> Result<(), String> {
        let me = event.thread().0;
        self.dense(event, batch)?;
        if self.main.is_none() {
            self.main = Some(me);
            self.live = 1;
        }
        ensure!(self.main == Some(me) || self.forked.contains(&me), "an event before the fork");
        let thread = self.threads.entry(me).or_default();
        ensure!(!thread.joined, "an event after the join");
        ensure!(thread.waiting.is_none() || event.op() == Op::Woken, "an event of a waiting thread");
        if let Some(lock) = thread.requested.take() {
            let answer = matches!(event.op(), Op::Acquire | Op::ReadAcquire) && event.object() == lock;
            ensure!(answer, "an event of a thread that has asked for lock {lock}");
        }
        let position = thread.events;
        thread.events += 1;
        match event.op() {
            op if op.has_value() => self.access(event, batch, names),
            op if op.takes_lock() || op.gives_lock() || op == Op::TryFail => self.lock(event),
            Op::Wait | Op::Woken => self.wait(at, event, batch),
            Op::Notify | Op::NotifyAll => {
                let all = event.op() == Op::NotifyAll;
                self.notifies.entry(event.object()).or_default().push(Notify { at, all, consumed: false });
                Ok(())
            }
            // Whatever else a thread waits for, it may give up.
            op if op.announces() && op != Op::Request => Ok(()),
            Op::Request => {
                let lock = self.locks.entry(event.object()).or_default();
                ensure!(lock.owned_by_other(me) || lock.read_by_other(me), "a request of a free lock");
                self.threads.entry(me).or_default().requested = Some(event.object());
                Ok(())
            }
            Op::Fork => {
                let child = event.object();
                ensure!(self.main != Some(child) && self.forked.insert(child), "a second fork");
                self.live += 1;
                self.most_live = self.most_live.max(self.live);
                Ok(())
            }
            Op::Join => {
                ensure!(self.forked.contains(&event.object()), "a join without a fork");
                let child = self.threads.entry(event.object()).or_default();
                ensure!(!child.joined, "a second join");
                ensure!(child.blocks.is_empty() && child.waiting.is_none(), "a join of a thread not at its end");
                let holds = |l: &Lock| {
                    l.owner == Some(event.object()) || l.readers.get(&event.object()).is_some_and(|&n| n > 0)
                };
                ensure!(!self.locks.values().any(holds), "a join of a thread that holds a lock");
                child.joined = true;
                self.live -= 1;
                Ok(())
            }
            Op::Begin => {
                self.threads.entry(me).or_default().blocks.push(event.object());
                Ok(())
            }
            Op::End => {
                let open = self.threads.entry(me).or_default().blocks.pop();
                ensure!(open == Some(event.object()), "the end of a block that is not the innermost");
                Ok(())
            }
            Op::Post => {
                self.posted.insert(event.object());
                Ok(())
            }
            Op::Await => {
                ensure!(self.posted.contains(&event.object()), "an await without a post");
                Ok(())
            }
            op if op.counts() => self.semaphore(event, names),
            Op::Alloc => {
                self.freed.remove(&event.object());
                self.values.insert(event.object(), Value::Unknown);
                Ok(())
            }
            Op::Free => {
                ensure!(self.freed.insert(event.object()), "a second free");
                Ok(())
            }
            op if op.is_drop_barrier() => {
                let Value::Int(n) = batch.extra(event).value else { return Err("a pin without a position".into()) };
                ensure!((0..=position).contains(&n), "a pin at a position to come");
                let others = self.accessed.get(&event.object()).is_some_and(|a| a.iter().any(|&t| t != me));
                ensure!(!others, "a pin after another thread's access");
                Ok(())
            }
            Op::Fence => Ok(()),
            Op::Internal => {
                ensure!(batch.args(event).iter().all(|a| a.is_known()), "an unknown argument");
                Ok(())
            }
            op => Err(format!("no rule for `{}`", op.text())),
        }
    }

    /// Ids come in the order of their first use.
    fn dense(&mut self, event: Event, batch: &Batch) -> Result<(), String> {
        let mut uses = vec![(Space::Thread, event.thread().0), (Space::Site, event.site().0)];
        if let Some(space) = event.op().space() {
            uses.push((space, event.object()));
        }
        if event.op().has_lock_argument() {
            uses.push((Space::Lock, batch.extra(event).lock.0));
        }
        for (space, id) in uses {
            // Number 0 of these two has no name and is there from the start.
            let first = u32::from(matches!(space, Space::Site | Space::Block));
            let next = self.used.entry(space).or_insert(first);
            ensure!(id <= *next, "{space:?} {id} used before {next}");
            *next = (*next).max(id + 1);
        }
        Ok(())
    }

    fn access(&mut self, event: Event, batch: &Batch, names: &Names) -> Result<(), String> {
        let var = event.object();
        ensure!(!self.freed.contains(&var), "an access after free");
        self.accessed.entry(var).or_default().insert(event.thread().0);
        let value = batch.extra(event).value;
        if event.op().only_reads() {
            let initial = || self.inits.get(names.get(Space::Var, var)).copied().unwrap_or_default();
            let held = self.values.get(&var).copied().unwrap_or_else(initial);
            ensure!(value == held, "a read of {value:?} where {held:?} was written");
        } else {
            self.values.insert(var, value);
        }
        Ok(())
    }

    fn lock(&mut self, event: Event) -> Result<(), String> {
        let me = event.thread().0;
        let lock = self.locks.entry(event.object()).or_default();
        match event.op() {
            Op::Acquire | Op::TryAcquire => {
                ensure!(!lock.owned_by_other(me), "an acquire of an owned lock");
                ensure!(!lock.read_by_other(me), "an acquire of a lock with readers");
                lock.owner = Some(me);
                lock.depth += 1;
            }
            Op::Release => {
                ensure!(lock.owner == Some(me), "a release by another than the holder");
                lock.depth -= 1;
                if lock.depth == 0 {
                    lock.owner = None;
                }
            }
            Op::ReadAcquire => {
                ensure!(!lock.owned_by_other(me), "a reader of an owned lock");
                *lock.readers.entry(me).or_default() += 1;
            }
            Op::ReadRelease => {
                let held = lock.readers.entry(me).or_default();
                ensure!(*held > 0, "a release by another than a reader");
                *held -= 1;
            }
            _ => ensure!(lock.owned_by_other(me), "a failed attempt at a free lock"),
        }
        Ok(())
    }

    fn wait(&mut self, at: usize, event: Event, batch: &Batch) -> Result<(), String> {
        let me = event.thread().0;
        let extra = batch.extra(event);
        let thread = self.threads.entry(me).or_default();
        let lock = self.locks.entry(extra.lock.0).or_default();
        if event.op() == Op::Wait {
            ensure!(lock.owner == Some(me), "a wait without the lock");
            thread.waiting = Some((event.object(), extra.lock.0, at, lock.depth));
            (lock.owner, lock.depth) = (None, 0);
            return Ok(());
        }
        let Some((cond, waited_lock, since, depth)) = thread.waiting.take() else {
            return Err("woken without a wait".into());
        };
        ensure!((cond, waited_lock) == (event.object(), extra.lock.0), "woken from another wait");
        ensure!(lock.owner.is_none() && !lock.read_by_other(me), "woken while the lock is taken");
        (lock.owner, lock.depth) = (Some(me), depth);
        if extra.wake == Wake::Notified {
            let notifies = self.notifies.entry(cond).or_default();
            let cause = notifies.iter_mut().find(|n| n.at > since && (n.all || !n.consumed));
            let Some(cause) = cause else { return Err("woken by nothing".into()) };
            cause.consumed = true;
        }
        Ok(())
    }

    fn semaphore(&mut self, event: Event, names: &Names) -> Result<(), String> {
        let initial = match self.inits.get(names.get(Space::Sem, event.object())) {
            Some(&Value::Int(n)) => n,
            _ => 0,
        };
        let count = self.counts.entry(event.object()).or_insert(initial);
        *count += if event.op() == Op::Up { 1 } else { -1 };
        ensure!(*count >= 0, "a down at count 0");
        Ok(())
    }

    fn end(self, stranded: bool, names: &Names) -> Result<Summary, String> {
        for (id, lock) in &self.locks {
            let taken = lock.owner.is_some() || lock.readers.values().any(|&n| n > 0);
            ensure!(!taken, "lock {id} is taken at the end");
        }
        let waiting: HashSet<u32> =
            self.threads.iter().filter(|(_, t)| t.waiting.is_some()).map(|(&id, _)| id).collect();
        ensure!(stranded || waiting.is_empty(), "threads {waiting:?} wait at the end");
        for (id, thread) in &self.threads {
            ensure!(thread.blocks.is_empty(), "a block of thread {id} is open at the end");
            ensure!(thread.requested.is_none(), "a request of thread {id} is open at the end");
        }
        for id in &self.forked {
            let joined = self.threads.get(id).is_some_and(|t| t.joined);
            ensure!(joined || waiting.contains(id), "thread {id} is not joined");
        }
        for (&space, &next) in &self.used {
            ensure!(next as usize == names.space(space).len(), "{space:?} has a name that is never used");
        }
        Ok(Summary { most_live: self.most_live.max(self.live), stranded: waiting.len() })
    }
}
