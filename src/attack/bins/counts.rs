//! Counts the hits of each bin, for each side.

use serde::{Deserialize, Serialize};

use crate::attack::answer::Answer;
use crate::model::Side;

/// How often each bin was hit from each side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// Hits from D.
    pub left: Vec<u64>,
    /// Hits from D'.
    pub right: Vec<u64>,
}

impl Counts {
    /// No hits yet, for this number of bins.
    pub fn new(bins: usize) -> Self {
        Self { left: vec![0; bins], right: vec![0; bins] }
    }

    /// The counts of one side.
    pub fn side(&mut self, side: Side) -> &mut [u64] {
        match side {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        }
    }

    /// Replaces the counts of one side.
    pub fn replace(&mut self, side: Side, counts: Vec<u64>) {
        match side {
            Side::Left => self.left = counts,
            Side::Right => self.right = counts,
        }
    }

    /// Adds other counts of the same bins.
    pub fn add(&mut self, other: &Self) {
        let add = |mine: &mut Vec<u64>, theirs: &[u64]| {
            mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
        };
        add(&mut self.left, &other.left);
        add(&mut self.right, &other.right);
    }

    /// These counts without a part of them.
    pub fn without(&self, part: &Self) -> Self {
        let sub = |all: &[u64], part: &[u64]| all.iter().zip(part).map(|(a, b)| a - b).collect();
        Self { left: sub(&self.left, &part.left), right: sub(&self.right, &part.right) }
    }

    /// The number of all hits.
    pub fn draws(&self) -> f64 {
        (self.left.iter().sum::<u64>() + self.right.iter().sum::<u64>()) as f64
    }

    /// How often these answers, one per bin, are correct and wrong.
    pub fn tally(&self, answers: &[Answer]) -> (u64, u64) {
        let mut tally = (0, 0);
        for ((answer, left), right) in answers.iter().zip(&self.left).zip(&self.right) {
            match answer {
                Answer::Left => tally = (tally.0 + left, tally.1 + right),
                Answer::Right => tally = (tally.0 + right, tally.1 + left),
                Answer::Abstain => {}
            }
        }
        tally
    }

    /// How many standard deviations the chi-square statistic is above its mean. Mean and deviation
    /// are those for equal sides: with d degrees of freedom, d and √(2d).
    #[must_use]
    pub fn contrast(&self) -> f64 {
        let total = |side: &[u64]| side.iter().sum::<u64>().max(1) as f64;
        let (total_left, total_right) = (total(&self.left), total(&self.right));
        let (mut chi_square, mut used) = (0.0, 0.0);
        for (l, r) in self.left.iter().zip(&self.right) {
            let (l, r) = (*l as f64, *r as f64);
            if l + r > 0.0 {
                let expected = (l + r) * total_left / (total_left + total_right);
                chi_square += (l - expected).powi(2) / expected
                    + (l - expected).powi(2) / (l + r - expected).max(1e-9);
                used += 1.0;
            }
        }
        let degrees: f64 = used - 1.0;
        if degrees < 1.0 { 0.0 } else { (chi_square - degrees) / (2.0 * degrees).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_are_added_subtracted_and_tallied_bin_by_bin() {
        let mut all = Counts::new(3);
        assert_eq!(all, Counts { left: vec![0; 3], right: vec![0; 3] });
        all.side(Side::Left).copy_from_slice(&[2, 3, 5]);
        all.side(Side::Right).copy_from_slice(&[7, 11, 13]);
        let part = Counts { left: vec![17, 19, 23], right: vec![29, 31, 37] };
        all.add(&part);
        assert_eq!(all, Counts { left: vec![19, 22, 28], right: vec![36, 42, 50] });
        assert_eq!(all.without(&part), Counts { left: vec![2, 3, 5], right: vec![7, 11, 13] });
        assert_eq!(all.draws(), 69.0 + 128.0);
        assert_eq!(all.tally(&[Answer::Left, Answer::Abstain, Answer::Right]), (19 + 50, 36 + 28));
        assert_eq!(
            all.tally(&[Answer::Right, Answer::Left, Answer::Left]),
            (36 + 22 + 28, 19 + 42 + 50)
        );
        all.replace(Side::Left, vec![1]);
        all.replace(Side::Right, vec![4]);
        assert_eq!(all, Counts { left: vec![1], right: vec![4] });
    }
}
