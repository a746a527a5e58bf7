//! Random programs and operations on flat clocks, tree clocks and a naive map side by side.

mod flat;
mod naive;
mod program;
mod tree;
