//! What only a race orders, below the finding of that race: checked, with names, and each once.

use super::with_evidence;
use crate::claim::{About, Claim};
use crate::context::Contexts;
use crate::origins::Origins;
use crate::recorded::Recorded;
use event::{Names, VarId};
use report::{AnalysisStats, Evidence, Finding, Status, Unshown};
use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;
use witness::UnorderedCheck;

/// Pairs that are checked. All are judged in one pass along the trace, which ends at the last of them.
const MOST: usize = 500;

/// Keeps of what is behind the claims the pairs that the independent checker finds unordered by happens-before.
///
/// What is behind a warning is no more certain than that, and goes.
pub(crate) fn check(claims: &mut [Claim], recorded: &Recorded<'_>, stats: &mut BTreeMap<String, AnalysisStats>) {
    claims.iter_mut().filter(|claim| claim.is_warning()).for_each(|claim| claim.behind.clear());
    let mut pairs = Vec::new();
    let mut left_out: BTreeMap<&str, u64> = BTreeMap::new();
    for claim in claims.iter_mut() {
        let all = claim.behind.len();
        claim.behind.truncate(MOST.saturating_sub(pairs.len()));
        *left_out.entry(claim.detector.name()).or_default() += (all - claim.behind.len()) as u64;
        pairs.extend(claim.behind.iter().map(pair));
    }
    if pairs.is_empty() {
        return;
    }
    let mut accepted = accepted(&pairs, recorded).into_iter();
    for claim in claims.iter_mut() {
        let all = claim.behind.len();
        claim.behind.retain(|_| accepted.next().unwrap_or(false));
        *left_out.entry(claim.detector.name()).or_default() += (all - claim.behind.len()) as u64;
    }
    for (detector, pairs) in left_out.into_iter().filter(|(_, pairs)| *pairs > 0) {
        let stats = stats.entry(detector.to_owned()).or_default();
        let what = format!("{pairs} pairs that only a race orders were not checked, and are not reported");
        stats.truncated = Some(stats.truncated.take().map_or(what.clone(), |before| format!("{before}; {what}")));
    }
}

/// The events of a claim, the one recorded first before the other.
fn pair(claim: &Claim) -> [u64; 2] {
    let events = claim.parts.iter().map(|part| part.event);
    [events.clone().min().unwrap_or_default(), events.max().unwrap_or_default()]
}

/// By pair, whether the checker accepts it.
fn accepted(pairs: &[[u64; 2]], recorded: &Recorded<'_>) -> Vec<bool> {
    let mut check = UnorderedCheck::new(pairs);
    let last = pairs.iter().map(|pair| pair[1]).max().unwrap_or_default();
    if let Some(trace) = recorded.trace {
        let _ = trace.events.iter().all(|&event| check.step(recorded.names, trace, event));
    } else if let Some(again) = recorded.again {
        again.read(0..last + 1, |_, batch, _, event| {
            if check.step(recorded.names, batch, event) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    check.finish().iter().map(Result::is_ok).collect()
}

/// The variables of what is behind a claim.
pub(super) fn variables(claim: &Claim) -> impl Iterator<Item = VarId> + '_ {
    claim.behind.iter().filter_map(|pair| if let About::Variable(var) = pair.about { Some(var) } else { None })
}

/// What is behind claims of one finding: one for each fingerprint.
pub(super) fn findings<'a>(
    print: &str,
    claims: impl Iterator<Item = &'a Claim>,
    names: &Names,
    contexts: &Contexts,
    origins: &Origins<'_>,
) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for pair in claims.flat_map(|claim| &claim.behind) {
        let evidence = Evidence::observed_without(Unshown::BehindRace);
        let mut finding = with_evidence(pair, evidence, names, contexts, origins);
        if finding.fingerprint == print || finding.sides.iter().any(report::Side::is_inexact) {
            continue;
        }
        match found.iter_mut().find(|known| known.fingerprint == finding.fingerprint) {
            Some(known) => known.merged += pair.more + 1,
            None => {
                finding.merged = pair.more;
                found.push(finding);
            }
        }
    }
    found
}

/// Removes from what is behind races what is a finding by itself, or is listed already.
pub(super) fn only_news(findings: &mut [Finding]) {
    let sure = findings.iter().filter(|finding| finding.status() != Status::Warning);
    let mut known: HashSet<String> = sure.map(|finding| finding.fingerprint.clone()).collect();
    for finding in findings {
        finding.behind.retain(|pair| known.insert(pair.fingerprint.clone()));
    }
}
