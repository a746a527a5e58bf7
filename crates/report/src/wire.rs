//! A finding as the JSON spells it: parallel lists instead of sides, status and witness instead of evidence.

use crate::{
    Confirm, EventOrder, Evidence, EvidenceError, Exhibit, Finding, Kind, Origin, ProcessOf, Side, Status, Unshown,
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The field order is the order in the file.
#[derive(Serialize, Deserialize)]
struct Wire<'a> {
    kind: Kind,
    detector: Cow<'a, str>,
    status: Status,
    fingerprint: Cow<'a, str>,
    message: Cow<'a, str>,
    objects: Cow<'a, [String]>,
    #[serde(default, skip_serializing_if = "no_names")]
    called: Cow<'a, BTreeMap<String, String>>,
    events: Vec<u64>,
    #[serde(default, skip_serializing_if = "nothing_known")]
    ops: Vec<Cow<'a, str>>,
    threads: Vec<Cow<'a, str>>,
    #[serde(default)]
    locks_held: Vec<Cow<'a, [String]>>,
    #[serde(default, skip_serializing_if = "no_site_known")]
    lock_sites: Vec<Cow<'a, [String]>>,
    #[serde(default)]
    sites: Vec<Cow<'a, str>>,
    #[serde(default)]
    stacks: Vec<Cow<'a, [String]>>,
    #[serde(default, skip_serializing_if = "no_site_known")]
    libraries: Vec<Cow<'a, [String]>>,
    #[serde(default, skip_serializing_if = "no_origins")]
    origins: Cow<'a, [Origin]>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    witness: Option<Cow<'a, EventOrder>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    witness_omitted: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    witness_missing: Option<Unshown>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confirm: Option<Confirm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    process: Option<Cow<'a, ProcessOf>>,
    #[serde(default, skip_serializing_if = "is_false")]
    kept_apart: bool,
    #[serde(default, skip_serializing_if = "none_behind")]
    behind: Cow<'a, [Finding]>,
    #[serde(default)]
    suppressed: bool,
    #[serde(default, skip_serializing_if = "is_zero")]
    merged: u64,
}

fn nothing_known(ops: &[Cow<'_, str>]) -> bool {
    ops.iter().all(|op| op.is_empty())
}

fn no_site_known(sites: &[Cow<'_, [String]>]) -> bool {
    sites.iter().all(|sites| sites.iter().all(String::is_empty))
}

fn no_names(names: &BTreeMap<String, String>) -> bool {
    names.is_empty()
}

fn no_origins(origins: &[Origin]) -> bool {
    origins.is_empty()
}

fn none_behind(behind: &[Finding]) -> bool {
    behind.is_empty()
}

fn is_false(it: &bool) -> bool {
    !*it
}

fn is_zero(n: &u64) -> bool {
    *n == 0
}

#[derive(Debug, thiserror::Error)]
enum WireError {
    #[error(transparent)]
    Evidence(#[from] EvidenceError),
    #[error("a finding has {events} events but {len} {list}")]
    Lengths { events: usize, list: &'static str, len: usize },
}

impl<'a> From<&'a Finding> for Wire<'a> {
    fn from(finding: &'a Finding) -> Self {
        let sides = &finding.sides;
        let strings = |field: fn(&Side) -> &String| sides.iter().map(|s| Cow::Borrowed(field(s).as_str())).collect();
        let lists = |field: fn(&Side) -> &Vec<String>| sides.iter().map(|s| Cow::Borrowed(&field(s)[..])).collect();
        Wire {
            kind: finding.kind,
            detector: Cow::Borrowed(&finding.detector),
            status: finding.status(),
            fingerprint: Cow::Borrowed(&finding.fingerprint),
            message: Cow::Borrowed(&finding.message),
            objects: Cow::Borrowed(&finding.objects),
            called: Cow::Borrowed(&finding.called),
            events: sides.iter().map(|s| s.event).collect(),
            ops: strings(|s| &s.op),
            threads: strings(|s| &s.thread),
            locks_held: lists(|s| &s.locks_held),
            lock_sites: lists(|s| &s.lock_sites),
            sites: strings(|s| &s.site),
            stacks: lists(|s| &s.stack),
            libraries: lists(|s| &s.libraries),
            origins: Cow::Borrowed(&finding.origins),
            witness: finding.evidence.witness().map(Cow::Borrowed),
            witness_omitted: finding.evidence.omitted(),
            witness_missing: finding.evidence.unshown(),
            confirm: finding.evidence.confirm(),
            process: finding.process.as_ref().map(Cow::Borrowed),
            kept_apart: finding.kept_apart,
            behind: Cow::Borrowed(&finding.behind),
            suppressed: finding.suppressed,
            merged: finding.merged,
        }
    }
}

/// Fills a list that was left out; one of another length than the events cannot be split into sides.
fn fit<T: Default + Clone>(list: &mut Vec<T>, events: usize, name: &'static str) -> Result<(), WireError> {
    if list.is_empty() {
        list.resize(events, T::default());
    }
    if list.len() == events { Ok(()) } else { Err(WireError::Lengths { events, list: name, len: list.len() }) }
}

impl TryFrom<Wire<'_>> for Finding {
    type Error = WireError;

    fn try_from(mut wire: Wire<'_>) -> Result<Finding, WireError> {
        let n = wire.events.len();
        fit(&mut wire.ops, n, "ops")?;
        fit(&mut wire.threads, n, "threads")?;
        fit(&mut wire.locks_held, n, "locks_held")?;
        fit(&mut wire.lock_sites, n, "lock_sites")?;
        fit(&mut wire.sites, n, "sites")?;
        fit(&mut wire.stacks, n, "stacks")?;
        fit(&mut wire.libraries, n, "libraries")?;
        let witness = wire.witness.map(Cow::into_owned);
        let missing = wire.witness_missing;
        let evidence = Evidence::from_parts(wire.status, witness, wire.witness_omitted, missing, wire.confirm)?;
        let (mut ops, mut threads, mut sites) =
            (wire.ops.into_iter(), wire.threads.into_iter(), wire.sites.into_iter());
        let (mut locks, mut stacks) = (wire.locks_held.into_iter(), wire.stacks.into_iter());
        let (mut lock_sites, mut libraries) = (wire.lock_sites.into_iter(), wire.libraries.into_iter());
        let sides = wire.events.into_iter().map(|event| Side {
            event,
            thread: threads.next().unwrap_or_default().into_owned(),
            op: ops.next().unwrap_or_default().into_owned(),
            site: sites.next().unwrap_or_default().into_owned(),
            locks_held: locks.next().unwrap_or_default().into_owned(),
            lock_sites: lock_sites.next().unwrap_or_default().into_owned(),
            stack: stacks.next().unwrap_or_default().into_owned(),
            libraries: libraries.next().unwrap_or_default().into_owned(),
        });
        Ok(Finding {
            kind: wire.kind,
            detector: wire.detector.into_owned(),
            evidence,
            fingerprint: wire.fingerprint.into_owned(),
            message: wire.message.into_owned(),
            objects: wire.objects.into_owned(),
            called: wire.called.into_owned(),
            sides: sides.collect(),
            origins: wire.origins.into_owned(),
            process: wire.process.map(Cow::into_owned),
            kept_apart: wire.kept_apart,
            behind: wire.behind.into_owned(),
            suppressed: wire.suppressed,
            merged: wire.merged,
            exhibit: Exhibit::default(),
        })
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Wire::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Finding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Finding, D::Error> {
        Finding::try_from(Wire::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}
