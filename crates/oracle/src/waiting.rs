//! Random small programs whose threads wait for each other, and not for locks alone.

use crate::programs::{Instruction, Program, access, accesses};
use crate::random::Random;

impl Program {
    /// A random program in which threads mostly can block each other for ever.
    pub fn waiting(r: &mut Random) -> Program {
        let count = *r.pick(&[2, 2, 2, 3, 3, 3, 4]);
        let mut program = Program { threads: vec![Vec::new(); count], forked: vec![false; count] };
        for _ in 0..1 + usize::from(r.percent(20)) {
            program.add_wait_for(r);
        }
        if count > 2 {
            // What other threads grant.
            let l = *r.pick(&["l", "k"]);
            let more = vec![*r.pick(&[
                Instruction::Post("p"),
                Instruction::Up("s"),
                Instruction::Up("q"),
                Instruction::Notify("c"),
                Instruction::Down("s"),
            ])];
            let more = if r.percent(40) { section(l, more) } else { more };
            program.add(r, None, more);
        }
        if r.percent(30) {
            let snippet = accesses(r, 2);
            program.add(r, None, snippet);
        }
        program.fill(r);
        // A thread is forked once.
        if r.percent(25) && !program.forked.contains(&true) {
            program.add_forks(r);
        }
        program
    }

    fn add_wait_for(&mut self, r: &mut Random) {
        let l = *r.pick(&["l", "l", "k"]);
        // The other thread needs the lock before it grants, or holds it then, or needs it not at all.
        let grants = |r: &mut Random, grant: Instruction| match r.below(8) {
            0 => vec![grant],
            1..=2 => section(l, vec![grant]),
            3 => [section(l, vec![access(r)]), vec![grant]].concat(),
            4 => [vec![Instruction::Request(l)], section(l, Vec::new()), vec![grant]].concat(),
            _ => [section(l, Vec::new()), vec![grant]].concat(),
        };
        let holding = |r: &mut Random, body: Vec<Instruction>| match r.below(8) {
            0 => body,
            1 => [vec![Instruction::ReadAcquire(l)], body, vec![Instruction::ReadRelease(l)]].concat(),
            _ => section(l, body),
        };
        match r.below(12) {
            0..=1 => {
                let waits = holding(r, vec![Instruction::AwaitRequest("p"), Instruction::Await("p")]);
                let posts = grants(r, Instruction::Post("p"));
                self.add_two(r, waits, posts);
            }
            2..=3 => {
                let waits = holding(r, vec![Instruction::DownRequest("s"), Instruction::Down("s")]);
                let ups = grants(r, Instruction::Up("s"));
                self.add_two(r, waits, ups);
            }
            4..=5 => {
                // Semaphores as locks, one inside the other.
                let nested = |one, other| {
                    let take = |s| [Instruction::DownRequest(s), Instruction::Down(s)];
                    [take(one), take(other), [Instruction::Up(other), Instruction::Up(one)]].concat()
                };
                let first = r.below(self.threads.len());
                if r.percent(60) {
                    self.threads[first].extend([Instruction::Up("q")]);
                }
                let (one, other) = (nested("s", "q"), nested("q", "s"));
                self.add_two(r, one, other);
            }
            6..=7 => {
                let waits = section("j", vec![Instruction::Wait("c", "j"), Instruction::Woken("c", "j")]);
                let waits = holding(r, waits);
                let notify = if r.percent(50) { Instruction::Notify("c") } else { Instruction::NotifyAll("c") };
                let notifies = if r.percent(50) { section("j", vec![notify]) } else { vec![notify] };
                let mut notifier = section(l, if r.percent(60) { Vec::new() } else { notifies.clone() });
                notifier.extend(notifies);
                self.add_two(r, waits, notifier);
            }
            8 => {
                // A barrier.
                let arrives = vec![Instruction::Post("p"), Instruction::AwaitRequest("p"), Instruction::Await("p")];
                let one = holding(r, arrives.clone());
                let other = [section(l, Vec::new()), arrives].concat();
                self.add_two(r, one, other);
            }
            9 => {
                // What only a thread can grant that is yet to be forked.
                let waits = holding(r, vec![Instruction::AwaitRequest("p"), Instruction::Await("p")]);
                let thread = self.add(r, None, waits);
                let last = self.threads.len() - 1;
                let forker = (thread + 1) % self.threads.len();
                if last != thread && last != forker && !self.forked[last] {
                    self.forked[last] = true;
                    self.threads[last].push(Instruction::Post("p"));
                    let forks = [section(l, Vec::new()), vec![Instruction::Fork(last)]].concat();
                    self.threads[forker].extend(forks);
                }
            }
            _ => {
                let joined = r.below(self.threads.len());
                let joins = holding(r, vec![Instruction::JoinRequest(joined), Instruction::Join(joined)]);
                let body = if r.percent(50) { vec![access(r)] } else { Vec::new() };
                self.add(r, Some(joined), joins);
                self.threads[joined].extend(section(l, body));
            }
        }
    }
}

fn section(l: &'static str, body: Vec<Instruction>) -> Vec<Instruction> {
    [vec![Instruction::Acquire(l)], body, vec![Instruction::Release(l)]].concat()
}
