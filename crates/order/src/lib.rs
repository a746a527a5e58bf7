//! Causality models: which other orders of the recorded events the program could have shown.
