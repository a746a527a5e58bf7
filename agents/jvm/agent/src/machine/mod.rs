//! The functions of the Java virtual machine that the agent calls: tables of pointers, by their numbers in `jvmti.h`
//! and `jni.h`. There is no maintained crate for JVMTI.

use std::ffi::{CString, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

/// A reference to an object of the program. It is valid during the call, or for ever if it is a global one.
pub(crate) type Reference = *mut c_void;

/// The function with a number in a table.
unsafe fn function(table: *mut c_void, number: usize) -> *mut c_void {
    // SAFETY: both kinds of environments begin with a pointer to their table, which is longer than any number here.
    unsafe { *(*table.cast::<*const *mut c_void>()).add(number) }
}

macro_rules! call {
    ($table:expr, $number:expr, ($($of:ty),*) -> $result:ty, $($argument:expr),*) => {{
        // SAFETY: the type is that of the header's function with this number.
        unsafe {
            let called: extern "system" fn(*mut c_void $(, $of)*) -> $result = transmute(function($table, $number));
            called($table $(, $argument)*)
        }
    }};
}

mod jni;
mod jvmti;

pub(crate) use jni::{Jni, Method};
pub(crate) use jvmti::{Jvmti, capability, event};

/// The tool interface of a machine.
pub(crate) fn jvmti(machine: *mut c_void) -> Option<Jvmti> {
    /// JVMTI 11.
    const VERSION: i32 = 0x300b_0000;
    let mut environment = null_mut::<c_void>();
    let failed = call!(machine, 6, (*mut *mut c_void, i32) -> i32, &mut environment, VERSION);
    (failed == 0 && !environment.is_null()).then_some(Jvmti(environment))
}

/// The package of a class's name.
pub(crate) fn package(name: &[u8]) -> CString {
    let end = name.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    CString::new(&name[..end]).unwrap_or_default()
}
