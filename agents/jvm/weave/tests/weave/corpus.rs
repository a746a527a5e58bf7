//! Tests the programs of `corpus/programs/java`: what `expected.toml` says makes sense, and all woven classes are
//! verified.

use crate::{classes, tool};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use weave::weave;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "what is there is looked at by the tests of the agent")]
struct Expected {
    about: String,
    constructs: BTreeSet<String>,
    main: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    exit: i32,
    spec: Option<String>,
    #[serde(default = "eleven")]
    release: u32,
    #[serde(default)]
    finding: Vec<Finding>,
    #[serde(default)]
    behind: Vec<Finding>,
    mutation: Option<Mutation>,
}

fn eleven() -> u32 {
    11
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "as above")]
struct Finding {
    kind: String,
    object: Option<String>,
    functions: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "as above")]
struct Mutation {
    find: String,
    replace: String,
    #[serde(default)]
    finding: Vec<Finding>,
    #[serde(default)]
    warning: Vec<Finding>,
    #[serde(default)]
    exit: i32,
}

fn programs() -> Vec<(PathBuf, Expected)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../corpus/programs/java");
    let folders = std::fs::read_dir(corpus).expect("the corpus is there").map(|entry| entry.expect("an entry").path());
    let mut folders: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
    folders.sort();
    let expected = |path: PathBuf| {
        let text = std::fs::read_to_string(path.join("expected.toml")).expect("readable");
        let expected = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, expected)
    };
    folders.into_iter().map(expected).collect()
}

fn sources(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "java") {
            all.push(std::fs::read_to_string(path).expect("readable"));
        }
    }
    all
}

#[test]
fn the_corpus_is_as_large_and_varied_as_it_says() {
    let (mut constructs, mut right, mut wrong, mut long) = (BTreeSet::new(), 0, 0, 0);
    let mut only_right = Vec::new();
    for (path, expected) in programs() {
        let name = path.display();
        assert!(!expected.about.is_empty() && !expected.constructs.is_empty(), "{name}");
        assert!(constructs.insert(expected.constructs), "{name} has the constructs of another");
        let sources = sources(&path);
        long += usize::from(sources.iter().map(|source| source.lines().count()).sum::<usize>() > 300);
        if let Some(spec) = expected.spec {
            assert!(path.join(spec).is_file(), "{name}");
        }
        match expected.mutation {
            Some(mutation) => {
                let is_found = !mutation.finding.is_empty() || !mutation.warning.is_empty();
                assert!(expected.finding.is_empty() && is_found, "{name}");
                let found: usize = sources.iter().map(|source| source.matches(&mutation.find).count()).sum();
                assert!(found == 1 && mutation.find != mutation.replace, "{name}: {found}");
                right += 1;
            }
            // A program that looks wrong and is right: there is nothing to mutate.
            None if expected.finding.is_empty() => only_right.push(name.to_string()),
            None => wrong += 1,
        }
        for finding in expected.finding.iter().chain(&expected.behind) {
            let kinds = ["race", "deadlock", "atomicity", "lost-wakeup", "property", "misuse"];
            assert!(kinds.contains(&finding.kind.as_str()), "{name}");
        }
    }
    let ends = |ends: [&str; 2]| only_right.iter().zip(ends).all(|(path, end)| path.ends_with(end));
    assert!(only_right.len() == 2 && ends(["called-off", "more-assistants"]), "without findings: {only_right:?}");
    assert!(right >= 15 && wrong >= 15 && right + wrong >= 38 && long >= 6, "{right} {wrong} {long}");
}

#[test]
fn every_program_is_woven() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = |path: &str| here.join(path).to_str().expect("a path").to_owned();
    let (corpus, api) = (path("tests/weave/programs/Corpus.java"), path("../api/foretrace/Monitor.java"));
    let mut count = 0;
    for release in [11, 17] {
        let programs = programs();
        let of_release = programs.iter().filter(|(_, expected)| expected.release == release);
        let folders: Vec<&str> = of_release.map(|(path, _)| path.to_str().expect("a path")).collect();
        count += folders.len();
        let release = release.to_string();
        tool("java", &[&[&corpus[..], "compile", &release, &api, "plain"], &folders[..]].concat(), folder.path());
    }
    assert!(count >= 38, "{count}");
    let (mut sites, mut files) = (0, 0);
    for file in classes(&folder.path().join("plain")) {
        let bytes = std::fs::read(&file).expect("readable");
        let woven = weave(&bytes, sites, &()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(woven.skipped.is_empty(), "{}: {:?}", file.display(), woven.skipped);
        sites += woven.sites.len() as u32;
        let out = folder.path().join("woven").join(file.strip_prefix(folder.path().join("plain")).expect("in it"));
        std::fs::create_dir_all(out.parent().expect("a folder")).expect("writable");
        std::fs::write(out, woven.file.as_ref().unwrap_or(&bytes)).expect("writable");
        files += 1;
    }
    let hooks = ["Hooks", "Watched"].map(|name| path(&format!("tests/weave/programs/foretrace/agent/{name}.java")));
    tool("javac", &["--release", "11", "-d", "hooks", &hooks[0], &hooks[1]], folder.path());
    let linked = tool("java", &["-Xverify:all", "-Xbootclasspath/a:hooks", &corpus, "link", "woven"], folder.path());
    assert_eq!(String::from_utf8_lossy(&linked.stdout).trim(), files.to_string());
    println!("{files} classes of {count} programs, {sites} sites");
}
