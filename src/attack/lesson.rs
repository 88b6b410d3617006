//! The training rows of a learned score, and ways to divide them.

use crate::attack::bins::Bins;
use crate::attack::fit::table::{Table, thinned};
use crate::attack::tuning::lesson::BRIEF;
use crate::model::Side;
use crate::output::{Cell, Rows};

/// Rows of both sides from which a score is learned.
#[derive(Clone, Copy)]
pub struct Lesson<'a> {
    width: usize,
    /// Outputs of D.
    pub left: &'a [&'a [Cell]],
    /// Outputs of D'.
    pub right: &'a [&'a [Cell]],
}

impl<'a> Lesson<'a> {
    /// These rows, each with `width` cells.
    #[must_use]
    pub fn new(width: usize, left: &'a [&'a [Cell]], right: &'a [&'a [Cell]]) -> Self {
        Self { width, left, right }
    }

    /// The same, as wide as the first row.
    #[cfg(test)]
    pub fn of(left: &'a [&'a [Cell]], right: &'a [&'a [Cell]]) -> Self {
        Self::new(left.iter().chain(right).next().map_or(0, |row| row.len()), left, right)
    }

    /// The first rows only.
    #[must_use]
    pub fn brief(self) -> Self {
        self.first_rows(BRIEF)
    }

    /// The first rows of each side, at most so many.
    #[must_use]
    pub fn first_rows(self, max: usize) -> Self {
        let first = |rows: &'a [&'a [Cell]]| &rows[..rows.len().min(max)];
        Self::new(self.width, first(self.left), first(self.right))
    }

    /// All rows, each with whether it is of D.
    pub fn labelled(self) -> impl Iterator<Item = (&'a [Cell], bool)> {
        let of = |rows: &'a [&'a [Cell]], left: bool| rows.iter().map(move |row| (*row, left));
        of(self.left, true).chain(of(self.right, false))
    }

    /// The first half of the rows.
    #[must_use]
    pub fn first_half(self) -> Self {
        let first = |rows: &'a [&'a [Cell]]| &rows[..rows.len() / 2];
        Self::new(self.width, first(self.left), first(self.right))
    }

    /// The second half of the rows.
    #[must_use]
    pub fn second_half(self) -> Self {
        let second = |rows: &'a [&'a [Cell]]| &rows[rows.len() / 2..];
        Self::new(self.width, second(self.left), second(self.right))
    }

    /// The first rows of one side, at most `max`.
    #[must_use]
    pub fn rows(self, side: Side, max: usize) -> Rows {
        let rows = match side {
            Side::Left => self.left,
            Side::Right => self.right,
        };
        let mut copy = Rows::new(self.width.max(1));
        rows.iter().take(max).for_each(|row| copy.push(row));
        copy
    }

    /// Bins for the values of `cell`, which gives one value for each row.
    #[must_use]
    pub fn bins(self, cell: impl Fn(&[Cell]) -> Cell) -> Bins {
        let of = |rows: &[&[Cell]]| thinned(rows).map(|row| cell(row)).collect::<Vec<Cell>>();
        Bins::learn(&[of(self.left), of(self.right)].concat())
    }

    /// The log-ratios of the values of `cell`, and how well they predict (see
    /// [`Table::learn_and_rate`]).
    #[must_use]
    pub fn table(self, cell: impl Fn(&[Cell]) -> Cell) -> (Table, f64) {
        let of = |rows: &[&[Cell]]| rows.iter().map(|row| cell(row)).collect::<Vec<Cell>>();
        Table::learn_and_rate(&of(self.left), &of(self.right))
    }

    /// Cells per row.
    #[must_use]
    pub fn width(self) -> usize {
        self.width
    }

    /// All pairs of components, the first before the second.
    #[must_use]
    pub fn pairs(self) -> Vec<(usize, usize)> {
        let after = |first: usize| (first + 1..self.width).map(move |second| (first, second));
        (0..self.width).flat_map(after).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_lesson_have_all_its_rows() {
        let rows: Vec<Vec<Cell>> = (0..20_001)
            .map(|index| vec![Cell::number(f64::from(index)), Cell::number(0.0)])
            .collect();
        let rows: Vec<&[Cell]> = rows.iter().map(Vec::as_slice).collect();
        let lesson = Lesson::of(&rows, &rows[..7]);
        assert_eq!(
            (lesson.width(), Lesson::of(&[], &rows).width(), Lesson::new(3, &[], &[]).width()),
            (2, 2, 3)
        );
        let (first, second) = (lesson.first_half(), lesson.second_half());
        assert_eq!(
            (first.left.len(), second.left.len(), first.right.len(), second.right.len()),
            (10_000, 10_001, 3, 4)
        );
        assert_eq!(
            ([first.left, second.left].concat(), [first.right, second.right].concat()),
            (rows.clone(), rows[..7].to_vec())
        );
        assert_eq!((lesson.brief().left, lesson.brief().right), (&rows[..8192], &rows[..7]));
        assert_eq!(lesson.rows(Side::Left, 5).cells(), rows[..5].concat());
        assert_eq!(lesson.rows(Side::Right, 500).len(), 7);
        assert_eq!(Lesson::new(3, &[], &[]).pairs(), [(0, 1), (0, 2), (1, 2)]);
    }
}
