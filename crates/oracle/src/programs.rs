//! Random small programs. They consist of themes, which bring together what belongs together: a wait and a notify, a
//! `down` and an `up`.

use crate::random::Random;

/// One instruction. Names are those of the trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Instruction {
    /// `r(x)`.
    Read(&'static str),
    /// `w(x)`.
    Write(&'static str),
    /// `ald(x)`.
    Load(&'static str),
    /// `ast(x)`.
    Store(&'static str),
    /// `armw(x)`.
    Modify(&'static str),
    /// `fence`.
    Fence,
    /// `acq(l)`.
    Acquire(&'static str),
    /// `rel(l)`.
    Release(&'static str),
    /// `racq(l)`.
    ReadAcquire(&'static str),
    /// `rrel(l)`.
    ReadRelease(&'static str),
    /// `tacq(l)` or `tfail(l)`; if it fails, so many instructions are skipped.
    Try(&'static str, usize),
    /// `req(l)`.
    Request(&'static str),
    /// `fork`, by the number of the thread.
    Fork(usize),
    /// `join`.
    Join(usize),
    /// `jreq`, by the number of the thread.
    JoinRequest(usize),
    /// `wait(c,l)`.
    Wait(&'static str, &'static str),
    /// `woken(c,l)`.
    Woken(&'static str, &'static str),
    /// `notify(c)`.
    Notify(&'static str),
    /// `notifyall(c)`.
    NotifyAll(&'static str),
    /// `post(o)`.
    Post(&'static str),
    /// `await(o)`.
    Await(&'static str),
    /// `areq(o)`.
    AwaitRequest(&'static str),
    /// `up(s)`.
    Up(&'static str),
    /// `down(s)`.
    Down(&'static str),
    /// `dreq(s)`.
    DownRequest(&'static str),
    /// `begin(b)`.
    Begin(&'static str),
    /// `end(b)`.
    End(&'static str),
    /// `ev(name,…)`.
    Event(&'static str),
    /// `alloc(x)`.
    Alloc(&'static str),
    /// `free(x)`.
    Free(&'static str),
    /// `pin(x,n)` or `rpin(x,n)`.
    Pin(&'static str),
}

/// The instructions of all threads.
#[derive(Clone, Debug)]
pub struct Program {
    /// By thread: its instructions.
    pub threads: Vec<Vec<Instruction>>,
    /// By thread: whether it runs only when it is forked.
    pub forked: Vec<bool>,
}

/// Variables that properties refer to, and others.
pub const NUMBERS: [&str; 2] = ["x", "y"];
const OTHERS: [&str; 2] = ["z", "m"];
pub(crate) const LOCKS: [&str; 2] = ["l", "k"];

#[derive(Clone, Copy)]
pub(crate) enum Theme {
    Atomics,
    Locks,
    Readers,
    Tries,
    Requests,
    Conditions,
    Latches,
    Semaphores,
    Blocks,
    Memory,
    Pins,
}

pub(crate) const THEMES: [Theme; 11] = [
    Theme::Atomics,
    Theme::Locks,
    Theme::Readers,
    Theme::Tries,
    Theme::Requests,
    Theme::Conditions,
    Theme::Latches,
    Theme::Semaphores,
    Theme::Blocks,
    Theme::Memory,
    Theme::Pins,
];

pub(crate) fn variable(r: &mut Random) -> &'static str {
    if r.percent(85) { NUMBERS[r.below(NUMBERS.len())] } else { OTHERS[r.below(OTHERS.len())] }
}

pub(crate) fn lock(r: &mut Random) -> &'static str {
    if r.percent(75) { LOCKS[0] } else { LOCKS[1] }
}

pub(crate) fn access(r: &mut Random) -> Instruction {
    let x = variable(r);
    match r.below(20) {
        0..=7 => Instruction::Read(x),
        8..=17 => Instruction::Write(x),
        18 => Instruction::Load(x),
        _ => Instruction::Event("e"),
    }
}

pub(crate) fn accesses(r: &mut Random, most: usize) -> Vec<Instruction> {
    (0..r.below(most + 1)).map(|_| access(r)).collect()
}

/// A body between two instructions; in a few cases the second one is missing.
pub(crate) fn between(
    r: &mut Random,
    first: Instruction,
    body: Vec<Instruction>,
    last: Instruction,
) -> Vec<Instruction> {
    let last = if r.percent(88) { Some(last) } else { None };
    [first].into_iter().chain(body).chain(last).collect()
}

pub(crate) fn locked(r: &mut Random, l: &'static str, body: Vec<Instruction>) -> Vec<Instruction> {
    let body = if r.percent(15) { between(r, Instruction::Acquire(l), body, Instruction::Release(l)) } else { body };
    between(r, Instruction::Acquire(l), body, Instruction::Release(l))
}

impl Program {
    /// A random program with some of all operations.
    pub fn random(r: &mut Random) -> Program {
        let count = *r.pick(&[2, 2, 2, 3, 3, 3, 3, 4, 4, 5]);
        let mut program = Program { threads: vec![Vec::new(); count], forked: vec![false; count] };
        for _ in 0..2 + r.below(2) {
            // Conditions take the most events, and would be rare.
            let theme = if r.percent(12) { Theme::Conditions } else { *r.pick(&THEMES) };
            program.add_theme(r, theme);
        }
        let size = 4 + r.below(10);
        while program.threads.iter().map(Vec::len).sum::<usize>() < size {
            let snippet = accesses(r, 2);
            program.add(r, None, snippet);
        }
        program.fill(r);
        if r.percent(40) {
            program.add_forks(r);
        }
        program
    }

    /// Gives each thread without instructions one.
    pub(crate) fn fill(&mut self, r: &mut Random) {
        for thread in self.threads.iter_mut().filter(|thread| thread.is_empty()) {
            thread.push(access(r));
        }
    }

    /// Adds a snippet to a thread other than `but`, at its beginning or end. Returns the thread.
    pub(crate) fn add(&mut self, r: &mut Random, but: Option<usize>, snippet: Vec<Instruction>) -> usize {
        let mut thread = r.below(self.threads.len());
        if Some(thread) == but {
            thread = (thread + 1) % self.threads.len();
        }
        let program = &mut self.threads[thread];
        // Nothing may follow a request that is not granted.
        let is_open = |list: &[Instruction]| matches!(list.last(), Some(Instruction::Request(_)));
        let at = match (is_open(program), is_open(&snippet)) {
            (true, true) => return thread,
            (true, false) => 0,
            (false, true) => program.len(),
            (false, false) if r.percent(40) => 0,
            (false, false) => program.len(),
        };
        program.splice(at..at, snippet);
        thread
    }

    /// Adds two snippets to different threads.
    pub(crate) fn add_two(&mut self, r: &mut Random, one: Vec<Instruction>, other: Vec<Instruction>) {
        let thread = self.add(r, None, one);
        self.add(r, Some(thread), other);
    }

    pub(crate) fn add_theme(&mut self, r: &mut Random, theme: Theme) {
        match theme {
            Theme::Atomics => {
                let x = variable(r);
                let atomic = |r: &mut Random| {
                    *r.pick(&[
                        Instruction::Load(x),
                        Instruction::Store(x),
                        Instruction::Modify(x),
                        Instruction::Fence,
                        Instruction::Modify(x),
                        Instruction::Fence,
                    ])
                };
                let one = vec![Instruction::Store(x), atomic(r)];
                let other = vec![atomic(r), Instruction::Load(x), atomic(r)];
                self.add_two(r, one, other);
            }
            Theme::Locks => {
                let l = lock(r);
                let (one, other) = (accesses(r, 2), accesses(r, 2));
                let (one, other) = (locked(r, l, one), locked(r, l, other));
                self.add_two(r, one, other);
            }
            Theme::Readers => {
                let l = lock(r);
                let (one, other) = (accesses(r, 1), accesses(r, 2));
                let mut one = between(r, Instruction::ReadAcquire(l), one, Instruction::ReadRelease(l));
                if r.percent(15) {
                    one = between(r, Instruction::ReadAcquire(l), one, Instruction::ReadRelease(l));
                }
                let mut other = match r.below(3) {
                    0 => between(r, Instruction::ReadAcquire(l), other, Instruction::ReadRelease(l)),
                    _ => locked(r, l, other),
                };
                if r.percent(10) {
                    // A downgrade.
                    other = vec![
                        Instruction::Acquire(l),
                        Instruction::ReadAcquire(l),
                        Instruction::Release(l),
                        access(r),
                        Instruction::ReadRelease(l),
                    ];
                }
                self.add_two(r, one, other);
            }
            Theme::Tries => {
                let l = lock(r);
                let tried = |r: &mut Random| {
                    let body = accesses(r, 1);
                    [Instruction::Try(l, body.len() + 1)]
                        .into_iter()
                        .chain(body)
                        .chain([Instruction::Release(l)])
                        .collect::<Vec<Instruction>>()
                };
                let one = tried(r);
                let mut other = if r.percent(40) { tried(r) } else { vec![access(r)] };
                if r.percent(65) {
                    other = locked(r, l, other);
                } else if r.percent(50) {
                    other = between(r, Instruction::ReadAcquire(l), other, Instruction::ReadRelease(l));
                }
                self.add_two(r, one, other);
            }
            Theme::Requests => {
                let l = lock(r);
                let body = accesses(r, 1);
                let mut one = vec![Instruction::Request(l)];
                if r.percent(70) {
                    one.extend(locked(r, l, body));
                }
                let other = accesses(r, 2);
                let other = locked(r, l, other);
                self.add_two(r, one, other);
            }
            Theme::Conditions => self.add_condition(r),
            Theme::Latches => {
                let (mut one, mut other) = (accesses(r, 1), accesses(r, 1));
                one.push(Instruction::Post("p"));
                other.insert(0, Instruction::Await("p"));
                if r.percent(50) {
                    other.insert(0, Instruction::AwaitRequest("p"));
                }
                self.add_two(r, one, other);
                if r.percent(25) {
                    self.add(r, None, vec![Instruction::Post("p")]);
                }
            }
            Theme::Semaphores => {
                let body = accesses(r, 1);
                let mut section = between(r, Instruction::Down("s"), body, Instruction::Up("s"));
                let other = if r.percent(50) { section.clone() } else { vec![Instruction::Up("s")] };
                if r.percent(50) {
                    section.insert(0, Instruction::DownRequest("s"));
                }
                self.add_two(r, section, other);
            }
            Theme::Blocks => {
                let body = accesses(r, 2);
                let one = between(r, Instruction::Begin("b"), body, Instruction::End("b"));
                let mut other = accesses(r, 1);
                other.push(Instruction::Event("e"));
                self.add_two(r, one, other);
            }
            Theme::Memory => {
                let x = if r.percent(70) { "m" } else { variable(r) };
                let mut one =
                    vec![Instruction::Alloc(x), Instruction::Write(x), Instruction::Read(x), Instruction::Free(x)];
                one.remove(r.below(4));
                let other = vec![*r.pick(&[
                    Instruction::Read(x),
                    Instruction::Write(x),
                    Instruction::Alloc(x),
                    Instruction::Free(x),
                    Instruction::Modify(x),
                ])];
                self.add_two(r, one, other);
            }
            Theme::Pins => {
                let x = variable(r);
                let (one, other) = (
                    vec![Instruction::Pin(x), Instruction::Write(x)],
                    vec![*r.pick(&[Instruction::Read(x), Instruction::Write(x)])],
                );
                self.add_two(r, one, other);
            }
        }
    }

    /// One or two threads that wait, and one that notifies.
    fn add_condition(&mut self, r: &mut Random) {
        let l = lock(r);
        let two = self.threads.len() > 2 && r.percent(60);
        let c = if !two && r.percent(60) { l } else { "c" };
        let notify = if r.percent(50) { Instruction::Notify(c) } else { Instruction::NotifyAll(c) };
        let mut notifies = vec![notify];
        if !two {
            notifies.splice(0..0, accesses(r, 1));
        } else if notify == Instruction::Notify(c) {
            notifies.push(*r.pick(&[Instruction::Notify(c), Instruction::Notify(c), Instruction::NotifyAll(c)]));
        }
        let notifies = if r.percent(if two { 20 } else { 60 }) { locked(r, l, notifies) } else { notifies };
        let notifier = self.add(r, None, notifies);
        // Two threads that wait with different locks do not exclude each other.
        let locks = [l, *r.pick(&LOCKS)];
        let first = r.below(self.threads.len() - 1);
        for (number, l) in locks.into_iter().take(1 + usize::from(two)).enumerate() {
            let body = if two { Vec::new() } else { accesses(r, 1) };
            let waits = [Instruction::Wait(c, l), Instruction::Woken(c, l)].into_iter().chain(body).collect();
            let waits = locked(r, l, waits);
            let waiter = (notifier + 1 + (first + number) % (self.threads.len() - 1)) % self.threads.len();
            self.threads[waiter].splice(0..0, waits);
        }
        if r.percent(10) {
            self.add(r, None, vec![Instruction::Notify(c)]);
        }
    }

    /// Lets threads fork others with greater numbers, and join most of them. Some of the others do nothing, and some
    /// are joined by another thread than the one that forks them.
    pub(crate) fn add_forks(&mut self, r: &mut Random) {
        for child in 1..self.threads.len() {
            if !r.percent(70) {
                continue;
            }
            // A long thread may not end within the trace.
            let idle = r.percent(15);
            if idle {
                self.threads[child].clear();
            } else if r.percent(50) && self.threads[child].len() > 3 {
                self.threads[child] = vec![access(r), access(r)];
            }
            let parent = r.below(child);
            let others = self.threads.len() - 1;
            let joiner = if r.percent(if idle { 80 } else { 20 }) {
                (child + 1 + r.below(others)) % (others + 1)
            } else {
                parent
            };
            self.forked[child] = true;
            // Only at the beginning or end: a fork inside would divide a snippet.
            let open_end = matches!(self.threads[parent].last(), Some(Instruction::Request(_)));
            let at = if open_end || r.percent(75) { 0 } else { self.threads[parent].len() };
            if at == 0 && r.percent(20) && !self.threads[parent].is_empty() {
                // The thread gives the join up, goes on, and may join the other later.
                self.threads[parent].insert(0, Instruction::JoinRequest(child));
            }
            self.threads[parent].insert(at, Instruction::Fork(child));
            let open_end = matches!(self.threads[joiner].last(), Some(Instruction::Request(_)));
            if r.percent(80) && !open_end {
                let mut joins = vec![Instruction::Join(child)];
                if r.percent(40) {
                    joins.insert(0, Instruction::JoinRequest(child));
                }
                // Of what another thread does, more comes after the join if it stands at the beginning.
                let at = if joiner != parent && r.percent(50) { 0 } else { self.threads[joiner].len() };
                self.threads[joiner].splice(at..at, joins);
            }
        }
    }
}
