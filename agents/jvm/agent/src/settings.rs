//! The agent's settings: what the observer wants of Java programs, from the file `java` of the session.
//!
//! One setting a line: `include PREFIX` and `exclude PREFIX` (of class names, with dots), `field CLASS.NAME` (record
//! its values), `region CLASS.METHOD` (calls are blocks of a specification), and for its events `event before|after
//! call|exec CLASS.METHOD NAME [this|result|argN=SORT…]`.

use std::path::Path;
use weave::{CallMark, ClassFilter, ClassInfo, Mark, MarkValue, Site, ValueSource};

/// The classes of loaders by which build tools load themselves and their libraries. What these load is not the
/// program, whatever it is called: the order that the tools establish between threads is not seen.
const NOT_ITS_LOADERS: [&str; 2] = ["org/gradle/", "org/codehaus/plexus/classworlds/"];

/// The settings of a session.
#[derive(Clone, Default, Debug)]
pub(crate) struct AgentSettings {
    /// Which classes are watched.
    pub(crate) filter: ClassFilter,
    /// Fields whose values are recorded: `class/name.field`.
    fields: Vec<String>,
    /// Methods that specifications name: what is marked, `class.name.method`, and what a specification calls that.
    marks: Vec<(Mark, String, String)>,
    /// Methods whose calls they name, and what is marked.
    calls: Vec<(String, CallMark)>,
}

impl AgentSettings {
    /// Reads the file. Without it, there are no settings.
    pub(crate) fn read(path: &Path) -> AgentSettings {
        AgentSettings::parse(&std::fs::read_to_string(path).unwrap_or_default())
    }

    fn parse(text: &str) -> AgentSettings {
        let mut settings = AgentSettings::default();
        for line in text.lines() {
            match line.split_once(' ') {
                Some(("include", prefix)) => settings.filter.include(prefix),
                Some(("exclude", prefix)) => settings.filter.exclude(prefix),
                Some(("field", name)) => settings.fields.push(name.to_owned()),
                Some(("region", name)) => settings.marks.push((Mark::Region, name.to_owned(), name.to_owned())),
                Some(("event", event)) => drop(settings.event(event)),
                _ => {}
            }
        }
        settings
    }

    /// Takes an event of a specification; None if it makes no sense.
    fn event(&mut self, text: &str) -> Option<()> {
        let mut words = text.split(' ');
        let (when, side, place, name) = (words.next()?, words.next()?, words.next()?, words.next()?.to_owned());
        let value = |word: &str| {
            let (from, sort) = word.split_once('=')?;
            let from = match from {
                "this" => ValueSource::This,
                "result" => ValueSource::Result,
                _ => ValueSource::Argument(from.strip_prefix("arg")?.parse::<usize>().ok()?.checked_sub(1)?),
            };
            Some(MarkValue { from, sort: sort.to_owned() })
        };
        let values = words.map(value).collect::<Option<Vec<_>>>()?;
        let mark = if when == "before" { Mark::Entered(values) } else { Mark::Left(values) };
        if side == "call" {
            let (class, method) = place.rsplit_once('.')?;
            self.calls.push((method.to_owned(), CallMark { class: class.replace('.', "/"), mark, name }));
        } else {
            self.marks.push((mark, place.to_owned(), name));
        }
        Some(())
    }

    /// Whether a class (`a/b/C`) is to be watched.
    pub(crate) fn has_class(&self, name: &str) -> bool {
        self.filter.has(name)
    }

    /// Whether a class is to be watched that a loader of this class loads. If the user names packages, these decide.
    pub(crate) fn has_class_from(&self, name: &str, loader: &str) -> bool {
        let is_of_builds = NOT_ITS_LOADERS.iter().any(|prefix| loader.starts_with(prefix));
        self.has_class(name) && (!is_of_builds || self.filter.has_names())
    }

    /// Whether the values of a field are recorded.
    pub(crate) fn has_field(&self, class: &[u8], name: &[u8]) -> bool {
        !self.fields.is_empty() && self.fields.contains(&full(class, name))
    }

    /// Whether the values of a field with this name are recorded, in some class.
    pub(crate) fn has_field_named(&self, name: &[u8]) -> bool {
        let is_it = |field: &String| field.rsplit('.').next().is_some_and(|last| last.as_bytes() == name);
        self.fields.iter().any(is_it)
    }

    /// Whether the settings name something of a class that was woven without knowing them.
    pub(crate) fn concern(&self, known: &ClassInfo, sites: &[Site]) -> bool {
        let has_mark = |(method, _): &(Vec<u8>, _)| !self.marks(&known.name, method).is_empty();
        let has_field = |site: &Site| site.field.as_ref().is_some_and(|[_, name, _]| self.has_field_named(name));
        // Which methods it calls is not known.
        !self.calls.is_empty()
            || !self.marks.is_empty() && known.methods.iter().any(has_mark)
            || !self.fields.is_empty() && sites.iter().any(has_field)
    }

    /// What the specification wants to know of a method, and what it calls that.
    pub(crate) fn marks(&self, class: &[u8], method: &[u8]) -> Vec<(Mark, String)> {
        if self.marks.is_empty() {
            return Vec::new();
        }
        let place = full(class, method);
        let marks = self.marks.iter().filter(|(_, of, _)| *of == place);
        marks.map(|(mark, _, name)| (mark.clone(), name.clone())).collect()
    }

    /// What specifications want to know of calls of methods with a name.
    pub(crate) fn called(&self, method: &[u8]) -> Vec<CallMark> {
        let calls = self.calls.iter().filter(|(name, _)| name.as_bytes() == method);
        calls.map(|(_, mark)| mark.clone()).collect()
    }
}

/// The name of a member as specifications write it.
fn full(class: &[u8], member: &[u8]) -> String {
    format!("{}.{}", String::from_utf8_lossy(class).replace('/', "."), String::from_utf8_lossy(member))
}

#[cfg(test)]
mod tests {
    use super::*;
    use weave::SiteKind;

    #[test]
    fn settings_concern_the_classes_that_they_name() {
        let known = |name: &[u8]| ClassInfo {
            name: name.to_vec(),
            methods: vec![(b"transfer".to_vec(), b"()V".to_vec())],
            ..ClassInfo::default()
        };
        let site = |name: &[u8]| Site {
            kind: SiteKind::Read,
            method: 0,
            at: 0,
            line: 0,
            field: Some([b"a/Other".to_vec(), name.to_vec(), b"I".to_vec()]),
        };
        let settings = AgentSettings::parse("include a\nregion a.Bank.transfer\nfield a.Bank.balance\n");
        assert!(settings.has_class("a/Bank") && !settings.has_class("b/Bank"));
        assert!(settings.concern(&known(b"a/Bank"), &[]));
        assert!(!settings.concern(&known(b"a/Other"), &[site(b"count")]));
        // A site may name the field through a subclass.
        assert!(settings.concern(&known(b"a/Other"), &[site(b"balance")]));
    }

    #[test]
    fn events_have_their_values() {
        let lines = "event after call java.util.List.iterator I/after/call/this/result this=object<a.B> result=object\n\
                     event before exec a.Bank.pay a.Bank.pay arg2=int\nevent before exec a.Bank.pay x arg0=int\n";
        let settings = AgentSettings::parse(lines);
        let value = |from, sort: &str| MarkValue { from, sort: sort.to_owned() };
        let values = vec![value(ValueSource::This, "object<a.B>"), value(ValueSource::Result, "object")];
        let name = "I/after/call/this/result".to_owned();
        let call = CallMark { class: "java/util/List".to_owned(), mark: Mark::Left(values), name };
        assert_eq!(settings.called(b"iterator"), [call]);
        assert!(settings.called(b"pay").is_empty() && settings.marks(b"java/util/List", b"iterator").is_empty());
        let entered = Mark::Entered(vec![value(ValueSource::Argument(1), "int")]);
        assert_eq!(settings.marks(b"a/Bank", b"pay"), [(entered, "a.Bank.pay".to_owned())]);
        // Any class may make such a call.
        assert!(settings.concern(&ClassInfo::default(), &[]));
    }

    #[test]
    fn libraries_of_build_tools_are_not_the_program() {
        let (gradle, own) = ("org/gradle/internal/classloader/VisitableURLClassLoader", "java/net/URLClassLoader");
        let library = "com/google/common/collect/ImmutableList";
        assert!(
            AgentSettings::default().has_class_from(library, own)
                && !AgentSettings::default().has_class_from(library, gradle)
        );
        assert!(AgentSettings::parse("include com.google").has_class_from(library, gradle));
    }
}
