//! What a program says of itself by `foretrace.Monitor`: values of any kind, and objects by who they are.

use crate::common::{Folder, Ran, java};
use std::path::Path;
use std::process::Command;

/// A ticket is used by a thread and returned by the main thread; another one is returned before.
const PROGRAM: &str = r#"
import foretrace.Monitor;

public class Main {
    static class Ticket {
    }

    static void use(Object ticket) {
        Monitor.internal("used", ticket);
    }

    public static void main(String[] args) throws Exception {
        Ticket first = new Ticket(), second = new Ticket();
        Monitor.internal("returned", second);
        Thread user = new Thread(() -> use(first));
        user.start();
        BEFORE
        Monitor.internal("returned", first);
        user.join();
        Monitor.internal("count", 3);
        Monitor.internal("count", "three");
        Monitor.internal("count", true);
        Monitor.internal("count", null);
    }
}
"#;

const SPECIFICATION: &str = r#"
spec Tickets {
  target java;
  event used(t : object<Main$Ticket>) at trace "used";
  event returned(t : object<Main$Ticket>) at trace "returned";
  property once_returned(t : object<Main$Ticket>) past { used(t) -> ! once returned(t) }
}
"#;

/// The report of a run, and the program's own events with their values.
fn watched(before: &str) -> (Ran, Vec<String>) {
    let folder = Folder::new();
    folder.write("Main.java", PROGRAM.replace("BEFORE", before));
    folder.write("tickets.rvs", SPECIFICATION);
    let interface = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../agents/jvm/api/foretrace/Monitor.java");
    let mut javac = Command::new("javac");
    javac.args(["--release", "11", "-g", "-d", "classes", "Main.java"]).arg(interface);
    let compiled = javac.current_dir(folder.path("")).output().expect("a JDK is needed: ./test installs it");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let run = ["run", "--spec", "tickets.rvs", "-o", "t.ftrace", "--", &java(), "-cp", "classes", "Main"];
    let ran = folder.run_within(120, &run);
    let shown = folder.ok(&["show", "t.ftrace"]).stdout;
    let events = shown.lines().filter_map(|line| Some(line.split_once("|ev(")?.1.split_once(")|")?.0.to_owned()));
    (ran, events.collect())
}

#[test]
fn objects_are_distinguished() {
    let (ran, events) = watched("user.join();");
    assert!(ran.code == Some(0) && ran.stderr.contains("no findings"), "{ran:?}");
    let values: Vec<&str> = events.iter().filter_map(|event| event.strip_prefix("count")).collect();
    assert_eq!(values, [",3", ",\"three\"", ",true", ""], "{events:?}");
    let of = |name: &str| events.iter().filter_map(|event| event.strip_prefix(name)).collect::<Vec<_>>();
    let (used, returned) = (of("used,"), of("returned,"));
    assert!(used[0].starts_with("\"Main$Ticket@"), "{events:?}");
    assert!(matches!(returned[..], [second, first] if first == used[0] && second != first), "{events:?}");
}

/// The property is violated, or predicted to be, for the ticket that is used, and for no other.
#[test]
fn each_object_is_judged_for_itself() {
    let (ran, events) = watched("");
    let used = events.iter().find_map(|event| event.strip_prefix("used,")).expect("it is used").trim_matches('"');
    assert!(ran.code == Some(1) && ran.stderr.contains(&format!("once_returned [t = {used}]")), "{ran:?}");
    assert!(ran.stderr.contains("1 finding:"), "{ran:?}");
}
