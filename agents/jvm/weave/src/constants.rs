//! The constant pool: what is in it, and what is added after it.

use crate::bytes::{Cursor, put_u2, put_u4};
use crate::error::{Error, Result};
use rustc_hash::FxHashMap;

/// Tags of constants.
mod tag {
    pub(super) const UTF8: u8 = 1;
    pub(super) const INTEGER: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const LONG: u8 = 5;
    pub(super) const DOUBLE: u8 = 6;
    pub(super) const CLASS: u8 = 7;
    pub(super) const STRING: u8 = 8;
    pub(super) const FIELD: u8 = 9;
    pub(super) const METHOD: u8 = 10;
    pub(super) const INTERFACE_METHOD: u8 = 11;
    pub(super) const NAME_AND_TYPE: u8 = 12;
    pub(super) const METHOD_HANDLE: u8 = 15;
    pub(super) const METHOD_TYPE: u8 = 16;
    pub(super) const DYNAMIC: u8 = 17;
    pub(super) const INVOKE_DYNAMIC: u8 = 18;
    pub(super) const MODULE: u8 = 19;
    pub(super) const PACKAGE: u8 = 20;
}

#[derive(Clone, Copy, Debug)]
struct Constant {
    /// 0: the second half of a long or double, or the unused first constant.
    tag: u8,
    /// The position after its tag.
    at: usize,
}

/// A field or method that an instruction names. Names are in the modified UTF-8 of class files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named<'a> {
    /// The class it is looked up in.
    pub class: &'a [u8],
    /// Its name.
    pub name: &'a [u8],
    /// Its type.
    pub descriptor: &'a [u8],
}

/// A constant that may be changed before it is written.
pub(crate) struct Changed<'c>(&'c mut Vec<u8>, usize);

impl Changed<'_> {
    /// Replaces it by a text.
    pub(crate) fn set_text(&mut self, text: &[u8]) {
        self.0.truncate(self.1);
        self.0.push(tag::UTF8);
        // Names of classes come from texts, which are not longer.
        put_u2(self.0, text.len() as u16);
        self.0.extend_from_slice(text);
    }

    /// Adds to it, if it is an int.
    pub(crate) fn add_to_int(&mut self, number: u32) {
        if let [tag::INTEGER, value @ ..] = &mut self.0[self.1..]
            && let Ok(value) = <&mut [u8; 4]>::try_from(value)
        {
            *value = u32::from_be_bytes(*value).wrapping_add(number).to_be_bytes();
        }
    }
}

/// The constants of a class.
#[derive(Debug)]
pub struct Constants<'a> {
    file: &'a [u8],
    /// The first is unused.
    constants: Vec<Constant>,
    /// Their begin and end in the file.
    begin: usize,
    end: usize,
    added: Vec<u8>,
    count: u32,
    /// Those that were added, to find them again.
    known: FxHashMap<Vec<u8>, u16>,
}

impl<'a> Constants<'a> {
    /// An empty pool.
    pub(crate) fn empty() -> Constants<'a> {
        let none = Constant { tag: 0, at: 0 };
        let (added, known) = (Vec::new(), FxHashMap::default());
        Constants { file: &[], constants: vec![none], begin: 0, end: 0, added, count: 1, known }
    }

    /// Reads the pool, which begins with its count.
    pub(crate) fn read(file: &'a [u8], cursor: &mut Cursor<'a>) -> Result<Constants<'a>> {
        let count = cursor.u2()?;
        let begin = cursor.at();
        let mut constants = vec![Constant { tag: 0, at: 0 }];
        while constants.len() < usize::from(count) {
            let index = constants.len() as u16;
            let tag = cursor.u1()?;
            constants.push(Constant { tag, at: cursor.at() });
            let size = match tag {
                tag::UTF8 => usize::from(cursor.clone().u2()?) + 2,
                tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => 2,
                tag::METHOD_HANDLE => 3,
                tag::INTEGER | tag::FLOAT | tag::FIELD | tag::METHOD | tag::INTERFACE_METHOD => 4,
                tag::NAME_AND_TYPE | tag::DYNAMIC | tag::INVOKE_DYNAMIC => 4,
                tag::LONG | tag::DOUBLE => 8,
                tag => return Err(Error::UnknownConstant { index, tag }),
            };
            cursor.take(size)?;
            if matches!(tag, tag::LONG | tag::DOUBLE) {
                constants.push(Constant { tag: 0, at: 0 });
            }
        }
        Ok(Constants {
            file,
            count: constants.len() as u32,
            constants,
            begin,
            end: cursor.at(),
            added: Vec::new(),
            known: FxHashMap::default(),
        })
    }

    /// Writes the pool with what was added.
    pub(crate) fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        put_u2(out, u16::try_from(self.count).map_err(|_| Error::ManyConstants)?);
        out.extend_from_slice(&self.file[self.begin..self.end]);
        out.extend_from_slice(&self.added);
        Ok(())
    }

    /// One more than the last number.
    pub(crate) fn count(&self) -> u16 {
        self.count as u16
    }

    /// The end of the pool in the file.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Changes the constants from `from` on, and drops those from `until` on, if none was added since they were read.
    /// Afterwards only those before `from` can be read.
    pub(crate) fn change(&mut self, from: u16, until: u16, mut change: impl FnMut(u16, Changed)) -> Result<()> {
        let wrong = Error::WrongConstant { index: from, wanted: "the first of those that were added" };
        let all = self
            .constants
            .get(usize::from(from)..usize::from(until))
            .filter(|all| all.first().is_some_and(|first| first.tag != 0));
        let all = all.ok_or(wrong)?;
        let begin = |constant: Option<&Constant>| constant.map_or(self.end, |constant| constant.at - 1);
        let end = begin(all.first());
        for (constant, number) in all.iter().zip(from..) {
            // The second half of a long.
            if constant.tag == 0 {
                continue;
            }
            let next = usize::from(number) + 1 + usize::from(matches!(constant.tag, tag::LONG | tag::DOUBLE));
            let at = self.added.len();
            self.added.extend_from_slice(&self.file[begin(Some(constant))..begin(self.constants.get(next))]);
            change(number, Changed(&mut self.added, at));
        }
        self.end = end;
        self.constants.truncate(from.into());
        self.count = until.into();
        Ok(())
    }

    /// What follows the tag of a constant.
    fn find(&self, index: u16, tags: &[u8], wanted: &'static str) -> Result<Cursor<'a>> {
        match self.constants.get(usize::from(index)) {
            Some(constant) if tags.contains(&constant.tag) => Ok(Cursor::from(self.file, constant.at)),
            _ => Err(Error::WrongConstant { index, wanted }),
        }
    }

    /// A text, in modified UTF-8.
    pub fn text(&self, index: u16) -> Result<&'a [u8]> {
        let mut cursor = self.find(index, &[tag::UTF8], "a text")?;
        let size = cursor.u2()?;
        cursor.take(size.into())
    }

    /// The name of a class.
    pub fn class(&self, index: u16) -> Result<&'a [u8]> {
        self.text(self.find(index, &[tag::CLASS], "a class")?.u2()?)
    }

    /// A field or method.
    pub fn named(&self, index: u16) -> Result<Named<'a>> {
        let tags = [tag::FIELD, tag::METHOD, tag::INTERFACE_METHOD];
        let mut cursor = self.find(index, &tags, "a field or a method")?;
        let class = self.class(cursor.u2()?)?;
        let mut cursor = self.find(cursor.u2()?, &[tag::NAME_AND_TYPE], "a name and a type")?;
        Ok(Named { class, name: self.text(cursor.u2()?)?, descriptor: self.text(cursor.u2()?)? })
    }

    /// The constant of the class that a field or method is looked up in.
    pub fn class_of(&self, index: u16) -> Result<u16> {
        self.find(index, &[tag::FIELD, tag::METHOD, tag::INTERFACE_METHOD], "a field or a method")?.u2()
    }

    /// A method handle: its kind, and the constant of its method.
    pub fn method_handle(&self, index: u16) -> Result<(u8, u16)> {
        let mut cursor = self.find(index, &[tag::METHOD_HANDLE], "a method handle")?;
        Ok((cursor.u1()?, cursor.u2()?))
    }

    /// What an `invokedynamic` names: the number of its bootstrap method; the constant of its name and type; and
    /// these.
    pub fn dynamic(&self, index: u16) -> Result<(u16, u16, [&'a [u8]; 2])> {
        let mut cursor = self.find(index, &[tag::INVOKE_DYNAMIC], "a dynamic call")?;
        let (bootstrap, named) = (cursor.u2()?, cursor.u2()?);
        let mut cursor = self.find(named, &[tag::NAME_AND_TYPE], "a name and a type")?;
        Ok((bootstrap, named, [self.text(cursor.u2()?)?, self.text(cursor.u2()?)?]))
    }

    /// Whether it is a method of an interface.
    pub fn is_of_interface(&self, index: u16) -> bool {
        self.find(index, &[tag::INTERFACE_METHOD], "").is_ok()
    }

    fn add(&mut self, constant: Vec<u8>) -> Result<u16> {
        if let Some(&known) = self.known.get(&constant) {
            return Ok(known);
        }
        // The count, which is one more than the last number, must fit two bytes as well.
        let index = u16::try_from(self.count).ok().filter(|&index| index < u16::MAX).ok_or(Error::ManyConstants)?;
        self.added.extend_from_slice(&constant);
        self.count += 1;
        self.known.insert(constant, index);
        Ok(index)
    }

    fn add_shorts(&mut self, tag: u8, shorts: &[u16]) -> Result<u16> {
        let mut constant = vec![tag];
        shorts.iter().for_each(|&short| put_u2(&mut constant, short));
        self.add(constant)
    }

    /// Adds a text.
    pub fn add_text(&mut self, text: &[u8]) -> Result<u16> {
        let mut constant = vec![tag::UTF8];
        put_u2(&mut constant, crate::bytes::short(text.len(), "bytes of a text")?);
        constant.extend_from_slice(text);
        self.add(constant)
    }

    /// Adds a class.
    pub fn add_class(&mut self, name: &[u8]) -> Result<u16> {
        let name = self.add_text(name)?;
        self.add_shorts(tag::CLASS, &[name])
    }

    /// Adds a string.
    pub fn add_string(&mut self, text: &[u8]) -> Result<u16> {
        let text = self.add_text(text)?;
        self.add_shorts(tag::STRING, &[text])
    }

    fn add_named(&mut self, tag: u8, named: Named) -> Result<u16> {
        let class = self.add_class(named.class)?;
        self.add_of(tag, class, named.name, named.descriptor)
    }

    fn add_of(&mut self, tag: u8, class: u16, name: &[u8], descriptor: &[u8]) -> Result<u16> {
        let (name, descriptor) = (self.add_text(name)?, self.add_text(descriptor)?);
        let name_and_type = self.add_shorts(tag::NAME_AND_TYPE, &[name, descriptor])?;
        self.add_shorts(tag, &[class, name_and_type])
    }

    /// Adds a method of a class.
    pub fn add_method(&mut self, named: Named) -> Result<u16> {
        self.add_named(tag::METHOD, named)
    }

    /// Adds a method of the class with this constant.
    pub fn add_own_method(&mut self, class: u16, name: &[u8], descriptor: &[u8], is_interface: bool) -> Result<u16> {
        self.add_of(if is_interface { tag::INTERFACE_METHOD } else { tag::METHOD }, class, name, descriptor)
    }

    /// Adds a method handle.
    pub fn add_method_handle(&mut self, kind: u8, of: u16) -> Result<u16> {
        let [high, low] = of.to_be_bytes();
        self.add(vec![tag::METHOD_HANDLE, kind, high, low])
    }

    /// Adds what an `invokedynamic` names.
    pub fn add_dynamic(&mut self, bootstrap: u16, named: u16) -> Result<u16> {
        self.add_shorts(tag::INVOKE_DYNAMIC, &[bootstrap, named])
    }

    /// Adds a field.
    pub fn add_field(&mut self, named: Named) -> Result<u16> {
        self.add_named(tag::FIELD, named)
    }

    /// Adds an int.
    pub fn add_int(&mut self, value: i32) -> Result<u16> {
        let mut constant = vec![tag::INTEGER];
        put_u4(&mut constant, value as u32);
        self.add(constant)
    }
}
