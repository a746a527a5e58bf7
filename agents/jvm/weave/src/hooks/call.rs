//! Hooks of calls that synchronise.
//!
//! The call becomes a call of a bridge method, which is added to the class (`foretrace$N`). It has the arguments of
//! the call, and makes it between the two hooks; so nothing has to be moved on the stack. The first [`MOST_OWN`]
//! calls of a class have bridges of their own, in which the number of the site is a constant: so HotSpot knows all
//! effects when it compiles them. Further calls share a bridge for each called method and pass the number, because
//! methods and constants of a class are limited.

use super::table::{Call, Calls, PLAIN, VariableKey};
use super::{HOOKS, Method, Row, SiteKind};
use crate::bytes::{put_u2, put_u4};
use crate::class::{Attribute, Member, access};
use crate::code::Code;
use crate::constants::{Constants, Named};
use crate::descriptor::{Kind, of_method};
use crate::emit::Emit;
use crate::error::{Error, Result};
use crate::instruction::opcode::*;

/// The first version of class files in which interfaces can have such methods.
const INTERFACE_METHODS: u16 = 52;
/// How many calls of a class have a bridge of their own.
const MOST_OWN: usize = 256;
/// The most that a bridge has on the stack: a result twice, and the arguments of a hook.
const DEEPEST: u16 = 10;

impl<'a> Method<'_, 'a> {
    /// Weaves the hooks of an instruction, if it is such a call.
    pub(super) fn call_site(&mut self, code: &mut Code<'a>, index: usize, lines: &[(u16, u16)]) -> Result<()> {
        let instruction = code.instructions[index];
        if !matches!(instruction.opcode, INVOKEVIRTUAL | INVOKEINTERFACE | INVOKESTATIC | INVOKESPECIAL) {
            return Ok(());
        }
        let constant = instruction.short(code.bytes)?;
        let called = self.class.constants.named(constant)?;
        if instruction.opcode == INVOKESPECIAL && (called.name == b"<init>" || called.class == self.class.name()?) {
            return Ok(());
        }
        if let Some(call) = self.call_instead(instruction.opcode, constant, instruction.at, lines)? {
            code.edits[index].instead = Some(call);
        }
        Ok(())
    }

    /// The code that calls the bridge instead of a method, with the same arguments, if the table has the call.
    pub(super) fn call_instead(
        &mut self,
        opcode: u8,
        constant: u16,
        at: usize,
        lines: &[(u16, u16)],
    ) -> Result<Option<Vec<u8>>> {
        let called = self.class.constants.named(constant)?;
        let found = Calls::all().find(called.class, called.name, called.descriptor, opcode == INVOKESTATIC);
        let Some((number, passed)) = found.and_then(|number| Some((number, HookArguments::of(number, called)?))) else {
            return Ok(None);
        };
        if self.class.access & access::INTERFACE != 0 && self.class.major < INTERFACE_METHODS {
            return Ok(None);
        }
        let is_named = passed.is_variable || opcode == INVOKESPECIAL;
        let names = is_named.then(|| [called.class, called.name, called.descriptor].map(<[u8]>::to_vec));
        let site = self.site(SiteKind::Call(number as u16), at, lines, names)?;
        let bridge = Bridge { call: &Calls::all().calls[number], passed, opcode, constant, called };
        if self.added.len() < MOST_OWN {
            let method = self.bridge(&bridge, SiteNumber::Constant(site))?;
            return Ok(Some(Emit::new(&mut self.class.constants).with(INVOKESTATIC, method).done()));
        }
        let shared = (constant, opcode == INVOKESPECIAL);
        let method = match self.shared.get(&shared) {
            Some(&(_, method)) => method,
            None => {
                let added = self.added.len();
                let method = self.bridge(&bridge, SiteNumber::Passed)?;
                self.shared.insert(shared, (added, method));
                method
            }
        };
        Ok(Some(Emit::new(&mut self.class.constants).int(site)?.with(INVOKESTATIC, method).done()))
    }

    /// The constant of a method of the class itself.
    pub(super) fn own_method(&mut self, name: &[u8], descriptor: &[u8]) -> Result<u16> {
        let is_interface = self.class.access & access::INTERFACE != 0;
        // A hidden class is not found by its name.
        self.class.constants.add_own_method(self.class.this, name, descriptor, is_interface)
    }

    /// Adds a private static method to the class.
    pub(super) fn add_method(&mut self, name: &[u8], descriptor: &[u8], content: Vec<u8>) -> Result<()> {
        let constants = &mut self.class.constants;
        let attribute = Attribute { name: constants.add_text(b"Code")?, content: content.into() };
        self.added.push(Member {
            access: access::PRIVATE | access::STATIC | access::SYNTHETIC,
            name: constants.add_text(name)?,
            descriptor: constants.add_text(descriptor)?,
            attributes: vec![attribute],
        });
        Ok(())
    }

    /// Adds the bridge method of a call. Returns its constant.
    fn bridge(&mut self, bridge: &Bridge<'a>, number: SiteNumber) -> Result<u16> {
        let name = self.added_name("").into_bytes();
        let (_, result) = of_method(bridge.called.descriptor)?;
        let arguments = &bridge.called.descriptor[1..bridge.called.descriptor.len() - result.len() - 1];
        // The receiver's class is not named: reflection on this class need not find it.
        let receiver: &[u8] = if bridge.call.is_static { b"" } else { b"Ljava/lang/Object;" };
        let passed: &[u8] = if matches!(number, SiteNumber::Passed) { b"I" } else { b"" };
        let descriptor = [b"(", receiver, arguments, passed, b")", result].concat();
        let content = self.bridge_code(bridge, number)?;
        self.add_method(&name, &descriptor, content)?;
        self.own_method(&name, &descriptor)
    }

    fn bridge_code(&mut self, bridge: &Bridge<'a>, number: SiteNumber) -> Result<Vec<u8>> {
        let &Bridge { call, passed, opcode, constant, called } = bridge;
        let (arguments, result) = of_method(called.descriptor)?;
        let arguments = Arguments::new(&arguments, call.is_static);
        let constants = &mut self.class.constants;
        let mut emit = Emit::new(constants);
        // The hook before an atomic access takes the variable's lock, so that the record after it is right.
        let is_atomic =
            call.rows.iter().flat_map(Row::effects).any(|effect| matches!(effect.kind, "load" | "store" | "rmw"));
        // Of a collection inside of one that synchronises, the accesses are recorded during the call.
        let is_noted = call.rows.iter().any(|row| !row.before.is_empty() || row.class == PLAIN);
        if is_atomic || is_noted {
            emit = number.emit(passed.emit(emit, &arguments, call.is_static)?, &arguments)?;
            emit = emit.call(HOOKS.as_bytes(), b"before", passed.descriptor("", &arguments).as_bytes())?;
        }
        if !call.is_static {
            // Protected methods can be called only on the class's own objects.
            let is_protected = called.class.starts_with(b"java/util/concurrent/locks/AbstractQueued")
                && matches!(called.name, b"getState" | b"setState" | b"compareAndSetState");
            let is_own = opcode == INVOKESPECIAL || is_protected;
            let class = if is_own { self.class.this } else { emit.constants.class_of(constant)? };
            emit = emit.op(&[ALOAD_0]).with(CHECKCAST, class);
        }
        for &(kind, at) in &arguments.all {
            emit = emit.local(ILOAD + kind.further(), at);
        }
        let begin = emit.size();
        emit = emit.with(opcode, constant);
        if opcode == INVOKEINTERFACE {
            let count = u8::try_from(arguments.size).map_err(|_| Error::Many { of: "arguments" })?;
            emit = emit.op(&[count, 0]);
        }
        let end = emit.size();
        let kind = (result != b"V").then(|| Kind::of(result));
        if is_atomic || call.rows.iter().any(|row| !row.after.is_empty()) {
            emit = match kind {
                Some(kind) => as_hooks_want(emit.op(&[if kind.size() == 2 { DUP2 } else { DUP }]), kind)?,
                // The long form of hooks always has a result.
                None if passed.is_long() => emit.op(&[LCONST_0]),
                None => emit,
            };
            let result = match kind {
                Some(kind) => hooks_kind(kind),
                None if passed.is_long() => "J",
                None => "",
            };
            emit = number.emit(passed.emit(emit, &arguments, call.is_static)?, &arguments)?;
            emit = emit.call(HOOKS.as_bytes(), b"after", passed.descriptor(result, &arguments).as_bytes())?;
        }
        emit = emit.op(&[kind.map_or(RETURN, |kind| IRETURN + kind.further())]);
        let handler = emit.size();
        let is_effect_of_throw = call.rows.iter().flat_map(Row::effects).any(|effect| effect.is_thrown);
        if is_effect_of_throw {
            emit = number.emit(emit.op(&[ALOAD_0]), &arguments)?;
            emit = emit.call(HOOKS.as_bytes(), b"after", b"(Ljava/lang/Object;I)V")?.op(&[ATHROW]);
        } else if !call.is_static
            && (is_atomic && takes_function(called.descriptor) || call.rows.iter().any(Row::names_entry))
        {
            emit = emit.op(&[ALOAD_0]).call(HOOKS.as_bytes(), b"threw", b"(Ljava/lang/Object;)V")?.op(&[ATHROW]);
        } else if !call.is_static && call.rows.iter().any(Row::blocks) {
            // Nothing was done, but the thread does not wait any more.
            emit = emit.op(&[ACONST_NULL]).call(HOOKS.as_bytes(), b"threw", b"(Ljava/lang/Object;)V")?.op(&[ATHROW]);
        }
        let is_caught = emit.size() > handler;
        let code = emit.done();
        let mut content = Vec::new();
        put_u2(&mut content, arguments.size.max(DEEPEST));
        put_u2(&mut content, arguments.size + u16::from(matches!(number, SiteNumber::Passed)));
        put_u4(&mut content, code.len() as u32);
        content.extend_from_slice(&code);
        if is_caught {
            [1, begin, end, handler, 0].into_iter().for_each(|value| put_u2(&mut content, value as u16));
            put_u2(&mut content, 1);
            put_u2(&mut content, self.class.constants.add_text(b"StackMapTable")?);
            let frame = caught_frame(&mut self.class.constants, handler, arguments.size, number)?;
            put_u4(&mut content, frame.len() as u32);
            content.extend_from_slice(&frame);
        } else {
            // No handlers, no attributes.
            put_u4(&mut content, 0);
        }
        Ok(content)
    }
}

/// What a bridge method is made of.
struct Bridge<'a> {
    call: &'static Call,
    passed: HookArguments,
    opcode: u8,
    constant: u16,
    called: Named<'a>,
}

/// Where a bridge method gets the number of the site from.
#[derive(Clone, Copy)]
enum SiteNumber {
    Constant(i32),
    /// It is the last argument.
    Passed,
}

impl SiteNumber {
    fn emit<'c, 'a>(self, emit: Emit<'c, 'a>, arguments: &Arguments) -> Result<Emit<'c, 'a>> {
        match self {
            SiteNumber::Constant(site) => emit.int(site),
            SiteNumber::Passed => Ok(emit.local(ILOAD, arguments.size)),
        }
    }
}

/// The one frame of a bridge method, at its handler: the receiver, nothing of the arguments, the number of the site
/// if it is passed, and the exception.
fn caught_frame(constants: &mut Constants, handler: usize, end: u16, number: SiteNumber) -> Result<Vec<u8>> {
    const FULL: u8 = 255;
    const TOP: u8 = 0;
    const INT: u8 = 1;
    const OBJECT: u8 = 7;
    let mut frame = vec![0, 1, FULL];
    put_u2(&mut frame, handler as u16);
    let is_passed = matches!(number, SiteNumber::Passed);
    put_u2(&mut frame, end + u16::from(is_passed));
    frame.push(OBJECT);
    put_u2(&mut frame, constants.add_class(b"java/lang/Object")?);
    frame.resize(frame.len() + usize::from(end) - 1, TOP);
    frame.extend(is_passed.then_some(INT));
    put_u2(&mut frame, 1);
    frame.push(OBJECT);
    put_u2(&mut frame, constants.add_class(b"java/lang/Throwable")?);
    Ok(frame)
}

/// Whether the call may run a function of the program, which may throw.
fn takes_function(descriptor: &[u8]) -> bool {
    const FUNCTION: &[u8] = b"Ljava/util/function/";
    descriptor.windows(FUNCTION.len()).any(|part| part == FUNCTION)
}

/// The type that hooks have for a value: `J` for everything but objects.
fn hooks_kind(kind: Kind) -> &'static str {
    if kind == Kind::Object { kind.hook() } else { "J" }
}

/// Converts the value on the stack to what hooks have for it: numbers become longs.
fn as_hooks_want<'c, 'a>(emit: Emit<'c, 'a>, kind: Kind) -> Result<Emit<'c, 'a>> {
    Ok(match kind {
        Kind::Int => emit.op(&[I2L]),
        Kind::Float => emit.call(b"java/lang/Float", b"floatToRawIntBits", b"(F)I")?.op(&[I2L]),
        Kind::Double => emit.call(b"java/lang/Double", b"doubleToRawLongBits", b"(D)J")?,
        Kind::Long | Kind::Object => emit,
    })
}

/// The arguments of a bridge method without the receiver: kinds, and local variables.
pub(super) struct Arguments {
    pub(super) all: Vec<(Kind, u16)>,
    /// The local variable after the last.
    pub(super) size: u16,
}

impl Arguments {
    pub(super) fn new(types: &[&[u8]], is_static: bool) -> Arguments {
        let mut size = u16::from(!is_static);
        let mut all = Vec::with_capacity(types.len());
        for argument in types {
            let kind = Kind::of(argument);
            all.push((kind, size));
            size += kind.size();
        }
        Arguments { all, size }
    }
}

/// What a call's hooks get besides the receiver: numbers of arguments, from 0.
#[derive(Clone, Copy, Default)]
struct HookArguments {
    object: Option<usize>,
    index: Option<usize>,
    value: Option<usize>,
    /// The first arguments name a variable, whose type only the call has.
    is_variable: bool,
}

impl HookArguments {
    /// None: the variable cannot be found.
    fn of(number: usize, called: Named) -> Option<HookArguments> {
        let call = &Calls::all().calls[number];
        let (arguments, _) = of_method(called.descriptor).ok()?;
        if let Some(values) = call.values() {
            let names = VariableKey::of(called.descriptor, values)?;
            return Some(HookArguments {
                object: (names != VariableKey::Nothing).then_some(0),
                index: (names == VariableKey::Element).then_some(1),
                value: (values > 0).then(|| arguments.len() - 1),
                is_variable: true,
            });
        }
        let from_0 = |number: u8| usize::from(number) - 1;
        let of = call.argument().map(from_0);
        let is_index = of.is_some_and(|of| arguments[of] == b"I");
        let (object, index) = if is_index { (None, of) } else { (of, None) };
        Some(HookArguments { object, index, value: call.value().map(from_0), is_variable: false })
    }

    /// Whether the long form of hooks is needed.
    fn is_long(self) -> bool {
        self.is_variable || self.object.is_some() || self.index.is_some() || self.value.is_some()
    }

    /// Loads it onto the stack.
    fn emit<'c, 'a>(self, emit: Emit<'c, 'a>, arguments: &Arguments, is_static: bool) -> Result<Emit<'c, 'a>> {
        let emit = emit.op(&[if is_static { ACONST_NULL } else { ALOAD_0 }]);
        if !self.is_long() {
            return Ok(emit);
        }
        let emit = match self.object {
            Some(object) => emit.local(ALOAD, arguments.all[object].1),
            None => emit.op(&[ACONST_NULL]),
        };
        let emit = match self.index {
            Some(index) => emit.local(ILOAD, arguments.all[index].1),
            None => emit.op(&[ICONST_M1]),
        };
        match self.value.map(|value| arguments.all[value]) {
            Some((kind, at)) => as_hooks_want(emit.local(ILOAD + kind.further(), at), kind),
            None => Ok(emit.op(&[LCONST_0])),
        }
    }

    /// The type of the hook.
    fn descriptor(self, result: &str, arguments: &Arguments) -> String {
        if !self.is_long() {
            return format!("({result}Ljava/lang/Object;I)V");
        }
        let value = self.value.map_or("J", |value| hooks_kind(arguments.all[value].0));
        format!("({result}Ljava/lang/Object;Ljava/lang/Object;I{value}I)V")
    }
}
