//! What the observer needs to name things: two files beside the process' one, which only grow.
//!
//! `.java` is text, a line each, parts with a tab between: `c PARENT NAME SOURCE FIELD…` is a class (its parent's number; fields as `flags:name`), `s CLASS METHOD LINE` a
//! site, `n TEXT` a note for the report, `p CLASS PARENT` tells the parent of a class, `f CLASS
//! SOURCE` its file; `k CALLER SITE` is a place: the site, and the place that led there (0: none), numbered from [`java::SITES`](runtime::java::SITES). Classes and sites are numbered from 1 as they come.
//!
//! `.objects` has three words for each object, by rising addresses: the address; how many parts it has, and its class's number above that (bit 63: the static fields of the class, or the class as
//! an object); the site where it was made, or 0.

use crate::session::{allocate, map};
use runtime::java::ENTRY;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// The first address. Objects have eight bytes, eight more for each part, and eight behind these for what they guard as a lock (`~`).
const FIRST: u64 = 1 << 16;
/// Where addresses end.
const END: u64 = 1 << 46;
/// Room for objects: what the file grows by, and at most.
const GROWTH: usize = 1 << 20;
const MOST: usize = 1 << 33;

/// The files.
pub(crate) struct MetadataLog {
    text: File,
    objects: File,
    at: *mut u8,
    room: usize,
    used: usize,
    next: u64,
}

// SAFETY: the memory behind the pointer is mapped for good; who has the book is alone with it.
unsafe impl Send for MetadataLog {}

impl MetadataLog {
    pub(crate) fn create(process: &Path) -> std::io::Result<MetadataLog> {
        let beside = |ending: &str| {
            let mut path = process.as_os_str().to_owned();
            path.push(ending);
            OpenOptions::new().read(true).write(true).create_new(true).open(path)
        };
        let (text, objects) = (beside(".java")?, beside(".objects")?);
        objects.set_len(MOST as u64)?;
        let at = map(&objects, MOST, libc::PROT_READ | libc::PROT_WRITE).ok_or_else(std::io::Error::last_os_error)?;
        Ok(MetadataLog { text, objects, at, room: 0, used: 0, next: FIRST })
    }

    /// Adds lines.
    pub(crate) fn write(&mut self, lines: &str) {
        // What cannot be written has no names: the recording goes on.
        let _ = self.text.write_all(lines.as_bytes());
    }

    /// The address of a new object; 0 if there is no room for more.
    pub(crate) fn object(&mut self, class: u64, parts: u64, site: u64) -> u64 {
        // Behind its parts is what it guards as a lock, and nobody sees.
        let size = 8 * (2 + parts);
        if self.used + ENTRY > self.room {
            if self.room == MOST || !allocate(&self.objects, self.room, GROWTH) {
                return 0;
            }
            self.room += GROWTH;
        }
        if self.next + size > END {
            return 0;
        }
        let address = self.next;
        self.next += size;
        // SAFETY: inside the map, where there is memory behind it; the address comes last, for the observer reads up to the first zero.
        unsafe {
            let entry = self.at.add(self.used).cast::<AtomicU64>();
            (*entry.add(2)).store(site, Release);
            (*entry.add(1)).store(class << 32 | parts.min(u64::from(u32::MAX)), Release);
            (*entry).store(address, Release);
        }
        self.used += ENTRY;
        address
    }

    /// An object that is known already was made at a site.
    pub(crate) fn made(&self, address: u64, site: u64) {
        // SAFETY: inside the map, and of entries that are there.
        let word = |entry: usize, word: usize| unsafe { &*self.at.add(entry * ENTRY).cast::<AtomicU64>().add(word) };
        // They are sorted.
        let (mut from, mut until) = (0, self.used / ENTRY);
        while from < until {
            let middle = (from + until) / 2;
            if word(middle, 0).load(Relaxed) < address { from = middle + 1 } else { until = middle }
        }
        if from < self.used / ENTRY && word(from, 0).load(Relaxed) == address {
            word(from, 2).store(site, Release);
        }
    }
}

/// A name as a part of a line.
pub(crate) fn clean(name: &[u8]) -> String {
    String::from_utf8_lossy(name).replace(['\t', '\n', '\r'], "?")
}
