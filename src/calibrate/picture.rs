//! Draws the measured rates: false alarms compared with what the confidence allows, and power
//! curves.

use super::Outcome;
use crate::model::number::percent;
use crate::report::formats::svg::{Axis, Drawing, Style};

const WIDTH: f64 = 760.0;
/// The frame: left, right, top and bottom.
const FRAME: [f64; 4] = [230.0, 730.0, 50.0, 40.0];
const ROW_HEIGHT: f64 = 34.0;
const CURVES_HEIGHT: f64 = 400.0;
const BLACK: &str = "#000000";
const GREY: &str = "#555555";
const RED: &str = "#d55e00";
const BLUE: &str = "#0072b2";
/// These can be distinguished in print and by colour-blind readers (Okabe & Ito 2008).
const COLOURS: [&str; 7] = [BLACK, "#e69f00", "#56b4e9", "#009e73", BLUE, RED, "#cc79a7"];

/// A drawing with a white background and a title.
fn titled(height: f64, title: &str) -> Drawing {
    let mut drawing = Drawing::new(WIDTH, height);
    drawing.rect(Style::fill("white"), 0.0, 0.0, WIDTH, height);
    drawing.text(text_style(BLACK, "middle"), WIDTH / 2.0, 24.0, title);
    drawing
}

/// Text in a colour, anchored at its `start`, `middle` or `end`.
fn text_style<'a>(colour: &'a str, anchor: &'a str) -> Style<'a> {
    Style::fill(colour).anchor(anchor)
}

fn grid_style() -> Style<'static> {
    Style::stroke("#dddddd", 1.0)
}

/// A dot and an interval for each mechanism whose claim holds, and a line at the rate that the
/// confidence allows. `None` if there is no such mechanism.
#[must_use]
pub fn false_alarms(outcomes: &[Outcome]) -> Option<String> {
    let rows: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.holds).collect();
    let allowed = rows.first()?.allowed();
    let [left, right, top, bottom] = FRAME;
    let end = top + ROW_HEIGHT * rows.len() as f64;
    let max = rows.iter().map(|row| row.violated.interval().1).fold(allowed, f64::max) * 1.1;
    let x = Axis::new(0.0, max, left, right);
    let title = "False alarms for mechanisms that leak exactly as much as they claim";
    let mut drawing = titled(end + bottom, title);
    for tick in 0..=5 {
        let rate = allowed * f64::from(tick) / 5.0;
        drawing.line(grid_style(), (x.at(rate), top), (x.at(rate), end));
        drawing.text(text_style(GREY, "middle"), x.at(rate), end + 18.0, &percent(rate));
    }
    drawing.line(Style::stroke(RED, 2.0), (x.at(allowed), top), (x.at(allowed), end));
    drawing.text(text_style(RED, "middle"), x.at(allowed), top - 6.0, "allowed by the confidence");
    for (index, row) in rows.iter().enumerate() {
        let y = top + ROW_HEIGHT * (index as f64 + 0.5);
        let (low, high) = row.violated.interval();
        drawing.text(text_style(BLACK, "end"), left - 12.0, y + 4.0, &row.audit);
        drawing.line(Style::stroke(BLUE, 2.0), (x.at(low), y), (x.at(high), y));
        drawing.dot(Style::fill(BLUE), x.at(row.violated.observed()), y);
    }
    Some(drawing.file(title))
}

/// How often each mechanism that breaks its claim is detected, by number of draws. `None` if there
/// is no such mechanism.
#[must_use]
pub fn power(outcomes: &[Outcome]) -> Option<String> {
    let points: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.holds).collect();
    let [_, right, top, bottom] = FRAME;
    let (left, right, end) = (60.0, right - 200.0, top + CURVES_HEIGHT);
    let logs = points.iter().map(|point| (point.draws as f64).log10());
    let (first, last) = (logs.clone().reduce(f64::min)?.floor(), logs.reduce(f64::max)?.ceil());
    let (x, y) = (Axis::new(first, last, left, right), Axis::new(0.0, 1.0, end, top));
    let title = "How often too little noise is detected, by number of draws";
    let mut drawing = titled(end + bottom + 10.0, title);
    for tick in 0..=5 {
        let rate = f64::from(tick) / 5.0;
        drawing.line(grid_style(), (left, y.at(rate)), (right, y.at(rate)));
        drawing.text(text_style(GREY, "end"), left - 8.0, y.at(rate) + 4.0, &percent(rate));
    }
    let mut decade = first;
    while decade <= last {
        drawing.line(grid_style(), (x.at(decade), top), (x.at(decade), end));
        drawing.text(text_style(GREY, "middle"), x.at(decade), end + 18.0, &format!("10^{decade}"));
        decade += 1.0;
    }
    drawing.text(text_style(GREY, "middle"), f64::midpoint(left, right), end + 38.0, "draws");
    let curves = points.chunk_by(|a, b| a.audit == b.audit);
    for (index, (curve, colour)) in curves.zip(COLOURS.iter().cycle()).enumerate() {
        let mut path = Vec::new();
        for point in curve {
            let (column, height) =
                (x.at((point.draws as f64).log10()), y.at(point.violated.observed()));
            let (low, high) = point.violated.interval();
            drawing.line(
                Style::stroke(colour, 1.0).opacity(0.5),
                (column, y.at(low)),
                (column, y.at(high)),
            );
            drawing.dot(Style::fill(colour), column, height);
            path.push((column, height));
        }
        drawing.path(Style::stroke(colour, 2.0), &path);
        let legend = top + 22.0 * index as f64;
        drawing.dot(Style::fill(colour), right + 20.0, legend);
        drawing.text(text_style(BLACK, "start"), right + 30.0, legend + 4.0, &curve[0].audit);
    }
    Some(drawing.file(title))
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Rate, boundary_audits};
    use super::*;

    /// Two mechanisms whose claims hold, and a third whose claim does not hold, with three budgets.
    pub fn outcomes() -> Vec<Outcome> {
        let audits = boundary_audits().unwrap();
        let outcome = |index: usize, draws, hits, holds| Outcome {
            audit: format!("<{index}>"),
            mechanism: String::new(),
            claim: audits[0].claim.clone(),
            holds,
            draws,
            confidence: 0.95.try_into().unwrap(),
            violated: Rate { hits, trials: 100 },
            above_truth: Rate { hits: 0, trials: 100 },
            mean_epsilon_lower: 0.0,
        };
        vec![
            outcome(0, 1_000, 2, true),
            outcome(1, 1_000, 4, true),
            outcome(2, 1_000, 0, false),
            outcome(2, 10_000, 50, false),
            outcome(2, 100_000, 100, false),
        ]
    }

    /// The coordinates of all dots.
    fn dots(svg: &str) -> Vec<(f64, f64)> {
        let number = |line: &str, key: &str| {
            line.split_once(key).unwrap().1.split('"').next().unwrap().parse().unwrap()
        };
        svg.lines()
            .filter(|line| line.starts_with("<circle"))
            .map(|line| (number(line, "cx=\""), number(line, "cy=\"")))
            .collect()
    }

    #[test]
    fn twice_the_false_alarms_are_twice_as_far_to_the_right() {
        let svg = false_alarms(&outcomes()).unwrap();
        let dots = dots(&svg);
        assert_eq!(dots.len(), 2);
        assert!(((dots[1].0 - FRAME[0]) / (dots[0].0 - FRAME[0]) - 2.0).abs() < 0.01, "{dots:?}");
        assert!(svg.contains(">&lt;0&gt;</text>"));
    }

    #[test]
    fn a_power_curve_rises_from_the_bottom_to_the_top_in_equal_decades() {
        // The last dot belongs to the legend.
        let dots = dots(&power(&outcomes()).unwrap());
        assert_eq!(dots.len(), 4);
        assert_eq!(
            [dots[0].1, dots[1].1, dots[2].1],
            [FRAME[2] + CURVES_HEIGHT, FRAME[2] + CURVES_HEIGHT / 2.0, FRAME[2]]
        );
        assert!((dots[1].0 - dots[0].0 - (dots[2].0 - dots[1].0)).abs() < 0.2, "{dots:?}");
    }

    #[test]
    fn without_outcomes_there_is_no_picture() {
        assert_eq!(false_alarms(&[]), None);
        assert_eq!(power(&outcomes()[..2]), None);
    }
}
