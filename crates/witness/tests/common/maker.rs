//! Makes small traces with all operations: runs that could have happened, or wild ones.

use super::{Random, Sample};
use event::{Batch, Event, Extra, LockId, Names, Op, SiteId, Space, ThreadId, Value, Wake};

const THREADS: usize = 3;
const VARS: usize = 2;
const LOCKS: usize = 2;

#[derive(Default, Clone)]
struct Lock {
    exclusive: [u32; THREADS],
    shared: [u32; THREADS],
}

impl Lock {
    fn free(&self, me: usize, shared: bool) -> bool {
        (0..THREADS).all(|t| t == me || (self.exclusive[t] == 0 && (shared || self.shared[t] == 0)))
    }
}

struct Waiting {
    cond: u32,
    lock: usize,
    exclusive: u32,
    shared: u32,
    since: usize,
}

struct Maker<'a> {
    random: &'a mut Random,
    /// How many of each kind of object there are to choose from.
    variety: usize,
    batch: Batch,
    locks: Vec<Lock>,
    waiting: [Option<Waiting>; THREADS],
    forked: [bool; THREADS],
    joined: [bool; THREADS],
    seen: [bool; THREADS],
    /// The notifies that are not paired yet, and all notify-alls: index and condition.
    notifies: Vec<(usize, u32)>,
    alls: Vec<(usize, u32)>,
    count: i64,
    values: Vec<Value>,
}

/// A trace of about this many events. It has no problems, unless it is `wild`.
pub fn make(random: &mut Random, events: usize, wild: bool) -> Sample {
    let mut names = Names::default();
    let mut all = |space, list: &[&str]| list.iter().for_each(|name| assert!(names.add(space, name).is_ok()));
    all(Space::Thread, &["T0", "T1", "T2"]);
    all(Space::Var, &["x", "y"]);
    all(Space::Lock, &["l", "m"]);
    all(Space::Cond, &["m", "c"]);
    all(Space::Latch, &["o"]);
    all(Space::Sem, &["s"]);
    all(Space::Label, &["e"]);
    all(Space::Str, &["s"]);
    let values: Vec<Value> = (0..VARS).map(|_| value(random)).collect();
    let count = random.below(3) as i64;
    let mut maker = Maker {
        variety: 1 + random.below(2),
        random,
        batch: Batch::default(),
        locks: vec![Lock::default(); LOCKS],
        waiting: [const { None }; THREADS],
        forked: [true, false, false],
        joined: [false; THREADS],
        seen: [false; THREADS],
        notifies: Vec::new(),
        alls: Vec::new(),
        count,
        values: values.clone(),
    };
    maker.batch.push_init(event::StrId(0), Value::Int(count));
    // Some threads run from the beginning.
    maker.forked[1] = maker.random.one_in(2);
    maker.forked[2] = !maker.random.one_in(4);
    // Each trace has only a few kinds of operations, so that they interact often.
    let memory = [Op::Read, Op::Read, Op::AtomicLoad, Op::Write, Op::Write, Op::AtomicStore, Op::AtomicRmw];
    let locks = [Op::Acquire, Op::ReadAcquire, Op::TryAcquire, Op::TryFail, Op::Release, Op::ReadRelease];
    let waits = [Op::Acquire, Op::Wait, Op::Woken, Op::Woken, Op::Notify, Op::Notify, Op::NotifyAll];
    let counts = [Op::Up, Op::Down, Op::Post, Op::Await, Op::Pin, Op::ReadPin, Op::Read, Op::Write];
    let posts = [Op::Post, Op::Await, Op::Write];
    let favourites: Vec<Op> = match maker.random.below(8) {
        0 => memory.to_vec(),
        1 => locks.to_vec(),
        2 | 6 => waits.to_vec(),
        3 => counts.to_vec(),
        7 => posts.to_vec(),
        _ => (0..6).map(|_| maker.random.pick(Op::ALL)).collect(),
    };
    if maker.random.one_in(6) {
        maker.two_waiters(wild);
    }
    for _ in 0..events * 40 {
        if maker.batch.events.len() >= events {
            break;
        }
        let op = if maker.random.one_in(4) { maker.random.pick(Op::ALL) } else { maker.random.pick(&favourites) };
        let op = match (maker.random.below(8), op) {
            (0, _) => maker.random.pick(&[Op::Fork, Op::Release, Op::Woken, Op::ReadRelease]),
            (_, op) => op,
        };
        let me = maker.random.below(THREADS);
        maker.propose(me, op, wild);
    }
    Sample { names, batch: maker.batch, initial: values }
}

fn value(random: &mut Random) -> Value {
    match random.below(4) {
        0 => Value::Unknown,
        n => Value::Int(n as i64 % 2),
    }
}

impl Maker<'_> {
    /// Two threads wait, and are woken by two notifies.
    fn two_waiters(&mut self, wild: bool) {
        self.variety = 1;
        self.forked = [true; THREADS];
        let notify = self.random.pick(&[Op::Notify, Op::Notify, Op::NotifyAll]);
        let woken =
            [(0, Op::Woken), (0, Op::Woken), (0, Op::Release), (1, Op::Woken), (1, Op::Woken), (1, Op::Release)];
        let begin = [(0, Op::Acquire), (0, Op::Wait), (1, Op::Acquire), (1, Op::Wait), (2, notify), (2, Op::Notify)];
        for (me, op) in begin.into_iter().chain(woken) {
            self.propose(me, op, wild);
        }
    }

    fn propose(&mut self, me: usize, op: Op, wild: bool) {
        let at = self.batch.events.len();
        let mut object = match op.space() {
            Some(Space::Thread) => self.random.below(THREADS),
            Some(Space::Var) => self.random.below(self.variety),
            Some(Space::Lock) => self.random.below(self.variety),
            Some(Space::Cond) => self.random.below(self.variety),
            _ => 0,
        };
        let mut lock = self.random.below(self.variety);
        if let (Op::Woken, Some(wait)) = (op, &self.waiting[me])
            && !wild
        {
            (object, lock) = (wait.cond as usize, wait.lock);
        }
        let mut extra = Extra { lock: LockId(lock as u32), ..Extra::default() };
        if op.has_value() {
            extra.value = value(self.random);
        }
        if op.is_drop_barrier() {
            extra.value = Value::Int(self.random.below(5) as i64);
        }
        if op == Op::Woken {
            extra.wake = self.random.pick(&[Wake::Notified, Wake::Notified, Wake::Timeout, Wake::Spurious]);
        }
        if !wild && !self.happens(me, op, object, lock, &mut extra, at) {
            return;
        }
        let extra = self.batch.add_extra(extra);
        self.batch.events.push(Event::with_extra(ThreadId(me as u32), op, object as u32, SiteId(0), extra));
    }

    /// Performs the operation, if it can happen now.
    fn happens(&mut self, me: usize, op: Op, object: usize, lock: usize, extra: &mut Extra, at: usize) -> bool {
        if !self.forked[me] || self.joined[me] || (self.waiting[me].is_some() && op != Op::Woken) {
            return false;
        }
        let cond = object as u32;
        match op {
            Op::Acquire | Op::TryAcquire => {
                let lock = &mut self.locks[object];
                if !lock.free(me, false) {
                    return false;
                }
                lock.exclusive[me] += 1;
            }
            Op::ReadAcquire => {
                let lock = &mut self.locks[object];
                if !lock.free(me, true) {
                    return false;
                }
                lock.shared[me] += 1;
            }
            Op::Release | Op::ReadRelease => {
                let lock = &mut self.locks[object];
                let depth = if op == Op::Release { &mut lock.exclusive } else { &mut lock.shared };
                if depth[me] == 0 {
                    return false;
                }
                depth[me] -= 1;
            }
            Op::Wait => {
                let locked = &mut self.locks[lock];
                let exclusive = std::mem::take(&mut locked.exclusive[me]);
                let shared = std::mem::take(&mut locked.shared[me]);
                if exclusive + shared == 0 {
                    return false;
                }
                self.waiting[me] = Some(Waiting { cond, lock, exclusive, shared, since: at });
            }
            Op::Woken => return self.wakes(me, extra),
            Op::Notify => self.notifies.push((at, cond)),
            Op::NotifyAll => self.alls.push((at, cond)),
            Op::Fork => {
                if self.forked[object] || self.seen[object] {
                    return false;
                }
                self.forked[object] = true;
            }
            Op::Join => {
                if object == me || self.waiting[object].is_some() || self.joined[object] {
                    return false;
                }
                self.joined[object] = true;
            }
            Op::Up => self.count += 1,
            Op::Down => {
                if self.count == 0 {
                    return false;
                }
                self.count -= 1;
            }
            // Without a recorded value a variable could hold anything.
            Op::Read | Op::AtomicLoad if extra.value.is_known() && self.values[object].is_known() => {
                extra.value = self.values[object];
            }
            Op::Write | Op::AtomicStore | Op::AtomicRmw => self.values[object] = extra.value,
            Op::Alloc | Op::Free => self.values[object] = Value::Unknown,
            Op::Request => return false,
            _ => {}
        }
        self.seen[me] = true;
        true
    }

    fn wakes(&mut self, me: usize, extra: &Extra) -> bool {
        let Some(wait) = &self.waiting[me] else { return false };
        let lock = &mut self.locks[wait.lock];
        if !lock.free(me, wait.exclusive == 0) {
            return false;
        }
        if extra.wake == Wake::Notified {
            let after = |&(at, cond): &(usize, u32)| cond == wait.cond && at > wait.since;
            let one = self.notifies.iter().position(after);
            let all = self.alls.iter().find(|all| after(all));
            match (one, all) {
                (None, None) => return false,
                (Some(one), all) if all.is_none_or(|all| self.notifies[one].0 < all.0) => {
                    self.notifies.remove(one);
                }
                _ => {}
            }
        }
        lock.exclusive[me] = wait.exclusive;
        lock.shared[me] = wait.shared;
        self.waiting[me] = None;
        true
    }
}
