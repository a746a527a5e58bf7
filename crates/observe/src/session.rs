//! A session: the directory in which the processes of one recording and the observer meet.

use crate::Error;
use crate::build::values::Watched;
use runtime::layout::{MAGIC, Parameter, SESSION_VARIABLE, Session as Layout, VERSION, Watch, path_hash, refused};
use std::fs::{self, File};
use std::io;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

/// A session. Its directory is removed with it.
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
    pub(crate) fn create(flags: u32, watched: &[Watched], java: &str, exit_wait: Duration) -> Result<Session, Error> {
        remove_dead(Path::new(SHARED_MEMORY), STILL);
        let directory = make_directory().map_err(Error::Session)?;
        fs::write(directory.path().join("java"), java).map_err(Error::Session)?;
        let file = fill(directory.path(), flags, watched, exit_wait).map_err(Error::Session)?;
        Ok(Session { directory, file, beats: 0 })
    }

    /// Leaves gates for the agents, if there are any.
    pub(crate) fn put_gates(&self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.is_empty() { Ok(()) } else { fs::write(self.gates_path(), bytes).map_err(Error::Session) }
    }

    /// What an agent has made of them.
    pub(crate) fn gates(&self) -> Vec<u8> {
        fs::read(self.gates_path()).unwrap_or_default()
    }

    fn gates_path(&self) -> PathBuf {
        self.directory.path().join(runtime::gates::FILE)
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

    /// The processes whose agents said that they cannot watch them.
    pub(crate) fn refusals(&self) -> Vec<Refusal> {
        let names = fs::read_dir(self.directory.path()).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let mut refusals: Vec<Refusal> = names.filter_map(|name| refusal(name.to_str()?)).collect();
        refusals.sort_by_key(|refusal| refusal.pid);
        refusals
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

/// Why an agent could not watch its process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refused {
    /// It needs address space.
    #[error("there is too little memory or address space for the agent (see `ulimit -v`)")]
    Memory,
    /// It needs a file.
    #[error("there is no room for what it writes (in /dev/shm or TMPDIR, or by `ulimit -f`)")]
    Room,
    /// It is of another version.
    #[error("it was built with another version of foretrace: build it again")]
    Version,
    /// It might harm.
    #[error("it has more rights than its user (setuid, setgid or capabilities), and the agent does not start then")]
    Secure,
}

/// A process that an agent could not watch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Its id.
    pub pid: u32,
    /// The reason.
    pub why: Refused,
}

/// `refused-PID-WHY`.
fn refusal(name: &str) -> Option<Refusal> {
    let (pid, why) = name.strip_prefix("refused-")?.split_once('-')?;
    let why = match why {
        refused::MEMORY => Refused::Memory,
        refused::ROOM => Refused::Room,
        refused::VERSION => Refused::Version,
        refused::SECURE => Refused::Secure,
        _ => return None,
    };
    Some(Refusal { pid: pid.parse().ok()?, why })
}

/// `p-PID-N` to (PID, N).
fn member(name: &str) -> Option<(u32, u32)> {
    let (pid, image) = name.strip_prefix("p-")?.split_once('-')?;
    Some((pid.parse().ok()?, image.parse().ok()?))
}

/// Where sessions are made if possible: it stays off the disk.
const SHARED_MEMORY: &str = "/dev/shm";
const PREFIX: &str = "foretrace-";

/// Room that a session needs: a watched process and some chunks. A container may have less there.
const ENOUGH: u64 = 16 << 20;

fn make_directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let room = rustix::fs::statvfs(SHARED_MEMORY).map_or(0, |about| about.f_bavail.saturating_mul(about.f_frsize));
    let first = if room >= ENOUGH { builder.tempdir_in(SHARED_MEMORY).ok() } else { None };
    match first {
        Some(directory) => Ok(directory),
        None => builder.tempdir(),
    }
}

/// How long the heartbeat of a session must have been missing before it counts as dead: its processes may be in another
/// namespace, and not visible.
const STILL: Duration = Duration::from_secs(60);

/// Removes sessions whose observer was killed this long ago, and whose processes have ended: nothing else would, and
/// they take memory.
fn remove_dead(folder: &Path, still: Duration) {
    let is_over = |pid: u32| !Path::new("/proc").join(pid.to_string()).exists();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let directory = entry.path();
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Another user's session cannot be read. One without an observer may be about to get it.
        let Ok(session) = fs::read(directory.join("session")) else { continue };
        let beat = fs::metadata(directory.join("session")).and_then(|file| file.modified());
        if !beat.is_ok_and(|beat| beat.elapsed().is_ok_and(|since| since >= still)) {
            continue;
        }
        let word = |at: usize| session.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_ne_bytes);
        let is_session = session.starts_with(&MAGIC.to_ne_bytes());
        let observer = word(offset_of!(Layout, observer)).filter(|&pid| is_session && pid != 0);
        let Ok(entries) = fs::read_dir(&directory) else { continue };
        let mut members = entries.flatten().filter_map(|entry| member(entry.file_name().to_str()?));
        if observer.is_some_and(is_over) && members.all(|(pid, _)| is_over(pid)) {
            // Another observer may remove it at the same time.
            let _ = fs::remove_dir_all(&directory);
        }
    }
}

fn fill(directory: &Path, flags: u32, watched: &[Watched], exit_wait: Duration) -> io::Result<File> {
    let file = File::options().read(true).write(true).create_new(true).open(directory.join("session"))?;
    let mut bytes = vec![0; size_of::<Layout>()];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(offset_of!(Layout, magic), &MAGIC.to_ne_bytes());
    put(offset_of!(Layout, version), &VERSION.to_ne_bytes());
    put(offset_of!(Layout, flags), &flags.to_ne_bytes());
    put(offset_of!(Layout, observer), &std::process::id().to_ne_bytes());
    put(offset_of!(Layout, watches), &(watched.len() as u32).to_ne_bytes());
    let exit_wait = u32::try_from(exit_wait.as_millis()).unwrap_or(u32::MAX);
    put(offset_of!(Layout, exit_wait), &exit_wait.to_ne_bytes());
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
    for (index, one) in watched.used.parameters().iter().enumerate() {
        let Parameter { place, size, meaning, unused, at } = *one;
        let from = offset_of!(Watch, parameters) + index * size_of::<Parameter>();
        put(from + offset_of!(Parameter, place), &[place]);
        put(from + offset_of!(Parameter, size), &[size]);
        put(from + offset_of!(Parameter, meaning), &[meaning]);
        put(from + offset_of!(Parameter, unused), &[unused]);
        put(from + offset_of!(Parameter, at), &at.to_ne_bytes());
    }
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
        let mut session = Session::create(2, &[watched], "", Duration::from_millis(3)).expect("a session");
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
        assert_eq!(bytes[offset_of!(Layout, exit_wait)], 3);
        let at = size_of::<Layout>() + offset_of!(Watch, address);
        assert_eq!(bytes[at..at + 8], 0x4010u64.to_ne_bytes());
        fs::write(directory.join("p-12-1"), "").expect("written");
        fs::write(directory.join("p-12-0"), "").expect("written");
        fs::write(directory.join("p-12-0.maps-0"), "").expect("written");
        fs::write(directory.join("refused-13-room"), "").expect("written");
        fs::write(directory.join("refused-x-room"), "").expect("written");
        let members: Vec<_> = session.members().expect("read").into_iter().map(|m| (m.pid, m.image)).collect();
        assert_eq!(members, [(12, 0), (12, 1)]);
        assert_eq!(session.refusals(), [Refusal { pid: 13, why: Refused::Room }]);
        drop(session);
        assert!(!directory.exists());
    }

    #[test]
    fn dead_sessions_are_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let session = |name: &str, observer: u32, member: Option<u32>| {
            let directory = folder.path().join(name);
            fs::create_dir(&directory).expect("made");
            let file = fill(&directory, 0, &[], Duration::ZERO).expect("filled");
            file.write_all_at(&observer.to_ne_bytes(), offset_of!(Layout, observer) as u64).expect("written");
            if let Some(pid) = member {
                fs::write(directory.join(format!("p-{pid}-0")), "").expect("written");
            }
            directory
        };
        let (alive, dead) = (std::process::id(), u32::MAX);
        let gone = [session("foretrace-a", dead, None), session("foretrace-b", dead, Some(dead - 1))];
        let stay = [
            session("foretrace-c", alive, Some(dead)),
            session("foretrace-d", dead, Some(alive)),
            session("another-e", dead, None),
            session("foretrace-f", 0, None),
        ];
        fs::create_dir(folder.path().join("foretrace-g")).expect("made");
        remove_dead(folder.path(), STILL);
        assert!(gone.iter().all(|directory| directory.exists()), "their hearts have just beaten");
        remove_dead(folder.path(), Duration::ZERO);
        assert!(gone.iter().all(|directory| !directory.exists()));
        assert!(stay.iter().all(|directory| directory.exists()));
        assert!(folder.path().join("foretrace-g").exists(), "its session may be about to begin");
    }
}
