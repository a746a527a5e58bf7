//! Reads the chunks of a process into the merge, and gives them back.

use crate::decode::{End, is_pending, scan, scan_with};
use crate::merge::{Merger, RecordSink};
use crate::shared::{ChunkHead, Shared};
use runtime::layout::CHUNK_WORDS;

/// Words that may wait in the merge before slots that are ahead are left unread: 64 MB.
const HELD_WORDS: usize = 8 << 20;

/// No slot fills this many chunks.
const MAX_SEQUENCE: u64 = 1 << 48;

/// Chunks of a slot that are read at once, so that they are merged while they are in the cache.
const AT_ONCE: usize = 2;

/// Chunks that are given back before waiting threads are woken: else each would wake for a few, fill them, and wait
/// again.
const ENOUGH: usize = 48;

/// An active chunk is first read through a window of this many words: most have little that is new.
const WINDOW: usize = 128;

/// How far a slot was read.
#[derive(Clone, Default)]
struct Reader {
    /// The number of the chunk that is read.
    sequence: u64,
    /// Words of it that were read.
    read: usize,
    /// The last look in which there were chunks of it, and whether not all were read then.
    look: u64,
    more: bool,
    /// Nothing more is read of it: it held something that is no record.
    damaged: bool,
    /// A value in its chunk was not waited for. The agent may still write it, so the chunk is not given back.
    leaked: bool,
}

/// Reads the chunks of a process.
#[derive(Default)]
pub(crate) struct Drain {
    readers: Vec<Reader>,
    found: Vec<ChunkHead>,
    /// Looks so far.
    looks: u64,
    /// Chunks given back since threads were last woken.
    returned: usize,
    /// Slots that held something that is no record.
    pub(crate) damaged: u64,
    /// Chunks that are missing between others.
    pub(crate) missing: u64,
}

/// The result of a look at all chunks.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Drained {
    /// Words read.
    pub(crate) words: usize,
    /// Slots were left unread because too much waits to be merged.
    pub(crate) has_more: bool,
    /// A slot waits for the value of a write.
    pub(crate) pending: bool,
    /// Chunks were given back.
    pub(crate) gave_back: bool,
}

/// How a slot is to be read.
#[derive(Clone, Copy)]
struct Mode {
    /// The process is dead: what is missing will not come.
    last: bool,
    /// Values that are not there yet are not waited for.
    give_up: bool,
}

impl Drain {
    /// Whether nothing more is read of a slot.
    pub(crate) fn is_damaged(&self, slot: usize) -> bool {
        self.readers.get(slot).is_some_and(|reader| reader.damaged)
    }

    /// Reads what there is, and shows it to the sink. With `last` the process is dead; with `give_up` values are not
    /// waited for.
    pub(crate) fn poll(
        &mut self,
        shared: &Shared,
        merger: &mut Merger,
        sink: &mut impl RecordSink,
        last: bool,
        give_up: bool,
    ) -> Drained {
        let slots = shared.slots();
        self.readers.resize(slots.max(self.readers.len()), Reader::default());
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        found.extend((0..shared.chunks()).filter_map(|index| shared.chunk(index)));
        self.looks += 1;
        found.retain(|head| {
            let reader = self.readers.get_mut(head.slot as usize).filter(|_| (head.slot as usize) < slots);
            // Chunks that will not be read now need not be sorted. (Only the last look reports what is missing between
            // them.)
            let is_due = |reader: &mut Reader| {
                reader.look = self.looks;
                last || reader.damaged || head.sequence < reader.sequence + AT_ONCE as u64
            };
            head.sequence < MAX_SEQUENCE && reader.is_some_and(is_due)
        });
        found.sort_unstable();
        let mut drained = Drained::default();
        let before = self.returned;
        for chunks in found.chunk_by(|a, b| a.slot == b.slot) {
            let slot = chunks[0].slot;
            if merger.held() > HELD_WORDS && !merger.is_idle(slot) {
                merger.set_more(slot, true);
                self.readers[slot as usize].more = true;
                drained.has_more = true;
                continue;
            }
            let more = self.slot(shared, (merger, sink), chunks, Mode { last, give_up }, &mut drained);
            merger.set_more(slot, more);
            self.readers[slot as usize].more = more;
        }
        // What was expected of a thread that has ended, and does not come, must hold nothing up.
        for (slot, reader) in self.readers.iter_mut().enumerate() {
            if reader.more && reader.look != self.looks {
                reader.more = false;
                merger.set_more(slot as u32, false);
            }
        }
        self.found = found;
        drained.gave_back = self.returned != before;
        // More comes soon only if more could be read.
        if self.returned >= ENOUGH || self.returned > 0 && (!drained.has_more || !drained.gave_back) {
            self.returned = 0;
            shared.wake();
        }
        drained
    }

    /// Reads the chunks of one slot, in their order. Returns whether there is more than was read.
    fn slot(
        &mut self,
        shared: &Shared,
        (merger, sink): (&mut Merger, &mut impl RecordSink),
        chunks: &[ChunkHead],
        mode: Mode,
        drained: &mut Drained,
    ) -> bool {
        let reader = &mut self.readers[chunks[0].slot as usize];
        let mut whole = 0;
        for head in chunks {
            if reader.damaged {
                // Its threads must not wait for chunks that are not read.
                self.returned += usize::from(head.full && shared.give_back(head.index).is_ok());
                continue;
            }
            if head.sequence < reader.sequence {
                continue;
            }
            if head.sequence > reader.sequence {
                if !mode.last {
                    // It may become visible yet. A hole that stays must not make others wait for ever.
                    return !mode.give_up;
                }
                self.missing += head.sequence - reader.sequence;
                reader.sequence = head.sequence;
                reader.read = 0;
            }
            let before = merger.held();
            let end = read(shared, (merger, sink), *head, reader, mode);
            drained.words += merger.held() - before;
            match end {
                End::Damaged => {
                    reader.damaged = true;
                    self.damaged += 1;
                    return false;
                }
                End::Pending => {
                    drained.pending = true;
                    return true;
                }
                End::Open | End::Words => {}
            }
            if !head.full && !mode.last {
                return false;
            }
            if !std::mem::take(&mut reader.leaked) && !mode.last {
                self.returned += usize::from(shared.give_back(head.index).is_ok());
            }
            reader.sequence += 1;
            reader.read = 0;
            whole += 1;
            if whole == AT_ONCE || merger.held() > HELD_WORDS {
                drained.has_more = true;
                return true;
            }
        }
        false
    }
}

/// Reads what is new in a chunk.
fn read(
    shared: &Shared,
    (merger, sink): (&mut Merger, &mut impl RecordSink),
    head: ChunkHead,
    reader: &mut Reader,
    mode: Mode,
) -> End {
    let rest = CHUNK_WORDS - reader.read;
    let complete = head.full || mode.last;
    let mut room = if complete { rest } else { rest.min(WINDOW) };
    loop {
        let (count, end) = merger.add(head.slot, room, |words| {
            match copy(shared, (head.index, reader.read), words, complete, sink) {
                // What cannot be read is as lost as what is no record.
                Err(_) => (0, (0, End::Damaged)),
                Ok((count, End::Pending)) if mode.give_up && count + 3 <= words.len() => {
                    reader.leaked = true;
                    let (behind, end) = scan_behind(&mut words[count..]);
                    (count + behind, (count + behind, end))
                }
                Ok((count, end)) => (count, (count, end)),
            }
        });
        reader.read += count;
        match end {
            End::Words if reader.read + (room - count) < CHUNK_WORDS => room = CHUNK_WORDS - reader.read,
            // A record that goes beyond the end of its chunk is none.
            End::Words if reader.read < CHUNK_WORDS => return End::Damaged,
            end => return end,
        }
    }
}

/// Scans behind a write whose value is not waited for; it keeps its flag.
fn scan_behind(words: &mut [u64]) -> (usize, End) {
    debug_assert!(is_pending(words[0]));
    let (count, end) = scan(&words[3..]);
    (count + 3, end)
}

/// Copies words and finds how many are whole records.
fn copy(
    shared: &Shared,
    (chunk, from): (u32, usize),
    words: &mut [u64],
    complete: bool,
    sink: &mut impl RecordSink,
) -> std::io::Result<(usize, End)> {
    shared.read(chunk, from, words)?;
    if complete {
        return Ok(scan_with(words, |record| sink.fetch(record)));
    }
    let (count, end) = scan(words);
    if count == 0 {
        return Ok((count, end));
    }
    // While the thread writes, a copy may hold a head and, behind it, words from before it was written. A second copy,
    // made when the heads were there, has them all.
    shared.read(chunk, from, &mut words[..count])?;
    let (again, end_again) = scan_with(&words[..count], |record| sink.fetch(record));
    Ok(if again == count { (count, end) } else { (again, end_again) })
}
