//! Actions: what is done, where, and by which calls. A recorder numbers them, and an event is then an action on an object.
//!
//! A program has few of them and does each very often, so a recorder looks one up where it knows a place, and not for every event.

use super::bytes::{Cursor, put};
use super::frame::Damage;
use crate::limits::MAX_ACTIONS;
use event::{Op, SiteId, Space, StackId, ThreadId};
use std::collections::HashMap;

/// Kinds of objects that actions can have; the last one is for those without any.
pub(super) const SPACES: usize = Space::ALL.len() + 1;

/// An action of a trace that is being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    pub(super) number: u32,
    op: Op,
    space: u8,
}

impl Action {
    /// No action of any trace: where there will be one.
    pub const NONE: Action = Action { number: UNTOLD, op: Op::Fence, space: SPACES as u8 - 1 };

    /// The operation.
    #[inline]
    pub fn op(self) -> Op {
        self.op
    }

    /// Which objects it has: an index below [`SPACES`].
    #[inline]
    pub(super) fn space(self) -> usize {
        usize::from(self.space)
    }
}

/// An event that is nothing but an action on an object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Act {
    /// What is done.
    pub action: Action,
    /// To what.
    pub object: u32,
}

/// Events of one thread, one behind the other: up to an index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stretch {
    /// Whose they are.
    pub thread: ThreadId,
    /// The index behind the last of them.
    pub end: usize,
}

/// Which objects an operation has: an index below [`SPACES`].
#[inline]
pub(super) fn space_of(op: Op) -> usize {
    OP_SPACES[op as usize % 64].into()
}

const OP_SPACES: [u8; 64] = {
    let mut spaces = [Space::ALL.len() as u8; 64];
    let mut i = 0;
    while i < Op::ALL.len() {
        if let Some(space) = Op::ALL[i].space() {
            spaces[Op::ALL[i] as usize] = space as u8;
        }
        i += 1;
    }
    spaces
};

/// The action of events that say everything themselves: there is no room for more actions.
pub(super) const UNTOLD: u32 = 0;

/// What an action is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Told {
    pub(super) op: Op,
    pub(super) site: SiteId,
    /// 0: not recorded.
    pub(super) stack: StackId,
}

/// The actions of a trace that is being written. Numbers begin with 1.
#[derive(Default)]
pub(super) struct Actions {
    told: Vec<Told>,
    numbers: HashMap<Told, u32>,
    written: usize,
}

impl Actions {
    /// The number of an action; [`UNTOLD`] if there is no room for it.
    pub(super) fn add(&mut self, told: Told) -> Action {
        let known = self.told.len();
        let number = match self.numbers.get(&told) {
            Some(&number) => number,
            None if known == MAX_ACTIONS => UNTOLD,
            None => {
                self.told.push(told);
                self.numbers.insert(told, known as u32 + 1);
                known as u32 + 1
            }
        };
        let space = if number == UNTOLD { SPACES - 1 } else { space_of(told.op) };
        Action { number, op: told.op, space: space as u8 }
    }
}

/// Records in a frame.
const FULL: usize = 1 << 16;

/// Actions: records of (operation, site, stack), numbered on.
pub(super) fn put_actions(out: &mut Vec<u8>, actions: &mut Actions) -> u32 {
    let new = &actions.told[actions.written..];
    let new = &new[..new.len().min(FULL)];
    for told in new {
        out.push(told.op as u8);
        put(out, told.site.0.into());
        put(out, told.stack.0.into());
    }
    actions.written += new.len();
    new.len() as u32
}

pub(super) fn get_actions(
    mut from: Cursor<'_>,
    sites: usize,
    stacks: usize,
    actions: &mut Vec<Told>,
) -> Result<(), Damage> {
    while !from.is_empty() {
        let op = Op::from_code(from.byte()?).ok_or(Damage("there is no such operation"))?;
        let site = SiteId(from.get_below(sites)?);
        let stack = StackId(from.get_below(stacks)?);
        actions.push(Told { op, site, stack });
    }
    if actions.len() > MAX_ACTIONS { Err(Damage("there are more actions than allowed")) } else { Ok(()) }
}
