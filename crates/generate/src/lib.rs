//! Large well-formed traces for benchmarks and tests, the same for ever from the same seed.
//!
//! A [`Generator`] is a [`trace::Source`]: it can be analysed, or written to a file, without a trace on disk. It
//! plays a program of `threads` threads under a random scheduler. Each thread alternates between stretches without a
//! lock (accesses of its own variables, of variables that are no longer written, now and then of racy ones) and
//! critical sections, in which alone the variables of that lock are touched. [`Options`] adds values, atomic blocks,
//! reader locks, condition waits, threads that come and go, and every other operation a trace can hold.
//!
//! What comes out is a run that could have happened: locks exclude each other, a thread runs between its fork and
//! its join, reads see what was written last, and so on for every operation. It ends with everything given back.
//!
//! ```
//! use generate::{Generator, Options};
//!
//! let options = Options { events: 500, threads: 3, seed: 7, ..Options::default() };
//! let trace = trace::Trace::read(&mut Generator::new(options)?)?;
//! assert_eq!(trace.batch.events.len(), 500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod close;
mod conds;
mod idle;
mod ids;
mod layout;
mod locks;
mod machine;
mod options;
mod output;
mod rng;
mod section;
mod source;
mod sprinkle;
mod thread;
mod wait;
mod watch;

pub use options::{Options, OptionsError};
pub use source::Generator;
