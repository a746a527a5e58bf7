//! The functions of the Java virtual machine that the agent calls: tables of pointers, by their numbers in `jvmti.h`
//! and `jni.h`. There is no maintained crate for JVMTI.

use std::ffi::{CStr, CString, c_char, c_void};
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

    /// The calls of the current thread, the last first: methods, and positions in their code.
    pub(crate) fn stack(self, most: usize) -> Vec<[i64; 2]> {
        let mut frames = vec![[0i64; 2]; most];
        let mut count = 0i32;
        let thread = null_mut::<c_void>();
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

/// The native interface (JNI) of a thread.
#[derive(Clone, Copy)]
pub(crate) struct Jni(pub(crate) *mut c_void);

/// A native method of a class.
#[repr(C)]
pub(crate) struct Method {
    pub(crate) name: *const c_char,
    pub(crate) descriptor: *const c_char,
    pub(crate) function: *mut c_void,
}

impl Jni {
    /// Defines a class of the bootstrap loader.
    pub(crate) fn define(self, name: &CStr, file: &[u8]) -> Option<Reference> {
        let size = file.len() as i32;
        let class = call!(
            self.0, 5, (*const c_char, Reference, *const u8, i32) -> Reference,
            name.as_ptr(), null_mut(), file.as_ptr(), size
        );
        self.unless_failed(class)
    }

    pub(crate) fn find(self, name: &CStr) -> Option<Reference> {
        let class = call!(self.0, 6, (*const c_char) -> Reference, name.as_ptr());
        self.unless_failed(class)
    }

    /// The result, unless there was an exception, which is cleared.
    fn unless_failed(self, result: Reference) -> Option<Reference> {
        if call!(self.0, 228, () -> u8,) != 0 {
            call!(self.0, 17, () -> (),);
            return None;
        }
        (!result.is_null()).then_some(result)
    }

    pub(crate) fn keep(self, object: Reference) -> Reference {
        call!(self.0, 21, (Reference) -> Reference, object)
    }

    pub(crate) fn forget(self, object: Reference) {
        call!(self.0, 23, (Reference) -> (), object);
    }

    /// The class of an object.
    pub(crate) fn class(self, object: Reference) -> Reference {
        call!(self.0, 31, (Reference) -> Reference, object)
    }

    pub(crate) fn parent(self, class: Reference) -> Option<Reference> {
        let parent = call!(self.0, 10, (Reference) -> Reference, class);
        (!parent.is_null()).then_some(parent)
    }

    pub(crate) fn module(self, class: Reference) -> Reference {
        call!(self.0, 233, (Reference) -> Reference, class)
    }

    pub(crate) fn register(self, class: Reference, methods: &[Method]) -> bool {
        let count = methods.len() as i32;
        let failed = call!(self.0, 215, (Reference, *const Method, i32) -> i32, class, methods.as_ptr(), count);
        self.unless_failed(class).is_some() && failed == 0
    }

    /// Calls a static method without a result, with one object or no argument.
    pub(crate) fn run(self, class: Reference, name: &CStr, of: Option<Reference>) {
        let descriptor = if of.is_some() { c"(Ljava/lang/Object;)V" } else { c"()V" };
        let argument = of.unwrap_or(null_mut());
        let of = (name.as_ptr(), descriptor.as_ptr());
        let method = call!(self.0, 113, (Reference, *const c_char, *const c_char) -> Reference, class, of.0, of.1);
        if let Some(method) = self.unless_failed(method) {
            call!(self.0, 143, (Reference, Reference, *const Reference) -> (), class, method, &argument);
            self.unless_failed(method);
        }
    }

    /// A new `long[]`.
    pub(crate) fn longs(self, values: &[i64]) -> Reference {
        let count = values.len() as i32;
        let array = call!(self.0, 180, (i32) -> Reference, count);
        if !array.is_null() {
            call!(self.0, 212, (Reference, i32, i32, *const i64) -> (), array, 0, count, values.as_ptr());
        }
        array
    }

    /// Whether a loader finds a class.
    pub(crate) fn loads(self, loader: Reference, name: &CStr) -> bool {
        let class = self.class(loader);
        let of = (c"loadClass", c"(Ljava/lang/String;)Ljava/lang/Class;");
        let method = call!(
            self.0, 33, (Reference, *const c_char, *const c_char) -> Reference,
            class, of.0.as_ptr(), of.1.as_ptr()
        );
        let Some(method) = self.unless_failed(method) else { return false };
        let text = call!(self.0, 167, (*const c_char) -> Reference, name.as_ptr());
        let Some(text) = self.unless_failed(text) else { return false };
        let found = call!(self.0, 36, (Reference, Reference, *const Reference) -> Reference, loader, method, &text);
        self.unless_failed(found).is_some()
    }

    /// What `toString` of an object returns.
    pub(crate) fn text_of(self, object: Reference) -> Option<String> {
        let class = self.class(object);
        let (name, descriptor) = (c"toString", c"()Ljava/lang/String;");
        let method = call!(
            self.0, 33, (Reference, *const c_char, *const c_char) -> Reference,
            class, name.as_ptr(), descriptor.as_ptr()
        );
        let method = self.unless_failed(method)?;
        let text = call!(self.0, 36, (Reference, Reference, *const i64) -> Reference, object, method, std::ptr::null());
        let text = self.unless_failed(text)?;
        self.text(text)
    }

    /// The characters of a string.
    pub(crate) fn text(self, string: Reference) -> Option<String> {
        if string.is_null() {
            return None;
        }
        let chars = call!(self.0, 169, (Reference, *mut u8) -> *const c_char, string, null_mut());
        if chars.is_null() {
            return None;
        }
        // SAFETY: the machine gave a text.
        let copy = unsafe { CStr::from_ptr(chars) }.to_string_lossy().into_owned();
        call!(self.0, 170, (Reference, *const c_char) -> (), string, chars);
        Some(copy)
    }
}

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
