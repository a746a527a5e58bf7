//! The hooks: calls of static methods of `foretrace.agent.Hooks` that are woven into classes.
//!
//! A hook gets the object, the value and the number of the site. In this list, `o` is the object, `v` the value, `a`
//! an array and `i` an index.
//!
//! * `getfield`, `getstatic`: `read(o, v, site)` or `read(v, site)` after it. If the field may be volatile, also
//!   `reading(o, site)` or `reading(site)` before it.
//! * `putfield`, `putstatic`: `write(o, v, site)` or `write(v, site)` before it. If the field may be volatile, also
//!   `wrote(site)` after it.
//! * `iaload` and the like: `element(a, i, site)` after it. `iastore` and the like: `store(a, i, site)` before it.
//! * `monitorenter`: `entered(o, site)` after it, inside the handler that releases the monitor.
//! * `monitorexit`: `leaving(o, site)` before it, while the monitor is still held.
//! * A synchronized method: `enteredMethod(o, site)` first of all (static: of the class); `leavingMethod(site)`
//!   before each return, and when an exception leaves it.
//! * `wait`, `notify`, `notifyAll`: the hook of that name, `(o, …, site)`, instead of it.
//! * `<clinit>`: `initialising()` first of all, `initialised()` where it is left.
//! * A constructor call that makes an object of a watched class, or a lock: `made(o, site)` after it.
//! * `super.clone()`: `cloned(o)` after it.
//! * `System.arraycopy`, calls of `Arrays`, `clone` of an array: `elements(a, from, to, how, site)` before it, for each
//!   array (`to` -1: all; `how`: 1 for a write, 2 if the range may go beyond the end).
//! * A constructor that copies a collection: `copied(o, site)` before it.
//! * Calls of `foretrace.Monitor`: `internal(name, value, site)`, `begin(name, site)`, `end(name, site)` instead of
//!   it.
//! * A method that a specification names ([`Mark`]): `begin(name, site)` and `end(name, site)` where it is entered and
//!   left. If that is an event: `argument(v, site)` for each value, and `event(name, plan, site)`, or
//!   `eventThrown(name, plan, site)` where an exception leaves it.
//! * A call that a specification names ([`CallMark`]): the same around the call.
//! * A call of code that is not watched and may share state (not in `pure.table`): `unseen()` before it.
//! * `start` of a thread ([`thread()`]): `starting(o)` first of all.
//! * A call of `concurrent.table` ([`Calls`]): `before(…)` and `after(…)` around it; see below.
//! * A method reference to such a call (`latch::countDown`): the hooks of the call, when it is called.
//! * The return of a constructor, in classes with `finalize`: `inside(o, site)` before it.
//! * What `inside.table` ([`Inside`]) names, in classes of the JDK: `inside(o, site)` or `inside(o, value, site)`, as
//!   the table says. Methods of `Collections.synchronized…` call `guarded(o, argument, index, site)` when they have
//!   the lock, or make an iterator, if the method has a row for collections that do not synchronise.
//!
//! The hooks of calls have two forms:
//!
//! * short: `before(o, site)`; `after(o, site)` or `after(result, o, site)`;
//! * long, if rows name arguments: `before(o, argument, index, value, site)`; `after(result, o, argument, index,
//!   value, site)`.
//!
//! `before` is called if any row of the call has an effect before it, or is one of collections that do not synchronise
//! (another thread's call may reach such a collection through one that does); `after` if any has one after it. Which
//! row applies, the hook finds by the class of `o`, the receiver (null for static methods). `argument` is the one that
//! rows name, or null; if it is an int, it is `index` instead, which is else -1. `value` is the argument whose value
//! rows name, or 0L. `result` and `value` are objects or longs, with a hook for each: smaller numbers are made long,
//! and of floating-point numbers the bits are passed. Without a result, the long form gets 0L. For a `VarHandle`,
//! `argument` and `index` are the first arguments, which name the variable (null: a static field), and the site has
//! class, name and type of the call.
//!
//! Calls with an atomic access get both hooks, whatever the columns say: `before` takes the lock of the variable, and
//! `after` gives it back.
//!
//! For rows with `&!`, `after(o, site)` is also called when the call throws. For atomic accesses with a function, and
//! calls on entries of a collection, that is `threw(o)`; for other calls that may wait, `threw(null)`.
//!
//! A call of `inside` has one effect ([`Inside::effects`]) on `o`, and none if `o` is null. The value is an object or
//! a long.

mod access;
mod allocation;
mod arrays;
mod call;
mod cells;
mod effect;
mod event;
mod finalizer;
mod inside;
mod inside_table;
mod mark;
mod monitor;
mod parent;
mod reference;
mod rows;
mod site;
mod table;
mod thread;
mod unwatched;

pub(crate) use cells::CELL_ACCESS;
pub use cells::{CELL, CELL_WORDS};
pub use effect::{Condition, EFFECT_KINDS, Effect, ORDERS, Operand, Target, Value};
pub use inside::weave_inside;
pub use inside_table::{Inside, InsideRow};
pub use mark::{CallMark, Mark, MarkValue, ValueSource};
pub use site::{ClassContext, ClassInfo, Site, SiteKind, Woven};
pub use table::{Call, Calls, PLAIN, Row, leaves_elements};
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
pub(crate) const HOOKS: &str = "foretrace/agent/Hooks";
/// The super class that classes get instead of `Object`: it has fields for what the agent knows of their objects.
pub const WATCHED: &str = "foretrace/agent/Watched";
/// How the names of added methods begin, and what follows in those of method references.
pub const ADDED: &str = "foretrace$";
const REFERENCE: &str = "to";
/// How much deeper hooks can make the stack.
const DEEPER: u16 = 8;

/// How the names of the JDK's classes begin.
const JDK: [&str; 5] = ["java/", "javax/", "jdk/", "sun/", "com/sun/"];

/// The first version of class files in which classes can be constants.
const CLASS_CONSTANTS: u16 = 49;

/// Weaves hooks into a class, gives its fields cells, and makes it extend [`WATCHED`] if it extended `Object`.
/// `first` is the number of its first site.
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
                // Hooks of synchronisation are fewer. Without them there would be false races.
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

/// The first number with which an added method can be named: something else may have added such methods before.
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

/// The index of a method's `Code` attribute.
fn code_of(constants: &Constants, method: &Member) -> Result<Option<usize>> {
    for (at, attribute) in method.attributes.iter().enumerate() {
        if constants.text(attribute.name)? == b"Code" {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

/// The hooks where a method is entered, where it returns (the result is on the stack), and where an exception leaves
/// it.
#[derive(Default)]
struct Enclosing {
    entry: Vec<u8>,
    leave: Vec<u8>,
    thrown: Vec<u8>,
}

impl Enclosing {
    /// However it is left, the hook is the same.
    fn both(entry: Vec<u8>, leave: Vec<u8>) -> Enclosing {
        Enclosing { entry, thrown: leave.clone(), leave }
    }
}

/// A method that is being woven.
struct Method<'m, 'a> {
    class: &'m mut Class<'a>,
    number: usize,
    first: u32,
    context: &'m dyn ClassContext,
    sites: &'m mut Vec<Site>,
    /// The class has got [`WATCHED`] as its super class.
    is_adopted: bool,
    /// Methods that are added to the class ([`call`], [`mod@reference`]), and the number of the first of them.
    added: &'m mut Vec<Member<'a>>,
    first_added: usize,
    /// Bridge methods that several calls share, by the constant of the called method and whether it is called on the
    /// super class: their index in `added`, and their own constant.
    shared: &'m mut FxHashMap<(u16, bool), (usize, u16)>,
    /// The bootstrap methods of dynamic calls.
    bootstraps: &'m mut Bootstraps<'a>,
    /// The method is too large for all hooks: only those of synchronisation are woven in.
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
            if is_access {
                self.put(&mut code, index, is_constructed, &lines)?;
            }
            if !is_access && !self.known_call(&mut code, index, &lines)? {
                self.monitor(&mut code, index, &lines)?;
                self.call_site(&mut code, index, &lines)?;
                self.reference(&mut code, index, &lines)?;
                if self.is_large {
                    self.unseen_after(&mut code, index)?;
                } else {
                    self.unseen(&mut code, index)?;
                }
                self.array_call(&mut code, index, &lines)?;
                self.event_call(&mut code, index, &lines)?;
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
        // Before Java 5, a class constant could not be loaded. Without their hooks, such methods would make false
        // races.
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
        // Where a constructor begins, its object is not initialised yet.
        for (mark, name) in marks.iter().filter(|_| name != b"<init>") {
            hooks.extend(self.mark(mark, name, lines)?);
        }
        self.enclose(code, &hooks)
    }

    /// Weaves hooks where a method is entered, and where it is left.
    fn enclose(&mut self, code: &mut Code<'a>, hooks: &[Enclosing]) -> Result<()> {
        if hooks.is_empty() {
            return Ok(());
        }
        code.entry = hooks.iter().flat_map(|hook| &hook.entry).copied().collect();
        let leave: Vec<u8> = hooks.iter().rev().flat_map(|hook| &hook.leave).copied().collect();
        if leave.is_empty() {
            return Ok(());
        }
        for (instruction, edit) in code.instructions.iter().zip(&mut code.edits) {
            if matches!(instruction.opcode, IRETURN..=RETURN) {
                edit.before.extend_from_slice(&leave);
            }
        }
        let throwable = self.class.constants.add_class(b"java/lang/Throwable")?;
        let thrown: Vec<u8> = hooks.iter().rev().flat_map(|hook| &hook.thrown).copied().collect();
        code.leaving = Some(([thrown, vec![ATHROW]].concat(), throwable));
        Ok(())
    }

    /// The name of the next method that is added.
    fn added_name(&self, what: &str) -> String {
        format!("{ADDED}{what}{}", self.first_added + self.added.len())
    }

    /// Forgets all sites, methods and bootstrap methods but the first so many, of an attempt that failed. (Constants
    /// stay.)
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
