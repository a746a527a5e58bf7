//! At the end of the program, lets threads run that have not had the time to: what they do may be an error that this
//! run would hide.
//!
//! A thread gets the time until it is as old as the session says (a second). It is not waited for when it has ended,
//! or waits for something that no time limit ends. So a program that joins its threads, or whose threads all wait for
//! work, ends at once, and so does one whose threads are old.

use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed};

use crate::path::Path;
use crate::slots::slot_state;
use crate::{session, system, thread};

/// Between two looks, in milliseconds.
const NAP: u32 = 2;

/// Only once: functions that are called at the end may end the program again.
static WAITED: AtomicBool = AtomicBool::new(false);

/// Waits for young threads of a program that is about to end.
pub fn wait_for_young_threads() {
    let most = u64::from(session::exit_wait());
    if most == 0 || !session::is_running() || thread::is_inside_hook() || WAITED.swap(true, Relaxed) {
        return;
    }
    let own = system::thread_id();
    let started = system::milliseconds();
    // A thread that was created meanwhile does not prolong the wait.
    while system::milliseconds() - started < most && session::is_running() && has_young_thread(own, most) {
        system::sleep(NAP);
    }
}

/// In a forked child, nothing has been waited for.
pub fn after_fork_child() {
    WAITED.store(false, Relaxed);
}

fn has_young_thread(own: u32, most: u64) -> bool {
    let Some(process) = session::process() else { return false };
    let now = system::milliseconds();
    (0..process.slots.load(Acquire)).any(|slot| {
        thread::of_slot(slot).is_some_and(|thread| {
            let is_there = thread.slot_state.load(Acquire) & slot_state::ENDED == 0;
            let id = thread.id.load(Relaxed);
            is_there && id != 0 && id != own && now.saturating_sub(thread.born.load(Relaxed)) < most && will_go_on(id)
        })
    })
}

/// Whether a thread of this process runs, or waits with a time limit. If the kernel does not say, it does not.
fn will_go_on(id: u32) -> bool {
    let mut path = Path::new();
    path.push(b"/proc/self/task/").number(id).push(b"/syscall");
    let Some(fd) = system::open(path.bytes(), libc::O_RDONLY) else { return false };
    let mut text = [0; 192];
    let length = system::read(fd, &mut text);
    system::close(fd);
    // `running`, or the number of the call and its arguments in hexadecimal; -1: it waits outside of any.
    let text = &text[..length.min(text.len())];
    if text.starts_with(b"running") {
        return true;
    }
    let mut words = text.split(|byte| byte.is_ascii_whitespace());
    let Some(number) = words.next().and_then(decimal) else { return false };
    let mut arguments = [0u64; 6];
    for (argument, word) in arguments.iter_mut().zip(words) {
        *argument = hexadecimal(word);
    }
    let has_limit = |milliseconds: u64| milliseconds as i32 >= 0;
    match number {
        libc::SYS_nanosleep | libc::SYS_clock_nanosleep | libc::SYS_sched_yield => true,
        // Its time limit.
        libc::SYS_futex => arguments[3] != 0,
        libc::SYS_poll | libc::SYS_epoll_wait | libc::SYS_epoll_pwait => {
            has_limit(if number == libc::SYS_poll { arguments[2] } else { arguments[3] })
        }
        libc::SYS_select | libc::SYS_pselect6 => arguments[4] != 0,
        libc::SYS_ppoll | libc::SYS_rt_sigtimedwait => arguments[2] != 0,
        // What takes time, and comes back.
        libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_fsync | libc::SYS_mmap | libc::SYS_munmap => true,
        _ => false,
    }
}

fn decimal(word: &[u8]) -> Option<i64> {
    word.iter().try_fold(0i64, |number, &byte| {
        byte.is_ascii_digit().then(|| number.saturating_mul(10).saturating_add(i64::from(byte - b'0')))
    })
}

fn hexadecimal(word: &[u8]) -> u64 {
    let digits = word.strip_prefix(b"0x").unwrap_or(word);
    digits
        .iter()
        .filter_map(|&byte| (byte as char).to_digit(16))
        .fold(0, |number, digit| number << 4 | u64::from(digit))
}
