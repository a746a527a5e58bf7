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
//! `events.rs`, `deferred.rs`, `tables.rs`, `index.rs`; by recorders: `actions.rs`, `action_encode.rs`,
//! `deferred_actions.rs`.

mod action_decode;
mod action_encode;
mod action_predictor;
mod action_writer;
mod actions;
mod bytes;
mod column;
mod decode;
mod deferred;
mod deferred_actions;
mod encode;
mod event_predictor;
mod events;
mod extras;
mod frame;
mod frames;
mod index;
mod planes;
mod reader;
mod tables;
mod writer;

pub use action_writer::ActionWriter;
pub use actions::{Action, ActionEvent, ThreadRun};
pub use deferred::DeferredPosition;
pub use frame::{MAGIC, VERSION};
pub use reader::BinaryReader;
pub use writer::BinaryWriter;
