//! All tests of the crate in one program: linking one costs more than running most.

mod json;
mod render;
