//! Hooks of what a specification names and what the program says of itself (`foretrace.Monitor`); and of class
//! initialisers and copied objects.

use super::{HOOKS, Method, SiteKind};
use crate::code::Code;
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::*;

/// What a specification wants to know of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Its calls are blocks.
    Region,
    /// Entering it is an event.
    Entered,
    /// Leaving it is an event.
    Left,
}

/// The class by which programs say something of themselves.
const MONITOR: &[u8] = b"foretrace/Monitor";

impl Method<'_, '_> {
    /// The hooks of a marked method, where it is entered and left. `name` is what the specification calls it.
    pub(super) fn mark(&mut self, mark: Mark, name: &str, lines: &[(u16, u16)]) -> Result<(Vec<u8>, Vec<u8>)> {
        let site = self.site(SiteKind::Mark, 0, lines, None)?;
        let mut hook = |hook: &[u8]| {
            let text = self.class.constants.add_string(name.as_bytes())?;
            let emit = Emit::new(&mut self.class.constants).with(LDC_W, text).int(site)?;
            Ok(emit.call(HOOKS.as_bytes(), hook, b"(Ljava/lang/String;I)V")?.done())
        };
        Ok(match mark {
            Mark::Region => (hook(b"begin")?, hook(b"end")?),
            Mark::Entered => (hook(b"event")?, Vec::new()),
            Mark::Left => (Vec::new(), hook(b"event")?),
        })
    }

    /// The hooks of a class initialiser. What it does happens before other threads can see the class.
    pub(super) fn initialiser(&mut self) -> Result<(Vec<u8>, Vec<u8>)> {
        let mut hook =
            |name: &[u8]| Ok(Emit::new(&mut self.class.constants).call(HOOKS.as_bytes(), name, b"()V")?.done());
        Ok((hook(b"initialising")?, hook(b"initialised")?))
    }

    /// Weaves the hooks of a call of `foretrace.Monitor`, or of one that copies an object with all its fields, even
    /// the agent's. Returns whether it is one.
    pub(super) fn known_call(&mut self, code: &mut Code, index: usize, lines: &[(u16, u16)]) -> Result<bool> {
        let instruction = code.instructions[index];
        if !matches!(instruction.opcode, INVOKESTATIC | INVOKESPECIAL) {
            return Ok(false);
        }
        let called = self.class.constants.named(instruction.short(code.bytes)?)?;
        let hooks = HOOKS.as_bytes();
        if instruction.opcode == INVOKESPECIAL {
            let is_copy = called.name == b"clone" && called.descriptor == b"()Ljava/lang/Object;";
            if is_copy {
                let emit = Emit::new(&mut self.class.constants).op(&[DUP]);
                code.edits[index].after = emit.call(hooks, b"cloned", b"(Ljava/lang/Object;)V")?.done();
            }
            return Ok(is_copy);
        }
        if called.class != MONITOR || !matches!(called.name, b"internal" | b"begin" | b"end") {
            return Ok(false);
        }
        let site = self.site(SiteKind::Mark, instruction.at, lines, None)?;
        let (name, descriptor) =
            (called.name.to_vec(), [&called.descriptor[..called.descriptor.len() - 2], b"I)V"].concat());
        let emit = Emit::new(&mut self.class.constants).int(site)?;
        code.edits[index].instead = Some(emit.call(hooks, &name, &descriptor)?.done());
        Ok(true)
    }
}
