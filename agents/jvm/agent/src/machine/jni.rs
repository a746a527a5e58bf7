//! The native interface of the virtual machine (JNI): classes, objects and calls of methods.

use super::{Reference, function};
use std::ffi::{CStr, c_char, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

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
