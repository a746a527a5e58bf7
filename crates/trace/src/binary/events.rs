//! The events frame: one column per part of an event.
//!
//! | column | holds |
//! | --- | --- |
//! | runs | (thread, length) of each run of events of one thread |
//! | operations | one byte an event |
//! | codes | one byte an event: how its object and site were predicted ([`code`](super::event_predictor::code)) |
//! | object planes | for unpredicted objects: as many bytes as the largest needs, plane by plane, lowest bytes first |
//! | site planes | for unpredicted sites, likewise |
//! | extras | [`extras`](super::extras), for the events that have one |

use event::{Names, Op, Space};

/// Operations whose meaning lies partly in their extra.
pub(super) fn needs_extra(op: Op) -> bool {
    op.has_lock_argument() || op.has_number()
}

/// What ids must stay below.
pub(super) struct Limits {
    pub(super) threads: usize,
    pub(super) sites: u32,
    /// By operation's code; nothing is below that of a code without an operation.
    pub(super) objects: [u32; 256],
    /// By operation's code, for events without an extra.
    pub(super) bare_objects: [u32; 256],
}

impl Limits {
    pub(super) fn new(names: &Names) -> Self {
        let below = |count| u32::try_from(count).unwrap_or(u32::MAX);
        let (mut objects, mut bare_objects) = ([0; 256], [0; 256]);
        for &op in Op::ALL {
            // An operation without an object has object 0.
            let count = op.space().map_or(1, |space| names.space(space).len());
            objects[op as usize] = below(count);
            bare_objects[op as usize] = if needs_extra(op) { 0 } else { below(count) };
        }
        let (threads, sites) = (names.space(Space::Thread).len(), below(names.space(Space::Site).len()));
        Limits { threads, sites, objects, bare_objects }
    }
}
