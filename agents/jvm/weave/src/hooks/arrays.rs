//! Hooks of calls that access elements of arrays, or all of a collection, inside the JDK: `System.arraycopy`,
//! `java.util.Arrays`, `clone` of an array, and constructors that copy a collection.
//!
//! A static call becomes one of a bridge method, which has the arrays in local variables and calls the hooks before it
//! makes the call. For the others, what is read is on top of the stack.

use super::call::Arguments;
use super::{HOOKS, Method, SiteKind};
use crate::bytes::{put_u2, put_u4};
use crate::class::access;
use crate::code::Code;
use crate::constants::Named;
use crate::descriptor::{Kind, of_method};
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::*;

/// The first version of class files in which interfaces can have static methods.
const INTERFACE_METHODS: u16 = 52;
/// How elements are accessed, for the hook: they are written; a range may go beyond the array's end.
const WRITE: i32 = 1;
const CLIPS: i32 = 2;
/// The end is the result of the call: all are accessed if it is 0, or those up to it (all if it is negative).
const IF_ZERO: i32 = 4;
const UP_TO: i32 = 8;
/// What the hook has on the stack, above a result: an array, two positions and what is added to one, how, the site.
const DEEPEST: u16 = 7;

/// Elements that a call accesses: the number of the array among the arguments, where they begin and end, and whether
/// they are written.
#[derive(Clone, Copy)]
struct Elements {
    array: usize,
    range: Range,
    is_write: bool,
}

/// Which elements.
#[derive(Clone, Copy)]
enum Range {
    All,
    /// Between two arguments.
    Between(usize, usize),
    /// From one argument on, as many as another says.
    Count(usize, usize),
    /// Those of the array that are before an argument, or between two.
    Before(usize),
    Within(usize, usize),
    /// All, if the call returns true.
    IfTrue,
    /// All, if the call returns 0.
    IfZero,
    /// Up to the one whose index the call returns; all if that is negative.
    UpToResult,
    /// The one in the middle, with which a search begins.
    Middle,
}

/// What a static method accesses.
fn elements(called: Named) -> Vec<Elements> {
    let Ok((arguments, _)) = of_method(called.descriptor) else { return Vec::new() };
    let one = |array, range, is_write| Elements { array, range, is_write };
    match (called.class, called.name) {
        (b"java/lang/System", b"arraycopy") => {
            vec![one(0, Range::Count(1, 4), false), one(2, Range::Count(3, 4), true)]
        }
        (b"java/util/Arrays", name) => {
            let is_write = match name {
                b"fill" | b"sort" | b"parallelSort" | b"setAll" | b"parallelSetAll" | b"parallelPrefix" => true,
                b"hashCode" | b"deepHashCode" | b"toString" | b"deepToString" => false,
                b"copyOf" => return vec![one(0, Range::Before(1), false)],
                b"copyOfRange" => return vec![one(0, Range::Within(1, 2), false)],
                // Otherwise it is not known which elements were compared.
                b"equals" | b"deepEquals" if arguments.len() == 2 => {
                    return [0, 1].map(|array| one(array, Range::IfTrue, false)).into();
                }
                b"compare" if arguments.len() == 2 => {
                    return [0, 1].map(|array| one(array, Range::IfZero, false)).into();
                }
                b"mismatch" if arguments.len() == 2 => {
                    return [0, 1].map(|array| one(array, Range::UpToResult, false)).into();
                }
                // Which elements are read then depends on the first one.
                b"binarySearch" if arguments.len() == 2 => return vec![one(0, Range::Middle, false)],
                _ => return Vec::new(),
            };
            let is_array = |at: usize| arguments.get(at).is_some_and(|of| of.starts_with(b"["));
            let is_int = |at: usize| arguments.get(at).is_some_and(|of| *of == b"I");
            // An int array may be filled with an int, which is no position.
            let has_range = |at: usize| is_int(at + 1) && is_int(at + 2);
            let range = if has_range(0) { Range::Between(1, 2) } else { Range::All };
            if is_array(0) { vec![one(0, range, is_write)] } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// Whether a constructor copies the collection that is its only argument.
fn copies(called: Named) -> bool {
    const OF: [&str; 8] = ["Collection", "Map", "List", "Set", "SortedMap", "SortedSet", "PriorityQueue", "EnumMap"];
    let of = called.descriptor.strip_prefix(b"(Ljava/util/").and_then(|rest| rest.strip_suffix(b";)V"));
    called.name == b"<init>"
        && called.class.starts_with(b"java/util/")
        && of.is_some_and(|of| OF.iter().any(|name| name.as_bytes() == of))
}

impl<'a> Method<'_, 'a> {
    /// Weaves the hooks of an instruction, if it is such a call.
    pub(super) fn array_call(&mut self, code: &mut Code<'a>, index: usize, lines: &[(u16, u16)]) -> Result<()> {
        let instruction = code.instructions[index];
        if self.is_large || code.edits[index].instead.is_some() {
            return Ok(());
        }
        let is_call = matches!(instruction.opcode, INVOKESTATIC | INVOKEVIRTUAL | INVOKESPECIAL);
        if !is_call {
            return Ok(());
        }
        let constant = instruction.short(code.bytes)?;
        let called = self.class.constants.named(constant)?;
        match instruction.opcode {
            INVOKESTATIC => {
                let all = elements(called);
                let is_old = self.class.access & access::INTERFACE != 0 && self.class.major < INTERFACE_METHODS;
                if all.is_empty() || is_old {
                    return Ok(());
                }
                let site = self.site(SiteKind::Element, instruction.at, lines, None)?;
                let content = self.array_bridge(&all, called, constant, site)?;
                let name = self.added_name("").into_bytes();
                self.add_method(&name, called.descriptor, content)?;
                let method = self.own_method(&name, called.descriptor)?;
                let call = Emit::new(&mut self.class.constants).with(INVOKESTATIC, method);
                code.edits[index].instead = Some(call.done());
            }
            INVOKEVIRTUAL if called.class.starts_with(b"[") && called.name == b"clone" => {
                let site = self.site(SiteKind::Element, instruction.at, lines, None)?;
                let emit = Emit::new(&mut self.class.constants).op(&[DUP]).int(0)?.int(-1)?.int(0)?.int(site)?;
                let hook = emit.call(HOOKS.as_bytes(), b"elements", b"(Ljava/lang/Object;IIII)V")?.done();
                code.edits[index].before.extend(hook);
            }
            INVOKESPECIAL if copies(called) => {
                let site = self.site(SiteKind::Element, instruction.at, lines, None)?;
                let emit = Emit::new(&mut self.class.constants).op(&[DUP]).int(site)?;
                let hook = emit.call(HOOKS.as_bytes(), b"copied", b"(Ljava/lang/Object;I)V")?.done();
                code.edits[index].before.extend(hook);
            }
            _ => {}
        }
        Ok(())
    }

    /// The code of the bridge method.
    fn array_bridge(&mut self, all: &[Elements], called: Named, constant: u16, site: i32) -> Result<Vec<u8>> {
        let (arguments, result) = of_method(called.descriptor)?;
        let arguments = Arguments::new(&arguments, true);
        let mut emit = Emit::new(&mut self.class.constants);
        let at = |number: usize| arguments.all[number].1;
        let (later, before): (Vec<Elements>, Vec<Elements>) =
            all.iter().partition(|one| matches!(one.range, Range::IfTrue | Range::IfZero | Range::UpToResult));
        for Elements { array, range, is_write } in before {
            emit = emit.local(ALOAD, at(array));
            emit = match range {
                Range::All | Range::IfTrue | Range::IfZero | Range::UpToResult => emit.int(0)?.int(-1)?,
                // Where it begins, the hook finds itself.
                Range::Middle => emit.int(-1)?.int(-1)?,
                Range::Between(from, to) | Range::Within(from, to) => emit.local(ILOAD, at(from)).local(ILOAD, at(to)),
                Range::Before(to) => emit.int(0)?.local(ILOAD, at(to)),
                Range::Count(from, count) => {
                    emit.local(ILOAD, at(from)).local(ILOAD, at(from)).local(ILOAD, at(count)).op(&[IADD])
                }
            };
            let clips = matches!(range, Range::Before(_) | Range::Within(..));
            let how = if is_write { WRITE } else { 0 } | if clips { CLIPS } else { 0 };
            emit = emit.int(how)?.int(site)?;
            emit = emit.call(HOOKS.as_bytes(), b"elements", b"(Ljava/lang/Object;IIII)V")?;
        }
        for &(kind, at) in &arguments.all {
            emit = emit.local(ILOAD + kind.further(), at);
        }
        let kind = (result != b"V").then(|| Kind::of(result));
        emit = emit.with(INVOKESTATIC, constant);
        if !later.is_empty() {
            emit = emit.op(&[DUP]).local(ISTORE, arguments.size);
        }
        for Elements { array, range, .. } in later {
            emit = emit.local(ALOAD, at(array)).int(0)?.local(ILOAD, arguments.size);
            emit = match range {
                // To 0, or to a number below 0 or beyond the end: all of them or none, as the hook decides.
                Range::IfZero => emit.int(IF_ZERO)?,
                Range::UpToResult => emit.int(UP_TO)?,
                // To -1 for true: all of them; to 0 for false: none.
                _ => emit.op(&[INEG]).int(0)?,
            };
            emit = emit.int(site)?;
            emit = emit.call(HOOKS.as_bytes(), b"elements", b"(Ljava/lang/Object;IIII)V")?;
        }
        let code = emit.op(&[kind.map_or(RETURN, |kind| IRETURN + kind.further())]).done();
        let mut content = Vec::new();
        [arguments.size + DEEPEST, arguments.size + 1].into_iter().for_each(|value| put_u2(&mut content, value));
        put_u4(&mut content, code.len() as u32);
        content.extend_from_slice(&code);
        // No handlers, no attributes.
        put_u4(&mut content, 0);
        Ok(content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(class: &'static str, name: &'static str, descriptor: &'static str) -> String {
        let called = Named { class: class.as_bytes(), name: name.as_bytes(), descriptor: descriptor.as_bytes() };
        let one = |Elements { array, range, is_write }: &Elements| {
            let range = match range {
                Range::All => String::new(),
                Range::Between(from, to) => format!("[{from}..{to}]"),
                Range::Count(from, count) => format!("[{from}+{count}]"),
                Range::Before(to) => format!("[..{to}]?"),
                Range::Within(from, to) => format!("[{from}..{to}]?"),
                Range::IfTrue => " if".to_owned(),
                Range::IfZero => " if 0".to_owned(),
                Range::UpToResult => "[..=]".to_owned(),
                Range::Middle => "[/2]".to_owned(),
            };
            format!("{}{array}{range}", if *is_write { "w" } else { "r" })
        };
        elements(called).iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_calls_access() {
        let copy = of("java/lang/System", "arraycopy", "(Ljava/lang/Object;ILjava/lang/Object;II)V");
        assert_eq!(copy, "r0[1+4] w2[3+4]");
        let arrays = |name, descriptor| of("java/util/Arrays", name, descriptor);
        assert_eq!(arrays("fill", "([II)V"), "w0");
        assert_eq!(arrays("fill", "([IIII)V"), "w0[1..2]");
        assert_eq!(arrays("sort", "([Ljava/lang/Object;IILjava/util/Comparator;)V"), "w0[1..2]");
        assert_eq!(arrays("equals", "([III[III)Z"), "");
        assert_eq!(arrays("equals", "([I[I)Z"), "r0 if r1 if");
        assert_eq!(arrays("compare", "([I[I)I"), "r0 if 0 r1 if 0");
        assert_eq!(arrays("mismatch", "([I[I)I"), "r0[..=] r1[..=]");
        assert_eq!(arrays("binarySearch", "([JJ)I"), "r0[/2]");
        assert_eq!(arrays("copyOf", "([JI)[J"), "r0[..1]?");
        assert_eq!(arrays("copyOfRange", "([JII)[J"), "r0[1..2]?");
        assert_eq!(arrays("toString", "([J)Ljava/lang/String;"), "r0");
        assert_eq!(arrays("asList", "([Ljava/lang/Object;)Ljava/util/List;"), "");
        let copies = |class: &str, descriptor: &str| {
            copies(Named { class: class.as_bytes(), name: b"<init>", descriptor: descriptor.as_bytes() })
        };
        assert!(copies("java/util/ArrayList", "(Ljava/util/Collection;)V"));
        assert!(copies("java/util/concurrent/ConcurrentHashMap", "(Ljava/util/Map;)V"));
        assert!(!copies("java/util/TreeSet", "(Ljava/util/Comparator;)V") && !copies("java/util/ArrayList", "(I)V"));
    }
}
