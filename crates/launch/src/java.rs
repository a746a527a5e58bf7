//! How Java virtual machines come to load the agent: the one that is started here by its command line, all others below
//! it by an environment variable.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The settings of the agent for Java that say which packages and classes are watched.
pub fn filter_settings(include: &[String], exclude: &[String]) -> String {
    let lines =
        |word, prefixes: &[String]| -> String { prefixes.iter().map(|prefix| format!("{word} {prefix}\n")).collect() };
    lines("include", include) + &lines("exclude", exclude)
}

/// Every virtual machine reads its options here (and says so, on standard error).
const VARIABLE: &str = "JAVA_TOOL_OPTIONS";

/// The option for virtual machines that one starts which has the agent: the agent reads it.
const BELOW: &str = "FORETRACE_JVM_OPTION";

/// HotSpot does not compile methods of more than 8000 bytes by default, and hooks make them longer.
const LONG_METHODS: &str = "-XX:-DontCompileHugeMethods";

/// Compiled methods with hooks need about five times the stack, and HotSpot gives threads 1 MB: with this they get as
/// deep as without hooks. The user's own option counts instead.
/// (A multiple of 2 MB might be given in huge pages, to every thread.)
const STACKS: &str = "-Xss5000k";
/// How the size of stacks is said.
const STACK_OPTIONS: [&str; 2] = ["-Xss", "-XX:ThreadStackSize"];
/// Where options may be that come before those of the command line.
const BEFORE: [&str; 2] = [VARIABLE, "JDK_JAVA_OPTIONS"];

/// Gradle's own options: a daemon that was there before has no agent, and one that is started here would outlive the
/// run. What the user says after it counts.
const GRADLE: (&str, &str) = ("GRADLE_OPTS", "-Dorg.gradle.daemon=false");

/// Adds the agent to a command, before its arguments.
pub(super) fn add_agent(command: &mut Command, program: &OsStr, agent: &Path) {
    command.env(GRADLE.0, with_others(GRADLE.1.into(), GRADLE.0));
    let mut option = OsString::from("-agentpath:");
    option.push(agent);
    if Path::new(program).file_name() == Some(OsStr::new("java")) {
        // The agent sees to it that the machines which this one starts have it, too.
        command.env(BELOW, all(&option));
        command.arg(option).arg(LONG_METHODS);
        if !BEFORE.iter().filter_map(std::env::var_os).any(|options| says_stacks(&options)) {
            command.arg(STACKS);
        }
        return;
    }
    command.env(VARIABLE, with_others(all(&option), VARIABLE));
}

/// A variable's value with an option before what it has.
fn with_others(mut option: OsString, variable: &str) -> OsString {
    if let Some(rest) = std::env::var_os(variable).filter(|rest| !rest.is_empty()) {
        option.push(" ");
        option.push(rest);
    }
    option
}

/// All options, as words.
fn all(agent: &OsStr) -> OsString {
    let mut value = quoted(agent);
    value.push(" ");
    value.push([LONG_METHODS, STACKS].join(" "));
    value
}

/// Whether options say how large stacks are, or may: in a file.
fn says_stacks(options: &OsStr) -> bool {
    let options = options.to_string_lossy();
    let mut options = options.split_whitespace().map(|option| option.trim_start_matches(['"', '\'']));
    options.any(|option| option.starts_with('@') || STACK_OPTIONS.iter().any(|name| option.starts_with(name)))
}

/// An option as one word.
fn quoted(option: &OsStr) -> OsString {
    let has_space = option.as_encoded_bytes().iter().any(u8::is_ascii_whitespace);
    let mark = if has_space { "\"" } else { "" };
    let mut value = OsString::from(mark);
    value.push(option);
    value.push(mark);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_with_spaces_are_one_word() {
        assert_eq!(quoted(OsStr::new("-agentpath:/a/b.so")), "-agentpath:/a/b.so");
        assert_eq!(quoted(OsStr::new("-agentpath:/a b/c.so")), "\"-agentpath:/a b/c.so\"");
    }

    #[test]
    fn the_users_size_of_stacks_is_seen() {
        assert!(says_stacks(OsStr::new("-Da=b -Xss64m")) && says_stacks(OsStr::new("-XX:ThreadStackSize=4096")));
        assert!(says_stacks(OsStr::new("\"-Xss64m\"")) && says_stacks(OsStr::new("-Da @options")));
        assert!(!says_stacks(OsStr::new("-Da=-Xss -Xmx1g")));
    }
}
