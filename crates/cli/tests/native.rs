//! Reports of what a native recorder records beside the events: stacks, functions, origins, threads.

use crate::common::Folder;
use event::{
    Batch, Event, Extra, Made, Meta, Names, Op, Origin, SiteId, Space, StackId, StrId, ThreadId, ThreadInfo, Value,
};
use serde_json::{Value as Json, json};
use trace::binary::BinaryWriter;

/// A trace in the making.
#[derive(Default)]
struct Recorder {
    names: Names,
    meta: Meta,
    batch: Batch,
}

impl Recorder {
    fn site(&mut self, text: &str) -> SiteId {
        SiteId(self.names.add(Space::Site, text).unwrap())
    }

    fn thread(&mut self, name: &str) -> ThreadId {
        ThreadId(self.names.add(Space::Thread, name).unwrap())
    }

    /// The stack with these frames, innermost first.
    fn stack(&mut self, frames: &[&str]) -> StackId {
        frames.iter().rev().fold(StackId(0), |caller, frame| {
            let site = self.site(frame);
            self.meta.stacks.push(site, caller).unwrap()
        })
    }

    fn event(&mut self, thread: &str, op: Op, object: &str, frames: &[&str]) {
        let (thread, site, stack) = (self.thread(thread), self.site(frames[0]), self.stack(frames));
        let object = self.names.add(op.space().unwrap(), object).unwrap();
        let value = if op == Op::Write { Value::Int(1) } else { Value::Unknown };
        let extra = self.batch.add_extra(Extra { stack, value, ..Extra::default() });
        self.batch.events.push(Event::with_extra(thread, op, object, site, extra));
    }

    fn origin(&mut self, space: Space, name: &str, made: Made, size: u64, frames: &[&str]) {
        let id = self.names.add(space, name).unwrap();
        let (thread, site, stack) = (self.thread("main"), self.site(frames[0]), self.stack(frames));
        self.meta.origins.push(Origin { space, id, made, thread, site, stack, size });
    }

    fn write(&self, folder: &Folder) {
        let mut writer = BinaryWriter::new(Vec::new()).unwrap();
        writer.write_batch(&self.names, &self.meta, &self.batch).unwrap();
        folder.write("t.ftrace", writer.finish(&self.names, &self.meta).unwrap());
    }
}

/// Two threads on an account: one adds to it under its lock, in the C library's name; the other looks without. `shift`
/// is by how many lines, and how many other blocks, another build and run differ.
fn account(shift: u32) -> Recorder {
    let mut recorder = Recorder::default();
    let line = |function: &str, line: u32| format!("{function} bank.c:{}", line + shift);
    let variable = format!("heap#{}+8", 12 + shift);
    let (create, make) = (line("main", 50), line("make_account", 8));
    recorder.origin(Space::Var, &variable, Made::Heap, 40, &["!calloc libc.so.6+0x1f", &make, &create]);
    recorder.origin(Space::Lock, "m", Made::Initialised, 0, &[&line("main", 44)]);
    let worker = recorder.thread("T1");
    let (site, stack) = (recorder.site(&create), recorder.stack(&[&create]));
    let name = StrId(recorder.names.add(Space::Str, "teller").unwrap());
    recorder.meta.threads.push(ThreadInfo { thread: worker, name, site, stack });
    recorder.event("main", Op::Fork, "T1", &[&create]);
    let (deposit, work) = (line("deposit", 17), line("worker", 30));
    recorder.event("T1", Op::Acquire, "m", &[&line("deposit", 15), &work]);
    recorder.event("T1", Op::Write, &variable, &["!memcpy libc.so.6+0x2", &deposit, &work]);
    recorder.event("T1", Op::Release, "m", &[&line("deposit", 18), &work]);
    recorder.event("main", Op::Read, &variable, &[&line("audit", 40), &line("main", 60)]);
    recorder
}

fn check(recorder: &Recorder, args: &[&str]) -> (String, Json) {
    let folder = Folder::new();
    recorder.write(&folder);
    let ran = folder.run(&[&["check", "t.ftrace", "--json", "out.json"], args].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    (ran.stdout, serde_json::from_slice(&folder.read("out.json")).unwrap())
}

#[test]
fn a_race_is_reported_with_stacks_and_origins() {
    let (text, json) = check(&account(0), &["--detect", "hb"]);
    let expected = "\
observed race on heap#12+8: deposit bank.c:17 and audit bank.c:40
  teller  w(heap#12+8)=1  event 2  at deposit bank.c:17, in memcpy  holding m
      worker bank.c:30
      m taken at deposit bank.c:15
  main    r(heap#12+8)    event 4  at audit bank.c:40               holding no lock
      main bank.c:60
  memory    heap#12+8: 40 bytes, allocated by main at make_account bank.c:8, in calloc
            main bank.c:50
  lock      m: initialised by main at main bank.c:44
  thread    T1 (called teller): created at main bank.c:50
";
    assert!(text.contains(expected), "{text}");
    let finding = &json["findings"][0];
    assert_eq!(finding["stacks"][1], json!(["audit bank.c:40", "main bank.c:60"]));
    assert_eq!(finding["sites"], json!(["!memcpy libc.so.6+0x2", "audit bank.c:40"]));
    assert_eq!(finding["lock_sites"], json!([["deposit bank.c:15"], []]));
    let memory = json!({
        "of": "variable", "name": "heap#12+8", "made": "allocated", "thread": "main", "size": 40,
        "site": "!calloc libc.so.6+0x1f",
        "stack": ["!calloc libc.so.6+0x1f", "make_account bank.c:8", "main bank.c:50"],
    });
    let lock = json!({
        "of": "lock", "name": "m", "made": "initialised", "thread": "main",
        "site": "main bank.c:44", "stack": ["main bank.c:44"],
    });
    let thread = json!({
        "of": "thread", "name": "T1", "called": "teller", "made": "created",
        "site": "main bank.c:50", "stack": ["main bank.c:50"],
    });
    assert_eq!(finding["origins"], json!([memory, lock, thread]));
    let (text, _) = check(&account(0), &["--detect", "hb", "--full-stacks"]);
    assert!(text.contains("at memcpy libc.so.6+0x2  holding m\n      deposit bank.c:17\n"), "{text}");
    assert!(text.contains("allocated by main at calloc libc.so.6+0x1f\n            make_account bank.c:8\n"), "{text}");
}

/// Everything in the JSON of a finding, but where sites belong.
fn elsewhere(json: &Json) -> String {
    let mut finding = json["findings"][0].clone();
    for key in ["sites", "stacks", "lock_sites", "origins"] {
        finding.as_object_mut().unwrap().remove(key);
    }
    finding.to_string()
}

#[test]
fn a_finding_is_the_same_in_the_next_build() {
    for detector in ["hb", "lockset"] {
        let recorders = [account(0), account(7)].map(|mut recorder| {
            // Enough for Eraser, too.
            let variable = recorder.names.var(event::VarId(0)).to_owned();
            recorder.event("T1", Op::Write, &variable, &["deposit bank.c:99"]);
            recorder
        });
        let prints = recorders.map(|recorder| {
            let folder = Folder::new();
            recorder.write(&folder);
            folder.run(&["check", "t.ftrace", "--json", "out.json", "--detect", detector]);
            let json: Json = serde_json::from_slice(&folder.read("out.json")).unwrap();
            assert!(!elsewhere(&json).contains("bank.c:"), "{json}");
            json["findings"].as_array().unwrap().iter().map(|f| f["fingerprint"].clone()).collect::<Vec<_>>()
        });
        assert!(!prints[0].is_empty(), "{detector}");
        assert_eq!(prints[0], prints[1], "{detector}");
    }
}

#[test]
fn another_function_or_another_allocation_is_another_finding() {
    let print = |recorder: &Recorder| check(recorder, &["--detect", "hb"]).1["findings"][0]["fingerprint"].clone();
    let first = print(&account(0));
    let mut other_reader = account(0);
    other_reader.batch.events.pop();
    other_reader.event("main", Op::Read, "heap#12+8", &["close_account bank.c:40", "main bank.c:60"]);
    assert_ne!(print(&other_reader), first);
    let mut other_block = account(0);
    other_block.origin(Space::Var, "heap#12+8", Made::Heap, 40, &["make_ledger bank.c:8"]);
    assert_ne!(print(&other_block), first);
}

#[test]
fn a_property_is_reported_with_its_stack() {
    let mut recorder = account(0);
    recorder.event("T1", Op::Write, "total", &["deposit bank.c:19", "worker bank.c:30"]);
    let args = ["--detect", "none", "--property", "!(total == 1)", "--init", "total=0"];
    let (text, json) = check(&recorder, &args);
    assert_eq!(json["findings"][0]["stacks"], json!([["deposit bank.c:19", "worker bank.c:30"]]));
    assert!(text.contains("T1 (called teller): created at main bank.c:50"), "{text}");
}

#[test]
fn recursion_without_end_is_cut() {
    let mut recorder = account(0);
    recorder.batch.events.pop();
    let frames = vec!["down bank.c:1"; 100_000];
    recorder.event("main", Op::Read, "heap#12+8", &frames);
    let (_, json) = check(&recorder, &["--detect", "hb"]);
    let stack = json["findings"][0]["stacks"][1].as_array().unwrap();
    assert_eq!((stack.len(), &stack[200]), (201, &json!("…")));
}

#[test]
fn a_suppression_names_file_and_line() {
    let folder = Folder::new();
    account(0).write(&folder);
    let spec = |line: u32| format!("spec S {{ target c; check races; suppress races at \"bank.c:{line}\"; }}\n");
    for (line, code) in [(40, 0), (41, 1)] {
        folder.write("s.rvs", spec(line));
        let ran = folder.run(&["check", "t.ftrace", "--spec", "s.rvs"]);
        assert_eq!(ran.code, Some(code), "{ran:?}");
    }
}
