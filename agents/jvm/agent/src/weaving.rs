//! Gives hooks to every class that is loaded, if it is to be watched.

use crate::classes::{BOOT, Classes};
use crate::machine::{self, Jni, Jvmti, Reference};
use crate::start::{self, Agent};
use runtime::java::SITES;
use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use weave::{ClassInfo, Inside, OfflineClass, Woven};

const THREAD: &[u8] = b"java/lang/Thread";
/// The threads of the JDK with a `start` of their own.
const VIRTUAL_THREAD: &[u8] = b"java/lang/VirtualThread";

/// The note for the first class that another version of Foretrace has woven offline.
const OUTDATED: &str = "another version of foretrace has woven classes of the program offline: \
     they were woven anew as they were loaded; \
     `foretrace weave` of their jar, by this version, makes them load faster again";
static IS_OUTDATED: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// The loaders that this thread is asking now ([`finds_hooks`]).
    static ASKING: RefCell<Vec<i64>> = const { RefCell::new(Vec::new()) };
}

/// As many sites as a deferred access can name (`DeferredAccess.SITE_BITS`).
const MOST_SITES: usize = SITES as usize;

/// The number of a class loader. In this environment, only the agent gives tags.
pub(crate) fn loader_number(jvmti: Jvmti, loader: Reference) -> i64 {
    let tag = jvmti.tag(loader);
    if tag != 0 {
        return tag;
    }
    let Some(agent) = start::agent() else { return 0 };
    let mut classes = agent.classes();
    // Another thread may have been faster.
    let tag = jvmti.tag(loader);
    if tag != 0 {
        return tag;
    }
    let number = classes.new_loader();
    jvmti.set_tag(loader, number);
    number
}

/// The class file with hooks. `None`: it stays as it is.
fn woven(agent: &Agent, jni: Jni, loader: Reference, name: &[u8], file: &[u8]) -> Option<Vec<u8>> {
    if name == THREAD || name == VIRTUAL_THREAD {
        let woven = weave::thread(file, name == THREAD, agent.is_live());
        return woven.inspect_err(|error| agent.note_once(&format!("{}: {error}", String::from_utf8_lossy(name)))).ok();
    }
    if agent.is_live() && Inside::all().has(name) {
        return inside(agent, name, file);
    }
    // A class that was woven once must keep its fields and super class, whatever redefines it later.
    let is_again = || agent.classes().is_known(agent.jvmti.tag(loader), name);
    let is_wanted = !loader.is_null() && agent.is_live() && (!agent.session.is_off() || is_again());
    let settings = &agent.session.settings;
    let text = std::str::from_utf8(name).ok()?;
    let loads = || agent.jvmti.class_name(jni.class(loader));
    let is_watched = is_wanted
        && settings.has_class(text)
        && loads().is_some_and(|loads| settings.has_class_from(text, &String::from_utf8_lossy(&loads)));
    let offline = OfflineClass::of(file);
    if !is_watched {
        // The inert hooks of a class that was woven offline do nothing, but the class is to be as if they were not
        // there.
        return offline.and_then(|offline| offline.original().ok());
    }
    let number = loader_number(agent.jvmti, loader);
    if !finds_hooks(agent, jni, loader, number) {
        return offline.and_then(|offline| offline.original().ok());
    }
    let mut classes = agent.classes();
    let mut notes = Vec::new();
    let result = match offline {
        Some(offline) => {
            if !offline.is_current() && !IS_OUTDATED.swap(true, Relaxed) {
                notes.push(OUTDATED.to_owned());
            }
            woven_offline(agent, &classes, number, offline)
        }
        None => weave::weave(file, classes.next_site(), &classes.context(number)),
    };
    let class = String::from_utf8_lossy(name);
    let file = match result {
        Ok(woven) if classes.next_site() as usize + woven.sites.len() > MOST_SITES => {
            agent.full.call_once(|| {
                notes.push(format!("the program has too many places: {class} and others are not watched"));
            });
            None
        }
        Ok(woven) => {
            for (method, error) in &woven.skipped {
                let method = woven.info.methods.get(*method).map(|(name, _)| String::from_utf8_lossy(name));
                let method = method.unwrap_or_default();
                notes.push(format!("accesses in {class}.{method} are not watched: {error}"));
            }
            classes.add(number, woven.info, woven.sites);
            woven.file
        }
        Err(error) => {
            notes.push(format!("{class} is not watched: {error}"));
            None
        }
    };
    notes.iter().for_each(|note| classes.note(note));
    drop(classes);
    // A named module must be able to read the hooks' module, which is the unnamed one of the bootstrap loader.
    if let Some(module) = agent.jvmti.module(loader, &machine::package(name)) {
        agent.jvmti.add_reads(module, agent.module());
    }
    file
}

/// Whether classes of a loader can find the hooks. The loader is asked once. (The machine would ask it as soon as it
/// has read the class.)
fn finds_hooks(agent: &Agent, jni: Jni, loader: Reference, number: i64) -> bool {
    let asked = || agent.asked.lock().unwrap_or_else(|failed| failed.into_inner());
    if let Some(&finds) = asked().get(&number) {
        return finds;
    }
    // Classes that the loader loads to answer are left alone. Other threads that load classes meanwhile ask for
    // themselves.
    if ASKING.with_borrow(|asking| asking.contains(&number)) {
        return false;
    }
    ASKING.with_borrow_mut(|asking| asking.push(number));
    let finds = jni.loads(loader, c"foretrace.agent.Watched");
    ASKING.with_borrow_mut(Vec::pop);
    let is_new = asked().insert(number, finds).is_none();
    if is_new && !finds {
        let name = agent.jvmti.class_name(jni.class(loader)).unwrap_or_default();
        let name = String::from_utf8_lossy(&name).replace('/', ".");
        agent.note(&format!("classes of a {name} are not watched: that loader does not let them find the agent's"));
    }
    finds
}

/// The class file with hooks, for a class that was woven offline: as it was woven then, if it would be woven like
/// that now.
fn woven_offline(agent: &Agent, classes: &Classes, loader: i64, offline: OfflineClass) -> weave::Result<Woven> {
    let original = offline.original()?;
    let settings = &agent.session.settings;
    if offline.is_current() && offline.is_for(&settings.filter) {
        let woven = offline.woven(classes.next_site())?;
        if !settings.concern(&woven.info, &woven.sites) {
            return Ok(woven);
        }
    }
    weave::weave(&original, classes.next_site(), &classes.context(loader))
}

/// The class file with hooks, for a class of the JDK in which threads synchronise.
fn inside(agent: &Agent, name: &[u8], file: &[u8]) -> Option<Vec<u8>> {
    let mut classes = agent.classes();
    match weave::weave_inside(file, classes.next_site()) {
        Ok((woven, found)) => {
            for text in missing(name, &found, agent.release) {
                classes.note(&text);
            }
            for (_, why) in &woven.skipped {
                classes.note(&format!("a method of {} is not watched: {why}", String::from_utf8_lossy(name)));
            }
            // Its fields are not watched.
            let known = ClassInfo { fields: Vec::new(), ..woven.info };
            classes.add(BOOT, known, woven.sites);
            woven.file
        }
        Err(error) => {
            classes.note(&format!("{} is not watched: {error}", String::from_utf8_lossy(name)));
            None
        }
    }
}

/// Rows of the table for a class and this release of Java that were not found there: a newer release may have renamed
/// the member.
fn missing(name: &[u8], found: &[usize], release: u16) -> Vec<String> {
    let rows = Inside::all().rows.iter().enumerate();
    let rows =
        rows.filter(|(number, row)| !found.contains(number) && row.class.as_bytes() == name && row.is_of(release));
    rows.map(|(_, row)| format!("{} of {} is not in this Java: who it orders is not seen", row.member, row.class))
        .collect()
}

/// Whether a class that was loaded before the hooks were there is to be changed.
pub(crate) fn is_late(name: &[u8]) -> bool {
    name == THREAD || name == VIRTUAL_THREAD || Inside::all().has(name)
}

/// The machine has read a class file.
#[allow(clippy::too_many_arguments)]
pub(crate) extern "system" fn class_file(
    jvmti: *mut c_void,
    jni: *mut c_void,
    _redefined: Reference,
    loader: Reference,
    name: *const c_char,
    _domain: Reference,
    size: i32,
    file: *const u8,
    new_size: *mut i32,
    new_file: *mut *mut u8,
) {
    let result = catch_unwind(AssertUnwindSafe(|| {
        let agent = start::agent()?;
        // SAFETY: the machine gives a file of this size.
        let file = unsafe { std::slice::from_raw_parts(file, usize::try_from(size).ok()?) };
        let given = if name.is_null() {
            weave::Class::read(file).ok()?.name().ok()?.to_vec()
        } else {
            // SAFETY: the machine gives a text.
            unsafe { CStr::from_ptr(name) }.to_bytes().to_vec()
        };
        let woven = woven(agent, Jni(jni), loader, &given, file)?;
        let memory = Jvmti(jvmti).allocate(woven.len())?;
        // SAFETY: as much memory as is copied, and places for both that the machine gives.
        unsafe {
            std::ptr::copy_nonoverlapping(woven.as_ptr(), memory, woven.len());
            *new_size = woven.len() as i32;
            *new_file = memory;
        }
        Some(())
    }));
    if result.is_err()
        && let Some(agent) = start::agent()
    {
        agent.note_once("a class could not be woven (the agent failed)");
    }
}

#[test]
fn missing_rows_are_noted() {
    let pool = "java/util/concurrent/ThreadPoolExecutor";
    let rows = Inside::all().rows.iter().enumerate();
    let of_pool: Vec<usize> = rows.filter(|(_, row)| row.class == pool).map(|(number, _)| number).collect();
    assert!(missing(pool.as_bytes(), &of_pool, 17).is_empty());
    let text = missing(pool.as_bytes(), &of_pool[1..], 17).concat();
    assert!(text.starts_with("execute of java/util/concurrent/ThreadPoolExecutor is not in this Java"), "{text}");
    // The class came later.
    assert!(missing(b"java/util/concurrent/ThreadPerTaskExecutor", &[], 17).is_empty());
}
