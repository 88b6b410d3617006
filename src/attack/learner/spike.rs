//! Spikes: places in the range of a number where nearly all outputs are of one side, and far closer
//! together than around them. It sees values that were released with hardly any noise in a few
//! draws of a thousand. Bins of equal mass are too wide for them.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cluster::{Clusters, Wanted};
use super::view::{View, complete, has_cell};
use super::{Cost, Learner, Score};
use crate::attack::family::Attack;
use crate::attack::fit::table::STEPS;
use crate::attack::lesson::Lesson;
use crate::attack::tuning::spike::{LEAST, MAX_CELLS};
use crate::output::{Cell, Symbols};

pub const LEARNER: Learner = Learner {
    name: "spike",
    sees: "places where the numbers of one side are close together and the other side has none",
    cost: Cost::Quick,
    attacks: &[Attack::Spikes],
    widths: 1..=usize::MAX,
    learn,
};

fn learn(lesson: Lesson) -> Vec<Score> {
    let lesson = lesson.first_rows(MAX_CELLS / lesson.width().max(1) / 2);
    let of_component = |component: usize| {
        let values =
            lesson.labelled().map(|(row, left)| (row[component], left)).collect::<Vec<_>>();
        let (clusters, excess) = Clusters::learn(values, LEAST, Wanted::Dense);
        (excess, Spike { component, clusters })
    };
    let best = (0..lesson.width())
        .into_par_iter()
        .map(of_component)
        .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.component.cmp(&a.1.component)));
    best.filter(|(excess, _)| *excess > 0.0)
        .map(|(_, spike)| Score::Spike(spike))
        .into_iter()
        .collect()
}

/// One-sided clusters of the component with this index.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spike {
    component: usize,
    clusters: Clusters,
}

impl View for Spike {
    fn score(&self, row: &[Cell]) -> Cell {
        Cell::number(f64::from(self.clusters.steps(row[self.component])) / STEPS)
    }

    fn check(&self, width: usize) -> Result<(), String> {
        has_cell(self.component, width)?;
        complete(self.clusters.is_complete())
    }

    fn describe(&self, names: &Symbols) -> String {
        format!("the log-ratio of one-sided clusters of {}", names.column(self.component))
    }

    fn is_ratio(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::super::testing::{borrowed, number};
    use super::*;
    use crate::noise::{Generator, bernoulli, laplace};

    fn learned(share: f64) -> Option<Score> {
        let side = |seed: u64, answer: f64| -> Vec<Vec<Cell>> {
            let mut rng = Generator::seed_from_u64(seed);
            (0..20_000)
                .map(|_| {
                    let scale = if bernoulli(&mut rng, share) { 1e-6 } else { 1.0 };
                    vec![number(answer + laplace(&mut rng, scale))]
                })
                .collect()
        };
        let (left, right) = (side(1, 40.0), side(2, 41.0));
        LEARNER.learn(Lesson::of(&borrowed(&left), &borrowed(&right))).pop()
    }

    #[test]
    fn draws_with_hardly_any_noise_are_found() {
        let score = learned(0.002).expect("40 of 20,000 on each side");
        let of = |value: f64| score.score(&[number(value)]).raw();
        assert!(of(40.0) > 1.0 && of(41.0) < -1.0, "{score:?}");
        assert_eq!((of(40.5), of(45.0)), (0.0, 0.0));
        assert!(score.check(1).is_ok() && score.check(0).is_err());
    }

    #[test]
    fn honest_noise_has_no_spikes() {
        assert_eq!(learned(0.0), None);
    }
}
