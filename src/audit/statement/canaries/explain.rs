//! Canaries in plain words.

use std::fmt::Write as _;

use super::Canaries;
use crate::audit::{Audit, Statement};

/// How training is tested, as a title and a text.
pub(in crate::audit::statement) fn explanation(audit: &Audit) -> Option<(&'static str, String)> {
    (!audit.canaries.is_empty()).then(|| ("How training is tested", tests(audit)))
}

fn tests(audit: &Audit) -> String {
    let mut text =
        "Each canary is put into the training data by its own fair coin. From scores, an attacker \
         guesses which were in; too many right guesses among the surest refute the claim."
            .to_owned();
    for canaries in &audit.canaries {
        let _ = write!(text, "\n{}\n  {}", canaries.name, facts(audit, canaries));
    }
    text
}

/// What the audit file states, as keys and values.
pub(in crate::audit::statement) fn stated(
    audit: &Audit,
    canaries: &Canaries,
) -> Vec<(&'static str, String)> {
    vec![("canaries", canaries.name.clone()), ("  scores", facts(audit, canaries))]
}

fn facts(audit: &Audit, canaries: &Canaries) -> String {
    let facts = Statement::Canaries(audit, canaries).kind(None).facts();
    facts.into_iter().map(|(_, value)| value).collect::<Vec<String>>().join(", ")
}
