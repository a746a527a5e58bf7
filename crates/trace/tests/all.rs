//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod binary_damage;
mod binary_deferred;
mod binary_hostile;
mod binary_roundtrip;
mod common;
mod text_damage;
mod text_malformed;
mod text_read;
mod text_roadrunner;
mod text_roundtrip;
mod validate;
