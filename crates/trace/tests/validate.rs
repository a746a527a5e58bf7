//! The validator: what it accepts, and what it says of what cannot have happened.

use event::Batch;
use trace::text::TextReader;
use trace::validate::Validator;
use trace::{Source, Trace};

/// The problems of a trace, each with its event.
fn problems(text: &str) -> Vec<String> {
    let trace = Trace::read(&mut TextReader::new(text.as_bytes())).unwrap();
    let whole = validate(&trace, usize::MAX);
    // However the trace is cut into batches, it says the same.
    for size in [1, 2, 3, 7] {
        assert_eq!(validate(&trace, size), whole, "in batches of {size}:\n{text}");
    }
    assert_eq!(with_names_ahead(&trace), whole, "with all names known from the start:\n{text}");
    whole
}

/// Event by event, but all names are there before the first, in another order than that of their use: as in a binary
/// trace.
fn with_names_ahead(trace: &Trace) -> Vec<String> {
    let mut names = event::Names::default();
    for space in event::Space::ALL {
        for number in (0..trace.names.space(space).len() as u32).rev() {
            names.add(space, trace.names.get(space, number)).unwrap();
        }
    }
    let renamed = |space, number| names.space(space).find(trace.names.get(space, number).as_bytes()).unwrap();
    let mut validator = Validator::new();
    for item in trace.batch.items() {
        let mut batch = Batch::default();
        match item {
            event::Item::Init(init) => {
                batch.clear(u64::from(init.before));
                let name = event::StrId(renamed(event::Space::Str, init.name.0));
                let value = match init.value {
                    event::Value::Str(id) => event::Value::Str(event::StrId(renamed(event::Space::Str, id.0))),
                    value => value,
                };
                batch.push_init(name, value);
            }
            event::Item::Event(index, event) => {
                batch.clear(index as u64);
                let mut extra = *trace.batch.extra(event);
                if event.op().has_lock_argument() {
                    extra.lock = event::LockId(renamed(event::Space::Lock, extra.lock.0));
                }
                if let event::Value::Str(id) = extra.value {
                    extra.value = event::Value::Str(event::StrId(renamed(event::Space::Str, id.0)));
                }
                let extra = batch.add_extra(extra);
                let thread = event::ThreadId(renamed(event::Space::Thread, event.thread().0));
                let object = event.op().space().map_or(0, |space| renamed(space, event.object()));
                batch.events.push(event::Event::with_extra(thread, event.op(), object, event.site(), extra));
            }
        }
        validator.check(&names, &batch);
    }
    validator.problems().iter().map(|p| format!("{}: {}", p.event, p.message)).collect()
}

fn validate(trace: &Trace, size: usize) -> Vec<String> {
    // The text again, line by line, so that names appear only when they are used.
    let mut validator = Validator::new();
    let mut names = event::Names::default();
    let mut text = Vec::new();
    let mut writer = trace::text::TextWriter::new(&mut text);
    writer.write_batch(&trace.names, &trace.batch).unwrap();
    writer.finish(&[]).unwrap();
    let lines: Vec<&[u8]> = text.split_inclusive(|&b| b == b'\n').collect();
    let (mut first, mut sofar) = (0, Vec::new());
    for piece in lines.chunks(size.min(lines.len().max(1))) {
        sofar.extend_from_slice(&piece.concat());
        let mut reader = TextReader::new(&sofar[..]);
        let mut all = Batch::default();
        let mut batch = Batch::default();
        while reader.next_batch(&mut batch).unwrap() {
            all.append(&batch);
        }
        names = reader.names().clone();
        let mut part = Batch::default();
        part.clear(first as u64);
        let fresh = all.inits.len() - piece.iter().filter(|line| line.starts_with(b"#!")).count();
        part.inits
            .extend(all.inits[fresh..].iter().map(|init| event::Init { before: init.before - first as u32, ..*init }));
        for &event in &all.events[first..] {
            part.push_from(&all, event);
        }
        first = all.events.len();
        validator.check(&names, &part);
    }
    drop(names);
    assert_eq!(validator.count(), validator.problems().len() as u64);
    validator.problems().iter().map(|p| format!("{}: {}", p.event, p.message)).collect()
}

#[track_caller]
fn accepts(text: &str) {
    assert_eq!(problems(text), [""; 0]);
}

#[track_caller]
fn finds(text: &str, expected: &[&str]) {
    assert_eq!(problems(text), expected);
}

#[test]
fn exclusive_locks_have_one_holder() {
    accepts("A|acq(l)|\nA|rel(l)|\nB|acq(l)|\nB|rel(l)|");
    accepts("A|acq(l)|\nA|acq(l)|\nA|rel(l)|\nA|rel(l)|\nB|tacq(l)|");
    finds("A|acq(l)|\nB|acq(l)|", &["1: B takes l while A holds it (since event 0)"]);
    finds("A|acq(l)|\nA|acq(l)|\nA|rel(l)|\nB|tacq(l)|", &["3: B takes l while A holds it (since event 0)"]);
    finds("A|rel(l)|", &["0: A releases l, which it does not hold"]);
    finds("A|acq(l)|\nB|rel(l)|\nA|rel(l)|", &["1: B releases l, which it does not hold"]);
}

#[test]
fn readers_share_and_exclude_others_writers() {
    accepts("A|racq(l)|\nB|racq(l)|\nA|rrel(l)|\nB|rrel(l)|\nA|acq(l)|\nA|racq(l)|\nA|rel(l)|\nB|racq(l)|");
    accepts("A|racq(l)|\nA|racq(l)|\nA|rrel(l)|\nA|rrel(l)|\nB|acq(l)|");
    finds("A|racq(l)|\nB|acq(l)|", &["1: B takes l while A holds it (since event 0)"]);
    finds("A|acq(l)|\nB|racq(l)|", &["1: B takes l while A holds it (since event 0)"]);
    finds("A|racq(l)|\nA|rel(l)|", &["1: A releases l, which it does not hold"]);
    finds("A|acq(l)|\nA|rrel(l)|", &["1: A releases l as a reader, which it does not hold shared"]);
}

#[test]
fn threads_act_after_their_fork_and_before_their_join() {
    accepts("A|fork(B)|\nB|r(x)|\nA|join(B)|\nA|join(B)|\nA|join(C)|");
    finds("B|r(x)|\nA|fork(B)|", &["1: B is forked after its first event"]);
    finds("A|fork(B)|\nC|fork(B)|", &["1: B is forked a second time"]);
    finds("A|join(B)|\nA|fork(B)|", &["1: B is forked after it was joined (event 0)"]);
    finds("A|fork(A)|", &["0: A forks itself"]);
    finds("A|join(A)|", &["0: A joins itself"]);
    finds("A|fork(B)|\nA|join(B)|\nB|r(x)|\nB|r(x)|", &["2: B acts after it was joined (event 1)"]);
}

#[test]
fn waits_give_the_lock_up_and_wake_ups_take_it_back() {
    let twice = "A|acq(l)|\nA|acq(l)|\nA|wait(c,l)|\nB|acq(l)|\nB|notify(c)|\nB|rel(l)|\n";
    accepts(&format!("{twice}A|woken(c,l)|\nA|rel(l)|\nA|rel(l)|\nB|acq(l)|"));
    accepts("A|acq(l)|\nA|wait(l)|\nB|notifyall(l)|\nA|woken(l)|");
    accepts("A|racq(l)|\nA|wait(c,l)|\nB|notify(c)|\nA|woken(c,l)|\nA|rrel(l)|");
    accepts("A|acq(l)|\nA|wait(l)|\nA|woken(l)=timeout|\nA|wait(l)|\nA|woken(l)=spurious|");
    finds("A|wait(c,l)|", &["0: A waits on c without holding l"]);
    finds(
        "A|acq(l)|\nA|wait(l)|\nA|woken(l)|",
        &["2: A is woken on l without a notify since its wait (a timeout? then say so: =timeout)"],
    );
    finds(
        "B|notify(l)|\nA|acq(l)|\nA|wait(l)|\nA|woken(l)|",
        &["3: A is woken on l without a notify since its wait (a timeout? then say so: =timeout)"],
    );
    finds(
        "A|acq(l)|\nA|wait(l)|\nB|acq(l)|\nB|notify(l)|\nA|woken(l)|",
        &["4: A takes l while B holds it (since event 2)"],
    );
    finds("A|woken(c,l)|", &["0: A is woken on c without waiting on it with lock l"]);
    finds("A|acq(l)|\nA|wait(c,l)|\nA|r(x)|", &["2: A acts while it waits on c"]);
    finds("A|acq(l)|\nA|wait(c,l)|\nB|join(A)|", &["2: A is joined while it waits"]);
}

#[test]
fn one_notify_wakes_one_waiter_and_a_notifyall_everyone() {
    let two = "A|acq(l)|\nA|wait(l)|\nB|acq(l)|\nB|wait(l)|\n";
    accepts(&format!("{two}C|notifyall(l)|\nA|woken(l)|\nA|rel(l)|\nB|woken(l)|"));
    accepts(&format!("{two}C|notify(l)|\nC|notify(l)|\nB|woken(l)|\nB|rel(l)|\nA|woken(l)|"));
    finds(
        &format!("{two}C|notify(l)|\nA|woken(l)|\nA|rel(l)|\nB|woken(l)|"),
        &["7: B is woken on l without a notify since its wait (a timeout? then say so: =timeout)"],
    );
    // A's time ran out: the notify is B's.
    accepts(&format!("{two}C|notify(l)|\nA|woken(l)=timeout|\nA|rel(l)|\nB|woken(l)|"));
    // A notifyall and a notify for A; the notify after B's wait is B's.
    let notified = "A|acq(l)|\nA|wait(l)|\nC|notifyall(l)|\nC|notify(l)|\nB|acq(l)|\nB|wait(l)|\n";
    accepts(&format!("{notified}A|woken(l)|\nA|rel(l)|\nC|notify(l)|\nB|woken(l)|"));
    // The notify came before B's wait: it can only have been A's.
    accepts(
        "A|acq(l)|\nA|wait(l)|\nC|notify(l)|\nB|acq(l)|\nB|wait(l)|\nC|notify(l)|\nB|woken(l)|\nB|rel(l)|\nA|woken(l)|",
    );
    finds(
        "A|acq(l)|\nA|wait(l)|\nC|notify(l)|\nB|acq(l)|\nB|wait(l)|\nB|woken(l)|",
        &["5: B is woken on l without a notify since its wait (a timeout? then say so: =timeout)"],
    );
}

#[test]
fn a_thread_that_asks_for_a_lock_waits_for_the_answer() {
    accepts("A|req(l)|\nA|acq(l)|\nB|req(l)|");
    accepts("A|req(l)|\nA|tfail(l)|\nA|req(l)|\nA|racq(l)|");
    finds("A|req(l)|\nA|r(x)|", &["1: A goes on though its request for l is unanswered"]);
    finds("A|req(l)|\nB|join(A)|", &["1: A is joined though its request for l is unanswered"]);
    finds("A|req(l)|\nA|acq(m)|", &["1: A goes on though its request for l is unanswered"]);
}

#[test]
fn other_waits_may_be_given_up() {
    accepts("A|fork(B)|\nA|jreq(B)|\nB|r(x)|\nA|join(B)|");
    accepts("A|fork(B)|\nA|jreq(B)|\nA|r(x)|\nA|jreq(B)|\nB|jreq(A)|");
    accepts(
        "A|areq(o)|\nB|post(o)|\nA|await(o)|\nA|areq(o)|\nA|dreq(s)|\nB|up(s)|\nA|down(s)|\nA|dreq(s)|\nA|pin(x,0)|",
    );
    finds("A|areq(o)|\nB|join(A)|", &["1: A is joined though its request for o is unanswered"]);
    finds("A|dreq(s)|\nB|join(A)|", &["1: A is joined though its request for s is unanswered"]);
    finds("A|jreq(B)|\nB|join(A)|", &["1: A is joined though its request for B is unanswered"]);
}

#[test]
fn blocks_are_balanced() {
    accepts("A|begin(a)|\nA|begin(b)|\nB|begin(a)|\nA|end(b)|\nA|end(a)|\nA|begin|\nA|end|\nA|begin(a)|\nA|end|");
    finds("A|end(a)|", &["0: A ends block a without having begun it"]);
    finds("A|end|", &["0: A ends block without a name without having begun it"]);
    finds(
        "A|begin(a)|\nA|begin(b)|\nA|end(a)|\nA|begin(a)|\nA|end(a)|",
        &["2: A ends block a while block b inside it is open"],
    );
    finds("A|begin(a)|\nA|end(b)|\nA|end(a)|", &["1: A ends block b without having begun it"]);
    let deep = "A|begin(a)|\n".repeat(3000) + &"A|end(a)|\n".repeat(3000);
    let trace = Trace::read(&mut TextReader::new(deep.as_bytes())).unwrap();
    assert_eq!(Validator::new().check(&trace.names, &trace.batch), []);
}

#[test]
fn reads_see_the_last_write() {
    accepts("#! init x=1\nA|r(x)=1|\nB|w(x)=2|\nA|r(x)=2|\nA|w(x)|\nA|r(x)=7|\nA|r(y)=3|\nA|armw(x)=4|\nA|ald(x)=4|");
    accepts("A|w(x)=2|\nA|free(x)|\nA|alloc(x)|\nA|r(x)=7|");
    accepts("A|w(x)=NaN|\nA|r(x)=NaN|\nA|w(s)=\"a\"|\nA|r(s)=\"a\"|");
    finds("#! init x=1\nA|r(x)=2|", &["0: A reads x as 2, but it holds 1"]);
    finds("A|w(x)=2|\nB|r(x)=3|\nB|r(x)=3|", &["1: B reads x as 3, but it holds 2"]);
    finds("A|ast(x)=true|\nB|ald(x)=1|", &["1: B reads x as 1, but it holds true"]);
    finds("A|w(x)=\"a\"|\nB|r(x)=\"b\"|", &["1: B reads x as \"b\", but it holds \"a\""]);
    finds("A|r(x)|\n#! init x=1\nA|r(x)=2|", &["1: the initial value of x comes after its first use, and is not used"]);
    // The lifetime of an object is a variable of its name.
    accepts("A|post(b)|\nA|w(b)|\n#! init b=2\nA|await(b)|");
    finds("A|up(s)|\n#! init s=1", &["1: the initial value of s comes after its first use, and is not used"]);
}

#[test]
fn semaphores_stay_non_negative() {
    accepts("#! init s=2\nA|down(s)|\nB|down(s)|\nA|up(s)|\nB|down(s)|\nA|up(t)|\nA|down(t)|");
    finds(
        "A|up(s)|\nA|down(s)|\nA|down(s)|",
        &["2: A takes semaphore s down though its count is 0 (an initial count? then say: #! init s=1)"],
    );
    finds("#! init s=\"many\"\nA|up(s)|", &["0: the initial count of semaphore s is not a count"]);
}

#[test]
fn what_a_recording_may_end_with_is_no_problem() {
    accepts("A|acq(l)|\nA|begin(b)|\nB|racq(m)|\nC|acq(n)|\nC|wait(n)|\nD|req(l)|");
}
