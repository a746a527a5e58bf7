//! Hooks of `java.lang.Thread` itself: threads get a field for the agent's state, and a hook where they are started.
//! (Executors start threads inside the JDK, where the program's classes have no hook.)

use super::{HOOKS, code_of};
use crate::class::{Class, Member, access};
use crate::code::Code;
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::ALOAD_0;
use std::borrow::Cow;

/// The field of `Thread`.
pub const THREAD_STATE: &str = "foretrace$state";

/// Weaves `java.lang.Thread` (`has_state`: it gets the field), or another thread class of the JDK. `is_live`: the
/// hooks may be called.
pub fn thread(file: &[u8], has_state: bool, is_live: bool) -> Result<Vec<u8>> {
    let mut class = Class::read(file)?;
    if has_state {
        let name = class.constants.add_text(THREAD_STATE.as_bytes())?;
        let descriptor = class.constants.add_text(b"Ljava/lang/Object;")?;
        // The field is public because the hooks are in another package.
        let access = access::PUBLIC | access::TRANSIENT;
        class.fields.push(Member { access, name, descriptor, attributes: Vec::new() });
    }
    for number in (0..class.methods.len()).filter(|_| is_live) {
        let method = &class.methods[number];
        let is_start = class.constants.text(method.name)? == b"start" && method.access & access::STATIC == 0;
        let Some(at) = code_of(&class.constants, method)?.filter(|_| is_start) else { continue };
        let Cow::Borrowed(content) = method.attributes[at].content else { continue };
        let mut code = Code::read(content)?;
        let emit = Emit::new(&mut class.constants).op(&[ALOAD_0]);
        code.entry = emit.call(HOOKS.as_bytes(), b"starting", b"(Ljava/lang/Thread;)V")?.done();
        code.max_stack = code.max_stack.max(1);
        class.methods[number].attributes[at].content = code.write(&mut class.constants)?.into();
    }
    class.write()
}
