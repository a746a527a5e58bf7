//! Doubt from missing records: these may order the events that are there, so every claim becomes a warning.

use crate::claim::{Basis, Claim};

/// Makes warnings of all claims, if something is missing.
pub(crate) fn doubt(claims: &mut [Claim], missing: Option<&str>) {
    let Some(missing) = missing else { return };
    for claim in claims.iter_mut().filter(|claim| !claim.is_warning()) {
        claim.basis = Basis::Warning;
        claim.why += &format!("; but the trace is incomplete ({missing}), and what is missing may keep them apart");
    }
}
