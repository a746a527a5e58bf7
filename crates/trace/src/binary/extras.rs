//! The rarely present parts of events: values, memory orders, locks of waits, stacks, arguments.
//!
//! One byte says which parts follow; its low three bits are the kind of value. Before it a byte may say that the event
//! is inexact.

use super::actions::{Action, UNNUMBERED};
use super::bytes::{Cursor, put, put_signed};
use super::frame::Damage;
use event::{Batch, Extra, LockId, Names, Op, Order, SiteId, Space, StackId, StrId, Value, Wake};

const LOCK: u8 = 1 << 3;
const STACK: u8 = 1 << 4;
const ORDER: u8 = 1 << 5;
const WAKE: u8 = 1 << 6;
const ARGS: u8 = 1 << 7;

/// No kind of value: a byte that is just this comes before the others of an inexact event.
const INEXACT: u8 = 7;

fn kind(value: Value) -> u8 {
    match value {
        Value::Unknown => 0,
        Value::Bool(false) => 1,
        Value::Bool(true) => 2,
        Value::Int(_) => 3,
        Value::Real(_) => 4,
        Value::Str(_) => 5,
    }
}

fn put_body(out: &mut Vec<u8>, value: Value) {
    match value {
        Value::Unknown | Value::Bool(_) => {}
        Value::Int(n) => put_signed(out, n),
        Value::Real(r) => out.extend_from_slice(&r.to_bits().to_le_bytes()),
        Value::Str(id) => put(out, id.0.into()),
    }
}

/// Appends a value.
pub(super) fn put_value(out: &mut Vec<u8>, value: Value) {
    out.push(kind(value));
    put_body(out, value);
}

/// The sizes of the tables that ids must stay inside.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    strings: usize,
    locks: usize,
    stacks: usize,
}

impl Bounds {
    pub(super) fn new(names: &Names, stacks: usize) -> Self {
        Bounds { strings: names.space(Space::Str).len(), locks: names.space(Space::Lock).len(), stacks }
    }
}

fn get_body(from: &mut Cursor<'_>, kind: u8, bounds: Bounds) -> Result<Value, Damage> {
    Ok(match kind {
        0 => Value::Unknown,
        1 => Value::Bool(false),
        2 => Value::Bool(true),
        3 => Value::Int(from.get_signed()?),
        4 => Value::Real(f64::from_bits(from.u64_le()?)),
        5 => Value::Str(StrId(from.get_below(bounds.strings)?)),
        _ => return Err(Damage("there is no such kind of value")),
    })
}

/// Reads a value.
pub(super) fn get_value(from: &mut Cursor<'_>, bounds: Bounds) -> Result<Value, Damage> {
    let kind = from.byte()?;
    get_body(from, kind, bounds)
}

/// Appends the extra of an event by an action. Its stack is that of the action, unless the action has no number.
#[inline]
pub(super) fn put_extra_of(out: &mut Vec<u8>, action: Action, site: SiteId, mut extra: Extra, args: &[Value]) {
    if action.number == UNNUMBERED {
        out.push(action.op() as u8);
        put(out, site.0.into());
    } else {
        extra.stack = StackId(0);
    }
    put_extra(out, action.op(), &extra, args);
}

/// Appends the extra of an event.
pub(super) fn put_extra(out: &mut Vec<u8>, op: Op, extra: &Extra, args: &[Value]) {
    let mut parts = kind(extra.value);
    let mut part = |bit, present| parts |= if present { bit } else { 0 };
    // A wait always has its lock, lock 0 included.
    part(LOCK, op.has_lock_argument() || extra.lock != LockId(0));
    part(STACK, extra.stack != StackId(0));
    part(ORDER, extra.order != Order::default());
    part(WAKE, extra.wake != Wake::default());
    part(ARGS, !args.is_empty());
    if extra.inexact {
        out.push(INEXACT);
    }
    out.push(parts);
    put_body(out, extra.value);
    if parts & LOCK != 0 {
        put(out, extra.lock.0.into());
    }
    if parts & STACK != 0 {
        put(out, extra.stack.0.into());
    }
    if parts & ORDER != 0 {
        out.push(extra.order as u8);
    }
    if parts & WAKE != 0 {
        out.push(extra.wake as u8);
    }
    if parts & ARGS != 0 {
        put(out, args.len() as u64);
        for &arg in args {
            put_value(out, arg);
        }
    }
}

/// Reads the extra of an on-time event into a batch and gives its index there. If `stack` is given, it is the event's
/// stack, and the extra must have none.
#[inline]
pub(super) fn get_extra(
    from: &mut Cursor<'_>,
    op: Op,
    bounds: Bounds,
    batch: &mut Batch,
    stack: Option<StackId>,
) -> Result<(StackId, u32), Damage> {
    let mut extra = get_parts(from, bounds, batch)?;
    fits(op, &extra)?;
    own_stack(&mut extra, stack)?;
    Ok((extra.stack, batch.add_extra(extra)))
}

/// The stack of an event whose extra has none.
#[inline]
fn own_stack(extra: &mut Extra, stack: Option<StackId>) -> Result<(), Damage> {
    if let Some(stack) = stack {
        if extra.stack != StackId(0) {
            return Err(Damage("an event has two call stacks"));
        }
        extra.stack = stack;
    }
    Ok(())
}

/// Reads the extra of a deferred event: a drop barrier may leave its number to the reader.
pub(super) fn get_deferred_extra(
    from: &mut Cursor<'_>,
    op: Op,
    bounds: Bounds,
    batch: &mut Batch,
    stack: Option<StackId>,
) -> Result<u32, Damage> {
    let mut extra = get_parts(from, bounds, batch)?;
    own_stack(&mut extra, stack)?;
    let assumed = if leaves_position(op, &extra) { Value::Int(0) } else { extra.value };
    fits(op, &Extra { value: assumed, ..extra })?;
    Ok(batch.add_extra(extra))
}

/// A deferred drop barrier that names itself: only the reader knows its number.
pub(super) fn leaves_position(op: Op, extra: &Extra) -> bool {
    op.has_number() && !extra.value.is_known()
}

#[inline]
fn get_parts(from: &mut Cursor<'_>, bounds: Bounds, batch: &mut Batch) -> Result<Extra, Damage> {
    let mut parts = from.byte()?;
    let inexact = parts == INEXACT;
    if inexact {
        parts = from.byte()?;
    }
    let mut extra = Extra { value: get_body(from, parts & 7, bounds)?, inexact, ..Extra::default() };
    if parts & LOCK != 0 {
        extra.lock = LockId(from.get_below(bounds.locks)?);
    }
    if parts & STACK != 0 {
        extra.stack = StackId(from.get_below(bounds.stacks)?);
    }
    if parts & ORDER != 0 {
        extra.order = Order::from_code(from.byte()?).ok_or(Damage("there is no such memory order"))?;
    }
    if parts & WAKE != 0 {
        extra.wake = Wake::from_code(from.byte()?).ok_or(Damage("there is no such reason to wake"))?;
    }
    if parts & ARGS != 0 {
        let count = from.get()?;
        extra.args_len = u16::try_from(count).map_err(|_| Damage("an event has too many arguments"))?;
        extra.args_start = u32::try_from(batch.args.len()).map_err(|_| Damage("too many arguments"))?;
        for _ in 0..count {
            batch.args.push(get_value(from, bounds)?);
        }
    }
    Ok(extra)
}

/// Parts that the operation cannot have would be lost in other formats: refuse them.
fn fits(op: Op, extra: &Extra) -> Result<(), Damage> {
    let value_fits = match extra.value {
        Value::Int(n) if op.has_number() => n >= 0,
        value => !op.has_number() && (op.has_value() || !value.is_known()),
    };
    let sound = value_fits
        && (op.has_order() || extra.order == Order::default())
        && (op.has_wake_reason() || extra.wake == Wake::default())
        && (op.has_arguments() || extra.args_len == 0)
        && (op.has_lock_argument() || extra.lock == LockId(0));
    if sound { Ok(()) } else { Err(Damage("an event has a part that its operation cannot have")) }
}
