//! Tests the rows of the tables: what they name exists in the JDK that runs, and each row orders what it says, and
//! nothing else.

use crate::pairs::{Program, programs};
use crate::{classes, tool};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use weave::{Calls, Effect, Inside, InsideRow, Row, Site, SiteKind, Target, weave, weave_inside};

fn path(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/weave/programs").join(name).to_str().expect("a path").to_owned()
}

/// A property of the Java that runs.
fn property(folder: &Path, name: &str) -> String {
    let said = tool("java", &["-XshowSettings:properties", "-version"], folder).stderr;
    let said = String::from_utf8_lossy(&said);
    let line = said.lines().find_map(|line| line.trim().strip_prefix(&format!("{name} = ")));
    line.expect("it says so").to_owned()
}

/// Extracts classes from the JDK that runs. Returns the folder of those of `java.base`.
fn extracted(folder: &Path, of: &str) -> PathBuf {
    let modules = format!("{}/lib/modules", property(folder, "java.home"));
    tool("jimage", &["extract", "--dir", "jdk", "--include", of, &modules], folder);
    folder.join("jdk/java.base")
}

/// Weaves the classes of `java.base` that the table names into `patch`. Returns their sites. A row about a class of a
/// package that is not named here is not found: then it is to be added.
fn patched(folder: &Path, release: u16) -> Vec<Site> {
    let of = "regex:/java.base/(java/(io|lang|lang/ref|net|util|util/concurrent|util/concurrent/locks|util/stream)\
              |jdk/internal/(lang/stable|ref)|sun/nio/c[hs])/[^/]*.class";
    let from = extracted(folder, of);
    let (mut sites, mut found) = (Vec::new(), BTreeSet::new());
    for file in classes(&from) {
        let bytes = std::fs::read(&file).expect("readable");
        let (woven, rows) = weave_inside(&bytes, sites.len() as u32).expect("a class");
        assert!(woven.skipped.is_empty(), "{}", file.display());
        found.extend(rows);
        if let Some(file_out) = woven.file {
            let out = folder.join("patch").join(file.strip_prefix(&from).expect("in it"));
            std::fs::create_dir_all(out.parent().expect("a folder")).expect("writable");
            std::fs::write(out, file_out).expect("writable");
        }
        sites.extend(woven.sites);
    }
    for (number, row) in Inside::all().rows.iter().enumerate() {
        assert!(found.contains(&number) || !row.is_of(release) || is_of_desktop(row.class), "{row:?}");
    }
    sites
}

/// Whether a class is one of `java.desktop`, which is not woven here.
fn is_of_desktop(class: &str) -> bool {
    class.starts_with("java/awt/") || class.starts_with("sun/swing/")
}

/// What the judge needs to know of sites and tables.
fn data(sites: &[Site]) -> String {
    let mut data = String::new();
    let text = |effect: &Effect| {
        let of = format!("{:?}", effect.target).replace(' ', "");
        format!("{} {} {of} {:?} {:?}", effect.kind, effect.order, effect.value.is_some(), effect.condition)
    };
    for (number, site) in sites.iter().enumerate() {
        let what = match (&site.field, site.kind) {
            (_, SiteKind::Call(number) | SiteKind::Inside(number)) => number.to_string(),
            (Some([class, name, _]), SiteKind::StaticRead | SiteKind::StaticWrite) => {
                [class, name].map(|name| String::from_utf8_lossy(name)).join(".")
            }
            _ => continue,
        };
        writeln!(data, "site\t{number}\t{what}").expect("a string");
    }
    let constructed = Inside::all().constructed;
    let effect = text(&Inside::all().effects[usize::from(constructed)]);
    writeln!(data, "inside\t{constructed}\tconstructed\t{effect}").expect("a string");
    for row in &Inside::all().rows {
        for &number in row.before.iter().chain(&row.after) {
            let effect = text(&Inside::all().effects[usize::from(number)]);
            writeln!(data, "inside\t{number}\t{} {} {}\t{effect}", row.class, row.member, row.descriptor)
                .expect("a string");
        }
    }
    for (number, call) in Calls::all().calls.iter().enumerate() {
        for row in &call.rows {
            let effect = row.before.iter().map(|effect| format!("\t<{}", text(effect)));
            let effect = effect.chain(row.after.iter().map(|effect| format!("\t>{}", text(effect))));
            let effect = effect.collect::<String>();
            writeln!(data, "call\t{number}\t{} {} {}{effect}", row.class, call.name, call.descriptor)
                .expect("a string");
        }
    }
    data
}

/// The programs that the judge decides. It keeps all objects alive, so none is ever finalized.
fn judged(release: u16) -> impl Iterator<Item = Program> {
    programs().into_iter().filter(move |one| one.release <= release && !one.row.contains("invokeFinalize"))
}

/// The list of right programs that have a race without their row.
///
/// Left out are rows of monitors, of fields and of other releases; and rows whose order another row establishes as
/// well. (A new row of that kind is added here. Otherwise its program has no race without the row,
/// which [`every_row_orders_what_it_says`] lets pass for a few only.)
///
/// * conditions have a lock; futures and phasers, and all that reads a whole collection of the JDK, have rows inside
///   the JDK, too;
/// * `iterator` comes before `next`; `close` may work by `awaitTermination`, and `submit` by other methods than
///   `externalSubmit`;
/// * a task may be executed again, a pool be ended, and what was collected in parallel be merged, by the same thread;
/// * channels that call back may do so through a pool; a worker that ends was idle before, and one that a pool
///   interrupts comes after the shutdown;
/// * a stream also flushes the stream below, and the judge does not ask whether that is the program's.
fn needed(release: u16) -> String {
    let others = Inside::all().rows.iter().filter(|row| {
        let is_twice = [
            "close",
            "decrementWorkerCount",
            "deregisterWorker",
            "externalSubmit",
            "merge",
            "reExecutePeriodic",
            "shutdown",
        ]
        .contains(&row.member);
        let is_of_several =
            ["sun/nio/ch/Async", "java/util/concurrent/Phaser", "java/util/stream/", "java/io/", "sun/nio/cs/"]
                .iter()
                .any(|begin| row.class.starts_with(begin));
        row.member.is_empty() || !row.is_of(release) || is_twice || is_of_several
    });
    let mut others: BTreeSet<String> =
        others.map(|row| format!("{} {} {}", row.class, row.member, row.descriptor)).collect();
    for call in &Calls::all().calls {
        for row in &call.rows {
            let is_other = |effect: &Effect| {
                matches!(effect.kind, "wait" | "notify" | "notifyall" | "field" | "toread" | "towrite")
            };
            let is_view = row.effects().any(|effect| effect.kind == "view") && !row.class.contains("/locks/");
            let is_function = call.name.starts_with("compute") || call.name == "merge";
            let is_bulk = is_view
                || is_function
                || ["drainTo", "forEach", "removeIf", "replaceAll", "stream", "toArray"].contains(&call.name);
            let is_future = ["Future", "FutureTask", "CompletableFuture", "ForkJoinTask"]
                .iter()
                .any(|name| row.class.strip_prefix("java/util/concurrent/") == Some(name));
            let is_twice = is_bulk || is_future || row.class.ends_with('*');
            if is_twice || row.effects().any(is_other) {
                others.insert(format!("{} {} {}", row.class, call.name, call.descriptor));
            }
        }
    }
    let is_needed = |row: &str| !row.starts_with("also ") && !row.starts_with("monitors ") && !others.contains(row);
    let programs = judged(release).filter(|one| !one.is_racy && is_needed(&one.row));
    programs.map(|program| format!("{} safe {}\n", program.name, program.row)).collect()
}

/// Whether a row is about something that orders. Rows of all of `java.util` and of streams are about collections that
/// do not.
fn orders(row: &Row) -> bool {
    !["~", "java/util/*", "java/util/stream/*"].contains(&row.class)
        && row.effects().any(|effect| {
            !matches!(
                effect.kind,
                "read"
                    | "write"
                    | "look"
                    | "change"
                    | "condition"
                    | "permits"
                    | "optimistic"
                    | "blocks"
                    | "outside"
                    | "elementreads"
                    | "firstread"
            )
        })
}

fn release(folder: &Path) -> u16 {
    property(folder, "java.specification.version").parse().expect("a number")
}

#[test]
fn every_row_names_what_is_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/hooks/concurrent.table");
    tool("javac", &["--release", "11", "-d", "tools", &path("Rows.java")], folder.path());
    let out = tool("java", &["-cp", "tools", "Rows", table.to_str().expect("a path")], folder.path());
    let count: usize = String::from_utf8_lossy(&out.stdout).trim().parse().expect("a number");
    assert!(count > 500, "{count}");
}

#[test]
fn what_has_another_name_is_left_out_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let from = extracted(folder.path(), "regex:/java.base/java/util/concurrent/Phaser.class");
    let mut file = std::fs::read(from.join("java/util/concurrent/Phaser.class")).expect("readable");
    let found = |file: &[u8]| weave_inside(file, 0).expect("a class").1;
    let all = found(&file);
    let text = |name: &str| [b"\x01\x00\x04", name.as_bytes()].concat();
    let at = file.windows(7).position(|part| part == text("root")).expect("a field's name");
    file.splice(at..at + 7, text("tree"));
    let has_field = |&number: &usize| {
        let row = &Inside::all().rows[number];
        let is_field = |&effect: &u16| matches!(Inside::all().effects[usize::from(effect)].target, Target::Field(..));
        row.before.iter().chain(&row.after).any(is_field)
    };
    let others: Vec<usize> = all.iter().copied().filter(|number| !has_field(number)).collect();
    assert!(!others.is_empty() && others.len() < all.len());
    assert_eq!(found(&file), others);
}

#[test]
fn no_method_is_overlooked_for_its_type() {
    // Texts of values and of other texts read no collection.
    let of_values = ["java/io/PrintStream print", "java/lang/String valueOf ", "java/lang/StringBuilder append "];
    // Elements of an array are watched one by one, if at all.
    let others = ["java/lang/String join (Ljava/lang/CharSequence;[Ljava/lang/CharSequence;)Ljava/lang/String;"];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let table = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/hooks/concurrent.table");
    tool("javac", &["--release", "11", "-d", "tools", &path("Erased.java")], folder.path());
    let out = tool("java", &["-cp", "tools", "Erased", table.to_str().expect("a path")], folder.path());
    let overlooked = String::from_utf8_lossy(&out.stdout);
    let is_other = |line: &&str| others.contains(line) || of_values.iter().any(|begin| line.starts_with(begin));
    let overlooked: Vec<&str> = overlooked.lines().filter(|line| !is_other(line)).collect();
    assert!(overlooked.is_empty(), "{overlooked:#?}");
}

#[test]
fn every_row_has_its_programs() {
    let rows = programs().into_iter().map(|program| program.row).filter(|row| !row.starts_with("also "));
    let rows: BTreeSet<String> = rows.collect();
    let calls = Calls::all().calls.iter();
    let calls = calls.flat_map(|call| {
        call.rows.iter().filter(|row| orders(row)).map(|row| format!("{} {} {}", row.class, call.name, call.descriptor))
    });
    // Previews need an option of the compiler.
    let others = ["StructuredTaskScope", "StableValue", "ShutdownHooks"];
    let is_other = |class: &str| is_of_desktop(class) || others.iter().any(|other| class.contains(other));
    let only_says_who_waits = |row: &InsideRow| {
        let mut effects =
            row.before.iter().chain(&row.after).map(|&number| &Inside::all().effects[usize::from(number)]);
        !row.member.is_empty()
            && effects.all(|effect| matches!(effect.kind, "blocks" | "passes" | "exits" | "task" | "outside"))
    };
    let inside = Inside::all().rows.iter().filter(|row| !is_other(row.class) && !only_says_who_waits(row));
    let inside = inside.map(|row| match row.member {
        "" => format!("monitors {}", row.class),
        member => format!("{} {member} {}", row.class, row.descriptor),
    });
    let tables: BTreeSet<String> = calls.chain(inside).collect();
    let [without, needless] = [(&tables, &rows), (&rows, &tables)].map(|(some, others)| some - others);
    assert!(
        without.is_empty() && needless.is_empty(),
        "rows without programs {without:#?}, without rows {needless:#?}"
    );
}

#[test]
fn every_row_orders_what_it_says() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let folder = folder.path();
    let release = release(folder);
    let mut sites = patched(folder, release);
    std::fs::create_dir(folder.join("source")).expect("writable");
    let (mut list, mut sources) = (String::new(), Vec::new());
    for program in judged(release) {
        let name = PathBuf::from("source").join(format!("{}.java", program.name));
        std::fs::write(folder.join(&name), &program.source).expect("writable");
        sources.push(name.to_str().expect("a path").to_owned());
        let what = if program.is_racy { "racy" } else { "safe" };
        writeln!(list, "{} {what} {}", program.name, program.row).expect("a string");
    }
    std::fs::write(folder.join("list"), list).expect("writable");
    std::fs::write(folder.join("sources"), sources.join("\n")).expect("writable");
    let of = release.to_string();
    tool("javac", &["--release", &of, "-nowarn", "-g", "-d", "plain", "@sources"], folder);
    tool("javac", &["--release", &of, "-d", "tools", &path("Pairs.java")], folder);
    let judge = ["Hooks", "Judge", "Watched"].map(|name| path(&format!("judge/foretrace/agent/{name}.java")));
    tool(
        "javac",
        &["--release", &of, "-XDstringConcat=inline", "-d", "patch", &judge[0], &judge[1], &judge[2]],
        folder,
    );
    // Without hooks, they end.
    tool("java", &["-cp", "plain:tools", "Pairs", "list"], folder);
    std::fs::create_dir(folder.join("woven")).expect("writable");
    for file in classes(&folder.join("plain")) {
        let bytes = std::fs::read(&file).expect("readable");
        let woven = weave(&bytes, sites.len() as u32, &()).expect("a class");
        assert!(woven.skipped.is_empty(), "{}", file.display());
        let out = folder.join("woven").join(file.file_name().expect("a name"));
        std::fs::write(out, woven.file.as_ref().unwrap_or(&bytes)).expect("writable");
        sites.extend(woven.sites);
    }
    std::fs::write(folder.join("data"), data(&sites)).expect("writable");
    // The hooks are in the same module, or they could not be found as early as they are called.
    let patch = ["--patch-module", "java.base=patch", "--add-exports", "java.base/foretrace.agent=ALL-UNNAMED"];
    let open = ["--add-opens", "java.base/java.util.concurrent.locks=ALL-UNNAMED"];
    let run = ["-Xverify:all", "-cp", "woven:tools", "Pairs", "list", "data"];
    tool("java", &[&patch[..], &open, &run].concat(), folder);
    // Without its row, each right program has a race. For a few, another row orders them in some releases (25: eight)
    // or schedules.
    let needed = needed(release);
    std::fs::write(folder.join("list"), &needed).expect("writable");
    let said = tool("java", &[&patch[..], &open, &run, &["without"]].concat(), folder).stdout;
    let said = String::from_utf8_lossy(&said);
    assert!(needed.lines().count() > 400 && said.lines().count() < 12, "{said}");
}
