//! Keeps the dependency directions of ARCHITECTURE.md true.

use std::collections::BTreeMap;
use std::process::Command;

/// What each crate may use of ours, beside itself. A new crate needs a line here, and one in ARCHITECTURE.md.
const MAY_USE: &[(&str, &[&str])] = &[
    ("foretrace-event", &[]),
    ("foretrace-runtime", &[]),
    ("foretrace-weave", &[]),
    ("foretrace-jvm", &["foretrace-runtime", "foretrace-weave"]),
    ("foretrace-jar", &["foretrace-weave"]),
    ("foretrace-clock", &["foretrace-event"]),
    ("foretrace-trace", &["foretrace-event"]),
    ("foretrace-sync", &["foretrace-event"]),
    ("foretrace-generate", &["foretrace-event", "foretrace-trace"]),
    ("foretrace-property", &["foretrace-event"]),
    ("foretrace-order", &["foretrace-event", "foretrace-clock", "foretrace-sync"]),
    ("foretrace-detect", &["foretrace-event", "foretrace-reach", "foretrace-sync"]),
    ("foretrace-oracle", &["foretrace-event", "foretrace-trace"]),
    ("foretrace-reach", &["foretrace-event", "foretrace-sync"]),
    ("foretrace-lattice", &["foretrace-event", "foretrace-clock", "foretrace-order"]),
    ("foretrace-witness", &["foretrace-event"]),
    (
        "foretrace-predict",
        &[
            "foretrace-event",
            "foretrace-lattice",
            "foretrace-order",
            "foretrace-property",
            "foretrace-trace",
            "foretrace-witness",
        ],
    ),
    (
        "foretrace-analysis",
        &[
            "foretrace-detect",
            "foretrace-event",
            "foretrace-predict",
            "foretrace-property",
            "foretrace-reach",
            "foretrace-report",
            "foretrace-sync",
            "foretrace-trace",
            "foretrace-witness",
        ],
    ),
    ("foretrace-report", &["foretrace-event"]),
    ("foretrace-observe", &["foretrace-event", "foretrace-runtime", "foretrace-source", "foretrace-trace"]),
    ("foretrace-launch", &["foretrace-agents", "foretrace-observe", "foretrace-property", "foretrace-source"]),
    ("foretrace-control", &["foretrace-report", "foretrace-runtime", "foretrace-source"]),
    ("foretrace-source", &[]),
    ("foretrace-agents", &[]),
    (
        "foretrace",
        &[
            "foretrace-agents",
            "foretrace-analysis",
            "foretrace-control",
            "foretrace-detect",
            "foretrace-event",
            "foretrace-generate",
            "foretrace-jar",
            "foretrace-launch",
            "foretrace-observe",
            "foretrace-predict",
            "foretrace-property",
            "foretrace-report",
            "foretrace-source",
            "foretrace-trace",
            "foretrace-weave",
            "foretrace-witness",
        ],
    ),
];

fn metadata() -> serde_json::Value {
    let out = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .output()
        .expect("cargo runs");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

#[test]
fn crates_depend_only_in_the_allowed_directions() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.iter().copied().collect();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() >= allowed.len());
    for package in packages {
        let name = package["name"].as_str().expect("a name");
        let may_use = allowed.get(name).unwrap_or_else(|| panic!("{name} has no line in MAY_USE"));
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let uses = dependency["name"].as_str().expect("a name");
            // Tests may use more: only what is built into a crate counts.
            if allowed.contains_key(uses) && dependency["kind"] != "dev" {
                assert!(may_use.contains(&uses), "{name} must not use {uses}");
            }
        }
    }
}

#[test]
fn event_has_no_dependencies_at_all() {
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    let event = packages.iter().find(|p| p["name"] == "foretrace-event").expect("the event crate");
    assert_eq!(event["dependencies"].as_array().map(Vec::len), Some(0));
}
