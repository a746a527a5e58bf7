//! Programs compiled on the spot, asked for their names.

mod binds;
mod build;
mod frames;
mod heap;
mod hostile;
mod modules;
mod objects;
mod oracle;
mod speed;
mod watch;
