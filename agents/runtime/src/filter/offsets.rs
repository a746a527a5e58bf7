//! Where hooks that are written for a machine find what they look at.

use super::recorder::Recorder;
use super::scan::Scan;
use core::mem::offset_of;

/// [`Recorder::may_have_read`]: granules below this.
pub const NOTED: usize = offset_of!(Recorder, noted);
/// [`Recorder::has_noted`]: lines that begin so are its own.
pub const FLOOR: usize = offset_of!(Recorder, floor);
/// [`Scan::is_next`]: of each size, the address.
pub const SCAN_NEXT: usize = offset_of!(Scan, next);
/// [`Scan::goes_on_at`]: the address of the code.
pub const SCAN_PC: usize = offset_of!(Scan, next_pc);
/// The place of the call.
pub const SCAN_PARENT: usize = offset_of!(Scan, parent);
