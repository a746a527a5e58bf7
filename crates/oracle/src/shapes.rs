//! Random small programs in the shapes of errors that detectors look for. They would be rare by chance.

use crate::programs::{Instruction, Program, THEMES, access, accesses, between, variable};
use crate::random::Random;

const LOCKS: [&str; 3] = ["l", "k", "j"];

#[derive(Clone, Copy)]
enum Shape {
    /// Two threads take two locks in both orders.
    Opposite,
    /// Three threads take three locks in a cycle.
    Around,
    /// Two threads share a lock, and both request it exclusively.
    Upgrade,
    /// A block with two accesses of a variable, and another access of it.
    Block,
    /// Accesses of one variable, with sections around and between them that do not protect them.
    Unprotected,
    /// A test, a wait, and a notify.
    Wait,
}

impl Program {
    /// A random program that mostly has errors.
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
            // The second shape uses the locks and variables of the first.
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
                let requested = r.percent(30);
                let (mut one, mut other) = (nested(r, "l", "k", requested), nested(r, "k", "l", requested));
                if r.percent(40) {
                    // A section that must be over before the other thread's opens, so that only another order than the
                    // recorded one deadlocks.
                    let l = *r.pick(&["l", "k"]);
                    let body = accesses(r, 1);
                    other.splice(0..0, [vec![Instruction::Acquire(l)], body, vec![Instruction::Release(l)]].concat());
                }
                if r.percent(15) {
                    // A common lock around both, or around one of them.
                    one = between(r, Instruction::Acquire("j"), one, Instruction::Release("j"));
                    if r.percent(70) {
                        other = between(r, Instruction::Acquire("j"), other, Instruction::Release("j"));
                    }
                }
                if r.percent(15) {
                    let again = nested(r, "l", "k", requested);
                    one.extend(again);
                }
                self.add_two(r, one, other);
            }
            Shape::Around => {
                let (first, requested) = (r.below(self.threads.len()), r.percent(30));
                for k in 0..3 {
                    let thread = (first + k) % self.threads.len();
                    let snippet = nested(r, LOCKS[k], LOCKS[(k + 1) % 3], requested);
                    self.threads[thread].extend(snippet);
                }
            }
            Shape::Upgrade => {
                let upgrade = |r: &mut Random| {
                    let mut body = if r.percent(20) { accesses(r, 1) } else { Vec::new() };
                    let requested = r.percent(30);
                    body.extend(takes("l", requested));
                    body.push(Instruction::Release("l"));
                    between(r, Instruction::ReadAcquire("l"), body, Instruction::ReadRelease("l"))
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
        let guard = |r: &mut Random, body: Vec<Instruction>| match protected && r.percent(90) {
            true => [Instruction::Acquire("l")].into_iter().chain(body).chain([Instruction::Release("l")]).collect(),
            false => body,
        };
        let of = |r: &mut Random, x| {
            *r.pick(&[
                Instruction::Read(x),
                Instruction::Write(x),
                Instruction::Write(x),
                Instruction::Load(x),
                Instruction::Modify(x),
            ])
        };
        let mut body = Vec::new();
        for x in [x, if r.percent(60) { x } else { y }] {
            let step = of(r, x);
            body.extend(guard(r, vec![step]));
        }
        let one = between(r, Instruction::Begin("b"), body, Instruction::End("b"));
        let step = of(r, x);
        let mut other = guard(r, vec![step]);
        if r.percent(50) {
            let step = of(r, y);
            other.extend(guard(r, vec![step]));
        }
        if r.percent(40) {
            other = between(r, Instruction::Begin("d"), other, Instruction::End("d"));
        }
        self.add_two(r, one, other);
    }

    fn add_unprotected(&mut self, r: &mut Random) {
        let x = variable(r);
        let one = *r.pick(&[
            Instruction::Write(x),
            Instruction::Write(x),
            Instruction::Write(x),
            Instruction::Read(x),
            Instruction::Store(x),
            Instruction::Free(x),
        ]);
        let other = *r.pick(&[
            Instruction::Write(x),
            Instruction::Write(x),
            Instruction::Write(x),
            Instruction::Read(x),
            Instruction::Load(x),
            Instruction::Free(x),
        ]);
        let (inner, outer) = (accesses(r, 1), accesses(r, 1));
        let (acquire, release) = (Instruction::Acquire("l"), Instruction::Release("l"));
        let section =
            |body: Vec<Instruction>| [acquire].into_iter().chain(body).chain([release]).collect::<Vec<Instruction>>();
        // The access is before the section, in it, or after it.
        let place = |r: &mut Random, access: Instruction, body: Vec<Instruction>| match r.below(6) {
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
            other = between(r, Instruction::Begin("b"), other, Instruction::End("b"));
        }
        self.add_two(r, one, other);
    }

    fn add_wait(&mut self, r: &mut Random) {
        let x = variable(r);
        let (l, c) = ("l", if r.percent(40) { "l" } else { "c" });
        let test = if r.percent(80) { Instruction::Read(x) } else { Instruction::Load(x) };
        let waits = vec![Instruction::Wait(c, l), Instruction::Woken(c, l)];
        let waiter = match r.below(10) {
            // The test is outside of the section.
            0..=4 => [vec![test], between(r, Instruction::Acquire(l), waits, Instruction::Release(l))].concat(),
            _ => between(r, Instruction::Acquire(l), [vec![test], waits].concat(), Instruction::Release(l)),
        };
        let notify = if r.percent(50) { Instruction::Notify(c) } else { Instruction::NotifyAll(c) };
        let mut notifier = if r.percent(60) { vec![Instruction::Write(x), notify] } else { vec![notify] };
        if r.percent(50) {
            notifier = between(r, Instruction::Acquire(l), notifier, Instruction::Release(l));
        }
        if r.percent(15) {
            notifier.push(Instruction::Notify(c));
        }
        self.add_two(r, waiter, notifier);
    }
}

/// Takes a lock; `requested`: with a `req` before.
fn takes(l: &'static str, requested: bool) -> Vec<Instruction> {
    if requested { vec![Instruction::Request(l), Instruction::Acquire(l)] } else { vec![Instruction::Acquire(l)] }
}

/// A section in a section, mostly exclusive ones.
fn nested(r: &mut Random, outer: &'static str, inner: &'static str, requested: bool) -> Vec<Instruction> {
    let mut body = if r.percent(15) { vec![access(r)] } else { Vec::new() };
    match r.below(20) {
        0..=1 => body.extend([Instruction::ReadAcquire(inner), Instruction::ReadRelease(inner)]),
        2 => body.extend([Instruction::Try(inner, 1), Instruction::Release(inner)]),
        _ => {
            body.extend(takes(inner, requested));
            // The locks are released in any order.
            if r.percent(10) {
                return [
                    vec![Instruction::Acquire(outer)],
                    body,
                    vec![Instruction::Release(outer), Instruction::Release(inner)],
                ]
                .concat();
            }
            body.push(Instruction::Release(inner));
        }
    }
    match r.below(20) {
        0..=1 => between(r, Instruction::ReadAcquire(outer), body, Instruction::ReadRelease(outer)),
        2 => [vec![Instruction::Try(outer, body.len() + 1)], body, vec![Instruction::Release(outer)]].concat(),
        _ => between(r, Instruction::Acquire(outer), body, Instruction::Release(outer)),
    }
}
