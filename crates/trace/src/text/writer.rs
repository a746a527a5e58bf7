//! Writes events as text in normal form: reading and writing again gives the same bytes.

use super::escape::{At, write_name, write_site};
use super::grammar::SOMETHING_IS_MISSING;
use super::value;
use crate::limits::MAX_LINE_BYTES;
use crate::{Error, InputPosition, Loss};
use event::{Batch, Event, Init, Item, Names, Order, Space, Value, Wake};
use std::io::Write;

const BUFFER: usize = 1 << 16;

/// Writes text traces. What text cannot hold (call stacks, modules, where threads began) is left out.
#[derive(Debug)]
pub struct TextWriter<W> {
    output: W,
    buffer: Vec<u8>,
    /// Lines written so far.
    line: u64,
}

impl<W: Write> TextWriter<W> {
    /// Writes to here. The writer has its own buffer; a buffered output is not needed.
    pub fn new(output: W) -> Self {
        TextWriter { output, buffer: Vec::with_capacity(2 * BUFFER), line: 0 }
    }

    /// Writes a batch.
    pub fn write_batch(&mut self, names: &Names, batch: &Batch) -> Result<(), Error> {
        for item in batch.items() {
            match item {
                Item::Init(init) => self.write_line(|out| write_init(out, names, init))?,
                Item::Event(_, event) => self.write_line(|out| write_event(out, names, batch, event))?,
            }
        }
        Ok(())
    }

    /// Ends the trace, saying what is missing from it, and gives the output back.
    pub fn finish(mut self, losses: &[Loss]) -> Result<W, Error> {
        for loss in losses {
            self.write_line(|out| {
                let text = loss.to_string();
                out.extend_from_slice(b"#! incomplete ");
                write_site(out, if text.is_empty() { SOMETHING_IS_MISSING } else { &text });
            })?;
        }
        self.output.write_all(&self.buffer)?;
        self.output.flush()?;
        Ok(self.output)
    }

    #[inline]
    fn write_line(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        let start = self.buffer.len();
        write(&mut self.buffer);
        self.line += 1;
        if self.buffer.len() - start > MAX_LINE_BYTES {
            self.buffer.truncate(start);
            let message = format!("its names make the line longer than {MAX_LINE_BYTES} bytes, which text cannot hold");
            return Err(Error::too_large(InputPosition::Line(self.line), message));
        }
        self.buffer.push(b'\n');
        if self.buffer.len() >= BUFFER {
            self.output.write_all(&self.buffer)?;
            self.buffer.clear();
        }
        Ok(())
    }
}

fn write_init(out: &mut Vec<u8>, names: &Names, init: &Init) {
    // One value a line, so that the text does not depend on how the trace was cut into batches.
    out.extend_from_slice(b"#! init ");
    write_name(out, names.str(init.name), At::Init);
    out.push(b'=');
    value::write(out, init.value, |id| names.str(id));
}

/// What an event does, as in a text trace, without its thread and its site: `w(x)=1`.
pub fn event_text(names: &Names, batch: &Batch, event: Event) -> String {
    let mut out = Vec::new();
    write_op(&mut out, names, batch, event);
    String::from_utf8_lossy(&out).into_owned()
}

/// A value, as in a text trace; `?` if it is unknown.
pub fn value_text(names: &Names, value: Value) -> String {
    let mut out = Vec::new();
    value::write(&mut out, value, |id| names.str(id));
    String::from_utf8_lossy(&out).into_owned()
}

#[inline]
fn write_event(out: &mut Vec<u8>, names: &Names, batch: &Batch, event: Event) {
    write_name(out, names.thread(event.thread()), At::LineStart);
    out.push(b'|');
    write_op(out, names, batch, event);
    out.push(b'|');
    write_site(out, names.site(event.site()));
}

#[inline]
fn write_op(out: &mut Vec<u8>, names: &Names, batch: &Batch, event: Event) {
    let op = event.op();
    out.extend_from_slice(op.text().as_bytes());
    if let Some(space) = op.space() {
        let name = names.get(space, event.object());
        if op.has_list() {
            write_list(out, names, batch, event, name);
        } else if !(op.has_optional_name() && name.is_empty()) {
            out.push(b'(');
            write_name(out, name, At::Alone);
            out.push(b')');
        }
    }
    if event.extra() != 0 {
        write_extra(out, names, batch, event);
    }
}

fn write_list(out: &mut Vec<u8>, names: &Names, batch: &Batch, event: Event, name: &str) {
    let extra = batch.extra(event);
    out.push(b'(');
    match event.op() {
        op if op.has_number() => {
            // The last comma separates, so that others may stand in the name.
            write_name(out, name, At::Alone);
            out.push(b',');
            // A pin without a position, which no recorder writes, says as little as one at 0.
            let position = if let Value::Int(n) = extra.value { n.max(0) } else { 0 };
            value::write_int(out, position);
        }
        op if op.has_arguments() => {
            write_name(out, name, At::List);
            for &arg in batch.args(event) {
                out.push(b',');
                value::write(out, arg, |id| names.str(id));
            }
        }
        _ => {
            write_name(out, name, At::List);
            let lock = names.get(Space::Lock, extra.lock.0);
            if lock != name {
                out.push(b',');
                write_name(out, lock, At::List);
            }
        }
    }
    out.push(b')');
}

fn write_extra(out: &mut Vec<u8>, names: &Names, batch: &Batch, event: Event) {
    let (op, extra) = (event.op(), batch.extra(event));
    if op.has_value() && extra.value.is_known() {
        out.push(b'=');
        value::write(out, extra.value, |id| names.str(id));
    }
    if op.has_wake_reason() {
        match extra.wake {
            Wake::Notified => {}
            Wake::Timeout => out.extend_from_slice(b"=timeout"),
            Wake::Spurious => out.extend_from_slice(b"=spurious"),
        }
    }
    if op.has_order() && extra.order != Order::default() {
        out.push(b'@');
        out.extend_from_slice(extra.order.text().as_bytes());
    }
    if extra.inexact {
        out.push(b'~');
    }
}
