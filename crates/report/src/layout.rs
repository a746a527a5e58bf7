//! How the JSON is laid out: one field a line, one object a line in lists of objects, other lists on one line, so that
//! a witness of ten thousand events does not become ten thousand lines.

use serde_json::ser::Formatter;
use std::io::{self, Write};

const INDENT: &[u8] = b"  ";

#[derive(Default)]
pub(crate) struct Layout {
    indent: usize,
    /// The object being written has a field.
    has_field: bool,
    /// For every list being written: it is one of objects.
    of_objects: Vec<bool>,
    /// The next value is an element of a list; whether the first.
    element: Option<bool>,
}

impl Layout {
    fn new_line<W: ?Sized + Write>(&self, out: &mut W) -> io::Result<()> {
        out.write_all(b"\n")?;
        (0..self.indent).try_for_each(|_| out.write_all(INDENT))
    }

    /// The blank before an element that stays on the line.
    fn blank<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.element.take() == Some(false) { out.write_all(b" ") } else { Ok(()) }
    }
}

impl Formatter for Layout {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.blank(out)?;
        self.of_objects.push(false);
        out.write_all(b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if self.of_objects.pop() == Some(true) {
            self.indent -= 1;
            self.new_line(out)?;
        }
        out.write_all(b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.element = Some(first);
        if first { Ok(()) } else { out.write_all(b",") }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        if let (Some(_), Some(of_objects)) = (self.element.take(), self.of_objects.last_mut()) {
            if !std::mem::replace(of_objects, true) {
                self.indent += 1;
            }
            self.new_line(out)?;
        }
        self.indent += 1;
        self.has_field = false;
        out.write_all(b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.indent -= 1;
        if self.has_field {
            self.new_line(out)?;
        }
        out.write_all(b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !first {
            out.write_all(b",")?;
        }
        self.new_line(out)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        out.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_field = true;
        Ok(())
    }

    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.blank(out)?;
        out.write_all(b"\"")
    }

    fn write_u64<W: ?Sized + Write>(&mut self, out: &mut W, value: u64) -> io::Result<()> {
        self.blank(out)?;
        write!(out, "{value}")
    }
}
