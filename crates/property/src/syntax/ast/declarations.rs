//! Declarations: variables, locks, regions, events and definitions.

use super::{Const, Expr, Name, Param, Params, Place, Type};
use crate::syntax::Span;

/// A shared or local variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its type.
    pub ty: Type,
    /// Its name.
    pub name: Name,
    /// One variable for each of these.
    pub index: Option<Param>,
    /// Its initial value.
    pub init: Option<Const>,
    /// Where it is in the program.
    pub place: Option<Place>,
}

/// A lock.
#[derive(Clone, Debug)]
pub struct Lock {
    /// Its name.
    pub name: Name,
    /// One lock for each of these.
    pub index: Option<Param>,
    /// Where it is in the program.
    pub place: Place,
}

/// A region.
#[derive(Clone, Debug)]
pub struct Region {
    /// Its name.
    pub name: Name,
    /// Where it is in the program.
    pub place: Place,
}

/// On which side of the place an event happens.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum When {
    /// `before`
    Before,
    /// `after`
    After,
}

/// Whose side of a call is the place.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// `call`: the caller's.
    Call,
    /// `exec`: the callee's.
    Exec,
}

/// Where an event's argument comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Origin {
    /// `this`
    This,
    /// `result`
    Result,
    /// `arg N`, counted from 1.
    Arg(u32),
}

/// `event e(params) at PLACE …;`
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name.
    pub name: Name,
    /// Its parameters.
    pub params: Params,
    /// Where it is in the program.
    pub place: Place,
    /// `before` or `after`.
    pub when: Option<When>,
    /// `call` or `exec`.
    pub side: Option<Side>,
    /// Where the parameters come from; empty: the arguments in order.
    pub origins: Vec<(Origin, Span)>,
}

/// A name for a formula.
#[derive(Clone, Debug)]
pub struct Let {
    /// Written `event`, not `let`.
    pub is_event: bool,
    /// The name.
    pub name: Name,
    /// Its parameters.
    pub params: Params,
    /// What it stands for.
    pub body: Expr,
}
