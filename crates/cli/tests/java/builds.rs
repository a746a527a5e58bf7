//! The tests of a program that Maven or Gradle builds (`corpus/builds`): what they find is of the program, not of the
//! tools, and the tools say the same as without.

use crate::common::Folder;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where Debian has what builds fetch.
const REPOSITORY: &str = "/usr/share/maven-repo/org/apache/maven/plugins/maven-surefire-plugin";

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("writable");
    for entry in std::fs::read_dir(from).expect("readable") {
        let path = entry.expect("an entry").path();
        let name = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &name);
        } else {
            std::fs::copy(&path, &name).expect("copied");
        }
    }
}

/// Where a tool is, if it is installed.
fn installed(tool: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(tool)).find(|file| file.is_file())
}

/// What a build says of its tests and its end, without times.
fn said(output: &str) -> Vec<String> {
    let words = ["Tests run", "BUILD", "PASSED", "FAILED", "ERROR"];
    let lines = output.lines().filter(|line| words.iter().any(|word| line.contains(word)));
    lines
        .map(|line| line.split(", Time").next().unwrap_or(line).split(" in ").next().unwrap_or(line).to_owned())
        .collect()
}

/// Builds the program by a command as it is, and watched.
fn build(folder: &Folder, variable: (&str, &str), built: &str, command: &[&str]) {
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/builds/shop"), &folder.path("shop"));
    let mut plain = Command::new(command[0]);
    plain.args(&command[1..]).current_dir(folder.path("shop")).env(variable.0, variable.1).stdin(Stdio::null());
    let plain = plain.output().expect("it runs");
    let (plain, code) = (String::from_utf8_lossy(&plain.stdout).into_owned(), plain.status.code());
    assert_eq!(code, Some(0), "{plain}");
    std::fs::remove_dir_all(folder.path("shop").join(built)).expect("what was built");

    let json = folder.path("found.json");
    let args = [&["run", "--json", json.to_str().expect("UTF-8"), "--"], command].concat();
    let mut watched = folder.command(&args);
    watched.current_dir(folder.path("shop")).env(variable.0, variable.1).stdin(Stdio::null());
    let watched = watched.output().expect("foretrace runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = format!("{}\n{}", text(&watched.stdout), text(&watched.stderr));
    assert_eq!(watched.status.code(), Some(1), "{all}");
    let said = [said(&plain), said(&text(&watched.stdout))];
    assert!(said[0] == said[1] && said[0].len() > 2, "{said:#?}");
    let json: Value = serde_json::from_slice(&folder.read("found.json")).expect("JSON");
    let findings = json["findings"].as_array().expect("findings").iter().filter(|one| one["status"] != "warning");
    let mut found: Vec<String> =
        findings.map(|one| format!("{}: {} {}", one["kind"], one["sites"][0], one["sites"][1])).collect();
    found.sort();
    let wanted = [
        r#""deadlock": "shop.Till.move Till.java:18" "shop.Till.move Till.java:18""#,
        r#""race": "shop.Till.add Till.java:8" "shop.Till.add Till.java:8""#,
    ];
    assert_eq!(found, wanted, "{all}");
}

#[test]
fn maven_tests() {
    assert!(installed("mvn").is_some() && Path::new(REPOSITORY).is_dir(), "Maven is needed: ./test installs it");
    let folder = Folder::new();
    let repository = format!("-Dmaven.repo.local={}", folder.path("repository").display());
    build(&folder, ("MAVEN_OPTS", ""), "target", &["mvn", "-B", "-ntp", "-s", "settings.xml", &repository, "test"]);
}

#[test]
fn gradle_tests() {
    if installed("gradle").is_none() || !Path::new(REPOSITORY).is_dir() {
        println!("there is no Gradle");
        return;
    }
    let folder = Folder::new();
    let home = folder.path("home");
    let variable = ("GRADLE_USER_HOME", home.to_str().expect("UTF-8"));
    build(&folder, variable, "build", &["gradle", "--offline", "test"]);
    // The one that ran before.
    let mut stop = Command::new("gradle");
    stop.arg("--stop").env(variable.0, variable.1).stdout(Stdio::null()).stderr(Stdio::null());
    assert!(stop.status().expect("it runs").success());
}
