//! What a run took: CPU time and memory, as the kernel counts them.

use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// What a run took.
#[derive(Clone, Copy)]
pub(crate) struct Took {
    /// User and system time of it and all its children.
    pub(crate) seconds: f64,
    /// The most that the largest process among it and its children had at once.
    pub(crate) megabytes: f64,
}

/// Waits for a child and says what it and all its own took.
pub(crate) fn wait(pid: u32) -> (ExitStatus, Took) {
    let mut status = 0;
    // SAFETY: rusage is plain numbers, for which zero is a value.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to variables of ours, and only this function waits for the child.
    let waited = unsafe { libc::wait4(pid as i32, &raw mut status, 0, &raw mut usage) };
    assert_eq!(waited, pid as i32, "the child is ours");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    (ExitStatus::from_raw(status), Took { seconds, megabytes: usage.ru_maxrss as f64 / 1e3 })
}

/// The number in the middle; not a number if there is none.
pub(crate) fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The geometric mean.
pub(crate) fn geometric(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}
