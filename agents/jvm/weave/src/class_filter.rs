//! Which classes are watched: `--include` and `--exclude`.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Prefixes of classes of the JDK and its tools, and of build and test tools around the program.
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

/// Prefixes of the names of classes that are watched, and of those that are not.
#[derive(Clone, Default, Debug)]
pub struct ClassFilter {
    include: Vec<String>,
    exclude: Vec<String>,
}

/// A prefix as class files write names. `org.example.*` means `org.example`.
fn prefix(text: &str) -> String {
    text.trim_end_matches('*').trim_end_matches('.').replace('.', "/")
}

impl ClassFilter {
    /// Whether a text can name a package or a class. Of patterns, only `.*` at the end means here what it means
    /// elsewhere.
    pub fn can_name(text: &str) -> bool {
        let name = text.trim_end_matches('*');
        let is_pattern = name.len() < text.len();
        !prefix(text).is_empty() && !name.contains('*') && (!is_pattern || name.ends_with('.'))
    }

    /// Watches the classes and packages of this name (with dots; see [`ClassFilter::can_name`]), and no others but
    /// those that are also included.
    pub fn include(&mut self, name: &str) {
        self.include.push(prefix(name));
    }

    /// Does not watch the classes and packages of this name.
    pub fn exclude(&mut self, name: &str) {
        self.exclude.push(prefix(name));
    }

    /// Whether the user named classes to watch.
    pub fn has_names(&self) -> bool {
        !self.include.is_empty()
    }

    /// A digest that differs for other filters, within one version of this crate.
    pub(crate) fn digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for prefixes in [&self.include, &self.exclude] {
            prefixes.iter().collect::<BTreeSet<_>>().hash(&mut hasher);
        }
        hasher.finish()
    }

    /// Whether a class (`a/b/C`) is to be watched: the longest prefix that fits decides.
    pub fn has(&self, name: &str) -> bool {
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
            // If the user named packages, only these are watched.
            (None, None) => self.include.is_empty() && !NOT_THE_PROGRAM.iter().any(|prefix| name.starts_with(prefix)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_prefix_says_it() {
        let mut filter = ClassFilter::default();
        filter.include("org.h2.*");
        filter.exclude("org.h2.util");
        filter.include("org.h2.util.Cache");
        for name in ["org/h2/Driver", "org/h2/util/Cache", "org/h2/util/Cache$Entry"] {
            assert!(filter.has(name), "{name}");
        }
        for name in ["org/h2/util/Utils", "org/h2o/Main", "Main", "java/lang/String"] {
            assert!(!filter.has(name), "{name}");
        }
    }

    #[test]
    fn what_names_nothing_is_known() {
        for name in
            ["org", "org.example", "org.example.", "org.example.*", "org.example.Main", "org.example.Main$Inner"]
        {
            assert!(ClassFilter::can_name(name), "{name}");
        }
        for name in ["", "*", ".", ".*", "**", "org.*.impl", "*.Main", "org.exam*"] {
            assert!(!ClassFilter::can_name(name), "{name}");
        }
    }

    #[test]
    fn if_nothing_is_named_it_is_the_program() {
        let mut filter = ClassFilter::default();
        assert!(filter.has("Main") && filter.has("com/example/Main"));
        assert!(!filter.has("java/util/HashMap") && !filter.has("org/junit/Test"));
        assert_eq!(filter.digest(), ClassFilter::default().digest());
        filter.exclude("com.example");
        assert_ne!(filter.digest(), ClassFilter::default().digest());
        assert!(!filter.has("com/example/Main"));
    }
}
