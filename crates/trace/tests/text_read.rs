//! What lines of a text trace mean.

use crate::common::in_words;
use event::Batch;
use trace::text::TextReader;
use trace::{InputPosition, Source, Trace};

fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).unwrap_or_else(|e| panic!("{text:?}: {e}"))
}

/// Both with lines as they are and with lines that end in CR LF, which are never read the short way; and both when the
/// names are new and when they are known.
fn check(text: &str, expected: &[&str]) {
    for text in [text.to_owned(), text.replace('\n', "\r\n")] {
        let trace = read(&text);
        assert_eq!(in_words(&trace.names, &trace.batch), expected, "{text:?}");
        assert_eq!(trace.losses, [], "{text:?}");
        let twice = read(&format!("{text}\n{text}"));
        assert_eq!(in_words(&twice.names, &twice.batch), [expected, expected].concat(), "{text:?} twice");
    }
}

#[test]
fn every_operation() {
    for (line, expected) in [
        ("T1|r(x)|17", r#""T1" Read "x" at "17""#),
        ("T1|r(x)=3|17", r#""T1" Read "x" = 3 at "17""#),
        ("T1|r(x)=-3|17", r#""T1" Read "x" = -3 at "17""#),
        ("T1|r(x)=9223372036854775807|17", r#""T1" Read "x" = 9223372036854775807 at "17""#),
        ("T1|w(x)=-9223372036854775808|17", r#""T1" Write "x" = -9223372036854775808 at "17""#),
        ("T1|w(x)=1.5|17", r#""T1" Write "x" = 1.5 at "17""#),
        ("T1|w(x)=true|17", r#""T1" Write "x" = true at "17""#),
        ("T1|w(x)=false|", r#""T1" Write "x" = false at """#),
        (r#"T1|w(x)="a\"\\\n\x7c)"|17"#, r#""T1" Write "x" = "a\"\\\n|)" at "17""#),
        (r#"T1|w(x)="""#, r#""T1" Write "x" = "" at """#),
        ("T1|r(x)=3~|17", r#""T1" Read "x" = 3 inexact at "17""#),
        ("T1|w(x~)~", r#""T1" Write "x~" inexact at """#),
        (r#"T1|ast(x)="~"@relaxed~|~"#, r#""T1" AtomicStore "x" = "~" Relaxed inexact at "~""#),
        ("T1|woken(c,l)=timeout~|17", r#""T1" Woken "c" lock "l" Timeout inexact at "17""#),
        ("T1|begin~|17", r#""T1" Begin "" inexact at "17""#),
        ("T1|acq(l)|17", r#""T1" Acquire "l" at "17""#),
        ("T1|rel(l)|17", r#""T1" Release "l" at "17""#),
        ("T1|racq(l)|17", r#""T1" ReadAcquire "l" at "17""#),
        ("T1|rrel(l)|17", r#""T1" ReadRelease "l" at "17""#),
        ("T1|tacq(l)|17", r#""T1" TryAcquire "l" at "17""#),
        ("T1|tfail(l)|17", r#""T1" TryFail "l" at "17""#),
        ("T1|req(l)|17", r#""T1" Request "l" at "17""#),
        ("T1|fork(T2)|17", r#""T1" Fork "T2" at "17""#),
        ("T1|join(T2)|17", r#""T1" Join "T2" at "17""#),
        ("T1|wait(c,l)|17", r#""T1" Wait "c" lock "l" at "17""#),
        ("T1|wait(l)|17", r#""T1" Wait "l" lock "l" at "17""#),
        (r"T1|wait(a\x2cb)|17", r#""T1" Wait "a,b" lock "a,b" at "17""#),
        ("T1|woken(c,l)|17", r#""T1" Woken "c" lock "l" at "17""#),
        ("T1|woken(c,l)=timeout|17", r#""T1" Woken "c" lock "l" Timeout at "17""#),
        ("T1|woken(l)=spurious|17", r#""T1" Woken "l" lock "l" Spurious at "17""#),
        ("T1|notify(c)|17", r#""T1" Notify "c" at "17""#),
        ("T1|notifyall(c)|17", r#""T1" NotifyAll "c" at "17""#),
        ("T1|post(o)|17", r#""T1" Post "o" at "17""#),
        ("T1|await(o)|17", r#""T1" Await "o" at "17""#),
        ("T1|up(s)|17", r#""T1" Up "s" at "17""#),
        ("T1|down(s)|17", r#""T1" Down "s" at "17""#),
        ("T1|ald(x)=1@acquire|17", r#""T1" AtomicLoad "x" = 1 Acquire at "17""#),
        ("T1|ald(x)@relaxed|17", r#""T1" AtomicLoad "x" Relaxed at "17""#),
        ("T1|ast(x)=1@seqcst|17", r#""T1" AtomicStore "x" = 1 at "17""#),
        (r#"T1|armw(x)="a@b"@acqrel|17"#, r#""T1" AtomicRmw "x" = "a@b" AcqRel at "17""#),
        ("T1|armw(x)=7|17", r#""T1" AtomicRmw "x" = 7 at "17""#),
        ("T1|fence@acqrel|17", r#""T1" Fence AcqRel at "17""#),
        ("T1|fence@release", r#""T1" Fence Release at """#),
        ("T1|fence|17", r#""T1" Fence at "17""#),
        ("T1|begin|17", r#""T1" Begin "" at "17""#),
        ("T1|begin()|17", r#""T1" Begin "" at "17""#),
        ("T1|begin(m)|17", r#""T1" Begin "m" at "17""#),
        ("T1|end", r#""T1" End "" at """#),
        ("T1|end(m)|17", r#""T1" End "m" at "17""#),
        ("T1|ev(tick)|17", r#""T1" Internal "tick" at "17""#),
        (
            r#"T1|ev(tick,1,"a),",true,2.0,?)|17"#,
            r#""T1" Internal "tick" arg 1 arg "a)," arg true arg 2.0 arg ? at "17""#,
        ),
        ("T1|alloc(x)|17", r#""T1" Alloc "x" at "17""#),
        ("T1|free(x)|17", r#""T1" Free "x" at "17""#),
        ("T1|pin(x,42)|17", r#""T1" Pin "x" = 42 at "17""#),
        ("T1|pin(a,b,0)|17", r#""T1" Pin "a,b" = 0 at "17""#),
        ("T1|rpin(x,42)|17", r#""T1" ReadPin "x" = 42 at "17""#),
    ] {
        check(line, &[expected]);
        check(&format!("{line}\n"), &[expected]);
        check(
            &format!("T1|r(x)|17\n{line}\nT1|r(x)|17\n"),
            &[r#""T1" Read "x" at "17""#, expected, r#""T1" Read "x" at "17""#],
        );
    }
}

#[test]
fn names_and_sites() {
    for (line, expected) in [
        ("T1|r(int[]@5[2])|Main.java:12", r#""T1" Read "int[]@5[2]" at "Main.java:12""#),
        ("T1|r(f(a,b)|in f(), twice", r#""T1" Read "f(a,b" at "in f(), twice""#),
        (r"T1|r(operator(\x29(int,\x20int\x29)|a\x7cb", r#""T1" Read "operator()(int, int)" at "a|b""#),
        (r"T1|r(C:\xyz\x41)|C:\new\x20", r#""T1" Read "C:\\xyz\\x41" at "C:\\new\\x20""#),
        (r"\e|r(\e)|\e", r#""" Read "" at "\\e""#),
        (r"\x23|r(#)|#", r##""#" Read "#" at "#""##),
        ("größe|r(→)|«»", r#""größe" Read "→" at "«»""#),
        ("a_thread_with_a_long_name|r(and_a_variable_too)|in a long site", {
            r#""a_thread_with_a_long_name" Read "and_a_variable_too" at "in a long site""#
        }),
    ] {
        check(line, &[expected]);
    }
}

#[test]
fn what_is_no_event() {
    check("", &[]);
    check("\n  \n\t\n# T1|r(x)|1\n  # indented\nT1|dummy(x)|3\nT1|dummy|3\n#\n", &[]);
    check("\u{feff}", &[]);
    check("T1|fork(#x)|1\n#x|r(y)|2\nT1|fork(#x)|1\n", &[r##""T1" Fork "#x" at "1""##, r##""T1" Fork "#x" at "1""##]);
    let trace = read("\u{feff}T1|r(x)|1");
    assert_eq!(in_words(&trace.names, &trace.batch), [r#""T1" Read "x" at "1""#]);
}

#[test]
fn initial_values() {
    check(
        "#! init x=0 y=-1.5\t z=\"a b\"  s=2\nT1|r(x)|\n#!init w=true",
        &[
            r#"init "x" 0"#,
            r#"init "y" -1.5"#,
            r#"init "z" "a b""#,
            r#"init "s" 2"#,
            r#""T1" Read "x" at """#,
            r#"init "w" true"#,
        ],
    );
    check(r"#! init a\x3db=1 c=?", &[r#"init "a=b" 1"#, r#"init "c" ?"#]);
}

#[test]
fn incomplete_traces_say_so() {
    let trace = read("T1|r(x)|1\n#! incomplete 3 chunks\\x0adropped\n#! incomplete\n");
    let losses: Vec<String> = trace.losses.iter().map(ToString::to_string).collect();
    assert_eq!(losses, ["3 chunks\ndropped", "a part of the run is missing"]);
}

#[test]
fn a_cut_off_last_line_is_a_loss_and_leaves_no_names() {
    for (tail, bytes) in [("T9|acq(", 7), ("T9", 2), ("T9|r(new)=", 10), ("#! ini", 6), ("T9|w(new)=\"a", 12)] {
        let trace = read(&format!("T1|r(x)|1\n# c\n{tail}"));
        assert_eq!(in_words(&trace.names, &trace.batch), [r#""T1" Read "x" at "1""#]);
        assert_eq!(trace.losses.len(), 1, "{tail}");
        assert_eq!(trace.losses[0].place, Some(InputPosition::Line(3)));
        let message = &trace.losses[0].message;
        assert!(message.starts_with(&format!("the last line is cut off: {bytes} bytes ignored")), "{message}");
        assert_eq!((trace.names.space(event::Space::Thread).len(), trace.names.space(event::Space::Var).len()), (1, 1));
    }
    let trace = read("T1|r(x)|1\nT1|r(x)|2");
    assert_eq!((trace.batch.events.len(), trace.losses.len()), (2, 0));
}

#[test]
fn places_are_lines() {
    let mut text = String::from("\n# head\n");
    let mut expected = Vec::new();
    let mut line = 3;
    for i in 0..40_000 {
        if i % 97 == 0 || i % 16_384 == 0 {
            text += "# comment\nT1|dummy(x)|\n";
            line += 2;
        }
        if i % 1000 == 0 {
            text += "#! init x=1\n";
            line += 1;
        }
        text += "T1|r(x)|1\n";
        expected.push(Some(InputPosition::Line(line)));
        line += 1;
    }
    let mut reader = TextReader::new(text.as_bytes());
    let mut batch = Batch::default();
    let mut found = Vec::new();
    assert_eq!(reader.place(0), None);
    while reader.next_batch(&mut batch).unwrap() {
        assert_eq!(batch.first, found.len() as u64);
        found.extend((0..batch.events.len()).map(|i| reader.place(i)));
        assert_eq!(reader.place(batch.events.len()), None);
    }
    assert!(found == expected);
}

#[test]
fn a_batch_is_bounded_by_its_values_too() {
    let args = format!("T1|ev(e{})|\n", ",1".repeat(60_000));
    let inits = format!("#! init{}\n", " x=1".repeat(60_000));
    let text = [args.repeat(8), inits.repeat(8)].concat();
    let mut reader = TextReader::new(text.as_bytes());
    let mut batch = Batch::default();
    let (mut events, mut values) = (0, 0);
    while reader.next_batch(&mut batch).unwrap() {
        assert!(batch.args.len() <= 130_000 && batch.inits.len() <= 130_000);
        events += batch.events.len();
        values += batch.args.len() + batch.inits.len();
    }
    assert_eq!((events, values), (8, 16 * 60_000));
}

/// Who reads can stop in the midst of a text that says nothing.
#[test]
fn many_empty_lines_are_no_single_step() {
    let text = format!("{}T1|w(x)|7\n", "\n".repeat(3 << 20));
    let mut source = TextReader::new(text.as_bytes());
    let mut batch = Batch::default();
    let mut steps = 0;
    while source.next_batch(&mut batch).expect("a trace") && batch.events.is_empty() {
        assert_eq!(source.place(0), None);
        steps += 1;
    }
    assert!(steps >= 8, "{steps}");
    assert_eq!(batch.events.len(), 1);
    assert_eq!(source.place(0).map(|place| place.to_string()), Some(format!("line {}", (3 << 20) + 1)));
    assert!(!source.next_batch(&mut batch).expect("the end"));
}
