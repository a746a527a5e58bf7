//! RoadRunner's output.
#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::survive(trace::text::RoadRunnerReader::new(bytes)));
