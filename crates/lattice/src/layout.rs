//! The layout of keys during a *stage*, a number of consecutive levels.
//!
//! A key counts from a *base*, a cut that all cuts of the stage contain, and has fields only for chains that can move
//! in the stage. When a stage is over, the base moves up. So keys stay small, however long the chains are and however
//! many threads come and go.

use crate::key::Key;
use crate::messages::Messages;

/// The field of one chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    pub(crate) chain: u32,
    pub(crate) shift: u32,
    /// The greatest value that it can hold.
    pub(crate) mask: u32,
}

/// The layout of the keys of a stage.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Layout {
    /// By chain: the number of events that every cut contains.
    pub(crate) base: Vec<u32>,
    pub(crate) fields: Vec<Field>,
    /// The number of levels during which no field overflows.
    pub(crate) levels: u32,
    /// The width of the keys.
    pub(crate) bits: u32,
    /// Whether all fields have the width of an equal share of the key.
    pub(crate) equal: bool,
}

/// Widths that keys can have.
pub(crate) const WIDTHS: [u32; 5] = [64, 128, 256, 1024, 4096];

/// If a stage would have fewer levels than this, a wider key is tried.
const SHORT_STAGE: u32 = 16;

/// How far a chain can move during a stage.
#[derive(Clone, Copy)]
pub(crate) struct ChainExtent {
    pub(crate) chain: u32,
    /// The greatest number of its events beyond the base in the first level of the stage.
    pub(crate) ahead: u32,
    /// The number of its events beyond the base that are there to be taken.
    pub(crate) events: u32,
}

impl Layout {
    /// Lays out a stage; `None` if not even the widest key has room.
    pub(crate) fn new(base: Vec<u32>, reach: &[ChainExtent]) -> Option<Layout> {
        for (at, &bits) in WIDTHS.iter().enumerate() {
            let mut levels = 1 << 20;
            while levels > 0 {
                if let Some(fields) = fit(reach, levels, bits)
                    && (levels >= SHORT_STAGE || at + 1 == WIDTHS.len() || is_all(reach, levels))
                {
                    let (fields, equal) = match equal(&fields, bits) {
                        Some(fields) => (fields, true),
                        None => (fields, false),
                    };
                    return Some(Layout { base, fields, levels, bits, equal });
                }
                levels /= 2;
            }
        }
        None
    }

    pub(crate) fn unpack<K: Key>(&self, key: K, cut: &mut Vec<u32>) {
        cut.clear();
        cut.extend_from_slice(&self.base);
        for field in &self.fields {
            cut[field.chain as usize] += key.field(field.shift, field.mask);
        }
    }

    /// The key of a cut; `None` if the layout has no room for it.
    pub(crate) fn pack<K: Key>(&self, cut: &[u32]) -> Option<K> {
        let mut key = K::ZERO;
        let mut fields = self.fields.iter().peekable();
        for (chain, &count) in cut.iter().enumerate() {
            let ahead = count.checked_sub(self.base.get(chain).copied().unwrap_or(0))?;
            match fields.next_if(|field| field.chain as usize == chain) {
                Some(field) if ahead <= field.mask => key = key.plus(K::with_field(ahead, field.shift)),
                None if ahead == 0 => {}
                _ => return None,
            }
        }
        Some(key)
    }
}

/// Whether every chain can be at its end after so many levels.
fn is_all(reach: &[ChainExtent], levels: u32) -> bool {
    reach.iter().all(|reach| reach.events <= reach.ahead.saturating_add(levels))
}

/// These fields with equal widths, if they fit: merging is faster with shifts that the compiler knows.
fn equal(fields: &[Field], bits: u32) -> Option<Vec<Field>> {
    let width = bits.checked_div(fields.len() as u32)?;
    let mask = ((1u64 << (width.saturating_sub(1)).min(31)) - 1) as u32;
    let fits = bits <= 128 && fields.iter().all(|field| field.mask <= mask);
    let lay = |(at, field): (u32, &Field)| Field { shift: at * width, mask, ..*field };
    fits.then(|| (0..).zip(fields).map(lay).collect())
}

/// Fields for a stage of so many levels, if they fit into a key of so many bits. No field crosses a word.
fn fit(reach: &[ChainExtent], levels: u32, bits: u32) -> Option<Vec<Field>> {
    let word = if bits == 128 { 128 } else { 64 };
    let mut fields = Vec::with_capacity(reach.len());
    let mut shift = 0;
    for reach in reach {
        let most = reach.events.min(reach.ahead.saturating_add(levels));
        let width = 33 - most.leading_zeros();
        if shift % word + width > word {
            shift += word - shift % word;
        }
        if shift + width > bits {
            return None;
        }
        let mask = ((1u64 << (width - 1)) - 1) as u32;
        fields.push(Field { chain: reach.chain, shift, mask });
        shift += width;
    }
    Some(fields)
}

/// The events of one chain that a stage can take, by how far a cut is ahead of the base.
pub(crate) struct Table<K> {
    pub(crate) chain: u32,
    pub(crate) shift: u32,
    pub(crate) mask: u32,
    /// The key of one event of this chain: added to a cut, it takes the next event.
    pub(crate) one: K,
    /// The events, and after them a row that no cut covers. An event that cannot come in this stage ends the table.
    pub(crate) rows: Vec<Row<K>>,
}

/// An event of a table.
pub(crate) struct Row<K> {
    /// Its predecessors, packed like a cut.
    pub(crate) predecessors: K,
    pub(crate) class: u32,
}

/// The tables of all chains that have a field in a stage.
pub(crate) struct Tables<K> {
    pub(crate) chains: Vec<Table<K>>,
    pub(crate) guards: K,
}

impl<K: Key> Tables<K> {
    pub(crate) fn new(layout: &Layout, messages: &Messages<'_>, bound: Option<&[u32]>) -> Tables<K> {
        let mut guards = K::ZERO;
        let mut field_of = vec![None; messages.chains.len()];
        for (at, field) in layout.fields.iter().enumerate() {
            guards = guards.plus(K::with_field(1, field.shift + field.mask.count_ones()));
            field_of[field.chain as usize] = Some(at);
        }
        let chains = layout.fields.iter().map(|field| {
            let base = layout.base[field.chain as usize];
            let end = end_of(messages, field.chain, bound);
            let mut table = Table {
                chain: field.chain,
                shift: field.shift,
                mask: field.mask,
                one: K::with_field(1, field.shift),
                rows: Vec::new(),
            };
            let last = end.min(base.saturating_add(field.mask));
            'events: for number in base..last {
                let event = messages.event(field.chain, number);
                let mut key = K::ZERO;
                for prefix in messages.predecessors(event) {
                    let Some(ahead) = prefix.count.checked_sub(layout.base[prefix.chain as usize]).filter(|&n| n > 0)
                    else {
                        continue;
                    };
                    match field_of[prefix.chain as usize].map(|at| layout.fields[at]) {
                        Some(of) if ahead <= of.mask => key = key.plus(K::with_field(ahead, of.shift)),
                        // A predecessor cannot come in this stage.
                        _ => break 'events,
                    }
                }
                table.rows.push(Row { predecessors: key, class: event.class });
            }
            // A cut that reaches this row has as many events of the chain as there are rows before: not one more.
            table.rows.push(Row { predecessors: K::with_field(table.rows.len() as u32 + 1, field.shift), class: 0 });
            table
        });
        let chains = chains.collect();
        Tables { chains, guards }
    }
}

/// The number of events of a chain that can be taken at all.
pub(crate) fn end_of(messages: &Messages<'_>, chain: u32, bound: Option<&[u32]>) -> u32 {
    let ready = messages.chains[chain as usize].ready;
    bound.map_or(ready, |bound| ready.min(bound.get(chain as usize).copied().unwrap_or(0)))
}
