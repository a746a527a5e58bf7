//! Error patterns in a recorded run, one file each.

mod lock_order;

pub use lock_order::{
    HeldLock, LockCycle, LockMode, LockNode, LockOrder, LockOrderOptions, LockOrderReport, LockRequest, LockTree,
};
