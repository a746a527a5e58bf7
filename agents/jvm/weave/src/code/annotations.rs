//! Moves annotations of types inside code, some of which name instructions.

use super::layout::Layout;
use super::tables::range;
use crate::bytes::{Cursor, put_u2, short};
use crate::error::{Error, Result};

const NAME: &str = "TypeAnnotations";
/// The deepest nesting of elements: no compiler nests so many.
const DEEPEST: u32 = 64;

/// Moves `RuntimeVisibleTypeAnnotations` and `RuntimeInvisibleTypeAnnotations` of a `Code` attribute.
pub(super) fn moved(content: &[u8], layout: &Layout) -> Result<Vec<u8>> {
    let mut cursor = Cursor::new(content);
    let count = cursor.u2()?;
    let mut out = Vec::with_capacity(content.len());
    put_u2(&mut out, count);
    for _ in 0..count {
        let kind = cursor.u1()?;
        out.push(kind);
        match kind {
            // Local variables.
            0x40 | 0x41 => {
                let parts = cursor.u2()?;
                put_u2(&mut out, parts);
                for _ in 0..parts {
                    range(&mut cursor, layout, &mut out)?;
                    put_u2(&mut out, cursor.u2()?);
                }
            }
            // The number of a handler.
            0x42 => put_u2(&mut out, cursor.u2()?),
            0x43..=0x46 => put_u2(&mut out, short(layout.instruction(cursor.u2()?)?, "bytes")?),
            0x47..=0x4b => {
                put_u2(&mut out, short(layout.instruction(cursor.u2()?)?, "bytes")?);
                out.push(cursor.u1()?);
            }
            _ => return Err(Error::Damaged { name: NAME }),
        }
        let steps = cursor.u1()?;
        out.push(steps);
        out.extend_from_slice(cursor.take(2 * usize::from(steps))?);
        let begin = cursor.at();
        annotation(&mut cursor, 0)?;
        out.extend_from_slice(&content[begin..cursor.at()]);
    }
    if cursor.left() != 0 {
        return Err(Error::Damaged { name: NAME });
    }
    Ok(out)
}

/// Skips an annotation.
fn annotation(cursor: &mut Cursor, depth: u32) -> Result<()> {
    cursor.u2()?;
    for _ in 0..cursor.u2()? {
        cursor.u2()?;
        element(cursor, depth + 1)?;
    }
    Ok(())
}

fn element(cursor: &mut Cursor, depth: u32) -> Result<()> {
    if depth > DEEPEST {
        return Err(Error::Damaged { name: NAME });
    }
    match cursor.u1()? {
        b'e' => {
            cursor.take(4)?;
        }
        b'@' => annotation(cursor, depth)?,
        b'[' => {
            for _ in 0..cursor.u2()? {
                element(cursor, depth + 1)?;
            }
        }
        _ => {
            cursor.u2()?;
        }
    }
    Ok(())
}
