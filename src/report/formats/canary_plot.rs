//! Draws the three pictures of a canary audit: true against false positives, the bound of each number
//! of guesses, and the scores of canaries that were in and out.

use super::plot::{BOTTOM, HEIGHT, LEFT, Plot, RIGHT, TOP, WIDTH, numbered, x_axis};
use super::svg::{Axis, Drawing};
use crate::audit::CanaryCurves;
use crate::model::number::{Brief, grouped};
use crate::model::{Bounds, Claim, Limit};
use crate::stats::canary::Curve;

/// Points of a curve.
const POINTS: u32 = 160;

/// The rate of true positives against that of false ones, both logarithmic, with what the claim
/// allows and what the bound has refuted.
#[must_use]
pub fn roc(curves: &CanaryCurves, claim: &Claim, bounds: Bounds) -> Plot {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let least = curves
        .roc
        .iter()
        .flat_map(|(alarms, hits)| [*alarms, *hits])
        .filter(|rate| *rate > 0.0)
        .fold(0.1, f64::min);
    let floor = least.log10().floor().max(-6.0);
    let (x, y) = (Axis::new(floor, 0.0, LEFT, RIGHT), Axis::new(floor, 0.0, BOTTOM, TOP));
    let log = |rate: f64| rate.max(1e-30).log10();
    let at = |(alarms, hits): (f64, f64)| (x.at(log(alarms)), y.at(log(hits)));
    #[allow(clippy::cast_possible_truncation)] // from -6 to 0
    let powers: Vec<i32> = (floor as i32..=0).collect();
    for power in &powers {
        let height = y.at(f64::from(*power));
        drawing.line("grid", (LEFT, height), (RIGHT, height));
        drawing.text("e", LEFT - 3.0, height + 4.0, &decade(*power));
    }
    // An event of rate h with the canary has at least the rate F⁻¹(h) without it.
    let border = |limit: &Limit| -> Vec<(f64, f64)> {
        let Some(curve) = Curve::new(limit) else { return Vec::new() };
        let hits =
            (0..=POINTS).map(|i| 10_f64.powf(floor * (1.0 - f64::from(i) / f64::from(POINTS))));
        hits.map(|hits| at((curve.inverse(hits), hits))).collect()
    };
    let claimed = border(claim.main());
    let area: Vec<(f64, f64)> =
        claimed.iter().copied().chain([(RIGHT, BOTTOM), (LEFT, BOTTOM)]).collect();
    drawing.path("allowed", &area);
    drawing.path("est", &[at((10_f64.powf(floor), 10_f64.powf(floor))), at((1.0, 1.0))]);
    if bounds.lower > 0.0 {
        drawing.path("bound", &border(&Limit { value: bounds.lower, ..claim.main().clone() }));
    }
    drawing.path("claim", &claimed);
    let measured: Vec<(f64, f64)> = curves.roc.iter().map(|point| at(*point)).collect();
    drawing.path("dl", &measured);
    let marks = powers.iter().map(|power| (f64::from(*power), decade(*power)));
    x_axis(&mut drawing, x, "false positives", marks);
    let legend = vec![
        ("dl", "measured"),
        ("claim", "what the claim allows"),
        ("bound", "what the bound refutes"),
        ("est", "chance"),
    ];
    Plot {
        name: "roc",
        label: "True against false positives of guesses about canaries",
        drawing,
        y_axis: "true positives",
        legend,
    }
}

fn decade(power: i32) -> String {
    if power == 0 { "1".to_owned() } else { format!("1e{power}") }
}

/// What each number of guesses shows for itself, the claim, and the bound of all together.
#[must_use]
pub fn rungs(curves: &CanaryCurves, claimed: f64, lower: f64) -> Plot {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let decades = |guesses: u64| (guesses.max(1) as f64).log10();
    let (first, last) = (curves.rungs.first(), curves.rungs.last());
    let x = Axis::new(
        first.map_or(0.0, |rung| decades(rung.guesses)),
        last.map_or(1.0, |rung| decades(rung.guesses)),
        LEFT,
        RIGHT,
    );
    let most = curves.rungs.iter().map(|rung| rung.lower).fold(claimed.max(lower), f64::max);
    let y = Axis::new(0.0, 1.1 * most.max(1e-6), BOTTOM, TOP);
    for tick in y.ticks(4.0) {
        drawing.line("grid", (LEFT, y.at(tick)), (RIGHT, y.at(tick)));
        drawing.text("e", LEFT - 3.0, y.at(tick) + 4.0, &Brief(tick).to_string());
    }
    drawing.line("claim", (LEFT, y.at(claimed)), (RIGHT, y.at(claimed)));
    let path: Vec<(f64, f64)> =
        curves.rungs.iter().map(|rung| (x.at(decades(rung.guesses)), y.at(rung.lower))).collect();
    drawing.path("est", &path);
    drawing.path("bound", &[(LEFT, y.at(lower)), (RIGHT, y.at(lower))]);
    for (column, height) in path {
        drawing.dot("bl", column, height);
    }
    let marks = curves.rungs.iter().step_by(curves.rungs.len().div_ceil(6).max(1));
    let marks = marks.map(|rung| (decades(rung.guesses), grouped(rung.guesses)));
    x_axis(&mut drawing, x, "guesses", marks);
    let legend = vec![
        ("bl", "each number of guesses for itself"),
        ("bound", "the bound of all"),
        ("claim", "claimed"),
    ];
    Plot {
        name: "ladder",
        label: "The bound by the number of guesses",
        drawing,
        y_axis: "ε ≥",
        legend,
    }
}

/// The scores of canaries that were in and out, as shares.
#[must_use]
pub fn scores(curves: &CanaryCurves) -> Plot {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let (from, to) = curves.ends;
    let x = Axis::new(from, to, LEFT, RIGHT);
    let shares = |counts: &[u64]| -> Vec<f64> {
        let all = counts.iter().sum::<u64>().max(1) as f64;
        counts.iter().map(|count| *count as f64 / all).collect()
    };
    let (inside, outside) = (shares(&curves.inside), shares(&curves.outside));
    let most = inside.iter().chain(&outside).copied().fold(1e-9, f64::max);
    let y = Axis::new(0.0, 1.05 * most, BOTTOM, TOP);
    let bins = inside.len().max(1) as f64;
    let edge = |index: usize| x.at(from + (to - from) * index as f64 / bins);
    for (class, shares) in [("dl", &inside), ("dr", &outside)] {
        let steps = shares.iter().enumerate().flat_map(|(index, share)| {
            [(edge(index), y.at(*share)), (edge(index + 1), y.at(*share))]
        });
        drawing.path(class, &steps.collect::<Vec<_>>());
    }
    x_axis(&mut drawing, x, "score", numbered(x));
    Plot {
        name: "scores",
        label: "The scores of canaries that were in and out",
        drawing,
        y_axis: "share",
        legend: vec![("dl", "in"), ("dr", "out")],
    }
}
