//! How a budget of draws is divided: explore in growing rounds, then certify in growing looks.

/// Draws of the first round.
const FIRST_ROUND: u64 = 512;

/// Up to so many draws, an eighth of them explores. Beyond, exploration grows with the fourth root:
/// a rule that was learned from 16 million draws gains little from more of them
/// (`results/reference/exploration.md`), and every shard of a divided pair explores. Fewer are not
/// enough for rules about rare outputs.
const EIGHTH_EXPLORES: u64 = 1 << 27;

/// The fewest draws of a round or look if the run looks often.
const LEAST_FREQUENT: u64 = 4;

/// The draws of the first rounds of such a run. A prediction from four draws shows little.
const FIRST_FREQUENT_ROUND: u64 = 8;

/// The sizes of the explore rounds and of the certify looks; together they are the budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Draws of each explore round.
    pub rounds: Vec<u64>,
    /// Draws of each certify look.
    pub looks: Vec<u64>,
    frequent: bool,
}

impl Schedule {
    /// A part of the budget explores, the rest certifies. Rounds and looks double.
    #[must_use]
    pub fn new(budget: u64) -> Self {
        let explore = exploring(budget);
        let rounds = doubling(FIRST_ROUND, explore);
        Self {
            rounds,
            looks: doubling(explore.max(FIRST_ROUND), budget - explore),
            frequent: false,
        }
    }

    /// The same with many small rounds and looks, for a run that ends as soon as its claim is
    /// refuted: a blatant leak shows in few draws.
    #[must_use]
    pub fn frequent(budget: u64) -> Self {
        let explore = exploring(budget);
        Self {
            rounds: step_by_step(0, explore),
            looks: step_by_step(explore, budget - explore),
            frequent: true,
        }
    }

    /// Rounds for as many draws that begin with `first` draws, if that is fewer than usual.
    #[must_use]
    pub fn rounds_from(&self, first: u64) -> Vec<u64> {
        if self.frequent {
            self.rounds.clone()
        } else {
            doubling(first.clamp(1, FIRST_ROUND), self.explore())
        }
    }

    /// The looks if there are only `certify` draws, after `explored` draws to explore.
    #[must_use]
    pub fn looks_for(&self, explored: u64, certify: u64) -> Vec<u64> {
        match self.frequent {
            _ if certify == self.certify() => self.looks.clone(),
            false => doubling(explored.max(1), certify),
            true => step_by_step(explored, certify),
        }
    }

    /// The number of explore draws.
    #[must_use]
    pub fn explore(&self) -> u64 {
        self.rounds.iter().sum()
    }

    /// The number of certify draws.
    #[must_use]
    pub fn certify(&self) -> u64 {
        self.looks.iter().sum()
    }
}

/// How many draws of a budget explore.
fn exploring(budget: u64) -> u64 {
    // The fourth root of budget · limit³: a million times the budget, thirty times the exploration.
    let limit = u128::from(budget.min(EIGHTH_EXPLORES));
    let root = (u128::from(budget) * limit).isqrt() * limit;
    u64::try_from(root.isqrt() / 8).unwrap_or(budget / 8)
}

/// Splits a total into `first, first, 2·first, 4·first, …`, so that the sum doubles each time; the
/// last part takes the rest.
fn doubling(first: u64, total: u64) -> Vec<u64> {
    let mut parts = Vec::new();
    let mut spent = 0;
    while spent < total {
        let part = if spent == 0 { first } else { spent };
        let left = total - spent;
        // If less than another `part` would remain, this part takes the rest too.
        let part = if left < 2 * part { left } else { part };
        parts.push(part);
        spent += part;
    }
    parts
}

/// Splits a total into parts of a twelfth of all draws before them, so that a refutation is seen
/// soon; the first ones have a few draws each. Later, when a draw costs nothing beside a look, the
/// parts are a quarter, and then double. `before` draws were made already.
fn step_by_step(before: u64, total: u64) -> Vec<u64> {
    let mut parts = Vec::new();
    let mut spent = 0;
    while spent < total {
        let drawn = before + spent;
        let part = match drawn {
            0 => FIRST_FREQUENT_ROUND,
            1..8_192 => drawn / 12,
            8_192..262_144 => drawn / 4,
            _ => drawn,
        };
        let (part, left) = (part.max(LEAST_FREQUENT), total - spent);
        let part = if left < part + LEAST_FREQUENT { left } else { part };
        parts.push(part);
        spent += part;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_draws_are_spent_and_an_eighth_explores_of_up_to_134_million() {
        let small = [1, 7, 8, 100, 4095, 4096, 20_000, 200_000, 10_000_000, 1 << 27];
        let eighth = small.map(|budget| (budget, budget / 8));
        // Sixteen times as many draws: twice the exploration.
        let root = [(1 << 31, 1 << 25), (1 << 35, 1 << 26), (1_000_000_000_000, 155_871_754)];
        for (budget, explore) in eighth.into_iter().chain(root) {
            for schedule in [Schedule::new(budget), Schedule::frequent(budget)] {
                assert_eq!(schedule.explore(), explore, "{budget}");
                assert_eq!(schedule.explore() + schedule.certify(), budget);
                assert!(schedule.rounds.iter().chain(&schedule.looks).all(|part| *part > 0));
            }
        }
    }

    #[test]
    fn fewer_draws_have_smaller_rounds_and_looks() {
        let schedule = Schedule::new(65_536);
        assert_eq!(schedule.rounds_from(u64::MAX), schedule.rounds);
        assert_eq!(schedule.rounds_from(2000), schedule.rounds);
        assert_eq!(schedule.rounds_from(0)[..4], [1, 1, 2, 4]);
        assert_eq!(schedule.rounds_from(100).iter().sum::<u64>(), 8192);
        assert_eq!(schedule.looks_for(8192, 57_344), schedule.looks);
        assert_eq!(schedule.looks_for(16, 100), [16, 16, 32, 36]);
        assert_eq!(schedule.looks_for(0, 1), [1]);
    }

    #[test]
    fn rounds_double_or_grow_step_by_step() {
        let budget = Schedule::new(65_536);
        assert_eq!(budget.rounds, [512, 512, 1024, 2048, 4096]);
        assert_eq!(budget.looks, [8192, 8192, 16_384, 24_576]);
        let frequent = Schedule::frequent(800);
        assert_eq!(frequent.rounds[..5], [8, 4, 4, 4, 4]);
        assert_eq!(frequent.looks[..3], [8, 9, 9]);
        assert_eq!(frequent.looks_for(16, 30), [4, 4, 4, 4, 4, 4, 6]);
        let parts = Schedule::frequent(80_000_000);
        let all: Vec<u64> = parts.rounds.into_iter().chain(parts.looks).collect();
        assert!(all.len() < 130, "{}", all.len());
    }
}
