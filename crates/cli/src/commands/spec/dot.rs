//! The automata of all properties as one graph for Graphviz.

use property::check::{Property, Spec, atom_text, heading};
use property::study::Study;

/// One graph, each property a box of its own.
pub(super) fn draw(specs: &[(&Spec, Vec<(&Property, Study)>)]) -> String {
    let mut out = String::from("digraph specification {\n  rankdir=LR;\n");
    let mut number = 0;
    for (spec, studies) in specs {
        for (property, study) in studies {
            let title = quoted(&format!("{}: {}", spec.name, heading(property)));
            out += &format!("  subgraph cluster_{number} {{\n  label={title};\n");
            match &study.monitor {
                Some(built) => {
                    let name = |atom| report::harmless(&atom_text(spec, property, atom)).into_owned();
                    out += &built.automaton.to_dot_part(&format!("p{number}_"), &name);
                    if !built.automaton.is_complete() {
                        out += &format!("  p{number}_more [shape=note, label=\"more states than are drawn\"];\n");
                    }
                }
                None => out += &format!("  p{number}_none [shape=note, label=\"no automaton\"];\n"),
            }
            out += "  }\n";
            number += 1;
        }
    }
    out + "}\n"
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", report::harmless(text).replace('\\', "\\\\").replace('"', "\\\""))
}
