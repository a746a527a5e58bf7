//! Random small programs in the shapes of the errors that detectors look for: what would be rare by chance.

use crate::programs::{Do, Program, THEMES, access, accesses, between, variable};
use crate::random::Random;

const LOCKS: [&str; 3] = ["l", "k", "j"];

#[derive(Clone, Copy)]
enum Shape {
    /// Two threads take two locks in both orders.
    Opposite,
    /// Three threads take three locks around.
    Around,
    /// Two that share a lock and want it alone.
    Upgrade,
    /// A block with two accesses of a variable, and another access of it.
    Block,
    /// Accesses of one variable, with sections around and between them that do not protect them.
    Unprotected,
    /// A test, a wait, and a notify.
    Wait,
}

impl Program {
    /// A random one with errors.
    pub fn faulty(r: &mut Random) -> Program {
        let shapes = [
            Shape::Opposite,
            Shape::Opposite,
            Shape::Around,
            Shape::Upgrade,
            Shape::Block,
            Shape::Block,
            Shape::Block,
            Shape::Block,
            Shape::Unprotected,
            Shape::Unprotected,
            Shape::Unprotected,
            Shape::Wait,
            Shape::Wait,
            Shape::Wait,
        ];
        let shape = *r.pick(&shapes);
        let around = matches!(shape, Shape::Around);
        let count = if around { *r.pick(&[3, 3, 3, 4]) } else { *r.pick(&[2, 2, 2, 2, 3, 3, 4]) };
        let mut program = Program { threads: vec![Vec::new(); count], forked: vec![false; count] };
        program.add_shape(r, shape);
        if !around && r.percent(30) {
            // What the first gives up or holds, the second meets.
            let second = *r.pick(&[Shape::Opposite, Shape::Block, Shape::Unprotected, Shape::Unprotected]);
            program.add_shape(r, second);
        }
        if !around && r.percent(25) {
            let theme = *r.pick(&THEMES);
            program.add_theme(r, theme);
        }
        let size = 4 + r.below(8);
        while program.threads.iter().map(Vec::len).sum::<usize>() < size {
            let snippet = accesses(r, 2);
            program.add(r, None, snippet);
        }
        program.fill(r);
        if r.percent(20) {
            program.add_forks(r);
        }
        program
    }

    fn add_shape(&mut self, r: &mut Random, shape: Shape) {
        match shape {
            Shape::Opposite => {
                let told = r.percent(30);
                let (mut one, mut other) = (nested(r, "l", "k", told), nested(r, "k", "l", told));
                if r.percent(40) {
                    // A section that must be over before the other thread's is open: another order than the recorded one.
                    let l = *r.pick(&["l", "k"]);
                    let body = accesses(r, 1);
                    other.splice(0..0, [vec![Do::Acquire(l)], body, vec![Do::Release(l)]].concat());
                }
                if r.percent(15) {
                    // A gate; or half of one.
                    one = between(r, Do::Acquire("j"), one, Do::Release("j"));
                    if r.percent(70) {
                        other = between(r, Do::Acquire("j"), other, Do::Release("j"));
                    }
                }
                if r.percent(15) {
                    let again = nested(r, "l", "k", told);
                    one.extend(again);
                }
                self.add_two(r, one, other);
            }
            Shape::Around => {
                let (first, told) = (r.below(self.threads.len()), r.percent(30));
                for k in 0..3 {
                    let thread = (first + k) % self.threads.len();
                    let snippet = nested(r, LOCKS[k], LOCKS[(k + 1) % 3], told);
                    self.threads[thread].extend(snippet);
                }
            }
            Shape::Upgrade => {
                let upgrade = |r: &mut Random| {
                    let mut body = if r.percent(20) { accesses(r, 1) } else { Vec::new() };
                    let told = r.percent(30);
                    body.extend(takes("l", told));
                    body.push(Do::Release("l"));
                    between(r, Do::ReadAcquire("l"), body, Do::ReadRelease("l"))
                };
                let (one, other) = (upgrade(r), upgrade(r));
                self.add_two(r, one, other);
            }
            Shape::Block => self.add_block(r),
            Shape::Unprotected => self.add_unprotected(r),
            Shape::Wait => self.add_wait(r),
        }
    }

    fn add_block(&mut self, r: &mut Random) {
        let (x, y) = (variable(r), variable(r));
        let protected = r.percent(40);
        let guard = |r: &mut Random, body: Vec<Do>| match protected && r.percent(90) {
            true => [Do::Acquire("l")].into_iter().chain(body).chain([Do::Release("l")]).collect(),
            false => body,
        };
        let of = |r: &mut Random, x| *r.pick(&[Do::Read(x), Do::Write(x), Do::Write(x), Do::Load(x), Do::Modify(x)]);
        let mut body = Vec::new();
        for x in [x, if r.percent(60) { x } else { y }] {
            let step = of(r, x);
            body.extend(guard(r, vec![step]));
        }
        let one = between(r, Do::Begin("b"), body, Do::End("b"));
        let step = of(r, x);
        let mut other = guard(r, vec![step]);
        if r.percent(50) {
            let step = of(r, y);
            other.extend(guard(r, vec![step]));
        }
        if r.percent(40) {
            other = between(r, Do::Begin("d"), other, Do::End("d"));
        }
        self.add_two(r, one, other);
    }

    fn add_unprotected(&mut self, r: &mut Random) {
        let x = variable(r);
        let one = *r.pick(&[Do::Write(x), Do::Write(x), Do::Write(x), Do::Read(x), Do::Store(x), Do::Free(x)]);
        let other = *r.pick(&[Do::Write(x), Do::Write(x), Do::Write(x), Do::Read(x), Do::Load(x), Do::Free(x)]);
        let (inner, outer) = (accesses(r, 1), accesses(r, 1));
        let (acquire, release) = (Do::Acquire("l"), Do::Release("l"));
        let section = |body: Vec<Do>| [acquire].into_iter().chain(body).chain([release]).collect::<Vec<Do>>();
        // Before the section, in it, or after it.
        let place = |r: &mut Random, access: Do, body: Vec<Do>| match r.below(6) {
            0 => [vec![access], section(body)].concat(),
            1..=2 => section([vec![access], body].concat()),
            3 => section([body, vec![access]].concat()),
            _ => [section(body), vec![access]].concat(),
        };
        let bare = vec![access(r), one];
        let (mut one, mut other) = (place(r, one, inner), place(r, other, outer));
        if r.percent(25) {
            one = bare;
        }
        if r.percent(10) {
            other = between(r, Do::Begin("b"), other, Do::End("b"));
        }
        self.add_two(r, one, other);
    }

    fn add_wait(&mut self, r: &mut Random) {
        let x = variable(r);
        let (l, c) = ("l", if r.percent(40) { "l" } else { "c" });
        let test = if r.percent(80) { Do::Read(x) } else { Do::Load(x) };
        let waits = vec![Do::Wait(c, l), Do::Woken(c, l)];
        let waiter = match r.below(10) {
            // The test is outside.
            0..=4 => [vec![test], between(r, Do::Acquire(l), waits, Do::Release(l))].concat(),
            _ => between(r, Do::Acquire(l), [vec![test], waits].concat(), Do::Release(l)),
        };
        let notify = if r.percent(50) { Do::Notify(c) } else { Do::NotifyAll(c) };
        let mut notifier = if r.percent(60) { vec![Do::Write(x), notify] } else { vec![notify] };
        if r.percent(50) {
            notifier = between(r, Do::Acquire(l), notifier, Do::Release(l));
        }
        if r.percent(15) {
            notifier.push(Do::Notify(c));
        }
        self.add_two(r, waiter, notifier);
    }
}

/// Takes a lock; with a request before, if that is told.
fn takes(l: &'static str, told: bool) -> Vec<Do> {
    if told { vec![Do::Request(l), Do::Acquire(l)] } else { vec![Do::Acquire(l)] }
}

/// A section in a section, mostly exclusive ones.
fn nested(r: &mut Random, outer: &'static str, inner: &'static str, told: bool) -> Vec<Do> {
    let mut body = if r.percent(15) { vec![access(r)] } else { Vec::new() };
    match r.below(20) {
        0..=1 => body.extend([Do::ReadAcquire(inner), Do::ReadRelease(inner)]),
        2 => body.extend([Do::Try(inner, 1), Do::Release(inner)]),
        _ => {
            body.extend(takes(inner, told));
            // Given back in any order.
            if r.percent(10) {
                return [vec![Do::Acquire(outer)], body, vec![Do::Release(outer), Do::Release(inner)]].concat();
            }
            body.push(Do::Release(inner));
        }
    }
    match r.below(20) {
        0..=1 => between(r, Do::ReadAcquire(outer), body, Do::ReadRelease(outer)),
        2 => [vec![Do::Try(outer, body.len() + 1)], body, vec![Do::Release(outer)]].concat(),
        _ => between(r, Do::Acquire(outer), body, Do::Release(outer)),
    }
}
