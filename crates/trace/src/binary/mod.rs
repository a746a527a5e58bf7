//! The binary trace format `.ftrace`: framed, columnar, predicted, compressed, checksummed, indexed.
//!
//! ```text
//! file   = magic (8 bytes) version (u32) checksum (u32) frame*
//! frame  = kind (u8) flags (u8) zero (u16) payload length (u32) count (u32) payload checksum (u32)
//!          header checksum (u32) payload
//! ```
//!
//! All integers are little-endian; checksums are CRC-32. A frame stands alone but for the tables before it (names,
//! stacks) and, for events, the predictor that a *key* frame resets. So a file that was cut off anywhere reads up to
//! its last whole frame. A finished file closes with an index frame and a fixed-size end frame that points to it.
//! Frames of a kind that this version does not know are skipped. What each kind holds is said where it is coded:
//! `events.rs`, `late.rs`, `tables.rs`, `index.rs`; by recorders: `actions.rs`, `act_encode.rs`, `late_acts.rs`.

mod act_decode;
mod act_encode;
mod act_writer;
mod actions;
mod bytes;
mod column;
mod decode;
mod encode;
mod events;
mod extras;
mod frame;
mod frames;
mod habits;
mod index;
mod late;
mod late_acts;
mod planes;
mod predict;
mod reader;
mod tables;
mod writer;

pub use act_writer::ActWriter;
pub use actions::{Act, Action, Stretch};
pub use frame::{MAGIC, VERSION};
pub use late::LateRecord;
pub use reader::BinaryReader;
pub use writer::BinaryWriter;
