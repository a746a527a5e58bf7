//! Interceptors of `qsort`: it moves the elements in the C library, unseen. (What `bsearch` reads, it reads by the
//! program's own comparison.)

use super::{Pointer, about_to_access, has_hooks, record};
use crate::machine::{shim4, shim5};

type Compare = unsafe extern "C" fn(Pointer, Pointer) -> core::ffi::c_int;
type CompareWith = unsafe extern "C" fn(Pointer, Pointer, Pointer) -> core::ffi::c_int;

mod real {
    use core::mem;

    use super::super::Pointer;
    use super::super::real::{Real, functions};
    use super::{Compare, CompareWith};

    functions! {
        qsort(elements: Pointer, count: usize, size: usize, compare: Compare);
        qsort_r(elements: Pointer, count: usize, size: usize, compare: CompareWith, argument: Pointer);
    }
}

shim4! {
    qsort => sort;
}
shim5! {
    qsort_r => sort_with;
}

/// All elements are read, and written.
fn sorted(elements: Pointer, count: usize, size: usize, pc: usize) {
    let bytes = count.saturating_mul(size);
    if count > 1 && bytes != 0 && has_hooks() {
        about_to_access(elements, bytes, true, pc);
        record(pc, |thread| {
            thread.record_range(elements as usize, bytes, false);
            thread.record_range(elements as usize, bytes, true);
        });
    }
}

unsafe extern "C" fn sort(elements: Pointer, count: usize, size: usize, compare: Compare, pc: usize) {
    sorted(elements, count, size, pc);
    real::qsort(elements, count, size, compare);
}

unsafe extern "C" fn sort_with(
    elements: Pointer,
    count: usize,
    size: usize,
    compare: CompareWith,
    argument: Pointer,
    pc: usize,
) {
    sorted(elements, count, size, pc);
    real::qsort_r(elements, count, size, compare, argument);
}
