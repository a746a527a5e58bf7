//! The operations that only `all_ops` asks for.

use crate::layout::Layout;
use crate::machine::{Machine, Step};
use crate::output::Output;
use crate::thread::Line;
use event::{Extra, Op, Order, Value};

/// Announcements of waits for anything but a lock; those for locks are made where locks are taken.
const ANNOUNCEMENTS: [Op; 3] = [Op::JoinRequest, Op::AwaitRequest, Op::DownRequest];
const LATCHES: u32 = 6;
const LABELS: u32 = 8;
/// Texts that a writer of traces must take care with, among ordinary ones.
const TEXTS: [&str; 6] = ["ready", "", "two words", "a \"quoted\" \\ text", "a|b), c", "line\nbreak \u{fc}"];
const REALS: [f64; 6] = [0.5, -0.0, 0.1, 1e300, -2.25e-7, 42.0];

/// What these operations act on.
#[derive(Clone, Debug)]
pub(crate) struct Sprinkles {
    /// The counts of the semaphores.
    pub(crate) sems: [u32; 4],
    posted: [bool; LATCHES as usize],
    /// Heap addresses that were freed.
    freed: Vec<u32>,
    /// The least heap address that was never used.
    fresh: u32,
}

impl Default for Sprinkles {
    fn default() -> Self {
        Sprinkles { sems: [0, 2, 0, 5], posted: [false; LATCHES as usize], freed: Vec::new(), fresh: 0 }
    }
}

impl Machine {
    /// Some operation of a thread that holds nothing.
    pub(crate) fn sprinkle(&mut self, me: u32) -> Step {
        match self.rng.below(17) {
            0 | 1 => self.atomic(me, Op::AtomicLoad, &[Order::SeqCst, Order::Relaxed, Order::Acquire]),
            2 | 3 => self.atomic(me, Op::AtomicStore, &[Order::SeqCst, Order::Relaxed, Order::Release]),
            4 | 5 => self.atomic(me, Op::AtomicRmw, &Order::ALL),
            6 => {
                let order = self.pick(&[Order::SeqCst, Order::Acquire, Order::Release, Order::AcqRel]);
                self.out.fence(&mut self.threads[me as usize], Extra { order, ..Extra::default() });
            }
            7 | 8 => self.internal(me),
            9 => self.post_or_await(me),
            10 | 11 => self.up_or_down(me),
            12 => {
                let lock = self.rng.skewed(self.options.locks);
                self.notify(me, lock);
            }
            13 => self.announce(me),
            14 => {
                self.plan_blocks(me);
                return Step::Chose;
            }
            _ => {
                self.plan_heap(me);
                return Step::Chose;
            }
        }
        Step::Ran
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.below(from.len() as u32) as usize]
    }

    fn atomic(&mut self, me: u32, op: Op, orders: &[Order]) {
        let var = self.layout.atomic(self.rng.skewed(Layout::ATOMICS));
        let order = self.pick(orders);
        let written = (op != Op::AtomicLoad).then(|| self.value());
        self.out.atomic(&mut self.threads[me as usize], op, var, written, Extra { order, ..Extra::default() });
    }

    fn internal(&mut self, me: u32) {
        let label = self.rng.below(LABELS);
        let mut args = [Value::Unknown; 4];
        let many = self.rng.below(args.len() as u32 + 1) as usize;
        for arg in &mut args[..many] {
            *arg = match self.rng.below(4) {
                0 => Value::Bool(self.rng.one_in(2)),
                // Small numbers and the whole range of 64 bits.
                1 => Value::Int(self.rng.next() as i64 >> self.rng.below(64)),
                2 => Value::Real(self.pick(&REALS)),
                _ => {
                    let text = self.pick(&TEXTS);
                    Value::Str(self.out.str(text))
                }
            };
        }
        self.out.internal(&mut self.threads[me as usize], label, &args[..many]);
    }

    fn post_or_await(&mut self, me: u32) {
        let latch = self.rng.below(LATCHES);
        let posted = &mut self.sprinkles.posted[latch as usize];
        let op = if *posted && !self.rng.one_in(3) { Op::Await } else { Op::Post };
        *posted = true;
        self.out.latch(&mut self.threads[me as usize], op, latch);
    }

    fn up_or_down(&mut self, me: u32) {
        let sem = self.rng.below(self.sprinkles.sems.len() as u32);
        let count = &mut self.sprinkles.sems[sem as usize];
        let op = if *count > 0 && self.rng.one_in(2) { Op::Down } else { Op::Up };
        *count = if op == Op::Up { *count + 1 } else { *count - 1 };
        self.out.sem(&mut self.threads[me as usize], op, sem);
    }

    /// A wait that is announced and then given up, as after a timeout.
    fn announce(&mut self, me: u32) {
        match self.pick(&ANNOUNCEMENTS) {
            Op::AwaitRequest => {
                let latch = self.rng.below(LATCHES);
                self.out.latch(&mut self.threads[me as usize], Op::AwaitRequest, latch);
            }
            Op::DownRequest => {
                let sem = self.rng.below(self.sprinkles.sems.len() as u32);
                self.out.sem(&mut self.threads[me as usize], Op::DownRequest, sem);
            }
            op => {
                let others = self.threads.len() as u32 - 1;
                let other = if others > 0 { (me + 1 + self.rng.below(others)) % (others + 1) } else { me };
                let awaited = self.threads[other as usize].id;
                self.out.thread(&mut self.threads[me as usize], op, awaited, 706_000 + other % 1000);
            }
        }
        self.access_local(me);
    }

    /// Blocks around accesses of the thread's own variables, one in another.
    fn plan_blocks(&mut self, me: u32) {
        let (first, many) = Output::FREE_BLOCKS;
        let outer = if self.rng.one_in(4) { Output::NAMELESS } else { first + self.rng.below(many) };
        let inner = first + self.rng.below(many);
        let nested = self.rng.one_in(2);
        let script = &mut self.threads[me as usize].script;
        script.extend([Line::Begin(outer), Line::Local]);
        if nested {
            script.extend([Line::Begin(inner), Line::Local, Line::Local, Line::End(inner)]);
        }
        script.extend([Line::Local, Line::End(outer)]);
    }

    /// Memory that is allocated, used and mostly freed again.
    fn plan_heap(&mut self, me: u32) {
        let room = self.sprinkles.fresh < Layout::HEAP;
        let reuse = !self.sprinkles.freed.is_empty() && (!room || self.rng.one_in(2));
        let address = if reuse {
            let k = self.rng.below(self.sprinkles.freed.len() as u32);
            self.sprinkles.freed.swap_remove(k as usize)
        } else if room {
            self.sprinkles.fresh += 1;
            self.sprinkles.fresh - 1
        } else {
            return;
        };
        let uses = self.rng.below(4);
        let writes = self.rng.below(1 << uses);
        // A drop barrier is for all accesses of the address, so only the first thread to use it may set one.
        let pin = !reuse && self.rng.one_in(4);
        let free = !self.rng.one_in(16);
        let script = &mut self.threads[me as usize].script;
        script.extend([Line::Alloc(address), Line::Write(address)]);
        for k in 0..uses {
            script.push_back(if writes >> k & 1 == 1 { Line::Write(address) } else { Line::Read(address) });
        }
        if pin {
            script.push_back(Line::Pin(address));
        }
        if free {
            script.push_back(Line::Free(address));
        }
    }

    /// Does the next line of a thread's script.
    pub(crate) fn follow_script(&mut self, me: u32) -> Step {
        let thread = &mut self.threads[me as usize];
        let Some(line) = thread.script.pop_front() else { return Step::Chose };
        match line {
            Line::Begin(block) => self.out.block(thread, Op::Begin, block),
            Line::End(block) => self.out.block(thread, Op::End, block),
            Line::Local => self.access_local(me),
            Line::Alloc(address) => {
                self.out.memory(thread, Op::Alloc, self.layout.heap(address), Extra::default());
            }
            Line::Read(address) => self.access(me, false, self.layout.heap(address), 800_000 + address % 1000),
            Line::Write(address) => self.access(me, true, self.layout.heap(address), 805_000 + address % 1000),
            Line::Pin(address) => {
                let value = Value::Int(thread.position as i64);
                let pin = Op::DROP_BARRIERS[address as usize % 2];
                self.out.memory(thread, pin, self.layout.heap(address), Extra { value, ..Extra::default() });
            }
            Line::Free(address) => {
                self.out.memory(thread, Op::Free, self.layout.heap(address), Extra::default());
                self.sprinkles.freed.push(address);
            }
        }
        Step::Ran
    }
}
