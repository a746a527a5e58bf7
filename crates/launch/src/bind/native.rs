//! What specifications bind `at c`: variables and functions of a C or C++ program.

use super::{Wanted, native_events};
use observe::{Encoding, Use, Watched};
use property::check::Place;
use source::{Binder, BoundFunction, ValueKind};
use std::path::Path;

/// A program's names, and what was found by them.
pub(super) struct Native {
    binder: Binder,
    watched: Vec<Watched>,
    /// What the user should know, by the name of the place.
    notes: Vec<String>,
}

impl Native {
    pub(super) fn open(file: &Path) -> Result<Native, source::Error> {
        Ok(Native { binder: Binder::open(file)?, watched: Vec::new(), notes: Vec::new() })
    }

    /// Adds what a place wants recorded.
    pub(super) fn add(&mut self, place: &Place, wanted: Wanted<'_>) -> Result<(), String> {
        let Native { binder, watched, notes } = self;
        let found = match wanted {
            Wanted::Value => value(binder, place, watched),
            Wanted::Region => function(binder, place).and_then(|bound| {
                notes.extend(note_inlined(&bound, place));
                code(bound, place.recorded(), Use::Region)
            }),
            Wanted::Event(one) => native_events::event(binder, one, watched, notes),
        }?;
        let new: Vec<_> = found.into_iter().filter(|one| !watched.contains(one)).collect();
        watched.extend(new);
        Ok(())
    }

    /// Looks for a lock that is a variable of the program.
    pub(super) fn lock(&mut self, place: &Place) -> Result<(), String> {
        let name = place.recorded();
        if name.contains(['#', '@']) {
            return Ok(());
        }
        self.binder.variable(&name).map(drop).map_err(|error| error.to_string())
    }

    pub(super) fn finish(self) -> (Vec<Watched>, Vec<String>) {
        (self.watched, self.notes)
    }
}

fn value(binder: &mut Binder, place: &Place, known: &[Watched]) -> Result<Vec<Watched>, String> {
    let name = place.recorded();
    let source::Bound { module, address, size, kind, bits, tls, .. } =
        binder.variable(&name).map_err(|error| error.to_string())?;
    if tls {
        return Err(format!("`{name}` is thread-local: its values cannot be recorded yet"));
    }
    let encoding = match kind {
        ValueKind::Signed => Encoding::Signed,
        ValueKind::Unsigned | ValueKind::Pointer => Encoding::Unsigned,
        ValueKind::Float => Encoding::Float,
        ValueKind::Bool => Encoding::Bool,
        ValueKind::Aggregate => return Err(format!("`{name}` is not one value: name a field or an element of it")),
        // Without debug information, what the specification says of it is all there is.
        ValueKind::Unknown => Encoding::Signed,
    };
    if let Some((first, width)) = bits {
        let (address, first) = (address + first / 8, first % 8);
        let size = (first + width).div_ceil(8);
        // What both watched and unwatched accesses of it lie in.
        if address / 8 != (address + size - 1) / 8 {
            return Err(format!("the bit-field `{name}` is spread over two words: its values cannot be recorded"));
        }
        let used = Use::Bits { encoding, first: first as u8, width: width as u8 };
        let same_word = |watched: &&Watched| (&watched.module, watched.address / 8) == (&module, address / 8);
        let other = |watched: &&Watched| matches!(watched.used, Use::Bits { .. }) && watched.name != name;
        if let Some(other) = known.iter().filter(same_word).find(other) {
            return Err(format!(
                "`{name}` and `{}` are bit-fields of one word: only one of them can be bound",
                other.name
            ));
        }
        return Ok(vec![Watched { module, address, size: size as u32, name, used }]);
    }
    let size = u32::try_from(size).ok().filter(|size| [1, 2, 4, 8].contains(size));
    let size = size.ok_or_else(|| format!("`{name}` has a size that is no number's"))?;
    Ok(vec![Watched { module, address, size, name, used: Use::Value(encoding) }])
}

/// The function that a place means.
fn function(binder: &mut Binder, place: &Place) -> Result<BoundFunction, String> {
    let query = query(binder, place);
    binder.function(&query).map_err(|error| error.to_string())
}

/// The name by which a function is looked for: a C place has dots where C++ has `::`.
pub(super) fn query(binder: &mut Binder, place: &Place) -> String {
    let plain = place.recorded();
    if place.parts.len() < 2 || binder.function(&plain).is_ok() {
        return plain;
    }
    let name = place.parts.join("::");
    place.file.as_ref().map_or_else(|| name.clone(), |file| format!("{file}:{name}"))
}

/// What is to be said of a function of which some calls are not seen.
pub(super) fn note_inlined(bound: &BoundFunction, place: &Place) -> Option<String> {
    let is_inlined = bound.inlined || bound.code.iter().any(|code| code.inlined);
    is_inlined.then(|| {
        format!(
            "the compiler has inlined calls of `{}`, which are not seen; __attribute__((noinline)) prevents that",
            place.recorded()
        )
    })
}

/// All code of a function that is not inlined.
pub(super) fn code(bound: BoundFunction, name: String, used: Use) -> Result<Vec<Watched>, String> {
    let mut parts = Vec::new();
    for code in bound.code.iter().filter(|code| !code.inlined) {
        let size = u32::try_from(code.high - code.low).map_err(|_| format!("`{name}` is too large a function"))?;
        parts.push(Watched { module: bound.module.clone(), address: code.low, size, name: name.clone(), used });
    }
    if parts.is_empty() {
        return Err(format!(
            "`{name}` is inlined everywhere: nothing marks where it begins and ends; compile it with \
             __attribute__((noinline))"
        ));
    }
    Ok(parts)
}
