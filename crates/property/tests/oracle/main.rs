//! The oracle: monitors against a direct implementation of the tables of docs/semantics.md, on random properties and
//! runs.
//!
//! The `naive_*` files are written from the definitions alone and know nothing of the monitors.

mod ere;
mod fsm;
mod future;
mod identities;
mod naive_ere;
mod naive_fsm;
mod naive_future;
mod naive_past;
mod past;
mod random;
mod run;
