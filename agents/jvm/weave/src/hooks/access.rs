//! Hooks of accesses: fields, static fields, array elements.

use super::{HOOKS, Method, SiteKind};
use crate::class::access;
use crate::code::Code;
use crate::constants::Named;
use crate::descriptor::Kind;
use crate::emit::Emit;
use crate::error::{Error, Result};
use crate::instruction::opcode::*;

/// Moves the top below the two under it, and copies those two above it again: `a, i, v` becomes `a, i, v, a, i`.
const UNDER_ONE: [u8; 3] = [DUP_X2, POP, DUP2_X1];
/// As [`UNDER_ONE`], for a value of two slots.
const UNDER_TWO: [u8; 3] = [DUP2_X2, POP2, DUP2_X2];

/// Moves the top below the two under it: `a, i, v` becomes `v, a, i`.
const ABOVE_ONE: [u8; 2] = [DUP_X2, POP];
/// As [`ABOVE_ONE`], for a value of two slots.
const ABOVE_TWO: [u8; 2] = [DUP2_X2, POP2];

impl Method<'_, '_> {
    /// Weaves the hook of an access. Returns whether the instruction is one.
    pub(super) fn access(
        &mut self,
        code: &mut Code,
        index: usize,
        is_constructed: bool,
        lines: &[(u16, u16)],
    ) -> Result<bool> {
        let instruction = code.instructions[index];
        match instruction.opcode {
            GETSTATIC..=PUTFIELD => {
                let field = self.class.constants.named(instruction.short(code.bytes)?)?;
                let kind = Kind::of(field.descriptor);
                // Fields that the compiler made; and fields of an object that is not constructed yet, which other
                // threads cannot see.
                let is_own = field.name.starts_with(b"$SwitchMap$") || field.name == b"$assertionsDisabled";
                if is_own || instruction.opcode == PUTFIELD && !is_constructed {
                    return Ok(true);
                }
                let flags = self.flags(&field)?;
                // A final field has one value for all threads.
                if flags.is_some_and(|flags| flags & access::FINAL != 0) {
                    return Ok(true);
                }
                let may_be_volatile = flags.is_none_or(|flags| flags & access::VOLATILE != 0);
                let access = match instruction.opcode {
                    GETSTATIC => SiteKind::StaticRead,
                    PUTSTATIC => SiteKind::StaticWrite,
                    GETFIELD => SiteKind::Read,
                    _ => SiteKind::Write,
                };
                let names = [field.class, field.name, field.descriptor].map(<[u8]>::to_vec);
                let site = self.site(access, instruction.at, lines, Some(names))?;
                self.field(code, index, access, kind, site)?;
                if may_be_volatile {
                    self.exact(code, index, access, site)?;
                }
            }
            IALOAD..=SALOAD => {
                let site = self.site(SiteKind::Element, instruction.at, lines, None)?;
                let is_wide = matches!(instruction.opcode, LALOAD | DALOAD);
                code.edits[index].before = vec![DUP2];
                let copy: &[u8] = if is_wide { &ABOVE_TWO } else { &ABOVE_ONE };
                code.edits[index].after = self.element(copy, b"element", site)?;
            }
            IASTORE..=SASTORE => {
                let site = self.site(SiteKind::Store, instruction.at, lines, None)?;
                let copy = if matches!(instruction.opcode, LASTORE | DASTORE) { UNDER_TWO } else { UNDER_ONE };
                code.edits[index].before = self.element(&copy, b"store", site)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The flags of a field, if they are known.
    fn flags(&self, field: &Named) -> Result<Option<u16>> {
        if field.class != self.class.name()? {
            return Ok(self.context.field(field.class, field.name, field.descriptor));
        }
        for own in &self.class.fields {
            let constants = &self.class.constants;
            if constants.text(own.name)? == field.name && constants.text(own.descriptor)? == field.descriptor {
                let wanted = self.context.field(field.class, field.name, field.descriptor).unwrap_or(0);
                return Ok(Some(own.access | wanted & access::VOLATILE));
            }
        }
        Ok(None)
    }

    /// Weaves the hooks that make an access of a volatile field and its record one step: one before a read, which
    /// takes the variable's lock, and one after a write, which releases it.
    fn exact(&mut self, code: &mut Code, index: usize, access: SiteKind, site: i32) -> Result<()> {
        let emit = Emit::new(&mut self.class.constants);
        let hooks = HOOKS.as_bytes();
        let edit = &mut code.edits[index];
        match access {
            SiteKind::Read => {
                let hook = emit.op(&[DUP]).int(site)?.call(hooks, b"reading", b"(Ljava/lang/Object;I)V")?.done();
                edit.before.splice(0..0, hook);
            }
            SiteKind::StaticRead => edit.before = emit.int(site)?.call(hooks, b"reading", b"(I)V")?.done(),
            _ => edit.after = emit.int(site)?.call(hooks, b"wrote", b"(I)V")?.done(),
        }
        Ok(())
    }

    /// A hook that gets the array and the index.
    fn element(&mut self, copy: &[u8], hook: &[u8], site: i32) -> Result<Vec<u8>> {
        let emit = Emit::new(&mut self.class.constants).op(copy).int(site)?;
        Ok(emit.call(HOOKS.as_bytes(), hook, b"(Ljava/lang/Object;II)V")?.done())
    }

    fn field(&mut self, code: &mut Code, index: usize, access: SiteKind, kind: Kind, site: i32) -> Result<()> {
        let edit = &mut code.edits[index];
        let emit = Emit::new(&mut self.class.constants);
        let is_wide = kind.size() == 2;
        let of_static = format!("({}I)V", kind.hook());
        let of_object = format!("(Ljava/lang/Object;{}I)V", kind.hook());
        let hooks = HOOKS.as_bytes();
        match access {
            SiteKind::StaticRead | SiteKind::StaticWrite => {
                let copy = if is_wide { DUP2 } else { DUP };
                let is_read = access == SiteKind::StaticRead;
                let name: &[u8] = if is_read { b"read" } else { b"write" };
                let hook = emit.op(&[copy]).int(site)?.call(hooks, name, of_static.as_bytes())?.done();
                *(if is_read { &mut edit.after } else { &mut edit.before }) = hook;
            }
            SiteKind::Read => {
                edit.before = vec![DUP];
                let copy = if is_wide { DUP2_X1 } else { DUP_X1 };
                edit.after = emit.op(&[copy]).int(site)?.call(hooks, b"read", of_object.as_bytes())?.done();
            }
            _ if is_wide => {
                // The object cannot be reached below the value, which goes to a new local variable meanwhile.
                let local = code.max_locals;
                code.max_locals = local.checked_add(2).ok_or(Error::Many { of: "local variables" })?;
                let [load, store] = [ILOAD, ISTORE].map(|opcode| opcode + kind.further());
                let emit = emit.local(store, local).op(&[DUP]).local(load, local).int(site)?;
                edit.before = emit.call(hooks, b"write", of_object.as_bytes())?.local(load, local).done();
            }
            _ => edit.before = emit.op(&[DUP2]).int(site)?.call(hooks, b"write", of_object.as_bytes())?.done(),
        }
        Ok(())
    }
}
