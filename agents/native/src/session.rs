//! The session: finds out whether an observer wants this process watched, makes the process' file, and ends it.

use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32};

use runtime::layout::{
    CLOCK_VARIABLE, FAIL_VARIABLE, MAGIC, Process, SESSION_VARIABLE, Session, VERSION, Watch, offset, process, refused,
};

use crate::path::Path;
use crate::thread::Thread;
use crate::{biased, clock, failing, gates, machine, memory, read_summaries, ring, shadow, stacks, stripes, system};
use crate::{thread, waiting, watch};

/// Values of `Process::agent`.
mod agent {
    pub const STATIC: u32 = 0;
    pub const LINKED: u32 = 1;
    pub const PRELOADED: u32 = 2;
}

/// The states of [`State`].
mod state {
    /// No hook has run yet; or this is a forked child that has not noticed it.
    pub const NEW: u32 = 0;
    pub const STARTING: u32 = 1;
    pub const RUNNING: u32 = 2;
    pub const OFF: u32 = 3;
}

/// The state, alone in a page that is zero in every forked child, whoever forked it: [`is_forked`].
#[repr(C, align(4096))]
struct State(AtomicU32, [u8; 4092]);

static PAGE: State = State(AtomicU32::new(state::NEW), [0; 4092]);
/// Whether the kernel does that.
static WIPES: AtomicBool = AtomicBool::new(false);
static FILE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static SESSION: AtomicPtr<Session> = AtomicPtr::new(ptr::null_mut());
static PRELOADED: AtomicBool = AtomicBool::new(false);
/// What the agent's library is called.
const NAME: &[u8] = b"foretrace_native";
static NAMES: Names = Names(UnsafeCell::new((Path::new(), Path::new())));

/// The session's directory and the process' file in it.
struct Names(UnsafeCell<(Path, Path)>);
// SAFETY: written by the one thread that starts the session, or alone in a forked child, before others may read.
unsafe impl Sync for Names {}

/// Whether the process is being watched.
#[inline]
pub fn is_running() -> bool {
    PAGE.0.load(Relaxed) == state::RUNNING
}

/// Whether this is a child of the watched process that was forked unseen, by a system call of the program's own. All
/// that is wiped in children is empty; nothing was set up again.
#[cold]
pub fn is_forked() -> bool {
    PAGE.0.load(Relaxed) == state::NEW && !file().is_null() && WIPES.load(Relaxed)
}

/// Whether the process is being watched, or will be with its next hook.
#[inline]
pub fn is_on() -> bool {
    is_running() || is_forked()
}

/// Whether this process is the one that its file says. Not so in a child that still shares, or has copied, the memory.
pub fn is_own_process() -> bool {
    process().is_none_or(|process| process.pid == system::process_id())
}

/// Whether forked children are noticed ([`is_forked`]); then a process with another number shares our memory.
pub fn notices_forks() -> bool {
    WIPES.load(Relaxed)
}

/// The result of a start.
pub enum Started {
    /// The process is watched.
    Now,
    /// Another thread is starting it.
    Soon,
    /// It is not watched.
    Off,
}

/// Starts the session, if no thread has yet.
pub fn start() -> Started {
    match PAGE.0.compare_exchange(state::NEW, state::STARTING, AcqRel, Acquire) {
        Ok(_) => {
            let watched = !machine::is_second()
                && open_session()
                && !is_java()
                && has_no_more_rights()
                && has_memory(|| memory::start() && shadow::start() && stacks::start())
                && open_process();
            if watched {
                // SAFETY: a page of our own, which no file is behind: it is zero at first.
                let wipes = unsafe { system::wipe_on_fork((&raw const PAGE).cast_mut().cast(), size_of::<State>()) };
                WIPES.store(wipes, Relaxed);
                read_summaries::start();
                biased::start();
                watch::find();
                // SAFETY: only the thread that starts the session comes here.
                gates::start(unsafe { &(*NAMES.0.get()).0 });
            }
            PAGE.0.store(if watched { state::RUNNING } else { state::OFF }, Release);
            if watched { Started::Now } else { Started::Off }
        }
        Err(state::RUNNING) => Started::Now,
        Err(state::STARTING) => Started::Soon,
        Err(_) => Started::Off,
    }
}

/// Notes that a module of the program has hooks: the agent was not only preloaded.
pub fn has_hooks() {
    if is_running()
        && let Some(process) = process()
        && process.agent == agent::PRELOADED
    {
        let agent = (&raw const process.agent).cast_mut();
        // SAFETY: a word of the mapped file that no other thread writes.
        unsafe { agent.write_volatile(agent::LINKED) };
    }
}

/// Whether any module has hooks.
#[inline]
pub fn is_hooked() -> bool {
    // SAFETY: see [`has_hooks`], which may write meanwhile.
    process().is_some_and(|process| unsafe { (&raw const process.agent).read_volatile() } != agent::PRELOADED)
}

/// The process' file.
#[inline]
pub fn file() -> *mut u8 {
    FILE.load(Relaxed)
}

/// The head of the process' file.
pub fn process() -> Option<&'static Process> {
    // SAFETY: mapped for the life of the process, once it is there.
    unsafe { file().cast::<Process>().as_ref() }
}

fn session() -> Option<&'static Session> {
    // SAFETY: mapped for the life of the process, once it is there.
    unsafe { SESSION.load(Relaxed).as_ref() }
}

/// The flags of the session.
#[inline]
pub fn flags() -> u32 {
    session().map_or(0, |session| session.flags)
}

/// The observer's heartbeat.
pub fn heartbeat() -> u64 {
    session().map_or(0, |session| session.heartbeat.load(Relaxed))
}

/// Whether the observer's process lives.
pub fn observer_is_alive() -> bool {
    session().is_some_and(|session| system::is_alive(session.observer))
}

/// The variables and functions that specifications name.
pub fn watches() -> &'static [Watch] {
    let at = SESSION.load(Relaxed);
    if at.is_null() {
        return &[];
    }
    // SAFETY: `open_session` compared the number with the file's length.
    unsafe { core::slice::from_raw_parts(at.add(1).cast(), (*at).watches as usize) }
}

/// Gives up: the program goes on unwatched. The first reason counts.
pub fn detach(reason: &[u8]) {
    if let Some(process) = process()
        && process.reason[0].load(Relaxed) == 0
    {
        for (to, &byte) in process.reason.iter().zip(reason) {
            to.store(byte, Relaxed);
        }
    }
    set_state(process::DETACHED);
    forget();
}

/// How long young threads may run when the program ends, in milliseconds.
pub fn exit_wait() -> u32 {
    session().map_or(0, |session| session.exit_wait)
}

/// Leaves word that this process is not watched, and why.
fn refuse(why: &str) {
    // SAFETY: only the thread that starts the session comes here, or the only one of a forked child.
    let mut name = unsafe { (*NAMES.0.get()).0 };
    name.push(b"/refused-").number(system::process_id()).push(b"-").push(why.as_bytes());
    if name.is_whole() {
        // An empty file needs next to nothing.
        system::open(name.bytes(), libc::O_WRONLY | libc::O_CREAT).inspect(|&fd| system::close(fd));
    }
}

/// Whether the program has the rights of its user. If it has more, the environment may be a trap.
fn has_no_more_rights() -> bool {
    // SAFETY: asks only.
    let may = unsafe { libc::getauxval(libc::AT_SECURE) } == 0;
    if !may {
        refuse(refused::SECURE);
    }
    may
}

/// Whether there is address space enough: what the agent takes would be missing to the program.
fn has_memory(start: impl FnOnce() -> bool) -> bool {
    const ENOUGH: u64 = 16 << 30;
    let has = system::address_limit() >= ENOUGH && start();
    if !has {
        refuse(refused::MEMORY);
    }
    has
}

/// Makes every hook return at once from now on; the state in the file stays.
pub fn forget() {
    PAGE.0.store(state::OFF, Release);
}

/// Announces the state of the process (one of `layout::process`): before exec `EXECUTED`, `RUNNING` if that failed.
pub fn set_state(state: u32) {
    if let Some(process) = process() {
        process.state.store(state, Release);
    }
}

/// Ends the session, because the process ends by itself: everything is written. For `_exit` and the end of `main`.
pub fn finish() {
    if is_running() && is_own_process() {
        thread::enter(0, Thread::write_remaining);
        thread::report();
        report_dropped();
        set_state(process::EXITED);
    }
}

/// Reports how many entries the filter has dropped so far.
pub fn report_dropped() {
    if let Some(process) = process() {
        process.dropped.store(memory::filter().dropped.0.load(Relaxed), Relaxed);
    }
}

/// Opens the process' file, and runs `f` with its descriptor.
pub fn with_file<R>(f: impl FnOnce(i32) -> R) -> Option<R> {
    // SAFETY: written before the session runs.
    let name = unsafe { &(*NAMES.0.get()).1 };
    let fd = system::open(name.bytes(), libc::O_RDWR)?;
    let result = f(fd);
    system::close(fd);
    Some(result)
}

fn open_session() -> bool {
    // SAFETY: only the thread that starts the session comes here.
    let directory = unsafe { &mut (*NAMES.0.get()).0 };
    if !find_variable(directory) || !directory.is_whole() {
        return false;
    }
    let mut name = *directory;
    name.push(b"/session");
    let Some(fd) = name.is_whole().then(|| system::open(name.bytes(), libc::O_RDONLY)).flatten() else { return false };
    let length = system::length(fd);
    let at = if length < size_of::<Session>() { None } else { system::map_file(fd, length, false) };
    system::close(fd);
    let Some(at) = at else { return false };
    let session = at.cast::<Session>();
    // SAFETY: the file is long enough for its head, and for the watches once that is compared.
    unsafe {
        let room = (length - size_of::<Session>()) / size_of::<Watch>();
        if (*session).magic != MAGIC || (*session).version != VERSION || (*session).watches as usize > room {
            refuse(refused::VERSION);
            return false;
        }
    }
    SESSION.store(session, Release);
    true
}

/// `environ` is not set yet when the first hook runs.
fn find_variable(value: &mut Path) -> bool {
    const MOST: usize = 4 << 20;
    let Some(fd) = system::open(b"/proc/self/environ\0", libc::O_RDONLY) else { return false };
    let Some(at) = system::map(MOST) else { return false };
    // SAFETY: a mapping of this size, ours alone.
    let text = unsafe { core::slice::from_raw_parts_mut(at, MOST) };
    let mut length = 0;
    while let Some(rest) = text.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match system::read(fd, rest) {
            0 => break,
            n => length += n,
        }
    }
    system::close(fd);
    let mut found = false;
    for entry in text[..length].split(|&byte| byte == 0) {
        let of = |name: &str| entry.strip_prefix(name.as_bytes()).and_then(|rest| rest.strip_prefix(b"="));
        if let Some(directory) = of(SESSION_VARIABLE) {
            value.push(directory);
            found = directory.first() == Some(&b'/');
        }
        if let Some(how) = of(CLOCK_VARIABLE) {
            clock::set(how);
        }
        if let Some(text) = of(FAIL_VARIABLE) {
            failing::plan(text);
        }
        if entry.starts_with(b"LD_PRELOAD=") && entry.windows(NAME.len()).any(|part| part == NAME) {
            PRELOADED.store(true, Relaxed);
        }
    }
    // SAFETY: nothing refers to it any more.
    unsafe { system::unmap(at, MOST) };
    found
}

/// Whether the program is a launcher of Java: another agent watches it, and the threads of the virtual machine itself
/// are of no interest.
fn is_java() -> bool {
    const LAUNCHER: &[u8] = b"/libjli.so";
    let Some(fd) = system::open(b"/proc/self/maps\0", libc::O_RDONLY) else { return false };
    // The end of the last part stays in front: a name may lie across.
    let (mut buffer, mut kept, mut found) = ([0; 4096], 0, false);
    loop {
        let n = system::read(fd, &mut buffer[kept..]);
        let text = &buffer[..kept + n];
        found |= text.windows(LAUNCHER.len()).any(|part| part == LAUNCHER);
        if n == 0 || found {
            break;
        }
        let rest = text.len().min(LAUNCHER.len());
        buffer.copy_within(kept + n - rest..kept + n, 0);
        kept = rest;
    }
    system::close(fd);
    found
}

/// Makes and maps the process' file.
fn open_process() -> bool {
    // SAFETY: only the thread that starts the session comes here, or the only one of a forked child.
    let (directory, name) = unsafe { &mut *NAMES.0.get() };
    let pid = system::process_id();
    // Beyond the limit, the kernel would kill the program.
    if system::file_limit() < offset::SIZE as u64 {
        refuse(refused::ROOM);
        return false;
    }
    for n in 0..10_000 {
        *name = *directory;
        name.push(b"/p-").number(pid).push(b"-").number(n);
        if !name.is_whole() {
            return false;
        }
        let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
        let Some(fd) = system::open(name.bytes(), flags) else {
            if system::open(name.bytes(), libc::O_RDONLY).inspect(|&fd| system::close(fd)).is_some() {
                continue;
            }
            refuse(refused::ROOM);
            return false;
        };
        let at = if system::truncate(fd, offset::SIZE) && system::allocate(fd, 0, offset::WORDS_AT) {
            system::map_file(fd, offset::SIZE, true)
        } else {
            None
        };
        system::close(fd);
        let Some(at) = at else {
            system::remove(name.bytes());
            refuse(refused::ROOM);
            return false;
        };
        // SAFETY: a new file of zeros, as long as it must be. The observer waits for `RUNNING`.
        unsafe {
            let process = at.cast::<Process>();
            (*process).magic = MAGIC;
            (*process).version = VERSION;
            (*process).pid = pid;
            (*process).parent = system::parent_id();
            (*process).clock = clock::choose();
            (*process).agent = match (machine::is_in_program(), PRELOADED.load(Relaxed)) {
                (true, _) => agent::STATIC,
                (_, true) => agent::PRELOADED,
                _ => agent::LINKED,
            };
        }
        FILE.store(at, Release);
        copy_maps();
        set_state(process::RUNNING);
        return true;
    }
    false
}

/// Modules were loaded (`dlopen`): copies the memory map, and looks for watched variables and functions.
pub fn modules_changed() {
    if is_running() {
        copy_maps();
        watch::find();
        gates::find();
    }
}

/// Writes another copy of the memory map.
pub fn copy_maps() {
    let Some(process) = process() else { return };
    let number = process.maps.load(Relaxed);
    /// Far more than a map has.
    const ENOUGH: u64 = 64 << 20;
    if system::file_limit() < ENOUGH {
        return;
    }
    // SAFETY: written before the session runs.
    let mut name = unsafe { (*NAMES.0.get()).1 };
    name.push(b".maps-").number(number);
    let Some(from) = system::open(b"/proc/self/maps\0", libc::O_RDONLY) else { return };
    let to = name.is_whole().then(|| system::open(name.bytes(), libc::O_WRONLY | libc::O_CREAT)).flatten();
    if let Some(to) = to {
        let mut buffer = [0; 4096];
        loop {
            let n = system::read(from, &mut buffer);
            if n == 0 || !system::write(to, &buffer[..n]) {
                break;
            }
        }
        system::close(to);
        process.maps.store(number + 1, Release);
    }
    system::close(from);
}

/// In a forked child, called by its only thread before anything else: makes a file of its own, an empty shadow, a new
/// slot.
pub fn after_fork_child() {
    if !is_running() && !is_forked() {
        return;
    }
    PAGE.0.store(state::STARTING, Release);
    let old = FILE.swap(ptr::null_mut(), AcqRel);
    failing::after_fork_child();
    gates::after_fork_child();
    waiting::after_fork_child();
    ring::after_fork_child();
    stripes::after_fork_child();
    memory::after_fork_child();
    shadow::after_fork_child();
    read_summaries::after_fork_child();
    biased::start();
    let watched = open_process();
    if !old.is_null() {
        // SAFETY: the parent's file; no thread of this process writes into it any more.
        unsafe { system::unmap(old, offset::SIZE) };
    }
    if watched {
        watch::find();
    }
    PAGE.0.store(if watched { state::RUNNING } else { state::OFF }, Release);
    thread::after_fork_child();
}

unsafe extern "C" fn begin() {
    thread::attach_first();
}

unsafe extern "C" fn end() {
    waiting::wait_for_young_threads();
    finish();
}

#[used]
#[unsafe(link_section = ".init_array.00099")]
static BEGIN: unsafe extern "C" fn() = begin;
// Of these functions, the one with the lowest number runs last.
#[used]
#[unsafe(link_section = ".fini_array.00000")]
static END: unsafe extern "C" fn() = end;
