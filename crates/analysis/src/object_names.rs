//! The variables and fields through which the program reaches its objects, as far as the recorder noted them.

use event::{Meta, Names};
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

/// By name in the trace: what an object is called. It is put together when the first name is asked for.
pub(crate) struct ObjectNames<'a> {
    names: &'a Names,
    meta: &'a Meta,
    called: OnceCell<FxHashMap<&'a str, &'a str>>,
}

impl<'a> ObjectNames<'a> {
    pub(crate) fn new(names: &'a Names, meta: &'a Meta) -> ObjectNames<'a> {
        ObjectNames { names, meta, called: OnceCell::new() }
    }

    /// What an object is called.
    pub(crate) fn called(&self, name: &str) -> Option<String> {
        let called = self.called.get_or_init(|| {
            // Of several that speak of one object the last is true.
            let origins = self.meta.origins.iter();
            origins
                .filter_map(|of| Some((self.names.get(of.space, of.id), kept_in(self.names, self.meta, of)?)))
                .collect()
        });
        called.get(name).map(|&called| called.to_owned())
    }
}

/// The field in which an object was put. The recorder for Java has it where other origins have a stack.
pub(crate) fn kept_in<'a>(names: &'a Names, meta: &'a Meta, origin: &event::Origin) -> Option<&'a str> {
    let frame = meta.stacks.frames(origin.stack).next()?;
    names.site(frame).strip_prefix("(kept in ")?.strip_suffix(')')
}
