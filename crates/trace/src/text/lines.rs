//! Whole lines out of a stream of bytes, in one buffer that is refilled: lines are never copied one by one.

use crate::limits::MAX_LINE_BYTES;
use std::io::{self, ErrorKind, Read};

const FIRST_BUFFER: usize = 1 << 18;

/// A whole line and its line feed fit the largest buffer exactly.
const LARGEST_BUFFER: usize = MAX_LINE_BYTES + 1;

/// What refilling the buffer brought.
#[derive(Debug)]
pub(super) enum Fill {
    /// There are whole lines.
    Lines,
    /// The input has ended with a line that no line feed ends: see [`Lines::tail`].
    Tail,
    /// The input has ended.
    End,
    /// A line is longer than [`MAX_LINE_BYTES`].
    TooLong,
    /// The input could not be read on.
    Broken(io::Error),
}

/// The input and the part of it in memory.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: R,
    buffer: Vec<u8>,
    /// What lies before it has been dealt with.
    at: usize,
    /// The end of the last whole line.
    whole: usize,
    /// The end of what has been read.
    end: usize,
    /// Bytes that have left the buffer.
    gone: u64,
}

impl<R: Read> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Lines { input, buffer: vec![0; FIRST_BUFFER], at: 0, whole: 0, end: 0, gone: 0 }
    }

    /// The input begins behind so many bytes of the text.
    pub(super) fn behind(mut self, bytes: u64) -> Self {
        self.gone = bytes;
        self
    }

    /// The whole lines in memory that have not been taken; the last byte is a line feed.
    #[inline]
    pub(super) fn text(&self) -> &[u8] {
        &self.buffer[self.at..self.whole]
    }

    /// The first bytes of that have been dealt with.
    #[inline]
    pub(super) fn take(&mut self, bytes: usize) {
        self.at += bytes;
    }

    /// The last line, which no line feed ends.
    pub(super) fn tail(&self) -> &[u8] {
        &self.buffer[self.at..self.end]
    }

    /// Bytes taken so far.
    pub(super) fn consumed(&self) -> u64 {
        self.gone + self.at as u64
    }

    /// Bytes read so far.
    pub(super) fn read(&self) -> u64 {
        self.gone + self.end as u64
    }

    /// Reads on, when all whole lines have been taken, until there is another one.
    pub(super) fn fill(&mut self) -> Fill {
        self.buffer.copy_within(self.at..self.end, 0);
        self.gone += self.at as u64;
        self.end -= self.at;
        (self.at, self.whole) = (0, 0);
        loop {
            if self.end == self.buffer.len() {
                if self.end >= LARGEST_BUFFER {
                    return Fill::TooLong;
                }
                self.buffer.resize((self.end * 2).min(LARGEST_BUFFER), 0);
            }
            let fresh = match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => {
                    self.skip_mark();
                    return if self.at == self.end { Fill::End } else { Fill::Tail };
                }
                Ok(fresh) => fresh,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Fill::Broken(error),
            };
            let before = self.end;
            self.end += fresh;
            if let Some(at) = memchr::memrchr(b'\n', &self.buffer[before..self.end]) {
                self.whole = before + at + 1;
                self.skip_mark();
                return Fill::Lines;
            }
        }
    }

    /// Skips the byte order mark that some editors put at the beginning of a text.
    fn skip_mark(&mut self) {
        const MARK: &[u8] = "\u{feff}".as_bytes();
        if self.gone == 0 && self.buffer[..self.end].starts_with(MARK) {
            self.at = MARK.len();
        }
    }
}
