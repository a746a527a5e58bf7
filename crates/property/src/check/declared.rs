//! Declarations and headings of properties in one line each, for `foretrace spec`.

use super::explain::constant;
use super::model::{Check, CheckKind, Logic, Property, RaceMethod, Spec, VariableKind};
use super::settings::{AtEnd, Breadth, Settings, Steps};
use crate::syntax::ast::{Side, When};
use crate::syntax::sort_text;
use event::CausalityChoice;

/// Variables, locks and events: what each is, and where it is in the program.
pub fn declarations(spec: &Spec) -> Vec<(String, String)> {
    let place = |place: &super::Place| format!("{} {}", place.lang.text(), place.recorded());
    let index = |index: &Option<_>| index.as_ref().map(|sort| format!("[{}]", sort_text(sort))).unwrap_or_default();
    let variables = spec.variables.iter().map(|v| {
        let ty = v.ty.map(|ty| format!("{} ", ty.text())).unwrap_or_default();
        let what = match v.kind {
            VariableKind::Shared => format!("shared {ty}"),
            VariableKind::Local => format!("local {ty}"),
            VariableKind::Region => "region ".to_owned(),
        };
        // The flag of a region is false at first, always.
        let init = v.init.as_ref().filter(|_| v.kind != VariableKind::Region);
        let init = init.map(|c| format!(" = {}", constant(c))).unwrap_or_default();
        // What a thread has is indexed by the thread, which goes without saying.
        let index = if v.kind == VariableKind::Shared { index(&v.index) } else { String::new() };
        (format!("{what}{}{index}{init}", v.name), v.place.as_ref().map(place).unwrap_or_default())
    });
    let locks = spec.locks.iter().map(|l| (format!("lock {}{}", l.name, index(&l.index)), place(&l.place)));
    let events = spec.events.iter().map(|e| {
        let when = if e.when == When::After { " after" } else { "" };
        let side = if e.side == Side::Call { " call" } else { "" };
        let params = e.params.iter().map(|(name, sort)| format!("{name} : {}", sort_text(sort)));
        (format!("event {}{}", e.name, listed(params.collect())), format!("{}{when}{side}", place(&e.place)))
    });
    variables.chain(locks).chain(events).collect()
}

/// The built-in checks, as they would be written.
pub fn checks(spec: &Spec) -> Vec<String> {
    let names = |before: &str, ids: &[u32], name: &dyn Fn(usize) -> Option<String>| {
        let names: Vec<String> = ids.iter().filter_map(|&id| name(id as usize)).collect();
        if names.is_empty() { String::new() } else { format!(" {before} {}", names.join(", ")) }
    };
    let variable = |id: usize| spec.variables.get(id).map(|v| v.name.clone());
    let lock = |id: usize| spec.locks.get(id).map(|l| l.name.clone());
    let one = |check: &Check| {
        let what = match &check.what {
            CheckKind::Races(on, using) => {
                let using = using.map(|using| match using {
                    RaceMethod::Lockset => "lockset",
                    RaceMethod::Hb => "hb",
                    RaceMethod::SyncPreserving => "sync_preserving",
                    RaceMethod::Model(model) => model.keyword(),
                });
                let using = using.map(|using| format!(" using {using}")).unwrap_or_default();
                format!("races{}{using}", names("on", on, &variable))
            }
            CheckKind::Deadlocks(None) => "deadlocks".to_owned(),
            CheckKind::Deadlocks(Some(n)) => format!("deadlocks upto {n} threads"),
            CheckKind::Atomicity(of) => format!("atomicity{}", names("of", of, &variable)),
            CheckKind::Mutex(of) => format!("mutex{}", names("of", of, &variable)),
            CheckKind::LostWakeup(on) => format!("lost_wakeup{}", names("on", on, &lock)),
        };
        let settings = check.settings.unusual();
        let settings = if settings.is_empty() { String::new() } else { format!(" with {}", settings.join(", ")) };
        format!("check {what}{settings}")
    };
    spec.checks.iter().map(one).collect()
}

fn listed(params: Vec<String>) -> String {
    if params.is_empty() { String::new() } else { format!("({})", params.join(", ")) }
}

/// Name, parameters and logic of a property.
pub fn heading(property: &Property) -> String {
    let params = property.params.iter().map(|p| format!("{} : {}", p.name, sort_text(&p.sort)));
    let mode = match &property.logic {
        Logic::Ere { mode, .. } => format!(" {}", mode.text()),
        _ => String::new(),
    };
    format!("{}{} {}{mode}", property.name, listed(params.collect()), property.logic.text())
}

impl Settings {
    /// Those that are set to something else than the default.
    pub fn unusual(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut say = |name: &str, value: Option<String>| out.extend(value.map(|value| format!("{name} = {value}")));
        say("causality", self.causality.filter(|c| *c != CausalityChoice::Auto).map(|c| c.keyword().to_owned()));
        let breadth = self.breadth.map(|breadth| match breadth {
            Breadth::All => "all".to_owned(),
            Breadth::Cuts(n) => n.to_string(),
        });
        say("breadth", breadth);
        say("max_cuts", self.max_cuts.map(|n| n.to_string()));
        say("window", self.window.filter(|n| *n != DEFAULT_WINDOW).map(|n| n.to_string()));
        say("steps", self.steps.filter(|s| *s != Steps::Relevant).map(|s| s.text().to_owned()));
        say("at_end", self.at_end.filter(|e| *e != AtEnd::Stutter).map(|e| e.text().to_owned()));
        out
    }
}

/// Events that are looked at together if nothing is said.
const DEFAULT_WINDOW: u64 = 10_000;
