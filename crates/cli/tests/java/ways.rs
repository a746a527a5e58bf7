//! Ways to start a virtual machine: its own findings, output and exit code come through all of them.

use crate::common::{Folder, java};
use serde_json::Value;
use std::process::{Command, Stdio};

const MAIN: &str = r#"
public class Main {
    static int shared;

    public static void main(String[] args) throws Exception {
        Thread other = new Thread(() -> shared++);
        other.start();
        shared++;
        other.join();
        System.out.println(String.join(" ", args) + " p=" + System.getProperty("p") + " q=" + System.getProperty("q"));
        System.exit(7);
    }
}
"#;

const STARTER: &str = r#"
public class Starter {
    public static void main(String[] args) throws Exception {
        String java = System.getProperty("java.home") + "/bin/java";
        ProcessBuilder builder = new ProcessBuilder(java, "-cp", System.getProperty("java.class.path"), "Main");
        System.exit(builder.inheritIO().start().waitFor());
    }
}
"#;

/// A name that has to be quoted.
const SPACED: &str = "a folder with spaces";

struct Ways {
    folder: Folder,
    java: String,
}

impl Ways {
    fn new() -> Ways {
        let folder = Folder::new();
        std::fs::create_dir(folder.path(SPACED)).expect("writable");
        for (name, text) in [("Main", MAIN), ("Starter", STARTER)] {
            folder.write(&format!("{SPACED}/{name}.java"), text);
        }
        folder.write("manifest", "Main-Class: Main\n");
        folder.write("options", format!("-Dp=file\n-cp\n\"{SPACED}\"\nMain\nhere\n"));
        let jar = format!("{SPACED}/the program.jar");
        let [main, starter] = ["Main", "Starter"].map(|class| format!("{SPACED}/{class}.java"));
        for (tool, args) in [
            ("javac", &["--release", "11", "-d", SPACED, &main, &starter][..]),
            ("jar", &["cfm", &jar, "manifest", "-C", SPACED, "Main.class"]),
        ] {
            let done = Command::new(tool).args(args).current_dir(folder.path("")).output();
            let done = done.expect("a JDK is needed: ./test installs it");
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        }
        Ways { folder, java: java() }
    }

    /// Runs a command as it is and watched, with variables set before. What it says.
    fn run(&self, variables: &[(&str, &str)], command: &[&str]) -> String {
        let mut plain = Command::new(command[0]);
        plain.args(&command[1..]).current_dir(self.folder.path("")).envs(variables.iter().copied());
        let plain = plain.stdin(Stdio::null()).output().expect("it runs");
        assert_eq!(plain.status.code(), Some(7), "{command:?}: {}", String::from_utf8_lossy(&plain.stderr));
        let mut watched = self.folder.command(&[&["run", "--json", "found.json", "--"], command].concat());
        let watched = watched.envs(variables.iter().copied()).stdin(Stdio::null()).output().expect("foretrace runs");
        let (out, error) = (String::from_utf8_lossy(&watched.stdout), String::from_utf8_lossy(&watched.stderr));
        assert_eq!((watched.status.code(), &watched.stdout), (Some(1), &plain.stdout), "{command:?}: {error}");
        let json: Value = serde_json::from_slice(&self.folder.read("found.json")).expect("JSON");
        let findings = json["findings"].as_array().expect("findings");
        assert_eq!(findings.len(), 1, "{command:?}: {error}");
        assert!(findings[0]["kind"] == "race" && findings[0]["objects"][0] == "Main.shared", "{command:?}: {error}");
        assert_eq!(json["processes"][0]["exit"], 7, "{command:?}: {error}");
        out.trim().to_owned()
    }
}

#[test]
fn by_its_command_line() {
    let ways = Ways::new();
    let java = ways.java.as_str();
    assert_eq!(ways.run(&[], &[java, "-cp", SPACED, "Main", "a", "b"]), "a b p=null q=null");
    assert_eq!(ways.run(&[], &[java, "@options"]), "here p=file q=null");
    assert_eq!(ways.run(&[], &[java, "-Dq=1", "-jar", &format!("{SPACED}/the program.jar")]), "p=null q=1");
    // Only a JDK has a compiler.
    assert_eq!(ways.run(&[], &["java", &format!("{SPACED}/Main.java"), "a"]), "a p=null q=null");
}

#[test]
fn below_something_else() {
    let ways = Ways::new();
    let script = format!("'{}' -cp '{SPACED}' Main; exit $?", ways.java);
    assert_eq!(ways.run(&[], &["sh", "-c", &script]), "p=null q=null");
    assert_eq!(ways.run(&[], &[&ways.java, "-cp", SPACED, "Starter"]), "p=null q=null");
    // No loader can name a library in such a folder: another is taken.
    let cache = ways.folder.path("a cache");
    let cache = [("XDG_CACHE_HOME", cache.to_str().expect("UTF-8"))];
    assert_eq!(ways.run(&cache, &["sh", "-c", &script]), "p=null q=null");
    assert_eq!(ways.run(&cache, &[&ways.java, "-cp", SPACED, "Starter"]), "p=null q=null");
}

#[test]
fn with_options_of_the_user() {
    let ways = Ways::new();
    let script = format!("'{}' -cp '{SPACED}' Main; exit $?", ways.java);
    let options = [("JAVA_TOOL_OPTIONS", "\"-Dp=a b\""), ("JDK_JAVA_OPTIONS", "-Dq=2")];
    assert_eq!(ways.run(&options, &[&ways.java, "-cp", SPACED, "Main"]), "p=a b q=2");
    assert_eq!(ways.run(&options, &["sh", "-c", &script]), "p=a b q=2");
    assert_eq!(ways.run(&options, &[&ways.java, "-cp", SPACED, "Starter"]), "p=a b q=2");
}
