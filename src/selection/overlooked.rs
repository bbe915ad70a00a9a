//! A selection that is wrong on purpose: the proof that `replay`, `audit` and the canary would notice one. No released program has it.

use super::Plan;
use crate::select::Reason;

/// Set for a program that is built for tests, what the source witness doubts is dropped.
const VARIABLE: &str = "GIT_RTS_OVERLOOK_DANGERS";

/// Drops all dangers from a plan, if this program was built for tests and is asked to.
pub(super) fn overlook(plan: &mut Plan) {
    if !cfg!(debug_assertions) || std::env::var_os(VARIABLE).is_none() {
        return;
    }
    for test in &mut plan.tests {
        let reasons = &mut test.reasons;
        reasons.retain(|reason| !matches!(reason, Reason::Danger(_)));
    }
    plan.order = plan.selected().collect();
}
