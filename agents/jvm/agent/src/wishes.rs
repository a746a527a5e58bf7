//! What the observer wants of Java programs: the file `java` of the session.
//!
//! One wish a line: `include PREFIX`, `exclude PREFIX` (of class names, with dots), `field CLASS.NAME` (its values are told), `region CLASS.METHOD` and
//! `entered CLASS.METHOD`, `left CLASS.METHOD` (calls are blocks or events of a specification), with a number before the name.

use std::path::Path;

/// Classes that are the JDK's or its tools', and those of builds and tests around the program.
const NOT_THE_PROGRAM: [&str; 17] = [
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
];

/// The wishes.
#[derive(Clone, Default, Debug)]
pub(crate) struct Wishes {
    include: Vec<String>,
    exclude: Vec<String>,
    /// Fields whose values are told: `class/name.field`.
    fields: Vec<String>,
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

    /// Whether the values of a field are told.
    pub(crate) fn has_field(&self, class: &[u8], name: &[u8]) -> bool {
        !self.fields.is_empty() && {
            let class = String::from_utf8_lossy(class).replace('/', ".");
            let full = format!("{class}.{}", String::from_utf8_lossy(name));
            self.fields.contains(&full)
        }
    }
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
}
