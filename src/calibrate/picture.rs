//! Rates as pictures: false alarms against what is stated, and power curves.

use std::fmt::Write as _;

use super::Outcome;
use crate::report::percent;

const WIDTH: f64 = 760.0;
/// The frame: left, right, top and bottom.
const FRAME: [f64; 4] = [230.0, 730.0, 50.0, 40.0];
const ROW: f64 = 34.0;
const CURVES: f64 = 400.0;
/// Distinguishable in print and by the colour-blind (Okabe & Ito 2008).
const COLOURS: [&str; 7] = ["#000000", "#e69f00", "#56b4e9", "#009e73", "#0072b2", "#d55e00", "#cc79a7"];

/// An SVG picture being drawn.
struct Svg {
    body: String,
    height: f64,
}

impl Svg {
    fn new(height: f64, title: &str) -> Self {
        let mut svg = Self { body: String::new(), height };
        let _ = writeln!(svg.body, r#"<rect width="100%" height="100%" fill="white"/>"#);
        svg.text(WIDTH / 2.0, 24.0, "middle", "#000000", title);
        svg
    }

    fn text(&mut self, x: f64, y: f64, anchor: &str, colour: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(self.body, r#"<text x="{x:.1}" y="{y:.1}" text-anchor="{anchor}" fill="{colour}">{text}</text>"#);
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), style: &str) {
        let _ = writeln!(self.body, r#"<path d="M{:.1} {:.1}L{:.1} {:.1}" {style}/>"#, from.0, from.1, to.0, to.1);
    }

    fn dot(&mut self, at: (f64, f64), colour: &str) {
        let _ = writeln!(self.body, r#"<circle cx="{:.1}" cy="{:.1}" r="3.5" fill="{colour}"/>"#, at.0, at.1);
    }

    fn end(self) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {}\" font-family=\"sans-serif\" font-size=\"13\" fill=\"none\">\n{}</svg>\n",
            self.height, self.body
        )
    }
}

/// A dot and an interval for each mechanism that holds its claim, and a line at the rate that its confidence allows; None if there is none.
#[must_use]
pub fn false_alarms(outcomes: &[Outcome]) -> Option<String> {
    let rows: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.holds).collect();
    let allowed = rows.first()?.allowed();
    let [left, right, top, bottom] = FRAME;
    let end = top + ROW * rows.len() as f64;
    let most = rows.iter().map(|row| row.violated.interval().1).fold(allowed, f64::max) * 1.1;
    let x = |rate: f64| left + (right - left) * rate / most;
    let mut svg = Svg::new(end + bottom, "False alarms on mechanisms that sit exactly on their claims");
    for tick in 0..=5 {
        let rate = allowed * f64::from(tick) / 5.0;
        svg.line((x(rate), top), (x(rate), end), r##"stroke="#dddddd""##);
        svg.text(x(rate), end + 18.0, "middle", "#555555", &percent(rate));
    }
    svg.line((x(allowed), top), (x(allowed), end), r##"stroke="#d55e00" stroke-width="2""##);
    svg.text(x(allowed), top - 6.0, "middle", "#d55e00", "allowed by the confidence");
    for (index, row) in rows.iter().enumerate() {
        let y = top + ROW * (index as f64 + 0.5);
        let (low, high) = row.violated.interval();
        svg.text(left - 12.0, y + 4.0, "end", "#000000", &row.audit);
        svg.line((x(low), y), (x(high), y), r##"stroke="#0072b2" stroke-width="2""##);
        svg.dot((x(row.violated.observed()), y), "#0072b2");
    }
    Some(svg.end())
}

/// The probability of catching each mechanism that breaks its claim, against the draws; None if there is none.
#[must_use]
pub fn power(outcomes: &[Outcome]) -> Option<String> {
    let points: Vec<&Outcome> = outcomes.iter().filter(|outcome| !outcome.holds).collect();
    let [_, right, top, bottom] = FRAME;
    let (left, right, end) = (60.0, right - 200.0, top + CURVES);
    let logs = points.iter().map(|point| (point.draws as f64).log10());
    let (first, last) = (logs.clone().reduce(f64::min)?.floor(), logs.reduce(f64::max)?.ceil());
    let x = |draws: f64| left + (right - left) * (draws.log10() - first) / (last - first).max(1.0);
    let y = |rate: f64| end - (end - top) * rate;
    let mut svg = Svg::new(end + bottom + 10.0, "How often too little noise is caught, against the draws");
    for tick in 0..=5 {
        let rate = f64::from(tick) / 5.0;
        svg.line((left, y(rate)), (right, y(rate)), r##"stroke="#dddddd""##);
        svg.text(left - 8.0, y(rate) + 4.0, "end", "#555555", &percent(rate));
    }
    let mut decade = first;
    while decade <= last {
        let draws = 10_f64.powf(decade);
        svg.line((x(draws), top), (x(draws), end), r##"stroke="#dddddd""##);
        svg.text(x(draws), end + 18.0, "middle", "#555555", &format!("10^{decade}"));
        decade += 1.0;
    }
    svg.text(f64::midpoint(left, right), end + 38.0, "middle", "#555555", "draws");
    let curves = points.chunk_by(|a, b| a.audit == b.audit);
    for (index, (curve, colour)) in curves.zip(COLOURS.iter().cycle()).enumerate() {
        let at = |point: &Outcome| (x(point.draws as f64), y(point.violated.observed()));
        for point in curve {
            let (low, high) = point.violated.interval();
            let x = at(point).0;
            svg.line((x, y(low)), (x, y(high)), &format!(r#"stroke="{colour}" opacity="0.5""#));
            svg.dot(at(point), colour);
        }
        for ends in curve.windows(2) {
            svg.line(at(ends[0]), at(ends[1]), &format!(r#"stroke="{colour}" stroke-width="2""#));
        }
        let legend = top + 22.0 * index as f64;
        svg.dot((right + 20.0, legend), colour);
        svg.text(right + 30.0, legend + 4.0, "start", "#000000", &curve[0].audit);
    }
    Some(svg.end())
}

#[cfg(test)]
mod tests {
    use super::super::{Rate, boundary};
    use super::*;

    fn outcomes() -> Vec<Outcome> {
        let audits = boundary().unwrap();
        let outcome = |index: usize, draws, hits, holds| Outcome {
            audit: format!("<{index}>"),
            mechanism: String::new(),
            claim: audits[0].claim,
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

    /// The places of all dots.
    fn dots(svg: &str) -> Vec<(f64, f64)> {
        let number = |line: &str, key: &str| line.split_once(key).unwrap().1.split('"').next().unwrap().parse().unwrap();
        svg.lines().filter(|line| line.starts_with("<circle")).map(|line| (number(line, "cx=\""), number(line, "cy=\""))).collect()
    }

    #[test]
    fn twice_the_false_alarms_lie_twice_as_far_to_the_right() {
        let svg = false_alarms(&outcomes()).unwrap();
        let dots = dots(&svg);
        assert_eq!(dots.len(), 2);
        assert!(((dots[1].0 - FRAME[0]) / (dots[0].0 - FRAME[0]) - 2.0).abs() < 0.01, "{dots:?}");
        assert!(svg.contains("&lt;0>"));
    }

    #[test]
    fn a_power_curve_rises_from_the_bottom_to_the_top_in_equal_decades() {
        // The last dot belongs to the legend.
        let dots = dots(&power(&outcomes()).unwrap());
        assert_eq!(dots.len(), 4);
        assert_eq!([dots[0].1, dots[1].1, dots[2].1], [FRAME[2] + CURVES, FRAME[2] + CURVES / 2.0, FRAME[2]]);
        assert!((dots[1].0 - dots[0].0 - (dots[2].0 - dots[1].0)).abs() < 0.2, "{dots:?}");
    }

    #[test]
    fn nothing_measured_is_no_picture() {
        assert_eq!(false_alarms(&[]), None);
        assert_eq!(power(&outcomes()[..2]), None);
    }
}
