//! Instructions of the Java virtual machine: their sizes, and which of them name positions in the code.

use crate::bytes::Cursor;
use crate::error::{Error, Result};

/// The opcodes that are looked at or woven in.
pub(crate) mod opcode {
    pub(crate) const ACONST_NULL: u8 = 1;
    pub(crate) const ICONST_M1: u8 = 2;
    pub(crate) const LCONST_0: u8 = 9;
    pub(crate) const SIPUSH: u8 = 17;
    pub(crate) const LDC_W: u8 = 19;
    pub(crate) const ILOAD: u8 = 21;
    pub(crate) const ALOAD: u8 = 25;
    pub(crate) const ALOAD_0: u8 = 42;
    pub(crate) const IALOAD: u8 = 46;
    pub(crate) const LALOAD: u8 = 47;
    pub(crate) const DALOAD: u8 = 49;
    pub(crate) const SALOAD: u8 = 53;
    pub(crate) const ISTORE: u8 = 54;
    pub(crate) const ASTORE: u8 = 58;
    pub(crate) const IASTORE: u8 = 79;
    pub(crate) const LASTORE: u8 = 80;
    pub(crate) const DASTORE: u8 = 82;
    pub(crate) const SASTORE: u8 = 86;
    pub(crate) const POP: u8 = 87;
    pub(crate) const POP2: u8 = 88;
    pub(crate) const DUP: u8 = 89;
    pub(crate) const DUP_X1: u8 = 90;
    pub(crate) const DUP_X2: u8 = 91;
    pub(crate) const DUP2: u8 = 92;
    pub(crate) const DUP2_X1: u8 = 93;
    pub(crate) const DUP2_X2: u8 = 94;
    pub(crate) const SWAP: u8 = 95;
    pub(crate) const IADD: u8 = 96;
    pub(crate) const INEG: u8 = 116;
    pub(crate) const IINC: u8 = 132;
    pub(crate) const I2L: u8 = 133;
    pub(crate) const F2D: u8 = 141;
    pub(crate) const IFEQ: u8 = 153;
    pub(crate) const GOTO: u8 = 167;
    pub(crate) const JSR: u8 = 168;
    pub(crate) const TABLESWITCH: u8 = 170;
    pub(crate) const LOOKUPSWITCH: u8 = 171;
    pub(crate) const IRETURN: u8 = 172;
    pub(crate) const RETURN: u8 = 177;
    pub(crate) const GETSTATIC: u8 = 178;
    pub(crate) const PUTSTATIC: u8 = 179;
    pub(crate) const GETFIELD: u8 = 180;
    pub(crate) const PUTFIELD: u8 = 181;
    pub(crate) const INVOKEVIRTUAL: u8 = 182;
    pub(crate) const INVOKESPECIAL: u8 = 183;
    pub(crate) const INVOKESTATIC: u8 = 184;
    pub(crate) const INVOKEINTERFACE: u8 = 185;
    pub(crate) const INVOKEDYNAMIC: u8 = 186;
    pub(crate) const NEW: u8 = 187;
    pub(crate) const ATHROW: u8 = 191;
    pub(crate) const CHECKCAST: u8 = 192;
    pub(crate) const MONITORENTER: u8 = 194;
    pub(crate) const MONITOREXIT: u8 = 195;
    pub(crate) const WIDE: u8 = 196;
    pub(crate) const IFNULL: u8 = 198;
    pub(crate) const IFNONNULL: u8 = 199;
    pub(crate) const GOTO_W: u8 = 200;
    pub(crate) const JSR_W: u8 = 201;
}
use opcode::*;

/// An instruction in the code of a method.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// Its position.
    pub at: usize,
    /// Its size in bytes.
    pub size: usize,
    /// Its first byte.
    pub opcode: u8,
}

/// How an instruction names positions in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Branches {
    /// Not at all.
    None,
    /// A distance of two bytes.
    Short,
    /// A distance of four bytes.
    Long,
    /// A table.
    Switch,
}

impl Instruction {
    /// The local variable whose reference it loads, if it does.
    pub fn loaded(&self, bytes: &[u8]) -> Option<u16> {
        use opcode::{ALOAD, ALOAD_0, WIDE};
        match (self.opcode, bytes.get(self.at + 1..self.at + self.size)?) {
            (ALOAD, &[local]) => Some(local.into()),
            (WIDE, &[ALOAD, high, low]) => Some(u16::from_be_bytes([high, low])),
            (opcode, []) if (ALOAD_0..ALOAD_0 + 4).contains(&opcode) => Some(u16::from(opcode - ALOAD_0)),
            _ => None,
        }
    }

    /// All of a method's code.
    pub(crate) fn read_all(code: &[u8]) -> Result<Vec<Instruction>> {
        let mut all = Vec::with_capacity(code.len() / 2);
        let mut at = 0;
        while at < code.len() {
            let instruction = Instruction { at, size: size(code, at)?, opcode: code[at] };
            at += instruction.size;
            if at > code.len() {
                return Err(Error::Truncated { at: code.len() });
            }
            all.push(instruction);
        }
        Ok(all)
    }

    pub(crate) fn branches(&self) -> Branches {
        match self.opcode {
            IFEQ..=JSR | IFNULL | IFNONNULL => Branches::Short,
            GOTO_W | JSR_W => Branches::Long,
            TABLESWITCH | LOOKUPSWITCH => Branches::Switch,
            _ => Branches::None,
        }
    }

    /// The two bytes after the first: the number of a constant, if the instruction has one.
    pub fn short(&self, code: &[u8]) -> Result<u16> {
        Cursor::from(code, self.at + 1).u2()
    }
}

/// The position of a switch's table: the next multiple of four.
pub(crate) fn table_at(at: usize) -> usize {
    (at + 4) & !3
}

/// The size of the instruction at a position.
fn size(code: &[u8], at: usize) -> Result<usize> {
    let opcode = code[at];
    Ok(match opcode {
        TABLESWITCH => {
            let mut cursor = Cursor::from(code, table_at(at) + 4);
            let (low, high) = (cursor.i4()?, cursor.i4()?);
            let count = i64::from(high) - i64::from(low) + 1;
            let count = usize::try_from(count).map_err(|_| Error::UnknownInstruction { at, opcode })?;
            table_at(at) + 12 + 4 * count - at
        }
        LOOKUPSWITCH => {
            let count = Cursor::from(code, table_at(at) + 4).i4()?;
            let count = usize::try_from(count).map_err(|_| Error::UnknownInstruction { at, opcode })?;
            table_at(at) + 8 + 8 * count - at
        }
        WIDE if code.get(at + 1) == Some(&IINC) => 6,
        WIDE => 4,
        _ => match OPERANDS.get(usize::from(opcode)) {
            Some(&bytes) if bytes != NONE => 1 + usize::from(bytes),
            _ => return Err(Error::UnknownInstruction { at, opcode }),
        },
    })
}

/// The opcode is unknown, or has no fixed size.
const NONE: u8 = u8::MAX;

/// The size of operands, by opcode.
const OPERANDS: [u8; 202] = {
    let mut bytes = [0; 202];
    let mut set = [(0u8, 0u8, 0u8); 20];
    set[0] = (16, 16, 1);
    set[1] = (17, 17, 2);
    set[2] = (18, 18, 1);
    set[3] = (19, 20, 2);
    set[4] = (ILOAD, ALOAD, 1);
    set[5] = (ISTORE, ASTORE, 1);
    set[6] = (IINC, IINC, 2);
    set[7] = (IFEQ, JSR, 2);
    set[8] = (169, 169, 1);
    set[9] = (TABLESWITCH, LOOKUPSWITCH, NONE);
    set[10] = (GETSTATIC, INVOKESTATIC, 2);
    set[11] = (INVOKEINTERFACE, 186, 4);
    set[12] = (NEW, NEW, 2);
    set[13] = (188, 188, 1);
    set[14] = (189, 189, 2);
    set[15] = (192, 193, 2);
    set[16] = (WIDE, WIDE, NONE);
    set[17] = (197, 197, 3);
    set[18] = (IFNULL, IFNONNULL, 2);
    set[19] = (GOTO_W, JSR_W, 4);
    let mut i = 0;
    while i < set.len() {
        let (first, last, size) = set[i];
        let mut opcode = first as usize;
        while opcode <= last as usize {
            bytes[opcode] = size;
            opcode += 1;
        }
        i += 1;
    }
    bytes
};
