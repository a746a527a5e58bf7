//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod bad;
mod examples;
mod language;
mod monitors;
mod robust;
mod roundtrip;
mod slicing;
mod steps;
mod streamed;
