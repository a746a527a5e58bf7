//! What the agent for Java and the observer must both know beside records. (`agents/jvm/agent/src/agreement.rs` compares it with the agent's classes.)

/// The value of `Process::agent`.
pub const AGENT: u32 = 3;

/// Places below this are the sites of these numbers: what is kept of an access has room for no more. From here on, places are sites and the calls that led there.
pub const SITES: u32 = 1 << 20;

/// Bytes of an object in the file `.objects`: its address, its class and how many parts it has, the site where it was made.
pub const ENTRY: usize = 24;
