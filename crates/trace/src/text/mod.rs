//! Text traces: one event a line, `THREAD|OP|SITE`, a superset of the STD format of RAPID.
//!
//! # What the format says beyond the table of operations
//!
//! * A name is any characters but `|`, `)` and white space. Names that contain such characters, or control characters,
//!   are written with `\xNN` escapes, one for each byte; a backslash is written `\x5c` only where it would otherwise be
//!   read as an escape. `,` is escaped only in `wait`, `woken` and `ev`, where it separates; `=` only in `#! init`, and
//!   `#` only at the beginning of a line. The empty name is `\e`.
//! * In a site the escaped characters are `|` and control characters.
//! * In a string, `\"`, `\\` and `\n`, and `\xNN` for `|` and the other control characters.
//! * A value that was not recorded, where one has to stand, is `?`. A NaN other than the usual one is
//!   `NaN:` and its bits in hexadecimal.
//! * `#! incomplete TEXT` says that a part of the run is missing.
//!
//! ```
//! use trace::text::{TextReader, TextWriter};
//! use trace::Trace;
//!
//! let text = "#! init x=0\nT1|fork(T2)|3\nT2|w(x)=1|Main.java:12\n";
//! let trace = Trace::read(&mut TextReader::new(text.as_bytes()))?;
//! assert_eq!(trace.batch.events.len(), 2);
//! let mut writer = TextWriter::new(Vec::new());
//! writer.write_batch(&trace.names, &trace.batch)?;
//! assert_eq!(writer.finish(&trace.losses)?, text.as_bytes());
//! # Ok::<(), trace::Error>(())
//! ```

mod driver;
mod escape;
mod grammar;
mod line;
mod line_numbers;
mod lines;
mod op;
mod quick;
mod roadrunner;
mod short;
mod table;
mod value;
mod writer;

pub use driver::LineReader;
pub use grammar::Std;
pub use roadrunner::{RoadRunner, looks_like_roadrunner};
pub use writer::{TextWriter, event_text, value_text};

/// Reads text traces.
pub type TextReader<R> = LineReader<R, Std>;

/// Reads what RoadRunner prints: see [`RoadRunner`].
pub type RoadRunnerReader<R> = LineReader<R, RoadRunner>;
