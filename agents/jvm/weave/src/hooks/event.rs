//! Events of a specification with their values: the code that passes these to the hooks, and calls that are events.
//!
//! `argument(v, site)` keeps a value of the thread, `event(name, plan, site)` takes those that the plan names. So
//! values that are known when a method is entered are there when it is left, whatever it does to its variables.
//!
//! A plan has a part for each value of the event, with `;` between them: its sort, and before that `=` if it is the
//! result, which comes last of all. If the plan begins with `?C;`, the first value is the receiver, which must be a
//! `C`, or the call is no event.

use super::call::Arguments;
use super::{CallMark, HOOKS, Mark, MarkValue, Method, SiteKind, ValueSource};
use crate::bytes::{put_u2, put_u4};
use crate::class::access;
use crate::code::Code;
use crate::descriptor::{Kind, of_method};
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::*;

/// The first version of class files in which interfaces can have static methods.
const INTERFACE_METHODS: u16 = 52;
/// The most that hooks have on the stack above the arguments of a call: a result twice, and the number of a site.
const DEEPEST: u16 = 6;

/// The type of a method, by which values are found.
pub(super) struct Signature {
    arguments: Arguments,
    result: Option<Kind>,
    is_static: bool,
}

impl Signature {
    /// Of a type as class files write it.
    pub(super) fn of(descriptor: &[u8], is_static: bool) -> Result<Signature> {
        let (arguments, result) = of_method(descriptor)?;
        let arguments = Arguments::new(&arguments, is_static);
        Ok(Signature { arguments, result: (result != b"V").then(|| Kind::of(result)), is_static })
    }

    /// Whether such a method has all of these values.
    pub(super) fn has(&self, values: &[MarkValue]) -> bool {
        values.iter().all(|value| match value.from {
            ValueSource::This => !self.is_static,
            ValueSource::Argument(number) => number < self.arguments.all.len(),
            ValueSource::Result => self.result.is_some(),
        })
    }
}

/// The hooks of one event.
pub(super) struct EventHook<'e> {
    /// What the specification calls it.
    pub(super) name: &'e str,
    pub(super) values: &'e [MarkValue],
    /// The class (`a/b/C`) that the receiver must be of, if that is not known.
    pub(super) receiver_of: Option<&'e str>,
    pub(super) site: i32,
}

impl EventHook<'_> {
    /// Passes the values that are known before the call.
    pub(super) fn arguments<'c, 'a>(&self, emit: Emit<'c, 'a>, signature: &Signature) -> Result<Emit<'c, 'a>> {
        let mut emit = emit;
        if self.receiver_of.is_some() {
            emit = self.pass(emit.op(&[ALOAD_0]), Kind::Object)?;
        }
        for value in self.values {
            let (kind, at) = match value.from {
                ValueSource::This => (Kind::Object, 0),
                ValueSource::Argument(number) => signature.arguments.all[number],
                ValueSource::Result => continue,
            };
            emit = self.pass(emit.local(ILOAD + kind.further(), at), kind)?;
        }
        Ok(emit)
    }

    /// Passes the result, which is on the stack and stays there, if it is one of the values.
    pub(super) fn result<'c, 'a>(&self, emit: Emit<'c, 'a>, signature: &Signature) -> Result<Emit<'c, 'a>> {
        match signature.result.filter(|_| self.values.iter().any(|value| value.from == ValueSource::Result)) {
            Some(kind) => self.pass(emit.op(&[if kind.size() == 2 { DUP2 } else { DUP }]), kind),
            None => Ok(emit),
        }
    }

    /// Calls the hook of the event.
    pub(super) fn event<'c, 'a>(&self, emit: Emit<'c, 'a>, hook: &[u8]) -> Result<Emit<'c, 'a>> {
        let name = emit.constants.add_string(self.name.as_bytes())?;
        let plan = emit.constants.add_string(self.plan().as_bytes())?;
        let emit = emit.with(LDC_W, name).with(LDC_W, plan).int(self.site)?;
        emit.call(HOOKS.as_bytes(), hook, b"(Ljava/lang/String;Ljava/lang/String;I)V")
    }

    fn plan(&self) -> String {
        let receiver = self.receiver_of.map(|class| format!("?{}", class.replace('/', ".")));
        let values = self.values.iter().map(|value| {
            let mark = if value.from == ValueSource::Result { "=" } else { "" };
            format!("{mark}{}", value.sort)
        });
        receiver.into_iter().chain(values).collect::<Vec<_>>().join(";")
    }

    /// Passes the value on the stack: numbers are longs or doubles.
    fn pass<'c, 'a>(&self, emit: Emit<'c, 'a>, kind: Kind) -> Result<Emit<'c, 'a>> {
        let (emit, descriptor): (_, &[u8]) = match kind {
            Kind::Int => (emit.op(&[I2L]), b"(JI)V"),
            Kind::Long => (emit, b"(JI)V"),
            Kind::Float => (emit.op(&[F2D]), b"(DI)V"),
            Kind::Double => (emit, b"(DI)V"),
            Kind::Object => (emit, b"(Ljava/lang/Object;I)V"),
        };
        emit.int(self.site)?.call(HOOKS.as_bytes(), b"argument", descriptor)
    }
}

impl<'a> Method<'_, 'a> {
    /// Weaves the hooks of an instruction, if it is a call that a specification names. What other hooks made of the
    /// instruction is moved into a bridge method (as for calls that synchronise), between the hooks of the events.
    pub(super) fn event_call(&mut self, code: &mut Code<'a>, index: usize, lines: &[(u16, u16)]) -> Result<()> {
        let instruction = code.instructions[index];
        let opcode = instruction.opcode;
        if !matches!(opcode, INVOKEVIRTUAL | INVOKEINTERFACE | INVOKESTATIC | INVOKESPECIAL) {
            return Ok(());
        }
        let constant = instruction.short(code.bytes)?;
        let called = self.class.constants.named(constant)?;
        let marks = self.context.called(called.name);
        let is_old = self.class.access & access::INTERFACE != 0 && self.class.major < INTERFACE_METHODS;
        if marks.is_empty() || called.name == b"<init>" || called.class.starts_with(b"[") || is_old {
            return Ok(());
        }
        let is_static = opcode == INVOKESTATIC;
        let signature = Signature::of(called.descriptor, is_static)?;
        let fits = |mark: &&CallMark| {
            let (Mark::Entered(values) | Mark::Left(values)) = &mark.mark else { return false };
            signature.has(values) && (!is_static || mark.class.as_bytes() == called.class)
        };
        let marks: Vec<&CallMark> = marks.iter().filter(fits).collect();
        let mut hooks = Vec::with_capacity(marks.len());
        for mark in &marks {
            let (Mark::Entered(values) | Mark::Left(values)) = &mark.mark else { continue };
            let is_known = is_static || mark.class.as_bytes() == called.class;
            let receiver_of = (!is_known).then_some(mark.class.as_str());
            let site = self.site(SiteKind::Mark, instruction.at, lines, None)?;
            let leaves = matches!(mark.mark, Mark::Left(_));
            hooks.push((leaves, EventHook { name: &mark.name, values, receiver_of, site }));
        }
        if hooks.is_empty() {
            return Ok(());
        }
        let call = match code.edits[index].instead.take() {
            Some(instead) => instead,
            None => {
                let emit = Emit::new(&mut self.class.constants).with(opcode, constant);
                let count = u8::try_from(signature.arguments.size).unwrap_or(u8::MAX);
                if opcode == INVOKEINTERFACE { emit.op(&[count, 0]) } else { emit }.done()
            }
        };
        let class = if opcode == INVOKESPECIAL { self.class.this } else { self.class.constants.class_of(constant)? };
        let content = self.event_bridge(&hooks, &signature, &call, class)?;
        let (_, result) = of_method(called.descriptor)?;
        let arguments = &called.descriptor[1..called.descriptor.len() - result.len() - 1];
        let receiver: &[u8] = if is_static { b"" } else { b"Ljava/lang/Object;" };
        let descriptor = [b"(", receiver, arguments, b")", result].concat();
        let name = self.added_name("").into_bytes();
        self.add_method(&name, &descriptor, content)?;
        let method = self.own_method(&name, &descriptor)?;
        code.edits[index].instead = Some(Emit::new(&mut self.class.constants).with(INVOKESTATIC, method).done());
        Ok(())
    }

    /// The code of the bridge method: the call, with the hooks of events before and after it.
    fn event_bridge(
        &mut self,
        hooks: &[(bool, EventHook<'_>)],
        signature: &Signature,
        call: &[u8],
        receiver: u16,
    ) -> Result<Vec<u8>> {
        let mut emit = Emit::new(&mut self.class.constants);
        for (leaves, hook) in hooks {
            emit = hook.arguments(emit, signature)?;
            if !leaves {
                emit = hook.event(emit, b"event")?;
            }
        }
        if !signature.is_static {
            emit = emit.op(&[ALOAD_0]).with(CHECKCAST, receiver);
        }
        for &(kind, at) in &signature.arguments.all {
            emit = emit.local(ILOAD + kind.further(), at);
        }
        let begin = emit.size();
        emit = emit.op(call);
        let end = emit.size();
        // The values that were passed last are taken first.
        let leaving: Vec<&EventHook<'_>> = hooks.iter().rev().filter(|(leaves, _)| *leaves).map(|(_, h)| h).collect();
        for hook in &leaving {
            emit = hook.event(hook.result(emit, signature)?, b"event")?;
        }
        emit = emit.op(&[signature.result.map_or(RETURN, |kind| IRETURN + kind.further())]);
        let handler = emit.size();
        for hook in &leaving {
            emit = hook.event(emit, b"eventThrown")?;
        }
        let code = if leaving.is_empty() { emit } else { emit.op(&[ATHROW]) }.done();
        let size = signature.arguments.size;
        let mut content = Vec::new();
        [size + DEEPEST, size].into_iter().for_each(|value| put_u2(&mut content, value));
        put_u4(&mut content, code.len() as u32);
        content.extend_from_slice(&code);
        if leaving.is_empty() {
            // No handlers, no attributes.
            put_u4(&mut content, 0);
            return Ok(content);
        }
        [1, begin, end, handler, 0].into_iter().for_each(|value| put_u2(&mut content, value as u16));
        let constants = &mut self.class.constants;
        put_u2(&mut content, 1);
        put_u2(&mut content, constants.add_text(b"StackMapTable")?);
        // One frame, at the handler: nothing is in local variables, and the exception is on the stack.
        let mut frame = vec![0, 1, FULL_FRAME];
        put_u2(&mut frame, handler as u16);
        put_u2(&mut frame, 0);
        put_u2(&mut frame, 1);
        frame.push(OBJECT_TYPE);
        put_u2(&mut frame, constants.add_class(b"java/lang/Throwable")?);
        put_u4(&mut content, frame.len() as u32);
        content.extend_from_slice(&frame);
        Ok(content)
    }
}

/// The kind of a frame that lists all of its types, and the tag of an object's type.
const FULL_FRAME: u8 = 255;
const OBJECT_TYPE: u8 = 7;
