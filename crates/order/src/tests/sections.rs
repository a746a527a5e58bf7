//! Which lock events have an effect, and what is open then.

use super::read;
use crate::sections::{Effect, Sections};

/// The effects of all events, in short: `o`, `c` for exclusive sections, `O`, `C` for shared ones, `f` for failed
/// tries; and what is open at the end.
fn effects(text: &str) -> (String, Vec<String>) {
    let trace = read(text);
    let mut sections = Sections::default();
    let short = |event: &event::Event| match sections.step(&trace.batch, *event) {
        Effect::None => '-',
        Effect::Open(_) => 'o',
        Effect::Close(_) => 'c',
        Effect::OpenShared(_) => 'O',
        Effect::CloseShared(_) => 'C',
        Effect::Fail(_) => 'f',
        Effect::CloseBoth(_) => 'B',
        Effect::OpenBoth(_) => 'b',
    };
    let shorts = trace.batch.events.iter().map(short).collect();
    let open = sections.open().into_iter().map(|(lock, thread, exclusive)| {
        let kind = if exclusive { "exclusive" } else { "shared" };
        format!("{} {} {kind}", trace.names.lock(lock), trace.names.thread(thread))
    });
    (shorts, open.collect())
}

#[test]
fn only_the_outermost_pair_counts() {
    assert_eq!(effects("T1|acq(l) T1|tacq(l) T1|w(x) T1|rel(l) T1|rel(l)"), ("o---c".into(), vec![]));
    assert_eq!(effects("T1|racq(l) T1|racq(l) T1|rrel(l) T1|rrel(l)"), ("O--C".into(), vec![]));
    // Other threads and other locks have depths of their own.
    let (shorts, open) = effects("T1|acq(l) T1|acq(m) T2|racq(n) T3|racq(n) T1|rel(l) T2|tfail(m)");
    assert_eq!(shorts, "ooOOcf");
    assert_eq!(open, ["m T1 exclusive", "n T2 shared", "n T3 shared"]);
}

#[test]
fn a_wait_gives_up_every_depth_and_woken_takes_it_back() {
    let text = "T1|acq(l) T1|acq(l) T1|wait(c,l) T2|acq(l) T2|rel(l) T1|woken(c,l) T1|rel(l) T1|rel(l)";
    assert_eq!(effects(text), ("o-coco-c".into(), vec![]));
    // Shared holds, too.
    let text = "T1|acq(l) T1|racq(l) T1|wait(c,l) T2|tacq(l) T2|rel(l) T1|woken(c,l) T1|rrel(l) T1|rel(l)";
    assert_eq!(effects(text), ("oOBocbCc".into(), vec![]));
    assert_eq!(effects("T1|racq(l) T1|wait(c,l) T1|woken(c,l)"), ("OCO".into(), vec!["l T1 shared".into()]));
    // Without its wait it is an acquire.
    assert_eq!(effects("T1|woken(c,l) T1|woken(c,l) T1|rel(l)"), ("o--".into(), vec!["l T1 exclusive".into()]));
    let (shorts, open) = effects("T1|acq(l) T1|acq(l) T1|wait(c,l)");
    assert_eq!((shorts.as_str(), open.len()), ("o-c", 0));
}

#[test]
fn a_release_alone_closes_what_was_open_from_the_beginning() {
    let text = "T1|rel(l) T2|rrel(m) T2|acq(l) T2|rel(l)";
    assert_eq!(effects(text), ("cCoc".into(), vec![]));
    let trace = read(text);
    let first = Sections::at_first(&trace.batch).open();
    let names: Vec<(&str, bool)> =
        first.iter().map(|(lock, _, exclusive)| (trace.names.lock(*lock), *exclusive)).collect();
    assert_eq!(names, [("l", true), ("m", false)]);
}
