//! Draws the pictures of a statement; those of canaries are in `canary_plot.rs`, and that of many
//! runs is in `runs_plot.rs`. A pair has three: the outputs, the privacy profile, and the growth of
//! the evidence. They are part of the HTML report, or files of their own.

use maud::Markup;

use crate::attack::{Answer, Bar, Distribution, NumberLine};
use crate::audit::{Curves, Judged, Picture, ProfilePoint};
use crate::model::number::{Brief, counted, percent};
use crate::model::{Bounds, Claim};
use crate::report::formats::svg::{Axis, Drawing, Figure};
use crate::report::formats::{canary_plot, runs_plot};

pub(super) const WIDTH: f64 = 340.0;
pub(super) const HEIGHT: f64 = 190.0;
/// The borders of the plot area. The axis is below it.
pub(super) const LEFT: f64 = 36.0;
pub(super) const RIGHT: f64 = WIDTH - 14.0;
pub(super) const TOP: f64 = 8.0;
pub(super) const BOTTOM: f64 = HEIGHT - 32.0;
/// The height of a bar beside its name.
const BAR_HEIGHT: f64 = 19.0;
/// The height of a name above its bar.
const NAME_HEIGHT: f64 = 14.0;
/// Where bars begin if their names are beside them.
const BAR_LEFT: f64 = 100.0;
/// The space to the right of the longest bar, for its numbers.
const BAR_RIGHT: f64 = 92.0;
/// The width of a character, on average and rather too large.
const CHAR_WIDTH: f64 = 6.0;

/// A picture of a pair.
pub struct Plot {
    /// What it shows, in one word. It is a part of file names.
    pub name: &'static str,
    /// What it shows, for screen readers.
    pub label: &'static str,
    pub(super) drawing: Drawing,
    /// The name of the vertical axis.
    pub(super) y_axis: &'static str,
    /// The meaning of lines and areas.
    pub(super) legend: Vec<(&'static str, &'static str)>,
}

impl Plot {
    /// All pictures of a statement.
    #[must_use]
    pub fn all(judged: Judged<'_>) -> Vec<Self> {
        judged.kind().pictures().iter().map(Self::of).collect()
    }

    /// Draws a picture.
    #[must_use]
    pub fn of(picture: &Picture<'_>) -> Self {
        match picture {
            Picture::Outputs(drawn) => distribution(drawn),
            Picture::Profile(curves, claim, bounds) => profile(curves, claim, *bounds),
            Picture::Wealth(curves, refuted) => wealth(curves, *refuted),
            Picture::AcrossRuns(all) => runs_plot::across_runs(all),
            Picture::Roc(curves, claim, bounds) => canary_plot::roc(curves, claim, *bounds),
            Picture::Rungs(curves, claimed, lower) => canary_plot::rungs(curves, *claimed, *lower),
            Picture::Scores(curves) => canary_plot::scores(curves),
        }
    }

    /// The picture as part of a page, which explains it and defines its look.
    #[must_use]
    pub fn embedded(&self) -> Markup {
        self.drawing.embedded(self.label)
    }

    /// The picture as a file that explains itself, for papers.
    #[must_use]
    pub fn file(&self, title: &str) -> String {
        self.drawing.figure(&Figure { title, y_axis: self.y_axis, legend: &self.legend })
    }
}

/// The outputs on both sides, with the rule's regions shaded.
#[must_use]
pub fn distribution(drawn: &Distribution) -> Plot {
    let line_height = if drawn.line.is_some() { HEIGHT } else { 0.0 };
    let height = line_height
        + if drawn.bars.is_empty() {
            0.0
        } else {
            drawn.bars.len() as f64 * bar_height(&drawn.bars) + 4.0
        };
    let mut drawing = Drawing::new(WIDTH, height);
    if let Some(line) = &drawn.line {
        numbers(&mut drawing, line, &drawn.score);
    }
    bars(&mut drawing, &drawn.bars, line_height);
    let (y_axis, sides) = if drawn.line.is_some() {
        ("share of the outputs", ["dl", "dr"])
    } else {
        ("", ["bl", "br"])
    };
    let legend = vec![
        (sides[0], "outputs on D"),
        (sides[1], "on D′"),
        ("sl", "the rule guesses D"),
        ("sr", "guesses D′"),
    ];
    Plot {
        name: "outputs",
        label: "The distribution of the outputs on D and on D'",
        drawing,
        y_axis,
        legend,
    }
}

fn numbers(drawing: &mut Drawing, line: &NumberLine, score: &str) {
    let x = Axis::new(line.from, line.to, 8.0, RIGHT);
    let max = line.left.iter().chain(&line.right).copied().fold(0.0, f64::max);
    let y = Axis::new(0.0, max * 1.05, BOTTOM, TOP);
    let bins = line.left.len();
    let edge = |index: usize| x.at(line.from + (line.to - line.from) * index as f64 / bins as f64);
    let mut begin = 0;
    for run in line.answers.chunk_by(|a, b| a == b) {
        let end = begin + run.len();
        if let Some(class) = shade(run[0]) {
            drawing.rect(class, edge(begin), TOP, edge(end) - edge(begin), BOTTOM - TOP);
        }
        begin = end;
    }
    for (class, shares) in [("dl", &line.left), ("dr", &line.right)] {
        let steps = shares.iter().enumerate().flat_map(|(index, share)| {
            [(edge(index), y.at(*share)), (edge(index + 1), y.at(*share))]
        });
        drawing.path(class, &steps.collect::<Vec<_>>());
    }
    x_axis(drawing, x, score, numbered(x));
}

/// The horizontal axis, with a name, and with a mark and a label at each of these values. No label
/// leaves the picture.
pub(super) fn x_axis(
    drawing: &mut Drawing,
    axis: Axis,
    name: &str,
    marks: impl IntoIterator<Item = (f64, String)>,
) {
    let (start, end) = axis.ends();
    drawing.line("ax", (start, BOTTOM), (end, BOTTOM));
    for (value, label) in marks {
        let x = axis.at(value);
        drawing.line("ax", (x, BOTTOM), (x, BOTTOM + 3.0));
        let half = label.chars().count() as f64 * CHAR_WIDTH / 2.0;
        drawing.text(
            "m",
            x.clamp(half.min(WIDTH / 2.0), (WIDTH - half).max(WIDTH / 2.0)),
            BOTTOM + 14.0,
            &label,
        );
    }
    drawing.text("e n", end, BOTTOM + 27.0, &fitted(name, end));
}

/// The beginning of a text that is too wide.
fn fitted(text: &str, width: f64) -> String {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a small positive number
    let max = (width / CHAR_WIDTH) as usize;
    if text.chars().count() <= max {
        text.to_owned()
    } else {
        text.chars().take(max.saturating_sub(1)).chain(['…']).collect()
    }
}

/// Round values of an axis with their labels.
pub(super) fn numbered(axis: Axis) -> impl Iterator<Item = (f64, String)> {
    axis.ticks(5.0).into_iter().map(|tick| (tick, Brief(tick).to_string()))
}

/// Whether the names of all bars fit beside them. If not, each name is above its bar.
fn names_fit_beside(bars: &[Bar]) -> bool {
    bars.iter().all(|bar| bar.name.chars().count() as f64 * CHAR_WIDTH <= BAR_LEFT - 4.0)
}

fn bar_height(bars: &[Bar]) -> f64 {
    if names_fit_beside(bars) { BAR_HEIGHT } else { BAR_HEIGHT + NAME_HEIGHT }
}

/// Bars for single values, the one for D above the one for D'.
fn bars(drawing: &mut Drawing, bars: &[Bar], top: f64) {
    let max = bars.iter().flat_map(|bar| [bar.left, bar.right]).fold(1e-9, f64::max);
    let (beside, height) = (names_fit_beside(bars), bar_height(bars));
    let left = if beside { BAR_LEFT } else { 4.0 };
    let x = Axis::new(0.0, max, 0.0, WIDTH - left - BAR_RIGHT);
    for (index, bar) in bars.iter().enumerate() {
        let mut y = top + index as f64 * height + 2.0;
        if let Some(class) = shade(bar.answer) {
            drawing.rect(class, 0.0, y - 1.0, WIDTH, height - 1.0);
        }
        if beside {
            drawing.text("e", left - 4.0, y + 12.0, &bar.name);
        } else {
            drawing.text("b", left, y + 11.0, &fitted(&bar.name, WIDTH - left));
            y += NAME_HEIGHT;
        }
        drawing.rect("bl", left, y + 1.0, x.at(bar.left), 7.0);
        drawing.rect("br", left, y + 8.5, x.at(bar.right), 7.0);
        let shares = if bar.left == bar.right {
            percent(bar.left)
        } else {
            format!("{} | {}", short_percent(bar.left), short_percent(bar.right))
        };
        drawing.text("b", left + 4.0 + x.at(bar.left.max(bar.right)), y + 12.0, &shares);
    }
}

/// A share in percent, with few digits.
fn short_percent(share: f64) -> String {
    let percent = 100.0 * share;
    // Two digits; more near 100 %, where two digits would hide the difference from 100 %.
    let digits = if percent > 90.0 { 3 } else { 1 };
    Brief(format!("{percent:.digits$e}").parse().unwrap_or(percent)).to_string()
}

fn shade(answer: Answer) -> Option<&'static str> {
    match answer {
        Answer::Left => Some("sl"),
        Answer::Right => Some("sr"),
        Answer::Abstain => None,
    }
}

/// The privacy profile on a logarithmic scale: the certified curve, the estimated curve, and what
/// the claim allows.
#[must_use]
pub fn profile(curves: &Curves, claim: &Claim, bounds: Bounds) -> Plot {
    let points = &curves.profile;
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let (epsilon, delta) = (claim.epsilon(), claim.delta());
    let end = points.last().map_or(1.5 * epsilon, |point| point.epsilon);
    // The axis starts low enough to show both values at the claim, and most of the certified curve
    // beyond the claim.
    let middle = f64::midpoint(epsilon, bounds.epsilon_lower);
    let beyond = points
        .iter()
        .find(|point| point.epsilon >= middle)
        .and_then(|point| point.delta_lower)
        .unwrap_or_default();
    let min = [delta, bounds.delta_lower, beyond]
        .into_iter()
        .filter(|value| *value > 0.0)
        .fold(1e-2, f64::min);
    let floor = (min.log10() - 0.5).floor().max(-9.0);
    let (x, y) = (Axis::new(0.0, end, LEFT, RIGHT), Axis::new(floor, 0.0, BOTTOM, TOP));
    let at = |epsilon: f64, delta: f64| (x.at(epsilon), y.at(delta.log10()));
    #[allow(clippy::cast_possible_truncation)] // from -9 to 0
    for power in (floor as i32..=0).step_by(if floor < -4.0 { 2 } else { 1 }) {
        let height = y.at(f64::from(power));
        drawing.line("grid", (LEFT, height), (RIGHT, height));
        drawing.text(
            "e",
            LEFT - 3.0,
            height + 4.0,
            &if power == 0 { "δ = 1".to_owned() } else { format!("1e{power}") },
        );
    }
    // What the claim allows up to its own ε and from there on.
    let known = epsilon.min(end);
    let epsilons = (0..=30)
        .map(|index| known * f64::from(index) / 30.0)
        .chain((1..=30).map(|index| known + (end - known) * f64::from(index) / 30.0));
    let claimed: Vec<(f64, f64)> =
        epsilons.map(|epsilon| at(epsilon, claim.delta_at(epsilon))).collect();
    let area: Vec<(f64, f64)> =
        claimed.iter().copied().chain([(RIGHT, BOTTOM), (LEFT, BOTTOM)]).collect();
    drawing.path("allowed", &area);
    curve(&mut drawing, "est", points, |point| point.delta_estimate, at, BOTTOM);
    curve(&mut drawing, "bound", points, |point| point.delta_lower, at, BOTTOM);
    drawing.path("claim", &claimed);
    if bounds.delta_lower > 0.0 {
        let (x, y) = at(epsilon, bounds.delta_lower);
        drawing.dot("bd", x, y);
    }
    x_axis(&mut drawing, x, "ε", numbered(x));
    let legend =
        vec![("bound", "δ, certified"), ("est", "estimated"), ("claim", "what the claim allows")];
    Plot { name: "profile", label: "The privacy profile", drawing, y_axis: "δ", legend }
}

/// A falling curve. If it reaches zero, it drops vertically at the last positive point.
fn curve(
    drawing: &mut Drawing,
    class: &str,
    points: &[ProfilePoint],
    delta: impl Fn(&ProfilePoint) -> Option<f64>,
    at: impl Fn(f64, f64) -> (f64, f64),
    bottom: f64,
) {
    let positive = points
        .iter()
        .map_while(|point| Some((point.epsilon, delta(point).filter(|delta| *delta > 0.0)?)));
    let mut path: Vec<(f64, f64)> = positive.map(|(epsilon, delta)| at(epsilon, delta)).collect();
    if path.len() < points.len()
        && let Some((x, _)) = path.last().copied()
    {
        path.push((x, bottom));
    }
    drawing.path(class, &path);
}

/// The wealth of the gambler who bets against the claim, up to a little above the value that
/// refutes the claim.
#[must_use]
pub fn wealth(picture: &Curves, refuted: bool) -> Plot {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let decade = |draws: u64| (draws.max(1) as f64).log10();
    let (first, last) = (picture.wealth.first(), picture.wealth.last());
    let x = Axis::new(
        first.map_or(2.0, |point| decade(point.draws)).floor(),
        last.map_or(3.0, |point| decade(point.draws)),
        LEFT,
        RIGHT,
    );
    let threshold = picture.threshold;
    let y = Axis::new(-0.5 * threshold, 1.5 * threshold, BOTTOM, TOP);
    drawing.rect("refute", LEFT, TOP, RIGHT - LEFT, y.at(threshold) - TOP);
    drawing.line("grid", (LEFT, y.at(0.0)), (RIGHT, y.at(0.0)));
    drawing.text("e", LEFT - 3.0, y.at(0.0) + 4.0, "start");
    drawing.line("claim", (LEFT, y.at(threshold)), (RIGHT, y.at(threshold)));
    drawing.text("e", LEFT - 3.0, y.at(threshold) + 4.0, &format!("×{}", magnitude(threshold)));
    let mut path = vec![(LEFT, y.at(0.0))];
    // The curve ends where it leaves the plot area.
    let above = picture
        .wealth
        .iter()
        .position(|point| point.log_wealth >= 1.5 * threshold)
        .map_or(usize::MAX, |index| index + 1);
    path.extend(
        picture
            .wealth
            .iter()
            .take(above)
            .map(|point| (x.at(decade(point.draws)), y.at(point.log_wealth))),
    );
    drawing.path("wealth", &path);
    if let Some(refuted) = picture.wealth.iter().find(|point| point.log_wealth >= threshold) {
        let column = x.at(decade(refuted.draws));
        drawing.dot("bd", column, y.at(refuted.log_wealth));
        // The text is on that side of the dot where it fits.
        let (class, column, height) = if column > WIDTH / 2.0 {
            ("e w", (column - 7.0).max(185.0), TOP + 14.0)
        } else {
            ("b w", (column + 7.0).min(WIDTH - 170.0), y.at(threshold) + 16.0)
        };
        drawing.text(
            class,
            column,
            height,
            &format!("refuted after {}", counted(refuted.draws, "draw")),
        );
    } else if refuted {
        drawing.text("b w", LEFT + 6.0, TOP + 14.0, "refuted by the final count");
    }
    let decades = x
        .ticks(5.0)
        .into_iter()
        .filter(|tick| tick.fract() == 0.0)
        .map(|tick| (tick, format!("1e{tick}")));
    x_axis(&mut drawing, x, "draws", decades);
    let legend =
        vec![("wealth", "wealth of a gambler against the claim"), ("claim", "refuted above")];
    Plot {
        name: "evidence",
        label: "The evidence against the claim, by number of draws",
        drawing,
        y_axis: "wealth",
        legend,
    }
}

/// `e^log`, rounded to a power of ten.
pub(super) fn magnitude(log: f64) -> String {
    format!("1e{:.0}", log / std::f64::consts::LN_10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(name: &str, left: f64, right: f64) -> Bar {
        Bar { name: name.to_owned(), left, right, answer: Answer::Left }
    }

    /// The horizontal extent of each text: from, to. Characters are taken as wider than they are.
    fn extents(svg: &str) -> Vec<(f64, f64)> {
        let texts =
            svg.split("<text ").skip(1).map(|rest| rest.split_once("</text>").expect("an end").0);
        let extent = |text: &str| {
            let (attributes, content) = text.split_once('>').expect("a tag");
            let value = |name: &str| {
                attributes
                    .split(name)
                    .nth(1)
                    .and_then(|rest| rest.split('"').next())
                    .unwrap_or_default()
            };
            let (x, width) = (
                value("x=\"").parse::<f64>().expect("a number"),
                content.chars().count() as f64 * 5.9,
            );
            match value("class=\"").chars().next() {
                Some('e') => (x - width, x),
                Some('b') => (x, x + width),
                _ => (x - width / 2.0, x + width / 2.0),
            }
        };
        texts.map(extent).collect()
    }

    #[test]
    fn no_label_is_clipped() {
        let long =
            "a symbol with a very long name that goes on and on and on and does not end".to_owned();
        let line = NumberLine {
            from: -1e6,
            to: 1e6,
            left: vec![0.5; 4],
            right: vec![0.5; 4],
            answers: vec![Answer::Abstain; 4],
        };
        let cases = [
            Distribution {
                score: long.clone(),
                line: Some(line),
                bars: vec![bar("⊥", 1.0, 0.001_234)],
            },
            Distribution {
                score: "y".to_owned(),
                line: None,
                bars: vec![bar(&long, 0.999_87, 1e-7), bar("x", 1e-7, 0.5)],
            },
            Distribution {
                score: "y".to_owned(),
                line: None,
                bars: vec![bar("fifteen letters", 0.123_4, 0.987_654)],
            },
        ];
        for case in cases {
            let svg = distribution(&case).embedded().into_string();
            let found = extents(&svg);
            assert!(
                found.len() >= 2 && found.iter().all(|(from, to)| *from >= 0.0 && *to <= WIDTH),
                "{found:?} in {svg}"
            );
        }
    }

    #[test]
    fn a_text_that_fits_is_not_changed() {
        assert_eq!(fitted("abc", 18.0), "abc");
        assert_eq!(fitted("abcd", 18.0), "ab…");
    }

    #[test]
    fn a_file_explains_itself() {
        let drawn =
            Distribution { score: "y".to_owned(), line: None, bars: vec![bar("⊥", 0.5, 0.25)] };
        let file = distribution(&drawn).file("count / one more");
        for part in [
            "<title>count / one more</title>",
            "outputs on D",
            "the rule guesses D",
            "fill=\"white\"",
            "<style>",
        ] {
            assert!(file.contains(part), "no {part} in {file}");
        }
    }
}
