//! Inert hooks, for classes that were woven offline and run without the agent. They do nothing; those that replace a
//! call make it.
//!
//! Every package with such classes gets a class of its own for them. So the hooks are found wherever their callers
//! are, whatever loads these (modules, bundles, a loader that asks its parent last), and no package gets into two
//! jars.

use crate::bytes::{put_u2, put_u4, short};
use crate::class::access;
use crate::constants::{Constants, Named};
use crate::descriptor::{Kind, of_method};
use crate::emit::Emit;
use crate::error::Result;
use crate::instruction::opcode::{ALOAD_0, ILOAD, INVOKEVIRTUAL, RETURN};
use crate::offline::version;

/// The beginning of its name; the version follows, because other versions may have other hooks.
const NAME: &str = "foretrace$Hooks";
/// The oldest version of class files that may be needed: Java 5.
const MAJOR: u16 = 49;
/// A flag of classes: `invokespecial` calls methods of the super class as it does today.
const SUPER: u16 = 0x0020;

/// The name of the class, without its package.
pub fn inert_name() -> String {
    format!("{NAME}{:016x}", version())
}

/// Whether a class has such a name (without its package), of any version.
pub fn is_inert_name(name: &[u8]) -> bool {
    name.strip_prefix(NAME.as_bytes()).is_some_and(|rest| rest.len() == 16 && rest.iter().all(u8::is_ascii_hexdigit))
}

/// All hooks that are woven into classes of programs: names and types.
pub(crate) fn hooks() -> Vec<(&'static str, String)> {
    const OBJECT: &str = "Ljava/lang/Object;";
    const OF: &str = "(Ljava/lang/Object;I)V";
    const NAMED: &str = "(Ljava/lang/String;I)V";
    const PLANNED: &str = "(Ljava/lang/String;Ljava/lang/String;I)V";
    let mut hooks: Vec<(&str, String)> = [
        ("reading", "(I)V"),
        ("reading", OF),
        ("wrote", "(I)V"),
        ("element", "(Ljava/lang/Object;II)V"),
        ("store", "(Ljava/lang/Object;II)V"),
        ("entered", OF),
        ("leaving", OF),
        ("enteredMethod", OF),
        ("leavingMethod", "(I)V"),
        ("wait", OF),
        ("wait", "(Ljava/lang/Object;JI)V"),
        ("wait", "(Ljava/lang/Object;JII)V"),
        ("notify", OF),
        ("notifyAll", OF),
        ("initialising", "()V"),
        ("initialised", "()V"),
        ("made", OF),
        ("kept", OF),
        ("kept", "(Ljava/lang/Object;Ljava/lang/Object;I)V"),
        ("inside", OF),
        ("unseen", "()V"),
        ("cloned", "(Ljava/lang/Object;)V"),
        ("elements", "(Ljava/lang/Object;IIII)V"),
        ("copied", OF),
        ("internal", "(Ljava/lang/String;Ljava/lang/Object;I)V"),
        ("begin", NAMED),
        ("end", NAMED),
        ("argument", OF),
        ("argument", "(JI)V"),
        ("argument", "(DI)V"),
        ("event", PLANNED),
        ("eventThrown", PLANNED),
        ("before", OF),
        ("after", OF),
        ("threw", "(Ljava/lang/Object;)V"),
    ]
    .map(|(name, descriptor)| (name, descriptor.to_owned()))
    .into();
    for name in ["read", "write"] {
        for kind in ["I", "J", "F", "D", OBJECT] {
            hooks.extend([(name, format!("({kind}I)V")), (name, format!("({OBJECT}{kind}I)V"))]);
        }
    }
    for value in ["J", OBJECT] {
        hooks.push(("before", format!("({OBJECT}{OBJECT}I{value}I)V")));
        hooks.push(("after", format!("({value}{OBJECT}I)V")));
        for result in ["J", OBJECT] {
            hooks.push(("after", format!("({result}{OBJECT}{OBJECT}I{value}I)V")));
        }
    }
    hooks
}

/// The class for a package (`a/b/`, or empty): its name, and its file.
pub fn inert(package: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
    let name = [package, inert_name().as_bytes()].concat();
    let mut constants = Constants::empty();
    let [this, parent] = [&name[..], b"java/lang/Object"].map(|class| constants.add_class(class));
    let code = constants.add_text(b"Code")?;
    let mut methods = Vec::new();
    let hooks = hooks();
    for (name, descriptor) in &hooks {
        for part in [access::PUBLIC | access::STATIC | access::SYNTHETIC, constants.add_text(name.as_bytes())?] {
            put_u2(&mut methods, part);
        }
        put_u2(&mut methods, constants.add_text(descriptor.as_bytes())?);
        let content = body(&mut constants, name, descriptor)?;
        put_u2(&mut methods, 1);
        put_u2(&mut methods, code);
        put_u4(&mut methods, content.len() as u32);
        methods.extend(content);
    }
    let mut file = 0xcafe_babe_u32.to_be_bytes().to_vec();
    put_u2(&mut file, 0);
    put_u2(&mut file, MAJOR);
    constants.write(&mut file)?;
    let flags = access::PUBLIC | access::FINAL | SUPER | access::SYNTHETIC;
    // No interfaces, no fields.
    [flags, this?, parent?, 0, 0, short(hooks.len(), "hooks")?].into_iter().for_each(|part| put_u2(&mut file, part));
    file.extend(methods);
    put_u2(&mut file, 0);
    Ok((name, file))
}

/// The content of a hook's code.
fn body(constants: &mut Constants, name: &str, descriptor: &str) -> Result<Vec<u8>> {
    let (arguments, _) = of_method(descriptor.as_bytes())?;
    let size: u16 = arguments.iter().map(|argument| Kind::of(argument).size()).sum();
    let mut emit = Emit::new(constants);
    if matches!(name, "wait" | "notify" | "notifyAll") {
        emit = emit.op(&[ALOAD_0]);
        // Without the object and the number of the site.
        let (mut at, mut of_call) = (1, String::from("("));
        for argument in &arguments[1..arguments.len() - 1] {
            emit = emit.local(ILOAD + Kind::of(argument).further(), at);
            at += Kind::of(argument).size();
            of_call.push_str(&String::from_utf8_lossy(argument));
        }
        of_call.push_str(")V");
        let named = Named { class: b"java/lang/Object", name: name.as_bytes(), descriptor: of_call.as_bytes() };
        let method = emit.constants.add_method(named)?;
        emit = emit.with(INVOKEVIRTUAL, method);
    }
    let code = emit.op(&[RETURN]).done();
    let mut content = Vec::new();
    // No instruction pushes more than the arguments.
    [size, size].into_iter().for_each(|part| put_u2(&mut content, part));
    put_u4(&mut content, code.len() as u32);
    content.extend(code);
    // No handlers, no attributes.
    put_u4(&mut content, 0);
    Ok(content)
}
