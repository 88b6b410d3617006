//! Scores of one side's draws: in which eighth of all its draws a draw is.
//!
//! The limits between the eighths depend on all draws and not on their order, so the tests that use
//! scores stay exact when two draws change places.

/// The number of limits.
const CUTS: usize = 7;

/// The scores of a track, in the order of draws.
pub(super) struct Scores {
    /// The score of each draw, from 0 to 14: the number of limits below it, and of those that are
    /// not above it.
    pub(super) values: Vec<i8>,
    /// The draws with at least this score are about half of all.
    middle: i8,
}

impl Scores {
    pub(super) fn of(draws: &[u64]) -> Self {
        let cuts = cuts(draws);
        let score = |draw: &u64| {
            cuts.iter().fold(0, |score, cut| score + i8::from(cut < draw) + i8::from(cut <= draw))
        };
        let values: Vec<i8> = draws.iter().map(score).collect();
        let mut counts = [0_usize; 2 * CUTS + 1];
        values.iter().for_each(|score| counts[usize::from(score.unsigned_abs())] += 1);
        let at_least =
            |score: i8| counts[usize::from(score.unsigned_abs())..].iter().sum::<usize>();
        let unevenness = |score: &i8| (2 * at_least(*score)).abs_diff(draws.len());
        let middle = (1..=14).min_by_key(unevenness).unwrap_or(1);
        Self { values, middle }
    }

    /// How far each draw is from the middle of all.
    pub(super) fn sizes(&self) -> Vec<i8> {
        self.values.iter().map(|score| (score - 7).abs()).collect()
    }

    /// Whether each draw is in the upper half.
    pub(super) fn upper(&self) -> impl Iterator<Item = bool> {
        self.values.iter().map(|score| *score >= self.middle)
    }
}

/// The limits between eighths of the draws.
fn cuts(draws: &[u64]) -> [u64; CUTS] {
    let mut sorted = draws.to_vec();
    let place = |cut: usize| (cut + 1) * draws.len() / (CUTS + 1);
    if draws.len() <= CUTS {
        sorted.sort_unstable();
        return std::array::from_fn(|cut| sorted.get(place(cut)).copied().unwrap_or(0));
    }
    let mut cuts = [0; CUTS];
    let mut find = |from: usize, to: usize, cut: usize| {
        cuts[cut] = *sorted[from..to].select_nth_unstable(place(cut) - from).1;
    };
    // The middle one first: each later one is found in a smaller part.
    find(0, draws.len(), 3);
    find(0, place(3), 1);
    find(place(3), draws.len(), 5);
    find(0, place(1), 0);
    find(place(1), place(3), 2);
    find(place(3), place(5), 4);
    find(place(5), draws.len(), 6);
    cuts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_eighths() {
        let draws: Vec<u64> = (0..800).map(|index| index * 7 % 800).collect();
        let scores = Scores::of(&draws);
        // The limits are 100, 200, …, 700. A limit itself is between two eighths.
        let expected = |draw: u64| {
            2 * i8::try_from(draw / 100).unwrap() - i8::from(draw > 0 && draw.is_multiple_of(100))
        };
        assert!(draws.iter().zip(&scores.values).all(|(draw, score)| *score == expected(*draw)));
        assert_eq!(scores.upper().filter(|upper| *upper).count(), 400);
        // The outer quarters, with the limits 200 and 600.
        assert_eq!(scores.sizes().iter().filter(|size| **size >= 4).count(), 201 + 200);
        assert!(Scores::of(&[]).values.is_empty());
        for few in 1..20_u64 {
            assert_eq!(Scores::of(&(0..few).collect::<Vec<_>>()).values.len() as u64, few);
        }
    }

    #[test]
    fn atoms_are_divided_as_evenly_as_possible() {
        // Nine tenths are 1: the others are below or above it.
        for (rare, upper) in [(0, 900), (2, 100)] {
            let draws: Vec<u64> =
                (0..1000).map(|index| if index % 10 == 0 { rare } else { 1 }).collect();
            assert_eq!(Scores::of(&draws).upper().filter(|upper| *upper).count(), upper);
        }
        assert!(Scores::of(&[5; 100]).values.iter().all(|score| *score == 7));
    }
}
