//! The text of `.rvs` files: tokens, syntax trees, the parser, and diagnostics that point into the text.

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
pub use print::{print_ere, print_expr, print_file};
pub(crate) use print::{quote, sort_text};
pub use source::{MAX_SOURCE, Sources, Span};
