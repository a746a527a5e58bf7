//! Opens the trace that the user named.

use anyhow::{Context, Result};
use event::{Batch, Names};
use std::io::{ErrorKind, Read, Seek};
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

/// Opens a trace after reading it once for its names. Standard input is kept in a file for that.
pub(crate) fn open_with_names(path: &Path) -> Result<(Input, Names)> {
    let stdin = path == Path::new("-");
    let name = if stdin { "standard input".to_owned() } else { path.display().to_string() };
    let context = || format!("cannot read {name}");
    let mut file = if stdin { keep(&mut std::io::stdin()) } else { std::fs::File::open(path) }.with_context(context)?;
    if !file.metadata().with_context(context)?.is_file() {
        file = keep(&mut file).with_context(context)?;
    }
    let mut first = file.try_clone().with_context(context)?;
    first.rewind().with_context(context)?;
    let mut source = trace::open_file(first, keep).with_context(context)?.source;
    let mut batch = Batch::default();
    // What stops this pass stops the other one, which will say so.
    while let Ok(true) = source.next_batch(&mut batch) {}
    let names = source.names().clone();
    drop(source);
    file.rewind().with_context(context)?;
    let Opened { source, size } = trace::open_file(file, keep).with_context(context)?;
    Ok((Input { name, size, source }, names))
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
