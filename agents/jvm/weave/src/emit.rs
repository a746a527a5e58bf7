//! Builds straight-line code, instruction by instruction.

use crate::bytes::put_u2;
use crate::constants::{Constants, Named};
use crate::error::Result;
use crate::instruction::opcode::{INVOKESTATIC, LDC_W, SIPUSH, WIDE};

/// Code that is being made.
#[derive(Debug)]
pub(crate) struct Emit<'c, 'a> {
    pub(crate) constants: &'c mut Constants<'a>,
    code: Vec<u8>,
}

impl<'c, 'a> Emit<'c, 'a> {
    pub(crate) fn new(constants: &'c mut Constants<'a>) -> Self {
        Emit { constants, code: Vec::new() }
    }

    /// Instructions without operands.
    pub(crate) fn op(mut self, opcodes: &[u8]) -> Self {
        self.code.extend_from_slice(opcodes);
        self
    }

    /// An instruction with the number of a constant.
    pub(crate) fn with(mut self, opcode: u8, constant: u16) -> Self {
        self.code.push(opcode);
        put_u2(&mut self.code, constant);
        self
    }

    /// An instruction with the number of a local variable.
    pub(crate) fn local(mut self, opcode: u8, number: u16) -> Self {
        match u8::try_from(number) {
            Ok(number) => self.code.extend([opcode, number]),
            Err(_) => {
                self.code.extend([WIDE, opcode]);
                put_u2(&mut self.code, number);
            }
        }
        self
    }

    /// Pushes an int.
    pub(crate) fn int(mut self, value: i32) -> Result<Self> {
        match i16::try_from(value) {
            Ok(value) => {
                self.code.push(SIPUSH);
                put_u2(&mut self.code, value as u16);
                Ok(self)
            }
            Err(_) => {
                let constant = self.constants.add_int(value)?;
                Ok(self.with(LDC_W, constant))
            }
        }
    }

    /// Calls a static method.
    pub(crate) fn call(self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Result<Self> {
        let method = self.constants.add_method(Named { class, name, descriptor })?;
        Ok(self.with(INVOKESTATIC, method))
    }

    /// The size so far.
    pub(crate) fn size(&self) -> usize {
        self.code.len()
    }

    pub(crate) fn done(self) -> Vec<u8> {
        self.code
    }
}
