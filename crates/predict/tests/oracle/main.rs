//! The oracle of prediction: brute force over the definitions of docs/causality.md (the crate `oracle`) and of
//! properties.
//!
//! `meaning` and `enumerate` know nothing of the crates that predict: they are written from the documents alone, to be
//! compared with. A [`case::Case`] is a random question, from its number; an [`enumerate::Oracle`]
//! answers it for one model. `FORETRACE_CASES` says how many cases each test takes.

mod acceptance;
mod case;
mod ends;
mod engine;
mod enumerate;
mod formulas;
mod meaning;
#[path = "../../../property/tests/oracle/naive_future.rs"]
mod naive_future;
#[path = "../../../property/tests/oracle/naive_past.rs"]
mod naive_past;
mod recurrence;
mod sanity;
