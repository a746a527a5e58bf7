//! The functions behind `foretrace.h`.

use core::slice;

use runtime::record::{Kind, TextFor};

use super::{Pointer, length, record, threads};
use crate::machine::{shim1, shim2};

shim1! {
    foretrace_begin => begin;
    foretrace_end => end;
    foretrace_event0 => event_without_value;
    foretrace_thread => threads::named;
}
shim2! {
    foretrace_event => event;
    foretrace_name => name;
}

unsafe fn labelled(label: *const u8, pc: usize, kind: Kind, payload: u64, word: Option<u64>) {
    let label = if label.is_null() { &[][..] } else { slice::from_raw_parts(label, length(label)) };
    record(pc, |thread| {
        thread.text(TextFor::Label, label, None);
        thread.timed(kind, 0, payload, word);
    });
}

unsafe extern "C" fn begin(label: *const u8, pc: usize) {
    labelled(label, pc, Kind::Begin, 0, None);
}

unsafe extern "C" fn end(label: *const u8, pc: usize) {
    labelled(label, pc, Kind::End, 0, None);
}

unsafe extern "C" fn event(label: *const u8, value: i64, pc: usize) {
    labelled(label, pc, Kind::Internal, 1, Some(value as u64));
}

unsafe extern "C" fn event_without_value(label: *const u8, pc: usize) {
    labelled(label, pc, Kind::Internal, 0, Some(0));
}

unsafe extern "C" fn name(object: Pointer, name: *const u8, pc: usize) {
    if !name.is_null() {
        let name = slice::from_raw_parts(name, length(name));
        record(pc, |thread| thread.text(TextFor::ObjectName, name, Some(object as u64)));
    }
}
