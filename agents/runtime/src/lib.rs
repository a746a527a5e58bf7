//! The part of recording that all agents share, and that the observer reads on the other side: records, the layout of
//! the shared memory, timestamp hand-off, and the filter that decides which accesses are recorded.
//!
//! There is no standard library here and no allocation. `docs/recording.md` defines all of it.

#![no_std]

pub mod chunks;
pub mod filter;
pub mod gates;
pub mod hand_off;
pub mod java;
pub mod layout;
pub mod record;
