//! Where hooks that are written for a machine find what they look at.

use super::recorder::Recorder;
use super::sweep::Sweep;
use core::mem::offset_of;

/// [`Recorder::may_have_read`]: granules below this.
pub const NOTED: usize = offset_of!(Recorder, noted);
/// [`Recorder::has_noted`]: lines that begin so are its own.
pub const FLOOR: usize = offset_of!(Recorder, floor);
/// [`Sweep::is_next`]: of each size, the address.
pub const SWEEP_NEXT: usize = offset_of!(Sweep, next);
/// [`Sweep::goes_on_at`]: the address of the code.
pub const SWEEP_PC: usize = offset_of!(Sweep, next_pc);
/// The place of the call.
pub const SWEEP_PARENT: usize = offset_of!(Sweep, parent);
