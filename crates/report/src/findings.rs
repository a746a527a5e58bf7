//! The findings of a report: always in the order of reports, one per fingerprint.

use crate::Finding;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Deref;

/// Findings sorted by rank (status, kind, first event; then whatever else distinguishes two, so that the order does not
/// depend on which detector finished first) and without duplicates.
///
/// Of several with one fingerprint the first by rank stays and counts the others in [`Finding::merged`].
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(from = "Vec<Finding>")]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// Adds what a detector found, all at once: the whole list is put in order again.
    pub fn add(&mut self, found: impl IntoIterator<Item = Finding>) {
        self.0.extend(found);
        self.normalise();
    }

    /// Changes findings (suppresses them, notes a confirmation) and restores the order.
    pub fn update(&mut self, change: impl FnMut(&mut Finding)) {
        self.0.iter_mut().for_each(change);
        self.normalise();
    }

    fn normalise(&mut self) {
        self.0.sort_by(rank);
        let mut kept: Vec<Finding> = Vec::with_capacity(self.0.len());
        let mut place: HashMap<String, usize> = HashMap::new();
        for finding in self.0.drain(..) {
            match place.get(&finding.fingerprint) {
                Some(&first) => {
                    let first = &mut kept[first];
                    first.behind.extend(finding.behind);
                    first.merged = first.merged.saturating_add(finding.merged).saturating_add(1);
                }
                None => {
                    place.insert(finding.fingerprint.clone(), kept.len());
                    kept.push(finding);
                }
            }
        }
        self.0 = kept;
    }
}

fn rank(a: &Finding, b: &Finding) -> Ordering {
    let head = |f: &Finding| (f.status(), f.kind, f.sides.iter().map(|s| s.event).min());
    // Equal places in the trace: any order will do that does not depend on the input order.
    fn rest(f: &Finding) -> impl Ord {
        let who = (&f.detector, &f.fingerprint, &f.message, &f.objects);
        (&f.sides, who, f.evidence.witness(), f.evidence.confirm(), f.suppressed)
    }
    head(a).cmp(&head(b)).then_with(|| rest(a).cmp(&rest(b)))
}

impl From<Vec<Finding>> for Findings {
    fn from(found: Vec<Finding>) -> Findings {
        let mut findings = Findings(found);
        findings.normalise();
        findings
    }
}

impl FromIterator<Finding> for Findings {
    fn from_iter<I: IntoIterator<Item = Finding>>(found: I) -> Findings {
        Findings::from(found.into_iter().collect::<Vec<_>>())
    }
}

impl Deref for Findings {
    type Target = [Finding];

    fn deref(&self) -> &[Finding] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Findings {
    type Item = &'a Finding;
    type IntoIter = std::slice::Iter<'a, Finding>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Confirm, Evidence, Kind, Side};

    fn finding(kind: Kind, evidence: Evidence, fingerprint: &str, events: &[u64]) -> Finding {
        let mut finding = Finding::new(kind, "d", evidence, fingerprint.to_owned(), String::new());
        finding.sides = events.iter().map(|&event| Side { event, ..Side::default() }).collect();
        finding
    }

    fn fingerprints(findings: &Findings) -> String {
        findings.iter().map(|f| format!("{}+{} ", f.fingerprint, f.merged)).collect()
    }

    fn some() -> Vec<Finding> {
        vec![
            finding(Kind::Race, Evidence::warning(), "a", &[0, 1]),
            finding(Kind::Deadlock, Evidence::predicted(vec![]), "b", &[5, 6]),
            finding(Kind::Race, Evidence::predicted(vec![]), "c", &[10, 9]),
            finding(Kind::Race, Evidence::observed(None), "a", &[20, 21]),
            finding(Kind::Race, Evidence::predicted(vec![]), "d", &[9, 8]),
            finding(Kind::Race, Evidence::observed(None), "a", &[20, 30]),
        ]
    }

    #[test]
    fn the_surest_comes_first_and_stands_for_its_duplicates() {
        let mut findings = Findings::from(some());
        assert_eq!(fingerprints(&findings), "a+2 d+0 c+0 b+0 ");
        assert_eq!(findings[0].sides[1].event, 21);
        findings.add([finding(Kind::Race, Evidence::warning(), "a", &[0])]);
        assert_eq!(fingerprints(&findings), "a+3 d+0 c+0 b+0 ");
    }

    #[test]
    fn the_order_they_came_in_does_not_matter() {
        let expected = Findings::from(some());
        let mut rotated = some();
        for _ in 0..rotated.len() {
            rotated.rotate_left(1);
            assert_eq!(Findings::from(rotated.clone()), expected);
            let mut one_by_one = Findings::default();
            rotated.iter().for_each(|f| one_by_one.add([f.clone()]));
            assert_eq!(one_by_one, expected);
        }
    }

    #[test]
    fn a_confirmed_finding_moves_up() {
        let mut findings = Findings::from(some());
        findings.update(|f| {
            if f.fingerprint == "b" {
                f.tried(Confirm::Confirmed);
            }
        });
        assert_eq!(fingerprints(&findings), "b+0 a+2 d+0 c+0 ");
    }
}
