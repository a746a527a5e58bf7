//! Objects that are finalized: their constructor happens before the finalizer (whose side is in `inside.table`). Only
//! for classes that have `finalize` themselves: super classes are not known here.

use super::{Inside, Method, SiteKind};
use crate::code::Code;
use crate::error::Result;
use crate::instruction::opcode::*;

impl Method<'_, '_> {
    /// Weaves the hook where a constructor returns, if the objects are finalized.
    pub(super) fn constructed(&mut self, code: &mut Code, lines: &[(u16, u16)]) -> Result<()> {
        if !self.is_finalized()? {
            return Ok(());
        }
        for index in 0..code.instructions.len() {
            let instruction = code.instructions[index];
            if instruction.opcode == RETURN {
                let site = self.site(SiteKind::Inside(Inside::all().constructed), instruction.at, lines, None)?;
                let hook = self.call(&[ALOAD_0], b"inside", site, b"(Ljava/lang/Object;I)V")?;
                code.edits[index].before.extend(hook);
            }
        }
        Ok(())
    }

    fn is_finalized(&self) -> Result<bool> {
        for method in &self.class.methods {
            let [name, descriptor] = [method.name, method.descriptor].map(|text| self.class.constants.text(text));
            if name? == b"finalize" && descriptor? == b"()V" {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
