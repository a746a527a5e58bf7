//! What the binary format must give back: every event, value, name and table, however the batches were cut.

use crate::common::{Config, Sample, arbitrary_batch, in_words};
use event::{
    Batch, Event, Extra, Made, Meta, Module, Names, Op, Origin, SiteId, Space, StackId, StrId, ThreadId, ThreadInfo,
    Value,
};
use proptest::prelude::*;
use std::io::Cursor;
use trace::binary::{ActionWriter, BinaryReader, BinaryWriter, DeferredPosition, VERSION};
use trace::{Loss, Source, Trace};

/// Writes the events in pieces of these lengths, flushing after those that are even.
fn write(sample: &Sample, pieces: &[usize]) -> Vec<u8> {
    let Sample { names, meta, batch } = sample;
    let mut writer = BinaryWriter::new(Vec::new()).unwrap();
    let mut inits = batch.inits.iter().peekable();
    let mut from = 0usize;
    for &piece in pieces.iter().chain(&[usize::MAX]) {
        let to = from.max(batch.events.len().min(from.saturating_add(piece)));
        let mut part = Batch::default();
        for index in from..to {
            while let Some(init) = inits.next_if(|init| init.before as usize <= index) {
                part.inits.push(event::Init { before: (index - from) as u32, ..*init });
            }
            part.push_from(batch, batch.events[index]);
        }
        if piece == usize::MAX {
            part.inits.extend(inits.by_ref().map(|init| event::Init { before: (to - from) as u32, ..*init }));
        }
        writer.write_batch(names, meta, &part).unwrap();
        if piece % 2 == 0 {
            writer.flush(names, meta).unwrap();
        }
        from = to;
    }
    writer.finish(names, meta).unwrap()
}

/// Writes the events by their actions: bare ones numbered beforehand, or all alike. Flushes after pieces of these
/// lengths that are even.
fn write_actions(sample: &Sample, pieces: &[usize], beforehand: bool, plain: bool) -> Vec<u8> {
    let Sample { names, meta, batch } = sample;
    let mut writer =
        if plain { ActionWriter::plain(Vec::new(), 300_000) } else { ActionWriter::new(Vec::new()) }.unwrap();
    let mut ends = pieces.iter().scan(0usize, |end, &piece| {
        *end += piece;
        Some((*end, piece))
    });
    let mut end = ends.next();
    for item in batch.items() {
        match item {
            event::Item::Init(init) => {
                if writer.add_init(init.name, init.value) {
                    writer.make_room(names, meta).unwrap();
                }
            }
            event::Item::Event(index, event) => {
                while let Some((at, piece)) = end
                    && at <= index
                {
                    if piece % 2 == 0 {
                        writer.flush(names, meta).unwrap();
                    }
                    end = ends.next();
                }
                let extra = batch.extra(event);
                let bare = *extra == (Extra { stack: extra.stack, ..Extra::default() });
                let action = if beforehand && bare && !event.op().is_drop_barrier() {
                    writer.action(event.op(), event.site(), extra.stack)
                } else {
                    None
                };
                let full = match action {
                    Some(action) => writer.add(event.thread(), action, event.object()),
                    None => writer.add_event(event, extra, batch.args(event)),
                };
                if full {
                    writer.make_room(names, meta).unwrap();
                }
            }
        }
    }
    writer.finish(names, meta).unwrap()
}

fn stacks(batch: &Batch) -> Vec<StackId> {
    batch.events.iter().map(|&event| batch.extra(event).stack).collect()
}

fn check(sample: &Sample, bytes: &[u8]) -> Result<(), TestCaseError> {
    let mut by_file = BinaryReader::open(Cursor::new(bytes)).unwrap();
    prop_assert_eq!(by_file.expected_events(), Some(sample.batch.events.len() as u64));
    let mut by_stream = BinaryReader::new(bytes).unwrap();
    for source in [&mut by_file as &mut dyn Source, &mut by_stream] {
        let trace = Trace::read(source).unwrap();
        prop_assert_eq!(&trace.losses, &[]);
        prop_assert_eq!(in_words(&trace.names, &trace.batch), in_words(&sample.names, &sample.batch));
        prop_assert_eq!(stacks(&trace.batch), stacks(&sample.batch));
        prop_assert_eq!(&trace.meta, &sample.meta);
        for space in Space::ALL {
            prop_assert_eq!(trace.names.space(space).len(), sample.names.space(space).len());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]
    #[test]
    fn every_trace_comes_back(
        sample in arbitrary_batch(Config { hostile: true, stacks: true, events: 80 }),
        pieces in prop::collection::vec(0usize..30, 0..6),
    ) {
        check(&sample, &write(&sample, &pieces))?;
        check(&sample, &write_actions(&sample, &pieces, pieces.len() % 2 == 0, pieces.len() % 3 == 0))?;
    }
}

#[test]
fn the_same_trace_gives_the_same_bytes() {
    let sample = long(70_000);
    assert_eq!(write(&sample, &[]), write(&sample, &[]));
    assert_eq!(write_actions(&sample, &[], true, false), write_actions(&sample, &[], false, false));
}

/// A trace of several full frames: loops with strides, and random accesses, so that each prediction hits and misses.
fn long(events: usize) -> Sample {
    let mut names = Names::default();
    let mut batch = Batch::default();
    let threads: Vec<u32> = (0..5).map(|n| names.add(Space::Thread, &format!("T{n}")).unwrap()).collect();
    let vars: Vec<u32> = (0..3000).map(|n| names.add(Space::Var, &format!("v{n}")).unwrap()).collect();
    let sites: Vec<u32> = (0..400).map(|n| names.add(Space::Site, &format!("s{n}")).unwrap()).collect();
    let mut seed = 1u64;
    let mut random = |below: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % below
    };
    while batch.events.len() < events {
        let thread = ThreadId(threads[random(5)]);
        if batch.events.len() / 20_000 % 2 == 0 {
            let start = random(2000);
            for step in 0..100 {
                let site = SiteId(sites[step % 4]);
                let op = if step % 4 == 3 { Op::Write } else { Op::Read };
                batch.events.push(Event::new(thread, op, vars[start + step * 3], site));
            }
        } else {
            let op = if random(3) == 0 { Op::Write } else { Op::Read };
            batch.events.push(Event::new(thread, op, vars[random(3000)], SiteId(sites[random(400)])));
        }
    }
    Sample { names, meta: Meta::default(), batch }
}

#[test]
fn several_frames_of_predictions_and_surprises_come_back() {
    let sample = long(200_000);
    let bytes = write(&sample, &[]);
    check(&sample, &bytes).unwrap();
    assert!(bytes.len() < 200_000 * 4, "{} bytes", bytes.len());
    let bytes = write_actions(&sample, &[], true, false);
    check(&sample, &bytes).unwrap();
    assert!(bytes.len() < 200_000 * 4, "{} bytes", bytes.len());
    // Not compressed at first.
    let plain = write_actions(&sample, &[], true, true);
    check(&sample, &plain).unwrap();
    assert!(plain.len() > bytes.len() && plain.len() < bytes.len() + 600_000, "{} bytes", plain.len());
}

/// Frames are read in pieces: neither extras nor initial values may get lost or shifted between them.
#[test]
fn extras_and_initial_values_of_long_frames_come_back() {
    let mut sample = long(80_000);
    let name = StrId(sample.names.add(Space::Str, "v7").unwrap());
    let bare = std::mem::take(&mut sample.batch);
    for (index, &event) in bare.events.iter().enumerate() {
        // The first frame has initial values, the second has none.
        if index < 30_000 && index % 9_000 == 8_000 {
            sample.batch.push_init(name, Value::Int(index as i64));
        }
        let value = if index % 7 == 3 { Value::Int(index as i64) } else { Value::Unknown };
        let extra = sample.batch.add_extra(Extra { value, ..Extra::default() });
        sample.batch.events.push(Event::with_extra(event.thread(), event.op(), event.object(), event.site(), extra));
    }
    assert!(sample.batch.inits.len() > 2);
    check(&sample, &write(&sample, &[])).unwrap();
    check(&sample, &write_actions(&sample, &[], true, false)).unwrap();
}

#[test]
fn reading_can_begin_at_any_event() {
    // Enough for two key frames.
    let sample = long(33 * 32_768 + 100);
    begins_anywhere(&sample, &write(&sample, &[]));
    begins_anywhere(&sample, &write_actions(&sample, &[], true, false));
}

fn begins_anywhere(sample: &Sample, bytes: &[u8]) {
    for from in [0, 1, 32_767, 32_768, 32 * 32_768 - 1, 32 * 32_768, 33 * 32_768 + 99, 9_999_999] {
        let mut reader = BinaryReader::open(Cursor::new(bytes)).unwrap();
        reader.skip_to(from as u64).unwrap();
        let mut batch = Batch::default();
        let mut next = None;
        while reader.next_batch(&mut batch).unwrap() {
            let first = batch.first as usize;
            assert!(first <= from || next == Some(first));
            next = Some(first + batch.events.len());
            assert!(batch.events == sample.batch.events[first..first + batch.events.len()], "from {from}");
        }
        assert!(from < 32 * 32_768 || reader.losses().is_empty());
        assert_eq!(next, Some(sample.batch.events.len()));
    }
}

/// One of each way to make an object.
fn origins() -> Vec<Origin> {
    let heap = Origin {
        space: Space::Var,
        id: 7,
        made: Made::Heap,
        thread: ThreadId(1),
        site: SiteId(3),
        stack: StackId(1),
        size: u64::MAX,
    };
    let global = Origin { id: 8, made: Made::Global, stack: StackId(0), size: 4, ..heap };
    vec![heap, global, Origin { made: Made::Initialised, ..global }]
}

#[test]
fn tables_come_back() {
    let mut sample = long(10);
    let text = |names: &mut Names, text: &str| StrId(names.add(Space::Str, text).unwrap());
    let (path, build_id) = (text(&mut sample.names, "/lib/x.so"), text(&mut sample.names, "00ff"));
    sample.meta.modules.push(Module { path, build_id, base: u64::MAX, size: 4096 });
    let stack = sample.meta.stacks.push(SiteId(1), StackId(0)).unwrap();
    let deeper = sample.meta.stacks.push(SiteId(2), stack).unwrap();
    let name = text(&mut sample.names, "worker");
    sample.meta.threads.push(ThreadInfo { thread: ThreadId(1), name, site: SiteId(3), stack: deeper });
    sample.meta.origins = origins();
    let library = text(&mut sample.names, "libx.so");
    sample.meta.libraries = vec![(SiteId(1), library), (SiteId(3), library)];
    check(&sample, &write(&sample, &[3])).unwrap();
    check(&sample, &write_actions(&sample, &[3], true, false)).unwrap();
    assert_eq!(sample.meta.stacks.frames(deeper).collect::<Vec<_>>(), [SiteId(2), SiteId(1)]);
}

#[test]
fn losses_come_back() {
    let names = Names::default();
    let mut writer = BinaryWriter::new(Vec::new()).unwrap();
    writer.write_loss(&Loss { place: None, message: "3 chunks were dropped".into() }).unwrap();
    let bytes = writer.finish(&names, &Meta::default()).unwrap();
    let trace = Trace::read(&mut BinaryReader::open(Cursor::new(bytes)).unwrap()).unwrap();
    assert_eq!(trace.losses, [Loss { place: None, message: "3 chunks were dropped".into() }]);
}

#[test]
fn frames_of_an_unknown_kind_are_skipped() {
    let sample = long(1000);
    let bytes = write(&sample, &[500]);
    // A frame as a later version might write it, put before the others.
    let mut header = [0u8; 20];
    header[0] = 77;
    header[4..8].copy_from_slice(&5u32.to_le_bytes());
    header[12..16].copy_from_slice(&crc32fast::hash(b"later").to_le_bytes());
    let crc = crc32fast::hash(&header[..16]);
    header[16..].copy_from_slice(&crc.to_le_bytes());
    let later = [&bytes[..16], &header, b"later", &bytes[16..]].concat();
    let trace = Trace::read(&mut BinaryReader::new(&later[..]).unwrap()).unwrap();
    assert_eq!(trace.losses, []);
    assert_eq!(in_words(&trace.names, &trace.batch), in_words(&sample.names, &sample.batch));
}

#[test]
fn a_later_version_is_refused_with_advice() {
    let mut bytes = write(&long(3), &[]);
    bytes[8] = VERSION as u8 + 1;
    let crc = crc32fast::hash(&bytes[..12]);
    bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    let error = BinaryReader::new(&bytes[..]).err().unwrap().to_string();
    let (later, reads) = (VERSION + 1, format!("this program reads versions 1 to {VERSION}"));
    assert_eq!(error, format!("byte 8: format version {later}: {reads}; use a newer foretrace"));
}

/// The path of a stored file.
fn data(name: &str) -> String {
    format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A trace with a frame of every kind that a version has, and several of events: with all predictions and without, key
/// and not.
fn fixture(version: u32, events: usize) -> (Vec<u8>, Sample) {
    let mut sample = long(events);
    // The operations that the version has, in text: a version that adds some has a text of its own.
    let every = (1..=version).rev().find_map(|older| std::fs::read(data(&format!("version{older}.std"))).ok()).unwrap();
    let every = Trace::read(&mut trace::text::TextReader::new(&every[..])).unwrap();
    let Sample { names, meta, batch } = &mut sample;
    // The events of every kind come last, in the numbering of this trace.
    let renamed = |names: &mut Names, space, number| names.add(space, every.names.get(space, number)).unwrap();
    let value = |names: &mut Names, value| match value {
        Value::Str(id) => Value::Str(StrId(renamed(names, Space::Str, id.0))),
        value => value,
    };
    let mut stacks = Vec::new();
    // From version 3 on the stack of a site is predicted to be the one that it had the last time.
    let times = if version >= 3 { 2 } else { 1 };
    for item in (0..times).flat_map(|_| every.batch.items()) {
        match item {
            event::Item::Init(init) => {
                let (name, value) = (StrId(renamed(names, Space::Str, init.name.0)), value(names, init.value));
                batch.push_init(name, value);
            }
            event::Item::Event(_, e) => {
                let mut extra = *every.batch.extra(e);
                if e.op().has_lock_argument() {
                    extra.lock = event::LockId(renamed(names, Space::Lock, extra.lock.0));
                }
                extra.value = value(names, extra.value);
                if extra.args_len > 0 {
                    extra.args_start = batch.args.len() as u32;
                    for &arg in every.batch.args(e) {
                        let arg = value(names, arg);
                        batch.args.push(arg);
                    }
                }
                let site = SiteId(renamed(names, Space::Site, e.site().0));
                extra.stack = match stacks.iter().find(|(known, _)| *known == site) {
                    Some(&(_, stack)) if version >= 3 => stack,
                    _ => meta.stacks.push(site, StackId(meta.stacks.len() as u32 - 1)).unwrap(),
                };
                stacks.push((site, extra.stack));
                let extra = batch.add_extra(extra);
                let thread = ThreadId(renamed(names, Space::Thread, e.thread().0));
                let object = e.op().space().map_or(0, |space| renamed(names, space, e.object()));
                batch.events.push(Event::with_extra(thread, e.op(), object, site, extra));
            }
        }
    }
    let (path, name) = (StrId(names.add(Space::Str, "/lib/x.so").unwrap()), StrId(names.add(Space::Str, "w").unwrap()));
    meta.modules.push(Module { path, build_id: name, base: 4096, size: 1 << 40 });
    meta.threads.push(ThreadInfo { thread: ThreadId(1), name, site: SiteId(3), stack: StackId(2) });
    if version >= 2 {
        meta.origins = origins();
    }
    let mut deferred = Batch::default();
    deferred.events.push(Event::new(ThreadId(0), Op::Read, 1, SiteId(1)));
    let mut records = vec![DeferredPosition { after: 0, sequence: 7 }];
    if version >= 2 {
        deferred.events.push(Event::new(ThreadId(0), Op::Pin, 1, SiteId(1)));
        records.push(DeferredPosition { after: 0, sequence: 8 });
    }
    let loss = Loss { place: None, message: "a chunk".into() };
    let bytes = if version < 4 {
        let mut writer = BinaryWriter::new(Vec::new()).unwrap();
        writer.write_batch(names, meta, batch).unwrap();
        writer.write_deferred(names, meta, &deferred, &records).unwrap();
        writer.write_loss(&loss).unwrap();
        writer.finish(names, meta).unwrap()
    } else {
        by_actions(names, meta, batch, (&deferred, &records), &loss)
    };
    // Where it belongs: before the first event of its thread.
    let at = batch.events.iter().position(|e| e.thread() == ThreadId(0)).unwrap();
    batch.events.insert(at, deferred.events[0]);
    if version >= 2 {
        let extra = batch.add_extra(Extra { value: Value::Int(1), ..Extra::default() });
        batch.events.insert(at + 1, Event::with_extra(ThreadId(0), Op::Pin, 1, SiteId(1), extra));
    }
    for init in batch.inits.iter_mut().filter(|init| init.before as usize > at) {
        init.before += records.len() as u32;
    }
    (bytes, sample)
}

/// Writes the fixture in frames of actions.
fn by_actions(
    names: &Names,
    meta: &Meta,
    batch: &Batch,
    (deferred, records): (&Batch, &[DeferredPosition]),
    loss: &Loss,
) -> Vec<u8> {
    let mut writer = ActionWriter::new(Vec::new()).unwrap();
    for item in batch.items() {
        let full = match item {
            event::Item::Init(init) => writer.add_init(init.name, init.value),
            event::Item::Event(_, event) => writer.add_event(event, batch.extra(event), batch.args(event)),
        };
        if full {
            writer.make_room(names, meta).unwrap();
        }
    }
    for (&event, &at) in deferred.events.iter().zip(records) {
        assert!(!writer.add_deferred_event(event, deferred.extra(event), deferred.args(event), at));
    }
    writer.make_room(names, meta).unwrap();
    writer.make_room_for_deferred(names, meta).unwrap();
    writer.write_loss(loss).unwrap();
    writer.finish(names, meta).unwrap()
}

/// A trace that was written by an earlier version of the format must read for ever: a change of the format that breaks
/// this needs a new version number, and a reader for the old one. (The bytes may change with the compressor: the stored
/// file of version N was written by `FORETRACE_WRITE_FIXTURE=N cargo test -p foretrace-trace stored`, once.)
#[test]
fn stored_traces_still_read() {
    // The short one is what the fuzzer begins with.
    let short = ("4-short".to_owned(), 4, 1_000);
    for (name, version, events) in (1..=VERSION).map(|version| (version.to_string(), version, 70_000)).chain([short]) {
        let (fresh, sample) = fixture(version, events);
        let path = data(&format!("version{name}.ftrace"));
        if std::env::var("FORETRACE_WRITE_FIXTURE").is_ok_and(|wanted| wanted == name) {
            std::fs::write(&path, &fresh).unwrap();
        }
        let stored = std::fs::read(path).unwrap();
        assert_eq!(stored[8], version as u8);
        reads_as(stored, &sample);
        reads_as(fresh, &sample);
    }
}

fn reads_as(bytes: Vec<u8>, sample: &Sample) {
    let trace = Trace::read(&mut BinaryReader::open(Cursor::new(bytes)).unwrap()).unwrap();
    assert_eq!(trace.losses, [Loss { place: None, message: "a chunk".into() }]);
    assert!(in_words(&trace.names, &trace.batch) == in_words(&sample.names, &sample.batch));
    assert_eq!(stacks(&trace.batch), stacks(&sample.batch));
    assert_eq!(trace.meta, sample.meta);
}
