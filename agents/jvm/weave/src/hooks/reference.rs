//! Method references to calls that synchronise, such as `latch::countDown`. No instruction of the class makes these
//! calls: a dynamic call makes an object of the method, by a bootstrap method. That gets another target, a method
//! that is added to the class and makes the call with its hooks.

use super::call::Arguments;
use super::{Method, REFERENCE};
use crate::bytes::{Cursor, put_u2, put_u4, short};
use crate::class::Class;
use crate::code::Code;
use crate::descriptor::{Kind, of_method};
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::*;
use std::borrow::Cow;

const NAME: &[u8] = b"BootstrapMethods";
/// Kinds of method handles.
const VIRTUAL: u8 = 5;
const STATIC: u8 = 6;
const INTERFACE: u8 = 9;

/// The bootstrap methods of a class, and those that were added.
#[derive(Default)]
pub(super) struct Bootstraps<'a> {
    /// For each, the method and its arguments, as numbers of constants.
    all: Vec<Cow<'a, [u8]>>,
    was: usize,
}

impl<'a> Bootstraps<'a> {
    pub(super) fn of(class: &Class<'a>) -> Result<Bootstraps<'a>> {
        let mut all = Vec::new();
        for attribute in &class.attributes {
            if let (NAME, Cow::Borrowed(content)) = (class.constants.text(attribute.name)?, &attribute.content) {
                let mut cursor = Cursor::new(content);
                for _ in 0..cursor.u2()? {
                    let begin = cursor.at();
                    cursor.u2()?;
                    let count = cursor.u2()?;
                    cursor.take(2 * usize::from(count))?;
                    all.push(content[begin..cursor.at()].into());
                }
            }
        }
        Ok(Bootstraps { was: all.len(), all })
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn truncate(&mut self, count: usize) {
        self.all.truncate(count);
    }

    /// Writes those that were added to the class.
    pub(super) fn write(self, class: &mut Class<'a>) -> Result<()> {
        if self.all.len() == self.was {
            return Ok(());
        }
        let mut content = Vec::new();
        put_u2(&mut content, short(self.all.len(), "bootstrap methods")?);
        self.all.iter().for_each(|one| content.extend_from_slice(one));
        for attribute in &mut class.attributes {
            if class.constants.text(attribute.name)? == NAME {
                attribute.content = content.into();
                break;
            }
        }
        Ok(())
    }
}

impl<'a> Method<'_, 'a> {
    /// Gives another target to a dynamic call that makes an object of a method of the table.
    pub(super) fn reference(&mut self, code: &mut Code<'a>, index: usize, lines: &[(u16, u16)]) -> Result<()> {
        let instruction = code.instructions[index];
        if instruction.opcode != INVOKEDYNAMIC {
            return Ok(());
        }
        let (number, named, [_, made]) = self.class.constants.dynamic(instruction.short(code.bytes)?)?;
        let Some(bootstrap) = self.bootstraps.all.get(usize::from(number)).cloned() else { return Ok(()) };
        let mut cursor = Cursor::new(&bootstrap);
        let (_, factory) = self.class.constants.method_handle(cursor.u2()?)?;
        let factory = self.class.constants.named(factory)?;
        // Its sister method makes objects that can be serialised, and are then looked up by the method's name.
        if (factory.class, factory.name) != (b"java/lang/invoke/LambdaMetafactory", b"metafactory") || cursor.u2()? != 3
        {
            return Ok(());
        }
        let [first, target, last] = [cursor.u2()?, cursor.u2()?, cursor.u2()?];
        let (kind, constant) = self.class.constants.method_handle(target)?;
        let opcode = match kind {
            VIRTUAL => INVOKEVIRTUAL,
            INTERFACE => INVOKEINTERFACE,
            STATIC => INVOKESTATIC,
            _ => return Ok(()),
        };
        let called = self.class.constants.named(constant)?;
        let Some(call) = self.call_instead(opcode, constant, instruction.at, lines)? else { return Ok(()) };
        // A bound receiver must have the very type that it is passed as.
        let (bound, _) = of_method(made)?;
        let receiver = match (kind, bound.first()) {
            (STATIC, _) => Vec::new(),
            (_, Some(bound)) => bound.to_vec(),
            (_, None) => [b"L", called.class, b";"].concat(),
        };
        let name = self.added_name(REFERENCE).into_bytes();
        let descriptor = [b"(", &receiver[..], &called.descriptor[1..]].concat();
        let (types, result) = of_method(&descriptor)?;
        let arguments = Arguments::new(&types, true);
        let mut emit = Emit::new(&mut self.class.constants);
        for &(kind, at) in &arguments.all {
            emit = emit.local(ILOAD + kind.further(), at);
        }
        let back = if result == b"V" { RETURN } else { IRETURN + Kind::of(result).further() };
        let code_of = emit.op(&call).op(&[back]).done();
        let mut content = Vec::new();
        put_u2(&mut content, arguments.size + 2);
        put_u2(&mut content, arguments.size);
        put_u4(&mut content, code_of.len() as u32);
        content.extend_from_slice(&code_of);
        put_u4(&mut content, 0);
        self.add_method(&name, &descriptor, content)?;
        let method = self.own_method(&name, &descriptor)?;
        let constants = &mut self.class.constants;
        let target = constants.add_method_handle(STATIC, method)?;
        let mut new = bootstrap[..4].to_vec();
        [first, target, last].into_iter().for_each(|argument| put_u2(&mut new, argument));
        let number = short(self.bootstraps.all.len(), "bootstrap methods")?;
        let dynamic = constants.add_dynamic(number, named)?;
        self.bootstraps.all.push(new.into());
        code.edits[index].instead =
            Some(Emit::new(&mut self.class.constants).with(INVOKEDYNAMIC, dynamic).op(&[0, 0]).done());
        Ok(())
    }
}
