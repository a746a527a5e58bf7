//! Random small traces of mostly plain accesses, where the filter has much to do: threads repeat themselves, and meet.

use law::random::Random;
use std::fmt::Write;

/// A trace of three threads at most, with a lock or two.
pub(crate) fn accesses_trace(r: &mut Random) -> String {
    let threads = 2 + r.below(2);
    let events = 8 + r.below(7);
    let variables: &[&str] = if r.percent(40) { &["x", "y"] } else { &["x", "y", "z"] };
    let locks: &[&str] = &["l", "k"][..1 + r.below(2)];
    let sync = *r.pick(&[5, 15, 30]);
    let stay = *r.pick(&[50, 70, 85]);
    let writes = *r.pick(&[30, 50, 70]);
    let mut holder: Vec<Option<usize>> = vec![None; locks.len()];
    let mut posted = false;
    let mut t = 0;
    let mut text = String::new();
    for number in 0..events {
        if !r.percent(stay) {
            t = r.below(threads);
        }
        let lock = r.below(locks.len());
        let op = if r.percent(sync) {
            match holder[lock] {
                None => {
                    holder[lock] = Some(t);
                    format!("acq({})", locks[lock])
                }
                Some(by) if by == t => {
                    holder[lock] = None;
                    format!("rel({})", locks[lock])
                }
                Some(_) if posted => "await(p)".to_string(),
                Some(_) => {
                    posted = true;
                    "post(p)".to_string()
                }
            }
        } else {
            format!("{}({})", if r.percent(writes) { 'w' } else { 'r' }, r.pick(variables))
        };
        writeln!(text, "T{}|{op}|{number}", t + 1).expect("a string");
    }
    text
}
