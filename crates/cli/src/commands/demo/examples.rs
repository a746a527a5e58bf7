//! The built-in examples.

use event::Causality;

/// What an example is explained by.
pub(super) enum By {
    /// By counting the runs that violate a property.
    Property { name: &'static str, causality: Causality, spec: &'static str },
    /// By what these detectors find.
    Detectors(&'static [&'static str]),
}

/// One built-in example.
pub(super) struct Example {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// What the program does, and what must hold.
    pub(super) story: &'static str,
    /// What the recorded run was like.
    pub(super) recorded: &'static str,
    /// What the violating runs have in common.
    pub(super) moral: &'static str,
    pub(super) trace: &'static str,
    pub(super) by: By,
}

pub(super) const EXAMPLES: &[Example] = &[
    Example {
        name: "landing",
        about: "a landing controller whose radio fails just after the landing began",
        story: "\
One thread of a landing controller asks for approval and then starts to land; another watches the radio.
The rule: landing may only begin with an approval that was given while the radio was up, and the radio still is.",
        recorded: "In the recorded run all went well. The radio failed only after the landing had begun:",
        moral: "\
Nothing keeps the radio from failing a moment earlier: before the landing begins, or even before the approval is
noted. The plane would land without a radio. No such run was seen; these follow from the one that was.",
        trace: include_str!("../../../../../corpus/traces/landing/trace.std"),
        by: By::Property {
            name: "safe_landing",
            causality: Causality::FullHb,
            spec: include_str!("../../../../../corpus/traces/landing/spec.rvs"),
        },
    },
    Example {
        name: "interval",
        about: "two threads that count on each other's x, y and z",
        story: "\
One thread runs x++; y = x + 1, another z = x + 1; x++.
The rule: whenever x is positive, y was 0 before, and has not exceeded z since.",
        recorded: "In the recorded run y was written last, when z had its value already:",
        moral: "\
If the first thread writes y before the second writes z, y exceeds z for a moment, and x becomes positive after that.",
        trace: include_str!("../../../../../corpus/traces/interval/trace.std"),
        by: By::Property {
            name: "p2",
            causality: Causality::FullHb,
            spec: include_str!("../../../../../corpus/traces/interval/spec.rvs"),
        },
    },
    Example {
        name: "permit",
        about: "a permit to land that is withdrawn between the test and the landing",
        story: "\
One thread of a plane takes the permit to land, tests it, and lands; another withdraws the permit.
The rule: when the landing begins, there was a permit at the step before.",
        recorded: "In the recorded run the permit was withdrawn before it was given:",
        moral: "\
Happens-before keeps the order of the two writes of the permit, and finds nothing. Weak happens-before knows that nobody
read the first: it may as well come later, after the test.",
        trace: include_str!("../../../../../corpus/traces/permit/trace.std"),
        by: By::Property {
            name: "permitted",
            causality: Causality::WeakHb,
            spec: include_str!("../../../../../corpus/traces/permit/spec.rvs"),
        },
    },
    Example {
        name: "automaton",
        about: "x must have been negative before it becomes positive",
        story: "\
One thread runs x = -1; z = x + 3, another x = 1; y = x + z.
The rule: x becomes positive only if it became negative before. The specification says so three times: as a machine,
as a formula, and as a pattern.",
        recorded: "In the recorded run it did:",
        moral: "If the second thread writes and reads its x first, x is positive before it was ever negative.",
        trace: include_str!("../../../../../corpus/traces/automaton/trace.std"),
        by: By::Property {
            name: "by_formula",
            causality: Causality::WeakHb,
            spec: include_str!("../../../../../corpus/traces/automaton/spec.rvs"),
        },
    },
    Example {
        name: "rax",
        about: "the remote agent of a spacecraft, which missed a signal: as a property",
        story: "\
The planner of a spacecraft's remote agent tests an event's counter, and waits for the event if nothing was counted. The
executive counts, and notifies. The test does not hold the lock.
The rule: when a thread begins to wait, nobody has counted since it looked.",
        recorded: "In the recorded run the wait began before the executive came:",
        moral: "\
If the executive comes between the test and the wait, its signal is lost, and the planner waits for ever.",
        trace: include_str!("../../../../../corpus/traces/rax/trace.std"),
        by: By::Property {
            name: "no_lost_signal",
            causality: Causality::WeakHb,
            spec: include_str!("../../../../../corpus/traces/rax/spec.rvs"),
        },
    },
    Example {
        name: "hidden",
        about: "a race that the recorded run hides behind a lock",
        story: "Two threads write z without a lock; both also write x, under lock l.",
        recorded: "\
In the recorded run the lock passed from one to the other between the two writes of z, and so ordered them:",
        moral: "\
Had the second thread taken the lock first, nothing would stand between the two writes. A detector that only looks at
the recorded order of locks (hb) finds nothing here.",
        trace: include_str!("../../../../../corpus/traces/hidden/trace.std"),
        by: By::Detectors(&["hb", "sync-preserving"]),
    },
    Example {
        name: "philosophers",
        about: "five philosophers who could all starve",
        story: "Each philosopher takes the fork at its left, then the one at its right, eats, and puts both back.",
        recorded: "In the recorded run they dined one after the other:",
        moral: "If each takes its left fork before anybody takes a right one, all of them wait for ever.",
        trace: include_str!("../../../../../corpus/traces/philosophers/trace.std"),
        by: By::Detectors(&["deadlock", "lock-order"]),
    },
    Example {
        name: "bank",
        about: "a sum over two accounts, taken in the middle of a transfer",
        story: "\
One thread of a bank adds up two balances, another transfers an amount from one to the other. Both are marked as atomic
blocks; neither takes a lock.",
        recorded: "\
In the recorded run the sum was right: as if the sum had been taken first, and then the transfer made:",
        moral: "\
If the other thread comes in between, the sum sees one account before the transfer and the other after it: no order of
the two blocks, one after the other, gives that.",
        trace: include_str!("../../../../../corpus/traces/bank-serial/trace.std"),
        by: By::Detectors(&["atomicity"]),
    },
    Example {
        name: "lost-wakeup",
        about: "the remote agent again: the signal that came before the wait",
        story: "\
The planner of a spacecraft's remote agent tests an event's counter, and waits for the event if nothing was counted. The
executive counts, and notifies. The test does not hold the lock.",
        recorded: "In the recorded run the wait began before the executive came:",
        moral: "\
If the executive comes between the test and the wait, its signal is lost, and the planner waits for ever.",
        trace: include_str!("../../../../../corpus/traces/rax/trace.std"),
        by: By::Detectors(&["lost-wakeup"]),
    },
];
