//! Where the agent begins and ends, and the classes of its own that it defines.

use crate::call_contexts::CallContexts;
use crate::classes::Classes;
use crate::machine::{self, Jni, Jvmti, Reference, capability, event};
use crate::metadata::MetadataLog;
use crate::session::{self, Session};
use crate::{natives, weaving};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::catch_unwind;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicPtr};
use std::sync::{Mutex, MutexGuard, Once, OnceLock};

/// The agent's own classes, super classes first.
macro_rules! own_classes {
    ($($name:literal),* $(,)?) => {
        &[$((
            // SAFETY: it ends with the only zero.
            unsafe { CStr::from_bytes_with_nul_unchecked(concat!("foretrace/agent/", $name, "\0").as_bytes()) },
            include_bytes!(concat!("../classes/foretrace/agent/", $name, ".class")),
        )),*]
    };
}

static OWN_CLASSES: &[(&CStr, &[u8])] = own_classes![
    "Native",
    "Memory",
    "CarrierPin",
    "Shadow",
    "Shadow$1",
    "Shadows",
    "Shadows$Table",
    "Kept",
    "Watched",
    "DeferredAccess",
    "ReadHolds",
    "Record",
    "ThreadClock",
    "RecordWriter",
    "ThreadTable",
    "EventValues",
    "RecentLoads",
    "ThreadState",
    "Cells",
    "AccessFilter",
    "VariableLock",
    "PackedField",
    "Sites",
    "Sites$1",
    "HeldLocks",
    "LockRequests",
    "Locks",
    "LastWaits",
    "StampedLocks",
    "BoundedQueues",
    "Monitors",
    "Threads",
    "Accesses",
    "Call",
    "Calls",
    "Inside",
    "Semaphores",
    "Grants",
    "Remaining",
    "FieldHandle",
    "RawMemory",
    "Atomics",
    "Atomics$Cell",
    "KeyHashes",
    "KeyHashes$1",
    "CallContexts",
    "Effect",
    "EffectRecorder",
    "WrappedCollections",
    "PlainCollections",
    "PlainCollections$1",
    "PlainCollections$2",
    "GuardedCollections",
    "CallEffects",
    "CallEffects$1",
    "EntrySync",
    "EventPlan",
    "EventPlan$OfClass",
    "SpecEvents",
    "Hooks",
];

/// How many different notes are written once.
const MOST_NOTES: usize = 16;

/// The newest release of Java against which the tables were checked (agents/jvm/check-jdks).
const NEWEST: u16 = 25;

/// The agent of this process.
pub(crate) struct Agent {
    pub(crate) jvmti: Jvmti,
    pub(crate) session: &'static Session,
    /// The release of Java.
    pub(crate) release: u16,
    classes: Mutex<Classes>,
    contexts: Mutex<CallContexts>,
    /// The hooks may be called.
    live: AtomicBool,
    /// The module of the hooks, and the class `Hooks`.
    module: AtomicPtr<c_void>,
    hooks: AtomicPtr<c_void>,
    /// Notes that are written only once.
    noted: Mutex<Vec<String>>,
    /// Whether the classes of a loader find the hooks, by the loaders' numbers.
    pub(crate) asked: Mutex<FxHashMap<i64, bool>>,
    /// Site numbers have run out.
    pub(crate) full: Once,
}

static AGENT: OnceLock<Agent> = OnceLock::new();

/// The agent, if the process is watched.
pub(crate) fn agent() -> Option<&'static Agent> {
    AGENT.get()
}

impl Agent {
    pub(crate) fn classes(&self) -> MutexGuard<'_, Classes> {
        self.classes.lock().unwrap_or_else(|failed| failed.into_inner())
    }

    pub(crate) fn contexts(&self) -> MutexGuard<'_, CallContexts> {
        self.contexts.lock().unwrap_or_else(|failed| failed.into_inner())
    }

    /// Whether hooks may be called.
    pub(crate) fn is_live(&self) -> bool {
        self.live.load(Acquire)
    }

    pub(crate) fn module(&self) -> Reference {
        self.module.load(Acquire)
    }

    /// Adds a note for the report.
    pub(crate) fn note(&self, text: &str) {
        self.classes().note(text);
    }

    /// Adds a note for the report once, unless there are too many of these.
    pub(crate) fn note_once(&self, text: &str) {
        let mut noted = self.noted.lock().unwrap_or_else(|failed| failed.into_inner());
        if noted.len() < MOST_NOTES && !noted.iter().any(|other| other == text) {
            noted.push(text.to_owned());
            drop(noted);
            self.note(text);
        }
    }
}

/// The machine loads the agent.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "system" fn Agent_OnLoad(machine: *mut c_void, _options: *const c_char, _: *mut c_void) -> i32 {
    // A machine whose agent fails does not start, so failures are hidden from it.
    let _ = catch_unwind(|| begin(machine));
    0
}

fn begin(machine: *mut c_void) -> Option<()> {
    if AGENT.get().is_some() {
        return None;
    }
    let jvmti = machine::jvmti(machine)?;
    let needed = [
        capability::TAG_OBJECTS,
        capability::SOURCE_FILE_NAME,
        capability::LINE_NUMBERS,
        capability::ALL_CLASS_HOOKS,
        capability::EARLY_CLASS_HOOKS,
        capability::RETRANSFORM,
        capability::RETRANSFORM_ANY,
    ];
    if !jvmti.add_capabilities(&needed) {
        return None;
    }
    // Without it, only waits for monitors are not known at the end.
    jvmti.add_capabilities(&[capability::CONTENDED_MONITOR]);
    let session = session::start()?;
    lead_others();
    let metadata = MetadataLog::create(session.path()).ok()?;
    let agent = Agent {
        jvmti,
        session,
        release: release(jvmti),
        classes: Mutex::new(Classes::new(metadata, session.settings.clone(), session.has_no_accesses())),
        contexts: Mutex::default(),
        live: AtomicBool::new(false),
        module: AtomicPtr::default(),
        hooks: AtomicPtr::default(),
        noted: Mutex::default(),
        asked: Mutex::default(),
        full: Once::new(),
    };
    if agent.release > NEWEST {
        let release = agent.release;
        agent.note(&format!(
            "Java {release} is newer than the tables ({NEWEST}): what it brought may order more than is seen"
        ));
    }
    AGENT.set(agent).ok()?;
    let_all_find_hooks(jvmti);
    session.run();
    jvmti.set_callbacks(&[
        (event::INIT, initialised as *mut c_void),
        (event::DEATH, died as *mut c_void),
        (event::THREAD_END, thread_ended as *mut c_void),
        (event::VIRTUAL_THREAD_END, thread_ended as *mut c_void),
        (event::MONITOR_CONTENDED, contended as *mut c_void),
        (event::CLASS_FILE, weaving::class_file as *mut c_void),
    ]);
    for event in [event::INIT, event::DEATH, event::CLASS_FILE] {
        jvmti.enable(event);
    }
    Some(())
}

/// The release of Java; 0 if the machine does not say.
fn release(jvmti: Jvmti) -> u16 {
    let text = jvmti.property(c"java.vm.specification.version").unwrap_or_default();
    String::from_utf8_lossy(&text).trim().parse().unwrap_or(0)
}

/// Lets class loaders of modules find the hooks: OSGi and JBoss ask the bootstrap loader only for packages that these
/// properties name.
fn let_all_find_hooks(jvmti: Jvmti) {
    for (name, own) in [
        (c"org.osgi.framework.bootdelegation", "foretrace.*"),
        (c"atlassian.org.osgi.framework.bootdelegation", "foretrace.*"),
        (c"jboss.modules.system.pkgs", "foretrace"),
    ] {
        let others = jvmti.property(name).map(|text| String::from_utf8_lossy(&text).into_owned());
        let value =
            others.filter(|text| !text.is_empty()).map_or_else(|| own.to_owned(), |text| format!("{text},{own}"));
        if let Ok(value) = CString::new(value) {
            jvmti.set_property(name, &value);
        }
    }
}

/// Makes virtual machines that this one starts load the agent, too.
fn lead_others() {
    const OPTION: &str = "FORETRACE_JVM_OPTION";
    const OPTIONS: &str = "JAVA_TOOL_OPTIONS";
    let Some(option) = std::env::var_os(OPTION) else { return };
    let mut options = option.clone();
    if let Some(others) = std::env::var_os(OPTIONS) {
        if others.as_encoded_bytes().windows(option.len()).any(|part| part == option.as_encoded_bytes()) {
            return;
        }
        options.push(" ");
        options.push(others);
    }
    // SAFETY: the machine is being loaded, by its first thread.
    unsafe { std::env::set_var(OPTIONS, options) };
}

/// The machine can run Java: defines the agent's own classes, and lets threads record.
extern "system" fn initialised(_: *mut c_void, jni: *mut c_void, _thread: Reference) {
    let result = catch_unwind(|| live(Jni(jni)));
    if !matches!(result, Ok(Some(())))
        && let Some(agent) = agent()
    {
        agent.note("the agent's own classes could not be defined: nothing is watched");
        agent.session.detach();
    }
}

fn live(jni: Jni) -> Option<()> {
    let agent = agent()?;
    let jvmti = agent.jvmti;
    // The unnamed module of the bootstrap loader is known by a class that is in it.
    let first = jni.define(OWN_CLASSES[0].0, OWN_CLASSES[0].1)?;
    let module = jni.keep(jni.module(first));
    agent.module.store(module, Release);
    let base = jni.module(jni.find(c"java/lang/Thread")?);
    jvmti.add_reads(base, module);
    for package in [c"jdk.internal.misc", c"jdk.internal.vm", c"jdk.internal.vm.annotation", c"jdk.internal.reflect"] {
        jvmti.add_exports(base, package, module);
    }
    if !natives::register(jni, first) {
        return None;
    }
    let mut own = vec![first];
    for (name, file) in &OWN_CLASSES[1..] {
        own.push(jni.define(name, file)?);
    }
    let hooks = *own.last()?;
    agent.hooks.store(jni.keep(hooks), Release);
    // Initialises everything before a hook needs it: the program's threads wait for no class of the agent's.
    jni.run(hooks, c"ready", None);
    for class in own {
        jni.run(hooks, c"initialise", Some(class));
    }
    agent.live.store(true, Release);
    let is_late = |class: &Reference| jvmti.class_name(*class).is_some_and(|name| weaving::is_late(&name));
    let late: Vec<Reference> = jvmti.loaded().into_iter().filter(is_late).collect();
    if jvmti.retransform(&late) != 0 {
        agent.note("classes of the JDK could not be changed: who starts threads is not known");
    }
    jvmti.enable(event::THREAD_END);
    if jvmti.add_capabilities(&[capability::MONITOR_EVENTS]) {
        jvmti.enable(event::MONITOR_CONTENDED);
    }
    if jvmti.add_capabilities(&[capability::VIRTUAL_THREADS]) {
        jvmti.enable(event::VIRTUAL_THREAD_END);
    }
    Some(())
}

/// A thread ends; this is the last that it does.
extern "system" fn thread_ended(_: *mut c_void, jni: *mut c_void, _thread: Reference) {
    let _ = catch_unwind(|| {
        let hooks = agent()?.hooks.load(Acquire);
        if !hooks.is_null() {
            Jni(jni).run(hooks, c"ending", None);
        }
        Some(())
    });
}

thread_local! {
    /// The thread is inside [`contended`].
    static IS_CONTENDED: Cell<bool> = const { Cell::new(false) };
}

/// A thread is about to wait for a monitor that another one holds. The machine itself may be what waits, for instance
/// for a class that another thread links. What is called here may wait as well and would come here again without end:
/// only the outermost call does something.
extern "system" fn contended(_: *mut c_void, jni: *mut c_void, _thread: Reference, object: Reference) {
    if IS_CONTENDED.replace(true) {
        return;
    }
    let _ = catch_unwind(|| {
        let hooks = agent()?.hooks.load(Acquire);
        if !hooks.is_null() {
            Jni(jni).run(hooks, c"contended", Some(object));
        }
        Some(())
    });
    IS_CONTENDED.set(false);
}

/// The machine ends by itself.
extern "system" fn died(_: *mut c_void, _native: *mut c_void) {
    if let Some(agent) = agent() {
        agent.session.finish();
    }
}
