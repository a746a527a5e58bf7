//! Records a second through decoding, merging and encoding.

fn main() {}
