//! Writes the agents to a folder of the user's, once for each version of them.

use crate::{ALIASES, FILES, File, JVM, LIBRARY};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The agents could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is none for this machine.
    #[error("there is no agent for this machine: only x86-64 Linux (glibc) programs can be watched so far")]
    Machine,
    /// A file could not be written.
    #[error("cannot write the agent to {path}")]
    Write {
        /// Where.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// The agents as files.
pub struct Agents {
    folder: PathBuf,
}

impl Agents {
    /// Finds the files, or writes them: to `FORETRACE_AGENT_DIR`, else to the user's cache folder, else to the
    /// temporary one. Folders that the loader cannot name come last.
    pub fn ready() -> Result<Agents, Error> {
        if FILES.iter().all(|file| file.name != LIBRARY || file.content.is_empty()) {
            return Err(Error::Machine);
        }
        let mut last = None;
        for base in bases() {
            let folder = base.join(concat!("agents-", env!("FORETRACE_AGENTS")));
            match write_all(&folder) {
                Ok(()) => return Ok(Agents { folder }),
                Err(source) => last = Some(Error::Write { path: folder, source }),
            }
        }
        Err(last.unwrap_or(Error::Machine))
    }

    /// The folder with the library and its other names, for `LD_LIBRARY_PATH`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The library, for `LD_PRELOAD`.
    pub fn library(&self) -> PathBuf {
        self.folder.join(LIBRARY)
    }

    /// The agent of Java virtual machines, for `-agentpath`.
    pub fn jvm(&self) -> PathBuf {
        self.folder.join(JVM)
    }

    /// The agent as an object to be linked into a program.
    pub fn object(&self) -> PathBuf {
        self.folder.join("foretrace_native.o")
    }

    /// The symbols that a program with the object in it must export.
    pub fn symbols(&self) -> PathBuf {
        self.folder.join("foretrace.syms")
    }

    /// The folder with an empty libtsan, for the linker.
    pub fn link(&self) -> PathBuf {
        self.folder.join("link")
    }

    /// The folder of `foretrace.h`.
    pub fn include(&self) -> PathBuf {
        self.folder.join("include")
    }
}

/// Folders to try, best first.
fn bases() -> Vec<PathBuf> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let mut bases: Vec<PathBuf> = absolute("FORETRACE_AGENT_DIR").into_iter().collect();
    bases.extend(cache.map(|cache| cache.join("foretrace")));
    bases.push(std::env::temp_dir().join(format!("foretrace-{}", user().unwrap_or(0))));
    bases.sort_by_key(|base| !is_loadable(base));
    bases
}

/// Whether `LD_PRELOAD` can name files there: it divides names by spaces and colons, and knows no quotes.
fn is_loadable(base: &Path) -> bool {
    !base.as_os_str().as_encoded_bytes().iter().any(|byte| byte.is_ascii_whitespace() || *byte == b':')
}

/// The id of our user, for the name of a folder.
fn user() -> Option<u32> {
    std::fs::metadata("/proc/self").map(|own| own.uid()).ok()
}

fn write_all(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    // Another user could have made a folder of this name in a shared place, and change what we load from it.
    if user().is_some_and(|user| std::fs::metadata(folder).is_ok_and(|folder| folder.uid() != user)) {
        return Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    for file in FILES {
        write(folder, file)?;
    }
    for alias in ALIASES {
        let path = folder.join(alias);
        if std::fs::read_link(&path).is_ok_and(|target| target == Path::new(LIBRARY)) {
            continue;
        }
        match std::os::unix::fs::symlink(LIBRARY, &path) {
            // Another foretrace was faster.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
    }
    Ok(())
}

/// Writes a file unless it is there already. It appears as a whole, because a program may be loading it.
fn write(folder: &Path, file: &File) -> std::io::Result<()> {
    let path = folder.join(file.name);
    // The folder's name is a hash of the contents. Reading them each time would cost more than all else before the
    // program runs.
    if std::fs::metadata(&path).is_ok_and(|there| there.is_file() && there.len() == file.content.len() as u64) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(folder);
    std::fs::create_dir_all(parent)?;
    let mut temporary = tempfile::Builder::new().prefix(".agent").tempfile_in(parent)?;
    temporary.write_all(file.content)?;
    let mut permissions = temporary.as_file().metadata()?.permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    temporary.as_file().set_permissions(permissions)?;
    // Its contents are not checked again.
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    Ok(())
}
