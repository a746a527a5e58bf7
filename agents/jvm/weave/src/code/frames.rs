//! Moves frames with their instructions. A frame has the types on the stack and in local variables where branches go.

use super::Code;
use super::layout::Layout;
use crate::bytes::{Cursor, put_u2, short};
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;

const NAME: &str = "StackMapTable";

/// Types: an initialised object.
const OBJECT: u8 = 7;
/// Types: an object that is not initialised yet; the position of the instruction that made it follows.
const UNINITIALIZED: u8 = 8;

/// Kinds of frames.
const SAME_ONE: u8 = 64;
const SAME_ONE_FAR: u8 = 247;
const SAME_FAR: u8 = 251;
const FULL: u8 = 255;

/// The frames at their new positions, and those of handlers after the code: of the handler for exceptions that leave
/// the method, where only a `Throwable` is known, and of guards, which know what the handlers around them know.
pub(super) fn moved(content: &[u8], layout: &Layout, code: &Code) -> Result<Vec<u8>> {
    let leaving = code.leaving.as_ref().map(|leaving| leaving.1);
    let mut cursor = Cursor::new(content);
    let count = cursor.u2()?;
    let mut out = Vec::with_capacity(content.len() + 16);
    put_u2(&mut out, short(usize::from(count) + usize::from(leaving.is_some()) + code.guards.len(), "frames")?);
    let (mut was, mut is) = (Before::default(), Before::default());
    for _ in 0..count {
        let kind = cursor.u1()?;
        let near = match kind {
            0..SAME_ONE => Some(kind.into()),
            SAME_ONE..128 => Some(u16::from(kind - SAME_ONE)),
            SAME_ONE_FAR..=FULL => None,
            _ => return Err(Error::Damaged { name: NAME }),
        };
        let delta = match near {
            Some(delta) => delta,
            None => cursor.u2()?,
        };
        let at = was.next(delta.into());
        let delta = is.delta(layout.target(at as i64)?)?;
        match kind {
            0..SAME_ONE | SAME_FAR => put_kind(&mut out, 0, SAME_FAR, delta),
            SAME_ONE..128 | SAME_ONE_FAR => {
                put_kind(&mut out, SAME_ONE, SAME_ONE_FAR, delta);
                copy_types(&mut cursor, 1, layout, &mut out)?;
            }
            FULL => {
                out.push(kind);
                put_u2(&mut out, delta);
                for _ in 0..2 {
                    let count = cursor.u2()?;
                    put_u2(&mut out, count);
                    copy_types(&mut cursor, count, layout, &mut out)?;
                }
            }
            _ => {
                out.push(kind);
                put_u2(&mut out, delta);
                copy_types(&mut cursor, u16::from(kind.saturating_sub(SAME_FAR)), layout, &mut out)?;
            }
        }
    }
    if cursor.left() != 0 {
        return Err(Error::Damaged { name: NAME });
    }
    if let Some(throwable) = leaving {
        out.push(FULL);
        put_u2(&mut out, is.delta(layout.leaving())?);
        put_u2(&mut out, 0);
        put_u2(&mut out, 1);
        out.push(OBJECT);
        put_u2(&mut out, throwable);
    }
    if !code.guards.is_empty() {
        let known = all(content, &code.initial)?;
        for (number, guard) in code.guards.iter().enumerate() {
            let frame = known.get(&usize::from(guard.handler)).ok_or(Error::Damaged { name: NAME })?;
            out.push(FULL);
            put_u2(&mut out, is.delta(layout.guard(code, number))?);
            for types in frame {
                put_u2(&mut out, short(types.len(), "types")?);
                for of in types {
                    copy_types(&mut Cursor::new(of), 1, layout, &mut out)?;
                }
            }
        }
    }
    Ok(out)
}

/// Types of local variables and of the stack, as they are encoded, by the position of the frame.
type Frames = FxHashMap<usize, [Vec<Vec<u8>>; 2]>;

/// All frames in full. `initial` has the types of local variables where the method begins.
fn all(content: &[u8], initial: &[Vec<u8>]) -> Result<Frames> {
    let mut cursor = Cursor::new(content);
    let (mut known, mut locals, mut was) = (Frames::default(), initial.to_vec(), Before::default());
    for _ in 0..cursor.u2()? {
        let kind = cursor.u1()?;
        let delta = match kind {
            0..SAME_ONE => kind.into(),
            SAME_ONE..128 => u16::from(kind - SAME_ONE),
            SAME_ONE_FAR..=FULL => cursor.u2()?,
            _ => return Err(Error::Damaged { name: NAME }),
        };
        let at = was.next(delta.into());
        let mut stack = Vec::new();
        match kind {
            0..SAME_ONE | SAME_FAR => {}
            SAME_ONE..128 | SAME_ONE_FAR => stack = take_types(&mut cursor, 1)?,
            FULL => {
                let count = cursor.u2()?;
                locals = take_types(&mut cursor, count)?;
                let count = cursor.u2()?;
                stack = take_types(&mut cursor, count)?;
            }
            // Fewer local variables, or more.
            kind if kind < SAME_FAR => locals.truncate(locals.len().saturating_sub(usize::from(SAME_FAR - kind))),
            kind => locals.extend(take_types(&mut cursor, u16::from(kind - SAME_FAR))?),
        }
        known.insert(at, [locals.clone(), stack]);
    }
    Ok(known)
}

fn take_types(cursor: &mut Cursor, count: u16) -> Result<Vec<Vec<u8>>> {
    let mut types = Vec::with_capacity(count.into());
    for _ in 0..count {
        let mut of = vec![cursor.u1()?];
        if of[0] >= OBJECT {
            put_u2(&mut of, cursor.u2()?);
        }
        types.push(of);
    }
    Ok(types)
}

/// The position of the last frame, if there was one.
#[derive(Default)]
struct Before(Option<usize>);

impl Before {
    /// The position of the next frame, which is so much further.
    fn next(&mut self, delta: usize) -> usize {
        let at = self.0.map_or(delta, |before| before + 1 + delta);
        self.0 = Some(at);
        at
    }

    /// How much further a frame at this position is.
    fn delta(&mut self, at: usize) -> Result<u16> {
        let begin = self.0.map_or(0, |before| before + 1);
        self.0 = Some(at);
        short(at.checked_sub(begin).ok_or(Error::Damaged { name: NAME })?, "bytes")
    }
}

/// Writes the kind and the distance, in one byte if they fit.
fn put_kind(out: &mut Vec<u8>, near: u8, far: u8, delta: u16) {
    match u8::try_from(delta) {
        Ok(delta) if delta < SAME_ONE => out.push(near + delta),
        _ => {
            out.push(far);
            put_u2(out, delta);
        }
    }
}

fn copy_types(cursor: &mut Cursor, count: u16, layout: &Layout, out: &mut Vec<u8>) -> Result<()> {
    for _ in 0..count {
        let kind = cursor.u1()?;
        out.push(kind);
        match kind {
            0..OBJECT => {}
            OBJECT => put_u2(out, cursor.u2()?),
            UNINITIALIZED => put_u2(out, short(layout.instruction(cursor.u2()?)?, "bytes")?),
            _ => return Err(Error::Damaged { name: NAME }),
        }
    }
    Ok(())
}
