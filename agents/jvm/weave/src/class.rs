//! A class file in parts. What is not changed is written back as it was.

use crate::bytes::{Cursor, put_u2, put_u4, short};
use crate::constants::Constants;
use crate::error::{Error, Result};
use std::borrow::Cow;

const MAGIC: u32 = 0xcafe_babe;

/// Flags of classes and members.
pub mod access {
    /// Visible to all.
    pub const PUBLIC: u16 = 0x0001;
    /// Visible only in its class.
    pub const PRIVATE: u16 = 0x0002;
    /// Belongs to the class, not to an object.
    pub const STATIC: u16 = 0x0008;
    /// Set once, if it is a field; also of classes and methods.
    pub const FINAL: u16 = 0x0010;
    /// The method holds the monitor of its object or class.
    pub const SYNCHRONIZED: u16 = 0x0020;
    /// Accesses of the field are ordered.
    pub const VOLATILE: u16 = 0x0040;
    /// The field is not serialised.
    pub const TRANSIENT: u16 = 0x0080;
    /// The method has no code here.
    pub const NATIVE: u16 = 0x0100;
    /// An interface.
    pub const INTERFACE: u16 = 0x0200;
    /// Made by the compiler; not in the source.
    pub const SYNTHETIC: u16 = 0x1000;
}

/// An attribute: the constant of its name, and its content.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute<'a> {
    /// The constant of its name.
    pub name: u16,
    /// Its bytes, without their length.
    pub content: Cow<'a, [u8]>,
}

impl<'a> Attribute<'a> {
    pub(crate) fn read_all(cursor: &mut Cursor<'a>) -> Result<Vec<Attribute<'a>>> {
        let count = cursor.u2()?;
        let read = |_| {
            let name = cursor.u2()?;
            let size = cursor.u4()?;
            Ok(Attribute { name, content: cursor.take(size as usize)?.into() })
        };
        (0..count).map(read).collect()
    }

    pub(crate) fn write_all(attributes: &[Attribute], out: &mut Vec<u8>) -> Result<()> {
        put_u2(out, short(attributes.len(), "attributes")?);
        for attribute in attributes {
            put_u2(out, attribute.name);
            let size = u32::try_from(attribute.content.len()).map_err(|_| Error::Many { of: "bytes" })?;
            put_u4(out, size);
            out.extend_from_slice(&attribute.content);
        }
        Ok(())
    }
}

/// A field or a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member<'a> {
    /// Its flags ([`access`]).
    pub access: u16,
    /// The constant of its name.
    pub name: u16,
    /// The constant of its type.
    pub descriptor: u16,
    /// Its attributes; a method's code is one.
    pub attributes: Vec<Attribute<'a>>,
}

impl<'a> Member<'a> {
    fn read_all(cursor: &mut Cursor<'a>) -> Result<Vec<Member<'a>>> {
        let count = cursor.u2()?;
        let read = |_| {
            let [access, name, descriptor] = [cursor.u2()?, cursor.u2()?, cursor.u2()?];
            Ok(Member { access, name, descriptor, attributes: Attribute::read_all(cursor)? })
        };
        (0..count).map(read).collect()
    }

    fn write_all(members: &[Member], of: &'static str, out: &mut Vec<u8>) -> Result<()> {
        put_u2(out, short(members.len(), of)?);
        for member in members {
            [member.access, member.name, member.descriptor].into_iter().for_each(|value| put_u2(out, value));
            Attribute::write_all(&member.attributes, out)?;
        }
        Ok(())
    }
}

/// A class.
#[derive(Debug)]
pub struct Class<'a> {
    /// The version: 55 for Java 11, 61 for 17.
    pub major: u16,
    minor: u16,
    /// Its constants.
    pub constants: Constants<'a>,
    /// Its flags ([`access`]).
    pub access: u16,
    /// The constant of its own name.
    pub this: u16,
    /// The constant of its super class; 0 for `Object` and modules.
    pub parent: u16,
    interfaces: Vec<u16>,
    /// Its fields.
    pub fields: Vec<Member<'a>>,
    /// Its methods.
    pub methods: Vec<Member<'a>>,
    /// Its attributes.
    pub attributes: Vec<Attribute<'a>>,
}

impl<'a> Class<'a> {
    /// Reads a class file.
    pub fn read(file: &'a [u8]) -> Result<Class<'a>> {
        let mut cursor = Cursor::new(file);
        if cursor.u4() != Ok(MAGIC) {
            return Err(Error::NotAClass);
        }
        let [minor, major] = [cursor.u2()?, cursor.u2()?];
        let constants = Constants::read(file, &mut cursor)?;
        let [access, this, parent] = [cursor.u2()?, cursor.u2()?, cursor.u2()?];
        let count = cursor.u2()?;
        let interfaces = (0..count).map(|_| cursor.u2()).collect::<Result<_>>()?;
        let fields = Member::read_all(&mut cursor)?;
        let methods = Member::read_all(&mut cursor)?;
        let attributes = Attribute::read_all(&mut cursor)?;
        match cursor.left() {
            0 => Ok(Class { major, minor, constants, access, this, parent, interfaces, fields, methods, attributes }),
            left => Err(Error::Trailing { left }),
        }
    }

    /// Writes the class file. If nothing was changed, these are the bytes that were read.
    pub fn write(&self) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        put_u4(&mut out, MAGIC);
        put_u2(&mut out, self.minor);
        put_u2(&mut out, self.major);
        self.constants.write(&mut out)?;
        [self.access, self.this, self.parent].into_iter().for_each(|value| put_u2(&mut out, value));
        put_u2(&mut out, short(self.interfaces.len(), "interfaces")?);
        self.interfaces.iter().for_each(|&interface| put_u2(&mut out, interface));
        Member::write_all(&self.fields, "fields", &mut out)?;
        Member::write_all(&self.methods, "methods", &mut out)?;
        Attribute::write_all(&self.attributes, &mut out)?;
        Ok(out)
    }

    /// Its name, as `java/lang/Object`.
    pub fn name(&self) -> Result<&'a [u8]> {
        self.constants.class(self.this)
    }

    /// The name of its super class, if it has one.
    pub fn parent_name(&self) -> Result<Option<&'a [u8]>> {
        if self.parent == 0 { Ok(None) } else { self.constants.class(self.parent).map(Some) }
    }

    /// The name of the file that it was compiled from, if it says so.
    pub fn source(&self) -> Result<Option<&'a [u8]>> {
        for attribute in &self.attributes {
            if self.constants.text(attribute.name)? == b"SourceFile" {
                return self.constants.text(Cursor::new(&attribute.content).u2()?).map(Some);
            }
        }
        Ok(None)
    }
}
