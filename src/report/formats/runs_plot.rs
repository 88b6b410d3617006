//! Draws the evidence of many runs.

use crate::audit::AcrossRuns;
use crate::model::number::counted;
use crate::report::formats::plot::{
    BOTTOM, HEIGHT, LEFT, Plot, RIGHT, TOP, WIDTH, magnitude, x_axis,
};
use crate::report::formats::svg::{Axis, Drawing};

/// The wealth after each run, up to a little above the value that refutes the claim.
#[must_use]
pub fn across_runs(all: &AcrossRuns) -> Plot {
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let (threshold, runs) = (all.threshold(), all.runs() as f64);
    let x = Axis::new(0.0, runs.max(1.0), LEFT, RIGHT);
    let y = Axis::new(-0.5 * threshold, 1.5 * threshold, BOTTOM, TOP);
    drawing.rect("refute", LEFT, TOP, RIGHT - LEFT, y.at(threshold) - TOP);
    drawing.line("grid", (LEFT, y.at(0.0)), (RIGHT, y.at(0.0)));
    drawing.text("e", LEFT - 3.0, y.at(0.0) + 4.0, "start");
    drawing.line("claim", (LEFT, y.at(threshold)), (RIGHT, y.at(threshold)));
    drawing.text("e", LEFT - 3.0, y.at(threshold) + 4.0, &format!("×{}", magnitude(threshold)));
    let points = all.path.iter().zip(1_u32..).map(|(log, run)| (x.at(run.into()), y.at(*log)));
    let path: Vec<(f64, f64)> = [(LEFT, y.at(0.0))].into_iter().chain(points).collect();
    drawing.path("wealth", &path);
    if let Some(after) = all.refuted_after() {
        let (column, row) = path[after];
        drawing.dot("bd", column, row);
        // The text is on that side of the dot where it fits.
        let text = format!("refuted after {}", counted(after, "run"));
        if column > WIDTH / 2.0 {
            drawing.text("e w", (column - 7.0).max(150.0), TOP + 14.0, &text);
        } else {
            drawing.text("b w", (column + 7.0).min(WIDTH - 150.0), y.at(threshold) + 16.0, &text);
        }
    }
    let whole = x.ticks(5.0).into_iter().filter(|tick| tick.fract() == 0.0);
    x_axis(&mut drawing, x, "runs", whole.map(|tick| (tick, tick.to_string())));
    let legend = vec![("wealth", "evidence of all runs so far"), ("claim", "refuted above")];
    Plot {
        name: "all-runs",
        label: "The evidence against the claim, by number of runs",
        drawing,
        y_axis: "wealth",
        legend,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::EarlierRuns;
    use crate::stats::nights::PURSES;

    #[test]
    fn the_picture_says_when_the_claim_was_refuted() {
        let drawn = |logs: &[f64]| {
            let won = logs.iter().map(|log| [*log; PURSES]).collect();
            let all = EarlierRuns { alpha: 1e-3, won }.and([0.0; PURSES]);
            across_runs(&all).embedded().into_string()
        };
        assert!(!drawn(&[0.5, -3.0]).contains("refuted after"));
        assert!(drawn(&[3.0, 3.0, 3.0]).contains("refuted after 3 runs"));
        assert!(drawn(&[]).contains("<svg"));
        // A loss below the picture and a gain above it stay inside.
        assert!(drawn(&[-500.0, 900.0]).contains("refuted after 2 runs"));
    }
}
