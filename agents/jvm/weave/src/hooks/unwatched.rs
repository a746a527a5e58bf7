//! Calls of code that is not watched: a hook before them says that what the held locks guard may be used now.
//! Critical sections in which that happens keep their order in all predictions, as if each read and wrote a variable
//! of the lock's.

use super::rows::rows;
use super::{HOOKS, Method};
use crate::code::Code;
use crate::constants::Named;
use crate::descriptor::of_method;
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::*;
use std::sync::LazyLock;

/// Calls that need no hook. The head of the table says how it is read.
const TABLE: &str = include_str!("pure.table");

/// A row of the table.
struct Row {
    class: &'static str,
    methods: Vec<&'static str>,
}

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let mut words = line.split(' ');
        Row { class: words.next().unwrap_or_default(), methods: words.collect() }
    };
    rows(TABLE).map(row).collect()
});

fn fits(pattern: &str, name: &[u8]) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => name.ends_with(end.as_bytes()),
        (_, Some(begin)) => name.starts_with(begin.as_bytes()),
        _ => pattern.as_bytes() == name,
    }
}

/// Whether a method that is not watched never uses what locks guard.
fn is_pure(called: Named) -> bool {
    let is_simple = |argument: &[u8]| !matches!(argument, [b'L' | b'[', ..]) || argument == b"Ljava/lang/String;";
    let is_new = called.name == b"<init>"
        && of_method(called.descriptor).is_ok_and(|(arguments, _)| arguments.iter().all(|&of| is_simple(of)));
    is_new
        || ROWS.iter().any(|row| {
            let has_method = row.methods.is_empty() || row.methods.iter().any(|method| fits(method, called.name));
            has_method && fits(row.class, called.class)
        })
}

impl Method<'_, '_> {
    /// Weaves the hook before a call of something that is not watched.
    pub(super) fn unseen(&mut self, code: &mut Code, index: usize) -> Result<()> {
        let instruction = code.instructions[index];
        let is_call = matches!(instruction.opcode, INVOKEVIRTUAL | INVOKESPECIAL | INVOKESTATIC | INVOKEINTERFACE);
        if !is_call || code.edits[index].instead.is_some() {
            return Ok(());
        }
        let called = self.class.constants.named(instruction.short(code.bytes)?)?;
        if self.context.is_watched(called.class) || is_pure(called) {
            return Ok(());
        }
        let hook = self.unseen_hook()?;
        code.edits[index].before.splice(0..0, hook);
        Ok(())
    }

    /// Weaves the hook after a lock may have been acquired, in a method whose accesses have no hooks.
    pub(super) fn unseen_after(&mut self, code: &mut Code, index: usize) -> Result<()> {
        if code.instructions[index].opcode == MONITORENTER || code.edits[index].instead.is_some() {
            let hook = self.unseen_hook()?;
            code.edits[index].after.extend(hook);
        }
        Ok(())
    }

    /// The hook itself.
    pub(super) fn unseen_hook(&mut self) -> Result<Vec<u8>> {
        Ok(Emit::new(&mut self.class.constants).call(HOOKS.as_bytes(), b"unseen", b"()V")?.done())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pure() {
        let is_pure = |class: &str, name: &str, descriptor: &str| {
            is_pure(Named { class: class.as_bytes(), name: name.as_bytes(), descriptor: descriptor.as_bytes() })
        };
        assert!(is_pure("java/lang/String", "length", "()I"));
        assert!(is_pure("java/lang/IllegalStateException", "getMessage", "()Ljava/lang/String;"));
        assert!(is_pure("java/util/Collections", "emptyList", "()Ljava/util/List;"));
        assert!(!is_pure("java/util/Collections", "sort", "(Ljava/util/List;)V"));
        assert!(is_pure("java/util/BitSet", "<init>", "(I)V"));
        assert!(!is_pure("java/util/BitSet", "set", "(I)V"));
        assert!(!is_pure("java/util/ArrayList", "<init>", "(Ljava/util/Collection;)V"));
        assert!(is_pure("java/util/concurrent/atomic/LongAdder", "toString", "()Ljava/lang/String;"));
        assert!(!is_pure("[I", "clone", "()Ljava/lang/Object;"));
    }
}
