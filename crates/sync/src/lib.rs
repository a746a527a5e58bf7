//! Lock and condition operations of a recorded run, turned into what they mean.
//!
//! State machines follow the recorded order, as `docs/causality.md` defines it ("Sections", "Which notify woke whom"):
//!
//! * [`Sections`] says of each event which sections of its lock it opens and closes. Only the outermost of re-entrant
//!   acquires has an effect; a `wait` gives its lock up, and its `woken` takes it back. [`HeldLocks`] also lists what
//!   each thread holds, in the order in which it was taken.
//! * [`Wakeups`] pairs each `woken` with the notify that ended its wait.
//!
//! They take constant time for an event (a condition with many waiting threads: logarithmic), allocate nothing once
//! they have grown to the size of the program, and accept traces with problems. What a trace with problems means:
//!
//! * A `rel` without its `acq` closes a section that was open from the beginning; a `wait` without the lock closes
//!   nothing.
//! * A `woken` belongs to the last `wait` of its thread, if condition and lock are those of the wait and no other
//!   `woken` came between. Without its wait, or if that gave nothing up, it takes the lock like an `acq`, and is not
//!   paired.
//! * What other threads hold plays no part: two threads can hold one lock exclusively.
//!
//! Users: `detect` (all detectors that look at locks or conditions), `order` (sections of the causality models),
//! `reach` (sections and wake-ups of windows), and the command (which locks a thread holds at an event of a report).
//! The validator (`trace`), the checker (`witness`) and the oracle (`oracle`) have their own on purpose: they must not
//! repeat a mistake that is made here.
//!
//! ```
//! use sync::{Change, Sections};
//! use trace::{Trace, text::TextReader};
//!
//! let trace = Trace::read(&mut TextReader::new("A|acq(l)|1\nA|acq(l)|2\nA|rel(l)|3\nA|rel(l)|4\n".as_bytes()))?;
//! let mut sections = Sections::new();
//! let mut outermost = Vec::new();
//! for &event in &trace.batch.events {
//!     match sections.step(&trace.batch, event, |_| event.site()).map(|effect| effect.exclusive) {
//!         Some(Change::Opens(_)) => outermost.push("acquire"),
//!         Some(Change::Closes(site)) => outermost.push(trace.names.site(site)),
//!         _ => {}
//!     }
//! }
//! assert_eq!(outermost, ["acquire", "1"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod effect;
mod held;
mod sections;
mod wakeups;

pub use effect::{Change, Effect, LockMode, lock_of};
pub use held::{HeldLocks, Hold};
pub use sections::{Sections, Waiting};
pub use wakeups::{Fate, Pair, Wakeup, Wakeups, wakeups};
