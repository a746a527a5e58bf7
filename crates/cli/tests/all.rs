//! All tests of the crate that need no program of their own: linking one costs more than running most.

mod architecture;
mod check;
mod commands;
mod common;
mod detect;
mod evidence;
mod inexact;
mod long;
mod misuse;
mod native;
mod prediction;
mod properties;
mod quiet;
mod spec;
mod tidy;
mod traces;
