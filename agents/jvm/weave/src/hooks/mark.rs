//! Hooks of what a specification names and what the program says of itself (`foretrace.Monitor`); and of class
//! initialisers and copied objects.

use super::event::{EventHook, Signature};
use super::{Enclosing, HOOKS, Method, SiteKind};
use crate::class::access;
use crate::code::Code;
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::*;

/// What a specification wants to know of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mark {
    /// Its calls are blocks.
    Region,
    /// Entering it is an event with these values.
    Entered(Vec<MarkValue>),
    /// Leaving it is one.
    Left(Vec<MarkValue>),
}

/// What a specification wants to know of the calls of a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CallMark {
    /// The class that it is called on, or a super class or interface of that: `a/b/C`.
    pub class: String,
    /// When the call is an event, with which values.
    pub mark: Mark,
    /// What the specification calls it.
    pub name: String,
}

/// A value of an event.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MarkValue {
    /// Where it comes from.
    pub from: ValueSource,
    /// Its sort as a specification writes it: `int`, `object<a.b.C>`.
    pub sort: String,
}

/// Where the value of an event comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueSource {
    /// The object that the method is called on.
    This,
    /// An argument, from 0 on.
    Argument(usize),
    /// What the method returns.
    Result,
}

/// The class by which programs say something of themselves.
const MONITOR: &[u8] = b"foretrace/Monitor";

impl Method<'_, '_> {
    /// The hooks of a marked method, where it is entered and left. `name` is what the specification calls it. None: a
    /// method of this type does not have the values.
    pub(super) fn mark(&mut self, mark: &Mark, name: &str, lines: &[(u16, u16)]) -> Result<Option<Enclosing>> {
        let method = &self.class.methods[self.number];
        let is_static = method.access & access::STATIC != 0;
        let descriptor = self.class.constants.text(method.descriptor)?;
        let (Mark::Entered(values) | Mark::Left(values)) = mark else {
            let site = self.site(SiteKind::Mark, 0, lines, None)?;
            let mut hook = |hook: &[u8]| {
                let text = self.class.constants.add_string(name.as_bytes())?;
                let emit = Emit::new(&mut self.class.constants).with(LDC_W, text).int(site)?;
                Ok(emit.call(HOOKS.as_bytes(), hook, b"(Ljava/lang/String;I)V")?.done())
            };
            return Ok(Some(Enclosing::both(hook(b"begin")?, hook(b"end")?)));
        };
        let signature = Signature::of(descriptor, is_static)?;
        if !signature.has(values) {
            return Ok(None);
        }
        let site = self.site(SiteKind::Mark, 0, lines, None)?;
        let event = EventHook { name, values, receiver_of: None, site };
        let emit = event.arguments(Emit::new(&mut self.class.constants), &signature)?;
        if matches!(mark, Mark::Entered(_)) {
            return Ok(Some(Enclosing { entry: event.event(emit, b"event")?.done(), ..Enclosing::default() }));
        }
        let entry = emit.done();
        let emit = event.result(Emit::new(&mut self.class.constants), &signature)?;
        let leave = event.event(emit, b"event")?.done();
        let thrown = event.event(Emit::new(&mut self.class.constants), b"eventThrown")?.done();
        Ok(Some(Enclosing { entry, leave, thrown }))
    }

    /// The hooks of a class initialiser. What it does happens before other threads can see the class.
    pub(super) fn initialiser(&mut self) -> Result<Enclosing> {
        let mut hook =
            |name: &[u8]| Ok(Emit::new(&mut self.class.constants).call(HOOKS.as_bytes(), name, b"()V")?.done());
        Ok(Enclosing::both(hook(b"initialising")?, hook(b"initialised")?))
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
