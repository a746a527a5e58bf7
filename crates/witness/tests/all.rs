//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod blocks;
mod build;
mod claims;
mod common;
mod definition;
mod generated;
mod held_back;
