//! The JSON renderer, and its inverse for programs that read stored reports.

use crate::Report;
use crate::layout::Layout;
use serde::Serialize;
use serde_json::Serializer;
use std::io;

/// Why a stored report could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Not JSON, not a report, or a report that contradicts itself; the message names line and column.
    #[error("not a foretrace report: {0}")]
    Invalid(#[from] serde_json::Error),
}

/// Writes the report as one JSON object with a newline at the end.
pub fn render_json(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    report.serialize(&mut Serializer::with_formatter(&mut *out, Layout::default()))?;
    out.write_all(b"\n")
}

/// Reads a report that [`render_json`] wrote. Fields this version does not know are skipped.
///
/// No command reads reports yet. It is the way back for those that will take a report as their input, to confirm its
/// findings; the tests use it to show that nothing is lost on the way.
pub fn read_json(bytes: &[u8]) -> Result<Report, ReadError> {
    Ok(serde_json::from_slice(bytes)?)
}
