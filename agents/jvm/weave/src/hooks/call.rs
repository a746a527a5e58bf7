//! Hooks of calls that synchronise. A call is one of a method that is added to the class: it has the same arguments, and the number of the site; it calls the hooks and, between
//! them, what was called. So nothing has to be moved on the stack.

use super::table::{Call, Calls};
use super::{Does, HOOKS, Method};
use crate::bytes::{put_u2, put_u4};
use crate::class::{Attribute, Member, access};
use crate::code::Code;
use crate::constants::Named;
use crate::descriptor::{Kind, of_method};
use crate::emit::Emit;
use crate::error::{Error, Result};
use crate::instruction::opcode::*;

/// From which version on interfaces can have such methods.
const INTERFACE_METHODS: u16 = 52;

impl<'a> Method<'_, 'a> {
    /// Weaves the hooks of an instruction, if it is such a call.
    pub(super) fn call_site(&mut self, code: &mut Code<'a>, index: usize, lines: &[(u16, u16)]) -> Result<()> {
        let instruction = code.instructions[index];
        if !matches!(instruction.opcode, INVOKEVIRTUAL | INVOKEINTERFACE) {
            return Ok(());
        }
        let constant = instruction.short(code.bytes)?;
        let called = self.class.constants.named(constant)?;
        let Some(number) = Calls::all().find(called.class, called.name, called.descriptor) else { return Ok(()) };
        let is_interface = self.class.access & access::INTERFACE != 0;
        if is_interface && self.class.major < INTERFACE_METHODS {
            return Ok(());
        }
        let site = self.site(Does::Call(number as u16), instruction.at, lines, None)?;
        let between = self.between(&Calls::all().calls[number], instruction.opcode, constant, called)?;
        let this = self.class.name()?;
        let (name, descriptor) = (between.name, between.descriptor);
        let named = Named { class: this, name: &name, descriptor: &descriptor };
        let constants = &mut self.class.constants;
        let method = if is_interface { constants.add_interface_method(named)? } else { constants.add_method(named)? };
        code.edits[index].instead = Some(Emit::new(constants).int(site)?.with(INVOKESTATIC, method).done());
        Ok(())
    }

    /// The method between a call and what it calls; it is made if there is none yet.
    fn between(&mut self, call: &Call, opcode: u8, constant: u16, called: Named<'a>) -> Result<Between> {
        let name = format!("foretrace${constant}").into_bytes();
        let (arguments, result) = of_method(called.descriptor)?;
        let rest = &called.descriptor[1..called.descriptor.len() - result.len() - 1];
        // The receiver's class is not named, so that who looks at the methods of the class needs not find it.
        let descriptor = [b"(Ljava/lang/Object;", rest, b"I)", result].concat();
        if self.between.insert(constant) {
            let mut locals = 1;
            let class = self.class.constants.add_class(called.class)?;
            let mut load = Emit::new(&mut self.class.constants).op(&[ALOAD_0]).with(CHECKCAST, class);
            for argument in &arguments {
                let kind = Kind::of(argument);
                load = load.local(ILOAD + kind.further(), locals);
                locals += kind.size();
            }
            let load = load.done();
            let count = u8::try_from(locals).map_err(|_| Error::Many { of: "arguments" })?;
            let mut emit = Emit::new(&mut self.class.constants);
            if call.rows.iter().any(|row| row.before.is_some()) {
                let of = b"(Ljava/lang/Object;I)V";
                emit = emit.op(&[ALOAD_0]).local(ILOAD, locals).call(HOOKS.as_bytes(), b"before", of)?;
            }
            emit = emit.op(&load).with(opcode, constant);
            if opcode == INVOKEINTERFACE {
                emit = emit.op(&[count, 0]);
            }
            let kind = (result != b"V").then(|| Kind::of(result));
            if call.rows.iter().any(|row| row.after.is_some()) {
                let of = format!("({}Ljava/lang/Object;I)V", kind.map_or("", Kind::hook));
                let copy: &[u8] = kind.map_or(&[], |kind| if kind.size() == 2 { &[DUP2] } else { &[DUP] });
                emit = emit.op(copy).op(&[ALOAD_0]).local(ILOAD, locals);
                emit = emit.call(HOOKS.as_bytes(), b"after", of.as_bytes())?;
            }
            let code = emit.op(&[kind.map_or(RETURN, |kind| IRETURN + kind.further())]).done();
            // The result twice, the object and the site; or the arguments.
            let stack = locals.max(6);
            let mut content = Vec::new();
            put_u2(&mut content, stack);
            put_u2(&mut content, locals + 1);
            put_u4(&mut content, code.len() as u32);
            content.extend_from_slice(&code);
            // No handlers, no attributes.
            put_u4(&mut content, 0);
            let constants = &mut self.class.constants;
            let attribute = Attribute { name: constants.add_text(b"Code")?, content: content.into() };
            self.added.push(Member {
                access: access::PRIVATE | access::STATIC | access::SYNTHETIC,
                name: constants.add_text(&name)?,
                descriptor: constants.add_text(&descriptor)?,
                attributes: vec![attribute],
            });
        }
        Ok(Between { name, descriptor })
    }
}

/// A method between a call and what it calls.
struct Between {
    name: Vec<u8>,
    descriptor: Vec<u8>,
}
