//! Real C and C++ programs, compiled by `foretrace cc` and watched by `foretrace run`.

mod annotated;
mod arguments;
mod bindings;
#[path = "../common/mod.rs"]
mod common;
mod confirming;
mod failing;
mod forking;
mod handing;
mod hanging;
mod heap_names;
mod hooks;
mod interrupted;
mod leases;
mod libraries;
mod loading;
mod options;
mod readme;
mod spinning;
mod survival;
mod virtual_machine;
