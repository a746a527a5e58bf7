//! Actions: an operation at a site, reached by certain calls. An event is then an action on an object.
//!
//! A program has few actions and does each very often. A recorder numbers them, and looks the number up once for each
//! call context, not for every event.

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
    /// No action of any trace: a placeholder.
    pub const NONE: Action = Action { number: UNNUMBERED, op: Op::Fence, space: SPACES as u8 - 1 };

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
pub struct ActionEvent {
    /// The action.
    pub action: Action,
    /// The object, in the space of the action's operation.
    pub object: u32,
}

/// A run of consecutive events of one thread; it begins where the run before it ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ThreadRun {
    /// The thread.
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

/// The number of actions for which there was no room: their events store operation, site and stack themselves.
pub(super) const UNNUMBERED: u32 = 0;

/// What makes an action: its operation, its site and its call stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct ActionKey {
    pub(super) op: Op,
    pub(super) site: SiteId,
    /// 0: not recorded.
    pub(super) stack: StackId,
}

/// The actions of a trace that is being written. Numbers begin with 1.
#[derive(Default)]
pub(super) struct Actions {
    keys: Vec<ActionKey>,
    numbers: HashMap<ActionKey, u32>,
    written: usize,
}

impl Actions {
    /// The number of an action; [`UNNUMBERED`] if there is no room for it.
    pub(super) fn add(&mut self, key: ActionKey) -> Action {
        let known = self.keys.len();
        let number = match self.numbers.get(&key) {
            Some(&number) => number,
            None if known == MAX_ACTIONS => UNNUMBERED,
            None => {
                self.keys.push(key);
                self.numbers.insert(key, known as u32 + 1);
                known as u32 + 1
            }
        };
        let space = if number == UNNUMBERED { SPACES - 1 } else { space_of(key.op) };
        Action { number, op: key.op, space: space as u8 }
    }
}

/// Records in a frame.
const FULL: usize = 1 << 16;

/// Actions: records of (operation, site, stack), numbered on.
pub(super) fn put_actions(out: &mut Vec<u8>, actions: &mut Actions) -> u32 {
    let new = &actions.keys[actions.written..];
    let new = &new[..new.len().min(FULL)];
    for key in new {
        out.push(key.op as u8);
        put(out, key.site.0.into());
        put(out, key.stack.0.into());
    }
    actions.written += new.len();
    new.len() as u32
}

pub(super) fn get_actions(
    mut from: Cursor<'_>,
    sites: usize,
    stacks: usize,
    actions: &mut Vec<ActionKey>,
) -> Result<(), Damage> {
    while !from.is_empty() {
        let op = Op::from_code(from.byte()?).ok_or(Damage("there is no such operation"))?;
        let site = SiteId(from.get_below(sites)?);
        let stack = StackId(from.get_below(stacks)?);
        actions.push(ActionKey { op, site, stack });
    }
    if actions.len() > MAX_ACTIONS { Err(Damage("there are more actions than allowed")) } else { Ok(()) }
}
