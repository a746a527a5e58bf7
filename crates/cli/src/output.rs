//! Writes a trace or a text where the user said, so that nothing half-written replaces something whole.

use anyhow::{Context, Result};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

thread_local! {
    /// This thread has nothing to say.
    static SILENT: Cell<bool> = const { Cell::new(false) };
}

/// From now on, this thread says nothing: a watched program is using the terminal, and a later analysis reports.
pub(crate) fn be_silent() {
    SILENT.set(true);
}

/// Whether this thread says nothing.
pub(crate) fn is_silent() -> bool {
    SILENT.get()
}

/// Says something on standard error, made harmless for a terminal. A failure to write must not stop the work.
pub(crate) fn say(what: &str) {
    let lines: String = what.lines().map(|line| report::harmless(line).into_owned() + "\n").collect();
    complain(format!("foretrace: {lines}").as_bytes());
}

/// Writes to standard error.
pub(crate) fn complain(text: &[u8]) {
    if !is_silent() {
        let _ = io::stderr().write_all(text);
    }
}

/// Bytes that are collected before they are written: renderers write word by word.
const BUFFER: usize = 1 << 16;

/// A file that appears under its name only when it is finished; or a stream. Both are buffered.
pub(crate) enum Target {
    File { temporary: BufWriter<NamedTempFile>, path: PathBuf },
    Stream(BufWriter<Box<dyn Write>>),
}

impl Target {
    pub(crate) fn create(path: &Path) -> Result<Target> {
        if path == Path::new("-") {
            return Ok(Target::stream(io::stdout().lock()));
        }
        let context = || format!("cannot write {}", path.display());
        // A device or a pipe has no half-written state, and must not be replaced by a file.
        if std::fs::metadata(path).is_ok_and(|known| !known.is_file()) {
            let stream = File::options().write(true).open(path).with_context(context)?;
            return Ok(Target::stream(stream));
        }
        // Through a symbolic link to what it points to, and as writable as it was.
        let path = &std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let permissions = match File::options().write(true).open(path) {
            Ok(old) => Some(old.metadata().with_context(context)?.permissions()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(context),
        };
        let folder = match path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            // As a file made in the usual way: the umask takes its part from this.
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let temporary = builder.prefix(".foretrace-").tempfile_in(folder).with_context(context)?;
        if let Some(permissions) = permissions {
            temporary.as_file().set_permissions(permissions).with_context(context)?;
        }
        Ok(Target::File { temporary: BufWriter::with_capacity(BUFFER, temporary), path: path.clone() })
    }

    fn stream(stream: impl Write + 'static) -> Target {
        Target::Stream(BufWriter::with_capacity(BUFFER, Box::new(stream)))
    }

    /// Puts the file under its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        if let Target::File { temporary, path } = self {
            let context = format!("cannot write {}", path.display());
            let temporary = temporary.into_inner().map_err(io::IntoInnerError::into_error).context(context.clone())?;
            temporary.persist(path).map_err(|error| error.error).context(context)?;
        }
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Target::File { temporary, .. } => temporary.write(bytes),
            Target::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Target::File { temporary, .. } => temporary.flush(),
            Target::Stream(stream) => stream.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counting(Arc<AtomicUsize>);

    impl Write for Counting {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_is_written_byte_by_byte_is_collected() {
        let calls = Arc::new(AtomicUsize::new(0));
        let mut target = Target::stream(Counting(calls.clone()));
        (0..1_000_000).for_each(|_| target.write_all(b"1").expect("it takes all"));
        target.finish().expect("it takes all");
        assert!((1..100).contains(&calls.load(Ordering::Relaxed)), "{calls:?}");
    }
}
