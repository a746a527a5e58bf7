//! `check mutex of r`: the region as a property of its own, that no two threads are in it at once.

use property::check::{CheckKind, Checked, Spec, Suppression, check_file};
use property::syntax::Loader;

/// The text of a specification that is no file.
struct Built(String);

impl Loader for Built {
    fn load(&self, _: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.clone().into_bytes())
    }
}

/// A specification with a property for each region that is to be a mutual exclusion; `None` if there is none.
pub(super) fn mutex(spec: &Spec) -> Option<Checked> {
    let regions: Vec<u32> = spec
        .checks
        .iter()
        .flat_map(|check| match &check.what {
            CheckKind::Mutex(regions) => regions.clone(),
            _ => Vec::new(),
        })
        .collect();
    let mut text = String::new();
    for region in regions {
        let variable = &spec.variables[region as usize];
        let place = variable.place.as_ref()?;
        let name = &variable.name;
        let place = format!("{} \"{}\"", place.lang.text(), place.recorded().escape_default());
        text += &format!("  region {name} at {place};\n");
        text += &format!(
            "  property mutex_of_{name}(i : thread, j : thread where i != j) past {{ !({name}[i] && {name}[j]) }}\n"
        );
    }
    if text.is_empty() {
        return None;
    }
    let mut checked = check_file("mutex", &Built(format!("spec {} {{\n{text}}}\n", spec.name)));
    let of_check = spec.checks.iter().find(|check| matches!(check.what, CheckKind::Mutex(_)));
    for built in &mut checked.specs {
        built.knobs = of_check.map_or(spec.knobs, |check| check.knobs.or(spec.knobs));
        built.handlers.clone_from(&spec.handlers);
        let silenced = spec.suppressions.iter().filter(|suppression| suppression.name == "mutex");
        built.suppressions = silenced
            .flat_map(|s| built.properties.iter().map(|p| Suppression { name: p.name.clone(), ..s.clone() }))
            .collect();
    }
    Some(checked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_becomes_a_property() {
        let text =
            "spec S {\n  region r at java Server.critical;\n  region q at trace \"a b\";\n  check mutex of r, q;\n}\n";
        let checked = check_file("s", &Built(text.to_owned()));
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let built = mutex(&checked.specs[0]).expect("two regions");
        assert!(built.diagnostics.is_empty(), "{:?}", built.diagnostics);
        let names: Vec<&str> = built.specs[0].properties.iter().map(|property| property.name.as_str()).collect();
        assert_eq!(names, ["mutex_of_r", "mutex_of_q"]);
        assert_eq!(built.specs[0].variables[0].place, checked.specs[0].variables[0].place);
        assert!(mutex(&built.specs[0]).is_none());
    }
}
