//! Runs the real command in a folder of its own.
#![allow(dead_code, reason = "each test uses its part")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// What a command did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ran {
    fn from(out: Output) -> Ran {
        Ran {
            code: out.status.code(),
            stdout: String::from_utf8(out.stdout).expect("UTF-8"),
            stderr: String::from_utf8(out.stderr).expect("UTF-8"),
        }
    }
}

/// A folder to run commands in.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), bytes).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).expect("readable");
        let mut names: Vec<String> =
            entries.map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_foretrace"));
        command.args(args).current_dir(self.0.path()).env_remove("NO_COLOR");
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.command(args).stdin(Stdio::null()).output().expect("foretrace runs").into()
    }

    /// Runs, but no longer than some seconds: then it is ended, and the code is that of `timeout`, 124.
    pub(crate) fn run_within(&self, seconds: u32, args: &[&str]) -> Ran {
        let command = self.command(args);
        let mut limited = Command::new("timeout");
        limited.args(["-k", "20", &seconds.to_string()]).arg(command.get_program()).args(command.get_args());
        limited.current_dir(self.0.path()).env_remove("NO_COLOR").stdin(Stdio::null());
        limited.output().expect("foretrace runs").into()
    }

    pub(crate) fn run_with_input(&self, args: &[&str], input: &[u8]) -> Ran {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("foretrace runs");
        let mut stdin = child.stdin.take().expect("piped");
        let input = input.to_vec();
        // In a thread, because the command may write before it has read all.
        let feeding = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let out = child.wait_with_output().expect("foretrace ends");
        feeding.join().expect("fed");
        out.into()
    }

    /// Runs and expects success.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> Ran {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        ran
    }
}

/// A file or folder of the corpus.
pub(crate) fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus").join(name)
}

/// The Java virtual machine that runs programs: `FORETRACE_JAVA`, or the one on the path.
pub(crate) fn java() -> String {
    std::env::var("FORETRACE_JAVA").unwrap_or_else(|_| "java".to_owned())
}

/// The newest release of Java that both the JDK that compiles and the virtual machine that runs support.
pub(crate) fn java_release() -> u32 {
    let release = |tool: &str| -> u32 {
        let printed = Command::new(tool).arg("--version").output().expect("a JDK is needed: ./test installs it").stdout;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let version = printed.split_whitespace().nth(1).and_then(|version| version.split('.').next()?.parse().ok());
        version.expect("its version")
    };
    release("javac").min(release(&java()))
}
