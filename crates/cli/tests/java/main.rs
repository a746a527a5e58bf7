//! Real Java programs, watched by `foretrace run -- java …`. They need a JDK.

#[path = "../common/mod.rs"]
mod common;
mod corpus;
mod filter;
