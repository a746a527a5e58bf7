//! Keeps the tree tidy: widths of lines, comments, names of files, and a purpose sentence in every module.
//!
//! Each test lists all places at once, so that one run is enough to mend them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Lines may be this wide.
const WIDTH: usize = 120;

/// Folders that hold no sources of ours.
const SKIPPED: &[&str] = &["target", ".git", "fuzz/corpus", "fuzz/artifacts"];

/// What sources, documents and tables end in.
const SLASHES: &[&str] = &["rs", "java", "c", "cc", "h"];
const HASHES: &[&str] = &["table", "toml", "sh"];

/// A file of the tree, with its path from the root.
struct Text {
    path: String,
    text: String,
}

impl Text {
    fn ends_in(&self, endings: &[&str]) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, ending)| endings.contains(&ending))
    }

    fn is_script(&self) -> bool {
        self.text.starts_with("#!/")
    }

    fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        (1..).zip(self.text.lines())
    }

    /// The prose of a document, without its code, or the comments of a source, each line with its number.
    fn prose(&self) -> Vec<(usize, &str)> {
        if self.ends_in(&["md"]) {
            return self.outside_fences();
        }
        let (whole, rest): (&[&str], &str) = match () {
            () if self.ends_in(SLASHES) => (&["//", "/*", "* "], " // "),
            () if self.ends_in(HASHES) || self.is_script() => (&["#"], " # "),
            () => return Vec::new(),
        };
        let comment = |line: &'_ str| -> Option<usize> {
            let indent = line.len() - line.trim_start().len();
            let is_whole = whole.iter().any(|marker| line[indent..].starts_with(marker));
            if is_whole { Some(indent) } else { line.find(rest).map(|at| at + 1) }
        };
        self.lines().filter_map(|(number, line)| Some((number, &line[comment(line)?..]))).collect()
    }

    fn outside_fences(&self) -> Vec<(usize, &str)> {
        let mut is_code = false;
        let mut is_prose = |line: &str| {
            let is_fence = line.trim_start().starts_with("```");
            is_code ^= is_fence;
            !is_code && !is_fence
        };
        self.lines().filter(|(_, line)| is_prose(line)).collect()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All files of the tree, by their paths from the root.
fn paths() -> Vec<String> {
    let (root, mut paths, mut folders) = (root(), Vec::new(), vec![String::new()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root.join(&folder)).expect("readable") {
            let entry = entry.expect("an entry");
            let name = entry.file_name().into_string().expect("UTF-8");
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if SKIPPED.contains(&name.as_str()) || SKIPPED.contains(&path.as_str()) {
                continue;
            }
            let is_folder = entry.file_type().expect("a type").is_dir();
            if is_folder { folders.push(path) } else { paths.push(path) }
        }
    }
    paths.sort();
    paths
}

/// All files that are text.
fn texts() -> Vec<Text> {
    let read = |path: String| {
        let text = String::from_utf8(std::fs::read(root().join(&path)).expect("readable")).ok()?;
        Some(Text { path, text })
    };
    paths().into_iter().filter_map(read).collect()
}

/// Fails with a list of places, if there are any.
#[track_caller]
fn expect_none(what: &str, places: &[String]) {
    assert!(places.is_empty(), "{} {what}:\n  {}", places.len(), places.join("\n  "));
}

#[test]
fn lines_are_at_most_120_columns_wide() {
    let mut wide = Vec::new();
    for text in texts() {
        if !(text.ends_in(SLASHES) || text.ends_in(HASHES) || text.ends_in(&["md"]) || text.is_script()) {
            continue;
        }
        for (number, line) in text.lines() {
            let width = line.chars().count();
            if width > WIDTH && !line.contains("https://") && !line.contains("http://") {
                wide.push(format!("{}:{number}: {width} columns", text.path));
            }
        }
    }
    expect_none("lines are too wide", &wide);
}

#[test]
fn no_comment_begins_with_the_same() {
    let mut places = Vec::new();
    for text in texts() {
        for (number, line) in text.prose() {
            let words = line.trim_start_matches(['/', '!', '*', '#', ' ', '|', '-']);
            // This file has to name what it forbids.
            if words.starts_with("The same") && !text.path.ends_with("tests/tidy.rs") {
                places.push(format!("{}:{number}: {}", text.path, line.trim()));
            }
        }
    }
    expect_none("comments begin with \"The same\": say what is meant", &places);
}

/// Words of our own for things that have a name: docs/glossary.md has it.
const PRIVATE_WORDS: &[&str] =
    &["told", "granule", "granules", "excerpt", "excerpts", "wishes", "suspects", "knobs", "deeds", "must vector"];

/// Fixed texts of reports and of stored traces, and ordinary English.
const ALLOWED: &[&str] = &["told apart", "and told nothing"];

#[test]
fn private_words_do_not_come_back() {
    let mut places = Vec::new();
    for text in texts() {
        let is_ours = text.ends_in(SLASHES) || text.ends_in(HASHES) || text.ends_in(&["md"]);
        if !is_ours || text.path.ends_with("tests/tidy.rs") {
            continue;
        }
        for (number, line) in text.lines().filter(|(_, line)| !ALLOWED.iter().any(|allowed| line.contains(allowed))) {
            let words = line.to_lowercase();
            let words: Vec<&str> = words.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()).collect();
            let is_private = |private: &&&str| {
                let private: Vec<&str> = private.split(' ').collect();
                words.windows(private.len()).any(|some| some == private)
            };
            if let Some(word) = PRIVATE_WORDS.iter().find(is_private) {
                places.push(format!("{}:{number}: {word}: {}", text.path, line.trim()));
            }
        }
    }
    expect_none("lines have a word that only its author knows", &places);
}

#[test]
fn files_that_are_named_exist() {
    let paths = paths();
    // A file is found by any end of its path, a folder by its path from the root or from a crate.
    let mut known = HashSet::new();
    for path in &paths {
        let mut parents: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[..at]).collect();
        parents.push(path);
        for path in parents {
            known.insert(path);
            known.extend(path.match_indices('/').map(|(at, _)| &path[at + 1..]));
        }
    }
    let mut missing = Vec::new();
    for text in texts() {
        for (number, line) in text.prose() {
            for name in named_files(line) {
                let from_here = root().join(&text.path).with_file_name(name).exists();
                if !known.contains(name.trim_end_matches('/')) && !from_here {
                    missing.push(format!("{}:{number}: {name}", text.path));
                }
            }
            if text.ends_in(&["md"]) {
                for link in links(line) {
                    if !root().join(&text.path).with_file_name(link).exists() {
                        missing.push(format!("{}:{number}: link to {link}", text.path));
                    }
                }
            }
        }
    }
    expect_none("named files do not exist", &missing);
}

/// Words of a line that can only be files of this tree: paths below its top folders, and names of sources, documents
/// and tables. Names with a placeholder (`NAME`, `*`, `…`, `{`, `<`, `$`) are none.
fn named_files(line: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "/._-*…{}<>$+@".contains(c);
    let mut names = Vec::new();
    for word in line.split(|c| !is_part(c)) {
        let word = word.trim_end_matches('.').trim_start_matches("./");
        let (folder, name) = word.rsplit_once('/').unwrap_or(("", word));
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let has_placeholder = word.contains(['*', '…', '{', '<', '$', '+', '@'])
            || word
                .split(['/', '.'])
                .any(|part| part.len() > 1 && part.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
                && !word.ends_with(".md");
        let is_below_top = ["crates/", "agents/", "corpus/", "docs/", "fuzz/"].iter().any(|top| word.starts_with(top));
        let is_source = ["rs", "java", "md", "table"].contains(&ending) && !stem.is_empty();
        let is_elsewhere = folder.starts_with('/') || folder.starts_with("..") || folder.starts_with("target");
        if !has_placeholder && !is_elsewhere && (is_below_top || is_source) && !EXAMPLES.contains(&name) {
            names.push(word);
        }
    }
    names
}

/// Names that stand for a file of the reader's, or for one of another project.
const EXAMPLES: &[&str] = &["docs.rs"];

/// The files that links of a line of Markdown lead to.
fn links(line: &str) -> Vec<&str> {
    let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let targets = targets.map(|target| target.split('#').next().unwrap_or_default());
    targets.filter(|target| !target.is_empty() && !target.contains("://")).collect()
}

#[test]
fn modules_open_with_a_purpose_sentence() {
    let mut without = Vec::new();
    for text in texts() {
        let purpose = if text.ends_in(&["rs"]) {
            rust_purpose(&text.text)
        } else if text.ends_in(&["java"]) {
            java_purpose(&text.text)
        } else {
            continue;
        };
        if !purpose.as_ref().is_some_and(|purpose| is_sentence(purpose)) {
            without.push(format!("{}: {}", text.path, purpose.as_deref().unwrap_or("no comment")));
        }
    }
    expect_none("modules and classes do not open with a sentence that says what they are for", &without);
}

/// The first paragraph of the comment that a Rust file opens with.
fn rust_purpose(text: &str) -> Option<String> {
    let mut lines = text.lines().skip_while(|line| line.trim().is_empty() || line.starts_with("#!["));
    let comment = lines.by_ref().map_while(|line| line.strip_prefix("//!")).map(str::trim);
    paragraph(comment)
}

/// The first paragraph of the comment before the first class of a Java file.
fn java_purpose(text: &str) -> Option<String> {
    let is_comment = |line: &&str| ["/*", "*", "//"].iter().any(|marker| line.trim_start().starts_with(marker));
    let precedes_class = |line: &&str| {
        is_comment(line) || line.trim().is_empty() || ["package ", "import "].iter().any(|word| line.starts_with(word))
    };
    let lines = text.lines().take_while(precedes_class).skip_while(|line| !is_comment(line)).take_while(is_comment);
    paragraph(lines.map(|line| line.trim().trim_start_matches(['/', '*']).trim_end_matches(['/', '*']).trim()))
}

fn paragraph<'a>(lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let lines: Vec<&str> = lines.skip_while(|line| line.is_empty()).take_while(|line| !line.is_empty()).collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}

/// Whether a text begins like a sentence and has an end.
fn is_sentence(text: &str) -> bool {
    let begins = text.starts_with(|c: char| c.is_uppercase() || "`[\"*".contains(c) || c.is_ascii_digit());
    begins && text.contains(['.', ':'])
}
