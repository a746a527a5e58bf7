//! The hooks of atomic accesses, which perform the access as well, and of fences.

use core::arch::naked_asm;
use core::ptr;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, compiler_fence, fence};

use runtime::filter::Atomic;
use runtime::gates::operation;
use runtime::record::{Kind, atomic_aux};

use crate::gates::Arrival;
use crate::machine::{self, shim1, shim2, shim3, shim4, shim5, shim6};
use crate::{gates, thread};

/// A type of atomic accesses. Every operation is performed with the strongest order; the program's own order is only
/// recorded.
trait Word: Copy + PartialEq {
    const LOG2: u8;
    unsafe fn load(at: *mut Self) -> Self;
    unsafe fn exchange(at: *mut Self, new: Self) -> Self;
    /// The value that was there.
    unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self;
    fn value(self) -> u64;
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn nand(self, other: Self) -> Self;
}

macro_rules! arithmetic {
    () => {
        fn value(self) -> u64 {
            self as u64
        }
        fn add(self, other: Self) -> Self {
            self.wrapping_add(other)
        }
        fn sub(self, other: Self) -> Self {
            self.wrapping_sub(other)
        }
        fn and(self, other: Self) -> Self {
            self & other
        }
        fn or(self, other: Self) -> Self {
            self | other
        }
        fn xor(self, other: Self) -> Self {
            self ^ other
        }
        fn nand(self, other: Self) -> Self {
            !(self & other)
        }
    };
}

macro_rules! words {
    ($($int:ident $atomic:ident $log2:literal;)*) => { $(
        impl Word for $int {
            const LOG2: u8 = $log2;
            #[inline(always)]
            unsafe fn load(at: *mut Self) -> Self {
                // SAFETY: the program's own atomic.
                unsafe { $atomic::from_ptr(at) }.load(SeqCst)
            }
            #[inline(always)]
            unsafe fn exchange(at: *mut Self, new: Self) -> Self {
                // SAFETY: the program's own atomic.
                unsafe { $atomic::from_ptr(at) }.swap(new, SeqCst)
            }
            #[inline(always)]
            unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self {
                // SAFETY: the program's own atomic.
                match unsafe { $atomic::from_ptr(at) }.compare_exchange(old, new, SeqCst, Relaxed) {
                    Ok(value) | Err(value) => value,
                }
            }
            arithmetic!();
        }
    )* };
}
words! {
    u8 AtomicU8 0;
    u16 AtomicU16 1;
    u32 AtomicU32 2;
    u64 AtomicU64 3;
}

impl Word for u128 {
    const LOG2: u8 = 4;
    unsafe fn load(at: *mut Self) -> Self {
        // SAFETY: the program's own atomic; if it is 0, it stays so.
        unsafe { machine::exchange_16(at, 0, 0) }
    }
    unsafe fn exchange(at: *mut Self, new: Self) -> Self {
        // SAFETY: the program's own atomic.
        unsafe { update(at, |_| new).0 }
    }
    unsafe fn compare_exchange(at: *mut Self, old: Self, new: Self) -> Self {
        // SAFETY: the program's own atomic.
        unsafe { machine::exchange_16(at, old, new) }
    }
    arithmetic!();
}

/// The old value and the new one.
#[inline(always)]
unsafe fn update<T: Word>(at: *mut T, f: impl Fn(T) -> T) -> (T, T) {
    // SAFETY: the program's own atomic.
    unsafe {
        let mut old = T::load(at);
        loop {
            let new = f(old);
            let now = T::compare_exchange(at, old, new);
            if now == old {
                return (old, new);
            }
            old = now;
        }
    }
}

/// The record's number of a relaxed order.
const RELAXED: u8 = 1;

/// From C's numbers (relaxed, consume, acquire, release, acq_rel, seq_cst) to the record's.
fn order(c: i32) -> u8 {
    match c & 0x7fff {
        0 => RELAXED,
        1 | 2 => 2,
        3 => 3,
        4 => 4,
        _ => 0,
    }
}

/// An access that was performed.
struct Done<T, R> {
    kind: Kind,
    /// C's number of its memory order.
    order: i32,
    /// The value read by a load, or else written.
    value: T,
    is_unchanging: bool,
    /// What the program gets.
    result: R,
}

impl<T: Word, R: Copy> Done<T, R> {
    fn load(order: i32, value: T, result: R) -> Done<T, R> {
        Done { kind: Kind::AtomicLoad, order, value, is_unchanging: true, result }
    }

    /// A read-modify-write.
    fn update(order: i32, [old, new]: [T; 2], result: R) -> Done<T, R> {
        Done { kind: Kind::AtomicRmw, order, value: new, is_unchanging: old == new, result }
    }

    fn recorded(self, is_relaxed: bool) -> Atomic<R> {
        let Done { kind, order: c, value, is_unchanging, result } = self;
        let order = if is_relaxed { RELAXED } else { order(c) };
        Atomic { kind, aux: atomic_aux(order, T::LOG2), value: value.value(), is_unchanging, result }
    }
}

/// A thread is about to make an atomic access: where there are gates, it may wait there.
#[inline(always)]
fn about_to<T: Word>(kinds: u32, at: *mut T, pc: usize) {
    if gates::is_on() {
        gates::arrive(Arrival { operation: kinds | operation::ATOMIC, object: at as usize, size: 1 << T::LOG2, pc });
    }
}

/// Performs and records an access: `act` performs it. `look` says what it does if this value is there, and it leaves
/// that as it is: a waiting thread repeats such accesses, and they are no more than loads then.
#[inline(always)]
fn recorded<T: Word, R: Copy>(
    at: *mut T,
    pc: usize,
    look: impl Fn(T) -> Option<Done<T, R>>,
    act: impl Fn() -> Done<T, R>,
) -> R {
    recorded_with(at, ptr::null_mut(), pc, look, act)
}

/// [`recorded`]; the program has prepared the value in this memory.
#[inline(always)]
fn recorded_with<T: Word, R: Copy>(
    at: *mut T,
    prepared: *mut T,
    pc: usize,
    look: impl Fn(T) -> Option<Done<T, R>>,
    act: impl Fn() -> Done<T, R>,
) -> R {
    // If the hook fails, it may have performed the access already.
    let mut performed = None;
    thread::enter(pc, |thread| {
        let is_relaxed = thread.is_ignoring_sync();
        if is_relaxed && thread.is_ignoring() {
            return;
        }
        if !prepared.is_null() {
            thread.prepared(prepared as usize);
        }
        let repeated = thread.repeat_atomic(at as usize, || {
            // SAFETY: what the program asked for.
            let look = || look(unsafe { T::load(at) }).filter(|done| done.is_unchanging);
            let mut done = look()?;
            if done.kind == Kind::AtomicRmw {
                // As with the instruction, other threads see first what this one has done.
                fence(SeqCst);
                done = look()?;
            }
            Some(done.recorded(is_relaxed))
        });
        if repeated.is_some() {
            performed = repeated;
            return;
        }
        thread.atomic(at as usize, 1 << T::LOG2, || {
            let done = act().recorded(is_relaxed);
            performed = Some(done.result);
            done
        });
    });
    match performed {
        Some(result) => result,
        None => act().result,
    }
}

unsafe extern "C" fn load<T: Word>(at: *mut T, order: i32, pc: usize) -> T {
    about_to(operation::READ, at, pc);
    let look = |value| Some(Done::load(order, value, value));
    recorded(at, pc, look, || {
        // SAFETY: what the program asked for.
        let value = unsafe { T::load(at) };
        Done::load(order, value, value)
    })
}

unsafe extern "C" fn store<T: Word>(at: *mut T, new: T, order: i32, pc: usize) {
    about_to(operation::WRITE, at, pc);
    recorded(
        at,
        pc,
        |_| None,
        || {
            // SAFETY: what the program asked for.
            unsafe { T::exchange(at, new) };
            Done { kind: Kind::AtomicStore, order, value: new, is_unchanging: false, result: () }
        },
    );
}

unsafe extern "C" fn exchange<T: Word>(at: *mut T, new: T, order: i32, pc: usize) -> T {
    about_to(operation::READ | operation::WRITE, at, pc);
    let look = |old| Some(Done::update(order, [old, new], old));
    recorded(at, pc, look, || {
        // SAFETY: what the program asked for.
        let old = unsafe { T::exchange(at, new) };
        Done::update(order, [old, new], old)
    })
}

macro_rules! fetch {
    ($($name:ident $operation:ident;)*) => { $(
        unsafe extern "C" fn $name<T: Word>(at: *mut T, by: T, order: i32, pc: usize) -> T {
            about_to(operation::READ | operation::WRITE, at, pc);
            let look = |old: T| Some(Done::update(order, [old, old.$operation(by)], old));
            recorded(at, pc, look, || {
                // SAFETY: what the program asked for.
                let (old, new) = unsafe { update(at, |old| old.$operation(by)) };
                Done::update(order, [old, new], old)
            })
        }
    )* };
}
fetch! {
    fetch_add add;
    fetch_sub sub;
    fetch_and and;
    fetch_or or;
    fetch_xor xor;
    fetch_nand nand;
}

/// Weak and strong ones: a weak one fails as seldom as a strong one.
unsafe extern "C" fn compare<T: Word>(at: *mut T, old: *mut T, new: T, good: i32, bad: i32, pc: usize) -> i32 {
    // SAFETY: what the program asked for; the expected value is its own.
    unsafe {
        let expected = *old;
        let now = compare_with(at, old, expected, new, [good, bad], pc);
        if now != expected {
            *old = now;
        }
        i32::from(now == expected)
    }
}

unsafe extern "C" fn compare_value<T: Word>(at: *mut T, old: T, new: T, good: i32, bad: i32, pc: usize) -> T {
    // SAFETY: what the program asked for.
    unsafe { compare_with(at, ptr::null_mut(), old, new, [good, bad], pc) }
}

#[inline(always)]
unsafe fn compare_with<T: Word>(at: *mut T, prepared: *mut T, old: T, new: T, [good, bad]: [i32; 2], pc: usize) -> T {
    // Whether it writes is not known before.
    about_to(operation::READ, at, pc);
    let done = |now: T| if now == old { Done::update(good, [old, new], now) } else { Done::load(bad, now, now) };
    let look = |now| Some(done(now));
    recorded_with(at, prepared, pc, look, || {
        // SAFETY: what the program asked for.
        done(unsafe { T::compare_exchange(at, old, new) })
    })
}

unsafe extern "C" fn thread_fence(c: i32, pc: usize) {
    fence(SeqCst);
    thread::enter(pc, |thread| thread.timed(Kind::Fence, atomic_aux(order(c), 0), 0, None));
}

shim1! {
    __tsan_atomic_thread_fence => thread_fence;
}

/// Orders a thread with its own signal handlers: nothing to record.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic_signal_fence(_order: i32) {
    compiler_fence(SeqCst);
}

shim2! {
    __tsan_atomic8_load => load::<u8>;
    __tsan_atomic16_load => load::<u16>;
    __tsan_atomic32_load => load::<u32>;
    __tsan_atomic64_load => load::<u64>;
    __tsan_atomic128_load => load::<u128>;
}
shim3! {
    __tsan_atomic8_store => store::<u8>;
    __tsan_atomic16_store => store::<u16>;
    __tsan_atomic32_store => store::<u32>;
    __tsan_atomic64_store => store::<u64>;
    __tsan_atomic8_exchange => exchange::<u8>;
    __tsan_atomic16_exchange => exchange::<u16>;
    __tsan_atomic32_exchange => exchange::<u32>;
    __tsan_atomic64_exchange => exchange::<u64>;
    __tsan_atomic8_fetch_add => fetch_add::<u8>;
    __tsan_atomic16_fetch_add => fetch_add::<u16>;
    __tsan_atomic32_fetch_add => fetch_add::<u32>;
    __tsan_atomic64_fetch_add => fetch_add::<u64>;
    __tsan_atomic8_fetch_sub => fetch_sub::<u8>;
    __tsan_atomic16_fetch_sub => fetch_sub::<u16>;
    __tsan_atomic32_fetch_sub => fetch_sub::<u32>;
    __tsan_atomic64_fetch_sub => fetch_sub::<u64>;
    __tsan_atomic8_fetch_and => fetch_and::<u8>;
    __tsan_atomic16_fetch_and => fetch_and::<u16>;
    __tsan_atomic32_fetch_and => fetch_and::<u32>;
    __tsan_atomic64_fetch_and => fetch_and::<u64>;
    __tsan_atomic8_fetch_or => fetch_or::<u8>;
    __tsan_atomic16_fetch_or => fetch_or::<u16>;
    __tsan_atomic32_fetch_or => fetch_or::<u32>;
    __tsan_atomic64_fetch_or => fetch_or::<u64>;
    __tsan_atomic8_fetch_xor => fetch_xor::<u8>;
    __tsan_atomic16_fetch_xor => fetch_xor::<u16>;
    __tsan_atomic32_fetch_xor => fetch_xor::<u32>;
    __tsan_atomic64_fetch_xor => fetch_xor::<u64>;
    __tsan_atomic8_fetch_nand => fetch_nand::<u8>;
    __tsan_atomic16_fetch_nand => fetch_nand::<u16>;
    __tsan_atomic32_fetch_nand => fetch_nand::<u32>;
    __tsan_atomic64_fetch_nand => fetch_nand::<u64>;
}
// A value of 16 bytes takes two registers.
shim4! {
    __tsan_atomic128_store => store::<u128>;
    __tsan_atomic128_exchange => exchange::<u128>;
    __tsan_atomic128_fetch_add => fetch_add::<u128>;
    __tsan_atomic128_fetch_sub => fetch_sub::<u128>;
    __tsan_atomic128_fetch_and => fetch_and::<u128>;
    __tsan_atomic128_fetch_or => fetch_or::<u128>;
    __tsan_atomic128_fetch_xor => fetch_xor::<u128>;
    __tsan_atomic128_fetch_nand => fetch_nand::<u128>;
}
shim5! {
    __tsan_atomic8_compare_exchange_strong => compare::<u8>;
    __tsan_atomic16_compare_exchange_strong => compare::<u16>;
    __tsan_atomic32_compare_exchange_strong => compare::<u32>;
    __tsan_atomic64_compare_exchange_strong => compare::<u64>;
    __tsan_atomic8_compare_exchange_weak => compare::<u8>;
    __tsan_atomic16_compare_exchange_weak => compare::<u16>;
    __tsan_atomic32_compare_exchange_weak => compare::<u32>;
    __tsan_atomic64_compare_exchange_weak => compare::<u64>;
    __tsan_atomic8_compare_exchange_val => compare_value::<u8>;
    __tsan_atomic16_compare_exchange_val => compare_value::<u16>;
    __tsan_atomic32_compare_exchange_val => compare_value::<u32>;
    __tsan_atomic64_compare_exchange_val => compare_value::<u64>;
}
shim6! {
    __tsan_atomic128_compare_exchange_strong => compare::<u128>;
    __tsan_atomic128_compare_exchange_weak => compare::<u128>;
}

/// Its order on failure is on the stack already.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic128_compare_exchange_val() {
    naked_asm!(
        "mov rax, qword ptr [rsp]",
        "mov r10, qword ptr [rsp + 8]",
        "sub rsp, 8",
        "push rax",
        "push r10",
        "call {body}",
        "add rsp, 24",
        "ret",
        body = sym compare_value::<u128>,
    )
}
