//! What is woven into the classes under watch: calls of the static methods of one class, which gets the object, the value and the number of the site.
//!
//! | code | hook | when |
//! | --- | --- | --- |
//! | `getfield`, `getstatic` | `read(o, v, site)`, `read(v, site)` | after it |
//! | `putfield`, `putstatic` | `write(o, v, site)`, `write(v, site)` | before it |
//! | the same, if the field may be volatile | `reading(o, site)`, `reading(site)`; `wrote(site)` | before a read; after a write |
//! | `iaload` and the like | `element(a, i, site)` | after it |
//! | `iastore` and the like | `store(a, i, site)` | before it |
//! | `monitorenter` | `entered(o, site)` | after it, where a handler gives the monitor back |
//! | `monitorexit` | `leaving(o, site)` | before it, still in the monitor |
//! | a synchronized method | `enteredMethod(o, site)`, `leavingMethod(site)` (static: of the class) | first of all; before each return, and when an exception leaves it |
//! | `wait`, `notify`, `notifyAll` | the same names `(o, …, site)` | instead of it |
//! | `<clinit>` | `initialising()`, `initialised()` | first of all; where it is left |
//! | a constructor, of an object of a class under watch or a lock that is made there | `made(o, site)` | after it |
//! | `super.clone()` | `cloned(o)` | after it |
//! | calls of `foretrace.Monitor` | `internal(name, value, site)`, `begin(name, site)`, `end(name, site)` | instead of it |
//! | a method that a specification names ([`Mark`]) | `begin(name, site)` and `end(name, site)`, or `event(name, site)` | first of all, where it is left |
//! | a call of code that is not watched, if it may share state with others (`pure.table`) | `unseen()` | before it |
//! | `start` of a thread ([`thread()`]) | `starting(o)` | first of all |
//! | a call of `concurrent.table` ([`Calls`]) | `before(o, site)`; `after(o, site)` or `after(result, o, site)` | before it; after it, and for rows with `&!` also `after(o, site)` when it throws |
//! | the same, if rows speak of arguments | `before(o, argument, index, value, site)`; `after(result, o, argument, index, value, site)` | before it; after it |
//! | the same, if it is an atomic access with a function, or of an entry of a collection | `threw(o)` | when it throws |
//! | a method reference to such a call (`latch::countDown`) | the same | when it is called |
//! | the return of a constructor, in classes with `finalize` | `inside(o, site)` | before it |
//! | what `inside.table` ([`Inside`]) names, in classes of the JDK | `inside(o, site)`; if it depends on a value `inside(o, value, site)` | as the table says |
//!
//! Of calls: `before` is called if any row of the call tells something before it, `after` if any does after it; which row it is, the hook finds by the class of `o`. `o` is the receiver, null
//! for static methods. `result` and `value` are objects or longs: smaller numbers are made long, of real ones it is the bits; there are hooks for each. `argument` is the one that
//! rows speak of, or null; `index` it is if it is an int, or else -1; `value` is the argument whose value they speak of, or 0L. Where there is no result, the long form has 0L.
//! Of `VarHandle`s `argument` and `index` are the object (null: a static field) and the index that come first; the site has class, name and type of the call.
//!
//! Of `inside`: one call tells one thing ([`Inside::told`]), of `o`; nothing if `o` is null. There are hooks for values that are objects, and that are longs (ints are made long).

mod access;
mod allocation;
mod call;
mod cells;
mod effect;
mod finalizer;
mod inside;
mod mark;
mod monitor;
mod parent;
mod reference;
mod table;
mod thread;
mod unwatched;

pub(crate) use cells::CELL_ACCESS;
pub use cells::{CELL, CELL_WORDS, has_cell};
pub use effect::{Condition, EFFECT_KINDS, Effect, ORDERS, Operand, Target, Value};
pub use inside::{Inside, InsideRow, weave_inside};
pub use mark::Mark;
pub use table::{Call, Calls, PLAIN, Row};
pub use thread::{THREAD_STATE, thread};

use crate::class::{Class, Member, access as flags};
use crate::code::Code;
use crate::constants::Constants;
use crate::error::{Error, Result};
use crate::instruction::opcode::{ATHROW, IRETURN, RETURN};
use reference::Bootstraps;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// The class of the hooks.
pub const HOOKS: &str = "foretrace/agent/Hooks";
/// The class that the objects of classes under watch descend from, instead of `Object`: it knows who they are.
pub const WATCHED: &str = "foretrace/agent/Watched";
/// How the names of methods begin that are added to classes, and what those of references have behind that.
pub const ADDED: &str = "foretrace$";
const REFERENCE: &str = "to";
/// The deepest that what is woven in makes the stack.
const DEEPER: u16 = 8;

/// How the names of the JDK's classes begin.
const JDK: [&str; 5] = ["java/", "javax/", "jdk/", "sun/", "com/sun/"];

/// From which version on classes can be constants.
const CLASS_CONSTANTS: u16 = 49;

/// What a site does.
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
    /// Takes a monitor.
    Enter,
    /// Gives it back.
    Leave,
    /// Takes and gives back the monitor of a synchronized method.
    Method,
    /// The same of a static one.
    StaticMethod,
    /// Waits.
    Wait,
    /// Notifies one.
    Notify,
    /// Notifies all.
    NotifyAll,
    /// Enters or leaves a block, or is an event.
    Mark,
    /// Makes an object.
    Make,
    /// Calls something that synchronises, of this number in [`Calls`].
    Call(u16),
    /// Something inside the JDK that synchronises, of this number in [`Inside`].
    Inside(u16),
}

impl SiteKind {
    /// As two numbers, for files.
    pub(crate) fn code(self) -> (u8, u16) {
        match self {
            SiteKind::Call(number) => (CALL, number),
            SiteKind::Inside(number) => (INSIDE, number),
            _ => (PLAIN_KINDS.iter().position(|&plain| plain == self).expect("all others are plain") as u8, 0),
        }
    }

    /// What two numbers mean.
    pub(crate) fn decode(code: u8, number: u16) -> Option<SiteKind> {
        match code {
            CALL => Some(SiteKind::Call(number)),
            INSIDE => Some(SiteKind::Inside(number)),
            _ => PLAIN_KINDS.get(usize::from(code)).copied(),
        }
    }
}

/// Codes of what has a number.
const CALL: u8 = 0xfe;
const INSIDE: u8 = 0xff;
/// What has none, by its code.
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

/// Where something is done that has a hook.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    /// What.
    pub kind: SiteKind,
    /// In which method of the class, by its number there.
    pub method: usize,
    /// Where in its code, as it was.
    pub at: u16,
    /// In which line; 0: not known.
    pub line: u16,
    /// The field that is accessed, or the method that is called of a `VarHandle` or of the class above, as its class, its name and its type.
    pub field: Option<[Vec<u8>; 3]>,
}

/// What is to be known of a class, its sites apart.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassInfo {
    /// Its name, as `java/lang/Object`.
    pub name: Vec<u8>,
    /// Its super class's.
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

/// What came of weaving a class.
#[derive(Clone, Debug, Default)]
pub struct Woven {
    /// The class as it was.
    pub info: ClassInfo,
    /// The class file. None: nothing was woven in.
    pub file: Option<Vec<u8>>,
    /// Its sites, with numbers one after the other from the one that was given.
    pub sites: Vec<Site>,
    /// Methods (by their numbers) whose accesses are not watched, and why.
    pub skipped: Vec<(usize, String)>,
}

/// What is known of the program around a class.
pub trait ClassContext {
    /// The flags of a field, if its class is known. Whose values are wanted is volatile here, whatever it is.
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
}

/// Nothing is.
impl ClassContext for () {}

/// Weaves hooks into a class, gives its fields cells ([`CELL`]), and makes it a descendant of [`WATCHED`] if it was one of `Object` only. `first`: the number of its first site.
pub fn weave(file: &[u8], first: u32, context: &dyn ClassContext) -> Result<Woven> {
    let mut class = Class::read(file)?;
    let mut woven = Woven { info: ClassInfo::of(&class)?, ..Woven::default() };
    let mut changed = class.adopt()?;
    let is_adopted = changed;
    let (mut added, mut shared) = (Vec::new(), FxHashMap::default());
    let first_added = first_added(&class)?;
    let mut bootstraps = Bootstraps::of(&class)?;
    for number in 0..class.methods.len() {
        let Some(at) = code_of(&class.constants, &class.methods[number])? else { continue };
        // Nothing has changed it yet.
        let Cow::Borrowed(content) = class.methods[number].attributes[at].content else { continue };
        let was = (woven.sites.len(), added.len(), bootstraps.len());
        let mut method = Method {
            class: &mut class,
            number,
            first,
            context,
            sites: &mut woven.sites,
            is_adopted,
            added: &mut added,
            first_added,
            shared: &mut shared,
            bootstraps: &mut bootstraps,
            is_large: false,
        };
        match method.weave(content) {
            Ok(Some(content)) => {
                class.methods[number].attributes[at].content = content.into();
                changed = true;
            }
            Ok(None) => {}
            Err(error @ (Error::TooLarge | Error::TooFar { .. } | Error::Many { .. })) => {
                method.forget_after(was);
                // What orders threads is smaller, and without it there would be races that are none.
                method.is_large = true;
                let result = match method.weave(content) {
                    Err(Error::TooLarge | Error::TooFar { .. } | Error::Many { .. }) => {
                        method.forget_after(was);
                        method.only_adopted(content)
                    }
                    result => result,
                };
                if let Some(content) = result? {
                    class.methods[number].attributes[at].content = content.into();
                    changed = true;
                }
                woven.skipped.push((number, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    class.methods.extend(added);
    changed |= class.add_cells()?;
    bootstraps.write(&mut class)?;
    if changed {
        woven.file = Some(class.write()?);
    }
    Ok(woven)
}

/// From which number on methods that are added can be named: the class may have some already, from whatever has changed it before.
fn first_added(class: &Class) -> Result<usize> {
    let mut first = 0;
    for method in &class.methods {
        if let Some(rest) = class.constants.text(method.name)?.strip_prefix(ADDED.as_bytes()) {
            let digits = rest.strip_prefix(REFERENCE.as_bytes()).unwrap_or(rest);
            let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u32>().ok());
            first = first.max(number.map_or(0, |number| number as usize + 1));
        }
    }
    Ok(first)
}

/// Which attribute of a method its code is.
fn code_of(constants: &Constants, method: &Member) -> Result<Option<usize>> {
    for (at, attribute) in method.attributes.iter().enumerate() {
        if constants.text(attribute.name)? == b"Code" {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// A method that is being woven.
struct Method<'m, 'a> {
    class: &'m mut Class<'a>,
    number: usize,
    first: u32,
    context: &'m dyn ClassContext,
    sites: &'m mut Vec<Site>,
    /// The class has got another parent.
    is_adopted: bool,
    /// Methods that are added to the class ([`call`], [`reference`]), and the number from which on they are named.
    added: &'m mut Vec<Member<'a>>,
    first_added: usize,
    /// Those of them that several calls have between, by the numbers of what they call and whether it is that of the class above: which of the added it is, and its own number.
    shared: &'m mut FxHashMap<(u16, bool), (usize, u16)>,
    /// How dynamic calls get their target.
    bootstraps: &'m mut Bootstraps<'a>,
    /// All hooks are too many: only those of synchronisation are woven in.
    is_large: bool,
}

impl<'a> Method<'_, 'a> {
    /// The new content of its code, if anything is woven in.
    fn weave(&mut self, content: &'a [u8]) -> Result<Option<Vec<u8>>> {
        let mut code = Code::read(content)?;
        let lines = code.lines(&self.class.constants)?;
        let constructed = self.adopt(&mut code)?;
        for index in 0..code.instructions.len() {
            let is_constructed = index >= constructed;
            let is_access = !self.is_large && self.access(&mut code, index, is_constructed, &lines)?;
            if !is_access && !self.known_call(&mut code, index, &lines)? {
                self.monitor(&mut code, index, &lines)?;
                self.call_site(&mut code, index, &lines)?;
                self.reference(&mut code, index, &lines)?;
                if self.is_large {
                    self.unseen_after(&mut code, index)?;
                } else {
                    self.unseen(&mut code, index)?;
                }
            }
        }
        if !self.is_large {
            self.made(&mut code, &lines)?;
        }
        self.whole(&mut code, &lines)?;
        if self.is_large && constructed == 0 {
            code.entry.extend(self.unseen_hook()?);
        }
        if !code.is_changed() {
            return Ok(None);
        }
        code.max_stack = code.max_stack.saturating_add(DEEPER);
        code.write(&mut self.class.constants).map(Some)
    }

    /// Weaves the hooks where a method is entered and left.
    fn whole(&mut self, code: &mut Code<'a>, lines: &[(u16, u16)]) -> Result<()> {
        let method = &self.class.methods[self.number];
        let (access, name) = (method.access, self.class.constants.text(method.name)?);
        let is_static = access & flags::STATIC != 0;
        let is_synchronized = access & flags::SYNCHRONIZED != 0;
        // Before Java 5, a class could not be named as an object: what such methods order would be races.
        if is_synchronized && is_static && self.class.major < CLASS_CONSTANTS {
            return Err(Error::TooOld);
        }
        let marks = self.context.mark(self.class.name()?, name);
        let mut hooks = Vec::new();
        if name == b"<init>" {
            self.constructed(code, lines)?;
        }
        if name == b"<clinit>" {
            hooks.push(self.initialiser()?);
        }
        if is_synchronized {
            hooks.push(self.synchronized(is_static, lines)?);
        }
        // A constructor's object is none yet where it begins.
        for (mark, name) in marks.iter().filter(|_| name != b"<init>") {
            hooks.push(self.mark(*mark, name, lines)?);
        }
        self.enclose(code, &hooks)
    }

    /// Weaves hooks where a method is entered, and where it is left.
    fn enclose(&mut self, code: &mut Code<'a>, hooks: &[(Vec<u8>, Vec<u8>)]) -> Result<()> {
        if hooks.is_empty() {
            return Ok(());
        }
        code.entry = hooks.iter().flat_map(|(entry, _)| entry).copied().collect();
        let leave: Vec<u8> = hooks.iter().rev().flat_map(|(_, leave)| leave).copied().collect();
        if leave.is_empty() {
            return Ok(());
        }
        for (instruction, edit) in code.instructions.iter().zip(&mut code.edits) {
            if matches!(instruction.opcode, IRETURN..=RETURN) {
                edit.before.extend_from_slice(&leave);
            }
        }
        let throwable = self.class.constants.add_class(b"java/lang/Throwable")?;
        code.leaving = Some(([leave, vec![ATHROW]].concat(), throwable));
        Ok(())
    }

    /// The name of the next method that is added.
    fn added_name(&self, what: &str) -> String {
        format!("{ADDED}{what}{}", self.first_added + self.added.len())
    }

    /// Forgets sites, methods and dynamic calls but the first so many: what was woven in is not taken. (Constants stay.)
    fn forget_after(&mut self, (sites, added, bootstraps): (usize, usize, usize)) {
        self.sites.truncate(sites);
        self.added.truncate(added);
        self.shared.retain(|_, &mut (at, _)| at < added);
        self.bootstraps.truncate(bootstraps);
    }

    /// The number of a new site.
    fn site(&mut self, kind: SiteKind, at: usize, lines: &[(u16, u16)], field: Option<[Vec<u8>; 3]>) -> Result<i32> {
        let before = lines.partition_point(|&(begin, _)| usize::from(begin) <= at);
        let line = before.checked_sub(1).map_or(0, |last| lines[last].1);
        let number = self.first as usize + self.sites.len();
        self.sites.push(Site { kind, method: self.number, at: at as u16, line, field });
        i32::try_from(number).map_err(|_| Error::Many { of: "sites" })
    }
}
