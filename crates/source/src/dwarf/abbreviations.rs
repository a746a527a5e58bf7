//! Refuses abbreviation tables that overlap: each unit names one, and reading them all would take the square of the
//! file.

use crate::error::Flaw;
use crate::image::Bytes;
use crate::limits::Budget;
use gimli::{Dwarf, Reader, Section};
use std::collections::BTreeSet;

/// Goes through the tables of all units once; each costs its length.
pub(super) fn check(dwarf: &Dwarf<Bytes>, budget: &mut Budget) -> Result<(), Flaw> {
    let mut offsets = BTreeSet::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        offsets.insert(header.debug_abbrev_offset().0);
    }
    for offset in offsets {
        let mut table = dwarf.debug_abbrev.reader().clone();
        if table.skip(offset).is_err() {
            continue;
        }
        // A table that is damaged is refused by the unit that uses it.
        let before = table.len();
        let _ = skip(&mut table);
        budget.keep((before - table.len()) as u64)?;
    }
    Ok(())
}

fn skip(table: &mut Bytes) -> gimli::Result<()> {
    while table.read_uleb128()? != 0 {
        table.skip_leb128()?;
        table.read_u8()?;
        loop {
            let name = table.read_uleb128()?;
            let form = table.read_uleb128()?;
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                table.skip_leb128()?;
            }
            if name == 0 && form == 0 {
                break;
            }
        }
    }
    Ok(())
}
