//! Sites, and what weaving says and needs to know of classes.

use super::{CallMark, JDK, Mark};
use crate::class::Class;
use crate::error::Result;

/// What is done at a site.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SiteKind {
    /// Reads a field.
    Read,
    /// Writes a field.
    Write,
    /// Reads a static field.
    StaticRead,
    /// Writes a static field.
    StaticWrite,
    /// Reads an element of an array.
    Element,
    /// Writes an element of an array.
    Store,
    /// Acquires a monitor.
    Enter,
    /// Releases a monitor.
    Leave,
    /// Acquires and releases the monitor of a synchronized method.
    Method,
    /// Acquires and releases the monitor of a static synchronized method.
    StaticMethod,
    /// Waits.
    Wait,
    /// Notifies one.
    Notify,
    /// Notifies all.
    NotifyAll,
    /// Enters or leaves a block, or is an event of a specification.
    Mark,
    /// Makes an object.
    Make,
    /// Calls something that synchronises, of this number in [`Calls`](crate::Calls).
    Call(u16),
    /// Something inside the JDK that synchronises, of this number in [`Inside`](crate::Inside).
    Inside(u16),
}

impl SiteKind {
    /// Encodes it as two numbers, for files.
    pub(crate) fn code(self) -> (u8, u16) {
        match self {
            SiteKind::Call(number) => (CALL, number),
            SiteKind::Inside(number) => (INSIDE, number),
            _ => (PLAIN_KINDS.iter().position(|&plain| plain == self).expect("all others are plain") as u8, 0),
        }
    }

    /// Decodes two numbers.
    pub(crate) fn decode(code: u8, number: u16) -> Option<SiteKind> {
        match code {
            CALL => Some(SiteKind::Call(number)),
            INSIDE => Some(SiteKind::Inside(number)),
            _ => PLAIN_KINDS.get(usize::from(code)).copied(),
        }
    }
}

/// Codes of kinds that have a number.
const CALL: u8 = 0xfe;
const INSIDE: u8 = 0xff;
/// Kinds that have no number, by their codes.
const PLAIN_KINDS: [SiteKind; 15] = [
    SiteKind::Read,
    SiteKind::Write,
    SiteKind::StaticRead,
    SiteKind::StaticWrite,
    SiteKind::Element,
    SiteKind::Store,
    SiteKind::Enter,
    SiteKind::Leave,
    SiteKind::Method,
    SiteKind::StaticMethod,
    SiteKind::Wait,
    SiteKind::Notify,
    SiteKind::NotifyAll,
    SiteKind::Mark,
    SiteKind::Make,
];

/// A position in the code that has a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// What is done there.
    pub kind: SiteKind,
    /// The number of its method in the class.
    pub method: usize,
    /// The position in the method's code before weaving.
    pub at: u16,
    /// The line; 0: not known.
    pub line: u16,
    /// Class, name and type: of the field that is accessed, or in which the object that is made is put at once; of the
    /// method that is called on a `VarHandle` or a super class.
    pub field: Option<[Vec<u8>; 3]>,
}

/// What others need to know of a class, besides its sites.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassInfo {
    /// Its name, as `java/lang/Object`.
    pub name: Vec<u8>,
    /// The name of its super class.
    pub parent: Option<Vec<u8>>,
    /// The file that it was compiled from.
    pub source: Option<Vec<u8>>,
    /// Its own fields: name, type, flags ([`access`](crate::class::access)).
    pub fields: Vec<(Vec<u8>, Vec<u8>, u16)>,
    /// Its methods: name, type.
    pub methods: Vec<(Vec<u8>, Vec<u8>)>,
}

impl ClassInfo {
    pub(crate) fn of(class: &Class) -> Result<ClassInfo> {
        let text = |number: u16| class.constants.text(number).map(<[u8]>::to_vec);
        let fields = class.fields.iter().map(|field| Ok((text(field.name)?, text(field.descriptor)?, field.access)));
        let methods = class.methods.iter().map(|method| Ok((text(method.name)?, text(method.descriptor)?)));
        Ok(ClassInfo {
            name: class.name()?.to_vec(),
            parent: class.parent_name()?.map(<[u8]>::to_vec),
            source: class.source()?.map(<[u8]>::to_vec),
            fields: fields.collect::<Result<_>>()?,
            methods: methods.collect::<Result<_>>()?,
        })
    }
}

/// A class after weaving.
#[derive(Clone, Debug, Default)]
pub struct Woven {
    /// What is known of the class, as it was before.
    pub info: ClassInfo,
    /// The new class file. None: nothing was woven in.
    pub file: Option<Vec<u8>>,
    /// Its sites. Their numbers follow the one that was given.
    pub sites: Vec<Site>,
    /// Methods (by their numbers) whose accesses are not watched, and why.
    pub skipped: Vec<(usize, String)>,
}

/// What is known of the program when a class is woven.
pub trait ClassContext {
    /// The flags of a field, if its class is known. A field whose values a specification wants counts as volatile.
    fn field(&self, _class: &[u8], _name: &[u8], _descriptor: &[u8]) -> Option<u16> {
        None
    }

    /// Whether a class is watched, as far as its name says so.
    fn is_watched(&self, class: &[u8]) -> bool {
        !class.starts_with(b"[") && !JDK.iter().any(|prefix| class.starts_with(prefix.as_bytes()))
    }

    /// What a specification wants to know of a method (`package/Class.method`), and what it calls that.
    fn mark(&self, _class: &[u8], _method: &[u8]) -> Vec<(Mark, String)> {
        Vec::new()
    }

    /// What a specification wants to know of calls of methods with a name, on objects of any class.
    fn called(&self, _method: &[u8]) -> Vec<CallMark> {
        Vec::new()
    }
}

/// Nothing is known of the program.
impl ClassContext for () {}
