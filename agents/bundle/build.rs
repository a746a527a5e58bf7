//! Builds the native agent, a crate of its own that needs settings the workspace cannot have (no standard library, no
//! unwinding), and leaves its files where `src/lib.rs` takes them in.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the agent's build leaves.
const FILES: [&str; 3] = ["libforetrace_native.so", "foretrace_native.o", "foretrace.syms"];

fn main() {
    for folder in ["../native", "../runtime"] {
        for part in ["src", "include", "Cargo.toml", "Cargo.lock", "build-agent"] {
            let path = Path::new(folder).join(part);
            if path.exists() {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let target = std::env::var("TARGET").expect("cargo sets it");
    if !target.starts_with("x86_64-") || !target.contains("linux-gnu") {
        // Elsewhere foretrace analyses traces, and says that it cannot record.
        for file in FILES {
            std::fs::write(out.join(file), "").expect("the build's folder is writable");
        }
        return tell(&out);
    }
    let mut build = Command::new("sh");
    build.arg("../native/build-agent").arg(&out).env("CARGO", std::env::var_os("CARGO").expect("cargo sets it"));
    // The agent has its own profile: what was meant for the workspace must not reach it.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let meant_for_us = ["CARGO_FEATURE_", "CARGO_CFG_", "CARGO_PROFILE_", "CARGO_PKG_", "DEP_"];
        let others =
            ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR", "RUSTC_WRAPPER"];
        let others = others.contains(&&*name) || ["RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS"].contains(&&*name);
        if others || meant_for_us.iter().any(|prefix| name.starts_with(prefix)) {
            build.env_remove(&*name);
        }
    }
    // Its own folder: the one of the build that runs us is locked.
    build.env("CARGO_TARGET_DIR", out.join("target"));
    let status = build.status().expect("sh runs");
    assert!(status.success(), "the native agent could not be built (agents/native/build-agent)");
    tell(&out);
}

/// Tells one set of files from another: the name of their folder.
fn tell(out: &Path) {
    let mut hasher = std::hash::DefaultHasher::new();
    for file in FILES.map(|file| out.join(file)).into_iter().chain([PathBuf::from("../native/include/foretrace.h")]) {
        hasher.write(&std::fs::read(file).expect("it is there"));
    }
    println!("cargo:rustc-env=FORETRACE_AGENTS={:016x}", hasher.finish());
}
