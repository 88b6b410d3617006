//! Square matrices: sums of products, Cholesky factors, and eigenvectors of symmetric matrices.
//!
//! Every sum is taken in a fixed order and products are rounded before they are added, so that
//! results do not depend on the processor.

/// Components that are multiplied at a time, and how many of them with each of the others. Eight
/// sums of four numbers are as many as fit into the registers of common processors.
const LANES: usize = 8;
const HALF: usize = LANES / 2;

/// Vectors that are multiplied at a time, so that they stay in the cache.
const DEPTH: usize = 256;

/// Steps for each eigenvalue; two or three are common.
const MAX_STEPS: usize = 64;

/// Sums of the products of four components with eight.
type Tile = [[f64; LANES]; HALF];

/// A square matrix, one column after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Square {
    size: usize,
    cells: Vec<f64>,
}

impl Square {
    /// The matrix with these cells, given by row and column.
    #[must_use]
    pub fn from_fn(size: usize, mut cell: impl FnMut(usize, usize) -> f64) -> Self {
        let mut cells = Vec::with_capacity(size * size);
        for column in 0..size {
            cells.extend((0..size).map(|row| cell(row, column)));
        }
        Self { size, cells }
    }

    /// One cell.
    #[must_use]
    pub fn at(&self, row: usize, column: usize) -> f64 {
        self.cells[column * self.size + row]
    }

    /// One column.
    #[must_use]
    pub fn column(&self, index: usize) -> &[f64] {
        &self.cells[index * self.size..][..self.size]
    }

    fn column_mut(&mut self, index: usize) -> &mut [f64] {
        &mut self.cells[index * self.size..][..self.size]
    }

    /// The sum of all cells, row by row.
    #[must_use]
    pub fn sum(&self) -> f64 {
        let row = |row: usize| (0..self.size).map(|column| self.at(row, column)).sum::<f64>();
        (0..self.size).map(row).sum()
    }

    /// Adds another matrix of the same size.
    pub fn add(&mut self, other: &Self) {
        add_multiple(&mut self.cells, 1.0, &other.cells);
    }

    /// The Cholesky factor of this symmetric matrix with `ridge` added to its diagonal. None if it
    /// is not positive definite. Only the lower triangle is read.
    #[must_use]
    pub fn factor(&self, ridge: f64) -> Option<Factor> {
        let mut lower = self.clone();
        let size = self.size;
        for index in 0..size {
            lower.cells[index * size + index] += ridge;
        }
        for index in 0..size {
            let (done, rest) = lower.cells.split_at_mut(index * size);
            let column = &mut rest[index..size];
            for other in done.chunks_exact(size) {
                add_multiple(column, -other[index], &other[index..]);
            }
            if column[0].is_nan() || column[0] <= 0.0 {
                return None;
            }
            column[0] = column[0].sqrt();
            let (pivot, below) = column.split_at_mut(1);
            below.iter_mut().for_each(|cell| *cell /= pivot[0]);
        }
        Some(Factor { lower })
    }

    /// The eigenvalues and eigenvectors of this symmetric matrix; None if they are not found. Only
    /// the lower triangle is read.
    #[must_use]
    pub fn eigen(mut self) -> Option<Eigen> {
        let largest = self.cells.iter().fold(0.0_f64, |largest, cell| largest.max(cell.abs()));
        if largest > 0.0 {
            self.cells.iter_mut().for_each(|cell| *cell /= largest);
        }
        let mut eigen = Tridiagonal::new(self).eigen()?;
        eigen.values.iter_mut().for_each(|value| *value *= largest);
        Some(eigen)
    }
}

/// The lower triangle L with L·Lᵀ = A, for a positive definite matrix A.
#[derive(Clone, Debug)]
pub struct Factor {
    lower: Square,
}

impl Factor {
    /// The solution x of A·x = b.
    #[must_use]
    pub fn solve(&self, mut b: Vec<f64>) -> Vec<f64> {
        self.solve_lower(&mut b);
        self.solve_upper(&mut b);
        b
    }

    /// Replaces b by the solution x of L·x = b.
    pub fn solve_lower(&self, b: &mut [f64]) {
        for index in 0..b.len() {
            let (column, rest) = (&self.lower.column(index)[index..], &mut b[index..]);
            rest[0] /= column[0];
            let (solved, below) = rest.split_at_mut(1);
            add_multiple(below, -solved[0], &column[1..]);
        }
    }

    /// Replaces b by the solution x of Lᵀ·x = b.
    pub fn solve_upper(&self, b: &mut [f64]) {
        for index in (0..b.len()).rev() {
            let column = &self.lower.column(index)[index..];
            b[index] = (b[index] - dot(&column[1..], &b[index + 1..])) / column[0];
        }
    }

    /// L⁻¹·M·Lᵀ⁻¹ for a symmetric matrix M: its variances in directions in which A has variance 1.
    #[must_use]
    pub fn whiten(&self, matrix: &Square) -> Square {
        let mut half = matrix.clone();
        (0..half.size).for_each(|index| self.solve_lower(half.column_mut(index)));
        let mut whole = Square::from_fn(half.size, |row, column| half.at(column, row));
        (0..whole.size).for_each(|index| self.solve_lower(whole.column_mut(index)));
        Square::from_fn(whole.size, |row, column| {
            (whole.at(row, column) + whole.at(column, row)) * 0.5
        })
    }
}

/// Eigenvalues in no particular order, and the eigenvector of each as a column.
#[derive(Clone, Debug)]
pub struct Eigen {
    values: Vec<f64>,
    vectors: Square,
}

impl Eigen {
    /// The eigenvectors of the least and of the largest eigenvalue, the first ones of equal.
    #[must_use]
    pub fn extremes(&self) -> [&[f64]; 2] {
        let (mut least, mut most) = (0, 0);
        for index in 1..self.values.len() {
            if self.values[index] < self.values[least] {
                least = index;
            }
            if self.values[index] > self.values[most] {
                most = index;
            }
        }
        [least, most].map(|index| self.vectors.column(index))
    }
}

/// A symmetric matrix Q·T·Qᵀ, where Q is orthogonal and T has non-zero cells only on its diagonal
/// and next to it.
struct Tridiagonal {
    diagonal: Vec<f64>,
    /// Cell i is in row i + 1 and column i, and the other way round.
    off: Vec<f64>,
    vectors: Square,
}

impl Tridiagonal {
    /// By Householder reflections: the one of a column makes all cells below the first one under
    /// the diagonal 0.
    fn new(mut matrix: Square) -> Self {
        let size = matrix.size;
        let mut off = vec![0.0; size.saturating_sub(1)];
        for index in 0..off.len() {
            let (done, rest) = matrix.cells.split_at_mut((index + 1) * size);
            let axis = &mut done[index * size + index + 1..];
            let Some(image) = reflection(axis) else { continue };
            off[index] = image;
            reflect_both_sides(&mut rest[index + 1..], size, axis);
        }
        let diagonal = (0..size).map(|index| matrix.at(index, index)).collect();
        let mut vectors = Square::from_fn(size, |row, column| f64::from(u8::from(row == column)));
        for index in (0..off.len()).rev() {
            let axis = &matrix.column(index)[index + 1..];
            // With the sign of its image, each reflection makes the cell next to the diagonal
            // positive.
            let sign = sign(off[index]);
            for column in index..size {
                let part = &mut vectors.column_mut(column)[index + 1..];
                let factor = dot(axis, part) * (-2.0 * sign);
                part.iter_mut()
                    .zip(axis)
                    .for_each(|(cell, axis)| *cell = factor * axis + sign * *cell);
            }
        }
        off.iter_mut().for_each(|cell| *cell = cell.abs());
        Self { diagonal, off, vectors }
    }

    /// By QR steps with Wilkinson's shift. Each works on the last part of the matrix that does not
    /// fall apart.
    fn eigen(mut self) -> Option<Eigen> {
        let mut end = self.diagonal.len().saturating_sub(1);
        for _ in 0..MAX_STEPS * self.diagonal.len() {
            while end > 0 && self.is_small(end - 1) {
                end -= 1;
            }
            if end == 0 {
                break;
            }
            let mut start = end - 1;
            while start > 0 && !self.is_small(start - 1) {
                start -= 1;
            }
            if start > 0 {
                self.off[start - 1] = 0.0;
            }
            if start + 1 == end {
                self.solve_pair(start);
                end = start;
            } else {
                self.step(start, end);
            }
        }
        (end == 0).then_some(Eigen { values: self.diagonal, vectors: self.vectors })
    }

    /// Whether a cell next to the diagonal is 0 up to rounding, or not a number.
    fn is_small(&self, index: usize) -> bool {
        let size = self.diagonal[index].abs() + self.diagonal[index + 1].abs();
        let large = self.off[index].abs() > f64::EPSILON * size;
        !large
    }

    /// A step on the part from `start` to `end`.
    fn step(&mut self, start: usize, end: usize) {
        let shift = wilkinson(self.diagonal[end - 1], self.diagonal[end], self.off[end - 1]);
        let (mut x, mut y) = (self.diagonal[start] - shift, self.off[start]);
        for index in start..end {
            if y == 0.0 {
                break;
            }
            let (cos, sin, length) = rotation(x, y);
            if index > start {
                self.off[index - 1] = length;
            }
            let (first, second) = (self.diagonal[index], self.diagonal[index + 1]);
            let off = self.off[index];
            let (square_cos, square_sin, mixed) = (cos * cos, sin * sin, cos * sin);
            let both = mixed * 2.0 * off;
            self.diagonal[index] = square_cos * first + square_sin * second + both;
            self.diagonal[index + 1] = square_sin * first + square_cos * second - both;
            self.off[index] = off * (square_cos - square_sin) - mixed * (first - second);
            if index + 1 < end {
                (x, y) = (self.off[index], sin * self.off[index + 1]);
                self.off[index + 1] *= cos;
            }
            self.rotate_vectors(index, cos, sin);
        }
    }

    /// Makes a part of two rows diagonal.
    fn solve_pair(&mut self, index: usize) {
        let (first, second) = (self.diagonal[index], self.diagonal[index + 1]);
        let off = self.off[index];
        let half = (first - second) * 0.5;
        let root = (off * off + half * half).sqrt();
        let middle = (first + second) * 0.5;
        let (more, less) = (middle + root, middle - root);
        // Both are the eigenvector of `more`; the larger difference loses fewer digits.
        let (x, y) = if (more - second).abs() > (more - first).abs() {
            (more - second, off)
        } else {
            (off, more - first)
        };
        (self.diagonal[index], self.diagonal[index + 1]) = (more, less);
        self.off[index] = 0.0;
        let (cos, sin, length) = rotation(x, y);
        if length.abs() > f64::EPSILON {
            self.rotate_vectors(index, cos, sin);
        }
    }

    /// Turns a column of Q and the next one.
    fn rotate_vectors(&mut self, index: usize, cos: f64, sin: f64) {
        let size = self.vectors.size;
        let (first, second) = self.vectors.cells[index * size..][..2 * size].split_at_mut(size);
        for (a, b) in first.iter_mut().zip(second) {
            (*a, *b) = (*a * cos + sin * *b, *b * cos - sin * *a);
        }
    }
}

/// Replaces a vector by the unit axis of the reflection that maps it to a multiple of the first unit
/// vector, and gives the multiple. None if the vector is 0; it is left as it is.
fn reflection(vector: &mut [f64]) -> Option<f64> {
    let square = dot(vector, vector);
    let length = square.sqrt();
    let image = sign(vector[0]) * length;
    let factor = (square + vector[0].abs() * length) * 2.0;
    if factor == 0.0 {
        return None;
    }
    vector[0] += image;
    let scale = factor.sqrt();
    vector.iter_mut().for_each(|cell| *cell /= scale);
    // Once more, because the first scale may be rounded coarsely.
    let length = dot(vector, vector).sqrt();
    vector.iter_mut().for_each(|cell| *cell /= length);
    Some(-image)
}

/// Reflects the lower triangle of a symmetric matrix from both sides, along a unit axis. Columns
/// are `stride` apart; each begins with the row of the first one.
fn reflect_both_sides(columns: &mut [f64], stride: usize, axis: &[f64]) {
    let size = axis.len();
    // Twice the product of the matrix with the axis.
    let mut product = vec![0.0; size];
    for index in 0..size {
        let column = &columns[index * stride..][index..size];
        if index == 0 {
            product[0] += 2.0 * axis[0] * column[0];
            product[0] += 2.0 * dot(&column[1..], &axis[1..]);
        } else {
            product[index] += 2.0 * dot(column, &axis[index..]);
        }
        add_multiple(&mut product[index + 1..], 2.0 * axis[index], &column[1..]);
    }
    let twice = dot(axis, &product) * 2.0;
    for index in 0..size {
        let column = &mut columns[index * stride..][index..size];
        add_multiple(column, -axis[index], &product[index..]);
        add_multiple(column, -product[index], &axis[index..]);
        add_multiple(column, twice * axis[index], &axis[index..]);
    }
}

/// The eigenvalue of a symmetric matrix of two rows that is closer to the second cell of its
/// diagonal.
fn wilkinson(first: f64, second: f64, off: f64) -> f64 {
    let square = off * off;
    if square == 0.0 {
        return second;
    }
    let half = (first - second) * 0.5;
    second - square / (half + half.signum() * (half * half + square).sqrt())
}

/// Cosine, sine and length, where the rotation turns (x, y) into (length, 0). The length has the
/// sign of x.
fn rotation(x: f64, y: f64) -> (f64, f64, f64) {
    let length = (x * x + y * y).sqrt();
    let signed = sign(x) * length;
    (x.abs() / length, y / signed, signed)
}

/// 1 for 0, whichever sign it has.
fn sign(number: f64) -> f64 {
    if number >= 0.0 { 1.0 } else { -1.0 }
}

/// Adds a multiple of a vector to another one.
fn add_multiple(vector: &mut [f64], factor: f64, other: &[f64]) {
    vector.iter_mut().zip(other).for_each(|(cell, other)| *cell += factor * other);
}

/// The sum of the products of two vectors.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let sum = (0..HALF).fold(0.0, |sum, lane| sum + (sums[lane] + sums[lane + HALF]));
    a_rest.iter().zip(b_rest).fold(sum, |sum, (a, b)| sum + a * b)
}

/// The sum of `count` vectors of `size` components, and the sums of the products of their
/// components. `value` gives the component, its first argument, of a vector.
pub fn sums_of_products(
    size: usize,
    count: usize,
    value: impl Fn(usize, usize) -> f64,
) -> (Vec<f64>, Square) {
    let panels = size.div_ceil(LANES);
    let mut sums = vec![[0.0; LANES]; panels];
    let mut tiles: Vec<Tile> = vec![[[0.0; LANES]; HALF]; panels * (panels + 1)];
    // Eight components of each vector, then the next eight components.
    let mut packed: Vec<[f64; LANES]> = Vec::with_capacity(panels * DEPTH.min(count));
    for start in (0..count).step_by(DEPTH) {
        let depth = DEPTH.min(count - start);
        packed.clear();
        for panel in 0..panels {
            let lanes = LANES.min(size - panel * LANES);
            packed.extend((start..start + depth).map(|vector| {
                let mut part = [0.0; LANES];
                for (lane, cell) in part.iter_mut().enumerate().take(lanes) {
                    *cell = value(panel * LANES + lane, vector);
                }
                part
            }));
        }
        for (sums, panel) in sums.iter_mut().zip(packed.chunks_exact(depth)) {
            for part in panel {
                sums.iter_mut().zip(part).for_each(|(sum, cell)| *sum += cell);
            }
        }
        add_products(&mut tiles, &packed, depth);
    }
    let mut products = Square { size, cells: vec![0.0; size * size] };
    for (tile, (first, second)) in tiles.iter().zip(places(panels)) {
        for (column, sums) in (first..size).zip(tile) {
            for (row, sum) in (second..size).zip(sums) {
                products.cells[column * size + row] = *sum;
                products.cells[row * size + column] = *sum;
            }
        }
    }
    let mut sums = sums.concat();
    sums.truncate(size);
    (sums, products)
}

/// The first column and the first row of each tile, on the diagonal and below it.
fn places(panels: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..panels).flat_map(move |first| {
        (first..panels).flat_map(move |second| {
            [(first * LANES, second * LANES), (first * LANES + HALF, second * LANES)]
        })
    })
}

/// Adds the products of these vectors to the tiles, with the widest instructions of the processor.
fn add_products(tiles: &mut [Tile], packed: &[[f64; LANES]], depth: usize) {
    pulp::Arch::new().dispatch(
        #[inline(always)]
        || {
            for (tile, (first, second)) in tiles.iter_mut().zip(places(packed.len() / depth)) {
                let panel = |component: usize| &packed[component / LANES * depth..][..depth];
                let offset = first % LANES;
                // A copy stays in registers.
                let mut sums = *tile;
                for (a, b) in panel(first).iter().zip(panel(second)) {
                    let a = if offset == 0 {
                        [a[0], a[1], a[2], a[3]]
                    } else {
                        [a[4], a[5], a[6], a[7]]
                    };
                    for (sums, a) in sums.iter_mut().zip(a) {
                        for lane in 0..LANES {
                            sums[lane] += a * b[lane];
                        }
                    }
                }
                *tile = sums;
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::noise::Generator;

    fn random(size: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut rng = Generator::seed_from_u64(seed);
        (0..size).map(|_| (0..size).map(|_| rng.random_range(-1.0..1.0)).collect()).collect()
    }

    /// A symmetric matrix of random cells.
    fn symmetric(size: usize, seed: u64) -> Square {
        let cells = random(size, seed);
        Square::from_fn(size, |row, column| cells[row.min(column)][row.max(column)])
    }

    /// R·Rᵀ + I for random R, which is positive definite.
    fn definite(size: usize, seed: u64) -> Square {
        let cells = random(size, seed);
        let (_, mut products) =
            sums_of_products(size, size, |component, vector| cells[vector][component]);
        products.add(&Square::from_fn(size, |row, column| f64::from(u8::from(row == column))));
        products
    }

    fn times(matrix: &Square, vector: &[f64]) -> Vec<f64> {
        let cell =
            |row| (0..matrix.size).map(move |column| matrix.at(row, column) * vector[column]);
        (0..matrix.size).map(|row| cell(row).sum()).collect()
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    const SIZES: [usize; 12] = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 40, 65];

    #[test]
    fn sums_of_products_are_those_of_the_definition() {
        // Whole numbers, so that all sums are exact.
        let value = |component: usize, vector: usize| {
            f64::from(u8::try_from((7 * component + 3 * vector + component * vector) % 11).unwrap())
                - 5.0
        };
        for size in SIZES {
            for count in [0, 1, 2, 255, 256, 257, 600] {
                let (sum, products) = sums_of_products(size, count, value);
                let exact = |a: usize| (0..count).map(|vector| value(a, vector)).sum::<f64>();
                assert_eq!(sum, (0..size).map(exact).collect::<Vec<_>>());
                let exact = |a: usize, b: usize| {
                    (0..count).map(|vector| value(a, vector) * value(b, vector)).sum::<f64>()
                };
                assert_eq!(products, Square::from_fn(size, exact), "{size} {count}");
                assert_eq!(products.sum(), products.cells.iter().sum::<f64>());
            }
        }
    }

    #[test]
    fn a_factor_solves_its_equations() {
        for size in SIZES {
            let matrix = definite(size, 1);
            let factor = matrix.factor(0.0).expect("positive definite");
            let lower = |row: usize, k: usize| if k <= row { factor.lower.at(row, k) } else { 0.0 };
            let again = Square::from_fn(size, |row, column| {
                (0..size).map(|k| lower(row, k) * lower(column, k)).sum()
            });
            assert!(distance(&again.cells, &matrix.cells) < 1e-12, "{size}");
            let exact: Vec<f64> = random(size, 2).concat()[..size].to_vec();
            assert!(distance(&factor.solve(times(&matrix, &exact)), &exact) < 1e-12, "{size}");
        }
    }

    #[test]
    fn a_hilbert_matrix_is_solved_up_to_its_condition() {
        // The cells are 1 / (row + column + 1). The inverse of the Hilbert matrix of five rows has
        // whole cells; this is its first column.
        let hilbert = Square::from_fn(5, |row, column| 1.0 / (row + column + 1) as f64);
        let factor = hilbert.factor(0.0).expect("positive definite");
        let found = factor.solve(vec![1.0, 0.0, 0.0, 0.0, 0.0]);
        // Its condition is 4.8e5: ten digits remain.
        assert!(distance(&found, &[25.0, -300.0, 1050.0, -1400.0, 630.0]) < 1400.0 * 1e-10);
    }

    #[test]
    fn only_positive_definite_matrices_have_a_factor() {
        // Eigenvalues 3 and −1.
        let matrix = Square::from_fn(2, |row, column| if row == column { 1.0 } else { 2.0 });
        assert!(matrix.factor(0.0).is_none() && matrix.factor(0.99).is_none());
        assert!(matrix.factor(1.01).is_some());
        assert!(Square::from_fn(3, |_, _| 0.0).factor(0.0).is_none());
        assert!(Square::from_fn(3, |_, _| f64::NAN).factor(1.0).is_none());
    }

    #[test]
    fn whitening_a_matrix_by_its_own_factor_gives_the_identity() {
        for size in SIZES {
            let matrix = definite(size, 3);
            let white = matrix.factor(0.0).expect("positive definite").whiten(&matrix);
            let identity = Square::from_fn(size, |row, column| f64::from(u8::from(row == column)));
            assert!(distance(&white.cells, &identity.cells) < 1e-12, "{size}");
        }
    }

    /// A·v = λ·v, and the eigenvectors are orthonormal.
    fn check_eigen(matrix: &Square, precision: f64) -> Vec<f64> {
        let eigen = matrix.clone().eigen().expect("eigenvectors");
        for (index, value) in eigen.values.iter().enumerate() {
            let vector = eigen.vectors.column(index);
            let scaled: Vec<f64> = vector.iter().map(|cell| cell * value).collect();
            assert!(distance(&times(matrix, vector), &scaled) < precision, "{index}: {value}");
            for other in 0..=index {
                let exact = f64::from(u8::from(index == other));
                assert!((dot(vector, eigen.vectors.column(other)) - exact).abs() < 1e-12);
            }
        }
        let [least, most] = eigen.extremes();
        let along = |vector: &[f64]| dot(vector, &times(matrix, vector));
        let mut values = eigen.values.clone();
        values.sort_by(f64::total_cmp);
        assert!((along(least) - values[0]).abs() < precision);
        assert!((along(most) - values[values.len() - 1]).abs() < precision);
        values
    }

    #[test]
    fn eigenvectors_satisfy_their_equation() {
        for size in SIZES {
            for seed in 4..8 {
                let matrix = symmetric(size, seed);
                let values = check_eigen(&matrix, 1e-12);
                // The trace is the sum of the eigenvalues.
                let trace: f64 = (0..size).map(|index| matrix.at(index, index)).sum();
                assert!((values.iter().sum::<f64>() - trace).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn known_eigenvalues_are_found() {
        // The second difference of n points has the eigenvalues 2 − 2·cos(π·k / (n + 1)).
        let size = 20;
        let chain = Square::from_fn(size, |row, column| match row.abs_diff(column) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        });
        let exact = |k: usize| 2.0 - 2.0 * (std::f64::consts::PI * k as f64 / 21.0).cos();
        let exact: Vec<f64> = (1..=size).map(exact).collect();
        assert!(distance(&check_eigen(&chain, 1e-13), &exact) < 1e-13);
        // All cells 1: n once, and 0 for all directions across.
        let mut exact = vec![0.0; size];
        exact[size - 1] = 20.0;
        let ones = Square::from_fn(size, |_, _| 1.0);
        assert!(distance(&check_eigen(&ones, 1e-13), &exact) < 1e-13);
        // Diagonal matrices, large and small ones too: the diagonal, with all digits.
        for scale in [1e-200, 1.0, 1e200] {
            let cell = |row: usize, column: usize| {
                if row == column { scale * [3.0, -1.0, 3.0, 0.0][row] } else { 0.0 }
            };
            let exact = [-1.0, 0.0, 3.0, 3.0].map(|value: f64| value * scale);
            let found = check_eigen(&Square::from_fn(4, cell), 1e-15 * scale);
            assert!(distance(&found, &exact) <= 1e-15 * scale);
        }
        assert_eq!(check_eigen(&Square::from_fn(3, |_, _| 0.0), 1e-15), [0.0; 3]);
    }

    #[test]
    fn matrices_that_are_not_numbers_end() {
        for cell in [f64::NAN, f64::INFINITY] {
            for size in SIZES {
                let _ = Square::from_fn(size, |_, _| cell).eigen();
                let _ = Square::from_fn(size, |row, _| if row == 0 { cell } else { 1.0 }).eigen();
            }
        }
    }
}
