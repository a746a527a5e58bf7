//! `observed`: the recorded order and no other.

use crate::frame::{Element, Frame, Lane, Need};
use crate::rules::{Act, Guard};
use event::{Batch, ThreadId};
use rustc_hash::FxHashMap;

/// The events that matter, each after the one before it.
pub fn observed(trace: &Batch, is_element: impl Fn(u64) -> bool) -> Frame {
    let mut frame = Frame::default();
    let mut lanes: FxHashMap<ThreadId, u32> = FxHashMap::default();
    let mut last: Option<Need> = None;
    for (index, event) in (trace.first..).zip(&trace.events) {
        if !is_element(index) {
            continue;
        }
        let lane = *lanes.entry(event.thread()).or_insert_with(|| {
            frame.lanes.push(Lane { thread: event.thread(), elements: Vec::new() });
            frame.lanes.len() as u32 - 1
        });
        let from = frame.needs.len() as u32;
        frame.needs.extend(last.filter(|need| need.lane != lane));
        let needs = (from, frame.needs.len() as u32);
        let elements = &mut frame.lanes[lane as usize].elements;
        elements.push(Element { event: index, needs, guard: Guard::None, act: Act::None });
        last = Some(Need { lane, count: elements.len() as u32 });
    }
    frame
}
