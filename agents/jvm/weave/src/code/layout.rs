//! Computes the new position of every instruction when something is woven in.

use super::Code;
use crate::bytes::{Cursor, put_u4};
use crate::error::{Error, Result};
use crate::instruction::opcode::{GOTO, JSR, MONITORENTER, MONITOREXIT};
use crate::instruction::{Branches, Instruction, table_at};

/// The largest method.
const MOST: usize = 65_535;
/// `goto_w` and `jsr_w` have opcodes that are so much larger than the short ones'.
const WIDER: u8 = 33;

/// The new positions around an instruction.
#[derive(Clone, Copy, Default, Debug)]
struct Stands {
    /// What is woven in before it: branches to it go here.
    before: usize,
    /// The instruction itself.
    at: usize,
    /// What is woven in after it.
    after: usize,
    /// It has become the wide form.
    is_wide: bool,
}

/// The new positions of all instructions.
#[derive(Debug)]
pub(super) struct Layout {
    /// By old position: the number of the instruction that began there, and one after the last for the end. None: no
    /// instruction begins there.
    numbers: Vec<u32>,
    /// One for each instruction, and one for the end.
    stands: Vec<Stands>,
    /// The opcode of each instruction.
    opcodes: Vec<u8>,
    entry: usize,
}

const NO_NUMBER: u32 = u32::MAX;

impl Layout {
    pub(super) fn new(code: &Code) -> Result<Layout> {
        let mut numbers = vec![NO_NUMBER; code.bytes.len() + 1];
        for (number, instruction) in code.instructions.iter().enumerate() {
            numbers[instruction.at] = number as u32;
        }
        numbers[code.bytes.len()] = code.instructions.len() as u32;
        let opcodes = code.instructions.iter().map(|instruction| instruction.opcode).collect();
        let stands = vec![Stands::default(); code.instructions.len() + 1];
        let mut layout = Layout { numbers, stands, opcodes, entry: code.entry.len() };
        // A branch that grows may make others too short.
        loop {
            layout.place(code)?;
            if !layout.widen(code)? {
                return Ok(layout);
            }
        }
    }

    fn place(&mut self, code: &Code) -> Result<()> {
        let mut at = self.entry;
        for ((instruction, edit), stands) in code.instructions.iter().zip(&code.edits).zip(&mut self.stands) {
            stands.before = at;
            at += edit.before.len();
            stands.at = at;
            at += match &edit.instead {
                Some(instead) => instead.len(),
                None if instruction.branches() == Branches::Switch => {
                    table_at(at) - at + (instruction.at + instruction.size - table_at(instruction.at))
                }
                None if stands.is_wide => 5,
                None => instruction.size,
            };
            stands.after = at;
            at += edit.after.len();
        }
        let leaving = code.leaving.as_ref().map_or(0, |(leaving, _)| leaving.len());
        let guards: usize = code.guards.iter().map(|guard| guard.code().len()).sum();
        if at + leaving + guards > MOST {
            return Err(Error::TooLarge);
        }
        let end = self.stands.len() - 1;
        self.stands[end] = Stands { before: at, at, after: at, is_wide: false };
        Ok(())
    }

    /// Widens branches that are too short. Returns whether there were any.
    fn widen(&mut self, code: &Code) -> Result<bool> {
        let mut any = false;
        for (number, instruction) in code.instructions.iter().enumerate() {
            let stands = self.stands[number];
            if instruction.branches() != Branches::Short || stands.is_wide || code.edits[number].instead.is_some() {
                continue;
            }
            let target =
                self.target(target_of(instruction, Cursor::from(code.bytes, instruction.at + 1).i2()?.into()))?;
            if i16::try_from(target as i64 - stands.at as i64).is_ok() {
                continue;
            }
            if !matches!(instruction.opcode, GOTO | JSR) {
                return Err(Error::TooFar { at: instruction.at });
            }
            self.stands[number].is_wide = true;
            any = true;
        }
        Ok(any)
    }

    fn number(&self, at: i64) -> Result<usize> {
        let number = usize::try_from(at).ok().and_then(|at| self.numbers.get(at));
        match number {
            Some(&number) if number != NO_NUMBER => Ok(number as usize),
            _ => Err(Error::NoInstruction { at }),
        }
    }

    /// The target of branches to an old position; also of the end of the code.
    pub(super) fn target(&self, at: i64) -> Result<usize> {
        Ok(self.stands[self.number(at)?].before)
    }

    /// The new position of an instruction itself.
    pub(super) fn instruction(&self, at: u16) -> Result<usize> {
        Ok(self.stands[self.number(at.into())?].at)
    }

    /// Where a range of a handler begins. What is woven in after a `monitorenter` is inside: HotSpot does not compile
    /// methods that call something while a monitor is held that no handler releases.
    pub(super) fn range_start(&self, at: u16) -> Result<usize> {
        let number = self.number(at.into())?;
        Ok(match number.checked_sub(1) {
            Some(before) if self.opcodes[before] == MONITORENTER => self.stands[before].after,
            _ => self.stands[number].before,
        })
    }

    /// Where a range of a handler ends. What is woven in after a `monitorexit` is outside: else the monitor would be
    /// released twice.
    pub(super) fn range_end(&self, at: u16) -> Result<usize> {
        let number = self.number(at.into())?;
        Ok(match number.checked_sub(1) {
            Some(before) if self.opcodes[before] == MONITOREXIT => self.stands[before].after,
            _ => self.stands[number].before,
        })
    }

    /// The end of what is woven in where the method is entered.
    pub(super) fn entry_end(&self) -> usize {
        self.entry
    }

    /// The begin of the handler for exceptions that leave the method: after all other code.
    pub(super) fn leaving(&self) -> usize {
        self.stands[self.stands.len() - 1].at
    }

    /// The begin of what is woven in before an instruction, and the instruction.
    pub(super) fn before(&self, number: usize) -> [usize; 2] {
        [self.stands[number].before, self.stands[number].at]
    }

    /// The begin of a guard's handler: after the one for exceptions that leave the method. For one after the last
    /// guard, it is the end of the last.
    pub(super) fn guard(&self, code: &Code, number: usize) -> usize {
        let leaving = code.leaving.as_ref().map_or(0, |(leaving, _)| leaving.len());
        self.leaving() + leaving + code.guards[..number].iter().map(|guard| guard.code().len()).sum::<usize>()
    }

    /// The code at its new positions.
    pub(super) fn write(&self, code: &Code) -> Result<Vec<u8>> {
        let mut out = code.entry.clone();
        for ((instruction, edit), stands) in code.instructions.iter().zip(&code.edits).zip(&self.stands) {
            out.extend_from_slice(&edit.before);
            match &edit.instead {
                Some(instead) => out.extend_from_slice(instead),
                None => self.write_one(code.bytes, instruction, stands, &mut out)?,
            }
            out.extend_from_slice(&edit.after);
        }
        if let Some((leaving, _)) = &code.leaving {
            out.extend_from_slice(leaving);
        }
        code.guards.iter().for_each(|guard| out.extend(guard.code()));
        Ok(out)
    }

    fn write_one(&self, bytes: &[u8], instruction: &Instruction, stands: &Stands, out: &mut Vec<u8>) -> Result<()> {
        let further = |offset: i64| Ok((self.target(target_of(instruction, offset))? as i64 - stands.at as i64) as i32);
        let mut cursor = Cursor::from(bytes, instruction.at + 1);
        match instruction.branches() {
            Branches::None => out.extend_from_slice(&bytes[instruction.at..instruction.at + instruction.size]),
            Branches::Short => {
                let further = further(cursor.i2()?.into())?;
                if stands.is_wide {
                    out.push(instruction.opcode + WIDER);
                    put_u4(out, further as u32);
                } else {
                    out.push(instruction.opcode);
                    out.extend_from_slice(&(further as i16).to_be_bytes());
                }
            }
            Branches::Long => {
                out.push(instruction.opcode);
                put_u4(out, further(cursor.i4()?.into())? as u32);
            }
            Branches::Switch => {
                out.push(instruction.opcode);
                out.resize(table_at(stands.at), 0);
                let mut cursor = Cursor::from(bytes, table_at(instruction.at));
                put_u4(out, further(cursor.i4()?.into())? as u32);
                let is_table = instruction.opcode == crate::instruction::opcode::TABLESWITCH;
                let first = cursor.i4()?;
                put_u4(out, first as u32);
                let count = if is_table {
                    let last = cursor.i4()?;
                    put_u4(out, last as u32);
                    i64::from(last) - i64::from(first) + 1
                } else {
                    first.into()
                };
                for _ in 0..count {
                    if !is_table {
                        put_u4(out, cursor.u4()?);
                    }
                    put_u4(out, further(cursor.i4()?.into())? as u32);
                }
            }
        }
        Ok(())
    }
}

fn target_of(instruction: &Instruction, offset: i64) -> i64 {
    instruction.at as i64 + offset
}
