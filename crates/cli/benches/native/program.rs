//! The programs of the benchmark, how they are built in every way, and how each way runs them.

use crate::took::{Took, wait};
use std::cell::OnceCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Where a program comes from.
enum Source {
    /// A file beside this one; its only argument is how many times its work is done.
    File(&'static str),
    /// Debian's source package of zstd, which compresses generated text with two threads.
    Zstd,
    /// Debian's source package of memcached, under the load of corpus/real/load.pl.
    Memcached,
}

/// A program of the benchmark.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) title: &'static str,
    source: Source,
}

impl Program {
    /// Whether its work can be multiplied.
    pub(crate) fn takes_scale(&self) -> bool {
        matches!(self.source, Source::File(_))
    }
}

/// Programs of one table.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    pub(crate) programs: &'static [Program],
    /// `record` should take this part of what ThreadSanitizer takes, in the geometric mean.
    pub(crate) wanted: f64,
    /// Whether the work is multiplied by `FORETRACE_SCALE`.
    pub(crate) scales: bool,
}

const fn file(name: &'static str, file: &'static str, title: &'static str) -> Program {
    Program { name, title, source: Source::File(file) }
}

pub(crate) const GROUPS: [Group; 2] = [
    Group {
        title: "Programs that compute",
        wanted: 0.5,
        scales: false,
        programs: &[
            file("array_sum", "array_sum.c", "array sum, lock per block"),
            file("matrix", "matrix.c", "matrix multiply"),
            file("queue", "queue.c", "bounded queue"),
            file("hash_map", "hash_map.c", "striped hash map"),
        ],
    },
    Group {
        title: "Programs that hand data over",
        wanted: 0.7,
        scales: true,
        programs: &[
            file("log_pool", "log_pool.c", "log lines, a queue of work"),
            file("lru_cache", "lru_cache.c", "LRU cache"),
            file("task_pool", "task_pool.c", "pool of tasks with results"),
            file("buffers", "buffers.c", "parser of buffers"),
            file("references", "references.c", "reference counts"),
            file("routes", "routes.c", "readers-writer table"),
            file("pipeline", "pipeline.c", "pipeline of three stages"),
            file("orders", "orders.cc", "C++ strings, maps, queue"),
            Program { name: "zstd", title: "zstd -T2", source: Source::Zstd },
            Program { name: "memcached", title: "memcached, 2 threads", source: Source::Memcached },
        ],
    },
];

/// A way to run a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Way {
    Plain,
    Tsan,
    Record,
    Run,
    Helgrind,
}

pub(crate) const WAYS: [Way; 5] = [Way::Plain, Way::Tsan, Way::Record, Way::Run, Way::Helgrind];

impl Way {
    /// What the name of the program built for it ends in.
    fn suffix(self) -> &'static str {
        match self {
            Way::Plain | Way::Helgrind => "",
            Way::Tsan => ".tsan",
            Way::Record | Way::Run => ".foretrace",
        }
    }
}

/// The `foretrace` that is measured.
fn foretrace() -> String {
    std::env::var("FORETRACE").unwrap_or_else(|_| env!("CARGO_BIN_EXE_foretrace").to_owned())
}

/// Names a file. If it is set, this program is itself what is watched: it runs the real program and leaves that one's
/// memory in the file. `wait4` reports the largest process only, and that may be the observer.
const OWN_MEMORY: &str = "FORETRACE_BENCH_OWN_MEMORY";

/// Whether this process only runs another one, to learn how much memory that has.
pub(crate) fn is_wrapper() -> bool {
    std::env::var_os(OWN_MEMORY).is_some()
}

/// Runs the program that is named, and says in a file how many megabytes it had.
pub(crate) fn run_for_memory() {
    let file = std::env::var_os(OWN_MEMORY).expect("a file");
    let mut arguments = std::env::args_os().skip(1);
    let mut command = Command::new(arguments.next().expect("a program"));
    let pid = command.args(arguments).env_remove(OWN_MEMORY).spawn().map(|child| child.id());
    let (status, took) = wait(pid.expect("it starts"));
    assert!(status.success(), "{status}");
    std::fs::write(file, took.megabytes.to_string()).expect("the file can be written");
}

/// A program built in every way.
pub(crate) struct Built<'a> {
    program: &'a Program,
    folder: PathBuf,
    arguments: Vec<String>,
    /// What it wrote to its standard output when it ran first, as it is.
    said: OnceCell<Vec<u8>>,
}

impl<'a> Built<'a> {
    /// Builds it. None if its source cannot be had.
    pub(crate) fn new(program: &'a Program, work: &Path, scale: usize) -> Option<Built<'a>> {
        let folder = work.to_owned();
        let arguments = match program.source {
            Source::File(_) if scale == 1 => Vec::new(),
            Source::File(_) => vec![scale.to_string()],
            Source::Zstd => {
                let input = work.join("zstd.input");
                std::fs::write(&input, text(500_000)).expect("the input can be written");
                let words = ["-T2", "-B256KiB", "-3", "-q", "-f", "-c"].map(String::from);
                words.into_iter().chain([input.to_str().expect("a path in UTF-8").to_owned()]).collect()
            }
            Source::Memcached => ["-u", "root", "-U", "0", "-t", "2", "-l", "127.0.0.1"].map(String::from).to_vec(),
        };
        let built = Built { program, folder, arguments, said: OnceCell::new() };
        for (way, c, cxx) in [
            (Way::Plain, "gcc", "g++"),
            (Way::Tsan, "gcc -fsanitize=thread", "g++ -fsanitize=thread"),
            (Way::Record, &*format!("{} cc", foretrace()), &*format!("{} c++", foretrace())),
        ] {
            let out = built.path(way.suffix());
            if !out.exists() && !built.build(c, cxx, &out) {
                return None;
            }
        }
        Some(built)
    }

    fn build(&self, c: &str, cxx: &str, out: &Path) -> bool {
        let (package, steps) = match self.program.source {
            Source::File(file) => {
                let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/native").join(file);
                let compiler = if file.ends_with(".cc") { cxx } else { c };
                let (source, out) = (source.display(), out.display());
                let done = shell(&format!("{compiler} -g -O2 -pthread '{source}' -o '{out}'"), &self.folder);
                assert!(done, "{} compiles with {compiler}", self.program.name);
                return true;
            }
            Source::Zstd => {
                ("libzstd", format!("make -C programs zstd CC='{c}' CFLAGS='-g -O2 -w' && cp programs/zstd"))
            }
            Source::Memcached => {
                let configure = format!("./configure --disable-coverage CC='{c}' CFLAGS='-g -O2 -w'");
                ("memcached", format!("{configure} && make memcached && cp memcached"))
            }
        };
        let fetch = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/real/fetch");
        let Ok(fetched) = Command::new(fetch).arg(package).output() else { return false };
        if !fetched.status.success() {
            eprint!("{}", String::from_utf8_lossy(&fetched.stderr));
            return false;
        }
        // Time stamps are kept, for automake looks at them.
        let (origin, copy) = (String::from_utf8_lossy(&fetched.stdout).trim().to_owned(), self.folder.join("source"));
        let (from, to, out) = (origin, copy.display(), out.display());
        let done =
            shell(&format!("rm -rf '{to}' && cp -a '{from}' '{to}' && cd '{to}' && {steps} '{out}'"), &self.folder);
        assert!(done, "{} builds with {c}", self.program.name);
        true
    }

    fn path(&self, suffix: &str) -> PathBuf {
        self.folder.join(format!("{}{suffix}", self.program.name))
    }

    /// The size of the trace that was recorded last.
    pub(crate) fn trace_bytes(&self) -> u64 {
        std::fs::metadata(self.path(".ftrace")).map_or(0, |file| file.len())
    }

    /// The memory of the program itself while it is recorded, in megabytes. Not a number for a server.
    pub(crate) fn own_memory(&self) -> f64 {
        if matches!(self.program.source, Source::Memcached) {
            return f64::NAN;
        }
        let file = self.path(".memory");
        let status = quiet(&mut Command::new(foretrace()))
            .args(["record", "-o"])
            .arg(self.path(".2.ftrace"))
            .arg("--")
            .arg(std::env::current_exe().expect("this program"))
            .arg(self.path(".foretrace"))
            .args(&self.arguments)
            .env(OWN_MEMORY, &file)
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{} is recorded", self.program.name);
        std::fs::read_to_string(file).ok().and_then(|megabytes| megabytes.parse().ok()).expect("a number")
    }

    /// The memory of `foretrace run` itself, in megabytes: the observer and the analysis.
    pub(crate) fn observer_memory(&self) -> f64 {
        let json: Option<serde_json::Value> =
            std::fs::read(self.path(".json")).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        json.and_then(|json| json["stats"]["peak_rss_bytes"].as_f64()).map_or(f64::NAN, |bytes| bytes / 1e6)
    }

    /// Runs it once, and checks that it says the same in every way. None if the tool is not installed.
    pub(crate) fn run(&self, way: Way) -> Option<Took> {
        let program = self.path(way.suffix());
        let mut command = match way {
            Way::Plain | Way::Tsan => Command::new(program),
            Way::Record | Way::Run => {
                let mut command = Command::new(foretrace());
                if way == Way::Record {
                    command.args(["record", "-o"]).arg(self.path(".ftrace"));
                } else {
                    command.args(["run", "--quiet", "--json"]).arg(self.path(".json"));
                }
                command.arg("--").arg(program);
                command
            }
            Way::Helgrind => {
                let mut command = Command::new("valgrind");
                command.args(["--tool=helgrind", "-q"]).arg(program);
                command
            }
        };
        let out = self.path(".out");
        quiet(&mut command).args(&self.arguments).stdout(File::create(&out).expect("the folder is writable"));
        let child = command.spawn().ok()?;
        let (status, took) = match self.program.source {
            Source::Memcached => serve(child),
            Source::File(_) | Source::Zstd => wait(child.id()),
        };
        // ThreadSanitizer ends with 66, and `run` with 1, if they found something.
        let found = matches!((way, status.code()), (Way::Tsan, Some(66)) | (Way::Run, Some(1)));
        assert!(status.success() || found, "{} {way:?}: {status}", self.program.name);
        let said = std::fs::read(&out).expect("it was written");
        assert!(said == *self.said.get_or_init(|| said.clone()), "{} {way:?} says something else", self.program.name);
        Some(took)
    }
}

/// Lets clients talk to a server, ends it, and says what it took.
fn serve(server: Child) -> (std::process::ExitStatus, Took) {
    let load = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/real/load.pl");
    let clients = quiet(&mut Command::new("perl")).arg(load).args(["11211", "4", "2000"]).status();
    assert!(clients.is_ok_and(|status| status.success()), "memcached answers its clients");
    // SAFETY: the process is a child of ours that was not waited for yet.
    unsafe { libc::kill(server.id() as i32, libc::SIGTERM) };
    wait(server.id())
}

fn quiet(command: &mut Command) -> &mut Command {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null())
}

fn shell(script: &str, folder: &Path) -> bool {
    let done = Command::new("sh").args(["-c", script]).current_dir(folder).stdin(Stdio::null()).output();
    let Ok(done) = done else { return false };
    if !done.status.success() {
        eprint!("{}", String::from_utf8_lossy(&done.stderr));
    }
    done.status.success()
}

/// Text that compresses about as well as English does.
fn text(bytes: usize) -> String {
    const WORDS: [&str; 16] = [
        "the", "thread", "of", "lock", "a", "race", "waits", "for", "queue", "and", "writes", "before", "another",
        "reads", "while", "released",
    ];
    let (mut text, mut state) = (String::with_capacity(bytes + 16), 1_u64);
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[(state >> 60) as usize]);
        text.push(if state >> 40 & 15 == 0 { '\n' } else { ' ' });
        if state >> 44 & 7 == 0 {
            text.push_str(&(state >> 32 & 0xffff).to_string());
        }
    }
    text
}
