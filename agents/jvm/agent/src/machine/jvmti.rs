//! The tool interface of the virtual machine (JVMTI): capabilities, events, classes, methods and stacks.

use super::{Reference, function};
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

/// The tool interface (JVMTI). Numbers are one less than in the header.
#[derive(Clone, Copy)]
pub(crate) struct Jvmti(pub(crate) *mut c_void);

// SAFETY: the environment may be used by all threads.
unsafe impl Send for Jvmti {}
// SAFETY: as above.
unsafe impl Sync for Jvmti {}

/// Capabilities, by their bits.
pub(crate) mod capability {
    pub(crate) const TAG_OBJECTS: usize = 0;
    pub(crate) const CONTENDED_MONITOR: usize = 6;
    pub(crate) const SOURCE_FILE_NAME: usize = 11;
    pub(crate) const LINE_NUMBERS: usize = 12;
    pub(crate) const ALL_CLASS_HOOKS: usize = 26;
    pub(crate) const MONITOR_EVENTS: usize = 28;
    pub(crate) const RETRANSFORM: usize = 37;
    pub(crate) const RETRANSFORM_ANY: usize = 38;
    pub(crate) const EARLY_CLASS_HOOKS: usize = 42;
    pub(crate) const VIRTUAL_THREADS: usize = 44;
}

/// Numbers of events.
pub(crate) mod event {
    pub(crate) const INIT: i32 = 50;
    pub(crate) const DEATH: i32 = 51;
    pub(crate) const THREAD_END: i32 = 53;
    pub(crate) const CLASS_FILE: i32 = 54;
    pub(crate) const MONITOR_CONTENDED: i32 = 75;
    pub(crate) const VIRTUAL_THREAD_END: i32 = 88;
    pub(crate) const FIRST: i32 = 50;
    pub(crate) const COUNT: usize = 40;
}

impl Jvmti {
    /// Asks for capabilities one by one, because not all machines have all of them. Returns whether all were granted.
    pub(crate) fn add_capabilities(self, bits: &[usize]) -> bool {
        let mut all = true;
        for &bit in bits {
            let mut wanted = [0u8; 16];
            wanted[bit / 8] |= 1 << (bit % 8);
            all &= call!(self.0, 141, (*const u8) -> i32, wanted.as_ptr()) == 0;
        }
        all
    }

    /// Sets the functions that are called for events.
    pub(crate) fn set_callbacks(self, callbacks: &[(i32, *mut c_void)]) {
        let mut table = [null_mut::<c_void>(); event::COUNT];
        for &(event, callback) in callbacks {
            table[(event - event::FIRST) as usize] = callback;
        }
        let size = size_of_val(&table) as i32;
        call!(self.0, 121, (*const *mut c_void, i32) -> i32, table.as_ptr(), size);
    }

    /// Enables an event for all threads.
    pub(crate) fn enable(self, event: i32) -> bool {
        // SAFETY: the type is that of the header's second function, whose last arguments are not used.
        unsafe {
            let called: unsafe extern "C" fn(*mut c_void, i32, i32, *mut c_void, ...) -> i32 =
                transmute(function(self.0, 1));
            called(self.0, 1, event, null_mut()) == 0
        }
    }

    /// Memory that the machine frees.
    pub(crate) fn allocate(self, size: usize) -> Option<*mut u8> {
        let mut memory = null_mut::<u8>();
        let failed = call!(self.0, 45, (i64, *mut *mut u8) -> i32, size as i64, &mut memory);
        (failed == 0 && !memory.is_null()).then_some(memory)
    }

    fn free(self, memory: *mut c_char) {
        call!(self.0, 46, (*mut c_char) -> i32, memory);
    }

    /// A system property.
    pub(crate) fn property(self, name: &CStr) -> Option<Vec<u8>> {
        let mut text = null_mut::<c_char>();
        let failed = call!(self.0, 130, (*const c_char, *mut *mut c_char) -> i32, name.as_ptr(), &mut text);
        if failed != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the machine gave a text.
        let value = unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
        self.free(text);
        Some(value)
    }

    /// Sets a system property. This works only before the machine runs.
    pub(crate) fn set_property(self, name: &CStr, value: &CStr) -> bool {
        call!(self.0, 131, (*const c_char, *const c_char) -> i32, name.as_ptr(), value.as_ptr()) == 0
    }

    /// The name of a class: `java/lang/Object`, `[I`, `[Ljava/lang/Object;`.
    pub(crate) fn class_name(self, class: Reference) -> Option<Vec<u8>> {
        let mut text = null_mut::<c_char>();
        let none = null_mut::<*mut c_char>();
        let failed = call!(self.0, 47, (Reference, *mut *mut c_char, *mut *mut c_char) -> i32, class, &mut text, none);
        if failed != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the machine gave a text.
        let name = unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
        self.free(text);
        match name.strip_prefix(b"L").and_then(|name| name.strip_suffix(b";")) {
            Some(name) => Some(name.to_vec()),
            None => Some(name),
        }
    }

    /// The loader of a class; null for the bootstrap loader.
    pub(crate) fn class_loader(self, class: Reference) -> Reference {
        let mut loader = null_mut();
        call!(self.0, 56, (Reference, *mut Reference) -> i32, class, &mut loader);
        loader
    }

    /// The interfaces that a class names.
    pub(crate) fn interfaces(self, class: Reference) -> Vec<Reference> {
        let (mut count, mut list) = (0i32, null_mut::<Reference>());
        let failed = call!(self.0, 53, (Reference, *mut i32, *mut *mut Reference) -> i32, class, &mut count, &mut list);
        self.taken(failed, count, list)
    }

    /// The tag of an object; 0 if it has none.
    pub(crate) fn tag(self, object: Reference) -> i64 {
        let mut tag = 0;
        call!(self.0, 105, (Reference, *mut i64) -> i32, object, &mut tag);
        tag
    }

    pub(crate) fn set_tag(self, object: Reference, tag: i64) {
        call!(self.0, 106, (Reference, i64) -> i32, object, tag);
    }

    /// The module of a package of a loader.
    pub(crate) fn module(self, loader: Reference, package: &CStr) -> Option<Reference> {
        let mut module = null_mut();
        let failed =
            call!(self.0, 39, (Reference, *const c_char, *mut Reference) -> i32, loader, package.as_ptr(), &mut module);
        (failed == 0 && !module.is_null()).then_some(module)
    }

    pub(crate) fn add_reads(self, module: Reference, other: Reference) {
        call!(self.0, 93, (Reference, Reference) -> i32, module, other);
    }

    pub(crate) fn add_exports(self, module: Reference, package: &CStr, to: Reference) -> bool {
        call!(self.0, 94, (Reference, *const c_char, Reference) -> i32, module, package.as_ptr(), to) == 0
    }

    /// The state of a thread: bits of the header's `JVMTI_THREAD_STATE`; 0 if it has ended.
    pub(crate) fn thread_state(self, thread: Reference) -> i32 {
        let mut state = 0;
        let failed = call!(self.0, 16, (Reference, *mut i32) -> i32, thread, &mut state);
        if failed == 0 { state } else { 0 }
    }

    /// The object whose monitor a thread waits for, or on which it waits.
    pub(crate) fn contended_monitor(self, thread: Reference) -> Option<Reference> {
        let mut monitor = null_mut();
        let failed = call!(self.0, 10, (Reference, *mut Reference) -> i32, thread, &mut monitor);
        (failed == 0 && !monitor.is_null()).then_some(monitor)
    }

    /// The calls of a thread (null: the current one), the last first: methods, and positions in their code.
    pub(crate) fn stack(self, thread: Reference, most: usize) -> Vec<[i64; 2]> {
        let mut frames = vec![[0i64; 2]; most];
        let mut count = 0i32;
        let (begin, size) = (frames.as_mut_ptr(), most as i32);
        let failed = call!(
            self.0, 103, (Reference, i32, i32, *mut [i64; 2], *mut i32) -> i32,
            thread, 0, size, begin, &mut count
        );
        frames.truncate(if failed == 0 { count.max(0) as usize } else { 0 });
        frames
    }

    /// The name of a method.
    pub(crate) fn method_name(self, method: i64) -> Option<Vec<u8>> {
        let mut text = null_mut::<c_char>();
        let none = null_mut::<*mut c_char>();
        let failed = call!(
            self.0, 63, (i64, *mut *mut c_char, *mut *mut c_char, *mut *mut c_char) -> i32,
            method, &mut text, none, none
        );
        if failed != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the machine gave a text.
        let name = unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
        self.free(text);
        Some(name)
    }

    /// The class of a method.
    pub(crate) fn method_class(self, method: i64) -> Option<Reference> {
        let mut class = null_mut();
        let failed = call!(self.0, 64, (i64, *mut Reference) -> i32, method, &mut class);
        (failed == 0 && !class.is_null()).then_some(class)
    }

    /// The line of a position in a method; 0: not known.
    pub(crate) fn line(self, method: i64, at: i64) -> i32 {
        #[repr(C)]
        struct Line {
            start: i64,
            line: i32,
        }
        let (mut count, mut table) = (0i32, null_mut::<Line>());
        let failed = call!(self.0, 69, (i64, *mut i32, *mut *mut Line) -> i32, method, &mut count, &mut table);
        if failed != 0 || table.is_null() {
            return 0;
        }
        // SAFETY: the machine gave so many.
        let lines = unsafe { std::slice::from_raw_parts(table, count.max(0) as usize) };
        let line =
            lines.iter().filter(|line| line.start <= at).max_by_key(|line| line.start).map_or(0, |line| line.line);
        self.free(table.cast());
        line
    }

    /// The file that a class was compiled from.
    pub(crate) fn source(self, class: Reference) -> Option<Vec<u8>> {
        let mut text = null_mut::<c_char>();
        let failed = call!(self.0, 49, (Reference, *mut *mut c_char) -> i32, class, &mut text);
        if failed != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the machine gave a text.
        let name = unsafe { CStr::from_ptr(text) }.to_bytes().to_vec();
        self.free(text);
        Some(name)
    }

    /// All classes that are loaded.
    pub(crate) fn loaded(self) -> Vec<Reference> {
        let (mut count, mut list) = (0i32, null_mut::<Reference>());
        let failed = call!(self.0, 77, (*mut i32, *mut *mut Reference) -> i32, &mut count, &mut list);
        self.taken(failed, count, list)
    }

    /// Copies a list that the machine gave, and frees it.
    fn taken(self, failed: i32, count: i32, list: *mut Reference) -> Vec<Reference> {
        if failed != 0 || list.is_null() {
            return Vec::new();
        }
        // SAFETY: there are so many.
        let taken = unsafe { std::slice::from_raw_parts(list, count.max(0) as usize) }.to_vec();
        self.free(list.cast());
        taken
    }

    pub(crate) fn retransform(self, classes: &[Reference]) -> i32 {
        call!(self.0, 151, (i32, *const Reference) -> i32, classes.len() as i32, classes.as_ptr())
    }
}
