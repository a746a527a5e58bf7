//! Annotations that mean nothing here.

use core::ffi::{c_double, c_int};

use super::Pointer;

/// All arguments are left alone; the result is 0 or null, if there is one.
macro_rules! nothing {
    ($($name:ident)*) => { $(
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() -> usize {
            0
        }
    )* };
}

nothing! {
    AnnotateCondVarSignal AnnotateCondVarSignalAll AnnotateCondVarWait AnnotateEnableRaceDetection AnnotateExpectRace
    AnnotateFlushExpectedRaces AnnotateFlushState AnnotateMemoryIsInitialized AnnotateMemoryIsUninitialized
    AnnotateMutexIsNotPHB AnnotateMutexIsUsedAsCondVar AnnotateNoOp AnnotatePCQCreate AnnotatePCQDestroy
    AnnotatePCQGet AnnotatePCQPut AnnotatePublishMemoryRange AnnotateTraceMemory AnnotateUnpublishMemoryRange
    RunningOnValgrind
}

#[unsafe(no_mangle)]
pub extern "C" fn ValgrindSlowdown() -> c_double {
    10.0
}

/// Valgrind is not there.
#[unsafe(no_mangle)]
pub extern "C" fn ThreadSanitizerQuery(_question: Pointer) -> c_int {
    0
}
