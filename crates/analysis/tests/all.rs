//! All tests of the crate in one program: each has the whole search in it, which takes longer to compile than to run.

mod ends;
mod generated;
mod interrupted;
mod live;
mod reread;
