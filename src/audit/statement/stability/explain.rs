//! A stability claim in plain words.

use crate::audit::Audit;
use crate::audit::statement::pair::{neighbours, pairs};
use crate::audit::statement::words::mechanism;
use crate::model::number::{Brief, percent};

/// What is claimed, how it is tested, and what a verdict would mean, as titles and texts.
pub(in crate::audit::statement) fn explanation(audit: &Audit) -> Vec<(&'static str, String)> {
    vec![
        ("What is claimed", claim(audit)),
        ("On which data it is tested", pairs(audit, "")),
        ("What a verdict would mean", verdicts(audit)),
    ]
}

fn claim(audit: &Audit) -> String {
    let (steps, neighbours) = (audit.claim.input_distance(), neighbours(&audit.relation));
    let apart = if steps == 1.0 {
        neighbours
    } else {
        format!("datasets at most {} steps apart (one step: {neighbours})", Brief(steps))
    };
    format!(
        "The {} has no noise and is claimed to be stable.\nFor {apart}, it allows outputs with {}.\n\
         The noise of a mechanism that is built on it is scaled to this distance.{}",
        mechanism(audit),
        audit.claim,
        audit.source.as_ref().map_or_else(String::new, |source| format!("\nSource: {source}")),
    )
}

fn verdicts(audit: &Audit) -> String {
    let because = audit.reach.because().map_or_else(String::new, |reason| format!(" ({reason})"));
    format!(
        "violated      the outputs on a pair are farther apart than the claim allows; this is certain\n\
         consistent    not refuted; on the best pair the outputs are at least {} of the claimed distance apart{because}\n\
         inconclusive  not refuted, but no pair comes so close to the claim, or a control was not caught\n\
         A claim that is not refuted is not proven: other data may still refute it.\n\
         The audit file expects: {}.",
        percent(audit.reach.at_least()),
        audit.expect
    )
}
