//! The picture of a search: what the candidates promised in each round, and which of them were
//! dropped.

use maud::{Markup, html};

use crate::audit::{Heat, SearchHistory};
use crate::report::formats::plot::{BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, x_axis};
use crate::report::formats::svg::{Axis, Drawing, Style};

/// The most rounds that are drawn: the first and the last ones.
const MAX_HEATS: usize = 40;
/// The largest share of the claim that is drawn at its place.
const MOST: f64 = 2.0;

/// The race of a search as part of a page.
#[must_use]
pub fn race(history: &SearchHistory) -> Markup {
    let heats = shown(&history.heats);
    let mut drawing = Drawing::new(WIDTH, HEIGHT);
    let x = Axis::new(0.5, heats.len() as f64 + 0.5, LEFT, RIGHT);
    let y = Axis::new(0.0, MOST, BOTTOM, TOP);
    drawing.rect("refute", LEFT, TOP, RIGHT - LEFT, y.at(1.0) - TOP);
    drawing.line("claim", (LEFT, y.at(1.0)), (RIGHT, y.at(1.0)));
    for share in [0.0, 1.0, MOST] {
        drawing.text(
            "e",
            LEFT - 3.0,
            y.at(share) + 4.0,
            &if share == MOST { format!("{share}+") } else { share.to_string() },
        );
    }
    for (number, heat) in (1_u32..).zip(&heats) {
        // Within a round from the best on the left to the worst on the right.
        let wide = 0.7 / heat.placings.len().max(1) as f64;
        for (place, placing) in heat.placings.iter().enumerate() {
            let style = if placing.kept {
                Style::fill("#1f6fb4").opacity(0.8)
            } else {
                Style::fill("#888888").opacity(0.35)
            };
            drawing.dot(
                style,
                x.at(f64::from(number) - 0.35 + wide * place as f64),
                y.at(placing.share.min(MOST)),
            );
        }
    }
    let step = heats.len().div_ceil(6).max(1);
    let draws = (1_u32..)
        .zip(&heats)
        .step_by(step)
        .map(|(number, heat)| (f64::from(number), short(heat.draws)));
    x_axis(&mut drawing, x, "rounds, by draws of each candidate", draws);
    html! {
        figure {
            figcaption {
                b { "The race" } ": what each candidate promised, as a share of the claim. Blue went on with twice as many draws, grey was dropped."
                @if heats.len() < history.heats.len() { " " (history.heats.len() - heats.len()) " rounds in the middle are not drawn." }
            }
            (drawing.embedded("What the candidates of the search promised in each round"))
        }
    }
}

/// The first and the last rounds.
fn shown(heats: &[Heat]) -> Vec<&Heat> {
    let half = MAX_HEATS / 2;
    if heats.len() <= MAX_HEATS {
        heats.iter().collect()
    } else {
        heats[..half].iter().chain(&heats[heats.len() - half..]).collect()
    }
}

fn short(draws: u64) -> String {
    if draws >= 1024 { format!("{} k", draws / 1024) } else { draws.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::Placing;

    #[test]
    fn every_standing_of_a_shown_round_is_a_dot() {
        let placing = |racer: usize| Placing { racer, share: racer as f64 / 4.0, kept: racer > 4 };
        let heat = |draws: u64| Heat { draws, placings: (0..10).map(placing).collect() };
        let history = |rounds: u64| SearchHistory {
            heats: (0..rounds).map(|round| heat(1024 << round.min(5))).collect(),
            ..SearchHistory::default()
        };
        let dots = |rounds: u64| race(&history(rounds)).into_string().matches("<circle").count();
        assert_eq!((dots(1), dots(3)), (10, 30));
        assert_eq!(dots(100), 10 * MAX_HEATS);
        assert!(race(&history(100)).into_string().contains("60 rounds in the middle"));
    }
}
