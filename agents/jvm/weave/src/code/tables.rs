//! Moves the tables of lines and local variables.

use super::layout::Layout;
use crate::bytes::{Cursor, put_u2, short};
use crate::error::Result;

/// `LineNumberTable`.
pub(super) fn lines(content: &[u8], layout: &Layout) -> Result<Vec<u8>> {
    let mut cursor = Cursor::new(content);
    let count = cursor.u2()?;
    let mut out = Vec::with_capacity(content.len());
    put_u2(&mut out, count);
    for _ in 0..count {
        put_u2(&mut out, short(layout.target(cursor.u2()?.into())?, "bytes")?);
        put_u2(&mut out, cursor.u2()?);
    }
    out.extend_from_slice(cursor.take(cursor.left())?);
    Ok(out)
}

/// `LocalVariableTable` and `LocalVariableTypeTable`.
pub(super) fn variables(content: &[u8], layout: &Layout) -> Result<Vec<u8>> {
    let mut cursor = Cursor::new(content);
    let count = cursor.u2()?;
    let mut out = Vec::with_capacity(content.len());
    put_u2(&mut out, count);
    for _ in 0..count {
        range(&mut cursor, layout, &mut out)?;
        // Name, type, number.
        out.extend_from_slice(cursor.take(6)?);
    }
    out.extend_from_slice(cursor.take(cursor.left())?);
    Ok(out)
}

/// Moves a range: a position and a size.
pub(super) fn range(cursor: &mut Cursor, layout: &Layout, out: &mut Vec<u8>) -> Result<()> {
    let (start, size) = (i64::from(cursor.u2()?), i64::from(cursor.u2()?));
    let (start, end) = (layout.target(start)?, layout.target(start + size)?);
    put_u2(out, short(start, "bytes")?);
    put_u2(out, short(end.saturating_sub(start), "bytes")?);
    Ok(())
}
