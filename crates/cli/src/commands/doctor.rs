//! `foretrace doctor`: what this machine has and lacks for the work of this program.

use super::print;
use anyhow::Result;
use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A program that is of use to us, if it is there.
struct Tool {
    command: &'static str,
    version: &'static str,
    purpose: &'static str,
    package: &'static str,
}

const TOOLS: &[Tool] = &[
    Tool { command: "gcc", version: "--version", purpose: "C and C++ programs", package: "gcc g++" },
    Tool { command: "clang", version: "--version", purpose: "C and C++ programs", package: "clang" },
    Tool { command: "java", version: "-version", purpose: "Java programs", package: "default-jdk-headless" },
    Tool { command: "cargo", version: "--version", purpose: "Rust programs", package: "cargo" },
    Tool { command: "maude", version: "--version", purpose: "logics defined by users", package: "maude" },
];

/// How long a tool may take to say its version.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run() -> Result<u8> {
    let mut text = String::new();
    let mut line = |name: &str, what: &str| text += &format!("{name:<12} {what}\n");
    line("foretrace", &format!("{}, {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH));
    let cores = std::thread::available_parallelism().map_or("unknown".to_owned(), |n| n.to_string());
    line("cores", &cores);
    line("memory", &memory().unwrap_or_else(|| "unknown".to_owned()));
    line("temporary", &temporary());
    line("reads", &format!("text (STD), .ftrace version 1 to {}, RoadRunner; gzip, zstd", trace::binary::VERSION));
    line("writes", &format!("text (STD), .ftrace version {}; gzip, zstd", trace::binary::VERSION));
    line("agents", &agents());
    let mut missing = Vec::new();
    for tool in TOOLS {
        match find(tool.command) {
            Some(path) => {
                let version =
                    version(&path, tool.version).unwrap_or_else(|| "is there, but does not say its version".into());
                line(tool.command, &format!("{version}  (for {})", tool.purpose));
            }
            None => {
                line(tool.command, &format!("missing  (for {})", tool.purpose));
                missing.push(tool);
            }
        }
    }
    text += "\nTraces are analysed without any of these; a compiler is needed for programs that are to be watched in \
             full.\n";
    if !missing.is_empty() {
        let packages: Vec<&str> = missing.iter().map(|tool| tool.package).collect();
        text += &format!("What is missing may be wanted; on Debian: apt-get install {}\n", packages.join(" "));
    }
    print(text.as_bytes())
}

/// Which programs can be watched.
fn agents() -> String {
    match agents::Agents::ready() {
        Ok(agents) => format!("C and C++ (gcc, clang), in {}", agents.folder().display()),
        Err(error) => {
            let why = std::error::Error::source(&error).map_or_else(String::new, |why| format!(": {why}"));
            format!("none: {error}{why}")
        }
    }
}

fn memory() -> Option<String> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let gib = |key: &str| {
        let line = info.lines().find_map(|line| line.strip_prefix(key))?;
        let kib: f64 = line.trim_start_matches(':').trim().trim_end_matches("kB").trim().parse().ok()?;
        Some(kib / (1 << 20) as f64)
    };
    Some(format!("{:.1} GiB, {:.1} GiB available", gib("MemTotal")?, gib("MemAvailable")?))
}

fn temporary() -> String {
    let folder = std::env::temp_dir();
    match tempfile::tempfile_in(&folder) {
        Ok(_) => format!("{} is writable", folder.display()),
        Err(error) => format!("{} is not writable: {error}", folder.display()),
    }
}

/// Where a command is, by PATH.
pub(super) fn find(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(command)).find(|file| file.is_file())
}

/// The first line that a tool says of its version.
fn version(tool: &PathBuf, flag: &str) -> Option<String> {
    let mut child =
        Command::new(tool).arg(flag).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().ok()?;
    let ended = ends_in_time(&mut child);
    if !ended {
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut said = String::new();
    child.stdout.take()?.read_to_string(&mut said).ok()?;
    child.stderr.take()?.read_to_string(&mut said).ok()?;
    said.lines().map(str::trim).find(|line| !line.is_empty()).map(|line| report::harmless(line).into_owned())
}

fn ends_in_time(child: &mut Child) -> bool {
    let started = Instant::now();
    while started.elapsed() < PATIENCE {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) => std::thread::sleep(Duration::from_millis(5)),
            Err(_) => return false,
        }
    }
    false
}
