//! The frames beside the events: names, stacks, modules, threads, origins, initial values, losses. Each adds to the
//! tables that the frames before it began. A payload is one column of records.

use super::bytes::{Cursor, put, put_text};
use super::extras::{self, Bounds};
use super::frame::Damage;
use crate::Loss;
use crate::limits::{MAX_DESCRIBED, MAX_ORIGINS, MAX_STACKS, keep_loss, too_many_names};
use event::{Batch, Init, Made, Meta, Module, Names, Origin, SiteId, Space, StackId, StrId, ThreadId, ThreadInfo};

/// How many names of each space are meant.
pub(super) type Needed = [usize; Space::ALL.len()];

/// All names.
pub(super) const ALL_NAMES: Needed = [usize::MAX; Space::ALL.len()];

/// A table frame is closed when its records reach this many bytes.
const FULL: usize = 4 << 20;

/// Names: records of (space, count, text*), numbered on from what the space has.
/// Like the other tables, it stops when the frame is full: call again until it puts nothing.
pub(super) fn put_names(out: &mut Vec<u8>, names: &Names, needed: &Needed, written: &mut Needed) -> u32 {
    let mut count = 0;
    for space in Space::ALL {
        let table = names.space(space);
        let known = &mut written[space as usize];
        let mut size = out.len();
        let mut end = *known;
        while end < needed[space as usize].min(table.len()) && size < FULL {
            size += table.get(end as u32).map_or(0, str::len) + 4;
            end += 1;
        }
        if end == *known {
            continue;
        }
        out.push(space as u8);
        put(out, (end - *known) as u64);
        for number in *known..end {
            put_text(out, table.get(number as u32).unwrap_or_default());
            count += 1;
        }
        *known = end;
    }
    count
}

pub(super) fn get_names(mut from: Cursor<'_>, names: &mut Names) -> Result<(), Damage> {
    while !from.is_empty() {
        // A space of a later version would shift nothing here, but its texts must be passed over.
        let space = Space::from_code(from.byte()?);
        for _ in 0..from.get()? {
            let text = from.text()?;
            let Some(space) = space else { continue };
            let expected = names.space(space).len();
            match names.add(space, text) {
                Ok(number) if number as usize == expected => {}
                Ok(_) => return Err(Damage("a name is there twice")),
                Err(_) => return Err(Damage("there are more names than a trace can have")),
            }
        }
    }
    if too_many_names(names) { Err(Damage("the names take more memory than allowed")) } else { Ok(()) }
}

/// How much of the meta-information was written.
#[derive(Clone, Copy, PartialEq, Default)]
pub(super) struct MetaWritten {
    pub(super) stacks: usize,
    pub(super) modules: usize,
    pub(super) threads: usize,
    pub(super) origins: usize,
    pub(super) libraries: usize,
}

impl MetaWritten {
    /// Everything there is.
    pub(super) fn all(meta: &Meta) -> MetaWritten {
        MetaWritten {
            stacks: meta.stacks.nodes().len(),
            modules: meta.modules.len(),
            threads: meta.threads.len(),
            origins: meta.origins.len(),
            libraries: meta.libraries.len(),
        }
    }
}

/// As many records as surely fit a frame.
fn first_of<T>(records: &[T]) -> &[T] {
    &records[..records.len().min(FULL / 64)]
}

/// Stacks: records of (innermost frame's site, caller).
pub(super) fn put_stacks(out: &mut Vec<u8>, meta: &Meta, written: &mut MetaWritten) -> u32 {
    let new = first_of(&meta.stacks.nodes()[written.stacks..]);
    for (site, caller) in new {
        put(out, site.0.into());
        put(out, caller.0.into());
    }
    written.stacks += new.len();
    new.len() as u32
}

pub(super) fn get_stacks(mut from: Cursor<'_>, names: &Names, meta: &mut Meta) -> Result<(), Damage> {
    while !from.is_empty() {
        let site = SiteId(from.get_below(names.space(Space::Site).len())?);
        let caller = StackId(from.get_u32()?);
        meta.stacks.push(site, caller).ok_or(Damage("a stack's caller is not there"))?;
    }
    bounded(meta.stacks.len(), MAX_STACKS)
}

/// Modules: records of (path, build id, base, size).
pub(super) fn put_modules(out: &mut Vec<u8>, meta: &Meta, written: &mut MetaWritten) -> u32 {
    let new = first_of(&meta.modules[written.modules..]);
    for module in new {
        for number in [module.path.0.into(), module.build_id.0.into(), module.base, module.size] {
            put(out, number);
        }
    }
    written.modules += new.len();
    new.len() as u32
}

pub(super) fn get_modules(mut from: Cursor<'_>, names: &Names, meta: &mut Meta) -> Result<(), Damage> {
    let strings = names.space(Space::Str).len();
    while !from.is_empty() {
        let path = StrId(from.get_below(strings)?);
        let build_id = StrId(from.get_below(strings)?);
        let (base, size) = (from.get()?, from.get()?);
        meta.modules.push(Module { path, build_id, base, size });
    }
    bounded(meta.modules.len(), MAX_DESCRIBED)
}

/// Threads: records of (thread, name, creation site, creation stack).
pub(super) fn put_threads(out: &mut Vec<u8>, meta: &Meta, written: &mut MetaWritten) -> u32 {
    let new = first_of(&meta.threads[written.threads..]);
    for info in new {
        for number in [info.thread.0, info.name.0, info.site.0, info.stack.0] {
            put(out, number.into());
        }
    }
    written.threads += new.len();
    new.len() as u32
}

pub(super) fn get_threads(mut from: Cursor<'_>, names: &Names, meta: &mut Meta) -> Result<(), Damage> {
    while !from.is_empty() {
        let info = ThreadInfo {
            thread: ThreadId(from.get_below(names.space(Space::Thread).len())?),
            name: StrId(from.get_below(names.space(Space::Str).len())?),
            site: SiteId(from.get_below(names.space(Space::Site).len())?),
            stack: StackId(from.get_below(meta.stacks.len())?),
        };
        meta.threads.push(info);
    }
    bounded(meta.threads.len(), MAX_DESCRIBED)
}

/// Origins: records of (space, object, how it was made, thread, site, stack, size).
pub(super) fn put_origins(out: &mut Vec<u8>, meta: &Meta, written: &mut MetaWritten) -> u32 {
    let new = first_of(&meta.origins[written.origins..]);
    for origin in new {
        out.push(origin.space as u8);
        put(out, origin.id.into());
        out.push(origin.made as u8);
        for number in [origin.thread.0, origin.site.0, origin.stack.0] {
            put(out, number.into());
        }
        put(out, origin.size);
    }
    written.origins += new.len();
    new.len() as u32
}

pub(super) fn get_origins(mut from: Cursor<'_>, names: &Names, meta: &mut Meta) -> Result<(), Damage> {
    while !from.is_empty() {
        let space = Space::from_code(from.byte()?).ok_or(Damage("there is no such kind of object"))?;
        let origin = Origin {
            space,
            id: from.get_below(names.space(space).len())?,
            made: Made::from_code(from.byte()?).ok_or(Damage("there is no such way to make an object"))?,
            thread: ThreadId(from.get_below(names.space(Space::Thread).len())?),
            site: SiteId(from.get_below(names.space(Space::Site).len())?),
            stack: StackId(from.get_below(meta.stacks.len())?),
            size: from.get()?,
        };
        if meta.origins.len() < MAX_ORIGINS {
            meta.origins.push(origin);
        }
    }
    Ok(())
}

/// Libraries: records of (site, the name of its library's file).
pub(super) fn put_libraries(out: &mut Vec<u8>, meta: &Meta, written: &mut MetaWritten) -> u32 {
    let new = first_of(&meta.libraries[written.libraries..]);
    for (site, library) in new {
        put(out, site.0.into());
        put(out, library.0.into());
    }
    written.libraries += new.len();
    new.len() as u32
}

pub(super) fn get_libraries(mut from: Cursor<'_>, names: &Names, meta: &mut Meta) -> Result<(), Damage> {
    while !from.is_empty() {
        let site = SiteId(from.get_below(names.space(Space::Site).len())?);
        let library = StrId(from.get_below(names.space(Space::Str).len())?);
        meta.libraries.push((site, library));
    }
    bounded(meta.libraries.len(), MAX_STACKS)
}

/// Initial values: records of (events of the next frame before it, name, value).
pub(super) fn put_inits(out: &mut Vec<u8>, inits: &[Init]) -> u32 {
    for init in inits {
        put(out, init.before.into());
        put(out, init.name.0.into());
        extras::put_value(out, init.value);
    }
    inits.len() as u32
}

/// `base` is where the next events frame begins in the batch.
pub(super) fn get_inits(mut from: Cursor<'_>, names: &Names, base: u32, batch: &mut Batch) -> Result<(), Damage> {
    let bounds = Bounds::new(names, 1);
    while !from.is_empty() {
        let before = from.get_u32()?.checked_add(base).ok_or(Damage("an initial value is out of place"))?;
        let name = StrId(from.get_below(names.space(Space::Str).len())?);
        let value = extras::get_value(&mut from, bounds)?;
        if batch.inits.last().is_some_and(|last| last.before > before) {
            return Err(Damage("initial values are out of order"));
        }
        batch.inits.push(Init { before, name, value });
    }
    Ok(())
}

/// Losses: texts.
pub(super) fn put_losses(out: &mut Vec<u8>, losses: &[Loss]) -> u32 {
    for loss in losses {
        put_text(out, &loss.message);
    }
    losses.len() as u32
}

pub(super) fn get_losses(mut from: Cursor<'_>, losses: &mut Vec<Loss>) -> Result<(), Damage> {
    while !from.is_empty() {
        keep_loss(losses, from.text()?);
    }
    Ok(())
}

fn bounded(count: usize, max: usize) -> Result<(), Damage> {
    if count <= max { Ok(()) } else { Err(Damage("a table has more records than allowed")) }
}
