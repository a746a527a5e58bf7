//! Events that specifications bind in Java programs, as settings of the agent.

use property::check::UserEvent;
use property::syntax::ast::{Origin, Side, Sort, When};
use property::syntax::sort_text;
use std::fmt::Write;

/// How the names of the JDK's classes begin: their code is not watched.
const JDK: [&str; 5] = ["java.", "javax.", "jdk.", "sun.", "com.sun."];

/// The events of all specifications, one for each recorded name.
#[derive(Default)]
pub(super) struct JavaEvents(Vec<UserEvent>);

impl JavaEvents {
    /// Adds an event. Those with one name are one event to the agent, with as many values as any of them has.
    pub(super) fn add(&mut self, event: &UserEvent) -> Result<(), String> {
        let place = event.place.recorded();
        if event.side == Side::Exec && JDK.iter().any(|prefix| place.starts_with(prefix)) {
            return Err(format!(
                "`{place}` is code of the JDK, which is not watched: bind its calls, by `at java {place} call`"
            ));
        }
        let name = event.recorded();
        let Some(known) = self.0.iter_mut().find(|known| known.recorded() == name) else {
            self.0.push(event.clone());
            return Ok(());
        };
        let sorts = |event: &UserEvent| event.params.iter().map(|(_, sort)| sort.clone()).collect::<Vec<Sort>>();
        if sorts(known).iter().zip(sorts(event)).any(|(one, other)| *one != other) {
            return Err(format!(
                "its values are of other sorts than those of `{}`, which is bound to the same place",
                known.name
            ));
        }
        if event.params.len() > known.params.len() {
            *known = event.clone();
        }
        Ok(())
    }

    /// Writes the settings of the agent.
    pub(super) fn write(&self, out: &mut String) {
        for event in &self.0 {
            let when = if event.when == When::Before { "before" } else { "after" };
            let side = if event.side == Side::Call { "call" } else { "exec" };
            let _ = write!(out, "event {when} {side} {} {}", event.place.recorded(), event.recorded());
            for (origin, (_, sort)) in event.origins.iter().zip(&event.params) {
                let from = match origin {
                    Origin::This => "this".to_owned(),
                    Origin::Result => "result".to_owned(),
                    Origin::Arg(number) => format!("arg{number}"),
                };
                let _ = write!(out, " {from}={}", sort_text(sort));
            }
            out.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use property::check::check_file;
    use property::syntax::Loader;

    struct One(String);

    impl Loader for One {
        fn load(&self, _: &str) -> Result<Vec<u8>, String> {
            Ok(self.0.clone().into_bytes())
        }
    }

    fn settings(events: &str) -> Result<String, String> {
        let checked = check_file("s", &One(format!("spec S {{ {events} }}")));
        assert!(!checked.has_errors(), "{:?}", checked.diagnostics);
        let mut all = JavaEvents::default();
        checked.specs[0].events.iter().try_for_each(|event| all.add(event))?;
        let mut out = String::new();
        all.write(&mut out);
        Ok(out)
    }

    #[test]
    fn one_setting_for_each_recorded_name() {
        let text = settings(
            "event a at java p.C.m; event b(n : int, s : string) at java p.C.m; event c at java p.C.m after;\n\
             event d(o : object<p.C>, r : bool) at java java.util.List.add after call (arg1, result);",
        );
        let expected = "event before exec p.C.m p.C.m arg1=int arg2=string\nevent after exec p.C.m p.C.m/after\n\
                        event after call java.util.List.add java.util.List.add/after/call/arg1/result \
                        arg1=object<p.C> result=bool\n";
        assert_eq!(text.expect("they can be bound"), expected);
    }

    #[test]
    fn what_cannot_be_recorded_is_refused() {
        let error = |events: &str| settings(events).expect_err("it cannot be bound").to_string();
        assert!(error("event a at java java.util.List.add;").contains("`at java java.util.List.add call`"));
        assert!(error("event a(n : int) at java C.m; event b(n : real) at java C.m;").contains("of other sorts"));
    }
}
