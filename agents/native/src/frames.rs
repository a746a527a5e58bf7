//! The call stack of a thread, as `__tsan_func_entry` and `__tsan_func_exit` tell it.

/// Calls that are remembered; deeper ones are only counted.
pub const FRAMES: usize = 1 << 16;

/// A call.
#[repr(C)]
pub struct Frame {
    /// Where it returns to.
    pub pc: usize,
    /// The place of the call, 0 if nobody asked yet.
    pub place: usize,
    /// The stack pointer at its entry: frames below the current one were left without an exit (longjmp).
    pub sp: usize,
}
