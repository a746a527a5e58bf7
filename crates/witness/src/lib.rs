//! An independent checker of witnesses, and a builder of schedules.
//!
//! **The idea.** A *witness* is a schedule, that is, an order of some recorded events. It shows a prediction if it is a
//! feasible prefix in a causality model and ends as the prediction claims. Searches are complicated and fast, so they
//! can be wrong; a checker can be simple. No prediction is reported whose witness is refused here.
//!
//! * [`check()`] decides whether a schedule is a feasible prefix in a model.
//! * [`check_race`], [`check_deadlock`], [`check_wide_deadlock`], [`check_atomicity`] and [`check_lost_wakeup`] also
//!   decide whether it shows the error that a finding claims.
//! * [`HeldBackCheck`] does so for races whose witness is the recorded order with events left out, event by event, so
//!   that no trace has to be kept.
//! * [`UnorderedCheck`] decides whether happens-before leaves pairs of accesses unordered in the recorded run.
//! * [`build()`] extends an order of the essential events to a schedule of all events, as near to the recorded run as
//!   possible.
//! * [`moved()`] marks the events of a schedule that a reader would call moved.
//!
//! **Independence.** The checker follows the sentences of `docs/causality.md` and `docs/detectors.md` one by one. It
//! uses neither `order`, `lattice`, `reach` nor `detect`, and not `sync` either, although it follows locks and
//! conditions, too: a mistake there must not be repeated here. Of this crate, the checker shares only small helpers
//! with the builder (which operations are accesses, which lock events open sections, which events drop barriers name).
//!
//! **What it guarantees.** A schedule is accepted if and only if the definitions admit it; `tests/definition.rs`
//! compares it with brute force. A refusal names the first event that breaks a rule, and the rule. The cost is almost
//! linear in the length of the trace.
//!
//! **What it does not know.** How a schedule was found, and whether there is another one.
//!
//! ```
//! use event::{Causality, Value};
//! use trace::text::TextReader;
//!
//! // Two threads, one lock.
//! let text = "A|acq(l)|1\nA|rel(l)|2\nB|acq(l)|3\nB|rel(l)|4\n";
//! let trace = trace::Trace::read(&mut TextReader::new(text.as_bytes()))?;
//! let check = |model, schedule: &[u64]| {
//!     witness::check(model, &trace.names, &trace.batch, &|_| Value::Unknown, schedule, false)
//! };
//!
//! // The sections may change their order in `maximal`, but not in `full-hb`, and they never overlap.
//! assert!(check(Causality::Maximal, &[2, 3, 0, 1]).is_ok());
//! assert!(check(Causality::FullHb, &[2, 3, 0, 1]).is_err());
//! let refusal = check(Causality::Maximal, &[0, 2]).unwrap_err();
//! assert_eq!((refusal.position, refusal.event), (1, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod build;
pub mod check;
mod drop_barriers;
mod moved;
mod ops;
mod sections;

pub use build::{NoSchedule, build};
pub use check::{
    Checked, HeldBackCheck, NotUnordered, RecordedRun, Refusal, UnorderedCheck, check, check_atomicity, check_deadlock,
    check_lost_wakeup, check_race, check_wide_deadlock,
};
pub use moved::moved;
