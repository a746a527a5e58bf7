//! Traces with much to decide: few variables with few values, few locks, a semaphore, nothing else.

use oracle::random::Random;
use std::collections::BTreeMap;

struct Thread {
    held: Vec<(&'static str, bool)>,
    left: usize,
}

/// A trace of a few threads that could have happened, as text.
pub(crate) fn dense_trace(r: &mut Random, most: usize) -> String {
    let count = 2 + most / 10 + r.below(2);
    let mode = r.below(4);
    let (values, semaphores) = (r.percent(50), mode == 2 || mode == 0 && r.percent(50));
    let (locked, shared) = (mode == 0 || mode == 3, r.percent(30));
    let variables = &["x", "y", "z"][..1 + r.below(3)];
    let locks = &["l", "k"][..1 + r.below(2)];
    let mut threads: Vec<Thread> =
        (0..count).map(|_| Thread { held: Vec::new(), left: 3 + r.below(most / 3) }).collect();
    let mut holds: BTreeMap<&str, String> = variables.iter().map(|&x| (x, "0".to_owned())).collect();
    let mut tokens = r.below(2);
    let mut text = if semaphores { format!("#! init s={tokens}\n") } else { String::new() };
    if values {
        text += &format!("#! init{}\n", variables.iter().map(|x| format!(" {x}=0")).collect::<String>());
    }
    let mut lines = 0;
    for _ in 0..200 {
        if lines >= most {
            break;
        }
        let t = r.below(count);
        if threads[t].left == 0 && threads[t].held.is_empty() {
            continue;
        }
        let x = *r.pick(variables);
        let l = *r.pick(locks);
        let takes = |exclusive: bool| {
            let hinders = |(other, thread): (usize, &Thread)| {
                thread.held.iter().any(|&(held, by)| held == l && (other == t || exclusive || by))
            };
            !threads.iter().enumerate().any(hinders)
        };
        let op = match if mode == 2 && r.percent(40) { 9 } else { r.below(10) } {
            _ if threads[t].left == 0 => threads[t].held.pop().map(release),
            0 | 1 if locked && takes(true) => {
                threads[t].held.push((l, true));
                Some(format!("acq({l})"))
            }
            0 | 1 if locked && shared && takes(false) => {
                threads[t].held.push((l, false));
                Some(format!("racq({l})"))
            }
            2 | 3 if locked => threads[t].held.pop().map(release),
            4..=6 => Some(if values && r.percent(90) { format!("r({x})={}", holds[x]) } else { format!("r({x})") }),
            7 | 8 => {
                let value = r.below(2).to_string();
                let op = if r.percent(15) { "armw" } else { "w" };
                let event = if values { format!("{op}({x})={value}") } else { format!("{op}({x})") };
                holds.insert(x, value);
                Some(event)
            }
            _ if semaphores && tokens > 0 && r.percent(60) => {
                tokens -= 1;
                Some("down(s)".to_owned())
            }
            _ if semaphores => {
                tokens += 1;
                Some("up(s)".to_owned())
            }
            _ => None,
        };
        if let Some(op) = op {
            lines += 1;
            threads[t].left = threads[t].left.saturating_sub(1);
            text += &format!("T{t}|{op}|{lines}\n");
        }
    }
    text
}

fn release((lock, exclusive): (&'static str, bool)) -> String {
    if exclusive { format!("rel({lock})") } else { format!("rrel({lock})") }
}
