//! A program with one of everything that has a hook: woven, it does what it did, and calls the hooks.

use crate::{classes, compiled, tool};
use std::fmt::Write;
use weave::{Calls, SiteKind, weave};

#[test]
fn everything_has_its_hook() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compiled(folder.path());
    let mut sites = Vec::new();
    for path in classes(&folder.path().join("program")) {
        let file = std::fs::read(&path).expect("readable");
        let woven = weave(&file, sites.len() as u32, &()).expect("a class");
        assert!(woven.skipped.is_empty(), "{woven:?}");
        assert_eq!(woven.info.source.as_deref(), Some(&b"Every.java"[..]));
        if woven.info.name == b"Every" {
            let field = (b"ints".to_vec(), b"[I".to_vec(), weave::class::access::FINAL);
            assert!(woven.info.fields.contains(&field) && woven.info.parent.as_deref() == Some(b"java/lang/Object"));
        }
        let out = folder.path().join("woven").join(path.file_name().expect("a name"));
        std::fs::create_dir_all(out.parent().expect("a folder")).expect("writable");
        std::fs::write(out, woven.file.as_ref().unwrap_or(&file)).expect("writable");
        sites.extend(woven.sites);
    }
    let plain = tool("java", &["-cp", "program", "Every"], folder.path());
    let woven = tool("java", &["-Xverify:all", "-Xbootclasspath/a:hooks", "-cp", "woven", "Every"], folder.path());
    assert_eq!(String::from_utf8_lossy(&woven.stdout), String::from_utf8_lossy(&plain.stdout));
    let mut effect = String::new();
    for line in String::from_utf8_lossy(&woven.stderr).lines() {
        if line == "threw" || line.starts_with("made ") {
            writeln!(effect, "{line}").expect("a string");
        }
        let is_number = |word: &str| word.parse::<usize>().ok().filter(|&number| number < sites.len());
        let Some((at, number)) = line.split(' ').enumerate().find_map(|(at, word)| Some((at, is_number(word)?))) else {
            continue;
        };
        let words: Vec<&str> = line.split(' ').collect();
        let site = &sites[number];
        let field = site.field.as_ref().map(|[class, name, of]| [&class[..], b".", name, b":", of].concat());
        let call = match site.kind {
            SiteKind::Call(number) => Calls::all().calls[usize::from(number)].name,
            _ => "",
        };
        let field = field.map(|field| String::from_utf8_lossy(&field).into_owned()).unwrap_or(call.to_owned());
        let (what, value) = (words[..at].join(" "), words[at + 1..].join(" "));
        writeln!(effect, "{} {what} {field} {value}", site.line).expect("a string");
    }
    insta::assert_snapshot!(effect);
}
