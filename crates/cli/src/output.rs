//! Writes a trace or a text where the user said, so that nothing half-written replaces something whole.

use anyhow::{Context, Result};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, Write};
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
    complain(format!("foretrace: {}\n", report::harmless(what)).as_bytes());
}

/// Writes to standard error.
pub(crate) fn complain(text: &[u8]) {
    if !is_silent() {
        let _ = io::stderr().write_all(text);
    }
}

/// A file that appears under its name only when it is finished; or a stream.
pub(crate) enum Target {
    File { temporary: NamedTempFile, path: PathBuf },
    Stream(Box<dyn Write>),
}

impl Target {
    pub(crate) fn create(path: &Path) -> Result<Target> {
        if path == Path::new("-") {
            return Ok(Target::Stream(Box::new(io::stdout().lock())));
        }
        let context = || format!("cannot write {}", path.display());
        // A device or a pipe has no half-written state, and must not be replaced by a file.
        if std::fs::metadata(path).is_ok_and(|known| !known.is_file()) {
            let stream = File::options().write(true).open(path).with_context(context)?;
            return Ok(Target::Stream(Box::new(stream)));
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
        Ok(Target::File { temporary, path: path.clone() })
    }

    /// Puts the file under its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        self.flush()?;
        if let Target::File { temporary, path } = self {
            let context = format!("cannot write {}", path.display());
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
