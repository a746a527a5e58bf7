//! The functions that the agent's classes call (`Native.java` documents them).

use crate::call_contexts::CALLED;
use crate::classes::{BOOT, StaticField, variable};
use crate::machine::{Jni, Jvmti, Method, Reference};
use crate::start::{self, Agent};
use crate::{calls, weaving};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use weave::{Calls, Inside, SiteKind};

/// Does some work; gives `otherwise` if that fails or panics.
fn or<R>(otherwise: R, work: impl FnOnce(&'static Agent) -> Option<R>) -> R {
    let result = catch_unwind(AssertUnwindSafe(|| start::agent().and_then(work)));
    result.ok().flatten().unwrap_or(otherwise)
}

extern "system" fn start(jni: *mut c_void, _: Reference) -> Reference {
    or(std::ptr::null_mut(), |agent| Some(Jni(jni).longs(&agent.session.facts())))
}

extern "system" fn slot(_: *mut c_void, _: Reference) -> i32 {
    or(-1, |agent| agent.session.slot().map(|slot| slot as i32))
}

extern "system" fn chunk(_: *mut c_void, _: Reference, slot: i32, filled: i32, sequence: i64) -> i32 {
    or(0, |agent| {
        if filled > 0 {
            agent.session.give(filled as u32 - 1);
        }
        let slot = u32::try_from(slot).ok()?;
        let taken = agent.session.take(slot, sequence as u64);
        Some(taken.map_or(if agent.session.is_off() { -1 } else { 0 }, |chunk| chunk as i32 + 1))
    })
}

extern "system" fn block(_: *mut c_void, _: Reference, slot: i32, number: i32, sync_index: i64) -> i32 {
    or(0, |agent| {
        let block = agent.session.block([slot as u32, number as u32], sync_index as u64);
        if block == 0 {
            agent.note_once(
                "there were so many threads, or accesses, that all that is done from now on is recorded: that is slow",
            );
        }
        Some(block as i32)
    })
}

extern "system" fn too_long(_: *mut c_void, _: Reference) {
    or((), |agent| {
        agent.note_once("there is no room for times any more: the program goes on unwatched");
        agent.session.detach();
        Some(())
    });
}

/// The loader and the name of a class.
fn loaded(jvmti: Jvmti, jni: Jni, class: Reference) -> Option<(i64, Vec<u8>)> {
    let name = jvmti.class_name(class)?;
    let loader = jvmti.class_loader(class);
    let number = if loader.is_null() { BOOT } else { weaving::loader_number(jvmti, loader) };
    if !loader.is_null() {
        jni.forget(loader);
    }
    Some((number, name))
}

/// A class and its super classes: their loaders and names.
pub(crate) fn chain(jvmti: Jvmti, jni: Jni, class: Reference) -> Vec<(i64, Vec<u8>)> {
    let mut chain = Vec::new();
    let mut at = Some(class);
    while let Some((class, loaded)) = at.and_then(|class| Some((class, loaded(jvmti, jni, class)?))) {
        chain.push(loaded);
        at = jni.parent(class);
    }
    chain
}

/// The interface of this name among those of a class, and the interfaces above it.
fn interface(jvmti: Jvmti, jni: Jni, class: Reference, name: &[u8]) -> Vec<(i64, Vec<u8>)> {
    let mut found = Vec::new();
    let mut at = Some(class);
    while let Some(class) = at {
        // With each, whether it is the wanted one or above it.
        let mut waiting = vec![(class, false)];
        while let Some((of, is_above)) = waiting.pop() {
            let Some(loaded) = loaded(jvmti, jni, of) else { continue };
            let is_above = is_above || loaded.1 == name;
            waiting.extend(jvmti.interfaces(of).into_iter().map(|of| (of, is_above)));
            if is_above && !found.contains(&loaded) {
                found.push(loaded);
            }
        }
        at = jni.parent(class);
    }
    found
}

extern "system" fn kind(jni: *mut c_void, _: Reference, of: Reference) -> i64 {
    or(0, |agent| {
        let chain = chain(agent.jvmti, Jni(jni), of);
        let mut classes = agent.classes();
        let (loader, name) = chain.first()?;
        let parent = chain[1..].iter().find(|(loader, name)| classes.is_known(*loader, name)).cloned();
        let (number, fields) = classes.class_number(*loader, name, parent);
        Some(i64::from(number) | i64::from(fields) << 32)
    })
}

extern "system" fn object(_: *mut c_void, _: Reference, kind: i32, parts: i64, site: i32) -> i64 {
    or(0, |agent| {
        let address = agent.classes().object(kind as u32, parts as u64, site as u32);
        if address == 0 {
            // Two objects without an address would be one.
            agent.note_once("there is no room for more objects: the program goes on unwatched");
            agent.session.detach();
        }
        Some(address as i64)
    })
}

extern "system" fn made(_: *mut c_void, _: Reference, address: i64, site: i32) {
    or((), |agent| {
        agent.classes().made(address as u64, site as u32);
        Some(())
    });
}

extern "system" fn kept(_: *mut c_void, _: Reference, address: i64, owner: i64, site: i32) {
    or((), |agent| {
        agent.classes().kept(address as u64, owner as u64, site as u32);
        Some(())
    });
}

extern "system" fn field(jni: *mut c_void, _: Reference, site: i32, of: Reference) -> i64 {
    const NOTHING: i64 = (variable::NOTHING as i64) << 56;
    or(NOTHING, |agent| {
        let chain = chain(agent.jvmti, Jni(jni), of);
        let field = agent.classes().field(site as u32, &chain)?;
        // A field whose numbers do not fit is not watched.
        let fits = field.of_all < 1 << 24 && field.own < 1 << 20 && field.depth < 1 << 8;
        let numbers = u64::from(field.of_all) | u64::from(field.own) << 24 | (field.depth as u64) << 44;
        let packed = numbers | field.encoding << 52 | field.what << 56;
        fits.then_some(packed as i64)
    })
}

extern "system" fn named(jni: *mut c_void, _: Reference, of: Reference, name: Reference) -> i64 {
    const NOTHING: i64 = (variable::NOTHING as i64) << 56;
    or(NOTHING, |agent| {
        let jni = Jni(jni);
        let name = jni.text(name)?;
        let chain = chain(agent.jvmti, jni, of);
        agent.classes().named(chain.first()?, name.as_bytes()).map(|packed| packed as i64)
    })
}

extern "system" fn statics(_: *mut c_void, _: Reference, site: i32) -> i64 {
    or(0, |agent| match agent.classes().statics(site as u32) {
        StaticField::Cell { at, encoding, what } => Some((at | encoding << 52 | what << 56) as i64),
        StaticField::Unknown => Some(-1),
        StaticField::Nothing => None,
    })
}

extern "system" fn are_themselves(jni: *mut c_void, _: Reference, of: Reference) -> u8 {
    or(0, |agent| {
        let chain = chain(agent.jvmti, Jni(jni), of);
        Some(u8::from(agent.classes().has_no(&chain, b"hashCode")))
    })
}

/// The number of effects before the call; these; and those after it. If the last is [`calls::UNSEEN`], the tables do
/// not say all that the call does.
extern "system" fn effects(jni: *mut c_void, _: Reference, site: i32, of: Reference) -> Reference {
    or(std::ptr::null_mut(), |agent| {
        let kind = agent.classes().site_kind(site as u32)?;
        let (before, after) = match kind {
            SiteKind::Inside(number) => {
                (vec![calls::packed(Inside::all().effects.get(usize::from(number))?)], Vec::new())
            }
            SiteKind::Call(number) => {
                let call = Calls::all().calls.get(usize::from(number))?;
                let is_dynamic = !call.is_static && call.values().is_none() && !of.is_null();
                let mut chain = if is_dynamic { chain(agent.jvmti, Jni(jni), of) } else { Vec::new() };
                let above = agent.classes().called(site as u32).filter(|_| is_dynamic);
                let mut interfaces = Vec::new();
                if let Some(above) = above {
                    match chain.iter().position(|(_, class)| *class == above) {
                        Some(at) => drop(chain.drain(..at)),
                        // The method is one of an interface (`Map.super.get`).
                        None => {
                            interfaces = interface(agent.jvmti, Jni(jni), of, &above);
                            chain.clear();
                        }
                    }
                }
                let classes = agent.classes();
                let is_watched = |chain: &[_]| classes.is_watched(chain, call.name, call.descriptor);
                // What the program's own method does is watched there.
                if is_dynamic
                    && (is_watched(&chain) || interfaces.iter().any(|one| is_watched(std::slice::from_ref(one))))
                {
                    return Some(Jni(jni).longs(&[0]));
                }
                drop(classes);
                let types = if of.is_null() { Vec::new() } else { calls::types(agent.jvmti, Jni(jni), of) };
                let (before, mut after) = calls::effects(call, &types);
                let is_nothing = before.is_empty() && after.is_empty();
                // A text is made of an object of any class. What that uses is watched, or not known for sure.
                let is_of_text = ["toString", "valueOf"].contains(&call.name);
                if is_nothing && !is_of_text
                    || calls::uses_elements(call, &types)
                    || before.iter().chain(&after).any(|&effect| calls::is_of_part(effect))
                {
                    after.push(calls::UNSEEN);
                }
                (before, after)
            }
            _ => return None,
        };
        let all: Vec<i64> = [before.len() as i64].into_iter().chain(before).chain(after).collect();
        Some(Jni(jni).longs(&all))
    })
}

extern "system" fn call_context(jni: *mut c_void, _: Reference, site: i32) -> i32 {
    or(0, |agent| crate::call_contexts::call_context(agent, Jni(jni), site as u32).map(|context| context as i32))
}

extern "system" fn call_context_of(jni: *mut c_void, _: Reference, thread: Reference) -> i32 {
    or(0, |agent| crate::call_contexts::call_context_of(agent, Jni(jni), thread, CALLED).map(|context| context as i32))
}

extern "system" fn state_of(_: *mut c_void, _: Reference, thread: Reference) -> i32 {
    or(0, |agent| Some(agent.jvmti.thread_state(thread)))
}

extern "system" fn is_joining(_: *mut c_void, _: Reference, thread: Reference) -> u8 {
    /// Calls of `Object.wait` on top of it.
    const MOST: usize = 8;
    or(0, |agent| {
        let jvmti = agent.jvmti;
        let class_of = |method: i64| jvmti.class_name(jvmti.method_class(method)?);
        let mut calls = jvmti.stack(thread, MOST).into_iter().map(|[method, _]| (class_of(method), method));
        let (class, method) = calls.find(|(class, _)| class.as_deref() != Some(b"java/lang/Object"))?;
        let is_join = jvmti.method_name(method)? == b"join" && class? == b"java/lang/Thread";
        Some(u8::from(is_join))
    })
}

extern "system" fn monitor_of(_: *mut c_void, _: Reference, thread: Reference) -> Reference {
    or(std::ptr::null_mut(), |agent| agent.jvmti.contended_monitor(thread))
}

extern "system" fn failed(jni: *mut c_void, _: Reference, why: Reference) {
    or((), |agent| {
        agent.session.failed();
        let text = Jni(jni).text_of(why).unwrap_or_default();
        agent.note_once(&format!("a hook failed, and something is not recorded: {text}"));
        Some(())
    });
}

/// Registers the methods of the class `Native`.
pub(crate) fn register(jni: Jni, class: Reference) -> bool {
    let methods = [
        (c"start", c"()[J", start as *mut c_void),
        (c"slot", c"()I", slot as *mut c_void),
        (c"chunk", c"(IIJ)I", chunk as *mut c_void),
        (c"block", c"(IIJ)I", block as *mut c_void),
        (c"tooLong", c"()V", too_long as *mut c_void),
        (c"kind", c"(Ljava/lang/Class;)J", kind as *mut c_void),
        (c"object", c"(IJI)J", object as *mut c_void),
        (c"made", c"(JI)V", made as *mut c_void),
        (c"kept", c"(JJI)V", kept as *mut c_void),
        (c"field", c"(ILjava/lang/Class;)J", field as *mut c_void),
        (c"named", c"(Ljava/lang/Class;Ljava/lang/String;)J", named as *mut c_void),
        (c"statics", c"(I)J", statics as *mut c_void),
        (c"areThemselves", c"(Ljava/lang/Class;)Z", are_themselves as *mut c_void),
        (c"effects", c"(ILjava/lang/Class;)[J", effects as *mut c_void),
        (c"callContext", c"(I)I", call_context as *mut c_void),
        (c"callContextOf", c"(Ljava/lang/Thread;)I", call_context_of as *mut c_void),
        (c"stateOf", c"(Ljava/lang/Thread;)I", state_of as *mut c_void),
        (c"isJoining", c"(Ljava/lang/Thread;)Z", is_joining as *mut c_void),
        (c"monitorOf", c"(Ljava/lang/Thread;)Ljava/lang/Object;", monitor_of as *mut c_void),
        (c"failed", c"(Ljava/lang/Throwable;)V", failed as *mut c_void),
    ];
    let methods = methods.map(|(name, descriptor, function)| Method {
        name: name.as_ptr(),
        descriptor: descriptor.as_ptr(),
        function,
    });
    jni.register(class, &methods)
}
