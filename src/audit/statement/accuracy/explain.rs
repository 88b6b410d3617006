//! Accuracy claims in plain words.

use std::fmt::Write as _;

use super::Accuracy;
use crate::audit::Audit;
use crate::audit::statement::words::mechanism;
use crate::model::number::{Brief, grouped, percent};

/// What is claimed and how it is decided, as a title and a text.
pub(in crate::audit::statement) fn explanation(audit: &Audit) -> Option<(&'static str, String)> {
    let claims = || ("What is claimed about accuracy", claims(audit));
    (!audit.accuracy.is_empty()).then(claims)
}

fn claims(audit: &Audit) -> String {
    let mut text = format!(
        "The {} is run on each dataset, and the draws that are not in the event are counted.",
        mechanism(audit)
    );
    for accuracy in &audit.accuracy {
        let Accuracy { name, data, event, claim, expect, truth, source, .. } = accuracy;
        let _ = write!(
            text,
            "\n{name}\n  on {data}\n  {event}, with probability at least {}; expected {expect}",
            Brief(claim.probability.get())
        );
        let _ = write!(
            text,
            "\n  violated if it fails more often than {}, consistent if it does not fail more often than {}; both at the run's confidence",
            percent(claim.allowed()),
            percent(claim.noticed())
        );
        if let Some(truth) = truth {
            let _ = write!(text, "\n  the exact probability is {truth}");
        }
        if let Some(source) = source {
            let _ = write!(text, "\n  Source: {source}");
        }
    }
    match &audit.source {
        Some(source) if !audit.is_about_claim() => text + "\nSource: " + source,
        _ => text,
    }
}

impl Accuracy {
    /// What the audit file states, as keys and values.
    pub(in crate::audit::statement) fn stated(&self) -> Vec<(&'static str, String)> {
        let Self { name, data, event, claim, expect, truth, source, draws } = self;
        let probable = format!(
            "at least {}; failures of {} should be noticed",
            claim.probability,
            percent(claim.noticed())
        );
        let mut stated = vec![
            ("accuracy", name.clone()),
            ("  data", data.to_string()),
            ("  event", event.to_string()),
            ("  probable", probable),
            ("  expected", expect.to_string()),
        ];
        stated.extend(truth.map(|truth| ("  truth", format!("probability {truth}"))));
        stated.extend(source.clone().map(|source| ("  source", source)));
        stated.extend(draws.map(|draws| ("  draws", grouped(draws))));
        stated
    }
}
