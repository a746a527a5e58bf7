//! The lock-order detector: programs of the papers, single rules, and random runs against naive versions.

mod goodlock;
mod naive;
mod papers;
mod rules;
mod support;
