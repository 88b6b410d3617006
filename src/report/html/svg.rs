//! Small SVG: scales, paths with few digits, axes.

use std::fmt::Write as _;

use crate::cell::Brief;

/// A linear map from values to coordinates.
#[derive(Clone, Copy)]
pub struct Scale {
    from: f64,
    to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// Maps `from … to` to the coordinates `start … end`; what lies outside is drawn at the border.
    pub fn new(from: f64, to: f64, start: f64, end: f64) -> Self {
        Self { from, to: if to > from { to } else { from + 1.0 }, start, end }
    }

    /// The coordinate of a value.
    pub fn at(self, value: f64) -> f64 {
        let share = ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        self.start + share * (self.end - self.start)
    }

    /// Round values within the scale, at most about so many.
    pub fn ticks(self, most: f64) -> Vec<f64> {
        let step = nice((self.to - self.from) / most);
        let first = (self.from / step).ceil();
        (0..12).map(|index| (first + f64::from(index)) * step).take_while(|tick| *tick <= self.to + step * 1e-9).collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least this.
fn nice(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|nice| *nice >= step * 0.999).unwrap_or(step)
}

/// A coordinate with one decimal.
pub struct Dot(pub f64);

impl std::fmt::Display for Dot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rounded = (self.0 * 10.0).round() / 10.0;
        write!(f, "{}", rounded + 0.0)
    }
}

/// A drawing of a given size.
pub struct Drawing {
    body: String,
    width: f64,
    height: f64,
}

impl Drawing {
    /// An empty drawing.
    pub fn new(width: f64, height: f64) -> Self {
        Self { body: String::new(), width, height }
    }

    /// A polyline through these points.
    pub fn path(&mut self, class: &str, points: &[(f64, f64)]) {
        if points.len() < 2 {
            return;
        }
        let _ = write!(self.body, "<path class={class} d=\"M");
        for (index, (x, y)) in points.iter().enumerate() {
            let _ = write!(self.body, "{}{} {}", if index == 0 { "" } else { " " }, Dot(*x), Dot(*y));
        }
        self.body.push_str("\"/>");
    }

    /// A rectangle.
    pub fn rect(&mut self, class: &str, x: f64, y: f64, width: f64, height: f64) {
        if width > 0.0 && height > 0.0 {
            let _ = write!(self.body, "<rect class={class} x={} y={} width={} height={} />", Dot(x), Dot(y), Dot(width), Dot(height));
        }
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        self.path(class, &[from, to]);
    }

    /// A dot.
    pub fn dot(&mut self, class: &str, x: f64, y: f64) {
        let _ = write!(self.body, "<circle class={class} cx={} cy={} r=3.5 />", Dot(x), Dot(y));
    }

    /// Text; `class` says where it is anchored.
    pub fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let _ = write!(self.body, "<text class=\"{class}\" x={} y={}>{}</text>", Dot(x), Dot(y), escape(text));
    }

    /// A horizontal axis with round numbers and a name.
    pub fn x_axis(&mut self, scale: Scale, y: f64, name: &str) {
        self.line("ax", (scale.start, y), (scale.end, y));
        for tick in scale.ticks(5.0) {
            self.line("ax", (scale.at(tick), y), (scale.at(tick), y + 3.0));
            self.text("m", scale.at(tick), y + 14.0, &Brief(tick).to_string());
        }
        self.text("e n", scale.end, y + 27.0, name);
    }

    /// The drawing, with a name for those who cannot see it.
    pub fn finish(self, label: &str) -> String {
        let Self { body, width, height } = self;
        format!("<svg viewBox=\"0 0 {} {}\" role=img aria-label=\"{}\">{body}</svg>", Dot(width), Dot(height), escape(label))
    }
}

/// Text as HTML shows it.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_within() {
        assert_eq!(Scale::new(0.0, 1.5, 0.0, 1.0).ticks(5.0), [0.0, 0.5, 1.0, 1.5]);
        assert_eq!(Scale::new(-7.0, 12.0, 0.0, 1.0).ticks(5.0), [-5.0, 0.0, 5.0, 10.0]);
        assert_eq!(Scale::new(1.0, 1.0, 0.0, 1.0).ticks(5.0).first(), Some(&1.0));
    }

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escape("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
    }
}
