//! A list of outputs, stored as rows of cells.

use super::Cell;

/// Outputs of one side, one after another. All rows have the same width.
#[derive(Clone, Debug)]
pub struct Rows {
    width: usize,
    cells: Vec<Cell>,
}

impl Rows {
    /// No rows yet; each will have `width` cells.
    ///
    /// # Panics
    /// When the width is 0.
    #[must_use]
    pub fn new(width: usize) -> Self {
        assert!(width > 0, "a row has at least one cell");
        Self { width, cells: Vec::new() }
    }

    /// Rows of numbers, one after another. The numbers of an incomplete last row are left out.
    ///
    /// # Panics
    /// When the width is 0.
    #[must_use]
    pub fn of_numbers(numbers: &[f64], width: usize) -> Self {
        let complete = numbers.len() / width * width;
        Self {
            cells: numbers[..complete].iter().map(|number| Cell::number(*number)).collect(),
            ..Self::new(width)
        }
    }

    /// Cells per row.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cells.len() / self.width
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Sets the number of rows to `count`. The caller then writes their cells.
    pub fn resize(&mut self, count: usize) {
        self.cells.resize(count * self.width, Cell::number(0.0));
    }

    /// Adds the other rows.
    ///
    /// # Panics
    /// When their width is different.
    pub fn append(&mut self, other: &Rows) {
        assert_eq!(self.width, other.width, "rows of one target have the same width");
        self.cells.extend_from_slice(&other.cells);
    }

    /// Adds one row.
    ///
    /// # Panics
    /// When its width is different.
    pub fn push(&mut self, row: &[Cell]) {
        assert_eq!(self.width, row.len(), "rows of one target have the same width");
        self.cells.extend_from_slice(row);
    }

    /// Makes all rows wider; the new cells are absent. The new width must not be smaller.
    pub fn widen(&mut self, width: usize) {
        if width == self.width {
            return;
        }
        let mut wider = Self { width, cells: Vec::with_capacity(self.len() * width) };
        for row in self.iter() {
            wider.cells.extend_from_slice(row);
            wider.cells.resize(wider.cells.len() + width - row.len(), Cell::ABSENT);
        }
        *self = wider;
    }

    /// Exchanges two rows.
    pub fn swap(&mut self, a: usize, b: usize) {
        (0..self.width)
            .for_each(|cell| self.cells.swap(a * self.width + cell, b * self.width + cell));
    }

    /// One row.
    #[must_use]
    pub fn row(&self, index: usize) -> &[Cell] {
        &self.cells[index * self.width..(index + 1) * self.width]
    }

    /// The rows from this one on.
    #[must_use]
    pub fn from(&self, first: usize) -> Self {
        Self { width: self.width, cells: self.cells[first * self.width..].to_vec() }
    }

    /// All cells, row after row.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The rows.
    pub fn iter(&self) -> std::slice::ChunksExact<'_, Cell> {
        self.cells.chunks_exact(self.width)
    }

    /// The rows, as mutable slices.
    pub fn iter_mut(&mut self) -> std::slice::ChunksExactMut<'_, Cell> {
        self.cells.chunks_exact_mut(self.width)
    }
}

impl<'a> IntoIterator for &'a Rows {
    type Item = &'a [Cell];
    type IntoIter = std::slice::ChunksExact<'a, Cell>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<'a> IntoIterator for &'a mut Rows {
    type Item = &'a mut [Cell];
    type IntoIter = std::slice::ChunksExactMut<'a, Cell>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
