//! How fast text is read and written: `cargo bench -p foretrace-trace --bench text [-- FILE]`.
//!
//! Without a file it makes two million lines like RAPID's: 8 threads, 100 000 variables, a skewed choice among them.

use event::Batch;
use std::io::Write;
use std::time::Instant;
use trace::text::{TextReader, TextWriter};
use trace::{Source, Trace};

const EVENTS: usize = 2_000_000;
const ROUNDS: usize = 5;

fn generate() -> Vec<u8> {
    let mut seed = 1u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % below
    };
    let mut text = Vec::new();
    let mut thread = 0;
    for _ in 0..EVENTS {
        if random(40) == 0 {
            thread = random(8);
        }
        let skewed = random(100_000) * random(1000) / 1000;
        let op = if random(10) < 3 { 'w' } else { 'r' };
        let site = 400_000 + skewed % 3000 + if op == 'w' { 5000 } else { 0 };
        writeln!(text, "T{thread}|{op}(V{skewed})|{site}").expect("memory");
    }
    text
}

fn with_values(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace(")|4", ")=17|4").into_bytes()
}

/// Time on the processor where the system counts it, so that a busy machine does not blur the figures.
fn processor_seconds(begin: Instant) -> f64 {
    let counted = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = counted.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| begin.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

fn best(events: usize, mut run: impl FnMut()) -> f64 {
    let begin = Instant::now();
    let seconds = (0..ROUNDS).map(|_| {
        let start = processor_seconds(begin);
        run();
        processor_seconds(begin) - start
    });
    events as f64 / seconds.fold(f64::INFINITY, f64::min) / 1e6
}

fn read(text: &[u8]) -> usize {
    let mut reader = TextReader::new(text);
    let mut batch = Batch::default();
    let mut events = 0;
    while reader.next_batch(&mut batch).expect("a valid trace") {
        events += batch.events.len();
    }
    events
}

fn main() {
    let file = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let text = match &file {
        Some(path) => std::fs::read(path).expect("a readable file"),
        None => generate(),
    };
    let trace = Trace::read(&mut TextReader::new(&text[..])).expect("a valid trace");
    let events = trace.batch.events.len();
    println!("{events} events, {} bytes", text.len());
    println!("read:              {:6.1} M events/s", best(events, || assert_eq!(read(&text), events)));
    let valued = with_values(&text);
    println!("read, with values: {:6.1} M events/s", best(events, || assert_eq!(read(&valued), events)));
    let mut written = Vec::new();
    let write = || {
        written.clear();
        let mut writer = TextWriter::new(&mut written);
        writer.write_batch(&trace.names, &trace.batch).expect("memory");
        writer.finish(&[]).expect("memory");
    };
    println!("write:             {:6.1} M events/s", best(events, write));
    assert!(written == text, "plain STD comes out as it went in");
}
