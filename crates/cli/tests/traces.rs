//! `convert`, `show` and `gen`: nothing is lost on the way between formats.

use crate::common::{Folder, corpus};

#[test]
fn recorded_traces_come_back_byte_for_byte() {
    let folder = Folder::new();
    let mut files = 0;
    for entry in std::fs::read_dir(corpus("traces/recorded")).unwrap() {
        let path = entry.unwrap().path();
        let (original, from) = (std::fs::read(&path).unwrap(), path.to_str().unwrap());
        folder.ok(&["convert", from, "b.ftrace"]);
        folder.ok(&["convert", "b.ftrace", "c.std"]);
        assert!(folder.read("c.std") == original, "{from}");
        assert!(folder.ok(&["show", "b.ftrace"]).stdout.as_bytes() == original, "{from}");
        assert!(folder.read("b.ftrace").len() < original.len(), "{from}");
        files += 1;
    }
    assert_eq!(files, 6);
}

/// Generated traces with every kind of operation; text and binary made independently from the same seed.
#[test]
fn generated_traces_come_back_byte_for_byte() {
    let folder = Folder::new();
    for (seed, options) in [
        ("1", "--all-ops --values"),
        ("2", "--all-ops --txn --churn 0.05 --threads 20"),
        ("3", "--waits 0.3 --readers 0.4 --stranded --values"),
        ("4", "--threads 1 --vars 500 --locks 1"),
        ("5", "--threads 100 --racy 0.05"),
    ] {
        let mut args = vec!["gen", "--seed", seed, "--events", "150000"];
        args.extend(options.split_whitespace());
        folder.ok(&[&args[..], &["-o", "a.std"]].concat());
        folder.ok(&[&args[..], &["-o", "a.ftrace"]].concat());
        folder.ok(&["convert", "a.std", "b.ftrace"]);
        folder.ok(&["convert", "b.ftrace", "c.std"]);
        folder.ok(&["convert", "a.ftrace", "d.std"]);
        let text = folder.read("a.std");
        assert!(folder.read("c.std") == text, "{options}");
        assert!(folder.read("d.std") == text, "{options}");
        assert!(folder.read("b.ftrace") == folder.read("a.ftrace"), "{options}: the same bytes for the same events");
        assert_eq!(
            folder.run(&["check", "a.ftrace", "--strict", "--detect", "none"]).code,
            Some(0),
            "{options}: well-formed"
        );
    }
    let text = String::from_utf8(folder.read("a.std")).unwrap();
    assert!(text.lines().filter(|line| !line.starts_with('#')).count() == 150_000);
}

#[test]
fn compressed_text_and_streams_read_as_well() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "30000", "--all-ops", "--values", "-o", "a.std"]);
    folder.ok(&["convert", "a.std", "a.std.gz"]);
    folder.ok(&["convert", "a.std", "a.std.zst"]);
    folder.ok(&["convert", "a.std", "a.ftrace"]);
    let text = folder.read("a.std");
    for name in ["a.std", "a.std.gz", "a.std.zst", "a.ftrace"] {
        let bytes = folder.read(name);
        assert!(name == "a.std" || bytes.len() < text.len() / 2, "{name}");
        assert!(folder.ok(&["show", name]).stdout.as_bytes() == text, "{name}");
        let streamed = folder.run_with_input(&["show", "-"], &bytes);
        assert!(streamed.code == Some(0) && streamed.stdout.as_bytes() == text, "{name} on standard input");
    }
    let refused = folder.run(&["convert", "a.std", "a.ftrace.gz"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("compressed already"), "{}", refused.stderr);
}

#[test]
fn parts_can_be_shown() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "50000", "-o", "a.ftrace"]);
    let all = folder.ok(&["show", "a.ftrace"]).stdout;
    let lines: Vec<&str> = all.lines().collect();
    for (from, count) in [(0, 3), (16_383, 2), (32_767, 10), (49_999, 5), (60_000, 1)] {
        let part = folder.ok(&["show", "a.ftrace", "--from", &from.to_string(), "--count", &count.to_string()]).stdout;
        let expected: Vec<&str> = lines.iter().copied().skip(from).take(count).collect();
        assert_eq!(part.lines().collect::<Vec<_>>(), expected, "{count} from {from}");
    }
}

/// What is skipped is not read, but its initial values stay true.
#[test]
fn parts_keep_the_initial_values_before_them() {
    let folder = Folder::new();
    let text = "#! init x=1\nT1|r(x)=1|1\n#! init y=2\n".to_owned() + &"T1|r(x)=1|1\n".repeat(1_100_000);
    folder.write("a.std", text);
    folder.ok(&["convert", "a.std", "a.ftrace"]);
    for name in ["a.std", "a.ftrace"] {
        let part = folder.ok(&["show", name, "--from", "1099999", "--count", "1"]).stdout;
        assert_eq!(part, "#! init x=1\n#! init y=2\nT1|r(x)=1|1\n", "{name}");
    }
}

#[test]
fn any_number_of_initial_values_comes_back() {
    let folder = Folder::new();
    let inits: String = (0..200_000).map(|n| format!("#! init v{n}=0\n")).collect();
    let text = format!("T1|r(x)|1\n{inits}T1|r(x)|2\n{inits}");
    folder.write("a.std", &text);
    folder.ok(&["convert", "a.std", "a.ftrace"]);
    folder.ok(&["convert", "a.ftrace", "b.std"]);
    assert!(folder.read("b.std") == text.as_bytes());
}

#[cfg(unix)]
#[test]
fn what_is_overwritten_keeps_its_permissions_and_links() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    folder.write("real.std", "");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(folder.path("real.std"), private).unwrap();
    std::os::unix::fs::symlink("real.std", folder.path("link.std")).unwrap();
    folder.ok(&["gen", "--events", "100", "-o", "link.std"]);
    assert!(std::fs::symlink_metadata(folder.path("link.std")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(folder.path("real.std")).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(folder.read("real.std").len() > 1000);
}

#[test]
fn a_failed_conversion_leaves_what_was_there() {
    let folder = Folder::new();
    folder.write("bad.std", "T1|r(x)|1\nT1|frob(x)|2\nT1|r(x)|3\n");
    folder.write("out.ftrace", "precious");
    let ran = folder.run(&["convert", "bad.std", "out.ftrace"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("bad.std: line 2:") && ran.stderr.contains("frob"), "{}", ran.stderr);
    assert_eq!(folder.read("out.ftrace"), b"precious");
    assert_eq!(folder.names(), ["bad.std", "out.ftrace"], "no temporary file stays");
    let ran = folder.run(&["convert", "bad.std", "no/such/folder/x.std"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("no/such/folder/x.std"), "{ran:?}");
}

#[test]
fn a_trace_can_be_converted_onto_itself() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "20000", "-o", "t.std"]);
    let before = folder.read("t.std");
    folder.ok(&["convert", "t.std", "t.std"]);
    assert!(folder.read("t.std") == before);
}

#[test]
fn an_incomplete_trace_stays_incomplete() {
    let folder = Folder::new();
    folder.ok(&["gen", "--events", "100000", "-o", "t.ftrace"]);
    let bytes = folder.read("t.ftrace");
    folder.write("cut.ftrace", &bytes[..bytes.len() - 50]);
    let ran = folder.ok(&["convert", "cut.ftrace", "cut.std"]);
    assert!(ran.stderr.contains("incomplete"), "{}", ran.stderr);
    folder.ok(&["convert", "cut.std", "again.ftrace"]);
    for name in ["cut.ftrace", "cut.std", "again.ftrace"] {
        assert_eq!(folder.run(&["check", name, "--strict"]).code, Some(1), "{name}");
    }
}

#[test]
fn nonsense_options_of_gen_are_refused() {
    let folder = Folder::new();
    for (args, what) in [
        (vec!["--threads", "0"], "threads is 0"),
        (vec!["--racy", "1.5"], "racy is 1.5"),
        (vec!["--viol", "5"], "--txn"),
        (vec!["--vars", "3"], "vars"),
    ] {
        let ran = folder.run(&[&["gen", "-o", "x.std"], &args[..]].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(what), "{args:?}: {ran:?}");
    }
    assert_eq!(folder.names(), [""; 0]);
}

#[cfg(unix)]
#[test]
fn an_interrupted_conversion_leaves_nothing_behind() {
    let folder = Folder::new();
    let mut child = folder.command(&["gen", "--events", "2000000000", "-o", "huge.ftrace"]).spawn().unwrap();
    let started = std::time::Instant::now();
    // Signals are listened to before the first file is made.
    while folder.names().is_empty() && started.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(folder.names(), [""; 0]);
}
