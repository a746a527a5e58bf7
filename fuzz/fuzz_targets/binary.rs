//! Binary traces, from a file and from a stream. Checksums are not checked when fuzzing.
#![no_main]

mod common;

use std::io::Cursor;
use trace::binary::BinaryReader;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // The header of a file is not worth guessing.
    let file = [&b"\x89FTR\r\n\x1a\n\x02\0\0\0"[..], &HEADER_CHECKSUM, bytes].concat();
    if let Ok(reader) = BinaryReader::open(Cursor::new(&file)) {
        common::survive(reader);
    }
    if let Ok(reader) = BinaryReader::new(&file[..]) {
        common::survive(reader);
    }
});

/// CRC-32 of the file header before it.
const HEADER_CHECKSUM: [u8; 4] = [0x38, 0xb4, 0x9c, 0x29];
