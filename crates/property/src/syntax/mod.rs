//! The text of `.rvs` files: tokens, syntax trees, the parser, and diagnostics that point into the text.
//!
//! Rules that the grammar leaves open:
//!
//! * Words that begin a declaration and the words of formulas cannot be names; every other word of the grammar can
//!   (`c`, `at`, `never`, …). `start` and `end` are operators before `(`, and `weak` before `[`; else they are names.
//! * `S` and `U` are operators where an infix operator can stand. `Y`, `Z`, `G`, `F`, `X` and `o` are prefix operators
//!   before an operand, unless the file declares a name so: then they are that name throughout the file.
//! * A path (`Demo.x`, `file.c:landing`, `k::m::N`, `A#m`, `A.<init>`) is read as one only where a place, a class or
//!   (on the command line) a name is expected, and has no blanks inside; elsewhere `i:thread` and `j != i.F` need
//!   none.
//! * In expressions a call touches its parenthesis: `p(x)` is an event with an argument, `p (q)` is p and then q.
//! * `&&` and `||` lists may be as long as they like; everything else nests at most [`MAX_DEPTH`] levels.
//! * On the command line a name in backquotes is any name of the trace.

pub mod ast;
mod diagnostic;
mod lexer;
mod load;
mod parser;
mod print;
mod source;
mod token;

pub use diagnostic::{Diagnostic, Diagnostics, MAX_SHOWN, Severity, render};
pub use load::{Disk, Loader, load};
pub use parser::{MAX_DEPTH, is_name, parse_constant, parse_file, parse_formula};
pub(crate) use print::quote;
pub use print::sort_text;
pub use print::{print_ere, print_expr, print_file};
pub use source::{MAX_SOURCE, Sources, Span};
