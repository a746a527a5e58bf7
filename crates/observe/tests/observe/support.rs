//! Starts scenes and shows what became of them.

use observe::{Offsets, Options, Recorded, Recording, StoredTrace};
use runtime::layout::CLOCK_VARIABLE;
use std::io::Cursor;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicUsize;
use trace::binary::BinaryReader;
use trace::text::TextWriter;
use trace::{Source, Trace};

pub(crate) const SCENE: &str = "FORETRACE_TEST_SCENE";

pub(crate) const SCENES: &[(&str, fn())] = &[
    ("quiet", crate::scenes::quiet),
    ("locks", crate::scenes::locks),
    ("seen", crate::scenes::seen),
    ("memory", crate::memory::memory),
    ("freed", crate::memory::freed),
    ("beyond", crate::memory::beyond),
    ("late", crate::deferred::late),
    ("early", crate::deferred::early),
    ("eventless", crate::deferred::eventless),
    ("long_silence", crate::deferred::long_silence),
    ("bulk", crate::bulk::bulk),
    ("neighbours", crate::neighbours::neighbours),
    ("announced", crate::announced::announced),
    ("barriers", crate::barriers::barriers),
    ("handler", crate::handlers::handler),
    ("interrupted_request", crate::handlers::interrupted_request),
    ("jump_out_of_a_wait", crate::handlers::jump_out_of_a_wait),
    ("filling", crate::full_disk::filling),
    ("lives", crate::lives::lives),
    ("values", crate::scenes::values),
    ("texts", crate::scenes::texts),
    ("stacks", crate::memory::stacks),
    ("reuse", crate::scenes::reuse),
    ("executed", crate::scenes::executed),
    ("forked", crate::scenes::forked),
    ("survivor", crate::scenes::survivor),
    ("killed", crate::order::killed),
    ("slow", crate::order::slow),
    ("stopped", crate::order::stopped),
    ("busy", crate::order::busy),
    ("waiting", crate::order::waiting),
    ("many", crate::order::many),
    ("random_order", crate::order::random_order),
    ("hostile_words", crate::hostile::words),
    ("hostile_heads", crate::hostile::heads),
    ("hostile_files", crate::hostile::files),
    ("damaged", crate::hostile::damaged),
];

/// This test as the program of a scene.
pub(crate) fn command(scene: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "program", "--nocapture"]).env(SCENE, scene);
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    command
}

pub(crate) fn record_with(scene: &str, options: Options) -> Recorded {
    record_command(&mut command(scene), options)
}

/// Where times may come from: what a real agent would choose, and what it can always have.
pub(crate) const CLOCKS: [&str; 2] = ["any", "counter"];

pub(crate) fn record_by(scene: &str, clock: &str) -> Recorded {
    record_command(command(scene).env(CLOCK_VARIABLE, clock), options())
}

fn record_command(command: &mut Command, options: Options) -> Recorded {
    let recording = Recording::start(options).expect("a session");
    let directory = recording.variable().1.to_owned();
    assert!(directory.is_dir());
    let recorded = recording.run(command, &AtomicUsize::new(0)).expect("it runs");
    assert!(!directory.exists(), "the session's directory is left");
    recorded
}

/// Programs of scenes have no files: names are offsets.
pub(crate) fn options() -> Options {
    Options { naming: Box::new(|| Box::new(Offsets::default())), ..Options::default() }
}

pub(crate) fn record(scene: &str) -> Recorded {
    record_with(scene, options())
}

/// The trace of a process.
pub(crate) fn trace_of(kept: &mut StoredTrace) -> (Trace, Vec<String>) {
    let mut bytes = Vec::new();
    match kept {
        StoredTrace::File(file) => {
            std::io::Read::read_to_end(file, &mut bytes).expect("it is read");
        }
        StoredTrace::Path(path) => bytes = std::fs::read(path).expect("it is read"),
        StoredTrace::Failed(error) => panic!("{error}"),
    }
    let mut reader = BinaryReader::open(Cursor::new(bytes)).expect("a trace");
    let trace = Trace::read(&mut reader).expect("a whole trace");
    let losses = reader.losses().iter().map(|loss| loss.message.clone()).collect();
    (trace, losses)
}

/// Its lines, as `show` prints them.
pub(crate) fn lines(trace: &Trace) -> Vec<String> {
    let mut writer = TextWriter::new(Vec::new());
    writer.write_batch(&trace.names, &trace.batch).expect("written");
    let bytes = writer.finish(&[]).expect("written");
    String::from_utf8(bytes).expect("text").lines().map(str::to_owned).collect()
}

/// Records a scene that ends by itself and gives the lines of its trace.
pub(crate) fn shown(scene: &str) -> Vec<String> {
    let mut recorded = record(scene);
    assert_eq!(recorded.exit.code(), Some(7), "{recorded:?}");
    assert_eq!(recorded.problems, Vec::<String>::new());
    assert_eq!(recorded.processes.len(), 1);
    let (trace, losses) = trace_of(&mut recorded.processes[0].trace);
    assert_eq!(losses, Vec::<String>::new());
    assert_eq!(trace.batch.events.len() as u64, recorded.processes[0].events);
    lines(&trace)
}
