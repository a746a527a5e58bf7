//! Who objects are: classes that descended from `Object` descend from [`WATCHED`] instead, and their constructors call its.

use super::{Method, WATCHED};
use crate::class::{Class, access};
use crate::code::Code;
use crate::constants::{Constants, Named};
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::{INVOKESPECIAL, NEW};

const OBJECT: &[u8] = b"java/lang/Object";

impl Class<'_> {
    /// Gives it the new parent, if it is a class that has only `Object`. Whether it is.
    pub(super) fn adopt(&mut self) -> Result<bool> {
        if self.access & access::INTERFACE != 0 || self.parent_name()? != Some(OBJECT) {
            return Ok(false);
        }
        self.parent = self.constants.add_class(WATCHED.as_bytes())?;
        Ok(true)
    }
}

impl<'a> Method<'_, 'a> {
    /// Makes a constructor call that of the new parent. The number of the instruction from which on its object is one; 0 if it is no constructor.
    pub(super) fn adopt(&mut self, code: &mut Code<'a>) -> Result<usize> {
        if self.class.constants.text(self.class.methods[self.number].name)? != b"<init>" {
            return Ok(0);
        }
        let Some(index) = constructor(code, &self.class.constants)? else { return Ok(usize::MAX) };
        let called = self.class.constants.named(code.instructions[index].short(code.bytes)?)?;
        if self.is_adopted && called.class == OBJECT {
            let parent = Named { class: WATCHED.as_bytes(), ..called };
            let method = self.class.constants.add_method(parent)?;
            let emit = Emit::new(&mut self.class.constants).with(INVOKESPECIAL, method);
            code.edits[index].instead = Some(emit.done());
        }
        Ok(index + 1)
    }

    /// The new content of its code, if only that is done; it is as large as it was.
    pub(super) fn only_adopted(&mut self, content: &'a [u8]) -> Result<Option<Vec<u8>>> {
        let mut code = Code::read(content)?;
        self.adopt(&mut code)?;
        if code.is_changed() { code.write(&mut self.class.constants).map(Some) } else { Ok(None) }
    }
}

/// The number of the instruction that calls another constructor of a constructor's own object.
fn constructor(code: &Code, constants: &Constants) -> Result<Option<usize>> {
    let mut made = 0;
    for (index, instruction) in code.instructions.iter().enumerate() {
        match instruction.opcode {
            NEW => made += 1,
            INVOKESPECIAL if constants.named(instruction.short(code.bytes)?)?.name == b"<init>" => {
                if made == 0 {
                    return Ok(Some(index));
                }
                made -= 1;
            }
            _ => {}
        }
    }
    Ok(None)
}
