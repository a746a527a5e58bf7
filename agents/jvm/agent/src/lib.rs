//! The agent that watches Java programs. `foretrace run` has the Java virtual machine load it (`-agentpath`).
//!
//! * `start`: where it begins and ends, and the classes of its own that it defines (`java/`, compiled in `classes/`).
//! * `weaving`: every class that is loaded gets its hooks.
//! * `classes`: what is known of classes and sites.
//! * `calls`: what calls of java.util.concurrent tell.
//! * `stacks`: places, with the calls that led there.
//! * `natives`: what the hooks ask the library for.
//! * `session`, `book`: the process' file, and what the observer needs to name things.
//! * `machine`: the functions of the virtual machine (JVMTI, JNI).
//!
//! Whatever fails, the program goes on.
#![allow(unsafe_code)]

#[cfg(test)]
mod agreement;
mod call_contexts;
mod calls;
#[cfg(test)]
mod carrier_pin;
mod classes;
mod machine;
mod metadata;
mod natives;
mod session;
mod settings;
mod start;
mod weaving;

pub use start::Agent_OnLoad;
