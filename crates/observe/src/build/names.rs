//! Names and origins of variables and synchronisation objects.

use super::Build;
use super::blocks::{Actor, Freed};
use super::objects::Number;
use super::values::{Use, Watched};
use event::{Event, LockId, Made, Op, Origin, SiteId, Space, StackId, ThreadId, VarId};
use runtime::record::FILES;

/// Where a named thing came from.
pub(super) struct From {
    made: Made,
    thread: ThreadId,
    site: SiteId,
    stack: StackId,
    size: u64,
}

/// How the names of memory in the heap begin.
const HEAP: &str = "heap#";

/// Ranges and variables that are remembered because races on them are intended.
const MAX_BENIGN: usize = 1 << 10;

/// Origins kept: as many as a reader takes.
const MAX_ORIGINS: usize = trace::limits::MAX_ORIGINS;

impl Build {
    /// The site and the stack of a call context.
    pub(super) fn context(&mut self, slot: u32, context: u32) -> (SiteId, StackId) {
        let context = self.slots[slot as usize].contexts.get(context, &mut self.sites, &mut self.names, &mut self.meta);
        (context.site, context.stack)
    }

    /// A new name: this one, or with a number behind it if it is already used.
    pub(super) fn fresh(&mut self, space: Space, name: &str) -> Option<u32> {
        let known = self.names.space(space).len();
        let id = self.names.add(space, name).ok()?;
        if id as usize == known { Some(id) } else { self.again(space, name) }
    }

    /// A new name with a number, because this one is already used.
    #[cold]
    fn again(&mut self, space: Space, name: &str) -> Option<u32> {
        loop {
            let count = self.taken.entry((space, name.to_owned())).or_insert(1);
            *count += 1;
            let numbered = format!("{name}#{count}");
            if self.names.space(space).find(numbered.as_bytes()).is_none() {
                return self.names.add(space, &numbered).ok();
            }
        }
    }

    fn heap_origin(&mut self, made: Actor, size: u64) -> From {
        let (site, stack) = self.context(made.slot, made.context);
        From { made: Made::Heap, thread: made.thread, site, stack, size }
    }

    /// A new name of a variable. Names in the heap say where the variable is, so most need no table of names to be
    /// known as new.
    fn fresh_variable(&mut self, address: u64, name: &str, in_heap: bool) -> Option<u32> {
        if !in_heap {
            // A name that the program gave.
            return if name.starts_with(HEAP) { self.again(Space::Var, name) } else { self.fresh(Space::Var, name) };
        }
        match self.blocks.is_new(address) {
            Some(true) => self.names.push(Space::Var, name).ok(),
            Some(false) => self.again(Space::Var, name),
            None => self.fresh(Space::Var, name),
        }
    }

    /// The name of memory, and its origin, if it is known.
    pub(super) fn describe(&mut self, address: u64, size: u64) -> (String, Option<From>) {
        if let Some(fd) = address.checked_sub(FILES) {
            return (format!("fd#{fd}"), None);
        }
        if let Some(name) = self.given.get(&address) {
            return (name.clone(), None);
        }
        if let Some(&watched) = self.watched_at.get(&address)
            && let Some(watched) = self.watched.get(watched)
            && u64::from(watched.size) == size
        {
            let global = From { made: Made::Global, thread: ThreadId(0), site: SiteId(0), stack: StackId(0), size };
            return (watched.name.clone(), Some(global));
        }
        // The word around a bit-field is called by its name.
        let bytes = if self.watched_at.is_empty() { 0 } else { size };
        for start in address..address.saturating_add(bytes) {
            if let Some(&index) = self.watched_at.get(&start)
                && let Some(Watched { name, used: Use::Bits { .. }, .. }) = self.watched.get(index)
            {
                let global = From { made: Made::Global, thread: ThreadId(0), site: SiteId(0), stack: StackId(0), size };
                return (name.clone(), Some(global));
            }
        }
        if let Some(thread) = self.stack_owner(address) {
            let count = self.stack_variables.entry(thread).or_insert(0);
            *count += 1;
            return (format!("stack-of-{}#{count}", self.names.thread(thread)), None);
        }
        if !self.is_live_block(address)
            && let Some(object) = self.sites.object(address, size)
        {
            let stack = self.kept(&object.kept);
            if object.site.is_empty() && object.kept.is_empty() && object.size == 0 {
                return (object.name, None);
            }
            let site = SiteId(self.names.add(Space::Site, &object.site).unwrap_or(0));
            let from = From { made: object.made, thread: ThreadId(0), site, stack, size: object.size };
            return (object.name, Some(from));
        }
        if let Some(block) = self.blocks.name(address) {
            let mut name = String::with_capacity(32);
            name.push_str(HEAP);
            push_number(&mut name, block.number.into());
            if address > block.start {
                name.push('+');
                push_number(&mut name, address - block.start);
            }
            return (name, Some(self.heap_origin(block.made, block.size)));
        }
        (format!("mem@{address:x}"), None)
    }

    /// The stack that says in which field an object was put where it was made: it has one frame, `(kept in Desk.lock)`.
    fn kept(&mut self, field: &str) -> StackId {
        if field.is_empty() {
            return StackId(0);
        }
        let Ok(site) = self.names.add(Space::Site, &format!("(kept in {field})")) else { return StackId(0) };
        let meta = &mut self.meta;
        *self.kept_in.entry(site).or_insert_with(|| meta.stacks.push(SiteId(site), StackId(0)).unwrap_or(StackId(0)))
    }

    fn is_live_block(&mut self, address: u64) -> bool {
        self.blocks.find(address).is_some_and(|block| block.freed.is_none())
    }

    /// How the block of an address was freed, if the address still belongs to it. Memory that the program gave back to
    /// the system may have become a stack or a library since, unseen.
    pub(super) fn freed(&mut self, address: u64) -> Option<Freed> {
        let freed = self.blocks.find(address)?.freed?;
        (self.stack_owner(address).is_none() && !self.sites.naming.knows(address)).then_some(freed)
    }

    /// The thread in whose stack an address lies.
    pub(super) fn stack_owner(&self, address: u64) -> Option<ThreadId> {
        let known = self.stacks.range(..=address).next_back();
        match known {
            Some((_, &(high, thread))) if address < high => Some(thread),
            _ => (self.threads > 0 && self.sites.naming.is_first_stack(address)).then_some(ThreadId(0)),
        }
    }

    /// A new variable that stands for the lifetime of the object at an address.
    pub(super) fn life_variable(&mut self, address: u64) -> Option<VarId> {
        let (name, from) = self.describe(address, 1);
        let in_heap = from.as_ref().is_some_and(|from| from.made == Made::Heap);
        let var = self.fresh_variable(address, &name, in_heap)?;
        if let Some(from) = from {
            self.record_origin(Space::Var, var, from);
        }
        Some(VarId(var))
    }

    /// Notes that races on this memory are intended.
    pub(super) fn benign(&mut self, address: u64, size: u64, why: &str) {
        if self.benign_ranges.len() == MAX_BENIGN {
            return;
        }
        let mut vars = Vec::new();
        self.variables.range(address, size, false, |var| vars.push(var));
        for var in vars {
            self.benign.push((self.names.var(var).to_owned(), why.to_owned()));
        }
        self.benign_ranges.push((address, size, why.to_owned()));
    }

    fn record_origin(&mut self, space: Space, id: u32, from: From) {
        if self.meta.origins.len() < MAX_ORIGINS && !self.names.space(Space::Thread).is_empty() {
            let From { made, thread, site, stack, size } = from;
            self.meta.origins.push(Origin { space, id, made, thread, site, stack, size });
        }
    }

    /// Makes a new variable of some bytes of a word.
    pub(super) fn new_variable(&mut self, word: u64, mask: u8) -> Option<VarId> {
        let address = (word << 3) + u64::from(mask.trailing_zeros());
        let size = u64::from(mask.count_ones());
        let (name, from) = self.describe(address, size);
        let in_heap = from.as_ref().is_some_and(|from| from.made == Made::Heap);
        let var = VarId(self.fresh_variable(address, &name, in_heap)?);
        // For each block, the origin of one variable is enough.
        if let Some(from) = from
            && (from.made != Made::Heap || self.blocks.is_first(address))
        {
            self.record_origin(Space::Var, var.0, from);
        }
        let range = self.benign_ranges.iter().find(|(start, length, _)| address.wrapping_sub(*start) < *length);
        if let Some((.., why)) = range
            && self.benign.len() < MAX_BENIGN
        {
            self.benign.push((self.names.var(var).to_owned(), why.clone()));
        }
        // Freed before anything was known of it: the free must be in the trace, before the access.
        if let Some(freed) = self.freed(address) {
            let (site, stack) = self.context(freed.by.slot, freed.by.context);
            let event = Event::new(freed.by.thread, Op::Free, var.0, site);
            // After all that its thread did there before, which may come to light only now.
            self.out.push_deferred(event, stack, freed.at, &self.names, &self.meta);
        }
        Some(var)
    }

    /// The object that a record means, in the space of its operation.
    pub(super) fn object(&mut self, space: Space, class: u8, object: u64) -> Option<u32> {
        let number = Number::new(class, object);
        if let Some(id) = self.objects.get(class, object, space) {
            return Some(id);
        }
        let (name, from) = match number {
            Number::Memory(address) => self.describe(address, 1),
            Number::Descriptor(number) => (descriptor(number), None),
            Number::Signal(number) => (format!("signal#{number}"), None),
            Number::AtExit => ("atexit".to_owned(), None),
            Number::Loader => ("loader".to_owned(), None),
        };
        let id = self.fresh(space, &name)?;
        let life = self.new_life(class, number, space);
        self.objects.insert(number, space, id, life);
        if let Some(from) = from {
            self.record_origin(space, id, from);
        }
        Some(id)
    }

    /// The lock at an address.
    pub(super) fn lock(&mut self, address: u64) -> Option<LockId> {
        self.object(Space::Lock, 0, address).map(LockId)
    }

    /// Records the call that initialised an object.
    pub(super) fn initialised(&mut self, space: Space, id: u32, by: Actor) {
        let (site, stack) = self.context(by.slot, by.context);
        self.initialised_at(space, id, (by.thread, site, stack));
    }

    /// Records where an object was initialised.
    pub(super) fn initialised_at(&mut self, space: Space, id: u32, (thread, site, stack): (ThreadId, SiteId, StackId)) {
        self.record_origin(space, id, From { made: Made::Initialised, thread, site, stack, size: 0 });
    }
}

/// Adds a number in decimals. (There are so many names of this kind that `format` shows.)
fn push_number(text: &mut String, mut number: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

/// The name of a file descriptor: its number and, if it was closed and opened again, its generation; or a connection.
fn descriptor(number: u64) -> String {
    const NUMBER_BITS: u32 = 20;
    const CONNECTION: u64 = 1 << 47;
    let (fd, generation) = (number & ((1 << NUMBER_BITS) - 1), number >> NUMBER_BITS);
    match generation {
        _ if number & CONNECTION != 0 => format!("connection#{}", number & !CONNECTION),
        0 => format!("fd#{fd}"),
        generation => format!("fd#{fd}.{generation}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_by_format() {
        for number in [0, 7, 10, 99, 100, 524_288, u64::MAX] {
            let mut text = "heap#".to_owned();
            push_number(&mut text, number);
            assert_eq!(text, format!("heap#{number}"));
        }
    }
}
