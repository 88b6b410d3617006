//! Measurements without a claim: a table for people, CSV, JSON, and the picture of a profile.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::json;

use super::plot::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, numbered, x_axis};
use super::svg::{Axis, Drawing, Figure};
use crate::audit::{DeltaAt, Measurement};
use crate::model::number::{Brief, counted, percent, round_down};

/// The version of the JSON format.
const SCHEMA: &str = "dp-audit-measurement/1";

/// Significant digits in tables.
const DIGITS: i32 = 4;

/// No δ below this is drawn.
const LEAST_DELTA: f64 = -9.0;

fn shown(value: f64) -> Brief {
    Brief(round_down(value, DIGITS))
}

/// The text at the end of a measurement.
#[must_use]
pub fn text(measured: &[Measurement]) -> String {
    let mut text = String::new();
    for one in measured {
        let _ = writeln!(text, "{} / {}", one.audit, one.pair);
        if let Some(error) = &one.error {
            let _ = writeln!(text, "  could not be measured: {error}\n");
            continue;
        }
        if !one.left.is_empty() {
            let _ = writeln!(text, "  D  = {}\n  D' = {}", one.left, one.right);
        }
        let _ = writeln!(text, "\n  {:>8}  ε is at least", "at δ =");
        for point in &one.epsilon {
            let _ = writeln!(
                text,
                "  {:>8}  {}",
                Brief(point.delta).to_string(),
                shown(point.epsilon_lower)
            );
        }
        let _ = writeln!(
            text,
            "\n  Gaussian DP: μ is at least {}. Zero-concentrated DP: ρ is at least {}.",
            shown(one.mu_lower),
            shown(one.rho_lower)
        );
        if one.is_zero() {
            text.push_str(
                "  No rule tells D from D'. More draws, or a pair on which more changes, may.\n",
            );
        }
        if !one.unread.is_empty() {
            let _ = writeln!(
                text,
                "  Not read, because nothing in it repeats: {}. A leak there is not seen.",
                one.unread.join(", ")
            );
        }
        let _ = writeln!(text, "  {}.\n", counted(one.draws, "draw"));
    }
    if let Some(first) = measured.first() {
        let _ = writeln!(
            text,
            "All bounds hold together with confidence {}. The true values are at least these; another \
             pair or a better attack may show more.",
            percent(first.confidence)
        );
    }
    text
}

/// The JSON report.
#[must_use]
pub fn json(measured: &[Measurement]) -> Vec<u8> {
    let mut text = json!({
        "schema": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "measurements": measured,
    })
    .to_string();
    text.push('\n');
    text.into_bytes()
}

/// A row of the CSV report.
#[derive(Serialize)]
struct Line<'a> {
    file: &'a str,
    audit: &'a str,
    pair: &'a str,
    left: &'a str,
    right: &'a str,
    unit: &'a str,
    delta: Option<f64>,
    lower: Option<f64>,
    confidence: f64,
    draws: u64,
    seed: u64,
    error: &'a str,
}

/// The CSV report: a row for each δ, one for μ and one for ρ.
#[must_use]
pub fn csv(measured: &[Measurement]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for one in measured {
        let bounds = one.epsilon.iter().map(|at| ("epsilon", Some(at.delta), at.epsilon_lower));
        let others = [("mu", None, one.mu_lower), ("rho", None, one.rho_lower)];
        for (unit, delta, lower) in bounds.chain(others) {
            let line = Line {
                file: &one.file,
                audit: &one.audit,
                pair: &one.pair,
                left: &one.left,
                right: &one.right,
                unit,
                delta,
                lower: Some(lower).filter(|_| one.error.is_none()),
                confidence: one.confidence,
                draws: one.draws,
                seed: one.seed,
                error: one.error.as_deref().unwrap_or_default(),
            };
            // Nothing can fail in memory.
            let _ = writer.serialize(line);
        }
    }
    writer.into_inner().unwrap_or_default()
}

/// The privacy profile as an SVG file that explains itself.
#[must_use]
pub fn picture(one: &Measurement) -> String {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let positive: Vec<&DeltaAt> =
        one.profile.iter().filter(|point| point.delta_lower > 0.0).collect();
    let least = positive.iter().map(|point| point.delta_lower.log10()).fold(-1.0, f64::min);
    let floor = least.floor().max(LEAST_DELTA);
    let end = one.profile.last().map_or(1.0, |point| point.epsilon);
    let (x, y) = (Axis::new(0.0, end, LEFT, RIGHT), Axis::new(floor, 0.0, BOTTOM, TOP));
    #[allow(clippy::cast_possible_truncation)] // from -9 to 0
    for power in (floor as i32..=0).step_by(if floor < -4.0 { 2 } else { 1 }) {
        let height = y.at(f64::from(power));
        drawing.line("grid", (LEFT, height), (RIGHT, height));
        let label = if power == 0 { "δ = 1".to_owned() } else { format!("1e{power}") };
        drawing.text("e", LEFT - 3.0, height + 4.0, &label);
    }
    let mut path: Vec<(f64, f64)> = positive
        .iter()
        .map(|point| (x.at(point.epsilon), y.at(point.delta_lower.log10())))
        .collect();
    path.extend(path.last().map(|(x, _)| (*x, BOTTOM)));
    drawing.path("bound", &path);
    x_axis(&mut drawing, x, "ε", numbered(x));
    let title = format!("{} / {}", one.audit, one.pair);
    let legend = [("bound", "δ is at least this")];
    drawing.figure(&Figure { title: &title, y_axis: "δ", legend: &legend })
}
