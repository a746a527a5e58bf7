//! Call contexts: call stacks as numbers, each defined by the context of the caller's call and an address.

use core::ptr;
use core::sync::atomic::Ordering::SeqCst;
use core::sync::atomic::compiler_fence;

use runtime::filter::Sink;
use runtime::record::{CONTEXT_BITS, Kind, head};

use crate::frames::{self, Frames};
use crate::machine::{Tls, tls};
use crate::ring::Ring;
use crate::system;

const FIRST: usize = 1 << 10;
const MOST: u32 = (1 << CONTEXT_BITS) - 1;

#[derive(Clone, Copy)]
#[repr(C)]
struct Entry {
    address: u64,
    parent: u32,
    /// 0: no entry.
    context: u32,
}

/// The call contexts of a slot. Zeroed memory is an empty table.
pub struct Contexts {
    table: *mut Entry,
    capacity: usize,
    used: usize,
    last: u32,
    /// The latest ones, by address.
    recent: [Entry; RECENT],
}

/// Programs in C++ have some hundred that they use in turn.
const RECENT: usize = 2048;

/// The place of an address called from `parent`.
#[inline(always)]
fn recent(parent: u32, pc: usize) -> usize {
    (pc ^ (pc >> 8) ^ (parent as usize * 19)) % RECENT
}

impl Contexts {
    /// The call context of a hook's caller; without an address (0), that of the call it is in.
    #[inline(never)]
    pub fn context(&mut self, frames: &mut Frames, ring: &mut Ring, pc: usize) -> u32 {
        let parent = match frames.last(tls()) {
            Some(frame) if frame.context as u32 != 0 => frame.context as u32,
            Some(_) => self.context_of_calls(frames, ring),
            None => 0,
        };
        if pc == 0 {
            return parent;
        }
        let context = self.context_of(parent, pc, ring);
        if context != parent {
            self.remember(parent, pc, context);
        }
        context
    }

    #[inline(always)]
    fn remember(&mut self, parent: u32, pc: usize, context: u32) {
        if parent != 0 {
            self.recent[recent(parent, pc)] = Entry { address: pc as u64, parent, context };
        }
    }

    /// The call context of an address called from `parent`, if it was used lately: loops ask for it again and again.
    #[inline(always)]
    pub fn known(&self, parent: u32, pc: usize) -> Option<u32> {
        let recent = &self.recent[recent(parent, pc)];
        (recent.address == pc as u64 && recent.parent == parent && parent != 0).then_some(recent.context)
    }

    /// [`Contexts::known`] for an address called from the newest call of this thread, if that has a context.
    ///
    /// # Safety
    ///
    /// It is the thread of these contexts, whose hooks are open.
    #[inline(always)]
    pub unsafe fn known_at_once(&self, tls: *const Tls, pc: usize) -> Option<u32> {
        // SAFETY: the caller's own thread.
        self.known(unsafe { frames::parent(tls) }, pc)
    }

    /// The call context of an address called from the newest call of this thread, if nothing is to be recorded for it:
    /// functions are called again and again.
    ///
    /// # Safety
    ///
    /// It is the thread of these contexts, whose hooks are open.
    #[inline(always)]
    pub unsafe fn known_here(&mut self, tls: *mut Tls, pc: usize) -> Option<u32> {
        // SAFETY: the caller's own thread.
        unsafe {
            match self.known_at_once(tls, pc) {
                None => self.find_here(tls, pc),
                known => known,
            }
        }
    }

    /// [`Contexts::known_here`] if it was not used lately. Signal handlers wait meanwhile, because their hooks might
    /// replace the table.
    #[inline(never)]
    unsafe fn find_here(&mut self, tls: *mut Tls, pc: usize) -> Option<u32> {
        // SAFETY: the caller's own thread.
        unsafe {
            let was_busy = (*tls).busy;
            (*tls).busy = true;
            compiler_fence(SeqCst);
            let context = self.call_found(tls).and_then(|parent| self.seek(parent, pc));
            compiler_fence(SeqCst);
            (*tls).busy = was_busy;
            compiler_fence(SeqCst);
            if !was_busy && (*tls).deferred {
                crate::intercept::deliver();
            }
            context
        }
    }

    /// The context of the newest call. Gives the newest calls their contexts, if all of them have one.
    unsafe fn call_found(&mut self, tls: *const Tls) -> Option<u32> {
        /// So many calls without a context in between.
        const DEPTH: usize = 32;
        // SAFETY: the calls up to the first one with a context are above the frame below the first, which has none.
        unsafe {
            let parent = frames::parent(tls);
            if parent != 0 {
                return Some(parent);
            }
            let Tls { top, base, .. } = *tls;
            if top <= base {
                // Or there are more calls than frames.
                return None;
            }
            let depth = (top.offset_from(base) as usize).min(DEPTH + 1);
            let named = (2..=depth).find(|&down| (*top.sub(down)).context as u32 != 0)?;
            let mut context = (*top.sub(named)).context as u32;
            for down in (1..named).rev() {
                let frame = &mut *top.sub(down);
                context = self.seek(context, frame.pc)?;
                frame.context |= context as usize;
            }
            Some(context)
        }
    }

    /// The call context of an address called from `parent`, if it has one.
    #[inline]
    fn seek(&mut self, parent: u32, pc: usize) -> Option<u32> {
        if let Some(context) = self.known(parent, pc) {
            return Some(context);
        }
        if self.capacity == 0 {
            return None;
        }
        // SAFETY: the table has room.
        let context = unsafe { (*find(self.table, self.capacity, parent, pc as u64)).context };
        if context == 0 {
            return None;
        }
        self.remember(parent, pc, context);
        Some(context)
    }

    /// Numbers the calls under way that have no context yet.
    #[cold]
    fn context_of_calls(&mut self, frames: &mut Frames, ring: &mut Ring) -> u32 {
        let calls = frames.calls(tls());
        let known = calls.iter().rposition(|frame| frame.context as u32 != 0).map_or(0, |at| at + 1);
        let (named, rest) = calls.split_at_mut(known);
        let mut context = named.last().map_or(0, |frame| frame.context as u32);
        for frame in rest {
            let parent = context;
            context = self.context_of(parent, frame.pc, ring);
            frame.context |= context as usize;
            if context != parent {
                self.remember(parent, frame.pc, context);
            }
        }
        context
    }

    /// The call context of an address called from `parent`; a record defines it if it is new. Without room for that,
    /// the caller's context is the best there is.
    #[inline]
    fn context_of(&mut self, parent: u32, pc: usize, ring: &mut Ring) -> u32 {
        if self.used * 2 >= self.capacity && !self.grow() {
            return parent;
        }
        // SAFETY: `find` gives an entry of the table, which has room.
        let entry = unsafe { &mut *find(self.table, self.capacity, parent, pc as u64) };
        if entry.context != 0 {
            return entry.context;
        }
        ring.reserve(2);
        if self.last == MOST || ring.is_closed() {
            return parent;
        }
        self.last += 1;
        self.used += 1;
        let context = self.last;
        *entry = Entry { address: pc as u64, parent, context };
        ring.put([head(Kind::Context, 0, u64::from(context) | u64::from(parent) << CONTEXT_BITS), pc as u64]);
        context
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let capacity = if self.capacity == 0 { FIRST } else { self.capacity * 2 };
        let Some(table) = system::map(capacity * size_of::<Entry>()) else { return self.used + 1 < self.capacity };
        let table = table.cast::<Entry>();
        for i in 0..self.capacity {
            // SAFETY: within the old table; the new one is larger.
            unsafe {
                let old = *self.table.add(i);
                if old.context != 0 {
                    *find(table, capacity, old.parent, old.address) = old;
                }
            }
        }
        self.release();
        self.table = table;
        self.capacity = capacity;
        true
    }

    fn release(&mut self) {
        if !self.table.is_null() {
            // SAFETY: the table is ours, and nothing points into it.
            unsafe { system::unmap(self.table.cast(), self.capacity * size_of::<Entry>()) };
        }
    }

    /// Forgets them if they are many. Otherwise the next thread of the slot may use them.
    pub fn trim(&mut self) {
        const MANY: usize = 1 << 12;
        if self.capacity > MANY {
            self.clear();
        }
    }

    /// Forgets them all, and gives their memory back. Numbers go on: the observer knows the old ones.
    pub fn clear(&mut self) {
        self.release();
        self.table = ptr::null_mut();
        self.capacity = 0;
        self.used = 0;
        for recent in &mut self.recent {
            recent.parent = 0;
        }
    }

    /// Forgets them and begins at 1, for another process.
    pub fn restart(&mut self) {
        self.clear();
        self.last = 0;
    }
}

/// The entry of a call, or the empty one it belongs into. The table is never full.
unsafe fn find(table: *mut Entry, capacity: usize, parent: u32, address: u64) -> *mut Entry {
    let hash = (address ^ u64::from(parent) << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut at = (hash >> 32) as usize;
    loop {
        // SAFETY: masked to the table, whose capacity is a power of two.
        unsafe {
            let entry = table.add(at & (capacity - 1));
            if (*entry).context == 0 || (*entry).address == address && (*entry).parent == parent {
                return entry;
            }
        }
        at += 1;
    }
}
