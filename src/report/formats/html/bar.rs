//! The bar of a card: how much of the claim was seen, on a scale that shows parts of the claim and
//! multiples of it.

use maud::{Markup, html};

/// The largest reach on the scale. A bar that ends beyond it has an arrow.
const MAX_REACH: f64 = 100.0;
/// How quickly the scale becomes logarithmic above the claim.
const CURVE: f64 = 9.0;
/// The reaches that have a mark in the key.
const MARKS: [f64; 5] = [0.5, 1.0, 2.0, 10.0, 100.0];

/// The place of a reach in percent of the bar. The left half is linear and ends at the claim. The
/// right half is nearly logarithmic: it tells 1.1 from 1, and 10 from 100.
fn position(reach: f64) -> f64 {
    let bent = |reach: f64| (1.0 + CURVE * (reach - 1.0)).ln();
    if reach > 1.0 {
        50.0 + 50.0 * (bent(reach.min(MAX_REACH)) / bent(MAX_REACH))
    } else {
        // What is not a number is at 0, too.
        50.0 * reach.max(0.0)
    }
}

/// A bar that ends at the reach, with a thin line up to an estimate and a short tick at the reach
/// that is asked for.
pub fn bar(reach: f64, estimate: f64, asked: f64) -> Markup {
    let [reach_at, estimate_at, asked_at] = [reach, estimate, asked].map(position);
    html! {
        span.bar.over[reach > MAX_REACH] style=(format_args!("--b:{reach_at:.1}%;--u:{estimate_at:.1}%;--r:{asked_at:.1}%")) {}
    }
}

/// The key: an example with the numbers of the scale.
pub fn key() -> Markup {
    html! {
        p.key {
            span.example {
                (bar(1.8, 2.4, 0.5))
                @for mark in MARKS { i style=(format_args!("left:{:.1}%", position(mark))) { (mark) } }
            }
            span {
                "The bar ends at the reach: how many times the claim the certified bounds show. The tall tick is the claim, the short one the "
                "reach that the audit asks for, the thin line the estimate. If the bar ends beyond the tall tick, the claim is refuted. "
                "✓ as expected, ✗ not as expected or not run, ? inconclusive."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_grows_and_tells_parts_and_multiples_of_the_claim_apart() {
        let reaches = [0.0, 0.24, 0.5, 1.0, 1.05, 1.2, 2.0, 9.5, 20.0, 100.0];
        let places = reaches.map(position);
        // A bar is about 250 pixels wide, so two percent can be seen.
        assert!(places.windows(2).all(|pair| pair[1] - pair[0] > 2.0), "{places:?}");
        assert_eq!((places[0], places[3], places[9]), (0.0, 50.0, 100.0));
        assert_eq!([f64::INFINITY, 1e9, f64::NAN, -1.0].map(position), [100.0, 100.0, 0.0, 0.0]);
    }
}
