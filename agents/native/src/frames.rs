//! The call stack of a thread, from `__tsan_func_entry` and `__tsan_func_exit`: the slow paths of these hooks.

use core::ptr;
use core::sync::atomic::AtomicUsize;
use core::sync::atomic::Ordering::Relaxed;

use runtime::layout::watch::{ENTERED, LEFT, REGION};
use runtime::record::{Class, Kind};

use crate::machine::{Tls, tls};
use crate::thread::Thread;
use crate::{system, thread, watch};

/// Calls that are remembered; deeper ones are only counted.
pub const FRAMES: usize = 1 << 16;

/// A call.
#[repr(C)]
pub struct Frame {
    /// Where it returns to.
    pub pc: usize,
    /// The call context of the call; 0 if no record needed it yet. The upper half is for regions.
    pub context: usize,
    /// The stack pointer at its entry, inside the hook.
    pub sp: usize,
}

/// Calls of a fiber that are kept while it does not run; of deeper ones, the outermost.
const KEPT: usize = 256;

/// The half of [`Frame::context`] that is not a call context.
const REGION_BITS: usize = 0xffff_ffff << 32;

/// The calls of a fiber that does not run.
pub struct Calls {
    count: usize,
    frames: [Frame; KEPT],
}

/// The frames of a thread, with one below the first that is above all others.
#[repr(C)]
pub struct Frames {
    floor: Frame,
    frames: [Frame; FRAMES],
    /// Calls that found no frame.
    deeper: usize,
    /// The fast paths are closed: the next hook has something to do.
    pub closed: bool,
    /// The lowest and highest addresses of the thread's stack that others have touched.
    pub shared_low: AtomicUsize,
    pub shared_high: AtomicUsize,
    /// The bounds of the thread's stack.
    pub stack: (usize, usize),
    /// How many calls there were when the loader was called that runs now, + 1; 0: none runs.
    pub loader: usize,
}

impl Frames {
    /// Opens the fast paths, with no calls.
    pub unsafe fn connect(&mut self, tls: *mut Tls) {
        self.floor.sp = usize::MAX;
        self.deeper = 0;
        self.shared_low.store(usize::MAX, Relaxed);
        self.shared_high.store(0, Relaxed);
        let base = self.frames.as_mut_ptr();
        // SAFETY: the caller's own thread.
        unsafe {
            (*tls).top = base;
            (*tls).shared_stack = &raw const self.shared_low;
        }
        self.open(tls);
    }

    /// Opens the fast paths again.
    pub fn open(&mut self, tls: *mut Tls) {
        let base = self.frames.as_mut_ptr();
        // SAFETY: the caller's own thread.
        unsafe {
            (*tls).end = if self.closed { ptr::null_mut() } else { base.add(FRAMES) };
            let is_slow = self.closed || self.deeper > 0 || self.loader > 0;
            (*tls).base = if is_slow { usize::MAX as *mut Frame } else { base };
        }
    }

    /// The calls under way.
    pub fn calls(&mut self, tls: *mut Tls) -> &mut [Frame] {
        let base = self.frames.as_mut_ptr();
        // SAFETY: `top` points into the frames, or just behind them.
        let count = unsafe { (*tls).top.offset_from(base) }.clamp(0, FRAMES as isize) as usize;
        &mut self.frames[..count]
    }

    /// The newest call under way.
    #[inline]
    pub fn last(&mut self, tls: *mut Tls) -> Option<&mut Frame> {
        // SAFETY: `top` points into the frames, or just behind them.
        unsafe {
            let top = (*tls).top;
            if top > self.frames.as_mut_ptr() { Some(&mut *top.sub(1)) } else { None }
        }
    }

    /// Whether an address is on this thread's stack.
    #[inline]
    pub fn on_stack(&self, addr: usize) -> bool {
        (self.stack.0..self.stack.1).contains(&addr)
    }

    /// Notes that another thread has touched this one's stack.
    pub fn touched(&self, addr: usize) {
        if addr < self.shared_low.load(Relaxed) {
            self.shared_low.fetch_min(addr & !7, Relaxed);
        }
        if addr >= self.shared_high.load(Relaxed) {
            self.shared_high.fetch_max((addr | 7) + 1, Relaxed);
        }
    }

    /// Gives the memory back.
    pub fn forget(&mut self) {
        let first = (self.frames.as_ptr() as usize).next_multiple_of(4096);
        let last = self.frames.as_ptr_range().end as usize & !4095;
        // SAFETY: whole pages of this array, in a mapping of ours; a frame of zeros is one.
        unsafe { system::discard(first as *mut u8, last - first) };
        self.stack = (0, 0);
    }

    /// Drops every frame below a stack pointer: they were left without an exit.
    pub fn unwind(&mut self, tls: *mut Tls, sp: usize) {
        if !self.on_stack(sp) {
            return;
        }
        let mut left = self.calls(tls).len();
        while left > 0 && self.frames[left - 1].sp < sp && self.on_stack(self.frames[left - 1].sp) {
            left -= 1;
        }
        if left < FRAMES {
            self.deeper = 0;
        }
        // SAFETY: within the frames.
        unsafe { (*tls).top = self.frames.as_mut_ptr().add(left) };
        self.open(tls);
    }

    /// Saves the calls under way.
    pub fn save(&mut self, tls: *mut Tls, into: &mut Calls) {
        let calls = self.calls(tls);
        into.count = calls.len().min(KEPT);
        for (kept, frame) in into.frames.iter_mut().zip(calls) {
            // Another thread numbers its contexts differently; the upper half says whether a region began.
            *kept = Frame { pc: frame.pc, context: frame.context & REGION_BITS, sp: frame.sp };
        }
    }

    /// Loads the calls of another fiber.
    pub fn load(&mut self, tls: *mut Tls, from: &Calls) {
        let count = from.count.min(KEPT);
        for (frame, kept) in self.frames.iter_mut().zip(&from.frames[..count]) {
            *frame = Frame { pc: kept.pc, context: kept.context, sp: kept.sp };
        }
        self.deeper = 0;
        // SAFETY: within the frames.
        unsafe { (*tls).top = self.frames.as_mut_ptr().add(count) };
        self.open(tls);
    }

    /// The loader is called, or returns to where it had been called before. Returns what was so far.
    pub fn load_by(&mut self, tls: *mut Tls, loader: Option<usize>) -> usize {
        let before = self.loader;
        self.loader = loader.unwrap_or_else(|| self.calls(tls).len() + 1);
        self.open(tls);
        before
    }

    /// Whether the newest call returns to the loader.
    fn returns_to_loader(&mut self, tls: *mut Tls) -> bool {
        self.loader > 0 && self.deeper == 0 && self.calls(tls).len() == self.loader
    }

    fn push(&mut self, tls: *mut Tls, pc: usize, sp: usize) {
        let count = self.calls(tls).len();
        match self.frames.get_mut(count) {
            Some(frame) if self.deeper == 0 => {
                *frame = Frame { pc, context: 0, sp };
                // SAFETY: at most just behind the frames.
                unsafe { (*tls).top = (*tls).top.add(1) };
            }
            _ => {
                self.deeper += 1;
                // SAFETY: the caller's own thread.
                unsafe { (*tls).base = usize::MAX as *mut Frame };
            }
        }
    }

    /// Pops a frame, and nothing else.
    fn drop_last(&mut self, tls: *mut Tls) {
        let count = self.calls(tls).len();
        if self.deeper > 0 {
            self.deeper -= 1;
            self.open(tls);
        } else if count > 0 {
            // SAFETY: within the frames.
            unsafe { (*tls).top = self.frames.as_mut_ptr().add(count - 1) };
        }
    }

    /// The part of the stack that others have touched and that is dead when the last frame is popped.
    fn dying(&mut self, tls: *mut Tls, sp: usize) -> Option<(usize, usize)> {
        if self.deeper > 0 {
            return None;
        }
        let left = self.calls(tls).len().checked_sub(1)?;
        let (low, high) = (self.shared_low.load(Relaxed), self.shared_high.load(Relaxed));
        if low == usize::MAX || !self.on_stack(sp) {
            return None;
        }
        let above = if left == 0 { self.floor.sp } else { self.frames[left - 1].sp };
        let dead = self.end_of_frame(sp, above.min(self.stack.1), self.frames[left].pc);
        if low >= dead {
            return None;
        }
        // Another thread may touch more in between: that is noticed at the next exit, or never.
        if high > dead {
            self.shared_low.store(dead, Relaxed);
        } else {
            self.shared_low.store(usize::MAX, Relaxed);
            self.shared_high.store(0, Relaxed);
        }
        Some((low, high.min(dead)))
    }

    /// Where the frame that is being left ends: at its return address. The caller's own data may begin right above.
    fn end_of_frame(&self, sp: usize, above: usize, pc: usize) -> usize {
        let mut at = sp & !7;
        while at <= above && at + 8 <= self.stack.1 {
            // SAFETY: between the stack pointer and the end of this thread's own stack.
            if unsafe { (at as *const usize).read_volatile() } == pc {
                return at;
            }
            at += 8;
        }
        sp
    }
}

impl Frames {
    /// Runs `f` as if a call were under way whose `__tsan_func_entry` comes later: its return address, and the stack
    /// pointer at its first instruction.
    pub fn within<R>(thread: &mut Thread, pc: usize, sp: usize, f: impl FnOnce(&mut Thread) -> R) -> R {
        let tls = tls();
        thread.frames.unwind(tls, sp);
        thread.frames.push(tls, pc, sp);
        let result = f(thread);
        thread.frames.drop_last(tls);
        result
    }
}

/// An entry that finds no thread, no room, frames left without an exit, or regions to be looked for.
#[cold]
pub unsafe extern "C" fn enter_slowly(pc: usize, sp: usize) {
    if thread::is_quiet() {
        // In a signal handler that interrupted a hook: its exit will pop what is pushed here.
        return thread::in_handler(|thread| thread.frames.push(tls(), pc, sp));
    }
    thread::enter(0, |thread| {
        let tls = tls();
        thread.frames.unwind(tls, sp + 1);
        thread.frames.push(tls, pc, sp);
        // SAFETY: the hook's own return address.
        let here = unsafe { *(sp as *const usize) };
        if watch::has_regions() {
            for region in watch::regions_of(here) {
                match region.what {
                    REGION => thread.begin_region(region.number, here),
                    ENTERED => thread.called(region.number, here),
                    _ => {}
                }
            }
        }
    });
}

/// An exit that finds no frame, too many, stack that others have touched, or the end of a region.
#[cold]
pub unsafe extern "C" fn leave_slowly(sp: usize) {
    if thread::is_quiet() {
        return thread::in_handler(|thread| thread.frames.drop_last(tls()));
    }
    // SAFETY: the hook's own return address.
    let here = unsafe { *(sp as *const usize) };
    thread::enter(here, |thread| {
        if watch::has_regions() {
            for region in watch::regions_of(here).filter(|region| region.what == LEFT) {
                thread.called(region.number, here);
            }
        }
        thread.end_region();
        if thread.frames.returns_to_loader(tls()) {
            // The loader holds its lock until after this.
            thread.pc = here;
            thread.sync(Kind::Post, Class::Loader, 0);
        }
        if let Some((low, high)) = thread.frames.dying(tls(), sp) {
            thread.pc = here;
            thread.renew(low, high - low);
        }
        thread.frames.drop_last(tls());
    });
}

/// The call context of the newest call of a watched thread; 0 if it has none yet, or there is no call: the frame below
/// the first has none.
#[inline(always)]
pub unsafe fn parent(tls: *const Tls) -> u32 {
    // SAFETY: there is a frame below `top`.
    unsafe { (*(*tls).top.sub(1)).context as u32 }
}
