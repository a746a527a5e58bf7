//! Traces that no program records.

use super::shared::{ask, read, spec};
use event::{Causality, CausalityChoice};
use oracle::random::Random;
use predict::Options;
use property::check::{Settings, Steps};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub(crate) const PROPERTIES: [&str; 9] = [
    "property p past { !(x == 1 && y == 1) }",
    "property p past { write(x) -> once write(y) }",
    "property p past { acquire(l) -> !once release(m) }",
    "property p(t : thread) past { write(x, t) -> prev write(y) }",
    "property p(t : thread, u : thread where t != u) past { write(x, t) -> !prev read(x, u) }",
    "property p future { always (write(x) -> next !write(y)) }",
    "property p ere never { write(x) read(x) write(y) }",
    "property p past { read(x) -> !once notify(l) }",
    "property p(k : lock, t : thread) past { acquire(k, t) -> !once release(k) }",
];

fn line(r: &mut Random, threads: usize) -> String {
    let var = *r.pick(&["x", "x", "y"]);
    let lock = *r.pick(&["l", "l", "m"]);
    let cond = *r.pick(&["l", "c"]);
    let value = *r.pick(&["", "", "=0", "=1", "=1"]);
    let other = r.below(threads + 1);
    let wake = *r.pick(&["", "", "=timeout", "=spurious"]);
    let op = match r.below(28) {
        0..=2 => format!("r({var}){value}"),
        3..=6 => format!("w({var}){value}"),
        7 => format!("ald({var}){value}"),
        8 => format!("ast({var}){value}"),
        9 => format!("armw({var}){value}"),
        10 => format!("alloc({var})"),
        11 => format!("free({var})"),
        12 => format!("acq({lock})"),
        13 => format!("rel({lock})"),
        14 => format!("racq({lock})"),
        15 => format!("rrel({lock})"),
        16 => format!("tacq({lock})"),
        17 => format!("tfail({lock})"),
        18 => format!("wait({cond},{lock})"),
        19 => format!("woken({cond},{lock}){wake}"),
        20 => format!("notify({cond})"),
        21 => format!("notifyall({cond})"),
        22 => format!("fork(T{other})"),
        23 => format!("join(T{other})"),
        24 => (*r.pick(&["post(o)", "await(o)"])).to_owned(),
        25 => (*r.pick(&["up(s)", "down(s)", "down(s)"])).to_owned(),
        26 => format!("{}({var},{})", r.pick(&["pin", "rpin"]), r.below(6)),
        _ => (*r.pick(&["req(l)", "begin(b)", "end(b)", "fence"])).to_owned(),
    };
    format!("T{}|{op}|{}", r.below(threads), r.below(9))
}

pub(crate) fn garbage(r: &mut Random, most: usize) -> String {
    let threads = 2 + r.below(3);
    let mut text = String::new();
    for init in ["x=0", "y=0", "s=1", "s=2", "x=1"] {
        if r.percent(25) {
            text.push_str(&format!("#! init {init}\n"));
        }
    }
    for _ in 0..4 + r.below(most) {
        text.push_str(&line(r, threads));
        text.push('\n');
    }
    text
}

pub(crate) fn count(default: u64) -> u64 {
    std::env::var("FORETRACE_CASES").map_or(default, |text| text.parse().expect("a number"))
}

#[test]
fn garbage_is_survived() {
    let specs: Vec<_> = PROPERTIES.iter().map(|body| spec(body)).collect();
    let mut wrong: BTreeMap<String, (u64, String)> = BTreeMap::new();
    let first: u64 = std::env::var("FORETRACE_FIRST").map_or(0, |text| text.parse().expect("a number"));
    for seed in first..first + count(1500) {
        let mut r = Random::new(seed);
        let text = garbage(&mut r, if seed % 8 == 0 { 14 } else { 8 });
        let trace = read(&text);
        let number = r.below(specs.len());
        let steps = if r.percent(20) { Steps::All } else { Steps::Relevant };
        for causality in CausalityChoice::ALL {
            for window in [None, Some(1), Some(2), Some(3), Some(5)] {
                if window.is_some()
                    && !causality.models().contains(&Causality::WeakHb)
                    && !causality.models().contains(&Causality::Maximal)
                {
                    continue;
                }
                let settings = Settings { steps: Some(steps), ..Settings::default() };
                let options = Options { count: window.is_none(), list: 3, ..Options::default() };
                let asked = || ask(&trace, &specs[number], causality, window, settings, options);
                let began = std::time::Instant::now();
                let problem = match catch_unwind(AssertUnwindSafe(asked)) {
                    Ok(answer) => {
                        let refused = answer.predictions.instances.iter().find_map(|p| p.refused.clone());
                        refused.map(|why| {
                            let kind: String = why.chars().filter(|c| !c.is_ascii_digit()).collect();
                            format!("refused: {kind}")
                        })
                    }
                    Err(panic) => {
                        let text = panic.downcast_ref::<String>().cloned();
                        Some(format!(
                            "panic: {}",
                            text.or(panic.downcast_ref::<&str>().map(|s| (*s).to_owned())).unwrap_or_default()
                        ))
                    }
                };
                if began.elapsed().as_millis() > 700 {
                    eprintln!(
                        "slow: {:?} seed {seed} {causality:?} {window:?} {steps:?}\n{text}{}",
                        began.elapsed(),
                        PROPERTIES[number]
                    );
                }
                if let Some(problem) = problem {
                    let shown = format!(
                        "seed {seed} {causality:?} window {window:?} steps {steps:?}\n{text}{}\n",
                        PROPERTIES[number]
                    );
                    let key = format!("{problem} (window {})", window.is_some());
                    let entry = wrong.entry(key).or_insert((0, shown.clone()));
                    entry.0 += 1;
                    if shown.len() < entry.1.len() {
                        entry.1 = shown;
                    }
                }
            }
        }
    }
    for (problem, (times, shown)) in &wrong {
        println!("== {times} times: {problem}\n{shown}");
    }
    assert!(wrong.is_empty());
}
