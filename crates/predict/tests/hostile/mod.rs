//! Attacks on predictions: what random garbage, other logics, instances and windows make of them.

mod breadth;
mod contexts;
mod counting;
mod garbage;
mod logics;
mod refused;
mod shared;
mod together;
mod wide;
