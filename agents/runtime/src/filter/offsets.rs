//! Offsets of the fields that hooks in assembly read.

use super::recorder::Recorder;
use super::scan::Scan;
use core::mem::offset_of;

/// [`Recorder::may_have_read`]: words below this may be noted.
pub const NOTED: usize = offset_of!(Recorder, noted);
/// [`Recorder::has_noted`]: summaries with this `at` are its own.
pub const FLOOR: usize = offset_of!(Recorder, floor);
/// [`Scan::is_next`]: for each size, the expected address.
pub const SCAN_NEXT: usize = offset_of!(Scan, next);
/// [`Scan::goes_on_at`]: the address of the code.
pub const SCAN_PC: usize = offset_of!(Scan, next_pc);
/// [`Scan::goes_on_at`]: the context of the call.
pub const SCAN_PARENT: usize = offset_of!(Scan, parent);
