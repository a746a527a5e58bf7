//! Programs that do not keep to the line protocol: an error, and never a verdict.

use crate::{folder, impatient, known, message, monitor, start, verdicts};
use property::logic::LogicError;
use property::monitor::Verdict::{Pending, Unknown};
use property::monitor::{Letter, Monitor};
use std::time::{Duration, Instant};

/// A logic that is always pending, but for what it does at step 2 (state `s2` and the atom `p`).
fn program(test: &str, at_step: &str) -> std::path::PathBuf {
    let folder = folder(test);
    let text = format!(
        r#"tab=$(printf '\t')
while IFS= read -r line; do
    case $line in
    "step${{tab}}s2${{tab}}p") {at_step} ;;
    init) printf 'state\ts0\n' ;;
    step*) s=${{line#step?s}}; printf 'state\ts%s\n' $((${{s%%"$tab"*}} + 1)) ;;
    verdict* | end*) printf 'verdict\tpending\n' ;;
    *) echo ok ;;
    esac
done
"#
    );
    std::fs::write(folder.join("logic.sh"), text).expect("the program is written");
    folder
}

/// Runs into step 2, and gives the error. From there on nothing is known, and the logic is not asked.
fn fails(test: &str, at_step: &str) -> LogicError {
    let folder = program(test, at_step);
    let logic = impatient(Duration::from_secs(2), "process:sh logic.sh", "f", &["p"], &folder).expect("starts");
    let (monitor, asked) = monitor(logic, &["p"], 0);
    let found = verdicts(&monitor, &known(&[0, 0, 1, 0, 1]));
    assert_eq!(found[..2], [(Pending, Pending); 2]);
    assert_eq!(found[2..], [(Unknown, Unknown); 3]);
    let (error, questions) = (asked.error().expect("an error"), asked.questions());
    // Another path, which the program would still have known.
    assert_eq!(verdicts(&monitor, &known(&[1, 1, 1, 1])).last(), Some(&(Unknown, Unknown)));
    assert_eq!((asked.error(), asked.questions()), (Some(error.clone()), questions));
    error
}

#[test]
fn the_program_itself_works() {
    let folder = program("works", r"printf 'state\ts7\n'");
    let logic = start("process:sh logic.sh", "f", &["p"], &folder).expect("starts");
    let (monitor, asked) = monitor(logic, &["p"], 0);
    assert_eq!(verdicts(&monitor, &known(&[0, 0, 1, 0])), [(Pending, Pending); 4]);
    assert_eq!(asked.error(), None);
}

#[test]
fn missing() {
    let folder = folder("missing");
    for name in ["process:no-such-program-anywhere", "process:./no-such-file --flag"] {
        let error = start(name, "f", &[], &folder).err();
        assert!(matches!(error, Some(LogicError::Start { .. })), "{error:?}");
    }
    for name in ["process:", "process: ", "maude:", "maude:file", "maude::M", "maude:f:", "other"] {
        assert!(message(start(name, "f", &[], &folder)).contains("is not a logic"), "{name}");
    }
}

#[test]
fn dies_at_start() {
    let folder = folder("dies at start");
    std::fs::write(folder.join("logic.sh"), "echo why not >&2; exit 3\n").expect("written");
    let error = message(start("process:sh logic.sh", "f", &["p"], &folder));
    assert!(error.contains("ended: why not"), "{error}");
}

#[test]
fn dies_in_the_middle() {
    let error = fails("dies", "echo no more >&2; exit 1").to_string();
    assert!(error.contains("ended: no more"), "{error}");
}

#[test]
fn dies_within_an_answer() {
    let error = fails("dies within", r"printf 'state\ts3'; exit");
    assert!(matches!(error, LogicError::Died { .. }), "{error}");
}

#[test]
fn hangs() {
    let begun = Instant::now();
    let error = fails("hangs", "exec sleep 60");
    assert!(matches!(error, LogicError::Hangs { .. }), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn answers_too_late() {
    let error = fails("late", r"sleep 3; printf 'state\ts3\n'");
    assert!(matches!(error, LogicError::Hangs { .. }), "{error}");
}

#[test]
fn closes_its_output_but_lives_on() {
    let error = fails("closes", "exec sleep 60 >/dev/null");
    assert!(matches!(error, LogicError::Died { .. }), "{error}");
}

#[test]
fn talks_nonsense() {
    let nonsense = [
        "echo perhaps",
        "echo",
        "echo ok",
        "echo state",
        r"printf 'state\ta\tb\n'",
        r"printf 'verdict\tviolated\n'",
        r"printf 'error\tit is not defined\n'",
        r"printf 'state\t\377\376\n'",
        "head -c 100000 /dev/urandom | tr '\\n' '\\377'; echo",
        r"printf 'state\t'; while :; do printf aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
        "tr '\\0' a </dev/zero",
    ];
    for (k, answer) in nonsense.iter().enumerate() {
        let error = fails(&format!("nonsense {k}"), answer);
        let endless = k == 9;
        assert!(matches!(error, LogicError::Nonsense { .. }) || endless, "{answer}: {error}");
    }
}

#[test]
fn talks_on_and_on() {
    // The second answer would be taken for that of the next question.
    let error = fails_later("twice", r"printf 'state\ts3\nstate\ts4\n'");
    assert!(error.contains("before it was asked"), "{error}");
    let error = fails_later("endless", "while :; do printf 'state\\ts3\\n'; done");
    assert!(error.contains("before it was asked"), "{error}");
}

/// The answer at step 2 is one; the error shows after it.
fn fails_later(test: &str, at_step: &str) -> String {
    let folder = program(test, at_step);
    let mut logic = start("process:sh logic.sh", "f", &["p"], &folder).expect("starts");
    assert_eq!(logic.step("s2", &["p"]).as_deref(), Ok("s3"));
    std::thread::sleep(Duration::from_millis(300));
    let error = message(logic.verdict("s3"));
    assert_eq!(message(logic.verdict("s0")), error);
    error
}

#[test]
fn does_not_listen() {
    let folder = folder("deaf");
    // The question is longer than what a pipe holds: to send it takes as long as to wait for the answer.
    std::fs::write(folder.join("logic.sh"), "exec sleep 60\n").expect("written");
    let begun = Instant::now();
    let formula = "f".repeat(1 << 20);
    let error = impatient(Duration::from_secs(1), "process:sh logic.sh", &formula, &["p"], &folder).err();
    assert!(matches!(error, Some(LogicError::Hangs { .. })), "{error:?}");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_verdict_for_the_end_only() {
    let folder = folder("end only");
    let text = "while read -r what; do case $what in init | step*) printf 'state\\ts\\n' ;; verdict*) printf \
                'verdict\\tfulfilled\\n' ;; *) echo ok ;; esac; done\n";
    std::fs::write(folder.join("logic.sh"), text).expect("written");
    let (monitor, asked) = monitor(start("process:sh logic.sh", "f", &["p"], &folder).expect("starts"), &["p"], 0);
    let q = monitor.init(Letter::known(0));
    assert_eq!((monitor.verdict(q), monitor.at_end(q, Letter::known(0))), (Unknown, Unknown));
    assert!(asked.error().is_some_and(|error| error.to_string().contains("fulfilled")));
}

#[test]
fn a_state_is_kept_as_it_was_said() {
    let folder = folder("white space");
    let text = "while IFS= read -r line; do case $line in init) printf 'state\\t x  \\n' ;; *'\t x  \t'*) printf \
                'state\\t\\n' ;; *'\t\t'*) printf 'state\\tz\\n' ;; *) echo ok ;; esac; done\n";
    std::fs::write(folder.join("logic.sh"), text).expect("written");
    let mut logic = start("process:sh logic.sh", "f", &["p"], &folder).expect("starts");
    assert_eq!(logic.init().as_deref(), Ok(" x  "));
    assert_eq!(logic.step(" x  ", &[]).as_deref(), Ok(""));
    assert_eq!(logic.step("", &[]).as_deref(), Ok("z"));
}
