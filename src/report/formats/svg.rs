//! Simple SVG drawings: axes, lines, dots and text. They are part of a page, whose style sheet
//! defines their look, or separate files.

use maud::{Markup, PreEscaped, Render, html};

/// An axis: a linear map from values to coordinates.
#[derive(Clone, Copy)]
pub struct Axis {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Axis {
    /// Maps `from … to` to the coordinates `start … end`. Values outside are drawn at the border.
    #[must_use]
    pub fn new(from: f64, to: f64, start: f64, end: f64) -> Self {
        Self { from, to: if to > from { to } else { from + 1.0 }, start, end }
    }

    /// The coordinate of a value.
    #[must_use]
    pub fn at(self, value: f64) -> f64 {
        let share = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.start + share * (self.end - self.start)
    }

    /// The first and the last coordinate.
    #[must_use]
    pub fn ends(self) -> (f64, f64) {
        (self.start, self.end)
    }

    /// Round values within the axis, at most about `max_ticks`.
    #[must_use]
    pub fn ticks(self, max_ticks: f64) -> Vec<f64> {
        let step = round_step((self.to - self.from) / max_ticks);
        let first = (self.from / step).ceil();
        (0..12)
            .map(|index| (first + f64::from(index)) * step)
            .take_while(|tick| *tick <= self.to + step * 1e-9)
            .collect()
    }
}

/// The smallest value that is at least `step` and is 1, 2 or 5 times a power of ten.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|round| *round >= step * 0.999)
        .unwrap_or(step)
}

/// How an element looks: a class of the page's style sheet, or explicit colours.
#[derive(Clone, Copy, Default)]
pub struct Style<'a> {
    class: Option<&'a str>,
    fill: Option<&'a str>,
    stroke: Option<&'a str>,
    width: Option<f64>,
    opacity: Option<f64>,
    anchor: Option<&'a str>,
}

/// A class, or several with spaces between them.
impl<'a> From<&'a str> for Style<'a> {
    fn from(class: &'a str) -> Self {
        Self { class: Some(class), ..Self::default() }
    }
}

impl<'a> Style<'a> {
    /// Filled with a colour.
    #[must_use]
    pub fn fill(colour: &'a str) -> Self {
        Self { fill: Some(colour), ..Self::default() }
    }

    /// A line of a colour and a width.
    #[must_use]
    pub fn stroke(colour: &'a str, width: f64) -> Self {
        Self { stroke: Some(colour), width: Some(width), ..Self::default() }
    }

    /// The same style with this opacity.
    #[must_use]
    pub fn opacity(self, opacity: f64) -> Self {
        Self { opacity: Some(opacity), ..self }
    }

    /// The same style for text that is anchored at its `start`, `middle` or `end`.
    #[must_use]
    pub fn anchor(self, anchor: &'a str) -> Self {
        Self { anchor: Some(anchor), ..self }
    }
}

/// A coordinate with one decimal.
struct Coordinate(f64);

impl Render for Coordinate {
    fn render_to(&self, buffer: &mut String) {
        // Adding zero changes -0 to 0.
        ((self.0 * 10.0).round() / 10.0 + 0.0).render_to(buffer);
    }
}

/// What a drawing needs in order to stand alone.
pub struct Figure<'a> {
    /// The title, for screen readers and browsers.
    pub title: &'a str,
    /// The name of the vertical axis.
    pub y_axis: &'a str,
    /// The classes of lines and areas, and what they mean.
    pub legend: &'a [(&'static str, &'static str)],
}

/// The look of figures.
const FIGURE_STYLE: &str = include_str!("figure.css");
/// The space to the left of a figure, for the name of the axis.
const FIGURE_LEFT: f64 = 20.0;
/// The height of a line of the legend.
const LEGEND_HEIGHT: f64 = 16.0;
/// The width of a character in a legend, on average.
const LEGEND_CHAR: f64 = 5.4;

/// A drawing of a given size. All elements have end tags, so the drawing is valid in HTML and in
/// XML.
pub struct Drawing {
    elements: Vec<Markup>,
    width: f64,
    height: f64,
}

impl Drawing {
    /// An empty drawing.
    #[must_use]
    pub fn new(width: f64, height: f64) -> Self {
        Self { elements: Vec::new(), width, height }
    }

    /// A polyline through these points.
    pub fn path<'a>(&mut self, style: impl Into<Style<'a>>, points: &[(f64, f64)]) {
        if points.len() < 2 {
            return;
        }
        let style = style.into();
        self.elements.push(html! {
            path class=[style.class] fill=[style.fill] stroke=[style.stroke] stroke-width=[style.width] opacity=[style.opacity]
                d={ "M" @for (x, y) in points { " " (Coordinate(*x)) " " (Coordinate(*y)) } } {}
        });
    }

    /// A straight line.
    pub fn line<'a>(&mut self, style: impl Into<Style<'a>>, from: (f64, f64), to: (f64, f64)) {
        self.path(style, &[from, to]);
    }

    /// A rectangle.
    pub fn rect<'a>(
        &mut self,
        style: impl Into<Style<'a>>,
        x: f64,
        y: f64,
        width: f64,
        height: f64,
    ) {
        if width <= 0.0 || height <= 0.0 {
            return;
        }
        let style = style.into();
        self.elements.push(html! {
            rect class=[style.class] fill=[style.fill] stroke=[style.stroke] stroke-width=[style.width] opacity=[style.opacity]
                x=(Coordinate(x)) y=(Coordinate(y)) width=(Coordinate(width)) height=(Coordinate(height)) {}
        });
    }

    /// A dot.
    pub fn dot<'a>(&mut self, style: impl Into<Style<'a>>, x: f64, y: f64) {
        let style = style.into();
        self.elements.push(html! {
            circle class=[style.class] fill=[style.fill] stroke=[style.stroke] stroke-width=[style.width] opacity=[style.opacity]
                cx=(Coordinate(x)) cy=(Coordinate(y)) r="3.5" {}
        });
    }

    /// Text. The style defines its anchor.
    pub fn text<'a>(&mut self, style: impl Into<Style<'a>>, x: f64, y: f64, text: &str) {
        let style = style.into();
        self.elements.push(html! {
            text class=[style.class] fill=[style.fill] opacity=[style.opacity] text-anchor=[style.anchor]
                x=(Coordinate(x)) y=(Coordinate(y)) { (text) }
        });
    }

    /// The drawing as part of a page, with a label for screen readers.
    #[must_use]
    pub fn embedded(&self, label: &str) -> Markup {
        html! {
            svg viewBox=(self.view()) role="img" aria-label=(label) { (self.content()) }
        }
    }

    /// The drawing as a separate file, with a label for screen readers.
    #[must_use]
    pub fn file(&self, label: &str) -> String {
        let file = html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(self.view()) role="img" aria-label=(label)
                font-family="sans-serif" font-size="13" fill="none" { (self.content()) }
            "\n"
        };
        file.into_string()
    }

    /// The drawing as a file that explains itself: on white, with a legend and the name of the
    /// vertical axis. Its classes have the look that is defined in `figure.css`.
    #[must_use]
    pub fn figure(&self, figure: &Figure<'_>) -> String {
        let mut legend = Drawing::new(0.0, 0.0);
        let (mut x, mut y) = (FIGURE_LEFT, LEGEND_HEIGHT / 2.0);
        let width = self.width + FIGURE_LEFT;
        for (class, text) in figure.legend {
            let wide = 22.0 + text.chars().count() as f64 * LEGEND_CHAR + 14.0;
            if x + wide > width + 14.0 {
                (x, y) = (FIGURE_LEFT, y + LEGEND_HEIGHT);
            }
            // A line shows the look of lines, and a box that of areas.
            legend.line(*class, (x, y), (x + 16.0, y));
            if matches!(*class, "bl" | "br" | "sl" | "sr") {
                legend.rect(*class, x, y - 5.0, 16.0, 10.0);
            }
            legend.text("b", x + 21.0, y + 4.0, text);
            x += wide;
        }
        let top = y + LEGEND_HEIGHT;
        let height = self.height + top;
        let axis = (-(top + self.height / 2.0), 12.0);
        let file = html! {
            svg xmlns="http://www.w3.org/2000/svg" width=(Coordinate(2.0 * width)) height=(Coordinate(2.0 * height))
                viewBox={ "0 0 " (Coordinate(width)) " " (Coordinate(height)) } role="img" {
                "\n" title { (figure.title) } "\n"
                style { (PreEscaped(FIGURE_STYLE)) } "\n"
                rect fill="white" width=(Coordinate(width)) height=(Coordinate(height)) {}
                (legend.content())
                text class="m" transform="rotate(-90)" x=(Coordinate(axis.0)) y=(Coordinate(axis.1)) { (figure.y_axis) } "\n"
                g transform={ "translate(" (Coordinate(FIGURE_LEFT)) " " (Coordinate(top)) ")" } { (self.content()) } "\n"
            }
            "\n"
        };
        file.into_string()
    }

    fn view(&self) -> Markup {
        html! { "0 0 " (Coordinate(self.width)) " " (Coordinate(self.height)) }
    }

    /// One element per line.
    fn content(&self) -> Markup {
        html! { "\n" @for element in &self.elements { (element) "\n" } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(Axis::new(0.0, 1.5, 0.0, 1.0).ticks(5.0), [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(Axis::new(-7.0, 12.0, 0.0, 1.0).ticks(5.0), [-5.0, 0.0, 5.0, 10.0]);
        assert_eq!(Axis::new(1.0, 1.0, 0.0, 1.0).ticks(5.0).first(), Some(&1.0));
    }

    #[test]
    fn values_outside_an_axis_are_drawn_at_its_border() {
        let axis = Axis::new(0.0, 2.0, 100.0, 50.0);
        assert_eq!(
            [-1.0, 0.0, 1.0, 2.0, 3.0].map(|value| axis.at(value)),
            [100.0, 100.0, 75.0, 50.0, 50.0]
        );
        assert_eq!(axis.ends(), (100.0, 50.0));
    }

    #[test]
    fn coordinates_have_at_most_one_decimal_and_no_negative_zero() {
        assert_eq!(
            [1.0, 0.25, 12.96, -0.04].map(|value| Coordinate(value).render().into_string()),
            ["1", "0.3", "13", "0"]
        );
    }

    #[test]
    fn a_class_or_explicit_colours_define_the_look() {
        let mut drawing = Drawing::new(10.0, 20.0);
        drawing.line("grid", (0.0, 1.0), (2.0, 3.0));
        drawing.line(Style::stroke("#dddddd", 2.0).opacity(0.5), (0.0, 1.0), (2.0, 3.0));
        drawing.rect("sl", 1.0, 2.0, 3.0, 4.0);
        drawing.dot(Style::fill("white"), 1.0, 2.0);
        drawing.text("e n", 1.0, 2.0, "class");
        drawing.text(Style::fill("#000000").anchor("end"), 1.0, 2.0, "own");
        let expected = [
            r#"<svg viewBox="0 0 10 20" role="img" aria-label="name">"#,
            r#"<path class="grid" d="M 0 1 2 3"></path>"#,
            r##"<path stroke="#dddddd" stroke-width="2" opacity="0.5" d="M 0 1 2 3"></path>"##,
            r#"<rect class="sl" x="1" y="2" width="3" height="4"></rect>"#,
            r#"<circle fill="white" cx="1" cy="2" r="3.5"></circle>"#,
            r#"<text class="e n" x="1" y="2">class</text>"#,
            r##"<text fill="#000000" text-anchor="end" x="1" y="2">own</text>"##,
            "</svg>",
        ];
        assert_eq!(drawing.embedded("name").into_string(), expected.join("\n"));
        // A file has another first line and ends with a line break.
        let file = drawing.file("name");
        let (first, rest) = file.split_once('\n').unwrap();
        assert!(
            first.starts_with(r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 20""#),
            "{first}"
        );
        assert_eq!(rest, expected[1..].join("\n") + "\n");
    }

    #[test]
    fn empty_shapes_are_not_drawn() {
        let mut drawing = Drawing::new(1.0, 1.0);
        drawing.path("p", &[]);
        drawing.path("p", &[(1.0, 1.0)]);
        drawing.rect("r", 0.0, 0.0, 0.0, 5.0);
        drawing.rect("r", 0.0, 0.0, 5.0, -1.0);
        assert!(drawing.elements.is_empty());
    }

    #[test]
    fn text_cannot_become_markup() {
        let mut drawing = Drawing::new(1.0, 1.0);
        drawing.text("x\" onclick=\"y", 0.0, 0.0, "<a href='x'>&\"");
        for drawn in [drawing.embedded("\"><script>").into_string(), drawing.file("\"><script>")] {
            assert!(drawn.contains(r#"aria-label="&quot;&gt;&lt;script&gt;""#), "{drawn}");
            let text = r#"<text class="x&quot; onclick=&quot;y" x="0" y="0">&lt;a href='x'&gt;&amp;&quot;</text>"#;
            assert!(drawn.contains(text), "{drawn}");
        }
    }
}
