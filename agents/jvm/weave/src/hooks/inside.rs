//! Hooks inside classes of the JDK (`inside.table`). Only constants are added to a class, so one that is loaded
//! already can be changed, too.

use super::call::Arguments;
use super::effect::{Condition, Operand, Target};
use super::inside_table::{Inside, InsideRow};
use super::reference::Bootstraps;
use super::table::{Calls, leaves_elements};
use super::{ClassInfo, HOOKS, Method, SiteKind, Woven, code_of};
use crate::class::{Class, access as flags};
use crate::code::Code;
use crate::constants::Named;
use crate::descriptor::{Kind, of_method};
use crate::emit::Emit;
use crate::error::{Error, Result};
use crate::instruction::opcode::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;

/// How much deeper hooks can make the stack.
const DEEPER: u16 = 8;

/// How the types of methods end that make an iterator.
const RETURNS_ITERATOR: [&[u8]; 2] = [b"Ljava/util/Iterator;", b"Ljava/util/ListIterator;"];

/// Weaves hooks into a class of the JDK. `first` is the number of its first site. Also returns which rows of the
/// table were found.
pub fn weave_inside(file: &[u8], first: u32) -> Result<(Woven, Vec<usize>)> {
    let mut class = Class::read(file)?;
    let mut woven = Woven { info: ClassInfo::of(&class)?, ..Woven::default() };
    let name = class.name()?;
    let rows = Inside::all().rows.iter().enumerate().filter(|(_, row)| row.is_in(name)).collect::<Vec<_>>();
    let mut found = FxHashSet::default();
    if rows.is_empty() {
        return Ok((woven, Vec::new()));
    }
    // Nothing is added to these classes.
    let (mut added, mut shared, mut bootstraps) = (Vec::new(), FxHashMap::default(), Bootstraps::default());
    for number in 0..class.methods.len() {
        let Some(at) = code_of(&class.constants, &class.methods[number])? else { continue };
        let Cow::Borrowed(content) = class.methods[number].attributes[at].content else { continue };
        let sites = woven.sites.len();
        let mut method = Method {
            class: &mut class,
            number,
            first,
            context: &(),
            sites: &mut woven.sites,
            is_adopted: false,
            added: &mut added,
            first_added: 0,
            shared: &mut shared,
            bootstraps: &mut bootstraps,
            is_large: false,
        };
        match method.weave_rows(content, &rows, &mut found) {
            Ok(Some(content)) => class.methods[number].attributes[at].content = content.into(),
            Ok(None) => {}
            Err(error @ (Error::TooLarge | Error::TooFar { .. } | Error::Many { .. })) => {
                woven.sites.truncate(sites);
                woven.skipped.push((number, error.to_string()));
            }
            Err(error) => return Err(error),
        }
    }
    if !woven.sites.is_empty() {
        woven.file = Some(class.write()?);
    }
    let mut found: Vec<usize> = found.into_iter().collect();
    found.sort_unstable();
    Ok((woven, found))
}

impl<'a> Method<'_, 'a> {
    fn weave_rows(
        &mut self,
        content: &'a [u8],
        rows: &[(usize, &InsideRow)],
        found: &mut FxHashSet<usize>,
    ) -> Result<Option<Vec<u8>>> {
        let mut code = Code::read(content)?;
        let lines = code.lines(&self.class.constants)?;
        let method = &self.class.methods[self.number];
        let access = method.access;
        let [name, descriptor] = [method.name, method.descriptor].map(|text| self.class.constants.text(text));
        let (name, descriptor) = (name?, descriptor?);
        for &(number, row) in rows {
            let is_found = if row.member.is_empty() {
                // What is done under the monitor is not watched.
                let unseen = self.unseen_hook()?;
                let guarded = self.guarded(name, descriptor, &lines)?;
                for index in 0..code.instructions.len() {
                    self.monitor(&mut code, index, &lines)?;
                    if code.instructions[index].opcode == MONITORENTER {
                        if guarded.is_empty() || !is_all_known(self.class.name()?, name) {
                            code.edits[index].after.extend_from_slice(&unseen);
                        }
                        code.edits[index].after.extend_from_slice(&guarded);
                    }
                }
                // Iterators are made without the lock.
                if !code.is_changed() && RETURNS_ITERATOR.iter().any(|end| descriptor.ends_with(end)) {
                    code.entry.extend(guarded);
                }
                if access & flags::SYNCHRONIZED != 0 {
                    let mut hooks = self.synchronized(access & flags::STATIC != 0, &lines)?;
                    hooks.entry.extend(unseen);
                    self.enclose(&mut code, &[hooks])?;
                }
                code.is_changed()
            } else if row.used().is_some() {
                self.used(&mut code, row, access & flags::STATIC != 0, &lines)?
            } else if row.member.as_bytes() == name && row.descriptor.as_bytes() == descriptor {
                self.own(&mut code, row, access & flags::STATIC != 0, &lines)?
            } else {
                false
            };
            if is_found {
                found.insert(number);
            }
        }
        if !code.is_changed() {
            return Ok(None);
        }
        code.max_stack = code.max_stack.saturating_add(DEEPER);
        code.write(&mut self.class.constants).map(Some)
    }

    /// The hook of a method of `Collections.synchronized…` that accesses the collection inside, by the rows of
    /// collections that do not synchronise. Empty: the method does not.
    fn guarded(&mut self, name: &[u8], descriptor: &[u8], lines: &[(u16, u16)]) -> Result<Vec<u8>> {
        let Some(number) = Calls::all().plain(name, descriptor).filter(|_| self.class.name().is_ok_and(is_guarded))
        else {
            return Ok(Vec::new());
        };
        let call = &Calls::all().calls[number];
        let (arguments, _) = of_method(descriptor)?;
        let arguments = Arguments::new(&arguments, false).all;
        let of = |number: Option<u8>| number.map(|number| arguments[usize::from(number) - 1]);
        let argument = of(call.argument()).filter(|(kind, _)| *kind == Kind::Object);
        let index = of(call.value()).filter(|(kind, _)| *kind == Kind::Int);
        let site = self.site(SiteKind::Call(number as u16), 0, lines, None)?;
        let emit = Emit::new(&mut self.class.constants).op(&[ALOAD_0]);
        let emit = match argument {
            Some((_, at)) => emit.local(ALOAD, at),
            None => emit.op(&[ACONST_NULL]),
        };
        let emit = match index {
            Some((_, at)) => emit.local(ILOAD, at),
            None => emit.op(&[ICONST_M1]),
        };
        let descriptor = b"(Ljava/lang/Object;Ljava/lang/Object;II)V";
        Ok(emit.int(site)?.call(HOOKS.as_bytes(), b"guarded", descriptor)?.done())
    }

    /// Weaves the hooks of a row's own method: first of all, and before it returns. Returns false if it lacks a field
    /// that the row names: newer releases than the table may have renamed it.
    fn own(&mut self, code: &mut Code, row: &InsideRow, is_static: bool, lines: &[(u16, u16)]) -> Result<bool> {
        let mut fields = FxHashMap::default();
        for &number in row.before.iter().chain(&row.after) {
            if let Target::Field(name, _) = Inside::all().effects[usize::from(number)].target {
                let Some(field) = self.own_field(name)? else { return Ok(false) };
                fields.insert(number, field);
            }
        }
        let (arguments, result) = of_method(row.descriptor.as_bytes())?;
        let local = |number: u8| {
            let before = &arguments[..usize::from(number) - 1];
            u16::from(!is_static) + before.iter().map(|argument| Kind::of(argument).size()).sum::<u16>()
        };
        for &number in &row.before {
            let effect = &Inside::all().effects[usize::from(number)];
            let site = self.site(SiteKind::Inside(number), 0, lines, None)?;
            let emit = Emit::new(&mut self.class.constants);
            let emit = match effect.target {
                Target::Object(Operand::Argument(number)) => emit.local(ALOAD, local(number)),
                Target::Field(..) => emit.op(&[ALOAD_0]).with(GETFIELD, fields[&number]),
                Target::All => emit.op(&[ACONST_NULL]),
                _ => emit.op(&[ALOAD_0]),
            };
            code.entry.extend(hook(emit, site, "")?);
        }
        for index in 0..code.instructions.len() {
            let instruction = code.instructions[index];
            if !matches!(instruction.opcode, IRETURN..=RETURN) {
                continue;
            }
            for &number in &row.after {
                let effect = &Inside::all().effects[usize::from(number)];
                let site = self.site(SiteKind::Inside(number), instruction.at, lines, None)?;
                let emit = Emit::new(&mut self.class.constants);
                let hook_code = match effect.target {
                    // The hook also gets the object that this one becomes a view of.
                    Target::Object(Operand::Argument(number)) if effect.is_view() => {
                        hook(emit.op(&[ALOAD_0]).local(ALOAD, local(number)), site, "Ljava/lang/Object;")?
                    }
                    Target::Object(Operand::Argument(number)) => hook(emit.local(ALOAD, local(number)), site, "")?,
                    Target::Object(Operand::Result) if effect.is_view() => {
                        hook(emit.op(&[DUP, ALOAD_0]), site, "Ljava/lang/Object;")?
                    }
                    Target::Object(Operand::Result) | Target::Each(Operand::Result) => hook(emit.op(&[DUP]), site, "")?,
                    Target::Field(..) if effect.condition == Condition::Always => {
                        hook(emit.op(&[ALOAD_0]).with(GETFIELD, fields[&number]), site, "")?
                    }
                    Target::Field(..) => {
                        let emit = emit.op(&[DUP, ALOAD_0]).with(GETFIELD, fields[&number]).op(&[SWAP]);
                        value_hook(emit, site, Kind::of(result))?
                    }
                    Target::All if effect.condition == Condition::Always => hook(emit.op(&[ACONST_NULL]), site, "")?,
                    Target::All => value_hook(emit.op(&[DUP, ACONST_NULL, SWAP]), site, Kind::of(result))?,
                    Target::Thread => {
                        let of = b"()Ljava/lang/Thread;";
                        hook(emit.call(b"java/lang/Thread", b"currentThread", of)?, site, "")?
                    }
                    _ if effect.condition == Condition::Always => hook(emit.op(&[ALOAD_0]), site, "")?,
                    _ => value_hook(emit.op(&[DUP, ALOAD_0, SWAP]), site, Kind::of(result))?,
                };
                code.edits[index].before.extend(hook_code);
            }
        }
        Ok(true)
    }

    /// The constant of a field of the class.
    fn own_field(&mut self, name: &'static str) -> Result<Option<u16>> {
        let class = self.class.name()?;
        for at in 0..self.class.fields.len() {
            let field = &self.class.fields[at];
            if self.class.constants.text(field.name)? == name.as_bytes() {
                let descriptor = self.class.constants.text(field.descriptor)?;
                return self.class.constants.add_field(Named { class, name: name.as_bytes(), descriptor }).map(Some);
            }
        }
        Ok(None)
    }

    /// Weaves the hooks around uses of a member. Returns whether the method uses it.
    fn used(&mut self, code: &mut Code, row: &InsideRow, is_static: bool, lines: &[(u16, u16)]) -> Result<bool> {
        let mut is_found = false;
        for index in 0..code.instructions.len() {
            let instruction = code.instructions[index];
            let is_call = matches!(instruction.opcode, INVOKEVIRTUAL | INVOKESPECIAL | INVOKEINTERFACE);
            if !is_call && !matches!(instruction.opcode, GETFIELD | PUTFIELD) {
                continue;
            }
            let named = self.class.constants.named(instruction.short(code.bytes)?)?;
            if Some((named.class, named.name)) != row.used() || named.descriptor != row.descriptor.as_bytes() {
                continue;
            }
            let all = Inside::all();
            let is_this = row
                .before
                .iter()
                .chain(&row.after)
                .any(|&effect| all.effects[usize::from(effect)].target == Target::This);
            if is_this && is_static {
                continue;
            }
            is_found = true;
            // For fields, what is before is for writes, and what is after is for reads.
            let before = if instruction.opcode == GETFIELD { &[][..] } else { &row.before };
            let after = if instruction.opcode == PUTFIELD { &[][..] } else { &row.after };
            let result = if is_call { of_method(named.descriptor)?.1 } else { named.descriptor };
            for &number in before {
                let site = self.site(SiteKind::Inside(number), instruction.at, lines, None)?;
                let (copy, value): (&[u8], _) = match instruction.opcode {
                    _ if is_this => (&[ALOAD_0], ""),
                    // The hook also gets the object that this one becomes a view of.
                    PUTFIELD if all.effects[usize::from(number)].is_view() => (&[DUP2], "Ljava/lang/Object;"),
                    PUTFIELD => (&[DUP2, POP], ""),
                    // The receiver is below the argument.
                    _ if all.effects[usize::from(number)].target == Target::Receiver && has_one(named.descriptor)? => {
                        (&[DUP2, POP], "")
                    }
                    _ => (&[DUP], ""),
                };
                let emit = Emit::new(&mut self.class.constants).op(copy);
                code.edits[index].before.extend(hook(emit, site, value)?);
            }
            for &number in after {
                let site = self.site(SiteKind::Inside(number), instruction.at, lines, None)?;
                let emit = Emit::new(&mut self.class.constants);
                let is_result = all.effects[usize::from(number)].target == Target::Object(Operand::Result);
                let hook_code = if is_this {
                    hook(emit.op(&[ALOAD_0]), site, "")?
                } else if is_result {
                    hook(emit.op(&[DUP]), site, "")?
                } else if all.effects[usize::from(number)].condition != Condition::Always {
                    value_hook(emit.op(&[DUP_X1]), site, Kind::of(result))?
                } else {
                    hook(emit.op(if result == b"V" { &[] } else { &[SWAP] }), site, "")?
                };
                if !is_this && !is_result {
                    // A copy for the hook after the instruction.
                    code.edits[index].before.push(DUP);
                }
                code.edits[index].after.extend(hook_code);
            }
        }
        Ok(is_found)
    }
}

/// Whether a class passes calls on to a collection inside, under a lock.
fn is_guarded(class: &[u8]) -> bool {
    class.starts_with(b"java/util/Collections$Synchronized")
}

/// Whether the rows of a method say all that it accesses in a collection inside.
fn is_all_known(class: &[u8], method: &[u8]) -> bool {
    leaves_elements(method) || class.ends_with(b"Map")
}

/// Whether a method has one argument that takes one slot of the stack.
pub(super) fn has_one(descriptor: &[u8]) -> Result<bool> {
    let (arguments, _) = of_method(descriptor)?;
    Ok(arguments.len() == 1 && Kind::of(arguments[0]).size() == 1)
}

fn hook(emit: Emit, site: i32, value: &str) -> Result<Vec<u8>> {
    let descriptor = format!("(Ljava/lang/Object;{value}I)V");
    Ok(emit.int(site)?.call(HOOKS.as_bytes(), b"inside", descriptor.as_bytes())?.done())
}

/// A hook with the value for its condition, which is on top of the stack.
fn value_hook(emit: Emit, site: i32, kind: Kind) -> Result<Vec<u8>> {
    if kind == Kind::Object { hook(emit, site, "Ljava/lang/Object;") } else { hook(emit.op(&[I2L]), site, "J") }
}
