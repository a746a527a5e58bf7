//! What specifications name: variables whose values are recorded, and functions whose calls are blocks or events.

use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize};

use runtime::filter::Sink;
use runtime::hand_off::Timing;
use runtime::layout::watch::{CALLED, VALUE};
use runtime::layout::{Watch, path_hash};
use runtime::record::{Kind, PENDING, head, timed};

use crate::stripes::Stripe;
use crate::thread::Thread;
use crate::{biased, entries, session, shadow, system};

/// A function.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Region {
    begin: usize,
    end: usize,
    /// The number that the specification gave it.
    pub number: u16,
    /// What it is: one of `layout::watch`.
    pub what: u16,
}

const MOST: usize = 1024;
static REGIONS: AtomicPtr<Region> = AtomicPtr::new(ptr::null_mut());
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Whether calls must be compared with regions.
#[inline]
pub fn has_regions() -> bool {
    COUNT.load(Relaxed) > 0
}

/// The regions that an address is in.
pub fn regions_of(pc: usize) -> impl Iterator<Item = &'static Region> {
    let regions = REGIONS.load(Acquire);
    let regions = if regions.is_null() {
        &[][..]
    } else {
        // SAFETY: `COUNT` regions are there and do not change.
        unsafe { core::slice::from_raw_parts(regions, COUNT.load(Acquire).min(MOST)) }
    };
    regions.iter().filter(move |region| (region.begin..region.end).contains(&pc))
}

/// Writes of one hook whose values are fetched later; a longer range records the old values.
const PENDINGS: usize = 64;

/// Watched writes of the last hook, whose values are not known yet: the hook comes before the write.
pub struct Pending {
    count: usize,
    /// Record, address and size.
    writes: [(*mut u64, usize, usize); PENDINGS],
}

impl Pending {
    /// Whether there is one.
    #[inline]
    pub fn is_some(&self) -> bool {
        self.count > 0
    }

    /// There is none.
    pub fn clear(&mut self) {
        self.count = 0;
    }
}

impl Thread {
    /// Records an access of a watched variable, or of its neighbours, within a word.
    pub fn watched(&mut self, addr: usize, size: usize, write: bool) {
        let (mut at, end) = (addr, addr + size);
        // A range may have a size for which no record has room.
        while at < end {
            let size = 1 << (end - at).ilog2().min(at.trailing_zeros());
            self.watched_part(at, size, write);
            at += size;
        }
    }

    fn watched_part(&mut self, addr: usize, size: usize, write: bool) {
        let context = self.context();
        self.ring.reserve(3);
        let log2 = size.trailing_zeros() as u8;
        let is_pending = write && self.pending.count < PENDINGS;
        let stripe = Stripe::lock(addr);
        // SAFETY: the program accesses it next.
        let value = unsafe { value(addr, size) };
        self.ring.begin();
        let second = timed(self.ring.time(Timing::Now), context);
        drop(stripe);
        let kind = if write { Kind::WatchWrite } else { Kind::WatchRead };
        let aux = if is_pending { log2 | PENDING } else { log2 };
        let record = self.ring.write(&[head(kind, aux, addr as u64), second, value]);
        self.ring.written();
        self.recorder.synchronised();
        if is_pending && !record.is_null() {
            self.pending.writes[self.pending.count] = (record, addr, size);
            self.pending.count += 1;
        }
    }

    /// Fetches the values of the watched writes of the last hook: the program has written them by now.
    pub fn fetch_pending(&mut self) {
        for &(record, addr, size) in &self.pending.writes[..self.pending.count.min(PENDINGS)] {
            // SAFETY: the observer waits for the record, so its chunk is still this thread's.
            unsafe {
                record.add(2).write(value(addr, size));
                let head = &*record.cast::<AtomicU64>();
                head.store(head.load(Relaxed) & !(u64::from(PENDING) << 8), Release);
            }
        }
        self.pending.clear();
    }
}

/// Up to 8 bytes of the program's memory.
unsafe fn value(addr: usize, size: usize) -> u64 {
    let mut value = 0;
    // SAFETY: the caller's memory. Whole words first: they may be written at the same time.
    unsafe {
        match size {
            8 => value = (addr as *const u64).read_volatile(),
            4 if addr.is_multiple_of(4) => value = u64::from((addr as *const u32).read_volatile()),
            2 if addr.is_multiple_of(2) => value = u64::from((addr as *const u16).read_volatile()),
            _ => {
                for i in 0..size {
                    value |= u64::from((addr as *const u8).add(i).read_volatile()) << (i * 8);
                }
            }
        }
    }
    value
}

/// Finds the watched variables and functions in memory: at the start, and when modules were loaded since.
pub fn find() {
    let watches = session::watches();
    if !watches.is_empty() {
        each_module(|module, bias| {
            for watch in watches.iter().filter(|watch| watch.module == module) {
                add(watch, bias);
            }
        });
    }
}

/// Calls `f` for every module in memory, with the hash of its path and what to add to addresses of its file.
pub fn each_module(mut f: impl FnMut(u64, usize)) {
    const BYTES: usize = 8 << 20;
    let Some(fd) = system::open(b"/proc/self/maps\0", libc::O_RDONLY) else { return };
    if let Some(at) = system::map(BYTES) {
        // SAFETY: a mapping of this size, ours alone.
        let text = unsafe { core::slice::from_raw_parts_mut(at, BYTES) };
        let mut length = 0;
        while let Some(rest) = text.get_mut(length..).filter(|rest| !rest.is_empty()) {
            match system::read(fd, rest) {
                0 => break,
                n => length += n,
            }
        }
        for line in text[..length].split(|&byte| byte == b'\n') {
            if let Some((module, bias)) = parse(line) {
                f(module, bias);
            }
        }
        // SAFETY: nothing refers to it any more.
        unsafe { system::unmap(at, BYTES) };
    }
    system::close(fd);
}

/// The module whose head a line of the memory map shows, and what to add to addresses of its file.
fn parse(line: &[u8]) -> Option<(u64, usize)> {
    let mut fields = line.split(|&byte| byte == b' ').filter(|field| !field.is_empty());
    let range = fields.next()?;
    let permissions = fields.next()?;
    let offset = fields.next()?;
    let path = fields.nth(2)?;
    let path = &line[path.as_ptr() as usize - line.as_ptr() as usize..];
    if permissions.first() != Some(&b'r') || path.first() != Some(&b'/') || hexadecimal(offset)? != 0 {
        return None;
    }
    let start = hexadecimal(range.split(|&byte| byte == b'-').next()?)?;
    // SAFETY: the first page of a readable mapping of a file, and its program headers only within that page.
    unsafe {
        let head = &*(start as *const libc::Elf64_Ehdr);
        if head.e_ident[..4] != *b"\x7fELF" {
            return None;
        }
        let first = head.e_phoff as usize;
        let size = size_of::<libc::Elf64_Phdr>();
        for i in 0..head.e_phnum as usize {
            if first + (i + 1) * size > 4096 {
                break;
            }
            let part = &*((start + first + i * size) as *const libc::Elf64_Phdr);
            if part.p_type == libc::PT_LOAD && part.p_offset == 0 {
                return Some((path_hash(path), start.wrapping_sub(part.p_vaddr as usize)));
            }
        }
    }
    None
}

fn hexadecimal(text: &[u8]) -> Option<usize> {
    text.iter().try_fold(0usize, |number, &byte| Some(number.checked_mul(16)? + (byte as char).to_digit(16)? as usize))
}

fn add(watch: &Watch, bias: usize) {
    let begin = bias.wrapping_add(watch.address as usize);
    let end = begin.wrapping_add(watch.size as usize);
    if watch.what == VALUE {
        let mut at = begin & !7;
        while at < end {
            if let Some(cell) = shadow::cell(at) {
                // Other memory may have been there before.
                if shadow::leaf(at).is_some_and(|leaf| leaf.strip(at).is_scanned()) {
                    biased::unbias(at);
                }
                cell.watch();
            }
            at += 8;
        }
        return;
    }
    if watch.what == CALLED {
        return entries::add(watch, begin);
    }
    if REGIONS.load(Acquire).is_null() {
        let Some(at) = system::map(MOST * size_of::<Region>()) else { return };
        REGIONS.store(at.cast(), Release);
    }
    let count = COUNT.load(Acquire);
    if count < MOST && !regions_of(begin).any(|known| known.number == watch.number) {
        // SAFETY: room for `MOST`; readers look at the first `COUNT` only.
        unsafe { *REGIONS.load(Acquire).add(count) = Region { begin, end, number: watch.number, what: watch.what } };
        COUNT.store(count + 1, Release);
    }
}
