//! The metadata log: what the observer needs to name things. It is two files beside the process' one, which only
//! grow.
//!
//! `.java` is text. Each line is a letter and parts, with tabs between them. Classes and sites are numbered from 1 as
//! they come.
//!
//! * `c PARENT NAME SOURCE FIELD…`: a class, with the number of its super class, and its fields as `flags:name`.
//! * `p CLASS PARENT` and `f CLASS SOURCE`: the super class and the source file of a class, if they are known only
//!   later.
//! * `s CLASS METHOD LINE FIELD`: a site; the field in which an object is put there, if one is.
//! * `o OBJECT OWNER SITE`: an object is put at a site in a field of its owner (0: the field is static), by addresses.
//! * `k CALLER SITE`: a call context: the site, and the context that led there (0: none). They are numbered from
//!   [`java::SITES`](runtime::java::SITES) on.
//! * `n TEXT`: a note for the report.
//!
//! `.objects` has three words for each object, by rising addresses: the address; how many parts it has, and above bit
//! 32 its class's number (bit 63: the static fields of the class, or the class as an object); the site where it was
//! made, or 0.

use crate::session::{allocate, map};
use runtime::java::OBJECT_BYTES;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

/// The first address of an object. `Shadow.java` draws the addresses of an object and its parts.
const FIRST: u64 = 1 << 16;
/// Where addresses end.
const END: u64 = 1 << 46;
/// How much the file of objects grows at a time, and at most.
const GROWTH: usize = 1 << 20;
const MOST: usize = 1 << 33;

/// The two files.
pub(crate) struct MetadataLog {
    text: File,
    objects: File,
    at: *mut u8,
    room: usize,
    used: usize,
    next: u64,
}

// SAFETY: the memory behind the pointer is mapped for good, and only the owner of the log uses it.
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
        // If this fails, things have no names, but the recording goes on.
        let _ = self.text.write_all(lines.as_bytes());
    }

    /// The address of a new object; 0 if there is no room for more.
    pub(crate) fn object(&mut self, class: u64, parts: u64, site: u64) -> u64 {
        // After its parts comes what the object guards as a lock, unseen.
        let size = 8 * (2 + parts);
        if self.used + OBJECT_BYTES > self.room {
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
        // SAFETY: inside the map, where there is memory behind it. The address is stored last: the observer reads up
        // to the first zero.
        unsafe {
            let entry = self.at.add(self.used).cast::<AtomicU64>();
            (*entry.add(2)).store(site, Release);
            (*entry.add(1)).store(class << 32 | parts.min(u64::from(u32::MAX)), Release);
            (*entry).store(address, Release);
        }
        self.used += OBJECT_BYTES;
        address
    }

    /// Says where an object was made that has an address already.
    pub(crate) fn made(&self, address: u64, site: u64) {
        // SAFETY: inside the map, and of entries that are there.
        let word =
            |entry: usize, word: usize| unsafe { &*self.at.add(entry * OBJECT_BYTES).cast::<AtomicU64>().add(word) };
        // The entries are sorted by address.
        let (mut from, mut until) = (0, self.used / OBJECT_BYTES);
        while from < until {
            let middle = (from + until) / 2;
            if word(middle, 0).load(Relaxed) < address { from = middle + 1 } else { until = middle }
        }
        if from < self.used / OBJECT_BYTES && word(from, 0).load(Relaxed) == address {
            word(from, 2).store(site, Release);
        }
    }
}

/// A name without what separates the parts of a line.
pub(crate) fn clean(name: &[u8]) -> String {
    String::from_utf8_lossy(name).replace(['\t', '\n', '\r'], "?")
}
