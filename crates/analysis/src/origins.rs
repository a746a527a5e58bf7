//! Where objects and threads came from, as the recorder noted it, in the words of findings.

use crate::context::stack;
use crate::object_names::kept_in;
use event::{Made, Meta, Names, Space, StackId, ThreadId, ThreadInfo};
use report::{Entity, Origin, Side, code_identity, object_identity};
use rustc_hash::{FxHashMap, FxHashSet};

/// Locks held by the sides of a finding whose origin is given: more would make reports as large as events times locks.
const LOCKS: usize = 16;

/// What is known of some objects, and of all threads.
pub(crate) struct Origins<'a> {
    names: &'a Names,
    meta: &'a Meta,
    objects: FxHashMap<(Space, u32), &'a event::Origin>,
    threads: FxHashMap<ThreadId, &'a ThreadInfo>,
}

/// The block of the heap that a variable is part of: `heap#7` of `heap#7+16`.
fn block_of(names: &Names, var: u32) -> Option<&str> {
    let name = names.get(Space::Var, var);
    let number = name.strip_prefix("heap#")?;
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    Some(&name[..name.len() - number.len() + digits])
}

impl<'a> Origins<'a> {
    /// Of these objects, and of all locks; others are not looked for.
    pub(crate) fn new(names: &'a Names, meta: &'a Meta, wanted: impl IntoIterator<Item = (Space, u32)>) -> Origins<'a> {
        let wanted: FxHashSet<(Space, u32)> = wanted.into_iter().collect();
        let noted = meta.origins.iter().map(|origin| ((origin.space, origin.id), origin));
        // Of several that speak of one object the last is true.
        let mut objects: FxHashMap<(Space, u32), &event::Origin> =
            noted.filter(|(object, _)| object.0 == Space::Lock || wanted.contains(object)).collect();
        // Recorders note one variable of a block: the others have the same origin.
        let others = wanted.iter().filter(|object| object.0 == Space::Var && !objects.contains_key(object));
        let others: Vec<(&str, u32)> = others.filter_map(|&(_, id)| Some((block_of(names, id)?, id))).collect();
        if !others.is_empty() {
            let blocks: FxHashSet<&str> = others.iter().map(|&(block, _)| block).collect();
            let noted = meta.origins.iter().filter(|origin| origin.space == Space::Var && origin.made == Made::Heap);
            let noted = noted.filter_map(|origin| Some((block_of(names, origin.id)?, origin)));
            let noted: FxHashMap<&str, &event::Origin> = noted.filter(|(block, _)| blocks.contains(block)).collect();
            objects.extend(others.iter().filter_map(|(block, id)| Some(((Space::Var, *id), *noted.get(block)?))));
        }
        let threads = meta.threads.iter().map(|info| (info.thread, info)).collect();
        Origins { names, meta, objects, threads }
    }

    /// What the recorder noted.
    pub(crate) fn meta(&self) -> &'a Meta {
        self.meta
    }

    /// Where the objects of a finding, the locks that its sides hold, and their threads came from.
    pub(crate) fn origins(&self, objects: &[(Space, u32)], sides: &[Side]) -> Vec<Origin> {
        let number = |space: Space, name: &String| self.names.space(space).find(name.as_bytes());
        let mut all: Vec<(Space, u32)> = objects.to_vec();
        let held = sides.iter().flat_map(|side| &side.locks_held).filter_map(|lock| number(Space::Lock, lock));
        all.extend(held.map(|lock| (Space::Lock, lock)).take(LOCKS));
        all.extend(sides.iter().filter_map(|side| Some((Space::Thread, number(Space::Thread, &side.thread)?))));
        let mut seen = FxHashSet::default();
        all.retain(|object| seen.insert(*object));
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
        let mut stack = self.stack(origin.stack);
        // The recorder for Java knows no stack, but may know the field in which the object was put.
        let called = kept_in(self.names, self.meta, origin).map(str::to_owned);
        if called.is_some() {
            stack.clear();
        }
        Some(Origin {
            of: entity,
            name: self.names.get(space, id).to_owned(),
            called,
            made: origin.made.into(),
            thread: (!matches!(origin.made, Made::Global | Made::Object))
                .then(|| self.names.thread(origin.thread).to_owned()),
            size: Some(origin.size).filter(|&size| size > 0),
            site: self.names.site(origin.site).to_owned(),
            stack,
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
            made: report::Creation::Created,
            thread: None,
            size: None,
            site: self.names.site(info.site).to_owned(),
            stack: self.stack(info.stack),
        })
    }

    fn stack(&self, id: StackId) -> Vec<String> {
        stack(self.names, self.meta, id)
    }

    /// What of an object goes into a fingerprint: the function that made it, where its name differs from run to run.
    pub(crate) fn identity(&self, (space, id): (Space, u32)) -> String {
        // Threads have other numbers in the next run.
        if space == Space::Thread {
            return String::new();
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use event::SiteId;

    #[test]
    fn objects_are_called_by_the_field_that_keeps_them() {
        let (mut names, mut meta) = (Names::default(), Meta::default());
        let mut site = |text: &str| SiteId(names.add(Space::Site, text).expect("room"));
        let (made_at, kept) = (site("Desk.<init> Desk.java:3"), site("(kept in Desk.lock)"));
        let thread = ThreadId(names.add(Space::Thread, "main").expect("room"));
        let id = names.add(Space::Lock, "java.lang.Object@2").expect("room");
        let stack = meta.stacks.push(kept, StackId(0)).expect("room");
        let (space, made) = (Space::Lock, Made::Object);
        meta.origins.push(event::Origin { space, id, made, thread, site: made_at, stack, size: 0 });
        let origins = Origins::new(&names, &meta, []).origins(&[(space, id)], &[]);
        let called = origins[0].called.as_deref();
        assert_eq!((called, origins[0].stack.len()), (Some("Desk.lock"), 0));
        assert_eq!(origins[0].site, "Desk.<init> Desk.java:3");
    }

    #[test]
    fn variables_of_a_block_come_from_where_one_of_them_came_from() {
        let (mut names, mut meta) = (Names::default(), Meta::default());
        let site = SiteId(names.add(Space::Site, "make bank.c:8").expect("room"));
        let thread = ThreadId(names.add(Space::Thread, "main").expect("room"));
        let mut var = |name: &str| names.add(Space::Var, name).expect("room");
        let [first, second, cut, other] = ["heap#7", "heap#7+16", "heap#7+16#2", "heap#70+16"].map(&mut var);
        let (space, made, stack) = (Space::Var, Made::Heap, StackId(0));
        meta.origins.push(event::Origin { space, id: first, made, thread, site, stack, size: 40 });
        let origins = Origins::new(&names, &meta, [second, cut, other].map(|id| (Space::Var, id)));
        let of = |id: u32| {
            origins.origins(&[(Space::Var, id)], &[]).into_iter().next().map(|origin| (origin.name, origin.site))
        };
        let noted = |name: &str| Some((name.to_owned(), "make bank.c:8".to_owned()));
        assert_eq!(of(second), noted("heap#7+16"));
        assert_eq!(of(cut), noted("heap#7+16#2"));
        assert_eq!(of(other), None);
        assert_eq!(origins.identity((Space::Var, second)), "made by make");
    }
}
