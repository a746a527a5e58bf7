//! Classes that are woven before they are loaded (`foretrace weave`).
//!
//! Such a class calls [inert hooks](crate::inert()), and has the super class and the fields that it had: without the
//! agent it does what it did. Its last attribute, [`ATTRIBUTE`], says what the agent must change to make it what it
//! would have become at load time ([`OfflineClass::woven`]). The attribute also has the original
//! ([`OfflineClass::original`]), for an agent of another version, for other classes to watch, or for a specification
//! that wants more.
//!
//! The content of the attribute, from its end: [`END`], the version, and what [`OfflineClass::original`] needs, which
//! never change; before these, what only this version understands.

use crate::bytes::{Cursor, put_u2, put_u4, short};
use crate::class::{Attribute, Class, Member};
use crate::class_filter::ClassFilter;
use crate::error::{Error, Result};
use crate::hooks::{CELL_ACCESS, ClassContext, ClassInfo, HOOKS, Site, SiteKind, WATCHED, Woven, weave};
use crate::inert::{hooks, inert_name};
use rustc_hash::{FxHashMap, FxHashSet};

/// The attribute's name.
pub const ATTRIBUTE: &str = "foretrace.Woven";
/// How the attribute, and so the file, ends. The version is before it.
const END: &[u8; 8] = b"ftwoven\n";
/// The number of the first site, until the class is loaded.
const FIRST: u32 = 1 << 30;
/// The length of what no version changes: the size of what follows the old constants, where these end, how many they
/// are; the version; the end.
const TRAILER: usize = 4 + 4 + 2 + 8 + END.len();
/// Where constants begin in a class file.
const CONSTANTS: usize = 10;
const OBJECT: &[u8] = b"java/lang/Object";

/// The version of what is woven in. It changes with this crate's sources.
pub fn version() -> u64 {
    const { parsed(env!("FORETRACE_WEAVE")) }
}

const fn parsed(text: &str) -> u64 {
    let (mut at, mut number) = (0, 0);
    while at < text.len() {
        number = number * 10 + (text.as_bytes()[at] - b'0') as u64;
        at += 1;
    }
    number
}

/// Weaves a class that is not loaded yet; its file is to be written. To run it, its package needs the [inert
/// hooks](crate::inert()). `filter` is what the class was woven for.
pub fn weave_offline(file: &[u8], context: &dyn ClassContext, filter: &ClassFilter) -> Result<Woven> {
    bounded(&Class::read(file)?)?;
    let mut woven = weave(file, FIRST, context)?;
    if let Some(at_load) = &woven.file {
        woven.file = Some(prepare(file, at_load, &woven, filter)?);
    }
    Ok(woven)
}

/// Refuses a class whose names would take too much memory if they were written out wherever they are used: a small
/// file can name one long text very often.
pub(crate) fn bounded(class: &Class) -> Result<()> {
    const MOST: usize = 1 << 27;
    let length = |number: u16| class.constants.text(number).map_or(0, <[u8]>::len);
    let (mut members, mut code) = (0, 0);
    for member in class.fields.iter().chain(&class.methods) {
        members += length(member.name) + length(member.descriptor);
        code += member.attributes.iter().map(|attribute| attribute.content.len()).sum::<usize>();
    }
    let named = (1..class.constants.count()).filter_map(|number| class.constants.named(number).ok());
    let longest = named.map(|named| named.class.len() + named.name.len() + named.descriptor.len()).max().unwrap_or(0);
    // No instruction that names something is shorter.
    let sites = (code / 3).saturating_mul(longest);
    if members.saturating_add(sites) > MOST { Err(Error::Many { of: "long names" }) } else { Ok(()) }
}

/// The package of a class, with the `/` at its end.
pub fn package(class: &[u8]) -> &[u8] {
    let end = class.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
    &class[..end]
}

/// Makes of a woven class one that is to be loaded later.
fn prepare(file: &[u8], at_load: &[u8], woven: &Woven, filter: &ClassFilter) -> Result<Vec<u8>> {
    let original = Class::read(file)?;
    let mut class = Class::read(at_load)?;
    let known = hooks();
    let known: FxHashSet<_> = known.iter().map(|(name, of)| (name.as_bytes(), of.as_bytes())).collect();
    let (constants, until) = (original.constants.count(), class.constants.count());
    let (mut hooks_text, mut parent_text) = (0, 0);
    for number in constants..until {
        match class.constants.text(number) {
            Ok(text) if text == HOOKS.as_bytes() => hooks_text = number,
            Ok(text) if text == WATCHED.as_bytes() => parent_text = number,
            _ => {}
        }
        if let Ok(named) = class.constants.named(number)
            && named.class == HOOKS.as_bytes()
            && !known.contains(&(named.name, named.descriptor))
        {
            return Err(Error::UnknownHook { name: String::from_utf8_lossy(named.name).into_owned() });
        }
    }
    let cells = class.fields.split_off(original.fields.len());
    // The members that sites access, by the numbers of constants.
    let named = |number| Some((original.constants.named(number).ok()?, number));
    let numbers: FxHashMap<_, u16> = (1..constants)
        .filter_map(named)
        .map(|(named, number)| ([named.class, named.name, named.descriptor], number))
        .collect();

    let mut content = filter.digest().to_be_bytes().to_vec();
    for part in [constants, short(original.methods.len(), "methods")?, hooks_text, parent_text] {
        put_u2(&mut content, part);
    }
    put_u2(&mut content, short(cells.len(), "fields")?);
    for cell in &cells {
        put_u2(&mut content, cell.name);
        put_u2(&mut content, cell.descriptor);
    }
    put_u2(&mut content, short(woven.sites.len(), "sites")?);
    for Site { kind, method, at, line, field } in &woven.sites {
        let (kind, number) = kind.code();
        let field = field.as_ref().and_then(|[class, name, of]| numbers.get(&[&class[..], name, of])).copied();
        content.push(kind);
        for part in [number, short(*method, "methods")?, *at, *line, field.unwrap_or(0)] {
            put_u2(&mut content, part);
        }
    }
    put_u2(&mut content, short(woven.skipped.len(), "methods")?);
    for (method, why) in &woven.skipped {
        put_u2(&mut content, short(*method, "methods")?);
        put_u2(&mut content, short(why.len(), "bytes")?);
        content.extend_from_slice(why.as_bytes());
    }
    let end = original.constants.end();
    content.extend_from_slice(&file[end..]);
    put_u4(&mut content, (file.len() - end) as u32);
    put_u4(&mut content, end as u32);
    put_u2(&mut content, constants);
    content.extend_from_slice(&version().to_be_bytes());
    content.extend_from_slice(END);

    let inert = [package(&woven.info.name), inert_name().as_bytes()].concat();
    class.constants.change(constants, until, |number, mut constant| {
        if number == hooks_text {
            constant.set_text(&inert);
        } else if number == parent_text {
            constant.set_text(OBJECT);
        }
    })?;
    let name = class.constants.add_text(ATTRIBUTE.as_bytes())?;
    class.attributes.push(Attribute { name, content: content.into() });
    class.write()
}

/// A class that was woven offline.
#[derive(Debug)]
pub struct OfflineClass<'a> {
    file: &'a [u8],
    /// Without the attribute.
    class: Class<'a>,
    content: &'a [u8],
    version: u64,
}

impl<'a> OfflineClass<'a> {
    /// Reads a class file, if it was woven offline.
    pub fn of(file: &'a [u8]) -> Option<OfflineClass<'a>> {
        let (_, version) = file.strip_suffix(END)?.split_last_chunk::<8>()?;
        let version = u64::from_be_bytes(*version);
        let mut class = Class::read(file).ok()?;
        let attribute = class.attributes.pop()?;
        let content = &file[file.len() - attribute.content.len()..];
        let is_it = class.constants.text(attribute.name) == Ok(ATTRIBUTE.as_bytes()) && content.len() > TRAILER;
        is_it.then_some(OfflineClass { file, class, content, version })
    }

    /// Whether this version of the crate has woven it.
    pub fn is_current(&self) -> bool {
        self.version == version()
    }

    /// Whether it was woven for the same filter. (Hooks depend on which other classes are watched.)
    pub fn is_for(&self, filter: &ClassFilter) -> bool {
        self.content.starts_with(&filter.digest().to_be_bytes())
    }

    /// The class file as it was before weaving. This works for all versions: how the attribute ends does not change.
    pub fn original(&self) -> Result<Vec<u8>> {
        let damaged = || Error::Damaged { name: ATTRIBUTE };
        let (rest, trailer) = self.content.split_at(self.content.len() - TRAILER);
        let mut trailer = Cursor::new(trailer);
        let (size, end) = (trailer.u4()? as usize, trailer.u4()? as usize);
        let rest = &rest[rest.len().checked_sub(size).ok_or_else(damaged)?..];
        let constants = self.file.get(CONSTANTS..end).ok_or_else(damaged)?;
        Ok([&self.file[..CONSTANTS - 2], trailer.take(2)?, constants, rest].concat())
    }

    /// The class as weaving it now would make it, if this version has woven it. `first` is the number of its first
    /// site.
    pub fn woven(mut self, first: u32) -> Result<Woven> {
        let mut cursor = Cursor::from(self.content, size_of::<u64>());
        let [constants, methods, hooks_text, parent_text] = [cursor.u2()?, cursor.u2()?, cursor.u2()?, cursor.u2()?];
        let mut woven = Woven { info: ClassInfo::of(&self.class)?, ..Woven::default() };
        woven.info.methods.truncate(methods.into());
        for _ in 0..cursor.u2()? {
            let [name, descriptor] = [cursor.u2()?, cursor.u2()?];
            self.class.fields.push(Member { access: CELL_ACCESS, name, descriptor, attributes: Vec::new() });
        }
        let count = cursor.u2()?;
        for _ in 0..count {
            let kind = cursor.u1()?;
            let kind = SiteKind::decode(kind, cursor.u2()?).ok_or(Error::Damaged { name: ATTRIBUTE })?;
            let (method, at, line) = (cursor.u2()?.into(), cursor.u2()?, cursor.u2()?);
            let field = match cursor.u2()? {
                0 => None,
                number => Some(self.class.constants.named(number)?),
            };
            let field = field.map(|named| [named.class, named.name, named.descriptor].map(<[u8]>::to_vec));
            woven.sites.push(Site { kind, method, at, line, field });
        }
        for _ in 0..cursor.u2()? {
            let (method, size) = (cursor.u2()?, cursor.u2()?);
            woven.skipped.push((method.into(), String::from_utf8_lossy(cursor.take(size.into())?).into_owned()));
        }
        if first.checked_add(count.into()).is_none_or(|end| i32::try_from(end).is_err()) {
            return Err(Error::Many { of: "sites" });
        }
        // The last constant is the attribute's name.
        let until = self.class.constants.count() - 1;
        self.class.constants.change(constants, until, |number, mut constant| match number {
            _ if number == hooks_text => constant.set_text(HOOKS.as_bytes()),
            _ if number == parent_text => constant.set_text(WATCHED.as_bytes()),
            _ => constant.add_to_int(first.wrapping_sub(FIRST)),
        })?;
        woven.file = Some(self.class.write()?);
        Ok(woven)
    }
}
