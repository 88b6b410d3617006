//! The top of the page: what is unexpected, what to do about it, the settings, the tools.

use maud::{Markup, html};

use super::card::{anchor, command};
use super::{Page, bar, conclusion};
use crate::audit::{Clue, Judged, RunReport, capitalised};
use crate::model::number::{counted, percent};
use crate::model::{Agreement, Conclusion};
use crate::report::commands;

/// How many unexpected results are explained at the top.
const MAX_ALERTS: usize = 5;
/// With more lines than this, the comparison with the baseline is closed.
const MAX_OPEN_LINES: usize = 8;

/// The first line: whether anything is unexpected.
pub fn headline(run: &RunReport) -> String {
    let count = |agreement| run.with(agreement).count();
    let (differs, not_run) = (count(Agreement::Differs), count(Agreement::NotRun));
    // As many as the tile has: an audit that is expected to be refuted is among them too.
    let undecided =
        run.audits.iter().filter(|audit| conclusion(audit) == Conclusion::Inconclusive).count();
    let mut parts = Vec::new();
    parts.extend((differs > 0).then(|| format!("{differs} not as expected")));
    parts.extend((not_run > 0).then(|| format!("{not_run} could not be run")));
    parts.extend((undecided > 0).then(|| format!("{undecided} inconclusive")));
    let found = if parts.is_empty() { "nothing unexpected".to_owned() } else { parts.join(", ") };
    let found = if run.is_complete() { found } else { format!("so far {found}") };
    capitalised(&found).trim_end_matches('.').to_owned()
}

impl Page<'_> {
    pub(super) fn header(&self) -> Markup {
        let run = self.run;
        let all = run.audits.len();
        let bad = run.audits.iter().any(|audit| audit.agreement() != Agreement::Agrees);
        let count = |wanted| run.audits.iter().filter(|audit| conclusion(audit) == wanted).count();
        let surprises = run.with(Agreement::Differs).count();
        html! {
            header {
                p.brand { "dp-audit" }
                h1.bad[bad] { (headline(run)) }
                p.lead {
                    b { (run.count(Conclusion::Violated)) } " of " (counted(all, "claim")) " refuted, "
                    (run.with(Agreement::Agrees).count()) " of " (counted(all, "verdict")) " as expected. All bounds hold together with confidence " (percent(run.settings.confidence.get())) "."
                }
                @if !run.is_complete() {
                    p.alert { "Not all audits have ended: the run was interrupted or is still running." }
                }
                (self.alerts())
                (self.against_baseline())
                (self.settings())
                div.tiles {
                    (tile("all", if all == 1 { "audit" } else { "audits" }, all))
                    @if surprises > 0 { (tile("surprise", "not as expected", surprises)) }
                    (tile("violated", "violated", count(Conclusion::Violated)))
                    (tile("consistent", "consistent", count(Conclusion::Consistent)))
                    (tile("inconclusive", "inconclusive", count(Conclusion::Inconclusive)))
                    @if count(Conclusion::Error) > 0 { (tile("failed", "not run", count(Conclusion::Error))) }
                }
                div.tools {
                    input #search type="search" placeholder="Search" aria-label="Search in all cards";
                    select #suite aria-label="Suite" {
                        option value="" { "All suites" }
                        @for (index, suite) in self.suites.iter().enumerate() { option value=(index) { (suite) } }
                    }
                    select #sort aria-label="Order" {
                        option value="severity" { "Worst first" }
                        option value="name" { "By name" }
                        option value="file" { "By file" }
                    }
                    button #expand type="button" { "Expand all" }
                    span #count {}
                }
                (bar::key())
            }
        }
    }

    /// The unexpected results: which, how much, why, and what to type next.
    fn alerts(&self) -> Markup {
        let mut statements: Vec<Judged<'_>> =
            self.run.audits.iter().filter_map(|audit| audit.worst()).collect();
        statements.retain(|statement| {
            matches!(statement.agreement(), Agreement::Differs | Agreement::NotRun)
        });
        statements.sort_by_key(|statement| std::cmp::Reverse(statement.agreement() as u8));
        html! {
            @for statement in statements.iter().take(MAX_ALERTS) {
                div.alert {
                    p {
                        b { (statement.agreement().mark()) " " a href={ "#" (anchor(statement.report)) } { (statement.report.audit.name) } }
                        " / " (statement.name()) ": " (statement.conclusion().to_string())
                        @if statement.agreement() == Agreement::Differs {
                            @if statement.contradicts_truth() {
                                ", above the truth that the audit file states"
                            } @else {
                                ", expected " (statement.expected().to_string())
                            }
                            @if let Some(bound) = statement.bound() { ", " b { (bound) } " claimed" }
                        }
                        ". " (statement.sentence())
                    }
                    @let words = statement.words();
                    @if let Some((title, rule)) = words.rule { p { b { (title) " " } (rule) "." } }
                    @for clue in words.clues.iter().filter(|clue| clue.margin == Clue::SIMPLEST) {
                        p { b { (clue.margin) " " } (clue.text) "." }
                    }
                    (self.next(*statement))
                }
            }
            @if statements.len() > MAX_ALERTS {
                p.alert { "And " (statements.len() - MAX_ALERTS) " more, below." }
            }
        }
    }

    /// What to do next about a statement, and the command to type.
    pub(super) fn next(&self, statement: Judged<'_>) -> Markup {
        let replay = self
            .html
            .witnesses
            .as_deref()
            .and_then(|folder| commands::replay(self.run.settings, statement.report, folder));
        let replay = replay.filter(|(pair, _)| {
            pair == statement.name() && statement.conclusion() == Conclusion::Violated
        });
        let draws = || {
            statement.needed_draws().and_then(|draws| {
                commands::run_alone(statement.report, &format!("--draws {draws}"))
            })
        };
        let typed = replay.map(|(_, command)| command).or_else(draws);
        html! {
            @if let Some(step) = statement.next_step() { p.next { b { "Next: " } (capitalised(&step)) } }
            @if let Some(typed) = typed { (command(&typed)) }
        }
    }

    /// What has changed since the baseline.
    fn against_baseline(&self) -> Markup {
        let Some(comparison) = &self.comparison else { return html! {} };
        let [worse, better, notes] = comparison.lines();
        let lists = [("Worse", &worse), ("Better", &better), ("Note", &notes)];
        let lines = lists.iter().map(|(_, lines)| lines.len()).sum::<usize>();
        html! {
            details.baseline.worse[!comparison.worse.is_empty()] open[lines <= MAX_OPEN_LINES] {
                summary {
                    span {
                        b { "Against the baseline: " }
                        (worse.len()) " worse, " (better.len()) " better, " (notes.len()) " notes"
                    }
                }
                ul {
                    @for (title, lines) in lists {
                        @for line in lines { li { b { (title) ": " } (line) "." } }
                    }
                    @if lines == 0 { li { "Nothing has changed." } }
                }
            }
        }
    }

    /// When, of which version and commit, and how the report was made.
    fn settings(&self) -> Markup {
        let settings = self.run.settings;
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.html.origin.date.clone());
        parts.push(format!("dp-audit {}", env!("CARGO_PKG_VERSION")));
        parts.extend(self.html.origin.commit.as_ref().map(|commit| format!("commit {commit}")));
        parts.push(format!("seed {}", settings.seed));
        parts.push(settings.draws.map_or_else(
            || "draws as in the audit files".to_owned(),
            |draws| format!("{} per pair", counted(draws, "draw")),
        ));
        let until = settings.until;
        parts.extend(until.ends_early().then(|| format!("until {}", until.name())));
        parts.extend(settings.controls.then(|| "with controls".to_owned()));
        html! {
            p.meta { @for (index, part) in parts.iter().enumerate() { @if index > 0 { " · " } span { (part) } } }
        }
    }
}

/// A count that is also a button. It shows only the cards of its class.
fn tile(class: &str, label: &str, count: usize) -> Markup {
    html! {
        label.(class) {
            input #{ "show-" (class) } type="radio" name="show" checked[class == "all"];
            b { (count) }
            (label)
        }
    }
}
