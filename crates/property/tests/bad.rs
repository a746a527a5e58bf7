//! Deliberate mistakes: each of the files in `bad/` gives exactly one diagnostic, as shown in its snapshot.

use property::check::check_file;
use property::syntax::{Loader, render};

/// The files of one directory by their names alone, so that messages have no paths in them.
struct Bad;

impl Loader for Bad {
    fn load(&self, path: &str) -> Result<Vec<u8>, String> {
        std::fs::read(directory().join(path)).map_err(|_| "no such file".to_owned())
    }
}

fn directory() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad")
}

#[test]
fn every_mistake_gives_one_good_diagnostic() {
    let mut files: Vec<String> = std::fs::read_dir(directory())
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .filter(|name| name.ends_with(".rvs"))
        .collect();
    files.sort();
    assert!(files.len() >= 60, "only {} files", files.len());
    let mut wrong = Vec::new();
    for file in &files {
        let checked = check_file(file, &Bad);
        let shown = render(&checked.diagnostics, &checked.sources, false);
        if checked.diagnostics.len() != 1 {
            wrong.push(format!("{file}: {} diagnostics\n{shown}", checked.diagnostics.len()));
        }
        insta::with_settings!({
            omit_expression => true, prepend_module_to_snapshot => false, snapshot_path => "bad"
        }, {
            insta::assert_snapshot!(file.trim_end_matches(".rvs"), shown);
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
