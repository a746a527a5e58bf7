//! Gives classes that extend `Object` the super class [`WATCHED`], whose constructor their constructors then call.

use super::{Method, WATCHED};
use crate::class::{Class, access};
use crate::code::Code;
use crate::constants::{Constants, Named};
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::{INVOKESPECIAL, NEW};

const OBJECT: &[u8] = b"java/lang/Object";

impl Class<'_> {
    /// Gives the class the new super class, if it extends `Object`. Returns whether it does.
    pub(super) fn adopt(&mut self) -> Result<bool> {
        if self.access & access::INTERFACE != 0 || self.parent_name()? != Some(OBJECT) {
            return Ok(false);
        }
        self.parent = self.constants.add_class(WATCHED.as_bytes())?;
        Ok(true)
    }
}

impl<'a> Method<'_, 'a> {
    /// Makes a constructor call the new super class's. Returns the index of the first instruction at which the object
    /// is initialised; 0 if this is no constructor.
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

    /// The new content of its code, if nothing else is woven in. It keeps its size.
    pub(super) fn only_adopted(&mut self, content: &'a [u8]) -> Result<Option<Vec<u8>>> {
        let mut code = Code::read(content)?;
        self.adopt(&mut code)?;
        if code.is_changed() { code.write(&mut self.class.constants).map(Some) } else { Ok(None) }
    }
}

/// The index of the instruction in a constructor that calls another constructor for the same object.
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
