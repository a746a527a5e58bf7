//! Which bits of a key are whose, for a stretch of levels: an *epoch*.
//!
//! A key counts from a base that every cut of the level has taken; only chains that can move during the epoch have a
//! field. When an epoch is over, the base moves up, so keys stay small however long the chains are, and threads come and go.

use crate::key::Key;
use crate::messages::Messages;

/// The bits of one chain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Field {
    pub(crate) chain: u32,
    pub(crate) shift: u32,
    /// The values it can hold.
    pub(crate) mask: u32,
}

/// Where everything is during an epoch.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Layout {
    /// By chain: what every cut has taken.
    pub(crate) base: Vec<u32>,
    pub(crate) fields: Vec<Field>,
    /// For how many levels no field overflows.
    pub(crate) levels: u32,
    /// The width of the keys.
    pub(crate) bits: u32,
    /// All fields are as wide as an equal share of a word.
    pub(crate) equal: bool,
}

/// Widths that keys can have.
pub(crate) const WIDTHS: [u32; 5] = [64, 128, 256, 1024, 4096];

/// An epoch of at least so many levels is worth a wider key.
const ENOUGH: u32 = 16;

/// How far a chain can be ahead of the base when an epoch is laid out.
#[derive(Clone, Copy)]
pub(crate) struct ChainExtent {
    pub(crate) chain: u32,
    /// In the level that begins it.
    pub(crate) ahead: u32,
    /// Events that can be taken from the base on.
    pub(crate) events: u32,
}

impl Layout {
    /// Lays out an epoch; `None` if not even the widest key takes it.
    pub(crate) fn new(base: Vec<u32>, reach: &[ChainExtent]) -> Option<Layout> {
        for (at, &bits) in WIDTHS.iter().enumerate() {
            let mut levels = 1 << 20;
            while levels > 0 {
                if let Some(fields) = fit(reach, levels, bits)
                    && (levels >= ENOUGH || at + 1 == WIDTHS.len() || is_all(reach, levels))
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

    /// The key of a cut, if it has one.
    pub(crate) fn pack<K: Key>(&self, cut: &[u32]) -> Option<K> {
        let mut key = K::ZERO;
        let mut fields = self.fields.iter().peekable();
        for (chain, &count) in cut.iter().enumerate() {
            let ahead = count.checked_sub(self.base.get(chain).copied().unwrap_or(0))?;
            match fields.next_if(|field| field.chain as usize == chain) {
                Some(field) if ahead <= field.mask => key = key.plus(K::place(ahead, field.shift)),
                None if ahead == 0 => {}
                _ => return None,
            }
        }
        Some(key)
    }
}

/// The epoch lasts until every chain is at its end.
fn is_all(reach: &[ChainExtent], levels: u32) -> bool {
    reach.iter().all(|reach| reach.events <= reach.ahead.saturating_add(levels))
}

/// The same fields with equal widths, if that leaves room for all of them: merging them is faster.
fn equal(fields: &[Field], bits: u32) -> Option<Vec<Field>> {
    let width = bits.checked_div(fields.len() as u32)?;
    let mask = ((1u64 << (width.saturating_sub(1)).min(31)) - 1) as u32;
    let fits = bits <= 128 && fields.iter().all(|field| field.mask <= mask);
    let lay = |(at, field): (u32, &Field)| Field { shift: at * width, mask, ..*field };
    fits.then(|| (0..).zip(fields).map(lay).collect())
}

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

/// What one chain can do during an epoch, by how far it is ahead of the base.
pub(crate) struct Table<K> {
    pub(crate) chain: u32,
    pub(crate) shift: u32,
    pub(crate) mask: u32,
    /// One event of it.
    pub(crate) one: K,
    /// Its events, and behind them one that no cut covers. Shorter than the chain where an event cannot come in this
    /// epoch.
    pub(crate) rows: Vec<Row<K>>,
}

/// An event.
pub(crate) struct Row<K> {
    pub(crate) prefix: K,
    pub(crate) class: u32,
}

/// What every chain can do during an epoch.
pub(crate) struct Tables<K> {
    pub(crate) chains: Vec<Table<K>>,
    pub(crate) guards: K,
}

impl<K: Key> Tables<K> {
    pub(crate) fn new(layout: &Layout, messages: &Messages<'_>, bound: Option<&[u32]>) -> Tables<K> {
        let mut guards = K::ZERO;
        let mut field_of = vec![None; messages.chains.len()];
        for (at, field) in layout.fields.iter().enumerate() {
            guards = guards.plus(K::place(1, field.shift + field.mask.count_ones()));
            field_of[field.chain as usize] = Some(at);
        }
        let chains = layout.fields.iter().map(|field| {
            let base = layout.base[field.chain as usize];
            let end = end_of(messages, field.chain, bound);
            let mut table = Table {
                chain: field.chain,
                shift: field.shift,
                mask: field.mask,
                one: K::place(1, field.shift),
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
                        Some(of) if ahead <= of.mask => key = key.plus(K::place(ahead, of.shift)),
                        // Not before this epoch is over.
                        _ => break 'events,
                    }
                }
                table.rows.push(Row { prefix: key, class: event.class });
            }
            // A cut has taken as many as stand before it, so it does not cover one more.
            table.rows.push(Row { prefix: K::place(table.rows.len() as u32 + 1, field.shift), class: 0 });
            table
        });
        let chains = chains.collect();
        Tables { chains, guards }
    }
}

/// How many events of a chain can be taken at all.
pub(crate) fn end_of(messages: &Messages<'_>, chain: u32, bound: Option<&[u32]>) -> u32 {
    let ready = messages.chains[chain as usize].ready;
    bound.map_or(ready, |bound| ready.min(bound.get(chain as usize).copied().unwrap_or(0)))
}
