//! The eight examples of the language: they have no mistakes, and are explained.

use property::check::{Checked, Logic, check_file, explain};
use property::syntax::{Disk, render};

const EXAMPLES: [&str; 8] = [
    "01-landing",
    "02-interval",
    "03-permit",
    "04-becomes-positive",
    "05-mutex",
    "06-bank",
    "07-lost-wakeup",
    "08-response",
];

fn path(name: &str) -> String {
    format!("{}/../../corpus/specs/{name}.rvs", env!("CARGO_MANIFEST_DIR"))
}

fn check(name: &str) -> Checked {
    check_file(&path(name), &Disk)
}

#[test]
fn the_examples_have_no_mistakes() {
    let mut properties = 0;
    for name in EXAMPLES {
        let checked = check(name);
        let shown = render(&checked.diagnostics, &checked.sources, false);
        assert!(checked.diagnostics.is_empty(), "{name}:\n{shown}");
        assert_eq!(checked.specs.len(), 1, "{name}");
        properties += checked.specs[0].properties.len();
    }
    assert_eq!(properties, 13);
}

#[test]
fn the_examples_in_words() {
    let mut words = String::new();
    for name in EXAMPLES {
        for spec in &check(name).specs {
            for property in &spec.properties {
                words.push_str(&format!("{}.{}:\n{}\n\n", spec.name, property.name, explain(spec, property)));
            }
        }
    }
    insta::assert_snapshot!("examples_in_words", words);
}

#[test]
fn equal_atoms_are_one_and_what_they_mention_is_relevant() {
    let checked = check("06-bank");
    let spec = &checked.specs[0];
    let adjacent = spec.properties.iter().find(|p| p.name == "race_adjacent").expect("a property");
    assert_eq!(adjacent.atoms.len(), 4, "write and read by i, write and read by j");
    assert_eq!((adjacent.relevant.variables.len(), adjacent.relevant.events.len()), (0, 4));
    assert!(adjacent.filter.is_some());
    let landing = check("01-landing");
    let property = &landing.specs[0].properties[0];
    assert_eq!((property.atoms.len(), property.relevant.variables.len()), (3, 3));
    assert_eq!(property.handlers.len(), 2, "the handlers after a property are its own");
    assert!(matches!(property.logic, Logic::Past(_)));
}
