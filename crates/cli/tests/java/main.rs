//! Real Java programs, watched by `foretrace run -- java …`. They need a JDK.

mod builds;
mod collections;
#[path = "../common/mod.rs"]
mod common;
mod filter;
mod hanging;
mod harm;
mod pairs;
mod records;
mod said;
mod ways;
mod weave;
