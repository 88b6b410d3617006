//! One audit on the page: a line that says what happened, and behind it why.

use std::fmt::Write as _;

use super::plot;
use super::svg::escape;
use crate::cell::Brief;
use crate::error::TargetError;
use crate::report::{AuditReport, PairReport, RunReport, percent, round_down};
use crate::spec::Claim;
use crate::verdict::{Agreement, Verdict};

/// The class and the chip of a verdict; none for what could not be run.
pub fn chip(verdict: Option<Verdict>) -> (&'static str, &'static str) {
    match verdict {
        Some(Verdict::Violated) => ("violated", "✗ violated"),
        Some(Verdict::Consistent) => ("consistent", "✓ consistent"),
        Some(Verdict::Inconclusive) => ("inconclusive", "? inconclusive"),
        None => ("failed", "! not run"),
    }
}

/// The audit as a card, open or closed.
pub fn card(run: &RunReport, audit: &AuditReport, open: bool) -> String {
    let (class, label) = chip(audit.verdict());
    let agreement = audit.agreement();
    let surprise = if agreement == Agreement::Differs { " surprise" } else { "" };
    let mut text = format!("<details class=\"card {class}{surprise}\"{}><summary>", if open { " open" } else { "" });
    let _ = write!(text, "<span class=chip>{label}</span><span class=name>{}", escape(&audit.audit));
    if agreement == Agreement::Differs {
        let _ = write!(text, " <em>expected {}</em>", audit.expect);
    }
    let _ = write!(text, "<small>{}</small></span>", escape(&why(audit)));
    if let Some(found) = audit.telling() {
        text.push_str(&bar(found, audit.claim));
    }
    text.push_str("</summary><div class=body>");
    let telling = audit.telling().map(|found| found.pair.as_str());
    for (pair, outcome) in &audit.pairs {
        if telling == Some(pair) {
            text.push_str(&pair_body(run, audit, pair, outcome, true));
        }
    }
    if telling.is_none() {
        text.push_str(&facts(audit));
    }
    let others = audit.pairs.iter().filter(|(pair, _)| telling != Some(pair));
    for (pair, outcome) in others {
        let (class, label) = chip(outcome.as_ref().ok().map(|found| found.verdict));
        let _ = write!(
            text,
            "<details class=\"pair {class}\"><summary><span class=chip>{label}</span><span class=name>{}</span>",
            escape(pair)
        );
        if let Ok(found) = outcome {
            text.push_str(&bar(found, audit.claim));
        }
        let _ = write!(text, "</summary>{}</details>", pair_body(run, audit, pair, outcome, false));
    }
    text.push_str("</div></details>\n");
    text
}

/// One line under the name.
fn why(audit: &AuditReport) -> String {
    match (audit.telling(), audit.pairs.iter().find_map(|(_, outcome)| outcome.as_ref().err())) {
        (Some(found), _) if found.verdict == Verdict::Violated => format!("The attacker {}.", found.sentence(audit.claim)),
        (_, Some(error)) => format!("Could not be run: {error}."),
        (Some(found), None) => format!("The best attack {}.", found.sentence(audit.claim)),
        (None, None) => String::new(),
    }
}

/// The bound against the claim, up to twice the claim.
fn bar(found: &PairReport, claim: Claim) -> String {
    let epsilon = claim.epsilon.get();
    // In per cent of the bar; the claim stands in the middle.
    let place = |value: f64| (50.0 * value / epsilon).clamp(0.0, 100.0);
    let lower = found.bounds.epsilon_lower;
    let over = if lower > 2.0 * epsilon { " over" } else { "" };
    format!(
        "<span class=scale><span class=\"bar{over}\" style=\"--b:{:.1}%;--u:{:.1}%\"></span><span class=num>ε ≥ <b>{}</b>, claimed {}{}</span></span>",
        place(lower),
        place(found.shown.estimate),
        Brief(round_down(lower, 4)),
        Brief(epsilon),
        if claim.delta.get() > 0.0 { format!(" (δ = {})", Brief(claim.delta.get())) } else { String::new() },
    )
}

/// The verdict in words.
fn words(run: &RunReport, found: &PairReport, claim: Claim) -> String {
    let (bounds, confidence) = (&found.bounds, percent(run.settings.confidence.get()));
    let (epsilon, delta) = (Brief(round_down(bounds.epsilon_lower, 4)), Brief(round_down(bounds.delta_lower, 4)));
    let detectable = Brief(-round_down(-bounds.detectable_epsilon, 4));
    match found.verdict {
        Verdict::Violated => format!(
            "<b>The claim is refuted.</b> At δ = {} the mechanism's ε is at least {epsilon}, and at ε = {} its δ is at least {delta} (confidence {confidence}, for all bounds of the run together).",
            Brief(claim.delta.get()),
            Brief(claim.epsilon.get()),
        ),
        Verdict::Consistent => format!(
            "<b>Not refuted.</b> The measured bound is ε ≥ {epsilon} (confidence {confidence}). A leak of ε = {detectable} that this attack can see would have been caught with probability 0.9. Another pair or a cleverer attack may still break the claim."
        ),
        Verdict::Inconclusive if bounds.detectable_epsilon.is_finite() => format!(
            "<b>Not refuted, but too weak to tell.</b> The measured bound is ε ≥ {epsilon}; only a leak of ε = {detectable} or more would have been caught. More draws say more."
        ),
        Verdict::Inconclusive => {
            format!(
                "<b>Not refuted, but too weak to tell.</b> The measured bound is ε ≥ {epsilon}; too few guesses to catch any leak. More draws say more."
            )
        }
    }
}

fn pair_body(run: &RunReport, audit: &AuditReport, pair: &str, outcome: &Result<PairReport, TargetError>, pictures: bool) -> String {
    let found = match outcome {
        Ok(found) => found,
        Err(error) => {
            return format!(
                "<p><b>Pair “{}” could not be run:</b> {}. Its claim was not judged.</p>",
                escape(pair),
                escape(&error.to_string())
            );
        }
    };
    let mut text = format!("<p>{}</p>", words(run, found, audit.claim));
    if found.exceeds_truth() {
        text.push_str("<p><b>The bound lies above the truth that the audit file states</b>; one of them is wrong.</p>");
    }
    if pictures {
        text.push_str(&figures(found, audit.claim));
    }
    let rule = found.rule.as_ref().map_or_else(|| "none: too few draws to learn one".to_owned(), ToString::to_string);
    let tally = found.tally;
    let counts = format!(
        "{} right, {} wrong, {} without a guess",
        plot::grouped(tally.correct),
        plot::grouped(tally.wrong),
        plot::grouped(tally.abstained)
    );
    text.push_str("<div class=facts><dl>");
    let mut entry = |key: &str, value: &str| {
        let _ = write!(text, "<dt>{key}<dd>{}", escape(value));
    };
    entry("pair", pair);
    // Outputs that came without their datasets have none to show.
    if !audit.file.as_os_str().is_empty() {
        entry("D (left)", &found.left);
        entry("D′ (right)", &found.right);
    }
    entry("guess rule", &rule);
    entry("guesses", &counts);
    entry("draws", &plot::grouped(found.draws));
    if let Some(truth) = found.truth.epsilon {
        entry("exact ε", &Brief(truth).to_string());
    }
    if let Some(truth) = found.truth.delta {
        entry("exact δ", &Brief(truth).to_string());
    }
    text.push_str("</dl>");
    if pictures {
        text.push_str(&facts(audit));
    }
    text.push_str("</div>");
    text
}

fn figures(found: &PairReport, claim: Claim) -> String {
    let mut text = String::from("<div class=figures>");
    if let Some(drawn) = &found.picture.distribution {
        let _ = write!(
            text,
            "<figure><figcaption><b>What came out</b> on <i class=kl>D</i> and on <i class=kr>D′</i>. Shaded: where the rule guesses <i class=ksl>D</i> or <i class=ksr>D′</i>.{}</figcaption>{}</figure>",
            if drawn.bars.is_empty() { "" } else { " Bars in per cent, D | D′." },
            plot::distribution(drawn)
        );
    }
    let certified =
        if found.picture.profile.iter().any(|point| point.delta_lower.is_some()) { "certified" } else { "certified at the claim" };
    let _ = write!(
        text,
        "<figure><figcaption><b>How much leaks</b>: δ at each ε, <i class=kb>{certified}</i> and <i class=ke>estimated</i>, against what the <i class=kc>claim</i> allows (grey).</figcaption>{}</figure>",
        plot::profile(found, claim)
    );
    if !found.picture.wealth.is_empty() {
        let _ = write!(
            text,
            "<figure><figcaption><b>How the evidence grew</b>: the wealth of a gambler who bets against the claim. Above the <i class=kc>line</i> the claim is refuted.</figcaption>{}</figure>",
            plot::wealth(&found.picture, found.verdict)
        );
    }
    text.push_str("</div>");
    text
}

fn facts(audit: &AuditReport) -> String {
    let params: Vec<String> = audit.params.iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let mechanism = audit.command.as_ref().unwrap_or(&audit.mechanism);
    let mechanism = if params.is_empty() { mechanism.clone() } else { format!("{mechanism} ({})", params.join(", ")) };
    let mut text = format!(
        "<dl><dt>mechanism<dd>{}<dt>claim<dd>{} for {} neighbours<dt>expected<dd>{}",
        escape(&mechanism),
        escape(&audit.claim.to_string()),
        escape(&audit.relation),
        audit.expect,
    );
    if !audit.file.as_os_str().is_empty() {
        let _ = write!(text, "<dt>file<dd>{}", escape(&audit.file.display().to_string()));
    }
    if let Some(source) = &audit.source {
        let _ = write!(text, "<dt>source<dd>{}", escape(source));
    }
    text.push_str("</dl>");
    text
}
