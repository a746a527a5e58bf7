//! The recorded run is judged the same however it comes: all at once, or event by event, when names appear one by one.

use crate::steps::world::{Random, Text};
use event::{Batch, Event, Extra, Names, Op, SiteId, Space, ThreadId, Value};
use property::check::{Settings, check_file};
use property::run::{Outcome, SpecRun};
use std::collections::BTreeSet;
use std::path::Path;

const PROPERTIES: &[&str] = &[
    "p(t : thread) past { a[t] < 3 }",
    "p(t : thread) past { a[t] == 2 -> once(a[t] == 1) }",
    "p(t : thread) past { write(a[t]) -> !once(write(b)) }",
    "p(t : thread) future { always (a[t] == 1 -> eventually a[t] == 2) }",
    "p(t : thread, u : thread where t != u) past { !(a[t] == 1 && a[u] == 1) }",
];

/// An event: who, what, and of which variable or thread.
type Simple = (&'static str, Op, &'static str, i64);

fn run(random: &mut Random) -> Vec<Simple> {
    const THREADS: [&str; 3] = ["T0", "T1", "T2"];
    // No thread is called `nobody`.
    const VARIABLES: [&str; 5] = ["a[T0]", "a[T1]", "a[T2]", "a[nobody]", "b"];
    // Most runs lack a thread at first, and some for ever.
    let late = random.below(8);
    (0..7)
        .map(|number| {
            let thread = THREADS[random.below(if number < late { 1 } else { 3 })];
            if random.below(8) == 0 {
                (thread, Op::Fork, THREADS[random.below(3)], 0)
            } else {
                (thread, Op::Write, VARIABLES[random.below(5)], random.below(4) as i64)
            }
        })
        .collect()
}

fn push(names: &mut Names, batch: &mut Batch, &(thread, op, object, value): &Simple) {
    let space = if op == Op::Fork { Space::Thread } else { Space::Var };
    let thread = ThreadId(names.add(Space::Thread, thread).expect("room"));
    let object = names.add(space, object).expect("room");
    let value = if op == Op::Write { Value::Int(value) } else { Value::Unknown };
    let extra = batch.add_extra(Extra { value, ..Extra::default() });
    batch.events.push(Event::with_extra(thread, op, object, SiteId(0), extra));
}

/// What became of the property, in any order, and the events that violated it.
type Judged = (BTreeSet<String>, BTreeSet<u64>);

fn judged(mut run: SpecRun, names: &Names, violations: BTreeSet<u64>) -> Judged {
    let outcomes: Vec<Outcome> = run.finish(names, true);
    let rest = run.violations();
    (outcomes.iter().map(|outcome| format!("{outcome:?}")).collect(), violations.into_iter().chain(rest).collect())
}

#[test]
fn threads_may_appear_after_the_names_that_speak_of_them() {
    let mut random = Random(17);
    let mut late = 0;
    for _ in 0..20_000 {
        let property = PROPERTIES[random.below(PROPERTIES.len())];
        let source = format!(
            "spec S {{ shared int a[t : thread] = 0 at trace \"a\"; shared int b = 0 at trace \"b\"; \
             property {property} }}"
        );
        let checked = check_file("s.rvs", &Text(source.clone()));
        assert!(!checked.has_errors(), "{source}\n{:?}", checked.diagnostics);
        let start = || SpecRun::new(checked.specs[0].clone(), Settings::default(), &[], Path::new("")).0;
        let events = run(&mut random);

        let (mut names, mut batch) = (Names::default(), Batch::default());
        events.iter().for_each(|event| push(&mut names, &mut batch, event));
        let mut whole = start();
        whole.batch(&names, &batch);
        let violations: BTreeSet<u64> = whole.violations().into_iter().collect();
        let whole = judged(whole, &names, violations);

        let (mut names, mut pieces, mut violations) = (Names::default(), start(), BTreeSet::new());
        for (index, event) in events.iter().enumerate() {
            let mut piece = Batch::default();
            piece.clear(index as u64);
            let known = names.space(Space::Thread).len();
            push(&mut names, &mut piece, event);
            late += usize::from(index > 0 && names.space(Space::Thread).len() > known);
            pieces.batch(&names, &piece);
            violations.extend(pieces.violations());
        }
        assert_eq!(judged(pieces, &names, violations), whole, "{source}\n{events:?}");
    }
    assert!(late > 10_000, "{late}");
}
