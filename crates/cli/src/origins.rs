//! Where objects and threads came from, as a recorder told it, in the words of findings.

use crate::moments::stack;
use event::{Made, Meta, Names, Space, StackId, ThreadId, ThreadInfo};
use report::{Entity, Origin, Side, code_identity, object_identity};
use rustc_hash::{FxHashMap, FxHashSet};

/// Locks held by the sides of a finding whose origin is told: more would make reports as large as events times locks.
const LOCKS: usize = 16;

/// What is known of some objects, and of all threads.
pub(crate) struct Origins<'a> {
    names: &'a Names,
    meta: &'a Meta,
    objects: FxHashMap<(Space, u32), &'a event::Origin>,
    threads: FxHashMap<ThreadId, &'a ThreadInfo>,
}

impl<'a> Origins<'a> {
    /// Of these objects, and of all locks; others are not looked for.
    pub(crate) fn new(names: &'a Names, meta: &'a Meta, wanted: impl IntoIterator<Item = (Space, u32)>) -> Origins<'a> {
        let wanted: FxHashSet<(Space, u32)> = wanted.into_iter().collect();
        let told = meta.origins.iter().map(|origin| ((origin.space, origin.id), origin));
        // Of several that speak of one object the last is true.
        let objects = told.filter(|(object, _)| object.0 == Space::Lock || wanted.contains(object)).collect();
        let threads = meta.threads.iter().map(|info| (info.thread, info)).collect();
        Origins { names, meta, objects, threads }
    }

    /// Where the objects of a finding, the locks that its sides hold, and their threads came from.
    pub(crate) fn of(&self, objects: &[(Space, u32)], sides: &[Side]) -> Vec<Origin> {
        let number = |space: Space, name: &String| self.names.space(space).find(name.as_bytes());
        let mut all: Vec<(Space, u32)> = objects.to_vec();
        let held = sides.iter().flat_map(|side| &side.locks_held).filter_map(|lock| number(Space::Lock, lock));
        all.extend(held.map(|lock| (Space::Lock, lock)).take(LOCKS));
        all.extend(sides.iter().filter_map(|side| Some((Space::Thread, number(Space::Thread, &side.thread)?))));
        let mut told = FxHashSet::default();
        all.retain(|object| told.insert(*object));
        all.into_iter().filter_map(|object| self.origin(object)).collect()
    }

    fn origin(&self, (space, id): (Space, u32)) -> Option<Origin> {
        let entity = match space {
            Space::Thread => return self.thread(ThreadId(id)),
            Space::Var => Entity::Variable,
            Space::Lock => Entity::Lock,
            Space::Cond => Entity::Condition,
            Space::Latch => Entity::Latch,
            Space::Sem => Entity::Semaphore,
            Space::Block | Space::Label | Space::Site | Space::Str => return None,
        };
        let origin = self.objects.get(&(space, id))?;
        let made = match origin.made {
            Made::Heap => report::Made::Allocated,
            Made::Initialised => report::Made::Initialised,
            Made::Global => report::Made::Defined,
        };
        Some(Origin {
            of: entity,
            name: self.names.get(space, id).to_owned(),
            called: None,
            made,
            thread: (origin.made != Made::Global).then(|| self.names.thread(origin.thread).to_owned()),
            size: Some(origin.size).filter(|&size| size > 0),
            site: self.names.site(origin.site).to_owned(),
            stack: self.stack(origin.stack),
        })
    }

    fn thread(&self, thread: ThreadId) -> Option<Origin> {
        let info = self.threads.get(&thread)?;
        let name = self.names.thread(thread);
        Some(Origin {
            of: Entity::Thread,
            name: name.to_owned(),
            called: Some(self.names.str(info.name))
                .filter(|&called| !called.is_empty() && called != name)
                .map(str::to_owned),
            made: report::Made::Created,
            thread: None,
            size: None,
            site: self.names.site(info.site).to_owned(),
            stack: self.stack(info.stack),
        })
    }

    fn stack(&self, id: StackId) -> Vec<String> {
        stack(self.names, self.meta, id)
    }

    /// What of an object goes into a fingerprint: who made it, where its name is not the same in the next run.
    pub(crate) fn identity(&self, (space, id): (Space, u32)) -> String {
        let name = self.names.get(space, id);
        let identity = object_identity(name);
        match self.objects.get(&(space, id)) {
            Some(origin) if origin.made == Made::Heap || (origin.made == Made::Initialised && identity != name) => {
                let made_by = code_identity(self.names.site(origin.site), &self.stack(origin.stack));
                if made_by.is_empty() { identity } else { format!("made by {made_by}") }
            }
            _ => identity,
        }
    }
}
