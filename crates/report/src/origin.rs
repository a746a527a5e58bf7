//! Where what a finding is about came from: who allocated the memory, initialised the lock, created the thread.

use serde::{Deserialize, Serialize};

/// What kind of thing came from somewhere.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entity {
    /// Memory: a variable.
    Variable,
    /// A lock.
    Lock,
    /// A condition.
    Condition,
    /// A latch, barrier or the like.
    Latch,
    /// A semaphore.
    Semaphore,
    /// A thread.
    Thread,
}

impl Entity {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Entity::Variable => "memory",
            Entity::Lock => "lock",
            Entity::Condition => "condition",
            Entity::Latch => "latch",
            Entity::Semaphore => "semaphore",
            Entity::Thread => "thread",
        }
    }
}

/// How it came to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Creation {
    /// On the heap.
    Allocated,
    /// By a call that initialised it.
    Initialised,
    /// By the program's text: a global.
    Defined,
    /// As threads are, and objects of Java.
    Created,
}

impl From<event::Made> for Creation {
    fn from(made: event::Made) -> Creation {
        match made {
            event::Made::Heap => Creation::Allocated,
            event::Made::Initialised => Creation::Initialised,
            event::Made::Global => Creation::Defined,
            event::Made::Object => Creation::Created,
        }
    }
}

impl Creation {
    const fn text(self) -> &'static str {
        match self {
            Creation::Allocated => "allocated",
            Creation::Initialised => "initialised",
            Creation::Defined => "defined",
            Creation::Created => "created",
        }
    }
}

/// Where something came from.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// What kind of thing it is.
    pub of: Entity,
    /// Its name in the trace.
    pub name: String,
    /// The name that the program itself gave it, if it did: a thread's name, or the field in which an object of Java
    /// was put where it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// How it came to be.
    pub made: Creation,
    /// The thread that made it, if one did and it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// The bytes of the whole block or variable, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Where in the program; empty if not recorded.
    #[serde(default)]
    pub site: String,
    /// The call stack there, leaf first; empty if not recorded.
    #[serde(default)]
    pub stack: Vec<String>,
}

impl Origin {
    /// In words: `heap#12+8: 40 bytes, allocated by main at make_account bank.c:8`, if that is the place.
    pub(crate) fn words(&self, place: &str) -> String {
        let called = self.called.as_ref().map(|called| format!(" (called {called})")).unwrap_or_default();
        let size = match self.size {
            None => String::new(),
            Some(1) => "1 byte, ".to_owned(),
            Some(size) => format!("{size} bytes, "),
        };
        let by = self.thread.as_ref().map(|thread| format!(" by {thread}")).unwrap_or_default();
        let at = if place.is_empty() { String::new() } else { format!(" at {place}") };
        format!("{}{called}: {size}{}{by}{at}", self.name, self.made.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_words() {
        let origin = Origin {
            of: Entity::Variable,
            name: "heap#12+8".to_owned(),
            called: None,
            made: Creation::Allocated,
            thread: Some("main".to_owned()),
            size: Some(40),
            site: "!calloc libc.so.6+0x1".to_owned(),
            stack: vec!["!calloc libc.so.6+0x1".to_owned(), "make bank.c:8".to_owned()],
        };
        assert_eq!(origin.words("make bank.c:8"), "heap#12+8: 40 bytes, allocated by main at make bank.c:8");
        let called = Some("worker".to_owned());
        let thread = Origin { of: Entity::Thread, name: "T1".to_owned(), called, made: Creation::Created, ..origin };
        let thread = Origin { thread: None, size: None, site: String::new(), ..thread };
        assert_eq!(thread.words(""), "T1 (called worker): created");
    }
}
