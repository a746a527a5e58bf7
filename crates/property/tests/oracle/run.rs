//! Monitors run next to the definitions.

use property::monitor::{AnyMonitor, Letter, Limits, Monitor, Options, Verdict};

use crate::naive_past::{Run, Truth};

pub(crate) fn letter(step: &[Truth]) -> Letter {
    let set = |want: Truth| step.iter().enumerate().fold(0, |set, (atom, t)| set | u64::from(*t == want) << atom);
    Letter::new(set(Some(true)), set(None))
}

/// The verdict after each step, and the verdict if the run ended there.
pub(crate) fn verdicts(monitor: &AnyMonitor, run: &Run) -> Vec<(Verdict, Verdict)> {
    let mut out = Vec::with_capacity(run.len());
    let mut q = 0;
    for (k, step) in run.iter().enumerate() {
        let letter = letter(step);
        q = if k == 0 { monitor.init(letter) } else { monitor.step(q, letter) };
        assert!(!monitor.gave_up(q));
        let verdict = monitor.verdict(q);
        assert!(verdict != Verdict::Violated || monitor.can_violate(q));
        out.push((verdict, monitor.at_end(q, letter)));
    }
    out
}

/// The options for the two forms of a monitor: made ahead, and not.
pub(crate) fn forms(options: Options<'_>) -> [Options<'_>; 2] {
    [options, Options { limits: Limits { table: 0, ..Limits::default() }, ..options }]
}

/// All ways of filling in what is unknown.
pub(crate) fn completions(run: &Run) -> Vec<Run> {
    let holes = run
        .iter()
        .enumerate()
        .flat_map(|(k, step)| step.iter().enumerate().filter(|(_, t)| t.is_none()).map(move |(atom, _)| (k, atom)));
    let mut out = vec![run.clone()];
    for (k, atom) in holes.collect::<Vec<_>>() {
        let mut more = Vec::new();
        for mut run in out {
            run[k][atom] = Some(false);
            more.push(run.clone());
            run[k][atom] = Some(true);
            more.push(run);
        }
        out = more;
    }
    out
}

/// One verdict for all completions: bad only if all are bad, good only if all are good.
pub(crate) fn over(completions: &[Verdict]) -> Verdict {
    use Verdict::*;
    let all = |set: &[Verdict]| completions.iter().all(|v| set.contains(v));
    let same = completions.iter().all(|v| *v == completions[0]);
    match () {
        () if same => completions[0],
        () if all(&[Violated, Unfulfilled]) => Unfulfilled,
        () if all(&[Satisfied, Fulfilled]) => Fulfilled,
        () if all(&[Satisfied, Fulfilled, Pending]) => Pending,
        () => Unknown,
    }
}

/// [`over`] at each step of the runs that complete one run.
pub(crate) fn over_steps(of: &[Vec<(Verdict, Verdict)>]) -> Vec<(Verdict, Verdict)> {
    (0..of[0].len())
        .map(|k| {
            let now = of.iter().map(|run| run[k].0).collect::<Vec<_>>();
            let end = of.iter().map(|run| run[k].1).collect::<Vec<_>>();
            (over(&now), over(&end))
        })
        .collect()
}
