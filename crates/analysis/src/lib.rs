//! The engine as a library: a [`Plan`], events in batches, findings as soon as they are known, the rest at the end.
//!
//! A trace is validated, run through the detectors of the plan and the monitors of its specifications, and other runs
//! are predicted from it. Every prediction in the [`Outcome`] carries a witness that an independent checker accepted.
//! The library does not print, opens no file but what a specification names as its logic, and knows nothing of a
//! command line: progress, cancellation and budgets come in through [`Control`] and [`Plan`].
//!
//! ```
//! use analysis::{Analysis, Control, Plan, detectors};
//! use event::Batch;
//! use trace::{Source, text::TextReader};
//!
//! let text = "T1|fork(T2)|1\nT1|w(x)|2\nT2|w(x)|3\n";
//! let mut source = TextReader::new(text.as_bytes());
//! let mut analysis = Analysis::new(Plan::new().detectors(detectors::default()).live())?;
//! let mut batch = Batch::default();
//! while source.next_batch(&mut batch)? {
//!     analysis.feed(&source, &batch);
//!     analysis.drain(&source).iter().for_each(|finding| assert_eq!(finding.objects, ["x"]));
//! }
//! let outcome = analysis.finish(&source, analysis::End::default(), &Control::none())?;
//! assert_eq!(outcome.report.findings.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod again;
mod analysis;
mod budget;
mod claim;
mod context;
mod control;
pub mod detectors;
mod ending;
mod error;
mod held;
mod message;
mod object_names;
mod origins;
mod passes;
mod plan;
mod properties;
mod recorded;
mod resolve;
mod retained;
mod schedule_view;
mod tasks;
mod thread_names;

pub use crate::analysis::{Analysis, End, Outcome, losses};
pub use control::{Control, EachBatch, Progress, Reread};
pub use detectors::DetectorId;
pub use detectors::lock_order::unsearched as unsearched_lock_cycles;
pub use error::Error;
pub use message::Message;
pub use plan::Plan;
pub use properties::formula;
pub use schedule_view::step;
