//! Hooks where objects are made, and where they are put first: objects of watched classes, and locks of the JDK.

use super::{Method, SiteKind};
use crate::code::Code;
use crate::error::Result;
use crate::instruction::opcode::*;

/// Classes of the JDK whose objects are locks.
const LOCKS: [&[u8]; 4] = [
    b"java/lang/Object",
    b"java/util/concurrent/locks/ReentrantLock",
    b"java/util/concurrent/locks/ReentrantReadWriteLock",
    b"java/util/concurrent/locks/StampedLock",
];

/// Types of the JDK that fields with such a lock have, beside its class.
const LOCK_TYPES: [&[u8]; 2] = [b"java/util/concurrent/locks/Lock", b"java/util/concurrent/locks/ReadWriteLock"];

impl Method<'_, '_> {
    /// Weaves the hook after constructor calls whose object stays on the stack, as compilers make them: `new`, `dup`,
    /// the arguments, the call.
    pub(super) fn made(&mut self, code: &mut Code, lines: &[(u16, u16)]) -> Result<()> {
        // Objects that are not constructed yet: their class, and whether the reference was copied.
        let mut made = Vec::new();
        for index in 0..code.instructions.len() {
            let instruction = code.instructions[index];
            match instruction.opcode {
                NEW => {
                    let opcode = |at: usize| code.instructions.get(at).map(|instruction| instruction.opcode);
                    // Other uses of the copy are not tracked: compilers do not make them.
                    let is_moved = |opcode| matches!(opcode, ASTORE | 75..=78 | POP..=SWAP);
                    let is_copied = opcode(index + 1) == Some(DUP) && !opcode(index + 2).is_some_and(is_moved);
                    made.push((self.class.constants.class(instruction.short(code.bytes)?)?, is_copied));
                }
                INVOKESPECIAL => {
                    let called = self.class.constants.named(instruction.short(code.bytes)?)?;
                    let is_copied = called.name == b"<init>" && made.pop() == Some((called.class, true));
                    if is_copied && (LOCKS.contains(&called.class) || self.context.is_watched(called.class)) {
                        let kept = self.kept(code, index + 1)?;
                        let site = self.site(SiteKind::Make, instruction.at, lines, kept)?;
                        let hook = self.call(&[DUP], b"made", site, b"(Ljava/lang/Object;I)V")?;
                        code.edits[index].after.extend(hook);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Weaves the hook where a lock or an object of a watched class is put in a field for the first time: by a
    /// constructor or a class initialiser, or at once after it was made.
    pub(super) fn put(
        &mut self,
        code: &mut Code,
        index: usize,
        is_constructed: bool,
        lines: &[(u16, u16)],
    ) -> Result<()> {
        let opcode = code.instructions[index].opcode;
        let Some(names) = self.kept(code, index)? else { return Ok(()) };
        let is_new = index > 0 && code.instructions[index - 1].opcode == INVOKESPECIAL;
        let method = self.class.constants.text(self.class.methods[self.number].name)?;
        let is_first = is_new || matches!(method, b"<init>" | b"<clinit>");
        let type_of = names[2].strip_prefix(b"L").and_then(|name| name.strip_suffix(b";"));
        let is_wanted = type_of
            .is_some_and(|name| LOCKS.contains(&name) || LOCK_TYPES.contains(&name) || self.context.is_watched(name));
        if !is_first || !is_wanted || opcode == PUTFIELD && !is_constructed {
            return Ok(());
        }
        let site = self.site(SiteKind::Make, code.instructions[index].at, lines, Some(names))?;
        let hook = if opcode == PUTFIELD {
            self.call(&[DUP2], b"kept", site, b"(Ljava/lang/Object;Ljava/lang/Object;I)V")?
        } else {
            self.call(&[DUP], b"kept", site, b"(Ljava/lang/Object;I)V")?
        };
        code.edits[index].before.splice(0..0, hook);
        Ok(())
    }

    /// Class, name and type of the field in which an instruction puts what was made.
    fn kept(&self, code: &Code, index: usize) -> Result<Option<[Vec<u8>; 3]>> {
        let Some(instruction) = code.instructions.get(index) else { return Ok(None) };
        if !matches!(instruction.opcode, PUTFIELD | PUTSTATIC) {
            return Ok(None);
        }
        let field = self.class.constants.named(instruction.short(code.bytes)?)?;
        Ok(Some([field.class, field.name, field.descriptor].map(<[u8]>::to_vec)))
    }
}
