//! An order of recorded events, as witnesses have it: mostly a long beginning as recorded, then a short rest.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// Indexes of events in some order. Those of a beginning as recorded (0, 1, 2, …) are only counted, so that the
/// witness of a race at event 10 million takes no more room than what it changes.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct EventOrder {
    as_recorded: u64,
    rest: Vec<u64>,
}

impl EventOrder {
    /// The first `as_recorded` events as recorded, then these.
    pub fn new(as_recorded: u64, rest: Vec<u64>) -> EventOrder {
        let more = (as_recorded..).zip(&rest).take_while(|(index, event)| index == *event).count();
        let rest = if more == 0 { rest } else { rest[more..].to_vec() };
        EventOrder { as_recorded: as_recorded + more as u64, rest }
    }

    /// How many events it has.
    pub fn len(&self) -> u64 {
        self.as_recorded + self.rest.len() as u64
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// So many events at its beginning are as recorded.
    pub fn as_recorded(&self) -> u64 {
        self.as_recorded
    }

    /// The events behind these.
    pub fn rest(&self) -> &[u64] {
        &self.rest
    }

    /// The event at a place.
    pub fn get(&self, at: u64) -> Option<u64> {
        match at.checked_sub(self.as_recorded) {
            None => Some(at),
            Some(at) => self.rest.get(usize::try_from(at).ok()?).copied(),
        }
    }

    /// All events in their order.
    pub fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.as_recorded).chain(self.rest.iter().copied())
    }
}

impl From<Vec<u64>> for EventOrder {
    fn from(events: Vec<u64>) -> EventOrder {
        EventOrder::new(0, events)
    }
}

/// As lists of events compare.
impl Ord for EventOrder {
    fn cmp(&self, other: &EventOrder) -> std::cmp::Ordering {
        // What is as recorded in both is the same.
        let same = self.as_recorded.min(other.as_recorded);
        let behind = |order: &EventOrder| (same..order.len()).map_while(|at| order.get(at)).collect::<Vec<u64>>();
        match self.as_recorded == other.as_recorded {
            true => self.rest.cmp(&other.rest),
            false => behind(self).cmp(&behind(other)),
        }
    }
}

impl PartialOrd for EventOrder {
    fn partial_cmp(&self, other: &EventOrder) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for EventOrder {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for EventOrder {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<EventOrder, D::Error> {
        struct Events;
        impl<'de> Visitor<'de> for Events {
            type Value = EventOrder;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of event indexes")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut events: A) -> Result<EventOrder, A::Error> {
                let mut order = EventOrder::default();
                while let Some(event) = events.next_element::<u64>()? {
                    if order.rest.is_empty() && event == order.as_recorded {
                        order.as_recorded += 1;
                    } else {
                        order.rest.push(event);
                    }
                }
                Ok(order)
            }
        }
        deserializer.deserialize_seq(Events)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_list_of_its_events() {
        for list in [vec![], vec![0, 1, 2], vec![3, 0], vec![0, 1, 5, 2], vec![1], vec![0, 2], vec![0]] {
            let order = EventOrder::from(list.clone());
            assert_eq!((order.iter().collect::<Vec<_>>(), order.len()), (list.clone(), list.len() as u64));
            assert_eq!((0..9).map_while(|at| order.get(at)).collect::<Vec<_>>(), list);
            let text = serde_json::to_string(&order).unwrap();
            assert_eq!(text, serde_json::to_string(&list).unwrap());
            assert_eq!(serde_json::from_str::<EventOrder>(&text).unwrap(), order);
            for other in [vec![], vec![0, 1, 2, 3], vec![0, 1, 5], vec![0, 3], vec![2]] {
                assert_eq!(order.cmp(&other.clone().into()), list.cmp(&other));
            }
        }
        assert_eq!(EventOrder::new(2, vec![2, 3, 7]), EventOrder::from(vec![0, 1, 2, 3, 7]));
    }
}
