//! What specifications speak of, in the program that is to be watched: variables whose values are recorded, functions that are
//! regions.

use super::searched;
use crate::args::Recorder;
use crate::specs;
use anyhow::{Context, Result, anyhow, bail};
use observe::{Encoding, Watched};
use property::check::{Place, VariableKind};
use property::syntax::ast::Lang;
use source::{Binder, Bound, ValueKind};
use std::path::PathBuf;

/// Binds every `at c` of the specifications. One that matches nothing is an error that offers the nearest names.
pub(crate) fn watched(specs: &[PathBuf], recorder: &Recorder, color: bool) -> Result<Vec<Watched>> {
    let mut binder = None;
    let mut watched: Vec<Watched> = Vec::new();
    let mut failures = Vec::new();
    for path in specs {
        for spec in specs::load(path, color)?.specs {
            for variable in &spec.variables {
                let Some(place) = variable.place.as_ref().filter(|place| place.lang == Lang::C) else { continue };
                let binder = match &mut binder {
                    Some(binder) => binder,
                    none => none.insert(open(recorder)?),
                };
                let bound = match variable.kind {
                    VariableKind::Region => function(binder, place),
                    VariableKind::Shared | VariableKind::Local => value(binder, place),
                };
                match bound {
                    Ok(found) => {
                        let new: Vec<_> = found.into_iter().filter(|one| !watched.contains(one)).collect();
                        watched.extend(new);
                    }
                    Err(error) => failures.push(format!("{}: `{}`: {error:#}", path.display(), variable.name)),
                }
            }
        }
    }
    match failures.as_slice() {
        [] => Ok(watched),
        [one] => Err(anyhow!("{one}")),
        all => Err(anyhow!("names that the program does not have:\n  {}", all.join("\n  "))),
    }
}

fn open(recorder: &Recorder) -> Result<Binder> {
    let program = recorder.command.first().context("no program is named")?;
    let file = searched::find(program).with_context(|| format!("{}: there is no such program", program.display()))?;
    Ok(Binder::open(&file)?)
}

fn value(binder: &mut Binder, place: &Place) -> Result<Vec<Watched>> {
    let name = place.recorded();
    let Bound { module, address, size, kind, bits, tls, .. } = binder.variable(&name)?;
    if tls {
        bail!("`{name}` is thread-local: its values cannot be recorded yet");
    }
    if bits.is_some() {
        bail!("`{name}` is a bit-field: its values cannot be recorded yet");
    }
    let encoding = match kind {
        ValueKind::Signed => Encoding::Signed,
        ValueKind::Unsigned | ValueKind::Pointer => Encoding::Unsigned,
        ValueKind::Float => Encoding::Float,
        ValueKind::Bool => Encoding::Bool,
        ValueKind::Aggregate => bail!("`{name}` is not one value: name a field or an element of it"),
        // Without debug information, what the specification says of it is all there is.
        ValueKind::Unknown => Encoding::Signed,
    };
    let size = u32::try_from(size).ok().filter(|size| [1, 2, 4, 8].contains(size));
    let size = size.with_context(|| format!("`{name}` has a size that is no number's"))?;
    Ok(vec![Watched { module, address, size, name, encoding: Some(encoding) }])
}

fn function(binder: &mut Binder, place: &Place) -> Result<Vec<Watched>> {
    let name = place.recorded();
    let bound = binder.function(&name)?;
    let mut parts = Vec::new();
    for code in bound.code.iter().filter(|code| !code.inlined) {
        let size = u32::try_from(code.high - code.low).context("a function that large")?;
        parts.push(Watched {
            module: bound.module.clone(),
            address: code.low,
            size,
            name: name.clone(),
            encoding: None,
        });
    }
    if parts.is_empty() {
        bail!(
            "`{name}` is inlined everywhere: nothing marks where it begins and ends; compile it with __attribute__((noinline))"
        );
    }
    Ok(parts)
}
