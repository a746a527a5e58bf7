//! Records that are missing: they may be what orders those that are there, so what these seem to show is a warning.

use super::claim::{Claim, Shown};

/// Makes warnings of all claims, if something is missing.
pub(super) fn doubt(claims: &mut [Claim], missing: Option<&str>) {
    let Some(missing) = missing else { return };
    for claim in claims.iter_mut().filter(|claim| !matches!(claim.shown, Shown::Warning)) {
        claim.shown = Shown::Warning;
        claim.why += &format!("; but the trace is incomplete ({missing}), and what is missing may keep them apart");
    }
}
