//! Opens the trace that the user named.

use anyhow::{Context, Result};
use std::io::Read;
use std::path::Path;
use trace::{Opened, Source};

/// An opened trace, and what the user called it.
pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) size: Option<u64>,
    pub(crate) source: Box<dyn Source>,
}

/// Opens a file, or with `-` standard input.
pub(crate) fn open(path: &Path) -> Result<Input> {
    let (name, opened) = if path == Path::new("-") {
        ("standard input".to_owned(), open_stdin())
    } else {
        (path.display().to_string(), std::fs::File::open(path).map_err(Into::into).and_then(trace::open_file))
    };
    let Opened { source, size } = opened.with_context(|| format!("cannot read {name}"))?;
    Ok(Input { name, size, source })
}

/// Standard input as it is; a binary trace is kept in a file first, because late records need a second look.
fn open_stdin() -> std::result::Result<Opened, trace::Error> {
    trace::open_stream(std::io::stdin().lock(), |mut input: Box<dyn Read>| {
        let mut file = tempfile::tempfile()?;
        std::io::copy(&mut input, &mut file)?;
        Ok(file)
    })
}
