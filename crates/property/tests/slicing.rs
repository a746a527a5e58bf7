//! Properties on recorded runs, parametric ones included, against the definition: an instance is judged as if its
//! property, with the subjects in place of the parameters, were checked alone.

#[path = "oracle/naive_past.rs"]
#[allow(dead_code, reason = "the oracle uses more of it")]
mod naive_past;

use event::{Batch, Event, Extra, Names, Op, SiteId, Space, ThreadId, Value};
use naive_past::Truth;
use property::Formula;
use property::check::{Settings, check_file};
use property::monitor::Verdict;
use property::run::{Outcome, SpecRun};
use property::syntax::Loader;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }
}

struct Text(String);

impl Loader for Text {
    fn load(&self, _path: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

/// One recorded event, simply.
#[derive(Clone, Copy, Debug)]
struct Simple {
    thread: usize,
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    WriteX(Option<i64>),
    ReadX,
    WriteV(usize, Option<i64>),
    Acquire(usize),
    Release(usize),
    Tick(i64),
    Other,
}

/// What the parameters i, j : thread, l : lock, o : object<C>, n : int stand for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Subject {
    Thread(usize),
    Lock(usize),
    Object(usize),
    Int(i64),
}

const PARAMS: [(&str, &str); 5] = [("i", "thread"), ("j", "thread"), ("l", "lock"), ("o", "object<C>"), ("n", "int")];

/// The subjects for which an event makes an atom true.
type Matching = fn(Simple) -> Option<Vec<Subject>>;

/// The truth of a state atom, from the globals, the objects' fields, and the object.
type State = fn(&Globals, &Fields, Option<usize>) -> Truth;
type Globals = BTreeMap<&'static str, Option<i64>>;
type Fields = BTreeMap<usize, Option<i64>>;

/// An atom: its text, the parameters it mentions, and its meaning.
struct Atom {
    text: &'static str,
    params: &'static [usize],
    /// Whether the event makes it true, and with which subjects; `None` for a state atom.
    event: Option<Matching>,
    state: State,
    /// A condition on the parameter n alone.
    condition: Option<fn(i64) -> Truth>,
}

fn no_state(_: &Globals, _: &Fields, _: Option<usize>) -> Truth {
    None
}

fn x_of(globals: &Globals) -> Option<i64> {
    globals["x"]
}

const ATOMS: &[Atom] = &[
    Atom {
        text: "write(x, i)",
        params: &[0],
        event: Some(|e| matches!(e.what, What::WriteX(_)).then(|| vec![Subject::Thread(e.thread)])),
        state: no_state,
        condition: None,
    },
    Atom {
        text: "write(x, j)",
        params: &[1],
        event: Some(|e| matches!(e.what, What::WriteX(_)).then(|| vec![Subject::Thread(e.thread)])),
        state: no_state,
        condition: None,
    },
    Atom {
        text: "read(x)",
        params: &[],
        event: Some(|e| matches!(e.what, What::ReadX).then(Vec::new)),
        state: no_state,
        condition: None,
    },
    Atom {
        text: "acquire(l, i)",
        params: &[2, 0],
        event: Some(|e| match e.what {
            What::Acquire(l) => Some(vec![Subject::Lock(l), Subject::Thread(e.thread)]),
            _ => None,
        }),
        state: no_state,
        condition: None,
    },
    Atom {
        text: "release(l, _)",
        params: &[2],
        event: Some(|e| match e.what {
            What::Release(l) => Some(vec![Subject::Lock(l)]),
            _ => None,
        }),
        state: no_state,
        condition: None,
    },
    Atom {
        text: "write(v[o], j)",
        params: &[3, 1],
        event: Some(|e| match e.what {
            What::WriteV(o, _) => Some(vec![Subject::Object(o), Subject::Thread(e.thread)]),
            _ => None,
        }),
        state: no_state,
        condition: None,
    },
    Atom {
        text: "tick(n)",
        params: &[4],
        event: Some(|e| match e.what {
            What::Tick(n) => Some(vec![Subject::Int(n)]),
            _ => None,
        }),
        state: no_state,
        condition: None,
    },
    Atom {
        text: "x > 0",
        params: &[],
        event: None,
        state: |globals, _, _| x_of(globals).map(|x| x > 0),
        condition: None,
    },
    Atom {
        text: "v[o] > x",
        params: &[3],
        event: None,
        state: |globals, v, o| Some(v.get(&o?).copied().unwrap_or(Some(1))? > x_of(globals)?),
        condition: None,
    },
    Atom {
        text: "v[o] == 0",
        params: &[3],
        event: None,
        state: |_, v, o| Some(v.get(&o?).copied().unwrap_or(Some(1))? == 0),
        condition: None,
    },
    Atom { text: "n > 0", params: &[4], event: None, state: no_state, condition: Some(|n| Some(n > 0)) },
    // Beyond 64 bits the value is unknown.
    Atom {
        text: "n + 9223372036854775806 > 5",
        params: &[4],
        event: None,
        state: no_state,
        condition: Some(|n| n.checked_add(i64::MAX - 1).map(|sum| sum > 5)),
    },
];

/// A random formula over these atoms, as text and as a formula.
fn formula(random: &mut Random, atoms: &[usize], depth: usize) -> (String, Formula) {
    use Formula::{And, Hist, Implies, Interval, Not, Once, Or, Prev, Since, Start};
    if depth == 0 || random.below(5) == 0 {
        let at = random.below(atoms.len());
        return (ATOMS[atoms[at]].text.to_owned(), Formula::Atom(atoms[at] as u32));
    }
    let (a, f) = formula(random, atoms, depth - 1);
    let f = Box::new(f);
    let one = random.below(10);
    if one < 5 {
        return match one {
            0 => (format!("!({a})"), Not(f)),
            1 => (format!("once ({a})"), Once(f)),
            2 => (format!("hist ({a})"), Hist(f)),
            3 => (format!("prev ({a})"), Prev(f)),
            _ => (format!("start({a})"), Start(f)),
        };
    }
    let (b, g) = formula(random, atoms, depth - 1);
    let g = Box::new(g);
    match one {
        5 => (format!("(({a}) && ({b}))"), And(f, g)),
        6 => (format!("(({a}) || ({b}))"), Or(f, g)),
        7 => (format!("(({a}) -> ({b}))"), Implies(f, g)),
        8 => (format!("(({a}) since ({b}))"), Since(f, g)),
        _ => (format!("[({a}), ({b}))"), Interval(f, g)),
    }
}

fn run(random: &mut Random) -> Vec<Simple> {
    let value = |random: &mut Random| (random.below(8) > 0).then(|| random.below(4) as i64 - 1);
    let what = |random: &mut Random| match random.below(9) {
        0 | 1 => What::WriteX(value(random)),
        2 => What::ReadX,
        3 | 4 => What::WriteV(random.below(2), value(random)),
        5 => What::Acquire(random.below(2)),
        6 => What::Release(random.below(2)),
        7 => What::Tick(random.below(3) as i64),
        _ => What::Other,
    };
    (0..random.below(14)).map(|_| Simple { thread: random.below(3), what: what(random) }).collect()
}

/// The trace, with all names there from the start so that bindings match.
fn record(run: &[Simple]) -> (Names, Batch) {
    let mut names = Names::default();
    let mut batch = Batch::default();
    for thread in 0..3 {
        names.add(Space::Thread, &format!("T{thread}")).unwrap();
    }
    let x = names.add(Space::Var, "x").unwrap();
    let v: Vec<u32> = (0..2).map(|o| names.add(Space::Var, &format!("C.v@{o}")).unwrap()).collect();
    let locks: Vec<u32> = (0..2).map(|l| names.add(Space::Lock, &format!("L{l}")).unwrap()).collect();
    let tick = names.add(Space::Label, "tick").unwrap();
    let int = |n: Option<i64>| n.map_or(Value::Unknown, Value::Int);
    for event in run {
        let mut extra = Extra::default();
        let (op, object) = match event.what {
            What::WriteX(n) => {
                extra.value = int(n);
                (Op::Write, x)
            }
            What::ReadX => (Op::Read, x),
            What::WriteV(o, n) => {
                extra.value = int(n);
                (Op::Write, v[o])
            }
            What::Acquire(l) => (Op::Acquire, locks[l]),
            What::Release(l) => (Op::Release, locks[l]),
            What::Tick(n) => {
                extra.args_start = batch.args.len() as u32;
                extra.args_len = 1;
                batch.args.push(Value::Int(n));
                (Op::Internal, tick)
            }
            What::Other => (Op::Fence, 0),
        };
        let extra = batch.add_extra(extra);
        batch.events.push(Event::with_extra(ThreadId(event.thread as u32), op, object, SiteId(0), extra));
    }
    (names, batch)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Judged {
    Violated(Option<u64>),
    Unknown,
}

/// Every instance that does not hold, from the definition.
fn expected(
    run: &[Simple],
    atoms: &[usize],
    f: &Formula,
    params: &[usize],
    all: bool,
) -> BTreeMap<Vec<String>, Judged> {
    // Subjects that some event names for a parameter.
    let mut named: Vec<BTreeSet<Subject>> = vec![BTreeSet::new(); PARAMS.len()];
    for &event in run {
        for &a in atoms {
            if let Some(matching) = ATOMS[a].event
                && let Some(subjects) = matching(event)
            {
                for (&param, subject) in ATOMS[a].params.iter().zip(subjects) {
                    named[param].insert(subject);
                }
            }
            if let (None, What::WriteV(o, _)) = (ATOMS[a].event, event.what)
                && ATOMS[a].params == [3]
            {
                named[3].insert(Subject::Object(o));
            }
        }
    }
    let mut bindings: Vec<Vec<Subject>> = vec![Vec::new()];
    for &param in params {
        let longer = |b: &Vec<Subject>| {
            let b = b.clone();
            named[param].iter().map(move |&s| [&b[..], &[s]].concat()).collect::<Vec<_>>()
        };
        bindings = bindings.iter().flat_map(longer).collect();
    }
    let mut judged = BTreeMap::new();
    for binding in bindings {
        let subject = |param: usize| params.iter().position(|&p| p == param).map(|at| binding[at]);
        if subject(0).is_some() && subject(0) == subject(1) {
            continue;
        }
        let object = match subject(3) {
            Some(Subject::Object(o)) => Some(o),
            _ => None,
        };
        let mut globals: BTreeMap<&'static str, Option<i64>> = [("x", Some(0))].into();
        let mut v: BTreeMap<usize, Option<i64>> = BTreeMap::new();
        let letter = |globals: &_, v: &_, event: Option<Simple>| -> Vec<Truth> {
            let truth =
                |a: usize| match (ATOMS[a].event, event) {
                    (None, _) => match (ATOMS[a].condition, subject(4)) {
                        (Some(condition), Some(Subject::Int(n))) => condition(n),
                        _ => (ATOMS[a].state)(globals, v, object),
                    },
                    (Some(_), None) => Some(false),
                    (Some(matching), Some(event)) => Some(matching(event).is_some_and(|subjects| {
                        ATOMS[a].params.iter().zip(subjects).all(|(&p, s)| subject(p) == Some(s))
                    })),
                };
            (0..ATOMS.len()).map(|a| if atoms.contains(&a) { truth(a) } else { Some(false) }).collect()
        };
        let mut steps = vec![letter(&globals, &v, None)];
        let mut at = vec![None];
        for (index, &event) in run.iter().enumerate() {
            let mut wrote = false;
            match event.what {
                What::WriteX(n) => {
                    globals.insert("x", n);
                    wrote = atoms.iter().any(|&a| [7, 8].contains(&a));
                }
                What::WriteV(o, n) => {
                    v.insert(o, n);
                    wrote = Some(o) == object && atoms.iter().any(|&a| [8, 9].contains(&a));
                }
                _ => {}
            }
            let letter = letter(&globals, &v, Some(event));
            let happened = atoms.iter().any(|&a| ATOMS[a].event.is_some() && letter[a] == Some(true));
            if wrote || happened || all {
                steps.push(letter);
                at.push(Some(index as u64));
            }
        }
        let values = naive_past::values(f, &steps);
        let text = binding.iter().map(|s| match s {
            Subject::Thread(t) => format!("T{t}"),
            Subject::Lock(l) => format!("L{l}"),
            Subject::Object(o) => format!("C@{o}"),
            Subject::Int(n) => n.to_string(),
        });
        let text: Vec<String> = text.collect();
        if let Some(first) = values.iter().position(|&v| v == Some(false)) {
            judged.insert(text, Judged::Violated(at[first]));
        } else if values.contains(&None) {
            judged.insert(text, Judged::Unknown);
        }
    }
    judged
}

#[test]
fn instances_are_judged_as_if_alone() {
    let mut random = Random(42);
    let (mut violated, mut unknown, mut parametric) = (0, 0, 0);
    for round in 0..30_000 {
        let chosen: BTreeSet<usize> = (0..1 + random.below(3)).map(|_| random.below(ATOMS.len())).collect();
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let (text, f) = formula(&mut random, &chosen, 3);
        // Only the atoms that really stand in it name subjects.
        let atoms: Vec<usize> = chosen.into_iter().filter(|&a| text.contains(ATOMS[a].text)).collect();
        let params: BTreeSet<usize> = atoms.iter().flat_map(|&a| ATOMS[a].params).copied().collect();
        let params: Vec<usize> = params.into_iter().collect();
        let list: Vec<String> = params.iter().map(|&p| format!("{} : {}", PARAMS[p].0, PARAMS[p].1)).collect();
        let filter = if params.contains(&0) && params.contains(&1) { " where i != j" } else { "" };
        let list = if list.is_empty() { String::new() } else { format!("({}{filter})", list.join(", ")) };
        let all = random.below(3) == 0;
        let with = if all { " with { steps = all; }" } else { "" };
        let source = format!(
            "spec S {{ shared int x = 0 at trace \"x\"; shared int v[o : object<C>] = 1 at java C.v; \
             event tick(n : int) at trace \"tick\"; property p{list} past {{ {text} }}{with} }}"
        );
        let checked = check_file("s.rvs", &Text(source.clone()));
        assert!(!checked.has_errors(), "{source}\n{:?}", checked.diagnostics);
        let events = run(&mut random);
        let (names, batch) = record(&events);
        let (mut spec, failed) = SpecRun::new(checked.specs[0].clone(), Settings::default(), &[], Path::new(""));
        assert!(failed.is_empty(), "{failed:?}");
        // In pieces, as traces come.
        let cut = random.below(events.len() + 1);
        for range in [0..cut, cut..events.len()] {
            let mut piece = Batch::default();
            piece.clear(range.start as u64);
            for &event in &batch.events[range] {
                piece.push_from(&batch, event);
            }
            spec.batch(&names, &piece);
        }
        let outcomes = spec.finish(&names, true);
        let judge = |outcome: &Outcome| match outcome.verdict {
            Verdict::Violated => Some(Judged::Violated(outcome.event)),
            Verdict::Unknown => Some(Judged::Unknown),
            _ => None,
        };
        let own = if params.is_empty() { &outcomes[..] } else { &outcomes[1..] };
        let found: BTreeMap<Vec<String>, Judged> =
            own.iter().filter_map(|o| Some((o.instance.iter().map(|(_, s)| s.clone()).collect(), judge(o)?))).collect();
        let expected = expected(&events, &atoms, &f, &params, all);
        assert_eq!(found, expected, "round {round}: {source}\n{events:#?}");
        violated += usize::from(expected.values().any(|j| matches!(j, Judged::Violated(_))));
        unknown += usize::from(expected.values().any(|j| *j == Judged::Unknown));
        parametric += usize::from(!params.is_empty() && !expected.is_empty());
    }
    println!("{violated} violated, {unknown} unknown, {parametric} of parametric properties");
    assert!(violated > 5_000 && unknown > 200 && parametric > 3_000, "{violated} {unknown} {parametric}");
}
