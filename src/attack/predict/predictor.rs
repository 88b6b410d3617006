//! The predictors, and their mean.

use super::logistic::{Logistic, Table};
use super::names::Names;
use super::numbers::{Column, bounded, middle, scaled};
use crate::attack::tuning::predict::{
    CLIPS, DOUBT, DOUBTED_DRAWS, FEW_COLUMNS, QUANTILES, STEPS_FROM,
};
use crate::output::Cell;

/// A logistic regression on features of the numbers. Names are the last ones in [`Predictors`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// Levels differ.
    Line,
    /// Sizes differ.
    Size,
    /// Both.
    LineAndSize,
    /// Levels and squares, without far outliers.
    Square,
    /// One direction, as lines that end: the log-ratio of noise with two exponential sides.
    Clip,
    /// One direction, in steps: any log-ratio.
    Steps,
}

const SHAPES: [Shape; 6] =
    [Shape::Line, Shape::Size, Shape::LineAndSize, Shape::Square, Shape::Clip, Shape::Steps];

/// The number of predictors.
pub const PREDICTORS: usize = SHAPES.len() + 2;

/// All predictors, learned from the same draws.
#[derive(Clone, Debug, Default)]
pub struct Predictors {
    columns: Vec<Column>,
    models: [Logistic; SHAPES.len()],
    /// The direction of [`Shape::Clip`] and [`Shape::Steps`], and its quantiles.
    direction: Direction,
    names: [Names; 2],
    draws: f64,
    /// The logarithm of each one's likelihood so far, before it knew the draws.
    likelihoods: [f64; PREDICTORS],
}

/// A number that a row is mapped to.
#[derive(Clone, Debug, Default)]
struct Direction {
    /// The weights of the columns; none for a single column.
    line: Option<Logistic>,
    centre: f64,
    scale: f64,
    quantiles: Vec<f64>,
}

impl Predictors {
    /// Learns from these rows.
    pub fn learn(&mut self, width: usize, rows: &[(&[Cell], bool)]) {
        let columns = Column::best(width, rows);
        // Weights belong to columns, so they are kept only while these are the same.
        let same = columns
            .iter()
            .map(|column| column.place)
            .eq(self.columns.iter().map(|column| column.place));
        if !same {
            self.models = Default::default();
        }
        self.columns = columns;
        for (index, shape) in SHAPES.into_iter().enumerate() {
            if shape == Shape::Clip {
                self.learn_direction(rows);
            }
            if self.columns.is_empty() || shape == Shape::Steps && rows.len() < STEPS_FROM {
                self.models[index] = Logistic::default();
                continue;
            }
            let mut features = Vec::new();
            let mut table: Option<Table> = None;
            for (row, is_left) in rows {
                self.features(shape, &self.numbers(row), &mut features);
                table.get_or_insert_with(|| Table::new(features.len())).push(&features, *is_left);
            }
            if let Some(table) = table {
                self.models[index] = Logistic::fit(&table, &self.models[index]);
            }
        }
        self.names = Names::learn(width, rows);
        self.draws = rows.len() as f64;
    }

    /// The numbers of a row in their units.
    fn numbers(&self, row: &[Cell]) -> Vec<f64> {
        self.columns.iter().map(|column| column.of(row)).collect()
    }

    /// The direction in which the sides differ, as far as [`Shape::Line`] knows it.
    fn learn_direction(&mut self, rows: &[(&[Cell], bool)]) {
        let line = (self.columns.len() > 1).then(|| self.models[0].clone());
        let raw = Direction { line, centre: 0.0, scale: 1.0, quantiles: Vec::new() };
        let mut values: Vec<f64> = rows.iter().map(|(row, _)| raw.of(&self.numbers(row))).collect();
        let Some((centre, scale)) = middle(values.clone()) else {
            self.direction = Direction { scale: 1.0, ..Direction::default() };
            return;
        };
        values.sort_by(f64::total_cmp);
        let at = |part: usize| scaled(values[part * values.len() / QUANTILES], centre, scale);
        let mut quantiles: Vec<f64> = (1..QUANTILES).map(at).collect();
        quantiles.dedup();
        self.direction = Direction { centre, scale, quantiles, ..raw };
    }

    /// The features of a row with these numbers.
    fn features(&self, shape: Shape, numbers: &[f64], features: &mut Vec<f64>) {
        features.clear();
        let few = &numbers[..numbers.len().min(FEW_COLUMNS)];
        match shape {
            Shape::Line => features.extend(numbers.iter().map(|z| bounded(*z))),
            Shape::Size => features.extend(numbers.iter().map(|z| bounded(*z).abs())),
            Shape::LineAndSize => {
                features.extend(few.iter().flat_map(|z| [bounded(*z), bounded(*z).abs()]));
            }
            Shape::Square => features.extend(few.iter().flat_map(|z| {
                let near = z.clamp(-4.0, 4.0);
                [near, near * near / 4.0]
            })),
            Shape::Clip => {
                let z = self.direction.of(numbers);
                features.extend(CLIPS.map(|limit| z.clamp(-limit, limit) / limit));
            }
            Shape::Steps => {
                let z = self.direction.of(numbers);
                let step = |quantile: &f64| if z > *quantile { 0.5 } else { -0.5 };
                features.extend(self.direction.quantiles.iter().map(step));
            }
        }
    }

    /// What each predicts: the probability that a row was drawn on D.
    #[must_use]
    pub fn left(&self, row: &[Cell]) -> [f64; PREDICTORS] {
        let numbers = self.numbers(row);
        let mut features = Vec::new();
        let mut left = [0.5; PREDICTORS];
        if !numbers.is_empty() {
            for ((shape, model), left) in SHAPES.into_iter().zip(&self.models).zip(&mut left) {
                self.features(shape, &numbers, &mut features);
                // Few draws fit any weights well, so the prediction is moved towards ½.
                let n = self.draws;
                *left = (model.left(&features) * n + DOUBT) / (n + DOUBTED_DRAWS);
            }
        }
        for (names, left) in self.names.iter().zip(&mut left[SHAPES.len()..]) {
            *left = names.left(row);
        }
        left
    }

    /// The mean of the predictions: each weighs as much as it was right so far (Bayes).
    #[must_use]
    pub fn mean(&self, left: &[f64; PREDICTORS]) -> f64 {
        let most = self.likelihoods.iter().fold(f64::NEG_INFINITY, |most, log| most.max(*log));
        let (mut sum, mut weights) = (0.0, 0.0);
        for (index, left) in left.iter().enumerate() {
            if self.says(index) {
                let weight = (self.likelihoods[index] - most).exp();
                sum += weight * left;
                weights += weight;
            }
        }
        if weights > 0.0 { sum / weights } else { 0.5 }
    }

    /// Whether a predictor may say something.
    fn says(&self, index: usize) -> bool {
        match index.checked_sub(SHAPES.len()) {
            Some(names) => self.names[names].is_something(),
            None => self.models[index] != Logistic::default(),
        }
    }

    /// A row was drawn on this side after these predictions.
    pub fn saw(likelihoods: &mut [f64; PREDICTORS], left: &[f64; PREDICTORS], is_left: bool) {
        for (log, left) in likelihoods.iter_mut().zip(left) {
            *log += if is_left { left.ln() } else { (1.0 - left).ln() };
        }
    }

    /// The likelihoods after a block.
    pub fn add_likelihoods(&mut self, more: &[f64; PREDICTORS]) {
        self.likelihoods.iter_mut().zip(more).for_each(|(log, more)| *log += more);
    }
}

impl Direction {
    fn of(&self, numbers: &[f64]) -> f64 {
        let value = match &self.line {
            None => numbers.first().copied().unwrap_or(0.0),
            Some(line) => {
                let features: Vec<f64> = numbers.iter().map(|z| bounded(*z)).collect();
                line.direction(&features)
            }
        };
        scaled(value, self.centre, self.scale)
    }
}
