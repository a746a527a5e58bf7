//! Files with sound checksums that lie: small ones must not cost much memory or time.

use std::io::Cursor;
use std::time::{Duration, Instant};
use trace::binary::BinaryReader;
use trace::{Error, Trace};

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A column, compressed as well as it can be.
fn column(raw: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    varint(&mut out, raw.len() as u64);
    let packed = zstd::bulk::compress(raw, 19).unwrap();
    varint(&mut out, packed.len() as u64);
    out.extend_from_slice(&packed);
    out
}

fn frame(kind: u8, flags: u8, count: u32, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![kind, flags, 0, 0];
    header.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    header.extend_from_slice(&count.to_le_bytes());
    header.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    let crc = crc32fast::hash(&header);
    header.extend_from_slice(&crc.to_le_bytes());
    [&header, payload].concat()
}

fn file(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"\x89FTR\r\n\x1a\n\x02\0\0\0".to_vec();
    let crc = crc32fast::hash(&out);
    out.extend_from_slice(&crc.to_le_bytes());
    out.extend(frames.iter().flatten());
    out
}

const NAMES: u8 = 1;
const EVENTS: u8 = 2;
const DEFERRED: u8 = 3;
const STACKS: u8 = 4;
const LOSS: u8 = 8;
const ORIGINS: u8 = 11;

/// One thread, one variable, one label.
fn few_names() -> Vec<u8> {
    frame(NAMES, 0, 3, &column(b"\x00\x01\x01T\x01\x01\x01x\x07\x01\x01e"))
}

fn peak_rss() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

/// Reads it within the bounds; what came of it.
#[track_caller]
fn read(bytes: &[u8]) -> Result<Trace, Error> {
    let started = Instant::now();
    let result = BinaryReader::open(Cursor::new(bytes)).and_then(|mut reader| Trace::read(&mut reader));
    assert!(started.elapsed() < Duration::from_secs(20), "{:?} for {} bytes", started.elapsed(), bytes.len());
    let peak = peak_rss();
    assert!(peak < 1200 << 20, "{} MB for {} bytes", peak >> 20, bytes.len());
    result
}

#[test]
fn long_losses_are_cut() {
    let mut raw = Vec::new();
    varint(&mut raw, 15 << 20);
    raw.resize(raw.len() + (15 << 20), b'a');
    let bytes = file(&vec![frame(LOSS, 0, 1, &column(&raw)); 300]);
    assert!(bytes.len() < 1 << 20);
    let trace = read(&bytes).unwrap();
    assert!(trace.losses.iter().all(|loss| loss.message.len() <= 1 << 10));
}

#[test]
fn deferred_records_with_endless_arguments_are_refused() {
    let mut record = Vec::new();
    // Thread 0, after 0 events, sequence 0, an internal event of label 0 at site 0 with 65535 small arguments.
    record.extend_from_slice(&[0, 0, 0, 25, 0, 0, 1 << 7]);
    varint(&mut record, 65_535);
    record.resize(record.len() + 65_535, 1);
    let mut frames = vec![few_names()];
    frames.resize(80, frame(DEFERRED, 0, 200, &column(&record.repeat(200))));
    let error = read(&file(&frames)).unwrap_err().to_string();
    assert!(error.contains("deferred records"), "{error}");
}

#[test]
fn stacks_without_end_are_refused() {
    let frames = vec![frame(STACKS, 0, 1 << 20, &column(&[0; 16 << 20])); 40];
    let error = read(&file(&frames)).unwrap_err().to_string();
    assert!(error.contains("more records than allowed"), "{error}");
}

#[test]
fn origins_without_end_are_not_kept() {
    // Of variable 0, a heap block by thread 0 at site 0.
    let record = [1, 0, 0, 0, 0, 0, 40];
    let mut frames = vec![few_names()];
    frames.resize(8, frame(ORIGINS, 0, 2 << 20, &column(&record.repeat(2 << 20))));
    assert_eq!(read(&file(&frames)).unwrap().meta.origins.len(), trace::limits::MAX_ORIGINS);
    for wrong in [
        [10, 0, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0, 0],
        [1, 0, 4, 0, 0, 0, 0],
        [1, 0, 0, 1, 0, 0, 0],
        [1, 0, 0, 0, 1, 0, 0],
        [1, 0, 0, 0, 0, 1, 0],
    ] {
        let bytes = file(&[few_names(), frame(ORIGINS, 0, 1, &column(&wrong))]);
        assert!(matches!(read(&bytes), Err(Error::Malformed { .. })), "{wrong:?}");
    }
}

#[test]
fn a_frame_that_lies_about_its_size_is_refused() {
    for (count, raw) in [(u32::MAX, vec![0; 100]), (1 << 18, vec![0; 1 << 18]), (3, vec![0; 4])] {
        let column = column(&raw);
        let payload = [&column[..], &column, &column, &column].concat();
        let bytes = file(&[few_names(), frame(EVENTS, 1, count, &payload)]);
        assert!(matches!(read(&bytes), Err(Error::Malformed { .. })), "{count}");
    }
    let mut bomb = Vec::new();
    varint(&mut bomb, u64::MAX);
    bomb.extend_from_slice(&[1, 0]);
    assert!(read(&file(&[frame(NAMES, 0, 1, &bomb)])).is_err());
    // A column that says it is short and unpacks to more.
    let packed = zstd::bulk::compress(&vec![0; 64 << 20], 19).unwrap();
    let mut payload = Vec::new();
    varint(&mut payload, 10);
    varint(&mut payload, packed.len() as u64);
    payload.extend_from_slice(&packed);
    assert!(read(&file(&[frame(NAMES, 0, 1, &payload)])).is_err());
}
