//! Which threads may have had more to do when the trace ended: what the rule for the end does not know.

use event::{Batch, Id, Names, Op, Space, ThreadId};

/// Threads that are named.
const NAMED: usize = 3;

/// The threads that were started and never joined, in words: nothing in a trace says that they had come to their end.
pub(super) fn not_joined(names: &Names, trace: Option<&Batch>) -> Option<String> {
    let trace = trace?;
    let mut open = vec![false; names.space(Space::Thread).len()];
    for event in &trace.events {
        if matches!(event.op(), Op::Fork | Op::Join) {
            open[event.child().index()] = event.op() == Op::Fork;
        }
    }
    let open: Vec<ThreadId> = (0..).zip(open).filter(|(_, open)| *open).map(|(n, _)| ThreadId(n)).collect();
    let named: Vec<&str> = open.iter().take(NAMED).map(|&thread| names.thread(thread)).collect();
    let more = open.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let verb = if open.len() == 1 { "was" } else { "were" };
    (!open.is_empty()).then(|| format!("{}{more} {verb} never joined", named.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::not_joined;
    use trace::Trace;
    use trace::text::TextReader;

    fn of(text: &str) -> Option<String> {
        let trace = Trace::read(&mut TextReader::new(text.as_bytes())).expect("a trace");
        not_joined(&trace.names, Some(&trace.batch))
    }

    #[test]
    fn threads_that_were_never_joined_are_named() {
        assert_eq!(of("T1|fork(T2)|a:1\nT2|w(x)|a:2\nT1|join(T2)|a:3\n"), None);
        let one = of("T1|fork(T2)|a:1\nT2|w(x)|a:2\n");
        assert_eq!(one.as_deref(), Some("T2 was never joined"));
        let forks: String = (2..7).map(|n| format!("T1|fork(T{n})|a:1\n")).collect();
        assert_eq!(of(&forks).as_deref(), Some("T2, T3, T4 and 2 more were never joined"));
    }
}
