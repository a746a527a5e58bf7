//! Properties on the runs that did not happen: their steps on the lattice of a causality model, with checked witnesses.
//!
//! [`Predictor`] takes a specification bound to a whole trace and searches, property by property, the runs that a
//! causality model admits. What it calls a prediction has a witness that passed twice: through the checker of
//! `witness`, which knows only the model's definition, and through the evaluation of the recorded run, on the trace
//! in the witness's order.

mod budget;
mod counting;
mod group;
mod predictor;
mod search;
mod union;
mod verify;
mod weave;

pub use predictor::{Counts, Options, Predicted, Prediction, Predictions, Predictor, Tried};
