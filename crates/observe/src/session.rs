//! A session: the directory in which the processes of one recording and the observer meet.

use crate::Error;
use crate::build::values::Watched;
use runtime::layout::{MAGIC, SESSION_VARIABLE, Session as Layout, VERSION, Watch, path_hash};
use std::fs::{self, File};
use std::io;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A session. Its directory goes when it does.
pub(crate) struct Session {
    directory: TempDir,
    file: File,
    beats: u64,
}

/// A process' file in the session's directory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Member {
    pub(crate) pid: u32,
    /// Which image of the process.
    pub(crate) image: u32,
    pub(crate) path: PathBuf,
}

impl Session {
    /// Makes a session.
    pub(crate) fn create(flags: u32, watched: &[Watched]) -> Result<Session, Error> {
        let directory = make_directory().map_err(Error::Session)?;
        let file = fill(directory.path(), flags, watched).map_err(Error::Session)?;
        Ok(Session { directory, file, beats: 0 })
    }

    /// The environment variable that leads agents here.
    pub(crate) fn variable(&self) -> (&'static str, &Path) {
        (SESSION_VARIABLE, self.directory.path())
    }

    /// Shows that the observer lives.
    pub(crate) fn beat(&mut self) {
        self.beats += 1;
        // A heartbeat that cannot be written is one that is missed.
        let _ = self.file.write_all_at(&self.beats.to_ne_bytes(), offset_of!(Layout, heartbeat) as u64);
    }

    /// The processes' files so far, in order.
    pub(crate) fn members(&self) -> io::Result<Vec<Member>> {
        let mut members = Vec::new();
        for entry in fs::read_dir(self.directory.path())? {
            let path = entry?.path();
            if let Some((pid, image)) = path.file_name().and_then(|name| member(name.to_str()?)) {
                members.push(Member { pid, image, path });
            }
        }
        members.sort();
        Ok(members)
    }

    /// Processes whose environment names this session, alive now, ourselves excepted.
    pub(crate) fn survivors(&self) -> Vec<u32> {
        let mut found = Vec::new();
        let needle = [SESSION_VARIABLE.as_bytes(), b"=", self.directory.path().as_os_str().as_bytes()].concat();
        for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
            let Ok(environment) = fs::read(entry.path().join("environ")) else { continue };
            if pid != std::process::id() && environment.split(|&byte| byte == 0).any(|variable| variable == needle) {
                found.push(pid);
            }
        }
        found
    }
}

/// `p-PID-N` to (PID, N).
fn member(name: &str) -> Option<(u32, u32)> {
    let (pid, image) = name.strip_prefix("p-")?.split_once('-')?;
    Some((pid.parse().ok()?, image.parse().ok()?))
}

fn make_directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("foretrace-").permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    // Shared memory stays off the disk.
    builder.tempdir_in("/dev/shm").or_else(|_| builder.tempdir())
}

fn fill(directory: &Path, flags: u32, watched: &[Watched]) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).open(directory.join("session"))?;
    let mut bytes = vec![0; size_of::<Layout>()];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(Layout, magic), &MAGIC.to_ne_bytes());
    put(offset_of!(Layout, version), &VERSION.to_ne_bytes());
    put(offset_of!(Layout, flags), &flags.to_ne_bytes());
    put(offset_of!(Layout, observer), &std::process::id().to_ne_bytes());
    put(offset_of!(Layout, watches), &(watched.len() as u32).to_ne_bytes());
    for (number, watched) in watched.iter().enumerate() {
        bytes.extend_from_slice(&watch(number, watched));
    }
    file.write_all_at(&bytes, 0)?;
    Ok(file)
}

fn watch(number: usize, watched: &Watched) -> [u8; size_of::<Watch>()] {
    let mut bytes = [0; size_of::<Watch>()];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(Watch, module), &path_hash(watched.module.as_os_str().as_bytes()).to_ne_bytes());
    put(offset_of!(Watch, address), &watched.address.to_ne_bytes());
    put(offset_of!(Watch, size), &watched.size.to_ne_bytes());
    put(offset_of!(Watch, what), &watched.used.code().to_ne_bytes());
    put(offset_of!(Watch, number), &(number as u16).to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Encoding, Use};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_session_is_private_and_leaves_nothing() {
        let watched = Watched {
            module: "/bin/true".into(),
            address: 0x4010,
            size: 4,
            name: "landing".into(),
            used: Use::Value(Encoding::Signed),
        };
        let mut session = Session::create(2, &[watched]).expect("a session");
        let directory = session.variable().1.to_owned();
        let mode = fs::metadata(&directory).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        session.beat();
        session.beat();
        let bytes = fs::read(directory.join("session")).expect("it is there");
        assert_eq!(bytes.len(), size_of::<Layout>() + size_of::<Watch>());
        assert_eq!(bytes[..8], MAGIC.to_ne_bytes());
        assert_eq!(bytes[offset_of!(Layout, heartbeat)], 2);
        assert_eq!(bytes[offset_of!(Layout, watches)], 1);
        let at = size_of::<Layout>() + offset_of!(Watch, address);
        assert_eq!(bytes[at..at + 8], 0x4010u64.to_ne_bytes());
        fs::write(directory.join("p-12-1"), "").expect("written");
        fs::write(directory.join("p-12-0"), "").expect("written");
        fs::write(directory.join("p-12-0.maps-0"), "").expect("written");
        let members: Vec<_> = session.members().expect("read").into_iter().map(|m| (m.pid, m.image)).collect();
        assert_eq!(members, [(12, 0), (12, 1)]);
        drop(session);
        assert!(!directory.exists());
    }
}
