//! The files of traces: written under a name of their own, and put where they belong at the end.

use crate::options::Output;
use crate::recorded::StoredTrace;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A trace that is being written.
pub(crate) enum Pending {
    Named(NamedTempFile),
    Nameless(File),
}

impl Pending {
    pub(crate) fn file(&self) -> &File {
        match self {
            Pending::Named(file) => file.as_file(),
            Pending::Nameless(file) => file,
        }
    }
}

/// A file for a trace, and a second handle to write it by.
pub(crate) fn create(output: &Output) -> io::Result<(Pending, File)> {
    match output {
        Output::Temporary => {
            let file = tempfile::tempfile()?;
            let writer = file.try_clone()?;
            Ok((Pending::Nameless(file), writer))
        }
        // A device must not be replaced by a file of its name.
        Output::Path(path) if is_special(path) => create(&Output::Temporary),
        Output::Path(path) => {
            let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
            let mut builder = tempfile::Builder::new();
            // As a file made in the usual way: the umask takes its part from this.
            builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
            // If the observer is killed, this file is left, and can be read.
            let mut prefix = path.file_stem().unwrap_or_default().to_owned();
            prefix.push("-");
            let file = builder.prefix(&prefix).suffix(".ftrace.part").tempfile_in(folder)?;
            let writer = file.as_file().try_clone()?;
            Ok((Pending::Named(file), writer))
        }
    }
}

/// Puts a trace where it belongs.
pub(crate) fn store(pending: Pending, output: &Output, other: Option<(u32, u32)>) -> StoredTrace {
    match (pending, output) {
        (Pending::Named(file), Output::Path(path)) => {
            let path = match other {
                None => path.clone(),
                Some((pid, image)) => beside(path, pid, image),
            };
            match file.persist(&path) {
                Ok(_) => StoredTrace::Path(path),
                Err(error) => StoredTrace::Failed(error.error),
            }
        }
        (Pending::Named(file), Output::Temporary) => rewound(file.into_file()),
        (Pending::Nameless(file), Output::Temporary) => rewound(file),
        (Pending::Nameless(file), Output::Path(path)) => match copy(file, path) {
            Ok(()) => StoredTrace::Path(path.clone()),
            Err(error) => StoredTrace::Failed(io::Error::new(error.kind(), format!("{}: {error}", path.display()))),
        },
    }
}

/// Whether something other than a file has this name: a device, a pipe.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|known| !known.is_file())
}

fn copy(mut trace: File, path: &Path) -> io::Result<()> {
    trace.rewind()?;
    let mut target = File::options().write(true).open(path)?;
    io::copy(&mut trace, &mut target)?;
    target.flush()
}

fn rewound(mut file: File) -> StoredTrace {
    match file.rewind() {
        Ok(()) => StoredTrace::File(file),
        Err(error) => StoredTrace::Failed(error),
    }
}

/// The name of another process' trace: `run.ftrace` to `run.PID.ftrace`; of its later images `run.PID-1.ftrace`.
fn beside(path: &Path, pid: u32, image: u32) -> PathBuf {
    let which = if image == 0 { pid.to_string() } else { format!("{pid}-{image}") };
    match path.extension() {
        Some(extension) => {
            let mut new = OsString::from(which);
            new.push(".");
            new.push(extension);
            path.with_extension(new)
        }
        None => path.with_extension(which),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_other_processes_stand_beside() {
        assert_eq!(beside(Path::new("a/run.ftrace"), 12, 0), Path::new("a/run.12.ftrace"));
        assert_eq!(beside(Path::new("a/run.ftrace"), 12, 2), Path::new("a/run.12-2.ftrace"));
        assert_eq!(beside(Path::new("run"), 12, 0), Path::new("run.12"));
    }
}
