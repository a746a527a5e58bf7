//! Opens the trace that the user named.

use anyhow::{Context, Result};
use std::io::{ErrorKind, Read};
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
        ("standard input".to_owned(), trace::open_stream(std::io::stdin(), keep))
    } else {
        let opened =
            std::fs::File::open(path).map_err(trace::Error::from).and_then(|file| trace::open_file(file, keep));
        (path.display().to_string(), opened)
    };
    let Opened { source, size } = opened.with_context(|| format!("cannot read {name}"))?;
    Ok(Input { name, size, source })
}

/// Keeps a stream in a file that goes away with this process.
fn keep(stream: &mut dyn Read) -> std::io::Result<std::fs::File> {
    let mut file = tempfile::tempfile()?;
    match std::io::copy(stream, &mut file) {
        // A compressed stream that is cut off or damaged: the reader will say so, with what there is.
        Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData) => {}
        copied => drop(copied?),
    }
    Ok(file)
}
