//! Reads a binary trace, a frame or a piece of one at a time, from a file or a stream.

mod seek;

use super::action_decode::{ActionDecoder, ActionTable};
use super::actions::get_actions;
use super::bytes::Cursor;
use super::column::ColumnReader;
use super::decode::EventDecoder;
use super::deferred::Restorer;
use super::event_predictor::PredictBy;
use super::frame::{
    Damage, FILE_HEADER, FLAG_ACTIONS, FLAG_KEY, FRAME_HEADER, Header, Kind, MAX_COLUMN, MAX_INITS, TRUSTING,
    check_file_header,
};
use super::index::{Entry, get_end};
use super::tables;
use crate::{Error, InputPosition, Loss, Source};
use event::{Batch, Meta, Names, Space};
use std::io::{self, Read};

/// Reads a binary trace.
pub struct BinaryReader<R> {
    input: R,
    /// Where the next frame begins.
    offset: u64,
    /// The length of the input, where it is known.
    size: Option<u64>,
    /// Events in a finished file, where it is known.
    expected: Option<u64>,
    names: Names,
    meta: Meta,
    /// Tables in frames that end here or before were read ahead.
    tables_read: u64,
    /// The frames of a file, until events are read.
    entries: Vec<Entry>,
    losses: Vec<Loss>,
    restorer: Option<Restorer>,
    /// Deferred records passed over because the input cannot be read twice.
    deferred_skipped: u64,
    read: u64,
    frame_at: u64,
    ended: bool,
    decoder: EventDecoder,
    /// For frames of actions: their decoder, and the actions numbered so far.
    by_actions: Box<ActionDecoder>,
    action_table: ActionTable,
    tables: TableReader,
    payload: Vec<u8>,
    /// Initial values of the events that were skipped.
    early: Batch,
    /// How to skip events, for an input that can.
    skip: Option<Skip<R>>,
}

/// Passes over events of a reader.
type Skip<R> = fn(&mut BinaryReader<R>, u64) -> Result<(), Error>;

/// One frame's header and whether its payload arrived whole.
enum Next {
    Frame(Header),
    /// Nothing more can be read; the loss, if any, was noted.
    End,
}

impl<R: Read> BinaryReader<R> {
    /// Begins to read from a stream. Deferred records cannot be put back from a stream: they count as a loss.
    pub fn new(mut input: R) -> Result<Self, Error> {
        let mut header = Vec::with_capacity(FILE_HEADER);
        input.by_ref().take(FILE_HEADER as u64).read_to_end(&mut header)?;
        check_file_header(&header)?;
        Ok(BinaryReader {
            input,
            offset: FILE_HEADER as u64,
            size: None,
            expected: None,
            names: Names::default(),
            meta: Meta::default(),
            tables_read: 0,
            entries: Vec::new(),
            losses: Vec::new(),
            restorer: None,
            deferred_skipped: 0,
            read: 0,
            frame_at: 0,
            ended: false,
            decoder: EventDecoder::new()?,
            by_actions: Box::new(ActionDecoder::new()?),
            action_table: ActionTable::default(),
            tables: TableReader { columns: ColumnReader::new()?, raw: Vec::new() },
            payload: Vec::new(),
            early: Batch::default(),
            skip: None,
        })
    }

    /// How many events the whole trace has, if its end mark could be read beforehand.
    pub fn expected_events(&self) -> Option<u64> {
        self.expected
    }

    /// Reads the next frame's header and payload.
    fn next_frame(&mut self) -> Result<Next, Error> {
        self.frame_at = self.offset;
        let mut header = [0; FRAME_HEADER];
        let got = read_up_to(&mut self.input, &mut header)?;
        if got == 0 {
            return Ok(self.cut_off("the recording was not finished: there is no end mark", 0));
        }
        if got < FRAME_HEADER {
            return Ok(self.cut_off("the file is cut off inside a frame", got as u64));
        }
        let Some(header) = Header::decode(&header) else {
            return self.damaged(got as u64);
        };
        self.payload.clear();
        let len = u64::from(header.len);
        let got = self.input.by_ref().take(len).read_to_end(&mut self.payload)? as u64;
        if got < len {
            return Ok(self.cut_off("the file is cut off inside a frame", FRAME_HEADER as u64 + got));
        }
        if !TRUSTING && crc32fast::hash(&self.payload) != header.payload_crc {
            return self.damaged(FRAME_HEADER as u64 + got);
        }
        self.offset += FRAME_HEADER as u64 + len;
        Ok(Next::Frame(header))
    }

    fn cut_off(&mut self, what: &str, lost: u64) -> Next {
        let read = self.read;
        let message = match lost {
            0 => format!("{what}; the {read} events before it were read"),
            _ => format!("{what}: its last {lost} bytes are lost, the {read} events before them were read"),
        };
        self.losses.push(Loss { place: Some(InputPosition::Byte(self.frame_at)), message });
        self.ended = true;
        Next::End
    }

    /// Whether all events of the frames read were taken.
    fn is_done(&self) -> bool {
        self.decoder.is_done() && self.by_actions.is_done()
    }

    /// The bytes here are not those that were written; `got` of them were read.
    fn damaged(&mut self, got: u64) -> Result<Next, Error> {
        let rest = match self.size {
            Some(size) => size.saturating_sub(self.frame_at),
            None => got + io::copy(&mut self.input, &mut io::sink())?,
        };
        Ok(self.cut_off("a frame is damaged (its checksum is wrong), and nothing after it can be trusted", rest))
    }

    /// Takes in a frame that is not events.
    fn table(&mut self, header: Header, batch: &mut Batch) -> Result<(), Damage> {
        let Some(kind) = Kind::from_code(header.kind) else { return Ok(()) };
        match kind {
            _ if kind.is_table() && self.offset <= self.tables_read => Ok(()),
            Kind::Names => tables::get_names(self.tables.open(&self.payload)?, &mut self.names),
            Kind::Stacks => tables::get_stacks(self.tables.open(&self.payload)?, &self.names, &mut self.meta),
            Kind::Modules => tables::get_modules(self.tables.open(&self.payload)?, &self.names, &mut self.meta),
            Kind::Threads => tables::get_threads(self.tables.open(&self.payload)?, &self.names, &mut self.meta),
            Kind::Origins => tables::get_origins(self.tables.open(&self.payload)?, &self.names, &mut self.meta),
            Kind::Libraries => tables::get_libraries(self.tables.open(&self.payload)?, &self.names, &mut self.meta),
            Kind::Actions => {
                let (sites, stacks) = (self.names.space(Space::Site).len(), self.meta.stacks.len());
                get_actions(self.tables.open(&self.payload)?, sites, stacks, &mut self.action_table.keys)
            }
            Kind::Loss => tables::get_losses(self.tables.open(&self.payload)?, &mut self.losses),
            Kind::Inits => {
                let base = batch.events.len() as u32;
                tables::get_inits(self.tables.open(&self.payload)?, &self.names, base, batch)
            }
            Kind::Deferred if self.restorer.is_none() => {
                self.deferred_skipped += u64::from(header.count);
                Ok(())
            }
            Kind::End => self.end(),
            _ => Ok(()),
        }
    }

    /// The end mark: what was found must add up.
    fn end(&mut self) -> Result<(), Damage> {
        let end = get_end(Cursor::new(&self.payload))?;
        self.ended = true;
        let loss = |message| Loss { place: None, message };
        let behind = match self.size {
            Some(size) => size.saturating_sub(self.offset),
            None => io::copy(&mut self.input, &mut io::sink()).unwrap_or(0),
        };
        if behind > 0 {
            let message = format!("{behind} bytes behind the end mark were not read (two files put together?)");
            self.losses.push(Loss { place: Some(InputPosition::Byte(self.offset)), message });
        }
        let unplaced = self.restorer.as_ref().map_or(0, Restorer::unplaced) as u64;
        if unplaced > 0 {
            let message = format!("{unplaced} deferred events name a place that their threads never reached");
            self.losses.push(loss(message));
        }
        if self.deferred_skipped > 0 {
            let message =
                format!("{} deferred events cannot be put back in a stream; read a file", self.deferred_skipped);
            self.losses.push(loss(message));
        }
        let known = self.read + unplaced + self.deferred_skipped;
        if end.events != known {
            self.losses.push(loss(format!("the end mark counts {} events, {known} were found", end.events)));
        }
        Ok(())
    }
}

impl<R: Read + Send> Source for BinaryReader<R> {
    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear(self.read);
        batch.inits.append(&mut self.early.inits);
        while !self.ended {
            if !self.is_done() {
                // Initial values may stand between any of the events that follow them.
                let whole = !batch.inits.is_empty();
                let stacks = self.meta.stacks.len();
                let taken = match self.decoder.is_done() {
                    false => self.decoder.take(whole, &self.names, stacks, batch),
                    true => self.by_actions.take(whole, &self.names, stacks, &mut self.action_table, batch),
                };
                if let Err(damage) = taken {
                    self.ended = true;
                    batch.clear(self.read);
                    return Err(damage.at(self.frame_at));
                }
                break;
            }
            let header = match self.next_frame() {
                Ok(Next::Frame(header)) => header,
                Ok(Next::End) => break,
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            };
            let taken = if header.kind == Kind::Events as u8 && header.flags & FLAG_ACTIONS != 0 {
                if header.flags & FLAG_KEY != 0 {
                    self.by_actions.reset();
                }
                self.by_actions.open(&self.payload, header.count as usize)
            } else if header.kind == Kind::Events as u8 {
                if header.flags & FLAG_KEY != 0 {
                    self.decoder.reset();
                }
                self.decoder.open(&self.payload, header.count as usize, PredictBy::from_flags(header.flags))
            } else {
                self.table(header, batch)
            };
            if let Err(damage) = taken {
                self.ended = true;
                batch.clear(self.read);
                return Err(damage.at(self.frame_at));
            }
            // Initial values that stand before the next events need not wait for them.
            let waiting = batch.inits.last().is_some_and(|init| init.before > 0);
            if self.is_done() && batch.inits.len() >= MAX_INITS && !waiting {
                break;
            }
            if batch.inits.len() > 2 * MAX_INITS {
                self.ended = true;
                batch.clear(self.read);
                return Err(Damage("too many initial values before the next event").at(self.frame_at));
            }
        }
        if batch.inits.last().is_some_and(|init| init.before as usize > batch.events.len()) {
            self.ended = true;
            batch.clear(self.read);
            return Err(Damage("an initial value is out of place").at(self.frame_at));
        }
        if let Some(restorer) = &mut self.restorer {
            restorer.restore(batch);
        }
        self.read += batch.events.len() as u64;
        Ok(!batch.is_empty())
    }

    fn names(&self) -> &Names {
        &self.names
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn losses(&self) -> &[Loss] {
        &self.losses
    }

    fn place(&self, _index: usize) -> Option<InputPosition> {
        Some(InputPosition::Byte(self.frame_at))
    }

    fn consumed(&self) -> u64 {
        self.offset
    }

    fn skip_to(&mut self, event: u64) -> Result<(), Error> {
        match self.skip.take() {
            Some(skip) => skip(self, event),
            None => Ok(()),
        }
    }
}

/// Opens frames that are one column of records.
struct TableReader {
    columns: ColumnReader,
    raw: Vec<u8>,
}

impl TableReader {
    fn open(&mut self, payload: &[u8]) -> Result<Cursor<'_>, Damage> {
        let mut from = Cursor::new(payload);
        self.columns.get(&mut from, MAX_COLUMN, &mut self.raw)?;
        from.finish()?;
        Ok(Cursor::new(&self.raw))
    }
}

/// Reads until the buffer is full or the input ends; how much was read.
fn read_up_to(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match input.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(got)
}
