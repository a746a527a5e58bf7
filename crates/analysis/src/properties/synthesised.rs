//! Properties synthesised from `check` lines: `check mutex of r` (no two threads are in the region at once), and
//! `check races using MODEL` (no run of the model has two accesses of a variable side by side, one of them a write).

use event::Causality;
use property::check::{Check, CheckKind, Checked, RaceMethod, Spec, Suppression, Variable, VariableKind, check_file};
use property::syntax::{Loader, sort_text};

/// The text of a specification that is no file.
struct Synthesised(String);

impl Loader for Synthesised {
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

/// Whether a check is such a property; `maximal` is a detector of its own.
fn is_property(what: &CheckKind) -> bool {
    match what {
        CheckKind::Mutex(_) => true,
        CheckKind::Races(_, Some(RaceMethod::Model(model))) => *model != Causality::Maximal,
        _ => false,
    }
}

/// A specification with the properties of each check that is made of them.
pub(super) fn properties(spec: &Spec) -> Vec<Checked> {
    spec.checks.iter().filter(|check| is_property(&check.what)).filter_map(|check| one(spec, check)).collect()
}

fn one(spec: &Spec, check: &Check) -> Option<Checked> {
    let (name, text) = match &check.what {
        CheckKind::Mutex(regions) => {
            ("mutex", regions.iter().filter_map(|&r| mutex(&spec.variables[r as usize])).collect())
        }
        CheckKind::Races(on, Some(RaceMethod::Model(model))) => {
            let number = |v: &Variable| spec.variables.iter().position(|other| other.name == v.name);
            let wanted = |v: &&Variable| on.is_empty() || number(v).is_some_and(|n| on.contains(&(n as u32)));
            ("races", spec.variables.iter().filter(wanted).filter_map(|v| adjacency(v, *model)).collect())
        }
        _ => return None,
    };
    let text: String = text;
    if text.is_empty() {
        return None;
    }
    let mut checked = check_file(name, &Synthesised(format!("spec {} {{\n{text}}}\n", spec.name)));
    for built in &mut checked.specs {
        built.settings = check.settings.or(spec.settings);
        built.handlers.clone_from(&spec.handlers);
        let silenced = spec.suppressions.iter().filter(|suppression| suppression.name == name);
        built.suppressions = silenced
            .flat_map(|s| built.properties.iter().map(|p| Suppression { name: p.name.clone(), ..s.clone() }))
            .collect();
    }
    Some(checked)
}

fn place(variable: &Variable) -> Option<String> {
    let place = variable.place.as_ref()?;
    Some(format!("{} \"{}\"", place.lang.text(), place.recorded().escape_default()))
}

fn mutex(region: &Variable) -> Option<String> {
    let (name, place) = (&region.name, place(region)?);
    Some(format!(
        "  region {name} at {place};\n  \
         property mutex_of_{name}(i : thread, j : thread where i != j) past {{ !({name}[i] && {name}[j]) }}\n"
    ))
}

/// The accesses of a shared variable are never side by side. That is said of all steps of a run: between two accesses
/// of one variable under a lock there is always a step.
fn adjacency(variable: &Variable, model: Causality) -> Option<String> {
    let (name, place) = (&variable.name, place(variable)?);
    let ty = variable.ty.filter(|_| variable.kind == VariableKind::Shared)?.text();
    let sort = variable.index.as_ref().map(sort_text);
    let index = sort.as_ref().map(|sort| format!("[o : {sort}]")).unwrap_or_default();
    let parameter = sort.map(|sort| format!("o : {sort}, ")).unwrap_or_default();
    let x = if index.is_empty() { name.clone() } else { format!("{name}[o]") };
    Some(format!(
        "  shared {ty} {name}{index} at {place};\n  \
         property races_on_{name}({parameter}i : thread, j : thread where i != j) past {{\n    \
         (write({x}, i) -> !prev write({x}, j)) && (write({x}, i) -> !prev read({x}, j)) && \
         (read({x}, i) -> !prev write({x}, j))\n  \
         }} with {{ causality = {}; steps = all; }}\n",
        model.keyword()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let checked = check_file("s", &Synthesised(text.to_owned()));
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let built = properties(&checked.specs[0]);
        let diagnostics: Vec<_> = built.iter().flat_map(|checked| &checked.diagnostics).collect();
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        let specs = built.iter().flat_map(|checked| &checked.specs);
        for built in specs.clone() {
            let place = &checked.specs[0].variables.iter().find(|v| v.name == built.variables[0].name).unwrap().place;
            assert_eq!(&built.variables[0].place, place);
            assert!(properties(built).is_empty(), "it asks for nothing more");
        }
        specs.flat_map(|spec| spec.properties.iter().map(|property| property.name.clone())).collect()
    }

    #[test]
    fn a_region_becomes_a_property() {
        let text =
            "spec S {\n  region r at java Server.critical;\n  region q at trace \"a b\";\n  check mutex of r, q;\n}\n";
        assert_eq!(names(text), ["mutex_of_r", "mutex_of_q"]);
    }

    #[test]
    fn races_of_a_model_become_properties() {
        let text = "spec S {\n  shared int x at java A.x;\n  shared bool y at java A.y;\n  \
                    shared int v[o : object<C>] at java C.v;\n  check races on y, v using weak_hb;\n  \
                    check races using full_hb;\n  check races using maximal;\n}\n";
        assert_eq!(names(text), ["races_on_y", "races_on_v", "races_on_x", "races_on_y", "races_on_v"]);
    }
}
