//! Error patterns in a recorded run, one file each.
