//! Reads a file in which the reader can seek: its index, then its deferred events, and events from any point on.

use super::{BinaryReader, Next, read_up_to};
use crate::binary::bytes::Cursor;
use crate::binary::deferred::{Deferred, DeferredPosition, Restorer, get_deferred};
use crate::binary::deferred_actions::DeferredDecoder;
use crate::binary::frame::{FILE_HEADER, FLAG_ACTIONS, FLAG_KEY, FRAME_HEADER, Header, Kind};
use crate::binary::index::{END_FRAME, Entry, get_end, get_index};
use crate::binary::tables;
use crate::limits::{DEFERRED_IN_BYTE, MAX_DEFERRED, MIN_DEFERRED};
use crate::{Error, InputPosition};
use event::Batch;
use std::io::{Read, Seek, SeekFrom};

impl<R: Read + Seek> BinaryReader<R> {
    /// Begins to read from a file: deferred records are found first, so that they can be put back in their places.
    pub fn open(mut input: R) -> Result<Self, Error> {
        let size = input.seek(SeekFrom::End(0))?;
        input.rewind()?;
        let mut reader = BinaryReader::new(input)?;
        reader.size = Some(size);
        let entries = match reader.read_index(size)? {
            Some(entries) => entries,
            None => reader.scan()?,
        };
        if entries.iter().any(|entry| entry.kind == Kind::Deferred as u8) {
            reader.read_ahead(&entries)?;
        }
        reader.entries = entries;
        reader.skip = Some(Self::skip);
        reader.seek_to(FILE_HEADER as u64)?;
        Ok(reader)
    }

    fn seek_to(&mut self, offset: u64) -> Result<(), Error> {
        self.input.seek(SeekFrom::Start(offset))?;
        self.offset = offset;
        Ok(())
    }

    /// The frames of a finished file, by its index. `None` if it has no sound end mark.
    fn read_index(&mut self, size: u64) -> Result<Option<Vec<Entry>>, Error> {
        let Some(end_at) = size.checked_sub(END_FRAME as u64).filter(|&at| at >= FILE_HEADER as u64) else {
            return Ok(None);
        };
        if !self.probe(end_at, Kind::End)? {
            return Ok(None);
        }
        let Ok(end) = get_end(Cursor::new(&self.payload)) else { return Ok(None) };
        if end.index >= end_at || !self.probe(end.index, Kind::Index)? {
            return Ok(None);
        }
        let Ok(entries) = self.tables.open(&self.payload).and_then(get_index) else { return Ok(None) };
        self.expected = Some(end.events);
        Ok(Some(entries))
    }

    /// Whether a sound frame of this kind is at this place; its payload is then at hand. Notes no loss.
    fn probe(&mut self, offset: u64, kind: Kind) -> Result<bool, Error> {
        self.seek_to(offset)?;
        let found = matches!(self.next_frame()?, Next::Frame(header) if header.kind == kind as u8);
        self.losses.clear();
        self.ended = false;
        Ok(found)
    }

    /// The frames of an unfinished file, header by header, up to the first that is not whole.
    fn scan(&mut self) -> Result<Vec<Entry>, Error> {
        let mut entries = Vec::new();
        let mut offset = FILE_HEADER as u64;
        let size = self.size.unwrap_or(0);
        loop {
            self.seek_to(offset)?;
            let mut header = [0; FRAME_HEADER];
            let got = read_up_to(&mut self.input, &mut header)?;
            let Some(header) = Header::decode(&header).filter(|_| got == FRAME_HEADER) else { return Ok(entries) };
            let next = offset + FRAME_HEADER as u64 + u64::from(header.len);
            if next > size {
                return Ok(entries);
            }
            entries.push(Entry { kind: header.kind, flags: header.flags, offset, count: header.count });
            offset = next;
        }
    }

    /// Reads tables, and deferred records, before the events. Whether all of these frames were sound.
    fn read_ahead(&mut self, entries: &[Entry]) -> Result<bool, Error> {
        let mut deferred = Deferred::default();
        let mut records: Vec<DeferredPosition> = Vec::new();
        let mut deferred_decoder = DeferredDecoder::new()?;
        self.action_table.begin_batch();
        let mut sound = true;
        for entry in entries {
            let wanted = |kind: &Kind| kind.is_table() || *kind == Kind::Deferred;
            let Some(kind) = Kind::from_code(entry.kind).filter(wanted) else { continue };
            if !self.probe(entry.offset, kind)? {
                // Reading will stop at this frame, too, and say so.
                sound = false;
                break;
            }
            let header = Header::new(kind, entry.flags, entry.count, &[]);
            let taken = match kind {
                Kind::Deferred if entry.flags & FLAG_ACTIONS != 0 => deferred_decoder.get(
                    (&self.payload, entry.count as usize),
                    (&self.names, self.meta.stacks.len()),
                    &mut self.action_table,
                    &mut deferred.batch,
                    &mut records,
                ),
                Kind::Deferred => self.tables.open(&self.payload).and_then(|from| {
                    get_deferred(from, &self.names, self.meta.stacks.len(), &mut deferred.batch, &mut records)
                }),
                _ => self.table(header, &mut Batch::default()),
            };
            taken.map_err(|damage| damage.at(entry.offset))?;
            deferred.place(&mut records);
            self.tables_read = self.offset;
            // A real record takes some bits of the file; one that takes none is there to exhaust memory.
            let bytes = usize::try_from(self.size.unwrap_or(0)).unwrap_or(MAX_DEFERRED);
            let most = MAX_DEFERRED.min(bytes.saturating_mul(DEFERRED_IN_BYTE).max(MIN_DEFERRED));
            if deferred.batch.events.len() > most || deferred.batch.args.len() > most {
                let message = format!("more than {most} deferred records, or arguments of them");
                return Err(Error::too_large(InputPosition::Byte(entry.offset), message));
            }
        }
        if !deferred.is_empty() {
            self.restorer = Some(Restorer::new(deferred));
        }
        Ok(sound)
    }

    /// Goes to the last key frame before an event, having read the tables before it.
    fn skip(&mut self, event: u64) -> Result<(), Error> {
        let entries = std::mem::take(&mut self.entries);
        let mut first = 0;
        let mut key = None;
        for (at, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.kind == Kind::Events as u8) {
            if first > event {
                break;
            }
            if entry.flags & FLAG_KEY != 0 {
                key = Some((at, first));
            }
            first += u64::from(entry.count);
        }
        // Where deferred events are put back, events do not count as the frames do.
        if let Some((at, first)) = key.filter(|&(_, first)| first > 0)
            && self.restorer.is_none()
            && self.read_ahead(&entries[..at])?
        {
            for entry in entries[..at].iter().filter(|entry| entry.kind == Kind::Inits as u8) {
                if self.probe(entry.offset, Kind::Inits)? {
                    let taken = self.tables.open(&self.payload);
                    let taken = taken.and_then(|from| tables::get_inits(from, &self.names, 0, &mut self.early));
                    taken.map_err(|damage| damage.at(entry.offset))?;
                    self.early.inits.iter_mut().for_each(|init| init.before = 0);
                }
            }
            self.seek_to(entries[at].offset)?;
            self.read = first;
        } else {
            self.seek_to(FILE_HEADER as u64)?;
        }
        Ok(())
    }
}
