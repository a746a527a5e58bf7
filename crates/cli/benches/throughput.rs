//! How fast traces are read, validated and written, how small they are, and in how much memory: the figures of the
//! README. Runs the real command on 10 million generated events; the best of five runs counts.

use std::path::Path;
use std::process::Command;

const EVENTS: u64 = 10_000_000;

/// What the command says of itself in its JSON: seconds and peak memory in bytes.
fn check(trace: &Path) -> (f64, u64) {
    let out = Command::new(env!("CARGO_BIN_EXE_foretrace"))
        .args(["check", "--detect", "none", "--json", "-"])
        .arg(trace)
        .output()
        .expect("foretrace runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(json["trace"]["events"], EVENTS);
    assert_eq!(json["trace"]["complete"], true);
    let stats = &json["stats"];
    (stats["seconds"].as_f64().expect("seconds"), stats["peak_rss_bytes"].as_u64().expect("bytes"))
}

fn foretrace(args: &[&str]) -> f64 {
    let started = std::time::Instant::now();
    let status = Command::new(env!("CARGO_BIN_EXE_foretrace")).args(args).status().expect("foretrace runs");
    assert!(status.success());
    started.elapsed().as_secs_f64()
}

fn best(mut run: impl FnMut() -> (f64, u64)) -> (f64, u64) {
    (0..5).map(|_| run()).min_by(|a, b| a.0.total_cmp(&b.0)).expect("five runs")
}

fn main() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("a path in UTF-8").to_owned();
    println!("{EVENTS} generated events, 8 threads, 100 000 variables, 100 locks; one core, best of 5");
    println!("| what | M events/s | bytes/event | peak memory |");
    println!("| --- | --- | --- | --- |");
    for (kind, values) in [("", false), (", with values", true)] {
        let (binary, text, copy) = (path("t.ftrace"), path("t.std"), path("copy.ftrace"));
        let events = EVENTS.to_string();
        let mut gen_args = vec!["gen", "--events", &events, "--vars", "100000", "-o", &binary];
        gen_args.extend(values.then_some("--values"));
        foretrace(&gen_args);
        foretrace(&["convert", &binary, &text]);
        let row = |what: &str, seconds: f64, file: &str, memory: Option<u64>| {
            let size = std::fs::metadata(file).expect("a file").len() as f64 / EVENTS as f64;
            let memory = memory.map_or("".into(), |bytes| format!("{:.0} MB", bytes as f64 / 1e6));
            println!("| {what}{kind} | {:.1} | {size:.2} | {memory} |", EVENTS as f64 / seconds / 1e6);
        };
        let (seconds, memory) = best(|| check(Path::new(&binary)));
        row("read and validate, binary", seconds, &binary, Some(memory));
        let (seconds, memory) = best(|| check(Path::new(&text)));
        row("read and validate, text", seconds, &text, Some(memory));
        let (seconds, _) = best(|| (foretrace(&["convert", &text, &copy]), 0));
        row("text to binary", seconds, &copy, None);
        let (seconds, _) = best(|| (foretrace(&["convert", &binary, &text]), 0));
        row("binary to text", seconds, &text, None);
    }
}
