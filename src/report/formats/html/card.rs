//! The card of one audit: a summary line, and the details that open below it.

use maud::{Markup, display, html};

use super::Page;
use super::accuracy::accuracy_bar;
use super::bar::bar;
use crate::audit::{Audit, AuditReport, Evidence, PairResult, RunReport};
use crate::model::number::{Brief, grouped, percent, round_down};
use crate::model::{Agreement, Claim, Conclusion, Settings, Until, Verdict};
use crate::output::fingerprint;
use crate::report::commands;
use crate::report::formats::plot::Plot;
use crate::report::formats::race::race;
use crate::report::persistence::witness::file_words;
use crate::report::statement::{Statement, rounded, short};

/// The CSS class of a conclusion, and its name. The mark before it says whether it was expected, as
/// in the terminal.
pub fn chip(agreement: Agreement, conclusion: Conclusion) -> (&'static str, Markup) {
    let class = match conclusion {
        Conclusion::Violated => "violated",
        Conclusion::Consistent => "consistent",
        Conclusion::Inconclusive => "inconclusive",
        Conclusion::Error => "failed",
    };
    (class, html! { span.chip { (agreement.mark()) " " (display(conclusion)) } })
}

/// The name of a card in links. It depends only on the audit's name.
pub fn anchor(report: &AuditReport) -> String {
    let name = &report.audit.name;
    // The hash is needed because different names can have the same readable part.
    format!("{}-{}", file_words(name), &fingerprint(&[name])[..4])
}

/// A command that can be copied.
pub fn command(text: &str) -> Markup {
    html! { p.command { code { (text) } " " button.copy type="button" { "copy" } } }
}

impl Page<'_> {
    /// The audit as a card, open or closed. Its places are those in the order of severity and in
    /// the order of the files.
    pub(super) fn card(&self, report: &AuditReport, places: [usize; 2], open: bool) -> Markup {
        let audit = &report.audit;
        let conclusion = super::conclusion(report);
        let (class, label) = chip(report.agreement(), conclusion);
        let (surprise, anchor) = (report.agreement() == Agreement::Differs, anchor(report));
        let worst = Statement::worst(report);
        let best = report.most_significant();
        // The most significant pair comes first.
        let (first, others): (Vec<_>, Vec<_>) = report
            .results
            .iter()
            .partition(|result| best.is_some_and(|(best, _)| best.pair == result.pair));
        // An accuracy claim that does not hold comes before pairs that do.
        let speaks = match worst {
            Some(Statement::Accuracy(_, result))
                if result.conclusion() != Conclusion::Consistent || report.results.is_empty() =>
            {
                Some(result)
            }
            _ => None,
        };
        let rest = report
            .accuracy
            .iter()
            .filter(|result| speaks.is_none_or(|speaks| !std::ptr::eq(speaks, *result)));
        let suite = self.suites.binary_search(&super::suite(report)).unwrap_or_default();
        html! {
            details.card.(class).surprise[surprise] id=(anchor) open[open] data-suite=(suite) data-place=(places[0]) data-file=(places[1]) {
                summary {
                    (label)
                    span.name {
                        (audit.name)
                        @if let Some(reason) = worst.and_then(Statement::reason) { " " em { (display(reason)) } }
                        @if let Some(worst) = worst.filter(|_| surprise) { " " em { "expected " (display(worst.expected())) } }
                        " " a.link href={ "#" (anchor) } title="link to this card" { "#" }
                        small { (worst.map_or_else(String::new, Statement::sentence)) }
                    }
                    @if let Some(result) = speaks {
                        (accuracy_bar(result))
                    } @else if let Some((_, evidence)) = best.filter(|_| conclusion != Conclusion::Error) {
                        (pair_bar(evidence, audit))
                    }
                }
                div.body {
                    @if let Some(worst) = worst { (self.next(worst)) }
                    @if let Some(result) = speaks { (self.accuracy_claim(report, result, true)) }
                    @for result in first { (self.pair_body(report, result, true)) }
                    @if best.is_none() { (facts(audit)) }
                    @for result in others { (self.other_pair(report, result)) }
                    @for result in rest { (self.accuracy_claim(report, result, false)) }
                    @if let Some(history) = &report.search {
                        p { (history.effort()) "." }
                        @if !history.heats.is_empty() { div.figures { (race(history)) } }
                    }
                    @if let Some(control) = report.control { p { "Control: " (display(control)) "." } }
                    @if let Some(again) = commands::run_alone(report, &options(self.run.settings)) {
                        p.again { "Run this audit alone; the whole confidence is then its own:" }
                        (command(&again))
                    }
                }
            }
        }
    }

    /// A pair that is not the most significant one: a summary line, and the details that open below
    /// it.
    fn other_pair(&self, report: &AuditReport, result: &PairResult) -> Markup {
        let (class, label) = chip(report.agreement_of(result), result.conclusion());
        html! {
            details.pair.(class) {
                summary {
                    (label)
                    span.name { (result.pair) }
                    @if let Ok(evidence) = &result.outcome { (pair_bar(evidence, &report.audit)) }
                }
                (self.pair_body(report, result, false))
            }
        }
    }

    /// What the baseline says about a pair or an accuracy claim.
    pub(super) fn earlier(&self, audit: &str, name: &str) -> Option<(&'static str, String)> {
        let row = self.before.get(&(audit, name))?;
        let bound = row
            .epsilon_lower
            .map_or_else(String::new, |lower| format!(", ε ≥ {}", Brief(round_down(lower, 4))));
        let fails = row
            .failure_lower
            .map_or_else(String::new, |lower| format!(", fails ≥ {}", Brief(round_down(lower, 4))));
        Some(("in the baseline", format!("{}{bound}{fails}", row.verdict)))
    }
}

/// The options that repeat a run.
fn options(settings: Settings) -> String {
    let draws = settings.draws.map_or_else(String::new, |draws| format!(" --draws {draws}"));
    let until = if settings.until == Until::Decided { " --until decided" } else { "" };
    let controls = if settings.controls { " --controls" } else { "" };
    format!(
        "--seed {} --confidence {}{draws}{until}{controls}",
        settings.seed,
        settings.confidence.get()
    )
}

/// The reach of a pair as a bar, and the numbers behind it.
fn pair_bar(evidence: &Evidence, audit: &Audit) -> Markup {
    let (claim, bounds) = (audit.claim.main(), evidence.bounds);
    let reach = bounds.reach(&audit.claim);
    // In other words, δ shows more of the claim than ε does.
    let by_delta = reach > bounds.lower / claim.value;
    html! {
        span.scale {
            (bar(reach, evidence.estimate.epsilon / audit.claim.epsilon(), audit.reach.at_least()))
            span.num {
                (claim.measure.symbol()) " ≥ " b { (rounded(bounds.lower, 4, claim.value)) } ", claimed " (display(Brief(claim.value)))
                @if by_delta && bounds.delta_lower > 0.0 {
                    "; δ ≥ " b { (display(Brief(round_down(bounds.delta_lower, 4)))) } ", claimed " (display(Brief(audit.claim.delta())))
                } @else if audit.claim.second().is_some() && audit.claim.delta() > 0.0 {
                    " (δ = " (display(Brief(audit.claim.delta()))) ")"
                }
                "; reach " (short(reach, 1.0))
            }
        }
    }
}

/// Explains the verdict on a stability claim, which is exact.
fn exact_text(evidence: &Evidence, claim: &Claim) -> Markup {
    let (verdict, more) = match evidence.verdict {
        Verdict::Violated => {
            ("The claim is refuted.", " There is no noise, so this is certain.".to_owned())
        }
        Verdict::Consistent => {
            ("Not refuted.", " Another pair may still refute the claim.".to_owned())
        }
        Verdict::Inconclusive(reason) => {
            ("Not refuted, but inconclusive.", format!(" Reason: {reason}."))
        }
    };
    html! { p { b { (verdict) } " The attacker " (evidence.sentence(claim)) "." (more) } }
}

/// Explains the verdict.
fn verdict_text(run: &RunReport, evidence: &Evidence, audit: &Audit) -> Markup {
    let claim = &audit.claim;
    let (bounds, confidence) = (&evidence.bounds, percent(run.settings.confidence.get()));
    let (epsilon, delta) =
        (Brief(round_down(bounds.epsilon_lower, 4)), Brief(round_down(bounds.delta_lower, 4)));
    let symbol = claim.main().measure.symbol();
    let detected = if bounds.detectable.is_finite() {
        let detectable = Brief(-round_down(-bounds.detectable, 4));
        format!(
            "A leak of this shape is flagged with probability 0.9 or more from {symbol} = {detectable} on."
        )
    } else {
        "The attack sees no leak whose growth it could flag.".to_owned()
    };
    if claim.metric().is_some() {
        return exact_text(evidence, claim);
    }
    let in_unit = bounds
        .in_unit(claim)
        .map_or_else(String::new, |bound| format!("In the unit of the claim: {bound}. "));
    let (verdict, reasons) = match evidence.verdict {
        Verdict::Violated => (
            "The claim is refuted.",
            format!(
                "{in_unit}At δ = {} the mechanism's ε is at least {epsilon}, and at ε = {} its δ is at least {delta} (confidence {confidence}, for all bounds of the run together).",
                Brief(claim.delta()),
                Brief(claim.epsilon()),
            ),
        ),
        Verdict::Consistent => (
            "Not refuted.",
            format!(
                "{in_unit}The measured bound is ε ≥ {epsilon} (confidence {confidence}). {detected} Another pair or a better attack may still refute the claim."
            ),
        ),
        Verdict::Inconclusive(reason) => (
            "Not refuted, but inconclusive.",
            format!("{in_unit}The measured bound is ε ≥ {epsilon}. {detected} Reason: {reason}."),
        ),
    };
    html! { p { b { (verdict) } " " (reasons) } }
}

impl Page<'_> {
    /// The details of a pair. The most significant pair and every refuted pair have pictures.
    fn pair_body(&self, report: &AuditReport, result: &PairResult, first: bool) -> Markup {
        let audit = &report.audit;
        let evidence = match &result.outcome {
            Ok(evidence) => evidence,
            Err(error) => {
                return html! {
                    p { b { "Pair “" (result.pair) "” could not be run:" } " " (display(error)) ". Its claim was not judged." }
                };
            }
        };
        html! {
            (verdict_text(self.run, evidence, audit))
            @if result.exceeds_truth() {
                p { b { "The bound is above the truth that the audit file states" } "; one of them is wrong." }
            }
            @if first || evidence.verdict == Verdict::Violated { (figures(evidence, &audit.claim)) }
            div.facts {
                (self.pair_facts(audit, result, evidence))
                @if first { (facts(audit)) }
            }
        }
    }
}

fn figures(evidence: &Evidence, claim: &Claim) -> Markup {
    html! {
        div.figures {
            @for plot in Plot::all(evidence, claim) {
                figure {
                    figcaption { (caption(&plot, evidence)) }
                    (plot.embedded())
                }
            }
        }
    }
}

/// What a picture shows.
fn caption(plot: &Plot, evidence: &Evidence) -> Markup {
    let curves = &evidence.curves;
    let certified = if curves.profile.iter().any(|point| point.delta_lower.is_some()) {
        "certified"
    } else {
        "certified at the claim"
    };
    let has_bars = curves.distribution.as_ref().is_some_and(|drawn| !drawn.bars.is_empty());
    match plot.name {
        "outputs" => html! {
            b { "What came out" } " on " i.kl { "D" } " and on " i.kr { "D′" }
            ". Shaded: where the rule guesses " i.ksl { "D" } " or " i.ksr { "D′" } "."
            @if has_bars { " Bars in percent, D | D′." }
        },
        "profile" => html! {
            b { "How much leaks" } ": δ at each ε, " i.kb { (certified) } " and " i.ke { "estimated" }
            ", against what the " i.kc { "claim" } " allows (grey)."
        },
        _ => html! {
            b { "How the evidence grew" } ": the wealth of a gambler who bets against the claim. Above the " i.kc { "line" }
            " the claim is refuted."
        },
    }
}

impl Page<'_> {
    /// The facts about a pair.
    fn pair_facts(&self, audit: &Audit, result: &PairResult, evidence: &Evidence) -> Markup {
        let tally = evidence.tally;
        let mut facts = vec![("pair", result.pair.clone())];
        // Recorded outputs have no datasets to show.
        if audit.is_from_file() {
            facts.push(("D (left)", result.left.clone()));
            facts.push(("D′ (right)", result.right.clone()));
        }
        if let Some([left, right]) = &evidence.outputs {
            facts.push(("output on D", left.clone()));
            facts.push(("output on D′", right.clone()));
        } else {
            facts.push(("guess rule", evidence.rule_text()));
            let counts = [tally.correct, tally.wrong, tally.abstained].map(grouped);
            facts.push((
                "guesses",
                format!("{} right, {} wrong, {} without a guess", counts[0], counts[1], counts[2]),
            ));
        }
        facts.push(("draws", grouped(evidence.draws)));
        facts.push(("reach", rounded(evidence.bounds.reach(&audit.claim), 4, 1.0)));
        facts.extend(result.truth.epsilon.map(|truth| ("exact ε", Brief(truth).to_string())));
        facts.extend(result.truth.delta.map(|truth| ("exact δ", Brief(truth).to_string())));
        facts.extend(self.earlier(&audit.name, &result.pair));
        facts.extend(evidence.note.clone().map(|note| ("note", note)));
        list(&facts)
    }
}

/// The facts about an audit.
fn facts(audit: &Audit) -> Markup {
    let params: Vec<String> = audit
        .subject
        .params()
        .into_iter()
        .flatten()
        .map(|(key, value)| format!("{key} = {value}"))
        .collect();
    let mechanism = audit
        .subject
        .command()
        .map_or_else(|| audit.subject.mechanism().to_owned(), ToString::to_string);
    let mechanism =
        if params.is_empty() { mechanism } else { format!("{mechanism} ({})", params.join(", ")) };
    let because = audit.reach.because().map_or_else(String::new, |reason| format!(" ({reason})"));
    let asked = format!("{}{because}", Brief(audit.reach.at_least()));
    let mut facts = vec![("mechanism", mechanism)];
    if audit.is_about_pairs() {
        facts.push(("claim", format!("{} for {} neighbours", audit.claim, audit.relation)));
        facts.push(("expected", audit.expect.to_string()));
        facts.push(("reach asked for", asked));
    }
    if audit.is_from_file() {
        facts.push(("file", audit.file.display().to_string()));
    }
    facts.extend(audit.source.clone().map(|source| ("source", source)));
    list(&facts)
}

/// A list of names and values.
pub fn list(facts: &[(&str, String)]) -> Markup {
    html! {
        dl {
            @for (name, value) in facts {
                dt { (name) }
                dd { (value) }
            }
        }
    }
}
