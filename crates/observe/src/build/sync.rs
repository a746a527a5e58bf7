//! Records of synchronisation, atomic blocks and internal events.

use super::Build;
use super::barriers::is_barrier;
use super::blocks::Actor;
use super::common::notified;
use super::lives::{Life, is_use, space_of};
use super::objects::Number;
use crate::decode::{aux, payload};
use event::{CondId, Extra, Op, Order, Space, Value, Wake};
use runtime::record::{BARRIER_IS_SHARED, Class, Kind, SEEN_SLOT_BITS};

/// The label of an internal event that reports misuse; its arguments are what is wrong and the object's name.
const MISUSE: &str = "foretrace.misuse";

/// The label of an internal event whose argument names an object or a thread that something else than the trace shows
/// may let go on.
const OUTSIDE: &str = "foretrace.outside";

/// The reason of a `Woken`: by a notify, or else by a timeout.
const TIMED: u8 = 3;

/// The operation of a record that is one event of one object.
pub(super) const fn plain(kind: Kind) -> Option<Op> {
    Some(match kind {
        Kind::Acquire => Op::Acquire,
        Kind::Release => Op::Release,
        Kind::ReadAcquire => Op::ReadAcquire,
        Kind::ReadRelease => Op::ReadRelease,
        Kind::TryAcquire => Op::TryAcquire,
        Kind::TryFail => Op::TryFail,
        Kind::Request => Op::Request,
        Kind::Notify => Op::Notify,
        Kind::NotifyAll => Op::NotifyAll,
        Kind::Post => Op::Post,
        Kind::Await | Kind::AwaitWaited => Op::Await,
        Kind::Up => Op::Up,
        Kind::Down | Kind::DownWaited => Op::Down,
        _ => return None,
    })
}

impl Build {
    /// Adds the events of a record. Returns how many.
    pub(super) fn synchronisation(&mut self, slot: u32, kind: Kind, record: &[u64]) -> u64 {
        let (class, number) = (aux(record[0]), payload(record[0]));
        let is_answer = self.ends_wait(slot, kind, class, number);
        let handler = if is_answer { self.go_on(slot) } else { None };
        let by = self.actor(slot, record[1]);
        if kind == Kind::Request && self.is_java {
            self.ask(by, class, number);
            return 0;
        }
        let op = match kind {
            Kind::Wait | Kind::Woken => {
                let op = if kind == Kind::Wait { Op::Wait } else { Op::Woken };
                let lock = record[2] & ((1 << runtime::record::ADDRESS_BITS) - 1);
                let wake = if kind == Kind::Wait { 0 } else { (record[2] >> runtime::record::ADDRESS_BITS) as u8 };
                let (Some(cond), Some(lock)) = (self.object(Space::Cond, class, number), self.lock(lock)) else {
                    return 0;
                };
                let may_be_timeout = wake == TIMED;
                let mut wake = Wake::from_code(wake).unwrap_or_default();
                if kind == Kind::Wait {
                    self.uses((slot, by.context), (Space::Cond, number));
                    self.waits_no_more(slot);
                    let since = self.conditions.wait(CondId(cond));
                    self.slot(slot).since = Some((CondId(cond), since));
                } else {
                    wake = self.wakes(slot, CondId(cond), wake);
                    if may_be_timeout && wake == Wake::Spurious {
                        wake = Wake::Timeout;
                    }
                }
                self.emit(by, op, cond, Extra { lock, wake, ..Extra::default() });
                if kind == Kind::Wait {
                    self.wait(by);
                }
                if let Some(handler) = handler {
                    self.plain(by, Op::Join, handler.0);
                    return 2;
                }
                return 1;
            }
            Kind::Fence => {
                let order = Order::from_code(class & 15).unwrap_or_default();
                self.emit(by, Op::Fence, 0, Extra { order, ..Extra::default() });
                return 1;
            }
            Kind::Use => {
                self.uses_file(by, number);
                return 0;
            }
            Kind::Init if class == Class::File as u8 => {
                self.end_objects(number, 1);
                return 0;
            }
            Kind::Init => return self.init(slot, record),
            Kind::Destroy => {
                let life = self.end_object(class, number);
                return self.ends(by, class, (space_of(class), number), life);
            }
            Kind::Begin | Kind::End => return self.block(slot, kind, record),
            Kind::Internal => return self.internal(slot, record),
            Kind::Misuse => return self.misuse(slot, record),
            Kind::FromOutside => return self.granted_outside(by, class, number),
            kind => match plain(kind) {
                Some(op) => op,
                // All other kinds are handled before.
                None => return 0,
            },
        };
        let Some(space) = op.space() else { return 0 };
        if is_barrier(class)
            && let Some((objects, before)) = self.phases(by, (class, number), op)
        {
            return before + self.at_barrier(by, kind, (class, number), &objects);
        }
        let Some(object) = self.object(space, class, number) else { return 0 };
        notified(&mut self.conditions, op, object);
        // Nothing may come between a request and its answer: the request was the use.
        if is_use(kind) && !is_answer {
            self.uses((slot, by.context), (space, number));
        }
        let announced = match kind {
            Kind::Await => self.answered(slot, class, number, (Op::AwaitRequest, object)),
            Kind::DownWaited => {
                self.plain(by, Op::DownRequest, object);
                1
            }
            Kind::AwaitWaited => {
                self.plain(by, Op::AwaitRequest, object);
                1
            }
            _ => 0,
        };
        self.plain(by, op, object);
        if kind == Kind::Request {
            self.ask(by, class, number);
        }
        if let Some(handler) = handler {
            self.plain(by, Op::Join, handler.0);
            return 2;
        }
        1 + announced
    }

    /// Adds the events of a thread that posts or awaits these objects of a barrier. Returns how many.
    fn at_barrier(&mut self, by: Actor, kind: Kind, (class, number): (u8, u64), objects: &[u32]) -> u64 {
        if is_use(kind) {
            self.uses((by.slot, by.context), (Space::Latch, number));
        }
        let mut events = 0;
        for &object in objects {
            events += match kind {
                Kind::Await => self.answered(by.slot, class, number, (Op::AwaitRequest, object)),
                Kind::AwaitWaited => {
                    self.plain(by, Op::AwaitRequest, object);
                    1
                }
                _ => 0,
            };
            self.plain(by, if kind == Kind::Post { Op::Post } else { Op::Await }, object);
            events += 1;
        }
        events
    }

    /// Notes that a thread does not wait on a condition any more, if it did.
    pub(super) fn waits_no_more(&mut self, slot: u32) {
        if let Some((cond, _)) = self.slot(slot).since.take() {
            self.conditions.leave(cond);
        }
    }

    /// Decides why a thread was woken: the agent knows of timeouts only. The C library lets threads go on that were not
    /// notified, and a notify outside the mutex may have been recorded before the wait that it ended.
    fn wakes(&mut self, slot: u32, cond: CondId, wake: Wake) -> Wake {
        let since = self.slot(slot).since.take().filter(|&(known, _)| known == cond);
        let Some((_, since)) = since else { return wake };
        if wake != Wake::Notified {
            self.conditions.leave(cond);
            wake
        } else if self.conditions.wake(cond, since) {
            wake
        } else {
            Wake::Spurious
        }
    }

    /// Initialises an object: what was at its address is gone.
    fn init(&mut self, slot: u32, record: &[u64]) -> u64 {
        let by = self.actor(slot, record[1]);
        let (class, number) = (aux(record[0]), payload(record[0]));
        let space = space_of(class);
        let old = self.end_object(class, number);
        self.destroyed.remove(&(number, space));
        let Some(id) = self.object(space, class, number) else { return 0 };
        let events = self.begins(by, class, (space, number), old);
        self.initialised(space, id, by);
        if class == Class::Barrier as u8 {
            self.new_barrier(by, number, id, record[2]);
            // It lets threads go on when so many have come.
            self.counted(space, id, record[2] & !BARRIER_IS_SHARED);
        } else if space == Space::Sem || class == Class::Latch as u8 {
            self.counted(space, id, record[2]);
        }
        events
    }

    /// Records the initial count of a semaphore, or how many posts an await needs.
    pub(super) fn counted(&mut self, space: Space, id: u32, count: u64) {
        let name = self.names.get(space, id).to_owned();
        let name = self.text(&name);
        let count = Value::Int(count.min(i64::MAX as u64) as i64);
        self.out.init(name, count, &self.names, &self.meta);
    }

    /// Ends the object of a record. Returns its lifetime, if it has one.
    fn end_object(&mut self, class: u8, number: u64) -> Option<Life> {
        let mut ended = None;
        let space = space_of(class);
        if is_barrier(class) {
            self.barriers.end(number, 1);
        }
        self.objects.end(Number::new(class, number), |_, of, life| {
            if of == space {
                ended = Some(life);
            }
        });
        ended
    }

    fn block(&mut self, slot: u32, kind: Kind, record: &[u64]) -> u64 {
        let by = self.actor(slot, record[1]);
        let label = self.slot(slot).label.take();
        let name = match (aux(record[0]), label) {
            (1, _) => match self.watched.get(payload(record[0]) as usize) {
                Some(region) => Some(region.name.clone()),
                None => Some(format!("region#{}", payload(record[0]))),
            },
            (_, label) => label,
        };
        let block = match name {
            Some(name) => self.names.add(Space::Block, &name).unwrap_or(0),
            // An end without a name ends the block that was entered last.
            None if kind == Kind::End => self.slot(slot).open.last().copied().unwrap_or(0),
            None => 0,
        };
        let open = &mut self.slot(slot).open;
        let op = if kind == Kind::Begin {
            open.push(block);
            Op::Begin
        } else {
            if let Some(at) = open.iter().rposition(|&known| known == block) {
                open.remove(at);
            }
            Op::End
        };
        self.plain(by, op, block);
        1
    }

    fn internal(&mut self, slot: u32, record: &[u64]) -> u64 {
        let by = self.actor(slot, record[1]);
        let label = self.slot(slot).label.take().unwrap_or_default();
        if aux(record[0]) == 1 {
            // A function that a specification names.
            let number = payload(record[0]);
            let known = self.watched.get(number as usize).map(|watched| watched.name.clone());
            return self.event_with_values(slot, by, &known.unwrap_or_else(|| format!("function#{number}")), None);
        }
        let value = (payload(record[0]) & 1 == 1).then_some(Value::Int(record[2] as i64));
        self.event_with_values(slot, by, &label, value)
    }

    /// An event with the values that came before it, and one that came with it.
    fn event_with_values(&mut self, slot: u32, by: Actor, label: &str, last: Option<Value>) -> u64 {
        let mut args = std::mem::take(&mut self.slot(slot).arguments);
        args.extend(last);
        let events = self.event(by, label, &args);
        // The memory comes back.
        args.clear();
        self.slot(slot).arguments = args;
        events
    }

    fn misuse(&mut self, slot: u32, record: &[u64]) -> u64 {
        let by = self.actor(slot, record[1]);
        let (class, number) = (aux(record[0]), payload(record[0]));
        let label = self.slot(slot).label.take().unwrap_or_default();
        let space = space_of(class);
        let Some(object) = self.object(space, class, number) else { return 0 };
        let name = self.names.get(space, object).to_owned();
        let args = [Value::Str(self.text(&label)), Value::Str(self.text(&name))];
        self.event(by, MISUSE, &args)
    }

    /// Something else than the trace shows may grant the object, or let the thread go on.
    fn granted_outside(&mut self, by: Actor, class: u8, number: u64) -> u64 {
        if class == 0 {
            let (slot, generation) = (number & ((1 << SEEN_SLOT_BITS) - 1), number >> SEEN_SLOT_BITS);
            let Some(thread) = self.thread_of(slot, generation as u32) else { return 0 };
            return self.outside(by, Space::Thread, thread.0);
        }
        let space = space_of(class);
        let phases = if is_barrier(class) { self.barrier_from_outside(number) } else { Vec::new() };
        if !phases.is_empty() {
            return phases.into_iter().map(|object| self.outside(by, space, object)).sum();
        }
        self.object(space, class, number).map_or(0, |object| self.outside(by, space, object))
    }

    /// Adds the event that says so of an object or a thread.
    pub(super) fn outside(&mut self, by: Actor, space: Space, id: u32) -> u64 {
        let name = self.names.get(space, id).to_owned();
        let args = [Value::Str(self.text(&name))];
        self.event(by, OUTSIDE, &args)
    }

    fn event(&mut self, by: Actor, label: &str, args: &[Value]) -> u64 {
        let Ok(label) = self.names.add(Space::Label, label) else { return 0 };
        self.emit_with(by, Op::Internal, label, Extra::default(), args);
        1
    }
}
