//! The report as one HTML file that needs nothing else: no network, no script.

mod card;
mod plot;
mod svg;

use std::fmt::Write as _;
use std::io;

use super::file::Format;
use super::{AuditReport, RunReport, percent};
use crate::verdict::{Agreement, Verdict};
use svg::escape;

const STYLE: &str = include_str!("style.css");

/// So many surprises are open from the start.
const OPEN: usize = 3;

/// The format of `--html`.
pub struct Html;

impl Format for Html {
    fn render(&self, report: &RunReport) -> io::Result<Vec<u8>> {
        Ok(page(report).into_bytes())
    }
}

fn page(report: &RunReport) -> String {
    let (violated, all) = (report.count(Some(Verdict::Violated)), report.audits.len());
    let mut text = format!(
        "<!doctype html>\n<html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width,initial-scale=1\">\
         <meta name=color-scheme content=\"light dark\"><link rel=icon href=\"data:,\"><title>dp-audit: {violated} of {all} claims refuted</title>\n<style>{STYLE}</style>\n"
    );
    text.push_str(&header(report));
    for (title, hint, audits) in groups(report) {
        if audits.is_empty() {
            continue;
        }
        let _ = writeln!(text, "<section><h2>{title} <span>{}</span></h2><p class=hint>{hint}</p>", audits.len());
        for (index, audit) in audits.iter().enumerate() {
            let open = index < OPEN && audit.agreement() == Agreement::Differs;
            text.push_str(&card::card(report, audit, open));
        }
        text.push_str("</section>\n");
    }
    text.push_str(&footer(report));
    text
}

/// Surprises first, then what failed; each with a hint.
fn groups(report: &RunReport) -> [(&'static str, &'static str, Vec<&AuditReport>); 5] {
    let of = |agreement: &dyn Fn(Agreement) -> bool, verdict: &dyn Fn(Option<Verdict>) -> bool| {
        report.audits.iter().filter(|audit| agreement(audit.agreement()) && verdict(audit.verdict())).collect::<Vec<_>>()
    };
    let settled = |agreement| matches!(agreement, Agreement::Agrees | Agreement::Undecided);
    [
        ("Not as expected", "The verdict differs from what the audit file says.", of(&|a| a == Agreement::Differs, &|_| true)),
        ("Could not be run", "A pair of these was not judged.", of(&|a| a == Agreement::NotRun, &|_| true)),
        ("Refuted, as expected", "The measured bound exceeds the claim.", of(&settled, &|v| v == Some(Verdict::Violated))),
        ("Inconclusive", "Not refuted, but too few draws to tell.", of(&settled, &|v| v == Some(Verdict::Inconclusive))),
        (
            "Not refuted",
            "A noticeably larger leak, visible to this attack, would have been caught.",
            of(&settled, &|v| v == Some(Verdict::Consistent)),
        ),
    ]
}

fn header(report: &RunReport) -> String {
    let (violated, all) = (report.count(Some(Verdict::Violated)), report.audits.len());
    let confidence = percent(report.settings.confidence.get());
    let mut text = format!("<header><p class=brand>dp-audit</p><h1><b>{violated}</b> of {all} claims refuted</h1>");
    if !report.is_complete() {
        text.push_str("<p class=alert>Not all audits have ended: the run was interrupted or is still going.</p>");
    }
    let names = |agreement| report.with(agreement).map(|audit| escape(&audit.audit)).collect::<Vec<_>>().join("; ");
    let (differs, not_run) = (names(Agreement::Differs), names(Agreement::NotRun));
    if !differs.is_empty() {
        let _ = write!(text, "<p class=alert><b>Not as expected:</b> {differs}</p>");
    }
    if !not_run.is_empty() {
        let _ = write!(text, "<p class=alert><b>Could not be run:</b> {not_run}</p>");
    }
    let _ = write!(
        text,
        "<p class=lead>All bounds hold together with confidence {confidence}.{}</p>",
        if differs.is_empty() && not_run.is_empty() { " No verdict differs from what its audit file expects." } else { "" }
    );
    text.push_str("<div class=tiles>");
    let mut tile = |id: &str, label: &str, count: usize| {
        let checked = if id == "all" { " checked" } else { "" };
        let _ = write!(text, "<label class={id}><input type=radio name=show id=show-{id}{checked}><b>{count}</b>{label}</label>");
    };
    tile("all", "audits", all);
    tile("violated", "violated", violated);
    tile("consistent", "consistent", report.count(Some(Verdict::Consistent)));
    tile("inconclusive", "inconclusive", report.count(Some(Verdict::Inconclusive)));
    if report.count(None) > 0 {
        tile("failed", "not run", report.count(None));
    }
    text.push_str("</div>");
    let key = "<p class=key><span class=bar style=\"--b:70%;--u:76%\"></span> The bar ends at the certified lower bound on ε; the tick is the claim, the thin line the plain estimate. \
               Past the tick the claim is refuted.</p></header>\n";
    text.push_str(key);
    text
}

fn footer(report: &RunReport) -> String {
    let draws: u64 = report.audits.iter().flat_map(AuditReport::reports).map(|pair| pair.draws).sum();
    format!(
        "<footer><p>A claim that is not refuted is not proven: another pair of datasets or a cleverer attack may break it. A refuted claim is refuted; the true leak may be worse than the bound.</p>\
         <p>dp-audit {}, {} draws on {} pairs, seed {}. The same seed gives the same report.</p></footer>\n",
        env!("CARGO_PKG_VERSION"),
        plot::grouped(draws),
        report.pairs,
        report.settings.seed
    )
}
