//! How a budget of draws is spent: explore in doubling rounds, then certify in doubling looks.

/// The first round's draws.
const FIRST_ROUND: u64 = 512;

/// The sizes of the explore rounds: an eighth of the budget at most.
#[must_use]
pub fn rounds(budget: u64) -> Vec<u64> {
    doubling(FIRST_ROUND, budget / 8)
}

/// The sizes of the certify looks: all that exploration left of the budget.
///
/// Exploration may end early. How many draws certify is fixed by what it has seen, before any of them is made.
#[must_use]
pub fn looks(budget: u64, explored: u64) -> Vec<u64> {
    doubling(explored.max(FIRST_ROUND), budget - explored)
}

/// Splits a total into `first, first, 2·first, 4·first, …`, so that the sum doubles each time; the last part takes the rest.
fn doubling(first: u64, total: u64) -> Vec<u64> {
    let mut parts = Vec::new();
    let mut spent = 0;
    while spent < total {
        let part = if spent == 0 { first } else { spent };
        let left = total - spent;
        // A last part smaller than the one before it is not worth a look of its own.
        let part = if left < 2 * part { left } else { part };
        parts.push(part);
        spent += part;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_draws_are_spent_and_an_eighth_explores() {
        for budget in [1, 7, 8, 100, 4095, 4096, 20_000, 200_000, 10_000_000, 1_000_000_000] {
            let rounds = rounds(budget);
            assert_eq!(rounds.iter().sum::<u64>(), budget / 8);
            // Whether exploration went to its end or stopped after any round.
            for end in 0..=rounds.len() {
                let explored = rounds[..end].iter().sum::<u64>();
                let looks = looks(budget, explored);
                assert_eq!(explored + looks.iter().sum::<u64>(), budget);
                assert!(rounds.iter().chain(&looks).all(|part| *part > 0));
            }
        }
    }

    #[test]
    fn rounds_double() {
        assert_eq!(rounds(65_536), [512, 512, 1024, 2048, 4096]);
        assert_eq!(looks(65_536, 8192), [8192, 8192, 16_384, 24_576]);
    }
}
