//! Builds the agents, and leaves their files where `src/lib.rs` embeds them.
//!
//! The native agent is a workspace of its own: it needs settings that ours cannot have (no standard library, no
//! unwinding). The agent for Java is a crate of the workspace, but always a release build. Both are embedded without
//! debug information; the symbols that programs link against are dynamic ones, and stay.

use std::hash::Hasher;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files that the agents' builds leave.
const FILES: [&str; 4] = ["libforetrace_native.so", "foretrace_native.o", "foretrace.syms", JVM];
const JVM: &str = "libforetrace_jvm.so";

fn main() {
    for folder in ["../native", "../runtime", "../jvm/agent", "../jvm/weave"] {
        for part in ["src", "include", "classes", "Cargo.toml", "Cargo.lock", "build.rs", "build-agent"] {
            let path = Path::new(folder).join(part);
            if path.exists() {
                println!("cargo:rerun-if-changed={}", path.display());
            }
        }
    }
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it"));
    let target = std::env::var("TARGET").expect("cargo sets it");
    let is_supported = target.starts_with("x86_64-") && target.contains("linux-gnu");
    if !is_supported || std::env::var_os("CLIPPY_ARGS").is_some() {
        // Elsewhere foretrace analyses traces, and says that it cannot record. Lints look at no agent, and what cargo
        // builds for them is used for nothing else: it depends on the program that compiles.
        for file in FILES {
            std::fs::write(out.join(file), "").expect("the build's folder is writable");
        }
        return identify(&out);
    }
    let mut native = Command::new("sh");
    native.arg("../native/build-agent").arg(&out);
    run(&mut native, &out.join("target"), "agents/native/build-agent");
    let mut jvm = Command::new(std::env::var_os("CARGO").expect("cargo sets it"));
    jvm.args(["build", "--release", "--manifest-path", "../jvm/agent/Cargo.toml"]);
    jvm.args(["--config", "profile.release.debug=false", "--config", "profile.release.strip='symbols'"]);
    let target = out.join("target-jvm");
    run(&mut jvm, &target, "agents/jvm/agent");
    std::fs::copy(target.join("release").join(JVM), out.join(JVM)).expect("it was built");
    identify(&out);
}

/// Runs a build with a target folder of its own: the build that runs this script has locked the other one.
fn run(build: &mut Command, target: &Path, what: &str) {
    build.env("CARGO", std::env::var_os("CARGO").expect("cargo sets it"));
    // Agents have their own profile. Settings that are meant for the workspace must not reach it.
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        let ours = ["CARGO_FEATURE_", "CARGO_CFG_", "CARGO_PROFILE_", "CARGO_PKG_", "DEP_"];
        let others =
            ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET", "CARGO_TARGET_DIR", "RUSTC_WRAPPER"];
        let others = others.contains(&&*name) || ["RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS"].contains(&&*name);
        if others || ours.iter().any(|prefix| name.starts_with(prefix)) {
            build.env_remove(&*name);
        }
    }
    build.env("CARGO_TARGET_DIR", target);
    let status = build.status().expect("it runs");
    assert!(status.success(), "an agent could not be built ({what})");
}

/// Names this set of files by a hash of its contents: the folder into which they are unpacked is called so.
fn identify(out: &Path) {
    let mut hasher = std::hash::DefaultHasher::new();
    for file in FILES.map(|file| out.join(file)).into_iter().chain([PathBuf::from("../native/include/foretrace.h")]) {
        hasher.write(&std::fs::read(file).expect("it is there"));
    }
    println!("cargo:rustc-env=FORETRACE_AGENTS={:016x}", hasher.finish());
}
