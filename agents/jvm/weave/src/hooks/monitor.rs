//! Hooks of monitors: blocks, synchronized methods, waiting and notifying.

use super::{Enclosing, HOOKS, Method, SiteKind};
use crate::class::access as flags;
use crate::code::{Caught, Code, Guard};
use crate::descriptor::of_method;
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::*;

impl Method<'_, '_> {
    /// Weaves the hook of an instruction on a monitor.
    pub(super) fn monitor(&mut self, code: &mut Code, index: usize, lines: &[(u16, u16)]) -> Result<()> {
        let instruction = code.instructions[index];
        match instruction.opcode {
            MONITORENTER => {
                let site = self.site(SiteKind::Enter, instruction.at, lines, None)?;
                code.edits[index].before = vec![DUP];
                code.edits[index].after = self.call(&[], b"entered", site, b"(Ljava/lang/Object;I)V")?;
            }
            MONITOREXIT => {
                let site = self.site(SiteKind::Leave, instruction.at, lines, None)?;
                code.edits[index].before = self.call(&[DUP], b"leaving", site, b"(Ljava/lang/Object;I)V")?;
                self.guard(code, index)?;
            }
            INVOKEVIRTUAL => {
                // These methods are final in `Object`.
                let method = self.class.constants.named(instruction.short(code.bytes)?)?;
                let kind = match (method.name, method.descriptor) {
                    (b"wait", b"()V" | b"(J)V" | b"(JI)V") => SiteKind::Wait,
                    (b"notify", b"()V") => SiteKind::Notify,
                    (b"notifyAll", b"()V") => SiteKind::NotifyAll,
                    _ => return Ok(()),
                };
                let site = self.site(kind, instruction.at, lines, None)?;
                let mut descriptor = b"(Ljava/lang/Object;".to_vec();
                descriptor.extend_from_slice(&method.descriptor[1..method.descriptor.len() - 2]);
                descriptor.extend_from_slice(b"I)V");
                code.edits[index].instead = Some(self.call(&[], method.name, site, &descriptor)?);
            }
            _ => {}
        }
        Ok(())
    }

    /// Gives the hook of a `monitorexit` a handler of its own, if its handler catches its own exceptions.
    fn guard(&mut self, code: &mut Code, index: usize) -> Result<()> {
        let at = code.instructions[index].at as u16;
        let is_own = |caught: &&Caught| {
            (caught.start..caught.end).contains(&at) && (caught.start..=at).contains(&caught.handler)
        };
        let Some(&Caught { handler, .. }) = code.caught().iter().find(is_own) else { return Ok(()) };
        // If the object comes from elsewhere, nothing can be done.
        let Some(local) = index.checked_sub(1).and_then(|before| code.instructions[before].loaded(code.bytes)) else {
            return Ok(());
        };
        if code.initial.is_empty() {
            code.initial = self.initial()?;
        }
        code.guards.push(Guard { index, local, handler });
        Ok(())
    }

    /// The types of local variables where the method begins, as frames encode them.
    fn initial(&mut self) -> Result<Vec<Vec<u8>>> {
        const UNINITIALIZED_THIS: u8 = 6;
        const OBJECT: u8 = 7;
        let object = |class: u16| [&[OBJECT][..], &class.to_be_bytes()].concat();
        let method = &self.class.methods[self.number];
        let (access, name) = (method.access, self.class.constants.text(method.name)?);
        let descriptor = self.class.constants.text(method.descriptor)?;
        let mut initial = Vec::new();
        if access & flags::STATIC == 0 {
            initial.push(if name == b"<init>" { vec![UNINITIALIZED_THIS] } else { object(self.class.this) });
        }
        for argument in of_method(descriptor)?.0 {
            initial.push(match argument {
                [b'L', class @ .., b';'] => object(self.class.constants.add_class(class)?),
                [b'[', ..] => object(self.class.constants.add_class(argument)?),
                b"J" => vec![4],
                b"F" => vec![2],
                b"D" => vec![3],
                _ => vec![1],
            });
        }
        Ok(initial)
    }

    /// The hooks of a synchronized method, where it is entered and left. The hooks remember the object: its local
    /// variable may be overwritten.
    pub(super) fn synchronized(&mut self, is_static: bool, lines: &[(u16, u16)]) -> Result<Enclosing> {
        let kind = if is_static { SiteKind::StaticMethod } else { SiteKind::Method };
        let site = self.site(kind, 0, lines, None)?;
        let object = if is_static {
            let class = self.class.this;
            Emit::new(&mut self.class.constants).with(LDC_W, class).done()
        } else {
            vec![ALOAD_0]
        };
        let entry = self.call(&object, b"enteredMethod", site, b"(Ljava/lang/Object;I)V")?;
        Ok(Enclosing::both(entry, self.call(&[], b"leavingMethod", site, b"(I)V")?))
    }

    pub(super) fn call(&mut self, before: &[u8], hook: &[u8], site: i32, descriptor: &[u8]) -> Result<Vec<u8>> {
        let emit = Emit::new(&mut self.class.constants).op(before).int(site)?;
        Ok(emit.call(HOOKS.as_bytes(), hook, descriptor)?.done())
    }
}
