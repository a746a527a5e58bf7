//! What happens when the agent fails: it detaches, says why, and lets the program go on.
//!
//! A panic inside of a hook goes back to where the hook began ([`attempt`]), which then has recorded nothing. What the
//! hook had locked stays locked, so whoever waits for a lock of the agent's asks whether the agent has failed
//! ([`pause`]). Hooks outside of [`attempt`] must not fail: `check-panics` looks through the machine code for that.

use core::ffi::c_void;
use core::panic::PanicInfo;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::Ordering::Relaxed;

use crate::path::Path;
use crate::{machine, session, system, thread};

/// Whether the agent has failed in this process.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Runs a part of a hook. `None` if it failed.
#[inline(always)]
pub fn attempt<R, F: FnOnce() -> R>(f: F) -> Option<R> {
    struct Part<F, R> {
        f: Option<F>,
        result: Option<R>,
    }
    unsafe extern "C" fn call<R, F: FnOnce() -> R>(part: *mut c_void) {
        // SAFETY: the part below.
        let part = unsafe { &mut *part.cast::<Part<F, R>>() };
        if let Some(f) = part.f.take() {
            part.result = Some(f());
        }
    }
    let mut part = Part { f: Some(f), result: None };
    // SAFETY: the part lives through the call. If that fails, nothing of it is used again, and nothing needs dropping.
    unsafe { machine::catch(call::<R, F>, (&raw mut part).cast()) };
    part.result
}

/// Whether the agent has failed.
pub fn has_failed() -> bool {
    FAILED.load(Relaxed)
}

/// Waits a little for another thread. If the agent has failed, what is waited for may never come: the hook is left.
pub fn pause() {
    system::give_way();
    if FAILED.load(Relaxed) {
        leave();
    }
}

/// Leaves the hook, for good. Returns only if it is not inside of [`attempt`].
#[cold]
fn leave() {
    thread::abandon();
    // SAFETY: what is on the stack below the landing belongs to the agent.
    unsafe { machine::go_back() };
}

/// The agent has failed.
#[cold]
pub fn panicked(info: &PanicInfo<'_>) -> ! {
    let mut reason = Path::new();
    reason.push(b"it failed at ");
    if let Some(place) = info.location() {
        // Only the end of the path says something to others.
        let file = place.file().as_bytes();
        let from = file.windows(5).rposition(|part| part == b"/src/").map_or(0, |at| at + 5);
        reason.push(&file[from..]).push(b":").number(place.line());
    }
    if let Some(message) = info.message().as_str() {
        reason.push(b": ").push(message.as_bytes());
    }
    let text = reason.bytes();
    FAILED.store(true, Relaxed);
    session::detach(&text[..text.len() - 1]);
    leave();
    machine::trap()
}

/// In a forked child, nothing has failed yet.
pub fn after_fork_child() {
    FAILED.store(false, Relaxed);
}

/// Where a test makes the agent fail.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Place {
    /// When a chunk is full, with nothing locked.
    Refill = 1,
    /// While a biased region is revoked: no other thread can revoke another.
    Revoke = 2,
    /// When a thread begins.
    Begin = 3,
    /// When a thread ends.
    End = 4,
    /// The file of the process cannot grow, from then on: there is no space.
    Space = 5,
}

static PLACE: AtomicU32 = AtomicU32::new(0);
static COUNT: AtomicU32 = AtomicU32::new(0);

/// `refill 3`: the third time, as [`runtime::layout::FAIL_VARIABLE`] has it.
pub fn plan(text: &[u8]) {
    let (name, count) = text.split_at(text.iter().position(|&byte| byte == b' ').unwrap_or(text.len()));
    let place = match name {
        b"refill" => Place::Refill,
        b"revoke" => Place::Revoke,
        b"begin" => Place::Begin,
        b"end" => Place::End,
        b"space" => Place::Space,
        _ => return,
    };
    let digits = count.iter().filter(|byte| byte.is_ascii_digit());
    let count = digits.fold(0u32, |count, &digit| count.wrapping_mul(10).wrapping_add(u32::from(digit - b'0')));
    COUNT.store(count.max(1), Relaxed);
    PLACE.store(place as u32, Relaxed);
}

/// Fails here, if a test wants that. Only where nothing needs to be fast.
#[inline]
pub fn may_fail(place: Place) {
    if PLACE.load(Relaxed) == place as u32 {
        count_down();
    }
}

/// Whether a test wants that there is no space for the file of the process.
pub fn lacks_space() -> bool {
    let is_over = |count: u32| (count > 1).then(|| count - 1);
    PLACE.load(Relaxed) == Place::Space as u32 && COUNT.fetch_update(Relaxed, Relaxed, is_over).is_err()
}

#[cold]
#[inline(never)]
fn count_down() {
    assert!(COUNT.fetch_sub(1, Relaxed) != 1, "a test wants this");
}
