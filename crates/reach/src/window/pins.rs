//! Pins count the events of a thread from the beginning of the trace, and may stand anywhere in it: a window has those
//! that speak of its window, with numbers of its own.

use super::Window;
use super::ahead::Ahead;
use event::{Batch, Event, Extra, ThreadId, Value};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Adds pins from elsewhere that speak of the window, and the window itself, behind what is kept of the past.
pub(super) fn add(whole: &Batch, ahead: &Ahead, made: &mut Window, range: &Range<usize>) {
    let speaks = |target: u32| range.contains(&(target as usize));
    let from = ahead.pins.partition_point(|pin| (pin.target as usize) < range.start);
    let elsewhere: Vec<_> = ahead.pins[from..]
        .iter()
        .take_while(|pin| speaks(pin.target))
        .filter(|pin| !speaks(pin.pin))
        .map(|pin| (made.batch.events.len(), *pin))
        .collect();
    // Their numbers are known when it is known how many events each thread has before its part of the window.
    let mut waiting: Vec<(usize, u32)> = Vec::with_capacity(elsewhere.len());
    for (_, pin) in elsewhere {
        waiting.push((made.batch.events.len(), pin.target));
        made.push(whole, pin.pin, whole.events[pin.pin as usize]);
    }
    made.fixed = made.batch.events.len();
    for at in range.clone() {
        let event = whole.events[at];
        if event.op().is_drop_barrier() {
            let target = ahead.targets.get(&(at as u32)).copied().filter(|&target| speaks(target));
            waiting.push((made.batch.events.len(), target.unwrap_or(u32::MAX)));
        }
        made.push(whole, at as u32, event);
    }
    if waiting.is_empty() {
        return;
    }
    let mut counts: FxHashMap<ThreadId, i64> = FxHashMap::default();
    let numbers: Vec<i64> = made
        .batch
        .events
        .iter()
        .map(|event| {
            let count = counts.entry(event.thread()).or_default();
            *count += 1;
            *count - 1
        })
        .collect();
    for (offset, target) in waiting {
        let number = match target {
            // It speaks of an event outside: that one has come, or does not matter.
            u32::MAX => Value::Unknown,
            target => Value::Int(numbers[made.fixed + target as usize - range.start]),
        };
        let event = made.batch.events[offset];
        let extra = made.batch.add_extra(Extra { value: number, ..*made.batch.extra(event) });
        made.batch.events[offset] = Event::with_extra(event.thread(), event.op(), event.object(), event.site(), extra);
    }
}
