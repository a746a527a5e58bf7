//! Attacks on predictions: what random garbage, other logics, instances and windows make of them.

mod breadth;
mod contexts;
mod counting;
#[path = "../law/definition.rs"]
#[allow(dead_code)]
mod definition;
mod garbage;
mod logics;
#[path = "../law/random.rs"]
#[allow(dead_code)]
mod random;
#[path = "../law/recorded.rs"]
#[allow(dead_code)]
mod recorded;
mod refused;
mod shared;
mod together;
mod wide;
