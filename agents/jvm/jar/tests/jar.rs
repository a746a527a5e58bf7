//! Small jars, made by hand: what is changed in them, what stays, and what hostile ones do.

#[path = "../../weave/tests/weave/random.rs"]
mod random;

use jar::{Error, Summary, rewrite, rewrite_within};
use random::Random;
use std::io::{Cursor, Write};
use weave::{ATTRIBUTE, Attribute, Class, ClassFilter, OfflineClass, inert, inert_name};

const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// A class of some name of 31 letters, with something to weave.
fn class(name: &str) -> Vec<u8> {
    let (inert_name, file) = inert(b"").expect("a class");
    assert_eq!(name.len(), inert_name.len());
    let at = file.windows(name.len()).position(|part| part == inert_name).expect("its name");
    [&file[..at], name.as_bytes(), &file[at + name.len()..]].concat()
}

const A: &str = "a/Main_________________________";
const B: &str = "b/Main_________________________";

fn packed(method: u16, data: &[u8]) -> Vec<u8> {
    if method == STORED {
        return data.to_vec();
    }
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).expect("memory");
    encoder.finish().expect("memory")
}

/// An entry of a jar.
struct Made<'a> {
    name: &'a str,
    method: u16,
    data: &'a [u8],
    /// What it claims, if that is not true.
    size: Option<u32>,
    at: Option<u32>,
}

fn entry<'a>(name: &'a str, method: u16, data: &'a [u8]) -> Made<'a> {
    Made { name, method, data, size: None, at: None }
}

/// A jar with a script before it, times, extra fields, comments.
fn jar(entries: &[Made]) -> Vec<u8> {
    let (mut out, mut directory) = (b"#!/bin/sh\n".to_vec(), Vec::new());
    let base = out.len();
    for (number, entry) in entries.iter().enumerate() {
        let data = packed(entry.method, entry.data);
        let at = entry.at.unwrap_or((out.len() - base) as u32);
        let size = entry.size.unwrap_or(entry.data.len() as u32);
        let mut common = Vec::new();
        [20, 0, entry.method, 0x6000 + number as u16, 0x5a21]
            .into_iter()
            .for_each(|part: u16| common.extend(part.to_le_bytes()));
        [crc32fast::hash(entry.data), data.len() as u32, size]
            .into_iter()
            .for_each(|part| common.extend(part.to_le_bytes()));
        common.extend((entry.name.len() as u16).to_le_bytes());
        let extra = [0xfe, 0xca, 1, 0, 7];
        common.extend((extra.len() as u16).to_le_bytes());
        out.extend(0x0403_4b50u32.to_le_bytes());
        out.extend(&common);
        out.extend(entry.name.as_bytes());
        out.extend(extra);
        out.extend(data);
        let comment = b"a comment";
        directory.extend(0x0201_4b50u32.to_le_bytes());
        directory.extend(0x0314u16.to_le_bytes());
        directory.extend(&common);
        directory.extend((comment.len() as u16).to_le_bytes());
        directory.extend([0, 0, 1, 0, 2, 3, 4, 5]);
        directory.extend(at.to_le_bytes());
        directory.extend(entry.name.as_bytes());
        directory.extend(extra);
        directory.extend(comment);
    }
    let at = (out.len() - base) as u32;
    out.extend(&directory);
    out.extend(0x0605_4b50u32.to_le_bytes());
    [0, 0, entries.len() as u16, entries.len() as u16].into_iter().for_each(|part| out.extend(part.to_le_bytes()));
    [directory.len() as u32, at].into_iter().for_each(|part| out.extend(part.to_le_bytes()));
    out.extend(4u16.to_le_bytes());
    out.extend(b"all!");
    out
}

fn filter(exclude: &[&str]) -> ClassFilter {
    let mut filter = ClassFilter::default();
    exclude.iter().for_each(|name| filter.exclude(name));
    filter
}

fn woven_but(file: &[u8], exclude: &[&str]) -> Result<(Vec<u8>, Summary), Error> {
    let mut out = Vec::new();
    let summary = rewrite(Cursor::new(file), &mut out, &filter(exclude), &|| false)?;
    Ok((out, summary))
}

fn woven(file: &[u8]) -> (Vec<u8>, Summary) {
    woven_but(file, &[]).expect("a jar")
}

/// Names and data of all entries, as the directory has them.
fn entries(file: &[u8]) -> Vec<(String, Vec<u8>)> {
    let number =
        |at: usize, size: usize| file[at..at + size].iter().rev().fold(0, |all, &byte| all << 8 | usize::from(byte));
    let end = file.len() - 26;
    let base = file.windows(4).position(|part| part == b"PK\x03\x04").unwrap_or(0);
    let (mut at, count) = (base + number(end + 16, 4), number(end + 10, 2));
    let mut found = Vec::new();
    for _ in 0..count {
        let [method, packed, name, extra, comment, local] =
            [(10, 2), (20, 4), (28, 2), (30, 2), (32, 2), (42, 4)].map(|(field, size)| number(at + field, size));
        let local = base + local;
        let begin = local + 30 + number(local + 26, 2) + number(local + 28, 2);
        let mut data = file[begin..begin + packed].to_vec();
        if method == usize::from(DEFLATED) {
            let mut decoder = flate2::write::DeflateDecoder::new(Vec::new());
            decoder.write_all(&data).expect("packed data");
            data = decoder.finish().expect("packed data");
        }
        found.push((String::from_utf8_lossy(&file[at + 46..at + 46 + name]).into_owned(), data));
        at += 46 + name + extra + comment;
    }
    found
}

#[test]
fn only_classes_change() {
    let class = class(A);
    let path = format!("{A}.class");
    let file = jar(&[
        entry("META-INF/", STORED, b""),
        entry("META-INF/MANIFEST.MF", DEFLATED, b"Manifest-Version: 1.0\r\n\r\n"),
        entry("../../etc/passwd", STORED, b"kept as it is"),
        entry(&path, STORED, &class),
        entry("twice", DEFLATED, b"one"),
        entry("twice", DEFLATED, b"two"),
        entry("not-a.class", STORED, b"something else"),
    ]);
    let (out, summary) = woven(&file);
    assert_eq!((summary.woven, summary.failed, summary.unsigned, summary.notes.len()), (1, 1, 0, 1), "{summary:?}");
    assert!(out.starts_with(b"#!/bin/sh\nPK") && out.ends_with(b"\x04\0all!"));
    let (before, mut after) = (entries(&file), entries(&out));
    let hooks = after.pop().expect("the hooks");
    assert_eq!(hooks.0, format!("a/{}.class", inert_name()));
    let names = |entries: &[(String, Vec<u8>)]| entries.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        assert_eq!(before == after, *name != path, "{name}");
    }
    assert_eq!(OfflineClass::of(&after[3].1).expect("woven").original().as_deref(), Ok(&class[..]));
    // Weaving again changes nothing; and with nothing to weave, the original comes back.
    assert!(woven(&out).0 == out);
    let (back, summary) = woven_but(&out, &["a"]).expect("a jar");
    assert!(back == file, "{summary:?}");
    assert_eq!((summary.woven, summary.unwanted), (0, 1));
}

#[test]
fn every_folder_has_its_hooks() {
    let (a, b) = (class(A), class(B));
    let paths = [
        format!("{A}.class"),
        format!("META-INF/versions/17/{A}.class"),
        format!("BOOT-INF/classes/{B}.class"),
        format!("elsewhere{B}.class"),
    ];
    let file = jar(&[
        entry(&paths[0], DEFLATED, &a),
        entry(&paths[1], DEFLATED, &a),
        entry(&paths[2], DEFLATED, &b),
        entry(&paths[3], DEFLATED, &b),
    ]);
    let (out, summary) = woven(&file);
    assert_eq!((summary.woven, summary.failed), (3, 1));
    let hooks: Vec<String> = entries(&out).split_off(4).into_iter().map(|(name, _)| name).collect();
    let folders = ["a/", "META-INF/versions/17/a/", "BOOT-INF/classes/b/"];
    assert_eq!(hooks, folders.map(|folder| format!("{folder}{}.class", inert_name())));
}

/// What follows the constants of [`plain`].
const BEHIND: [u8; 14] = [6, 1, 0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0];

/// An interface with nothing to weave.
fn plain(name: &str) -> Vec<u8> {
    let text = |text: &str| [&[1, 0, text.len() as u8], text.as_bytes()].concat();
    let constants = [text(name), vec![7, 0, 1], text("java/lang/Object"), vec![7, 0, 3]].concat();
    let begin = [0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 61, 0, 5];
    [&begin[..], &constants, &BEHIND].concat()
}

/// That class as another version would have woven it, which watches more.
fn woven_by_another(file: &[u8]) -> Vec<u8> {
    let mut class = Class::read(file).expect("a class");
    let mut content = BEHIND.to_vec();
    content.extend((BEHIND.len() as u32).to_be_bytes());
    content.extend(((file.len() - BEHIND.len()) as u32).to_be_bytes());
    content.extend(5u16.to_be_bytes());
    content.extend(1u64.to_be_bytes());
    content.extend(b"ftwoven\n");
    let name = class.constants.add_text(ATTRIBUTE.as_bytes()).expect("room");
    class.attributes.push(Attribute { name, content: content.into() });
    class.write().expect("a class")
}

#[test]
fn classes_that_need_no_hooks_any_more_do_not_call_them() {
    let original = plain("a/Plain");
    let before = woven_by_another(&original);
    assert_eq!(OfflineClass::of(&before).expect("woven").original().as_deref(), Ok(&original[..]));
    let file = jar(&[
        entry("a/Plain.class", DEFLATED, &before),
        entry("a/foretrace$Hooks0000000000000001.class", DEFLATED, b"those of that version"),
    ]);
    let (out, summary) = woven(&file);
    assert_eq!((summary.woven, summary.plain, summary.failed), (0, 1, 0), "{summary:?}");
    assert_eq!(entries(&out), [("a/Plain.class".to_owned(), original)]);
}

#[test]
fn signatures_go_and_only_if_they_must() {
    let class = class(A);
    let path = format!("{A}.class");
    let manifest = b"Manifest-Version: 1.0\r\n\r\nName: a\r\nSHA-256-Digest: x\r\n\r\n";
    let file = jar(&[
        entry("META-INF/MANIFEST.MF", DEFLATED, manifest),
        entry("META-INF/ME.SF", DEFLATED, b"x"),
        entry("META-INF/ME.RSA", DEFLATED, b"x"),
        entry(&path, DEFLATED, &class),
    ]);
    let (out, summary) = woven(&file);
    assert_eq!(summary.unsigned, 1);
    let out = entries(&out);
    assert_eq!(
        (out[0].1.as_slice(), out[1].0.as_str(), out.len()),
        (&b"Manifest-Version: 1.0\r\n\r\n"[..], path.as_str(), 3)
    );
    let (same, summary) = woven_but(&file, &["a"]).expect("a jar");
    assert!(same == file && summary.unsigned == 0);
}

#[test]
fn jars_inside_are_rewritten() {
    let class = class(A);
    let path = format!("{A}.class");
    let inner = jar(&[entry(&path, DEFLATED, &class)]);
    let other = jar(&[entry("text", DEFLATED, b"nothing")]);
    let war = jar(&[entry("WEB-INF/lib/inner.jar", STORED, &inner)]);
    let file = jar(&[
        entry("lib/app.war", DEFLATED, &war),
        entry("lib/other.jar", STORED, &other),
        entry("lib/broken.jar", STORED, b"no jar"),
    ]);
    let (out, summary) = woven(&file);
    assert_eq!((summary.woven, summary.nested, summary.notes.len()), (1, 2, 1), "{summary:?}");
    let out = entries(&out);
    assert_eq!(out[1].1, other);
    let inner = entries(&entries(&out[0].1)[0].1);
    assert!(OfflineClass::of(&inner[0].1).is_some() && inner.len() == 2);
    let again = jar(&[entry("app.war", STORED, &out[0].1)]);
    let (back, _) = woven_but(&again, &["a"]).expect("a jar");
    assert!(entries(&entries(&back)[0].1)[0].0.ends_with("inner.jar"));
    assert_eq!(entries(&entries(&entries(&back)[0].1)[0].1), [(path.clone(), class.clone())]);
}

#[test]
fn errors_say_what_is_wrong() {
    let class = class(A);
    let path = format!("{A}.class");
    let says = |file: &[u8], what: &str| {
        let error = woven_but(file, &[]).expect_err(what).to_string();
        assert!(error.contains(what), "{error:?} does not say {what:?}");
    };
    says(b"", "not a jar");
    says(b"no jar at all, but long enough to be one", "not a jar");
    let good = jar(&[entry(&path, DEFLATED, &class)]);
    for size in 0..good.len() {
        assert!(woven_but(&good[..size], &[]).is_err(), "{size} of {}", good.len());
    }
    // It claims to be shorter, and longer, than it is.
    let bomb = vec![0; 1 << 24];
    for size in [10, u32::MAX - 1] {
        let file = jar(&[Made { size: Some(size), ..entry(&path, DEFLATED, &class) }]);
        if size == 10 {
            says(&file, "not as long");
        } else {
            // It is too large to be read.
            let (out, summary) = woven(&file);
            assert!(out == file && summary.failed == 1);
        }
    }
    says(&jar(&[Made { size: Some(1 << 20), ..entry(&path, DEFLATED, &bomb) }]), "not as long");
    // Two entries with the same bytes.
    says(&jar(&[entry("x", STORED, &bomb), Made { at: Some(0), ..entry("y", STORED, b"") }]), "overlaps");
    says(&jar(&[Made { at: Some(1 << 30), ..entry("y", STORED, b"") }]), "overlaps");
    says(&jar(&[Made { at: Some(5), ..entry(&path, DEFLATED, &class) }]), "nothing begins");
    let mut wrong = good.clone();
    let middle = wrong.len() / 2;
    wrong[middle] ^= 0x55;
    assert!(woven_but(&wrong, &[]).is_err());
    let mut stopped = Vec::new();
    let stop = rewrite(Cursor::new(&good), &mut stopped, &filter(&[]), &|| true);
    assert!(matches!(stop, Err(Error::Interrupted)));
}

#[test]
fn a_jar_in_itself_many_times_is_a_bomb() {
    // Each level contains the one below many times.
    let mut file = jar(&[entry("zeros.jar", DEFLATED, &vec![0; 1 << 17])]);
    for _ in 0..2 {
        let entries: Vec<Made> = (0..40).map(|_| entry("inner.jar", DEFLATED, &file)).collect();
        file = jar(&entries);
    }
    // Some 200 MiB, from a file of a few kilobytes.
    let within = |most| rewrite_within(most, Cursor::new(&file), Vec::new(), &filter(&[]), &|| false);
    assert!(file.len() < 1 << 20 && within(1 << 30).is_ok());
    assert!(matches!(within(1 << 26), Err(Error::Bomb { most }) if most == 1 << 26));
}

#[test]
fn damaged_jars_never_panic() {
    let class = class(A);
    let path = format!("{A}.class");
    let inner = jar(&[entry(&path, STORED, &class)]);
    let good = jar(&[entry(&path, DEFLATED, &class), entry("x", STORED, b"x"), entry("inner.jar", STORED, &inner)]);
    let mut random = Random::new();
    let (mut errors, all) = (0, 3000);
    for _ in 0..all {
        let mut file = good.clone();
        for _ in 0..1 + random.below(4) {
            // Most often in the directory.
            let from = if random.below(3) > 0 { file.len() - 400 } else { 0 };
            let at = from + random.below(file.len() - from);
            file[at] = random.byte();
        }
        errors += usize::from(woven_but(&file, &[]).is_err());
    }
    println!("{errors} of {all} were errors");
    assert!(errors > all / 4);
}
