//! The draws that are tested, in the order in which they were made.

use crate::model::Side;
use crate::output::{Cell, Mix, Rows};

/// The most components of an output that are tracked; the whole output is tracked too.
const COMPONENTS: usize = 7;

/// The outputs of one side, in the order of draws. The first track is the whole output, the others
/// are components; a track has one sortable key per draw.
#[derive(Clone, Debug)]
pub(super) struct Tracks(pub(super) Vec<Vec<u64>>);

impl Tracks {
    pub(super) fn new(width: usize) -> Self {
        Self(vec![Vec::new(); if width == 1 { 1 } else { 1 + width.min(COMPONENTS) }])
    }

    fn len(&self) -> usize {
        self.0[0].len()
    }

    pub(super) fn push(&mut self, row: &[Cell]) {
        if let [cell] = row {
            self.0[0].push(ordered(*cell));
            return;
        }
        let components = self.0.len() - 1;
        self.0[0].push(row.iter().fold(Mix::new(), |mix, cell| mix.word(cell.key())).end());
        for (component, track) in self.0[1..].iter_mut().enumerate() {
            track.push(ordered(row[component * row.len() / components]));
        }
    }
}

/// A key that sorts like the numbers; symbols come after all numbers.
pub(in crate::stats) fn ordered(cell: Cell) -> u64 {
    let bits = cell.key();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// A key as a number; symbols are NaN.
pub(super) fn number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// Consecutive draws: the beginning of a batch.
#[derive(Clone, Debug)]
pub struct Episode {
    left: Tracks,
    right: Tracks,
    max_draws: usize,
}

impl Episode {
    /// An empty episode that will record at most `max_draws` draws of each side.
    #[must_use]
    pub fn new(width: usize, max_draws: usize) -> Self {
        Self { left: Tracks::new(width), right: Tracks::new(width), max_draws }
    }

    /// Records the next draws of one side.
    pub fn see(&mut self, side: Side, rows: &Rows) {
        let tracks = match side {
            Side::Left => &mut self.left,
            Side::Right => &mut self.right,
        };
        let room = self.max_draws - tracks.len();
        rows.iter().take(room).for_each(|row| tracks.push(row));
    }

    /// The number of tracks.
    pub(super) fn tracks(&self) -> usize {
        self.left.0.len()
    }

    /// The keys of one side's draws in one track.
    pub(super) fn track(&self, side: Side, index: usize) -> &[u64] {
        match side {
            Side::Left => &self.left.0[index],
            Side::Right => &self.right.0[index],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(value: f64) -> Cell {
        Cell::number(value)
    }

    #[test]
    fn keys_sort_like_the_numbers() {
        let values = [f64::NEG_INFINITY, -1e9, -1.5, -0.0, 1e-300, 2.0, f64::INFINITY];
        assert!(values.windows(2).all(|two| ordered(cell(two[0])) < ordered(cell(two[1]))));
        assert!(ordered(cell(0.0)) > ordered(cell(-0.0)));
        assert!(
            [f64::NEG_INFINITY, -1.5, 0.0, 2.0]
                .iter()
                .all(|value| number(ordered(cell(*value))) == *value)
        );
        assert!(number(ordered(Cell::symbol("⊥"))).is_nan());
        assert!(ordered(Cell::symbol("⊥")) > ordered(cell(f64::INFINITY)));
    }

    #[test]
    fn wide_outputs_are_tracked_as_a_whole_and_in_seven_components() {
        let mut tracks = Tracks::new(14);
        let mut row: Vec<Cell> = (0..14).map(|index| cell(f64::from(index))).collect();
        tracks.push(&row);
        assert_eq!(tracks.0.len(), 8);
        assert!((0..7).all(|part| tracks.0[1 + part] == [ordered(row[2 * part])]), "{tracks:?}");
        row[13] = Cell::symbol("⊥");
        tracks.push(&row);
        assert_ne!(tracks.0[0][0], tracks.0[0][1]);
    }

    #[test]
    fn an_episode_records_at_most_max_draws() {
        let mut episode = Episode::new(1, 10);
        let mut rows = Rows::new(1);
        (0..7).for_each(|value| rows.push(&[cell(f64::from(value))]));
        (0..3).for_each(|_| episode.see(Side::Right, &rows));
        let expected: Vec<u64> =
            [0, 1, 2, 3, 4, 5, 6, 0, 1, 2].map(|value| ordered(cell(f64::from(value)))).to_vec();
        assert_eq!(episode.track(Side::Right, 0), expected);
        assert!(episode.track(Side::Left, 0).is_empty());
    }
}
