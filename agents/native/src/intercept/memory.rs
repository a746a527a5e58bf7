//! Interceptors of malloc and its family, and of mappings. `operator new` comes here through malloc.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem;
use core::ptr;
use core::sync::atomic::Ordering::Relaxed;
use core::sync::atomic::{AtomicBool, AtomicUsize};

use libc::{MAP_FAILED, off_t};

use super::entry::scratch;
use super::operators::caller;
use super::real::Real;
use super::{Pointer, is_quiet, real, record};
use crate::gates;
use crate::machine::{self, shim1, shim2, shim3, shim5, shim6};

shim1! {
    malloc => allocate;
    free => release;
    cfree => release;
    valloc => page_aligned;
    pvalloc => whole_pages;
}
shim2! {
    calloc => zeroed;
    realloc => resize;
    memalign => aligned;
    aligned_alloc => aligned;
    munmap => unmap;
}
shim3! {
    reallocarray => resize_array;
    posix_memalign => posix_aligned;
}
shim5! {
    mremap => remap;
}
shim6! {
    mmap => map;
    mmap64 => map;
}

/// Memory for the time before the real malloc is known: looking it up may allocate.
struct Arena {
    memory: UnsafeCell<[u128; 1 << 12]>,
    used: AtomicUsize,
}

// SAFETY: each byte is given out once, by an atomic counter.
unsafe impl Sync for Arena {}

static ARENA: Arena = Arena { memory: UnsafeCell::new([0; 1 << 12]), used: AtomicUsize::new(0) };
static LOOKING_UP: AtomicBool = AtomicBool::new(false);

impl Arena {
    fn give(&self, bytes: usize, alignment: usize) -> Pointer {
        let alignment = alignment.max(16);
        let size = size_of_val(&self.memory);
        let base = self.memory.get() as usize;
        // The size stands in the word before the block.
        let Some(room) = bytes.checked_add(alignment + 16).filter(|&room| room <= size) else { return ptr::null_mut() };
        let at = self.used.fetch_add(room.next_multiple_of(16), Relaxed);
        if at + room > size {
            return ptr::null_mut();
        }
        let block = (base + at + 16).next_multiple_of(alignment);
        // SAFETY: within the part of the arena just taken.
        unsafe { *((block - 8) as *mut usize) = bytes };
        block as Pointer
    }

    fn has(&self, block: Pointer) -> bool {
        (block as usize).wrapping_sub(self.memory.get() as usize) < size_of_val(&self.memory)
    }
}

macro_rules! looked_up {
    ($name:ident, $static:ident, fn($($argument:ident: $type:ty),*) -> $result:ty, $fallback:expr) => {
        #[used]
        #[unsafe(link_section = "foretrace_real")]
        static $static: Real = Real::new(concat!(stringify!($name), "\0"), None);

        unsafe fn $name($($argument: $type),*) -> $result {
            let mut known = $static.known();
            if known.is_null() {
                if LOOKING_UP.swap(true, Relaxed) {
                    return $fallback;
                }
                known = $static.find();
                LOOKING_UP.store(false, Relaxed);
                if known.is_null() {
                    return $fallback;
                }
            }
            let real: unsafe extern "C" fn($($type),*) -> $result = mem::transmute(known);
            real($($argument),*)
        }
    };
}

// The names are those of the C library, and not exported from here.
mod real_memory {
    use super::*;

    looked_up!(malloc, MALLOC, fn(bytes: usize) -> Pointer, ARENA.give(bytes, 16));
    looked_up!(calloc, CALLOC, fn(count: usize, bytes: usize) -> Pointer, ARENA.give(count.saturating_mul(bytes), 16));
    looked_up!(realloc, REALLOC, fn(block: Pointer, bytes: usize) -> Pointer, {
        let _ = block;
        ARENA.give(bytes, 16)
    });
    looked_up!(memalign, MEMALIGN, fn(alignment: usize, bytes: usize) -> Pointer, ARENA.give(bytes, alignment));
    looked_up!(free, FREE, fn(block: Pointer) -> (), {
        let _ = block;
    });
    looked_up!(malloc_usable_size, USABLE, fn(block: Pointer) -> usize, {
        let _ = block;
        0
    });
    looked_up!(pvalloc, PVALLOC, fn(bytes: usize) -> Pointer, ARENA.give(bytes, 4096));

    pub(super) unsafe fn allocate(bytes: usize) -> Pointer {
        malloc(bytes)
    }
    pub(super) unsafe fn zeroed(count: usize, bytes: usize) -> Pointer {
        calloc(count, bytes)
    }
    pub(super) unsafe fn resize(block: Pointer, bytes: usize) -> Pointer {
        realloc(block, bytes)
    }
    pub(super) unsafe fn aligned(alignment: usize, bytes: usize) -> Pointer {
        memalign(alignment, bytes)
    }
    pub(super) unsafe fn release(block: Pointer) {
        free(block);
    }
    pub(super) unsafe fn usable(block: Pointer) -> usize {
        malloc_usable_size(block)
    }
    pub(super) unsafe fn whole_pages(bytes: usize) -> Pointer {
        pvalloc(bytes)
    }
}

fn given(block: Pointer, bytes: usize, pc: usize) -> Pointer {
    if !block.is_null() {
        record(pc, |thread| thread.alloc(block as usize, bytes));
    }
    block
}

/// Records that a block is about to be freed.
unsafe fn taken(block: Pointer, pc: usize) {
    if !is_quiet() {
        let bytes = real_memory::usable(block);
        let is_silent = is_of_the_library(pc);
        record(pc, |thread| thread.free(block as usize, bytes, is_silent));
    }
}

/// Whether the C library frees memory of its own, under locks that are not seen: the loader what it knows of modules,
/// and whoever creates a thread the thread-local storage of one whose stack is used again.
unsafe fn is_of_the_library(pc: usize) -> bool {
    (*scratch()).creating || loader().contains(&pc)
}

/// Where the loader is; nowhere if that cannot be found.
fn loader() -> core::ops::Range<usize> {
    static ENDS: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];
    let [base, end] = [&ENDS[0], &ENDS[1]].map(|end| end.load(Relaxed));
    if end != 0 {
        return base..end;
    }
    // SAFETY: the kernel says where it has put the loader, whose first page has its program headers.
    let (base, end) = unsafe {
        let base = libc::getauxval(libc::AT_BASE) as usize;
        (base, base + span(base as *const libc::Elf64_Ehdr))
    };
    ENDS[0].store(base, Relaxed);
    ENDS[1].store(end.max(1), Relaxed);
    base..end
}

/// How long a module is in memory.
unsafe fn span(head: *const libc::Elf64_Ehdr) -> usize {
    if head.is_null() {
        return 0;
    }
    let first = head.byte_add((*head).e_phoff as usize).cast::<libc::Elf64_Phdr>();
    let parts = (0..usize::from((*head).e_phnum)).map(|i| &*first.add(i)).filter(|part| part.p_type == libc::PT_LOAD);
    parts.fold(0, |end, part| end.max((part.p_vaddr + part.p_memsz) as usize))
}

pub(super) unsafe extern "C" fn allocate(bytes: usize, pc: usize) -> Pointer {
    let pc = caller(pc);
    given(real_memory::allocate(bytes), bytes, pc)
}

unsafe extern "C" fn zeroed(count: usize, bytes: usize, pc: usize) -> Pointer {
    given(real_memory::zeroed(count, bytes), count.wrapping_mul(bytes), pc)
}

pub(super) unsafe extern "C" fn release(block: Pointer, pc: usize) {
    let pc = caller(pc);
    if block.is_null() || ARENA.has(block) {
        return;
    }
    if gates::is_on() && !is_quiet() {
        gates::access(block as usize, real_memory::usable(block), false, true, pc);
    }
    taken(block, pc);
    real_memory::release(block);
}

unsafe extern "C" fn resize(block: Pointer, bytes: usize, pc: usize) -> Pointer {
    if block.is_null() {
        return allocate(bytes, pc);
    }
    if ARENA.has(block) {
        let new = allocate(bytes, pc);
        if !new.is_null() {
            let old = *((block as usize - 8) as *const usize);
            machine::copy(new.cast(), block.cast(), old.min(bytes));
        }
        return new;
    }
    if is_quiet() {
        return real_memory::resize(block, bytes);
    }
    let old = real_memory::usable(block);
    record(pc, |thread| thread.free(block as usize, old, false));
    let new = real_memory::resize(block, bytes);
    if new.is_null() && bytes != 0 {
        given(block, old, pc);
    }
    given(new, bytes, pc)
}

unsafe extern "C" fn resize_array(block: Pointer, count: usize, bytes: usize, pc: usize) -> Pointer {
    match count.checked_mul(bytes) {
        Some(bytes) => resize(block, bytes, pc),
        None => {
            *super::error() = libc::ENOMEM;
            ptr::null_mut()
        }
    }
}

pub(super) unsafe extern "C" fn aligned(alignment: usize, bytes: usize, pc: usize) -> Pointer {
    let pc = caller(pc);
    given(real_memory::aligned(alignment, bytes), bytes, pc)
}

unsafe extern "C" fn posix_aligned(into: *mut Pointer, alignment: usize, bytes: usize, pc: usize) -> c_int {
    if !alignment.is_power_of_two() || alignment < size_of::<Pointer>() {
        return libc::EINVAL;
    }
    let error = *super::error();
    let block = aligned(alignment, bytes, pc);
    *super::error() = error;
    if block.is_null() {
        return libc::ENOMEM;
    }
    *into = block;
    0
}

unsafe extern "C" fn page_aligned(bytes: usize, pc: usize) -> Pointer {
    aligned(libc::sysconf(libc::_SC_PAGESIZE).max(4096) as usize, bytes, pc)
}

unsafe extern "C" fn whole_pages(bytes: usize, pc: usize) -> Pointer {
    given(real_memory::whole_pages(bytes), bytes, pc)
}

unsafe extern "C" fn map(
    address: Pointer,
    bytes: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
    pc: usize,
) -> Pointer {
    let block = real::mmap(address, bytes, protection, flags, fd, offset);
    if block != MAP_FAILED {
        given(block, bytes, pc);
    }
    block
}

unsafe extern "C" fn unmap(address: Pointer, bytes: usize, pc: usize) -> c_int {
    // Before: afterwards another thread may have the addresses already.
    record(pc, |thread| thread.free(address as usize, bytes, false));
    let result = real::munmap(address, bytes);
    if result != 0 {
        given(address, bytes, pc);
    }
    result
}

unsafe extern "C" fn remap(
    old: Pointer,
    bytes: usize,
    size: usize,
    flags: c_int,
    address: Pointer,
    pc: usize,
) -> Pointer {
    record(pc, |thread| thread.free(old as usize, bytes, false));
    let new = real::mremap(old, bytes, size, flags, address);
    if new == MAP_FAILED {
        given(old, bytes, pc);
    } else {
        given(new, size, pc);
    }
    new
}
