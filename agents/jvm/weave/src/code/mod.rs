//! The code of a method, and what is woven into it: instructions before, after and instead of others.
//!
//! What is woven in does not branch, so no frames are computed: those that are there only move with their
//! instructions. A branch to an instruction goes to what is woven in before it.

mod annotations;
mod frames;
mod layout;
mod tables;

use crate::bytes::{Cursor, put_u2, put_u4, short};
use crate::class::Attribute;
use crate::constants::Constants;
use crate::error::{Error, Result};
use crate::instruction::Instruction;
use crate::instruction::opcode::{ALOAD, ATHROW, MONITOREXIT, WIDE};
use layout::Layout;
use std::borrow::Cow;

/// A range of the code with a handler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Caught {
    /// Its begin.
    pub start: u16,
    /// Its end, which is outside.
    pub end: u16,
    /// The begin of the handler.
    pub handler: u16,
    /// The constant of the class that is caught; 0 for any.
    pub class: u16,
}

/// What is woven in around one instruction.
#[derive(Clone, Default, Debug)]
pub struct Edit {
    /// Code before it.
    pub before: Vec<u8>,
    /// Code instead of it.
    pub instead: Option<Vec<u8>>,
    /// Code after it, if it goes on there.
    pub after: Vec<u8>,
}

/// A `monitorexit` inside a handler that catches its own exceptions, as compilers make them. HotSpot's C1 does not
/// compile a call there, and neither C1 nor C2 compiles one where no handler releases the monitor. So a call before
/// it gets another handler, which does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The number of the instruction.
    pub index: usize,
    /// The local variable that has the monitor's object.
    pub local: u16,
    /// The begin of the handler that it is in.
    pub handler: u16,
}

impl Guard {
    /// The handler's code. The exception is on the stack.
    fn code(self) -> Vec<u8> {
        let mut code = Vec::with_capacity(6);
        match u8::try_from(self.local) {
            Ok(local) => code.extend([ALOAD, local]),
            Err(_) => {
                code.extend([WIDE, ALOAD]);
                put_u2(&mut code, self.local);
            }
        }
        code.extend([MONITOREXIT, ATHROW]);
        code
    }
}

/// The code of a method.
#[derive(Debug)]
pub struct Code<'a> {
    /// The greatest depth of its stack.
    pub max_stack: u16,
    /// How many local variables it has.
    pub max_locals: u16,
    /// The code as it was read.
    pub bytes: &'a [u8],
    /// Its instructions.
    pub instructions: Vec<Instruction>,
    /// What is woven in around each of them.
    pub edits: Vec<Edit>,
    /// What is done before the first instruction. Branches do not come here.
    pub entry: Vec<u8>,
    /// What is done with any exception that leaves the method: code that begins with it on the stack and throws in
    /// the end; and the constant of the class `java/lang/Throwable`.
    pub leaving: Option<(Vec<u8>, u16)>,
    /// Instructions with a handler for what is woven in before them.
    pub guards: Vec<Guard>,
    /// Types of local variables where the method begins, as frames encode them. Guards need them.
    pub initial: Vec<Vec<u8>>,
    caught: Vec<Caught>,
    attributes: Vec<Attribute<'a>>,
}

impl<'a> Code<'a> {
    /// Reads the content of an attribute `Code`.
    pub fn read(content: &'a [u8]) -> Result<Code<'a>> {
        let mut cursor = Cursor::new(content);
        let [max_stack, max_locals] = [cursor.u2()?, cursor.u2()?];
        let size = cursor.u4()?;
        let bytes = cursor.take(size as usize)?;
        let instructions = Instruction::read_all(bytes)?;
        let count = cursor.u2()?;
        let caught = |_| {
            let [start, end, handler, class] = [cursor.u2()?, cursor.u2()?, cursor.u2()?, cursor.u2()?];
            Ok(Caught { start, end, handler, class })
        };
        let caught = (0..count).map(caught).collect::<Result<_>>()?;
        let attributes = Attribute::read_all(&mut cursor)?;
        let edits = vec![Edit::default(); instructions.len()];
        match cursor.left() {
            0 => Ok(Code {
                max_stack,
                max_locals,
                bytes,
                instructions,
                edits,
                entry: Vec::new(),
                leaving: None,
                guards: Vec::new(),
                initial: Vec::new(),
                caught,
                attributes,
            }),
            left => Err(Error::Trailing { left }),
        }
    }

    /// The parts whose exceptions are caught.
    pub fn caught(&self) -> &[Caught] {
        &self.caught
    }

    /// The line table: positions in the code and lines.
    pub fn lines(&self, constants: &Constants) -> Result<Vec<(u16, u16)>> {
        let mut lines = Vec::new();
        for attribute in &self.attributes {
            if constants.text(attribute.name)? == b"LineNumberTable" {
                let mut cursor = Cursor::new(&attribute.content);
                for _ in 0..cursor.u2()? {
                    lines.push((cursor.u2()?, cursor.u2()?));
                }
            }
        }
        lines.sort_unstable();
        Ok(lines)
    }

    /// Whether anything is woven in.
    pub fn is_changed(&self) -> bool {
        let is_edited = |edit: &Edit| !edit.before.is_empty() || edit.instead.is_some() || !edit.after.is_empty();
        !self.entry.is_empty() || self.leaving.is_some() || self.edits.iter().any(is_edited)
    }

    /// The content of the attribute with what was woven in.
    pub fn write(&self, constants: &mut Constants<'a>) -> Result<Vec<u8>> {
        let layout = Layout::new(self)?;
        let code = layout.write(self)?;
        let mut out = Vec::with_capacity(code.len() + 64);
        put_u2(&mut out, self.max_stack);
        put_u2(&mut out, self.max_locals);
        put_u4(&mut out, code.len() as u32);
        out.extend_from_slice(&code);
        let handlers = self.handlers(&layout)?;
        put_u2(&mut out, short(handlers.len(), "handlers")?);
        for [start, end, handler, class] in handlers {
            for value in [start, end, handler] {
                put_u2(&mut out, short(value, "bytes")?);
            }
            put_u2(&mut out, class as u16);
        }
        let mut attributes = Vec::with_capacity(self.attributes.len() + 1);
        let mut has_frames = false;
        for attribute in &self.attributes {
            let content: Cow<[u8]> = match constants.text(attribute.name)? {
                b"StackMapTable" => {
                    has_frames = true;
                    frames::moved(&attribute.content, &layout, self)?.into()
                }
                b"LineNumberTable" => tables::lines(&attribute.content, &layout)?.into(),
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    tables::variables(&attribute.content, &layout)?.into()
                }
                b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                    annotations::moved(&attribute.content, &layout)?.into()
                }
                _ => attribute.content.clone(),
            };
            attributes.push(Attribute { name: attribute.name, content });
        }
        if self.leaving.is_some() && !has_frames {
            let name = constants.add_text(b"StackMapTable")?;
            attributes.push(Attribute { name, content: frames::moved(&[0, 0], &layout, self)?.into() });
        }
        Attribute::write_all(&attributes, &mut out)?;
        Ok(out)
    }

    /// The new table of handlers: start, end, handler, class. The first that catches an exception handles it.
    fn handlers(&self, layout: &Layout) -> Result<Vec<[usize; 4]>> {
        let mut all = Vec::with_capacity(self.caught.len() + 1);
        for (number, guard) in self.guards.iter().enumerate() {
            let [start, end] = layout.before(guard.index);
            all.push([start, end, layout.guard(self, number), 0]);
        }
        for caught in &self.caught {
            let [mut start, end] = [layout.range_start(caught.start)?, layout.range_end(caught.end)?];
            let handler = layout.target(caught.handler.into())?;
            for guard in self.guards.iter().filter(|guard| guard.handler == caught.handler) {
                // What has a handler of its own is not in this range, not even after that one.
                let [from, to] = layout.before(guard.index);
                if start < from && to < end {
                    all.push([start, from, handler, caught.class.into()]);
                    start = to;
                }
            }
            all.push([start, end, handler, caught.class.into()]);
            // Other handlers around the guard also catch what leaves its handler.
            for (number, guard) in self.guards.iter().enumerate().filter(|(_, guard)| guard.handler != caught.handler) {
                let at = self.instructions[guard.index].at as u16;
                if (caught.start..caught.end).contains(&at) {
                    let begin = layout.guard(self, number);
                    all.push([begin, begin + guard.code().len(), handler, caught.class.into()]);
                }
            }
        }
        if self.leaving.is_some() {
            // It comes after all others, so that these are tried first, and also catches what leaves guards'
            // handlers.
            let (begin, leaving) = (layout.entry_end(), layout.leaving());
            all.push([begin, leaving, leaving, 0]);
            if !self.guards.is_empty() {
                all.push([layout.guard(self, 0), layout.guard(self, self.guards.len()), leaving, 0]);
            }
        }
        Ok(all)
    }
}
