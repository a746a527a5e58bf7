//! `foretrace spec`: checks a specification and says what its properties mean.

mod dot;
mod text;

use super::print;
use crate::args::Spec;
use crate::specs::{complain, load, wants_color};
use anyhow::{Result, bail};
use property::study;
use property::syntax::Severity;
use std::io::{stderr, stdout};

pub(crate) fn run(args: &Spec) -> Result<u8> {
    let color = wants_color(args.color, &stderr());
    let checked = load(&args.file, color)?;
    let mut diagnostics = Vec::new();
    let mut specs = Vec::new();
    for spec in &checked.specs {
        let mut studies = Vec::new();
        for property in &spec.properties {
            match study::study(spec, property, &checked.sources) {
                Ok(study) => {
                    diagnostics.extend(study::warnings(property, &study));
                    studies.push((property, study));
                }
                Err(reason) => diagnostics.push(study::failure(property, &reason)),
            }
        }
        specs.push((spec, studies));
    }
    complain(&diagnostics, &checked.sources, color);
    let failed = diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
    if failed > 0 {
        let name = args.file.display();
        bail!("{name}: {failed} {} no monitor", if failed == 1 { "property has" } else { "properties have" });
    }
    if args.dot {
        return print(dot::draw(&specs).as_bytes());
    }
    print(text::explain(&specs, wants_color(args.color, &stdout())).as_bytes())
}
