//! What is wrong with a text trace is said with its line, and with what would be right.

use event::Batch;
use trace::text::TextReader;
use trace::{Error, InputPosition, Source, Trace};

fn error(text: &[u8]) -> Error {
    match Trace::read(&mut TextReader::new(text)) {
        Err(error) => error,
        Ok(_) => panic!("{} was read", String::from_utf8_lossy(text)),
    }
}

fn check(line: &[u8], message: &str) {
    let shown = String::from_utf8_lossy(line).into_owned();
    let text = [b"# head\nT1|r(x)|1\n", line, b"\nT1|r(x)|1\n"].concat();
    match error(&text) {
        Error::Malformed { place, message: said } => {
            assert_eq!(place, InputPosition::Line(3), "{shown}");
            assert!(said.contains(message), "{shown}: expected {message:?}, got {said:?}");
        }
        other => panic!("{shown}: {other:?}"),
    }
}

#[test]
fn malformed_lines() {
    for (line, message) in [
        ("T1", "expected THREAD|OP|SITE, found no `|` in `T1`"),
        ("hello world", "found no `|` in `hello world`"),
        ("|r(x)|1", "the thread's name is empty"),
        (" T1|r(x)|1", "white space in the thread's name ` T1`; a space is written `\\x20`"),
        ("T 1|r(x)|1", "white space in the thread's name"),
        ("T\u{a0}1|r(x)|1", "white space in the thread's name"),
        ("T1|", "expected an operation such as `r(x)`"),
        ("T1||1", "expected an operation such as `r(x)`"),
        ("T1|(x)|1", "expected an operation such as `r(x)` after the thread, found `(x)`"),
        ("T1|foo(x)|1", "unknown operation `foo`; did you mean"),
        ("T1|frok(T2)|1", "unknown operation `frok`; did you mean `fork`?"),
        ("T1|lock(l)|1", "did you mean `acq`?"),
        ("T1|unlock(l)|1", "did you mean `rel`?"),
        ("T1|R(x)|1", "unknown operation `R`; did you mean `r`?"),
        ("T1|notifyAll(x)|1", "did you mean `notifyall`?"),
        ("T1|quux_quux(x)|1", "unknown operation `quux_quux`; known are r, w, acq,"),
        ("T1|r|1", "expected `(` after `r`, as in `r(x)`"),
        ("T1|r[x]|1", "expected `(` after `r`, as in `r(x)`, found `[x]`"),
        ("T1|r (x)|1", "expected `(` after `r`"),
        ("T1|r(x|1", "`r(` without its `)`"),
        ("T1|r(", "`r(` without its `)`"),
        ("T1|r()|1", "the variable's name is empty"),
        ("T1|acq()|1", "the lock's name is empty"),
        ("T1|fork()|1", "the thread's name is empty"),
        ("T1|r(a b)|1", "white space in the variable's name `a b`"),
        ("T1|begin(a b)|1", "white space in the block's name"),
        ("T1|r(x) |1", "expected `|` after `r`, found ` `"),
        ("T1|r(x)y|1", "expected `|` after `r`, found `y`"),
        ("T1|r(f())|1", "expected `|` after `r`, found `)`"),
        ("T1|r(x)~~|1", "expected `|` after `r`, found `~`"),
        ("T1|r(x~|1", "`r(` without its `)`"),
        ("T1|~|1", "expected an operation such as `r(x)` after the thread, found ``"),
        ("T1|r(x)|1|2", "a third `|` after the site `1`; within a site it is written `\\x7c`"),
        ("T1|r(x)=|1", "a value is missing"),
        ("T1|r(x)=abc|1", "`abc` is not a value"),
        ("T1|r(x)=3 |1", "expected `|` after `r`, found ` `"),
        ("T1|r(x)=3,4|1", "expected `|` after `r`, found `,4`"),
        ("T1|r(x)=9223372036854775808|1", "does not fit 64 bits"),
        ("T1|r(x)=1e999|1", "out of range; infinity is written `inf`"),
        ("T1|r(x)=\"a|1", "a string without its closing `\"`"),
        ("T1|r(x)=\"a|b\"|1", "within a string, `|` is written `\\x7c`"),
        ("T1|r(x)=\"\\q\"|1", "an unknown escape in a string"),
        ("T1|r(x)=\"\\xff\"|1", "an unknown escape in a string"),
        ("T1|r(x)=\"a\"b|1", "expected `|` after `r`, found `b`"),
        ("T1|acq(l)=3|1", "`acq` takes no value; found `=3`"),
        ("T1|begin=3|1", "`begin` takes no value"),
        ("T1|ev(a)=3|1", "`ev` takes no value"),
        ("T1|r(x)=3@acquire|1", "`r` takes no memory order; only `ald`"),
        ("T1|acq(l)@acquire|1", "`acq` takes no memory order"),
        ("T1|ald(x)=3@acq|1", "unknown memory order `acq`; known are `relaxed`"),
        ("T1|ald(x)@|1", "unknown memory order ``"),
        ("T1|fence(x)|1", "expected `|` after `fence`, found `(x)`"),
        ("T1|fence@x|1", "unknown memory order `x`"),
        ("T1|wait()|1", "the condition's name is empty"),
        ("T1|wait(c,)|1", "the lock's name is empty"),
        ("T1|wait(,l)|1", "the condition's name is empty"),
        ("T1|wait(a,b,l)|1", "more than one `,` in `wait(a,b,l)`; within a name it is written `\\x2c`"),
        ("T1|woken(c,l)=late|1", "a wake-up is `=timeout` or `=spurious`, found `late`"),
        ("T1|wait(c,l)=timeout|1", "`wait` takes no value"),
        ("T1|pin(x)|1", "`pin` takes a variable and a position"),
        ("T1|pin(x,)|1", "the position of a `pin` is a number from 0 on"),
        ("T1|pin(x,-1)|1", "the position of a `pin` is a number from 0 on, found `-1`"),
        ("T1|pin(,1)|1", "the variable's name is empty"),
        ("T1|rpin(x)|1", "`rpin` takes a variable and a position: `rpin(x,n)`"),
        ("T1|rpin(x,y)|1", "the position of a `rpin` is a number from 0 on, found `y`"),
        ("T1|ev()|1", "the event's name is empty"),
        ("T1|ev(,1)|1", "the event's name is empty"),
        ("T1|ev(a|1", "`ev(` without its `)`"),
        ("T1|ev(a,1|1", "`ev(` without its `)`"),
        ("T1|ev(a,)|1", "a value is missing"),
        ("T1|ev(a,b)|1", "`b` is not a value"),
        ("T1|ev(a,1 2)|1", "expected `,` or `)` after an argument, found ` 2)`"),
        ("#! initial x=0", "unknown directive `initial`; known are `#! init x=0 y=1`"),
        ("#! init", "`#! init` without a value"),
        ("#! init x", "expected `name=value` in `#! init`, found `x`"),
        ("#! init =3", "the variable's name is empty"),
        ("#! init x=", "a value is missing"),
        ("#! init x=1,y=2", "expected a space after the value of `x`, found `,y=2`"),
        ("#! init x y=2", "white space in the variable's name `x y`"),
        ("T1|r(\0)|1", "byte 6 of the line is NUL"),
        ("# \0", "byte 3 of the line is NUL"),
    ] {
        check(line.as_bytes(), message);
        check(format!("{line}\r").as_bytes(), message);
    }
    check(b"T1|r(\xff)|1", "byte 6 of the line is not UTF-8");
    check(b"T1|r(x)|\xc3", "byte 9 of the line is not UTF-8");
    check(b"# \x80", "byte 3 of the line is not UTF-8");
}

#[test]
fn events_before_an_error_are_delivered_and_nothing_after_it() {
    let mut reader = TextReader::new(&b"T1|r(x)|1\nT1|w(x)|2\noops\nT1|w(x)|3\n"[..]);
    let mut batch = Batch::default();
    assert!(reader.next_batch(&mut batch).unwrap());
    assert_eq!(batch.events.len(), 2);
    assert_eq!(reader.next_batch(&mut batch).unwrap_err().to_string().split(':').next(), Some("line 3"));
    assert!(batch.is_empty());
    assert!(!reader.next_batch(&mut batch).unwrap());
}

#[test]
fn the_length_of_lines_is_bounded() {
    let longest = 1 << 20;
    let line = |length: usize| format!("T1|r({})|1", "x".repeat(length - "T1|r()|1".len()));
    for end in ["", "\n", "\nT1|r(x)|1\n"] {
        let text = format!("T1|r(x)|1\n{}{end}", line(longest));
        assert!(Trace::read(&mut TextReader::new(text.as_bytes())).is_ok());
        let text = format!("T1|r(x)|1\n{}{end}", line(longest + 1));
        let error = error(text.as_bytes());
        assert!(matches!(error, Error::TooLarge { place: InputPosition::Line(2), .. }), "{error}");
    }
    let many = format!("T1|ev(e{})|\n", ",1".repeat(65_536));
    assert!(error(many.as_bytes()).to_string().contains("more than 65535 arguments"));
}
