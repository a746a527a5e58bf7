//! The records as an observer sees them: merged by time, with deferred ones put where they happened.

use runtime::record::{CONTEXT_BITS, Kind, Ordered, bulk_words, head};
use std::collections::VecDeque;

/// A timed record.
#[allow(dead_code)]
#[derive(Clone, Debug)]
pub(crate) struct OnTime {
    pub(crate) slot: usize,
    pub(crate) kind: Kind,
    pub(crate) aux: u8,
    pub(crate) payload: u64,
    pub(crate) context: u32,
    /// The third word.
    pub(crate) word: u64,
    /// Its number among those of its slot, from 1.
    pub(crate) sync_index: u64,
    time: u64,
}

/// A deferred access or a drop barrier.
#[allow(dead_code)]
#[derive(Clone, Debug)]
pub(crate) struct Deferred {
    pub(crate) slot: usize,
    pub(crate) is_barrier: bool,
    pub(crate) write: bool,
    pub(crate) mask: u8,
    pub(crate) word: u64,
    pub(crate) context: u32,
    pub(crate) sync_index: u64,
    pub(crate) seq: u32,
}

/// What stands in the trace.
#[derive(Clone, Debug)]
pub(crate) enum Stands {
    OnTime(OnTime),
    Deferred(Deferred),
}

/// The records of all slots, in order.
pub(crate) fn decode(slots: &[&[u64]]) -> Vec<Stands> {
    let mut on_time: Vec<VecDeque<OnTime>> = vec![VecDeque::new(); slots.len()];
    let mut deferred: Vec<Vec<Deferred>> = vec![Vec::new(); slots.len()];
    for (slot, &words) in slots.iter().enumerate() {
        let mut at = 0;
        while at < words.len() {
            let kind = Kind::from_code(words[at] as u8).expect("a kind");
            let record = &words[at..at + kind.words()];
            at += kind.words();
            let (aux, payload) = ((record[0] >> 8) as u8, record[0] >> 16);
            let context = |word: u64| word as u32 & ((1 << CONTEXT_BITS) - 1);
            match kind {
                Kind::Deferred | Kind::DropBarrier | Kind::DeferredBulk | Kind::DropBarrierBulk => {
                    let of = record[2] as u32 as usize;
                    let is_one = matches!(kind, Kind::Deferred | Kind::DropBarrier);
                    let words = if is_one { vec![payload] } else { addresses(record[0]) };
                    deferred[of].extend(words.into_iter().zip(0..).map(|(word, further)| Deferred {
                        slot: of,
                        is_barrier: matches!(kind, Kind::DropBarrier | Kind::DropBarrierBulk),
                        write: record[2] >> 32 & 1 == 1,
                        mask: if is_one { aux } else { 0xff },
                        word,
                        context: context(record[1]),
                        sync_index: record[1] >> CONTEXT_BITS,
                        seq: (record[2] >> 34) as u32 + further,
                    }));
                }
                _ => {
                    assert_eq!(kind.order(), Ordered::Timed, "{kind:?}");
                    let time = record[1] >> CONTEXT_BITS;
                    let word = record.get(2).copied().unwrap_or(0);
                    let context = context(record[1]);
                    let sync_index = on_time[slot].len() as u64 + 1;
                    on_time[slot].push_back(OnTime { slot, kind, aux, payload, context, word, sync_index, time });
                }
            }
        }
        let times: Vec<u64> = on_time[slot].iter().map(|record| record.time).collect();
        assert!(times.is_sorted(), "{times:?}");
    }
    for deferred in &mut deferred {
        // What was deferred at one point was written in its order.
        deferred.sort_by_key(|deferred| (deferred.sync_index, deferred.seq));
        deferred.reverse();
    }
    merge(on_time, deferred)
}

fn addresses(head: u64) -> Vec<u64> {
    bulk_words(head).map(|word| word << 3).collect()
}

/// The accesses of a record; one that is none stays as it is.
fn each(record: OnTime) -> impl Iterator<Item = OnTime> {
    let kind = match record.kind {
        Kind::ConflictReadBulk => Kind::ConflictRead,
        Kind::ConflictWriteBulk => Kind::ConflictWrite,
        _ => return Vec::from([record]).into_iter(),
    };
    assert!(record.aux == 0xff || record.aux != 0 && record.payload.is_multiple_of(64), "{record:?}");
    let words = addresses(head(record.kind, record.aux, record.payload)).into_iter();
    let each = words.map(|payload| OnTime { kind, aux: 0xff, payload, ..record.clone() });
    each.collect::<Vec<OnTime>>().into_iter()
}

fn merge(mut on_time: Vec<VecDeque<OnTime>>, mut deferred: Vec<Vec<Deferred>>) -> Vec<Stands> {
    let mut all = Vec::new();
    let mut seen = vec![0; on_time.len()];
    while let Some(slot) = (0..on_time.len()).filter(|&s| !on_time[s].is_empty()).min_by_key(|&s| on_time[s][0].time) {
        let mut due = |slot: usize, seen: &[u64], all: &mut Vec<Stands>| {
            while deferred[slot].last().is_some_and(|deferred| deferred.sync_index <= seen[slot]) {
                all.extend(deferred[slot].pop().map(Stands::Deferred));
            }
        };
        due(slot, &seen, &mut all);
        let record = on_time[slot].pop_front().expect("a record");
        let forks = (record.kind == Kind::Fork).then_some(record.word as usize);
        all.extend(each(record).map(Stands::OnTime));
        seen[slot] += 1;
        due(slot, &seen, &mut all);
        if let Some(child) = forks {
            due(child, &seen, &mut all);
        }
    }
    assert!(deferred.iter().all(Vec::is_empty), "deferred records without a place: {deferred:?}");
    all
}
