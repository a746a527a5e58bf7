//! The agent that watches Java programs. `foretrace run` has the Java virtual machine load it (`-agentpath`).
//!
//! * `start`: where it begins and ends, and the classes of its own that it defines (`java/`, compiled to `classes/`).
//! * `weaving`: weaves hooks into every class that is loaded.
//! * `classes`: knows all classes and sites.
//! * `calls`: the effects of calls of java.util.concurrent.
//! * `call_contexts`: sites with the calls that led there.
//! * `natives`: the functions that the agent's classes call.
//! * `session`: the process' file. `settings`: what the observer wants. `metadata`: names, for the observer.
//! * `machine`: the functions of the virtual machine (JVMTI, JNI).
//!
//! Whatever fails in the agent, the program goes on.
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
