//! Level-by-level exploration of the consistent cuts, with a monitor on every path.
