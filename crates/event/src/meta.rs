//! What a recorder knows beside the events: call stacks, loaded modules, thread names, where threads and objects began.

use crate::{SiteId, Space, StackId, StrId, ThreadId};

/// A tree of call stacks: each stack is its innermost frame and the stack that called it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Stacks {
    nodes: Vec<(SiteId, StackId)>,
}

impl Default for Stacks {
    fn default() -> Self {
        Stacks { nodes: vec![(SiteId(0), StackId(0))] }
    }
}

impl Stacks {
    /// Adds the stack in which `frame` was called from `caller`. `None` if there is no such caller or no room.
    pub fn push(&mut self, frame: SiteId, caller: StackId) -> Option<StackId> {
        if caller.0 as usize >= self.nodes.len() {
            return None;
        }
        let id = u32::try_from(self.nodes.len()).ok()?;
        self.nodes.push((frame, caller));
        Some(StackId(id))
    }

    /// The frames of a stack, innermost first.
    pub fn frames(&self, stack: StackId) -> impl Iterator<Item = SiteId> + '_ {
        // A caller always has a smaller id than its callee, so this ends.
        let mut at = stack.0 as usize;
        std::iter::from_fn(move || {
            if at == 0 || at >= self.nodes.len() {
                return None;
            }
            let (site, caller) = self.nodes[at];
            at = caller.0 as usize;
            Some(site)
        })
    }

    /// Every stack but the empty one, in the order of their ids: its innermost frame and its caller.
    pub fn nodes(&self) -> &[(SiteId, StackId)] {
        &self.nodes[1..]
    }

    /// How many stacks there are, the empty one included: ids are below this.
    #[allow(clippy::len_without_is_empty, reason = "the empty stack is always there")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
}

/// A loaded library or program file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// Its path.
    pub path: StrId,
    /// Its build id in hexadecimal, or the empty string.
    pub build_id: StrId,
    /// Where it is loaded.
    pub base: u64,
    /// How many bytes it takes.
    pub size: u64,
}

/// What is known of a thread beside its id.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadInfo {
    /// The thread.
    pub thread: ThreadId,
    /// The name its program gave it.
    pub name: StrId,
    /// Where it was created.
    pub site: SiteId,
    /// The call stack of its creation.
    pub stack: StackId,
}

/// How an object came to be. Its number is part of the binary trace format: never renumber, only add.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Made {
    /// A block of the heap, or a part of one: by the thread, the site and the stack that allocated it.
    Heap = 0,
    /// By a call that initialised it, such as that of a lock.
    Initialised = 1,
    /// A variable of the program itself: its site is where it is defined, and no thread made it.
    Global = 2,
    /// By a constructor at its site, as objects of Java are; the thread was not recorded.
    Object = 3,
}

impl Made {
    /// Every way, in the order of their numbers.
    pub const ALL: [Made; 4] = [Made::Heap, Made::Initialised, Made::Global, Made::Object];

    /// The way with this number, if there is one.
    pub fn from_code(code: u8) -> Option<Made> {
        Made::ALL.get(usize::from(code)).copied()
    }
}

/// Where an object came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Origin {
    /// What kind of object it is: a variable, a lock, …
    pub space: Space,
    /// Its number in that space.
    pub id: u32,
    /// How it came to be.
    pub made: Made,
    /// Who made it.
    pub thread: ThreadId,
    /// Where.
    pub site: SiteId,
    /// The call stack there; 0 if not recorded.
    pub stack: StackId,
    /// The bytes of the whole block or variable; 0 if not known.
    pub size: u64,
}

/// Everything that was recorded beside the events.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Meta {
    /// Call stacks.
    pub stacks: Stacks,
    /// Modules, in the order they were loaded.
    pub modules: Vec<Module>,
    /// Threads with a name or a known creation site, in the order they were recorded.
    pub threads: Vec<ThreadInfo>,
    /// Where objects came from, in the order they were recorded; of several origins of one object the last one holds.
    pub origins: Vec<Origin>,
    /// Sites in shared libraries, and the names of these libraries' files; a site is there once.
    pub libraries: Vec<(SiteId, StrId)>,
}

impl Meta {
    /// Whether there is anything in it.
    pub fn is_empty(&self) -> bool {
        let Meta { stacks, modules, threads, origins, libraries } = self;
        let is_bare = modules.is_empty() && threads.is_empty() && origins.is_empty() && libraries.is_empty();
        stacks.len() == 1 && is_bare
    }
}
