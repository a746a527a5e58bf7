//! The source that reads a text line by line, whatever its grammar: batches, line numbers, losses and errors.

use super::grammar::{Grammar, Sink};
use super::line_numbers::LineNumbers;
use super::lines::{Fill, Lines};
use super::table::{Fault, Table};
use crate::decompress::Counter;
use crate::limits::MAX_LINE_BYTES;
use crate::{Error, InputPosition, Loss, ResumePoint, Source};
use event::{Batch, Meta, Names};
use std::io::{ErrorKind, Read};

/// Events in a batch.
const BATCH_EVENTS: usize = 1 << 14;

/// A batch ends early when it has this many arguments or initial values: they are not bounded by its events.
const BATCH_VALUES: usize = 1 << 16;

/// Reads a text of any length in bounded memory: only the names grow.
#[derive(Debug)]
pub struct LineReader<R, G> {
    lines: Lines<R>,
    grammar: G,
    table: Table,
    meta: Meta,
    losses: Vec<Loss>,
    places: LineNumbers,
    /// Lines taken so far.
    line: u64,
    /// The index of the next event.
    next: u64,
    /// How many events the last batch has.
    delivered: usize,
    /// An error that waits until the events before it have been delivered.
    failed: Option<Error>,
    ended: bool,
    progress: Option<Counter>,
}

impl<R: Read, G: Grammar> LineReader<R, G> {
    /// Reads from here. The reader has its own buffer; a buffered input is not needed.
    pub fn new(input: R) -> Self {
        LineReader {
            lines: Lines::new(input),
            grammar: G::default(),
            table: Table::default(),
            meta: Meta::default(),
            losses: Vec::new(),
            places: LineNumbers::default(),
            line: 0,
            next: 0,
            delivered: 0,
            failed: None,
            ended: false,
            progress: None,
        }
    }

    /// Goes on where another reader of the same text was, of which the input has only the rest.
    pub fn resume(input: R, point: ResumePoint, names: Names) -> Self {
        let mut reader = LineReader::new(input);
        reader.lines = reader.lines.behind(point.byte);
        reader.table.names = names;
        (reader.line, reader.next) = (point.line, point.event);
        reader
    }

    /// Lets [`Source::consumed`] count the bytes of the compressed input rather than of the text.
    pub fn with_progress(mut self, counter: Counter) -> Self {
        self.progress = Some(counter);
        self
    }

    /// Takes whole lines until there are no more, or the batch is full, or one is wrong.
    fn take_lines(&mut self, batch: &mut Batch) {
        let text = self.lines.text();
        let mut at = 0;
        while at < text.len() && batch.events.len() < BATCH_EVENTS {
            if let Some(length) = self.grammar.quick(&text[at..], &mut self.table, batch) {
                at += length;
                self.line += 1;
                continue;
            }
            let length = memchr::memchr(b'\n', &text[at..]).unwrap_or(text.len() - at);
            let line = &text[at..at + length];
            let sink = Sink { table: &mut self.table, batch, losses: &mut self.losses };
            self.line += 1;
            at += length + 1;
            match take_line(&mut self.grammar, line, sink) {
                Ok(true) => {}
                Ok(false) => self.places.jump(batch.events.len(), self.line + 1),
                Err(fault) => {
                    self.failed = Some(error(fault, self.line));
                    break;
                }
            }
            if batch.args.len() >= BATCH_VALUES || batch.inits.len() >= BATCH_VALUES {
                break;
            }
        }
        self.lines.take(at);
    }

    /// Takes the last line, which no line feed ends.
    fn take_tail(&mut self, batch: &mut Batch) {
        let tail = self.lines.tail();
        let sink = Sink { table: &mut self.table, batch, losses: &mut self.losses };
        self.line += 1;
        let length = tail.len();
        match take_line(&mut self.grammar, tail, sink) {
            Ok(_) => {}
            Err(Fault::Malformed(why)) => self.losses.push(Loss {
                place: Some(InputPosition::Line(self.line)),
                message: format!("the last line is cut off: {length} bytes ignored ({why})"),
            }),
            Err(fault) => self.failed = Some(error(fault, self.line)),
        }
        self.lines.take(length);
    }

    /// Reads on when there are no more whole lines.
    fn fill(&mut self, batch: &mut Batch) {
        match self.lines.fill() {
            Fill::Lines => {}
            Fill::Tail => {
                self.take_tail(batch);
                self.ended = true;
            }
            Fill::End => self.ended = true,
            Fill::TooLong => {
                let message = format!("the line is longer than {MAX_LINE_BYTES} bytes");
                self.failed = Some(Error::too_large(InputPosition::Line(self.line + 1), message));
            }
            Fill::Broken(why) => {
                let message = match why.kind() {
                    _ if self.lines.read() == 0 => None,
                    ErrorKind::UnexpectedEof => Some(format!("the input is cut off, and the rest is missing ({why})")),
                    ErrorKind::InvalidData => Some(format!(
                        "the input is damaged: what comes shortly before may be wrong, and the rest is missing ({why})"
                    )),
                    _ => None,
                };
                match message {
                    Some(message) => {
                        self.losses.push(Loss { place: Some(InputPosition::Line(self.line + 1)), message });
                        self.ended = true;
                    }
                    None => self.failed = Some(Error::Io(why)),
                }
            }
        }
    }
}

fn take_line<G: Grammar>(grammar: &mut G, line: &[u8], sink: Sink<'_>) -> Result<bool, Fault> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = str::from_utf8(line).map_err(|e| format!("byte {} of the line is not UTF-8", e.valid_up_to() + 1))?;
    if let Some(at) = memchr::memchr(0, line.as_bytes()) {
        return Err(format!("byte {} of the line is NUL: this is not a text trace", at + 1).into());
    }
    grammar.line(line, sink)
}

fn error(fault: Fault, line: u64) -> Error {
    match fault {
        Fault::Malformed(message) => Error::malformed(InputPosition::Line(line), message),
        Fault::TooLarge(message) => Error::too_large(InputPosition::Line(line), message),
    }
}

impl<R: Read + Send, G: Grammar + Send> Source for LineReader<R, G> {
    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        batch.clear(self.next);
        self.places.restart(self.line + 1);
        let mut filled = false;
        while !self.ended
            && self.failed.is_none()
            && batch.events.len() < BATCH_EVENTS
            && batch.args.len() < BATCH_VALUES
            && batch.inits.len() < BATCH_VALUES
        {
            if self.lines.text().is_empty() {
                // More may be long in coming: what is there is handed on.
                if !batch.is_empty() {
                    break;
                }
                // A buffer full of empty lines and comments: there may be millions more.
                if std::mem::replace(&mut filled, true) {
                    self.delivered = 0;
                    return Ok(true);
                }
                self.fill(batch);
            } else {
                self.take_lines(batch);
            }
        }
        self.delivered = batch.events.len();
        self.next += self.delivered as u64;
        if !batch.is_empty() {
            return Ok(true);
        }
        match self.failed.take() {
            Some(error) => {
                self.ended = true;
                Err(error)
            }
            None => Ok(false),
        }
    }

    fn names(&self) -> &Names {
        &self.table.names
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn losses(&self) -> &[Loss] {
        &self.losses
    }

    fn place(&self, index: usize) -> Option<InputPosition> {
        (index < self.delivered).then(|| self.places.line(index).map(InputPosition::Line)).flatten()
    }

    fn resume_point(&self) -> Option<ResumePoint> {
        let plain = G::LINES_STAND_ALONE && self.progress.is_none() && !self.ended && self.failed.is_none();
        plain.then(|| ResumePoint { byte: self.lines.consumed(), line: self.line, event: self.next })
    }

    fn consumed(&self) -> u64 {
        self.progress.as_ref().map_or_else(|| self.lines.consumed(), Counter::get)
    }
}
