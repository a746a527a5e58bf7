//! Constants that the agent for Java and the observer share, beside records. (`agents/jvm/agent/src/agreement.rs`
//! compares them with the agent's classes.)

/// The value of `Process::agent` for the agent for Java.
pub const AGENT: u32 = 3;

/// Call contexts below this number are the sites of these numbers: a deferred access has room for no more. From here
/// on, contexts are sites with the calls that led there.
pub const SITES: u32 = 1 << 20;

/// In the number of a call context: the calls were not looked at then. They are those that were found there at other
/// times.
pub const GUESSED: u32 = 1 << 23;

/// Bytes of an object in the file `.objects`: its address, its class and number of parts, the site where it was made.
pub const OBJECT_BYTES: usize = 24;
