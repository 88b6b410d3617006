//! Bets on blocks of draws and learns from them.

use super::predictor::{PREDICTORS, Predictors};
use crate::attack::tuning::predict::{
    BET_CELLS, BET_DRAWS, EAGER_DRAWS, LEARN_CELLS, LEARN_DRAWS, MORE, SAMPLE,
};
use crate::model::{Limit, Side};
use crate::output::{Cell, Rows};
use crate::stats::prediction::{Copies, Stakes, lines};

/// A gambler who bets on predictions that are learned from earlier draws.
#[derive(Clone, Debug)]
pub struct Gambler {
    lines: Vec<(f64, f64)>,
    /// The rows that predictors learn from.
    left: Rows,
    right: Rows,
    /// All draws so far, and how many of them predictors have learned from.
    draws: u64,
    learned_from: u64,
    predictors: Predictors,
    stakes: Stakes,
    copies: Copies,
}

impl Gambler {
    /// A gambler against this limit of a claim, who has seen nothing yet.
    #[must_use]
    pub fn new(width: usize, limit: &Limit) -> Self {
        Self {
            lines: lines(&limit.measure, limit.value),
            left: Rows::new(width),
            right: Rows::new(width),
            draws: 0,
            learned_from: 0,
            predictors: Predictors::default(),
            stakes: Stakes::NONE,
            copies: Copies::default(),
        }
    }

    /// Whether bets are still made. After very many draws a frozen rule is as good, and cheaper.
    #[must_use]
    pub fn is_playing(&self) -> bool {
        self.draws < BET_DRAWS.min(BET_CELLS / self.left.width() as u64)
    }

    /// The logarithm of the wealth.
    #[must_use]
    pub fn log_wealth(&self) -> f64 {
        self.copies.log_wealth()
    }

    /// Bets on these draws with what was learned before, then learns from them.
    pub fn see(&mut self, left: &Rows, right: &Rows) {
        if !self.is_playing() {
            return;
        }
        let (mut log, mut likelihoods) = (0.0, [0.0; PREDICTORS]);
        for (side, rows) in [(Side::Left, left), (Side::Right, right)] {
            for row in rows {
                let predicted = self.predictors.left(row);
                log += self.stakes.log_factor(self.predictors.mean(&predicted), side);
                Predictors::saw(&mut likelihoods, &predicted, side == Side::Left);
            }
        }
        self.copies.win(self.draws, log);
        self.predictors.add_likelihoods(&likelihoods);
        self.draws += (left.len() + right.len()) as u64;
        let room = LEARN_DRAWS.min(LEARN_CELLS / self.left.width() as u64);
        if self.learned_from < room {
            self.left.append(left);
            self.right.append(right);
            let is_last = self.draws >= room;
            let is_early = self.draws <= EAGER_DRAWS;
            if is_last || is_early || self.draws as f64 >= MORE * self.learned_from as f64 {
                self.learn();
            }
        }
    }

    fn learn(&mut self) {
        let sides = [(&self.left, true), (&self.right, false)];
        let rows: Vec<(&[Cell], bool)> = sides
            .into_iter()
            .flat_map(|(rows, is_left)| rows.iter().map(move |row| (row, is_left)))
            .collect();
        self.predictors.learn(self.left.width(), &rows);
        self.learned_from = self.draws;
        // What is predicted for outputs that were seen, equally many of all parts of the sample.
        let step = rows.len().div_ceil(SAMPLE).max(1);
        let predicted: Vec<f64> = rows
            .iter()
            .step_by(step)
            .map(|(row, _)| self.predictors.mean(&self.predictors.left(row)))
            .collect();
        self.stakes = Stakes::best(&self.lines, &predicted);
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::model::Claim;
    use crate::noise::{Generator, laplace};

    /// Rows of one number each, for both sides.
    fn block(draws: &[(Side, f64)]) -> [Rows; 2] {
        let mut rows = [Rows::new(1), Rows::new(1)];
        for (side, number) in draws {
            rows[*side as usize].push(&[Cell::number(*number)]);
        }
        rows
    }

    fn see(gambler: &mut Gambler, draws: &[(Side, f64)]) {
        let [left, right] = block(draws);
        gambler.see(&left, &right);
    }

    /// Exact: all blocks of three draws of a mechanism on its claim, after any past.
    #[test]
    fn the_wealth_does_not_grow_on_average_on_the_claim() {
        let likely = 1.0_f64.exp() / (1.0 + 1.0_f64.exp());
        // Randomized response at ε = 1, and a mechanism that shows its data with probability δ.
        let response = [(0.0, [likely, 1.0 - likely]), (1.0, [1.0 - likely, likely])];
        let shows = [(0.0, [0.2, 0.0]), (1.0, [0.0, 0.2]), (2.0, [0.8, 0.8])];
        let cases = [
            (response.to_vec(), Claim::new(1.0, 0.0).unwrap()),
            (shows.to_vec(), Claim::new(0.0, 0.2).unwrap()),
            // The μ of randomized response at ε = 1: z(p) − z(1 − p) for p = 0.7311.
            (response.to_vec(), Claim::mu(1.2323).unwrap()),
        ];
        for (outputs, claim) in cases {
            for seed in 0..20 {
                let mut gambler = Gambler::new(1, claim.main());
                let mut rng = Generator::seed_from_u64(seed);
                for _ in 0..4 {
                    // The past may be anything; here it misleads.
                    let past: Vec<(Side, f64)> = (0..8)
                        .map(|_| {
                            let side = if rng.random() { Side::Left } else { Side::Right };
                            (
                                side,
                                if rng.random::<f64>() < 0.9 { f64::from(side as u8) } else { 2.0 },
                            )
                        })
                        .collect();
                    see(&mut gambler, &past);
                }
                let all: Vec<(Side, f64, f64)> = Side::BOTH
                    .into_iter()
                    .flat_map(|side| {
                        outputs.iter().map(move |(y, p)| (side, *y, 0.5 * p[side as usize]))
                    })
                    .collect();
                let mut mean = 0.0;
                for a in &all {
                    for b in &all {
                        for c in &all {
                            let mut next = gambler.clone();
                            see(&mut next, &[(a.0, a.1), (b.0, b.1), (c.0, c.1)]);
                            mean += a.2 * b.2 * c.2 * next.log_wealth().exp();
                        }
                    }
                }
                let before = gambler.log_wealth().exp();
                assert!(mean <= before * (1.0 + 1e-9), "{claim}, {seed}: {mean} after {before}");
            }
        }
    }

    /// How many draws of blocks of eight it takes to win 20-fold, at most 4,000.
    fn draws_until_won(claim: &Claim, seed: u64, draw: fn(&mut Generator, Side) -> f64) -> u64 {
        let mut rng = Generator::seed_from_u64(seed);
        let mut gambler = Gambler::new(1, claim.main());
        while gambler.log_wealth() < 20.0_f64.ln() && gambler.draws < 4_000 {
            let block: Vec<(Side, f64)> = (0..8.max(gambler.draws / 8))
                .map(|_| {
                    let side = if rng.random() { Side::Left } else { Side::Right };
                    (side, draw(&mut rng, side))
                })
                .collect();
            see(&mut gambler, &block);
        }
        gambler.draws
    }

    /// A leak of each shape is seen soon. Each of the ten runs may fail by chance in less than one
    /// of 10^4 cases; the seeds are fixed.
    #[test]
    fn leaks_of_several_shapes_are_seen_soon() {
        let claim = Claim::new(1.0, 0.0).unwrap();
        let leaks: [fn(&mut Generator, Side) -> f64; 3] = [
            |rng, side| laplace(rng, 0.4) + f64::from(side as u8),
            |rng, side| laplace(rng, 1.0 + 9.0 * f64::from(side as u8)),
            |rng, side| if rng.random::<f64>() < 0.9 { f64::from(side as u8) } else { 2.0 },
        ];
        for seed in 0..10 {
            for (leak, draw) in leaks.into_iter().enumerate() {
                let draws = draws_until_won(&claim, seed, draw);
                assert!(draws < 800, "leak {leak}, seed {seed}: {draws} draws");
            }
        }
    }

    #[test]
    fn bets_end_and_the_wealth_is_kept() {
        let mut gambler = Gambler::new(1 << 18, Claim::new(1.0, 0.0).unwrap().main());
        assert!(gambler.is_playing());
        let mut rows = Rows::new(1 << 18);
        rows.resize(2);
        gambler.see(&rows, &rows);
        assert!(!gambler.is_playing(), "a million cells were bet on");
        let wealth = gambler.log_wealth();
        gambler.see(&rows, &rows);
        assert_eq!(gambler.log_wealth(), wealth);
    }
}
