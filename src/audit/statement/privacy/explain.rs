//! A privacy claim in plain words.

use crate::attack::Attack;
use crate::audit::statement::pair::{neighbours, pairs};
use crate::audit::statement::words::mechanism;
use crate::audit::{Audit, Preparer, TargetSource as _};
use crate::model::Settings;
use crate::model::number::{Brief, counted, percent};

/// What is claimed, how it is tested, and what a verdict would mean, as titles and texts.
pub(in crate::audit::statement) fn explanation(audit: &Audit) -> Vec<(&'static str, String)> {
    let coin = " For each draw, a fair coin decides on which of them the mechanism runs.";
    if audit.pairs.is_empty() && audit.search.is_none() {
        return vec![("What is claimed", claim(audit))];
    }
    vec![
        ("What is claimed", claim(audit)),
        ("On which data it is tested", pairs(audit, coin)),
        ("What the attacker looks at", attacker(audit)),
        ("What a verdict would mean", verdicts(audit)),
    ]
}

fn claim(audit: &Audit) -> String {
    let mechanism = mechanism(audit);
    let (epsilon, delta) = (audit.claim.epsilon(), audit.claim.delta());
    let slack = if delta > 0.0 {
        format!(", except for a slack of δ = {}", Brief(delta))
    } else {
        String::new()
    };
    let neighbours = neighbours(&audit.relation);
    let allowed = if audit.claim.second().is_some() {
        format!(
            "For {neighbours}, no output may be more than e^ε = {} times as likely on one as on the other{slack}.",
            Brief(epsilon.exp())
        )
    } else if epsilon.is_finite() {
        format!("For {neighbours}, this allows ε = {} at δ = {}.", Brief(epsilon), Brief(delta))
    } else {
        format!("For {neighbours}, it says nothing about ε at δ = {}.", Brief(delta))
    };
    format!(
        "The {mechanism} is claimed to be private with {}.\n{allowed}\n\
         So an attacker who sees an output and guesses which of the two datasets it came from is right at most {} of the time.{}",
        audit.claim,
        percent(audit.claim.main().allowed_right(1.0, 2)),
        audit.source.as_ref().map_or_else(String::new, |source| format!("\nSource: {source}")),
    )
}

fn attacker(audit: &Audit) -> String {
    let width = audit.pairs.first().map_or(Ok(1), |pair| {
        let target = Preparer::default()
            .target(&audit.plan(pair, Settings::default(), 1))
            .map_err(|error| error.to_string())?;
        let width = target.open().map_err(|error| error.to_string());
        target.close();
        width
    });
    let view = if width == Ok(1) {
        let bits = if audit.attacks.contains(&Attack::FloatBits) {
            ", and at which bits it uses"
        } else {
            ""
        };
        format!("An output is a single number or symbol. The attacker looks at it{bits}.")
    } else {
        let views: Vec<&str> = audit.attacks.iter().copied().map(attack_view).collect();
        let components = width.map_or_else(
            |error| format!("an unknown number of components ({error})"),
            |width| counted(width, "component"),
        );
        format!("An output has {components}. The attacker looks at: {}.", views.join("; "))
    };
    format!(
        "{view}\nFrom at most an eighth of the draws it learns which values are more likely on D and which on D'. This rule is then frozen and judged on all other draws."
    )
}

fn attack_view(attack: Attack) -> &'static str {
    match attack {
        Attack::Coordinates => "each component by itself",
        Attack::WholeRow => "the whole output as one symbol",
        Attack::Aggregates => {
            "sum, maximum and minimum, where the maximum is, how many values differ"
        }
        Attack::NaiveBayes => "the sum of the components' log-likelihood ratios",
        Attack::Differences => "the sum of the log-likelihood ratios of successive differences",
        Attack::Patterns => "which symbols are at which positions, together with the numbers",
        Attack::Pairs => "two components at a time",
        Attack::Directions => "weighted sums of the numbers that undo correlations",
        Attack::Interactions => "three components at a time, and decision trees over all of them",
        Attack::Fractions => "the fractional parts of the numbers",
        Attack::Residues => "whole numbers modulo small numbers",
        Attack::Parities => "the parity of several components",
        Attack::Orders => "where each item of a permutation is",
        Attack::Memory => "how often a value was seen on each side before",
        Attack::Spikes => "places where the numbers of one side are close together",
        Attack::Slices => "one component where another is extreme or has a rare value",
        Attack::FloatBits => "which bits the numbers use",
        Attack::Learner(learner) => learner.0,
    }
}

fn verdicts(audit: &Audit) -> String {
    let (asked, detectable) = (percent(audit.reach.at_least()), audit.detectable());
    let because = audit.reach.because().map_or_else(String::new, |reason| format!(" ({reason})"));
    format!(
        "violated      the attacker was right more often than the claim allows; this is proven at the run's confidence\n\
         consistent    not refuted; the attacker was seen to reach at least {asked} of the claim{because}; the draws are precise enough to tell {detectable} from the claim\n\
         inconclusive  not refuted, but one of these is missing, or a control was not caught; the reason is given\n\
         A claim that is not refuted is not proven: other data or a better attack may still refute it.\n\
         The audit file expects: {}.{}",
        audit.expect,
        audit
            .allow_inconclusive
            .as_ref()
            .map_or_else(String::new, |reason| format!("\nIt may be inconclusive: {reason}."))
    )
}
