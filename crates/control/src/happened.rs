//! What became of the gates in a run.

use runtime::gates::{Event, Gates as Layout, Stand as StandLayout};
use std::mem::offset_of;

/// What became of the gates in a run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Happened {
    /// If the threads met: who stood at each event.
    pub met: Option<Vec<Stand>>,
    /// How often threads came to each event.
    pub arrivals: Vec<u32>,
}

/// A thread that stood before an event when all had come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stand {
    /// The operating system's number of the thread.
    pub thread: u32,
    /// The address of what it was about to access or to lock.
    pub object: u64,
    /// How many bytes it was about to access.
    pub size: u64,
    /// Up to eight of these bytes as they were.
    pub value: u64,
}

impl Happened {
    /// Reads the file of so many events back, which the watched program may have damaged.
    pub fn read(bytes: &[u8], events: usize) -> Happened {
        let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let long = |at: usize| Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        let stand = |event: usize| {
            let at = offset_of!(Layout, stands) + event * size_of::<StandLayout>();
            Some(Stand {
                thread: word(at + offset_of!(StandLayout, thread)).filter(|&thread| thread != 0)?,
                object: long(at + offset_of!(StandLayout, object))?,
                size: long(at + offset_of!(StandLayout, size))?,
                value: long(at + offset_of!(StandLayout, value))?,
            })
        };
        let arrived = |event: usize| {
            word(offset_of!(Layout, event) + event * size_of::<Event>() + offset_of!(Event, arrivals)).unwrap_or(0)
        };
        let met = word(offset_of!(Layout, met)) == Some(1);
        Happened {
            met: met.then(|| (0..events).map(stand).collect::<Option<Vec<_>>>()).flatten(),
            arrivals: (0..events).map(arrived).collect(),
        }
    }
}
