//! How fast a long trace is read for properties, where few events matter and where all do. Best of several rounds.

use event::{Batch, Event, Extra, Names, Op, SiteId, Space, ThreadId, Value};
use property::check::{Settings, Spec, check_file};
use property::run::SpecRun;
use property::steps::BoundSpec;
use property::syntax::Loader;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

const EVENTS: usize = 5_000_000;

struct Text(&'static str);

impl Loader for Text {
    fn load(&self, _path: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.as_bytes().to_vec())
    }
}

fn spec(text: &'static str) -> Spec {
    let mut checked = check_file("s.rvs", &Text(text));
    assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
    checked.specs.remove(0)
}

/// Reads, writes and lock events of many variables; one in `rare` writes x or y, or one of a hundred objects' fields.
fn trace(rare: u64, objects: bool) -> (Names, Batch) {
    let mut names = Names::default();
    let mut batch = Batch::default();
    let mut add = |space, name: String| names.add(space, &name).expect("room");
    let threads: Vec<u32> = (0..8).map(|t| add(Space::Thread, format!("T{t}"))).collect();
    let locks: Vec<u32> = (0..64).map(|l| add(Space::Lock, format!("L{l}"))).collect();
    let others: Vec<u32> = (0..100_000).map(|v| add(Space::Var, format!("v{v}"))).collect();
    let ours: Vec<u32> = if objects {
        (0..100).map(|o| add(Space::Var, format!("C.f@{o}"))).collect()
    } else {
        vec![add(Space::Var, "x".into()), add(Space::Var, "y".into())]
    };
    let mut seed = 88_172_645_463_325_252_u64;
    let mut below = |n: u64| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed % n
    };
    for _ in 0..EVENTS {
        let thread = ThreadId(threads[below(8) as usize]);
        let (op, object, value) = match below(rare) {
            0 => (Op::Write, ours[below(ours.len() as u64) as usize], Value::Int(below(1000) as i64)),
            _ => match below(10) {
                0 => (Op::Acquire, locks[below(64) as usize], Value::Unknown),
                1 => (Op::Release, locks[below(64) as usize], Value::Unknown),
                2..5 => (Op::Write, others[below(100_000) as usize], Value::Int(1)),
                _ => (Op::Read, others[below(100_000) as usize], Value::Unknown),
            },
        };
        let extra = batch.add_extra(Extra { value, ..Extra::default() });
        batch.events.push(Event::with_extra(thread, op, object, SiteId(0), extra));
    }
    (names, batch)
}

fn measure(name: &str, spec: &Spec, names: &Names, trace: &Batch) {
    let (mut read, mut made, mut walked, mut ran) = (f64::MAX, f64::MAX, f64::MAX, f64::MAX);
    let (mut steps, mut states, mut instances) = (0, 0, 0);
    for _ in 0..3 {
        let begin = Instant::now();
        let bound = BoundSpec::new(spec, Settings::default(), &[], Path::new(""), names, trace);
        read = read.min(begin.elapsed().as_secs_f64());
        let begin = Instant::now();
        let mut followed = bound.instances(0, 10_000).expect("a monitor").instances;
        made = made.min(begin.elapsed().as_secs_f64());
        (steps, states, instances) = (0, 0, followed.len());
        let begin = Instant::now();
        for instance in &mut followed {
            let mut state = instance.automaton.start();
            for step in &instance.steps {
                state = instance.automaton.step(state, step.class);
            }
            assert!(!black_box(instance.automaton.gave_up(state)));
            steps += instance.steps.len();
            states = states.max(instance.automaton.states());
        }
        walked = walked.min(begin.elapsed().as_secs_f64());
        let (mut run, failed) = SpecRun::new(spec.clone(), Settings::default(), &[], Path::new(""));
        assert!(failed.is_empty());
        let begin = Instant::now();
        run.batch(names, trace);
        ran = ran.min(begin.elapsed().as_secs_f64());
        black_box(run.finish(names, true));
    }
    println!(
        "{name:<34} {instances:>5} {steps:>9} {states:>6} {:>8.1} {made:>9.3} {:>9.1} {:>8.1} {ran:>8.3}",
        EVENTS as f64 / read / 1e6,
        steps as f64 / walked / 1e6,
        EVENTS as f64 / ran / 1e6,
    );
}

fn main() {
    println!(
        "{:<34} {:>5} {:>9} {:>6} {:>8} {:>9} {:>9} {:>8} {:>8}",
        "5 000 000 events", "inst.", "steps", "states", "read M/s", "instances s", "walk M/s", "run M/s", "run s"
    );
    let two = "spec S { shared int x = 0 at trace \"x\"; shared int y = 0 at trace \"y\"; \
               property p past { start(x > 500) && y > 500 -> prev (x + y < 5000) } }";
    let apart = "spec S { shared int x = 0 at trace \"x\"; shared int y = 0 at trace \"y\"; \
                 property p past { start(x > 500) && y > 500 -> prev (x < 5000) } }";
    let each = "spec S { shared int f[o : object<C>] = 0 at java C.f; \
                property p(o : object<C>) past { start(f[o] > 500) -> prev (f[o] < 5000) } }";
    let (names, batch) = trace(1_000, false);
    measure("two variables, one in 1000", &spec(apart), &names, &batch);
    measure("the same, with x + y < 5000", &spec(two), &names, &batch);
    let (names, batch) = trace(10, false);
    measure("two variables, one in 10", &spec(apart), &names, &batch);
    let (names, batch) = trace(1, false);
    measure("two variables, every event", &spec(apart), &names, &batch);
    let (names, batch) = trace(10, true);
    measure("a hundred objects, one in 10", &spec(each), &names, &batch);
}
