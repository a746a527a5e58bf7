//! The explanation as text.

use property::check::{Property, Spec, atom_text, checks, declarations, explain as in_words, heading};
use property::monitor::{Form, Letter, Size};
use property::study::{MonitorStudy, Study};
use report::{bold, harmless, wrap};

/// Running text is broken at this width.
const WIDTH: usize = 100;

/// How wide the words are that open the lines.
const HEAD: usize = 14;

pub(super) fn explain(specs: &[(&Spec, Vec<(&Property, Study)>)], color: bool) -> String {
    let mut out = String::new();
    for (spec, studies) in specs {
        if !out.is_empty() {
            out.push('\n');
        }
        let target = spec.target.map(|lang| format!(" for {}", lang.text())).unwrap_or_default();
        out += &title(&format!("spec {}{target}", spec.name), color);
        let declared = declarations(spec);
        let wide = declared.iter().map(|(what, _)| what.chars().count()).max().unwrap_or(0);
        for (what, place) in &declared {
            let line = if place.is_empty() { what.clone() } else { format!("{what:<wide$}  at {place}") };
            out += &format!("  {}\n", harmless(&line));
        }
        for check in checks(spec) {
            out += &format!("  {}\n", harmless(&check));
        }
        for (property, study) in studies {
            out.push('\n');
            out += &title(&format!("property {}", heading(property)), color);
            one(spec, property, study, &mut out);
        }
    }
    out
}

fn title(text: &str, color: bool) -> String {
    format!("{}\n", bold(&harmless(text), color))
}

fn one(spec: &Spec, property: &Property, study: &Study, out: &mut String) {
    for line in in_words(spec, property).lines() {
        let indent = if line.starts_with(' ') { "    " } else { "  " };
        for (i, part) in wrap(&harmless(line), WIDTH - 6).iter().enumerate() {
            *out += &format!("{indent}{}{part}\n", if i == 0 { "" } else { "  " });
        }
    }
    let unusual = study.settings.unusual();
    if !unusual.is_empty() {
        entry("settings", &[unusual.join(", ")], out);
    }
    let Some(built) = &study.monitor else {
        entry("monitor", &["none: mttl properties are checked here, and evaluated by a later version".to_owned()], out);
        return;
    };
    let mut sizes = vec![size(&built.size)];
    // Figures that are equal are shown once.
    if let Some(larger) = built.with_unknowns.filter(|larger| *larger != built.size) {
        sizes.push(format!("where values can be unknown: {}", size(&larger)));
    }
    entry("monitor", &sizes, out);
    runs(spec, property, built, out);
}

fn runs(spec: &Spec, property: &Property, built: &MonitorStudy, out: &mut String) {
    let found = &built.runs;
    let steps = |run: &[Letter]| -> Vec<String> {
        run.iter().enumerate().map(|(k, letter)| format!("step {k}: {}", holding(spec, property, *letter))).collect()
    };
    let none = || {
        let text = if found.is_complete() { "no run" } else { "no run that was found; not all were searched" };
        vec![text.to_owned()]
    };
    let unfulfilled = found.shortest_unfulfilled();
    match found.shortest_violating() {
        Some(run) => entry("violated by", &steps(&run), out),
        None if unfulfilled.is_some() => {
            entry("violated by", &["no run for good: what is missing may still come".to_owned()], out);
        }
        None => entry("violated by", &none(), out),
    }
    if let Some(run) = unfulfilled {
        let mut lines = steps(&run);
        lines.push("the end".to_owned());
        entry("unfulfilled by", &lines, out);
    }
    let plain = found.shortest_satisfying();
    entry("satisfied by", &plain.as_deref().map_or_else(none, steps), out);
    // A shortest good run often does nothing at all.
    match &built.condition {
        Some(Some(run)) if Some(run) != plain.as_ref() => entry("condition met", &steps(run), out),
        Some(None) => entry("condition met", &["no run that was found".to_owned()], out),
        _ => {}
    }
}

/// A word, then lines below each other.
fn entry(word: &str, lines: &[String], out: &mut String) {
    for (i, line) in lines.iter().enumerate() {
        *out += &format!("  {:<HEAD$}  {}\n", if i == 0 { word } else { "" }, harmless(line));
    }
}

fn holding(spec: &Spec, property: &Property, letter: Letter) -> String {
    let atoms = (0..64).filter(|&atom| letter.truth(atom) == Some(true));
    let names: Vec<String> = atoms.map(|atom| atom_text(spec, property, atom)).collect();
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}

fn size(size: &Size) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let mut parts = Vec::new();
    match (size.form, size.states) {
        (Form::Table, states) => parts.push(format!("table of {}", count(states.unwrap_or(0), "state"))),
        (Form::Program, _) => parts.push("program".to_owned()),
        (Form::Lazy, states) => {
            parts.push(format!("discovered as it runs, {} so far", count(states.unwrap_or(0), "state")));
        }
    }
    parts.push(format!("{} of the past", count(size.bits as usize, "bit")));
    parts.push(count(size.bytes, "byte"));
    parts.join(", ")
}
