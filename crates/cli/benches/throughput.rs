//! How fast traces are read, validated and written.

fn main() {}
