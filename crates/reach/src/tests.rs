//! The solver against the exhaustive search, on traces that are too long for brute force over the definitions.

#[path = "../tests/oracle/dense.rs"]
mod dense;

use crate::exhaustive;
use crate::facts::Facts;
use crate::goal::Goal;
use crate::question::{Answer, Limits, Meter, Question};
use crate::solver::Solver;
use dense::dense_trace;
use event::{Value, VarId};
use oracle::random::Random;
use oracle::{cases, initial_values, read};

#[test]
fn the_solver_answers_as_the_exhaustive_search() {
    let mut answers = [0; 3];
    for seed in 0..cases(3_000) {
        let mut r = Random::new(seed);
        let most = 20 + r.below(21);
        let text = dense_trace(&mut r, most);
        let trace = read(&text);
        let count = trace.batch.events.len();
        if count < 10 {
            continue;
        }
        let values = initial_values(&trace, &[]);
        let initial = |var: VarId| values.get(var.0 as usize).copied().unwrap_or(Value::Unknown);
        let fixed = if r.percent(20) { r.below(count / 4) } else { 0 };
        let facts = || Facts::new(&trace.names, &trace.batch, fixed, &initial);
        let mut solver = Solver::new(facts(), count as u32);
        let facts = facts();
        for _ in 0..6 {
            let next = [r.below(count) as u32, r.below(count) as u32];
            let before = [(r.below(count) as u32, r.below(count) as u32)];
            let before = if r.percent(20) { &before[..] } else { &[] };
            let Some(goal) = Goal::new(&facts, &Question { next: &next, contains: &[], before }) else { continue };
            let few = Limits { steps: 30_000, ..Limits::default() };
            let expected = exhaustive::search(&facts, &goal, &mut Meter::new(&few));
            let answer = solver.answer(&goal, &mut Meter::new(&Limits::default()));
            let same = match (&expected, &answer) {
                (Answer::Reached(_), Answer::Reached(_)) | (Answer::Impossible, Answer::Impossible) => true,
                (Answer::Undecided, answer) => *answer != Answer::Undecided,
                _ => false,
            };
            assert!(same, "seed {seed}, fixed {fixed}, {next:?} {before:?}: {expected:?} {answer:?}\n{text}");
            answers[match expected {
                Answer::Reached(_) => 0,
                Answer::Impossible => 1,
                Answer::Undecided => 2,
            }] += 1;
        }
    }
    assert!(answers[0] > 1_000 && answers[1] > 500 && answers[2] < answers[1], "{answers:?}");
}
