//! RoadRunner's event lines.

use crate::common::in_words;
use trace::text::{RoadRunnerReader, TextReader, looks_like_roadrunner};
use trace::{InputPosition, Source, Trace};

const SAMPLE: &str = "\
[main: starting up]
@   Start(0,1)
@   Acquire(1,@03)
@     Rd(1,@01.Foo.x) OK Foo.java:12
@ ARd(1,@05[3]) RACE Foo.java:13
@ Wr(1,@01.Foo.x) OK Foo.java:14:7
@ AWr(1,@05[3])
@   Release(1,@03)
@ Enter(0,Foo.bar(ILjava/lang/String;)V)
@ VolatileWr(0,@01.Foo.v)
@Rd(0,x)
@ Exit(0,Foo.bar(ILjava/lang/String;)V)
@ Join(0,1)
[RR: done]
";

#[test]
fn every_event() {
    for text in [SAMPLE.to_owned(), SAMPLE.replace('\n', "\r\n")] {
        let trace = Trace::read(&mut RoadRunnerReader::new(text.as_bytes())).unwrap();
        assert_eq!(
            in_words(&trace.names, &trace.batch),
            [
                r#""T0" Fork "T1" at """#,
                r#""T1" Acquire "@03" at """#,
                r#""T1" Read "@01.Foo.x" at "Foo.java:12""#,
                r#""T1" Read "@05[3]" at "Foo.java:13""#,
                r#""T1" Write "@01.Foo.x" at "Foo.java:14:7""#,
                r#""T1" Write "@05[3]" at """#,
                r#""T1" Release "@03" at """#,
                r#""T0" Begin "Foo.bar(ILjava/lang/String;)V" at """#,
                r#""T0" End "Foo.bar(ILjava/lang/String;)V" at """#,
                r#""T0" Join "T1" at """#,
            ]
        );
    }
}

#[test]
fn places_count_the_skipped_lines() {
    let mut reader = RoadRunnerReader::new(SAMPLE.as_bytes());
    let mut batch = event::Batch::default();
    assert!(reader.next_batch(&mut batch).unwrap());
    let places: Vec<_> = (0..batch.events.len()).map(|i| reader.place(i)).collect();
    assert_eq!(places, [2, 3, 4, 5, 6, 7, 8, 9, 12, 13].map(|line| Some(InputPosition::Line(line))));
}

#[test]
fn malformed_events() {
    for (line, message) in [
        ("@ Acquire(2", "a `(` without its `)`"),
        ("@ Acquire(2)", "expected a thread and an object"),
        ("@ Acquire(x,y)", "expected the number of a thread"),
        ("@ Acquire(,y)", "expected the number of a thread"),
        ("@ Acquire(1,)", "the object's name is empty"),
        ("@ Start(0,one)", "expected the number of a thread"),
        ("@ Rd(0,f(x)", "a `(` without its `)`"),
    ] {
        let error = Trace::read(&mut RoadRunnerReader::new(format!("\n{line}\n").as_bytes())).unwrap_err().to_string();
        assert!(error.starts_with("line 2: ") && error.contains(message), "{error}");
        let cut = Trace::read(&mut RoadRunnerReader::new(line.as_bytes())).unwrap();
        assert_eq!((cut.batch.events.len(), cut.losses.len()), (0, 1));
    }
}

#[test]
fn it_is_reported_from_text() {
    assert!(looks_like_roadrunner(SAMPLE.as_bytes()));
    assert!(looks_like_roadrunner(b"noise \xff\n@   Acquire(2,@03)"));
    for other in ["", "T1|r(x)|1\n", "@|r(x)|1\n", "@ note\nT1|r(x)|1\n", "@ Acquire(x,y)\n", "# @ Acquire(2,@03)\n"] {
        assert!(!looks_like_roadrunner(other.as_bytes()), "{other}");
    }
    assert!(Trace::read(&mut TextReader::new(SAMPLE.as_bytes())).is_err());
}
