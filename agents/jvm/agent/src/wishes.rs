//! What the observer wants of Java programs: the file `java` of the session.
//!
//! One wish a line: `include PREFIX`, `exclude PREFIX` (of class names, with dots), `field CLASS.NAME` (its values are told), `region CLASS.METHOD`,
//! `entered CLASS.METHOD` and `left CLASS.METHOD` (calls are blocks or events of a specification).

use std::path::Path;
use weave::Mark;

/// Classes that are the JDK's or its tools', and those of builds and tests around the program.
const NOT_THE_PROGRAM: [&str; 18] = [
    "java/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
    "netscape/",
    "org/xml/",
    "org/w3c/",
    "org/ietf/",
    "org/jcp/",
    "foretrace/",
    "org/junit/",
    "junit/",
    "org/hamcrest/",
    "org/apache/maven/",
    "org/codehaus/plexus/",
    "org/gradle/",
    "worker/org/gradle/",
];

/// The classes of loaders by which builds load themselves, and the libraries that they bring: these are not the program's, whatever they are called. What the tools do between threads is not seen.
const NOT_ITS_LOADERS: [&str; 2] = ["org/gradle/", "org/codehaus/plexus/classworlds/"];

/// The wishes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Wishes {
    include: Vec<String>,
    exclude: Vec<String>,
    /// Fields whose values are told: `class/name.field`.
    fields: Vec<String>,
    /// Methods that specifications speak of.
    marks: Vec<(Mark, String)>,
}

impl Wishes {
    /// Reads the file; without it there are none.
    pub(crate) fn read(path: &Path) -> Wishes {
        Wishes::parse(&std::fs::read_to_string(path).unwrap_or_default())
    }

    fn parse(text: &str) -> Wishes {
        let mut wishes = Wishes::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("include", prefix)) => wishes.include.push(prefix.replace('.', "/")),
                Some(("exclude", prefix)) => wishes.exclude.push(prefix.replace('.', "/")),
                Some(("field", name)) => wishes.fields.push(name.to_owned()),
                Some(("region", name)) => wishes.marks.push((Mark::Region, name.to_owned())),
                Some(("entered", name)) => wishes.marks.push((Mark::Entered, name.to_owned())),
                Some(("left", name)) => wishes.marks.push((Mark::Left, name.to_owned())),
                _ => {}
            }
        }
        wishes
    }

    /// Whether a class (`a/b/C`) is to be watched: the longest prefix that names it says so.
    pub(crate) fn has_class(&self, name: &str) -> bool {
        let longest = |prefixes: &[String]| {
            let fits = |prefix: &&String| {
                let rest = name.strip_prefix(prefix.as_str());
                rest.is_some_and(|rest| rest.is_empty() || prefix.ends_with('/') || rest.starts_with(['/', '$']))
            };
            prefixes.iter().filter(fits).map(String::len).max()
        };
        let (included, excluded) = (longest(&self.include), longest(&self.exclude));
        match (included, excluded) {
            (Some(included), Some(excluded)) => included > excluded,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            // Who names packages wants these only.
            (None, None) => self.include.is_empty() && !NOT_THE_PROGRAM.iter().any(|prefix| name.starts_with(prefix)),
        }
    }

    /// Whether one is that a loader of this class loads. Who names packages says it himself.
    pub(crate) fn has_class_from(&self, name: &str, loader: &str) -> bool {
        let is_of_builds = NOT_ITS_LOADERS.iter().any(|prefix| loader.starts_with(prefix));
        self.has_class(name) && !(is_of_builds && self.include.is_empty())
    }

    /// Whether the values of a field are told.
    pub(crate) fn has_field(&self, class: &[u8], name: &[u8]) -> bool {
        !self.fields.is_empty() && self.fields.contains(&full(class, name))
    }

    /// Whether those of a field with this name are, of some class.
    pub(crate) fn has_field_named(&self, name: &[u8]) -> bool {
        let is_it = |field: &String| field.rsplit('.').next().is_some_and(|last| last.as_bytes() == name);
        self.fields.iter().any(is_it)
    }

    /// What is wanted of a method, and its name.
    pub(crate) fn marks(&self, class: &[u8], method: &[u8]) -> Vec<(Mark, String)> {
        if self.marks.is_empty() {
            return Vec::new();
        }
        let name = full(class, method);
        self.marks.iter().filter(|(_, of)| *of == name).cloned().collect()
    }
}

/// The name of a member, as specifications have it.
fn full(class: &[u8], member: &[u8]) -> String {
    format!("{}.{}", String::from_utf8_lossy(class).replace('/', "."), String::from_utf8_lossy(member))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_says_it() {
        let wishes = Wishes::parse("include org.h2\nexclude org.h2.util\ninclude org.h2.util.Cache\n");
        for name in ["org/h2/Driver", "org/h2/util/Cache", "org/h2/util/Cache$Entry"] {
            assert!(wishes.has_class(name), "{name}");
        }
        for name in ["org/h2/util/Utils", "org/h2o/Main", "Main", "java/lang/String"] {
            assert!(!wishes.has_class(name), "{name}");
        }
    }

    #[test]
    fn without_wishes_it_is_the_program() {
        let wishes = Wishes::default();
        assert!(wishes.has_class("Main") && wishes.has_class("com/example/Main"));
        assert!(!wishes.has_class("java/util/HashMap") && !wishes.has_class("org/junit/Test"));
        assert!(!Wishes::parse("exclude com.example").has_class("com/example/Main"));
    }

    #[test]
    fn what_builds_bring_is_not_the_program() {
        let (gradle, own) = ("org/gradle/internal/classloader/VisitableURLClassLoader", "java/net/URLClassLoader");
        let library = "com/google/common/collect/ImmutableList";
        assert!(Wishes::default().has_class_from(library, own) && !Wishes::default().has_class_from(library, gradle));
        assert!(Wishes::parse("include com.google").has_class_from(library, gradle));
    }
}
