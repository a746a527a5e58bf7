//! Traces that cannot have happened, limits, and questions without sense.

use event::{Batch, Causality, Event, Extra, LockId, Names, Op, SiteId, Space, ThreadId, Value, VarId, Wake};
use generate::{Generator, Options};
use reach::{Answer, Limits, Question, Reach, Windows};
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use trace::Trace;
use trace::text::TextReader;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

/// Any events, in any order.
fn garbage(random: &mut Random) -> (Names, Batch) {
    let mut names = Names::default();
    for space in Space::ALL {
        for name in ["a", "b", "c"] {
            names.add(space, name).expect("three names fit");
        }
    }
    let mut batch = Batch::default();
    let init = random.below(3) as i64;
    if random.below(2) == 0 {
        batch.push_init(event::StrId(0), Value::Int(init));
    }
    // A few kinds of operations at a time meet more often.
    let kinds: Vec<Op> = (0..3 + random.below(8)).map(|_| Op::ALL[random.below(Op::COUNT as u64) as usize]).collect();
    for _ in 0..2 + random.below(14) {
        let op = kinds[random.below(kinds.len() as u64) as usize];
        let value = match random.below(3) {
            0 => Value::Unknown,
            n => Value::Int(n as i64 - 1),
        };
        let wake = Wake::ALL[random.below(6).min(2) as usize];
        let lock = LockId(random.below(2) as u32);
        let extra = batch.add_extra(Extra { value, lock, wake, ..Extra::default() });
        let thread = ThreadId(random.below(3) as u32);
        batch.events.push(Event::with_extra(thread, op, random.below(2) as u32, SiteId(0), extra));
    }
    (names, batch)
}

#[test]
fn garbage_is_answered_and_what_is_reached_is_feasible() {
    let mut random = Random(1);
    let mut answers = [0; 3];
    for _ in 0..30_000 {
        let (names, batch) = garbage(&mut random);
        let initial = |var: VarId| if var.0 == 0 { Value::Int(0) } else { Value::Unknown };
        let mut reach = Reach::new(&names, &batch, 0, &initial);
        let count = batch.events.len() as u64;
        for _ in 0..3 {
            let next = [random.below(count) as u32, random.below(count) as u32];
            let contains = [random.below(count) as u32];
            let contains = if random.below(2) == 0 { &contains[..] } else { &[] };
            let question = Question { next: &next, contains, before: &[] };
            match reach.ask(&question, &Limits { steps: 100_000, ..Limits::default() }) {
                Answer::Impossible => answers[0] += 1,
                Answer::Undecided => answers[1] += 1,
                Answer::Reached(prefix) => {
                    answers[2] += 1;
                    let schedule: Vec<u64> = prefix.iter().map(|&event| u64::from(event)).collect();
                    let checked = witness::check(Causality::Maximal, &names, &batch, &initial, &schedule, false);
                    assert!(checked.is_ok(), "{checked:?} {:?}", batch.events);
                }
            }
        }
        for window in Windows::new(&names, &batch, 1 + random.below(8) as usize) {
            let mut reach = Reach::new(&names, &window.batch, window.fixed, &initial);
            let last = window.batch.events.len() as u32 - 1;
            let question = Question { next: &[last], ..Question::default() };
            reach.ask(&question, &Limits { steps: 1_000, ..Limits::default() });
        }
    }
    assert!(answers[0] > 10_000 && answers[2] > 10_000, "{answers:?}");
}

fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace")
}

#[test]
fn limits_end_a_search() {
    let trace = read("A|w(x)|1\nA|w(y)|2\nB|w(y)|3\nB|w(x)|4\n");
    let initial = |_: VarId| Value::Unknown;
    let mut reach = Reach::new(&trace.names, &trace.batch, 0, &initial);
    let question = Question { next: &[1, 3], ..Question::default() };
    assert_eq!(reach.ask(&question, &Limits::default()), Answer::Reached(vec![0, 2]));
    assert_eq!(reach.ask(&question, &Limits { steps: 1, ..Limits::default() }), Answer::Undecided);
    let late = Limits { deadline: Some(Instant::now()), ..Limits::default() };
    assert_eq!(reach.ask(&question, &late), Answer::Undecided);
    let stop = AtomicBool::new(true);
    assert_eq!(reach.ask(&question, &Limits { stop: Some(&stop), ..Limits::default() }), Answer::Undecided);
    assert_eq!(reach.ask(&question, &Limits::default()), Answer::Reached(vec![0, 2]));
}

#[test]
fn questions_that_contradict_themselves() {
    let trace = read("A|w(x)|1\nA|w(y)|2\nB|w(y)|3\nB|w(x)|4\n");
    let initial = |_: VarId| Value::Unknown;
    let mut reach = Reach::new(&trace.names, &trace.batch, 1, &initial);
    let mut ask = |next: &[u32], contains: &[u32], before: &[(u32, u32)]| {
        reach.ask(&Question { next, contains, before }, &Limits::default())
    };
    assert_eq!(ask(&[], &[], &[]), Answer::Reached(vec![0]));
    assert_eq!(ask(&[0], &[], &[]), Answer::Impossible, "it has happened");
    assert_eq!(ask(&[9], &[], &[]), Answer::Impossible, "there is none");
    assert_eq!(ask(&[], &[9], &[]), Answer::Impossible);
    assert_eq!(ask(&[2, 3], &[], &[]), Answer::Impossible, "of one thread");
    assert_eq!(ask(&[2], &[3], &[]), Answer::Impossible);
    assert_eq!(ask(&[], &[], &[(1, 3), (3, 1)]), Answer::Impossible);
    assert_eq!(ask(&[], &[], &[(1, 1)]), Answer::Impossible);
    assert_eq!(ask(&[], &[], &[(3, 1)]), Answer::Reached(vec![0, 2, 3, 1]));
    assert_eq!(ask(&[], &[], &[(3, 0)]), Answer::Impossible);
    assert_eq!(ask(&[], &[], &[(0, 2)]), Answer::Reached(vec![0, 2]));
}

#[test]
fn a_join_comes_after_the_forks_recorded_before_it() {
    let initial = |_: VarId| Value::Unknown;
    let ask = |text: &str, next: &[u32]| {
        let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
        let mut reach = Reach::new(&trace.names, &trace.batch, 0, &initial);
        reach.ask(&Question { next, contains: &[], before: &[] }, &Limits::default())
    };
    // B has no events.
    let text = "A|r(x)|1\nA|fork(B)|2\nC|join(B)|3\nC|w(x)|4\n";
    assert_eq!(ask(text, &[0, 3]), Answer::Impossible);
    assert_eq!(ask(text, &[0, 2]), Answer::Impossible, "what is next needs it, too");
    assert_eq!(ask("C|join(B)|1\nA|r(x)|2\nA|fork(B)|3\nC|w(x)|4\n", &[1, 3]), Answer::Reached(vec![0]));
}

#[test]
fn a_long_trace_that_cannot_have_happened_meets_its_limit() {
    let options = Options { events: 20_000, ..Options::default() };
    let mut trace = Trace::read(&mut Generator::new(options).expect("options")).expect("a trace");
    // A lock is taken twice.
    let site = SiteId(0);
    trace.batch.events.insert(0, Event::new(ThreadId(1), Op::Acquire, 0, site));
    trace.batch.events.insert(1, Event::new(ThreadId(2), Op::Acquire, 0, site));
    let initial = |_: VarId| Value::Unknown;
    let mut reach = Reach::new(&trace.names, &trace.batch, 0, &initial);
    let last = trace.batch.events.len() as u32 - 1;
    let question = Question { next: &[last], ..Question::default() };
    let answer = reach.ask(&question, &Limits { steps: 3_000, ..Limits::default() });
    assert!(!matches!(answer, Answer::Reached(_)));
}

/// A trace that cannot have happened is searched state by state: without a bound on these it takes all memory.
#[test]
fn what_is_remembered_of_an_impossible_trace_is_bounded() {
    let mut text = "A|acq(l)|\nA|fork(B)|\nB|acq(l)|\n".to_owned();
    for _ in 0..12 {
        (0..10).for_each(|thread| text += &format!("T{thread}|w(v{thread})|\n"));
    }
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
    let mut reach = Reach::new(&trace.names, &trace.batch, 0, &|_| Value::Unknown);
    let started = Instant::now();
    let deadline = Some(started + std::time::Duration::from_secs(120));
    let answer =
        reach.ask(&Question { contains: &[2], ..Question::default() }, &Limits { deadline, ..Limits::default() });
    assert_eq!(answer, Answer::Undecided);
    assert!(started.elapsed().as_secs() < 60, "the bound on memory comes before that on time");
}
