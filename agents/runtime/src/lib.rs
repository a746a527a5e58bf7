//! What agents share inside the watched process and the observer reads on the other side: records, the layout of the
//! shared memory, and the filter that decides which accesses are written. No standard library, no allocation.
//!
//! `docs/recording.md` defines all of it.

#![no_std]

pub mod chunks;
pub mod filter;
pub mod hand_off;
pub mod java;
pub mod layout;
pub mod record;
