//! Guess rules learned from any outputs.

use dp_audit::noise::Generator;
use dp_audit::parts::Sampler;
use dp_audit::parts::{DrawBudget, Explorer, GuessRule};
use dp_audit::parts::{PairStream, Phase};
use dp_audit::{Attack, Cell, Rows, Side, StreamSeed, Symbols, Target, TargetError};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use super::cases;
use crate::harness::claim;

/// Puts out cells of a palette; D prefers its beginning, D' its end.
#[derive(Clone, Debug)]
struct Palette {
    width: usize,
    cells: Vec<Cell>,
    /// Adds noise to the numbers, so that no two are alike.
    noisy: bool,
}

impl Palette {
    fn rows(&self, side: Side, count: usize, rng: &mut Generator) -> Rows {
        let mut rows = Rows::new(self.width);
        rows.resize(count);
        for cell in rows.iter_mut().flatten() {
            let (a, b) =
                (rng.random_range(0..self.cells.len()), rng.random_range(0..self.cells.len()));
            let chosen = self.cells[if side == Side::Left { a.min(b) } else { a.max(b) }];
            *cell = match chosen.as_number() {
                Some(number) if self.noisy => Cell::number(number + rng.random::<f64>()),
                _ => chosen,
            };
        }
        rows
    }
}

impl Target for Palette {
    fn open(&self) -> Result<usize, TargetError> {
        Ok(self.width)
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        sink(&self.rows(side, count, &mut Generator::from_seed(seed.bytes())));
        Ok(())
    }
}

fn cell() -> impl Strategy<Value = Cell> {
    prop_oneof![
        any::<f64>().prop_map(Cell::number),
        (-3..3_i32).prop_map(|number| Cell::number(f64::from(number))),
        prop::sample::select(vec![
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            f64::MAX,
            f64::MIN,
            5e-324,
            -0.0
        ])
        .prop_map(Cell::number),
        "[a-c⊥]{0,3}".prop_map(|name| Cell::symbol(&name)),
    ]
}

fn palette() -> impl Strategy<Value = Palette> {
    (1..4_usize, prop::collection::vec(cell(), 1..12), any::<bool>())
        .prop_map(|(width, cells, noisy)| Palette { width, cells, noisy })
}

proptest! {
    #![proptest_config(cases!(96, "rules.txt"))]

    #[test]
    fn a_rule_answers_every_row_once_and_survives_being_written(palette in palette(), seed in any::<u64>()) {
        let claim = claim(0.5, 0.0);
        let mut explorer = Explorer::new(palette.width, &Attack::DEFAULT, &claim, DrawBudget { explore: 1000, certify: 7000, alpha: 0.05 });
        let mut sampler = Sampler::open(&palette, PairStream::new(seed, "palette", ""), Phase::Explore, &|_| ()).unwrap();
        explorer.absorb(&mut sampler, 1000, &[]).unwrap();
        let rows = palette.rows(Side::Left, 500, &mut Generator::seed_from_u64(seed));
        let names = Symbols::default();
        for learned in explorer.learn() {
            let answers = learned.rule.answers(&rows);
            prop_assert_eq!(answers.left + answers.right + answers.abstained, 500);
            prop_assert!(learned.rule.regions() > 0 || answers.abstained == 500);
            prop_assert!(learned.forecast.correct >= 0.0 && learned.forecast.wrong >= 0.0);
            prop_assert!(learned.forecast.correct + learned.forecast.wrong <= 1.0 + 1e-12);
            let written = serde_json::to_string(&learned.rule).unwrap();
            let read: GuessRule = serde_json::from_str(&written).map_err(|error| TestCaseError::fail(format!("{error}: {written}")))?;
            prop_assert_eq!(read.answers(&rows), answers);
            prop_assert_eq!(&read, &learned.rule);
            prop_assert_eq!(read.describe(&names), learned.rule.describe(&names));
        }
    }
}
