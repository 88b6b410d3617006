//! Audits of outputs that were collected earlier: two files, one for each dataset.
//!
//! The bounds need a fair coin for every draw (see `sample`), but the files have fixed sizes. So
//! the number of draws `N` is fixed first, from the sizes of the files alone. It is the largest `N`
//! for which `k ~ Binomial(N, ½)` heads almost never exceed the left file, and `N − k` tails almost
//! never exceed the right one. Then the coin is flipped as for any other target. If it needs more
//! rows than there are, the audit ends with an error and refutes nothing. So this event costs no
//! confidence, even if it is likely.
//!
//! Rows are used in a random order, so that exploration and certification see the same distribution
//! even if a file was sorted. This fixes the order, but not dependence: each row must come from a
//! separate run. Dependence is tested in the order of the file.

mod file;
mod separator;
mod target;

use std::fmt;
use std::path::Path;

pub use file::HeaderRow;
use file::Outputs;
pub use separator::Separator;
pub use target::{Recorded, RowOrder, SampleNames};

use crate::model::number::{counted, grouped};
use crate::model::{Error, FileProblem};
use crate::stats::binomial::upper_tail;

/// The probability, at most, that the coin needs more rows than a file has.
const MAX_OVERRUN: f64 = 1e-6;

/// Two files of outputs that fit each other.
pub struct Recording {
    left: Outputs,
    right: Outputs,
}

impl Recording {
    /// Reads both files. Without a separator, their first rows show what it is.
    ///
    /// # Errors
    /// When one cannot be read, has no outputs, or does not fit the other.
    pub fn read(
        left: &Path,
        right: &Path,
        header: HeaderRow,
        separator: Option<Separator>,
    ) -> Result<Self, Error> {
        let read = |path: &Path| Outputs::read(path, header, separator);
        let (left_outputs, right_outputs) = match rayon::join(|| read(left), || read(right)) {
            (Ok(left), Ok(right)) => (left, right),
            (left, right) => {
                return Err(Error::Input(left.err().into_iter().chain(right.err()).collect()));
            }
        };
        let misfit = |message: String| Err(Error::Input(vec![FileProblem::new(right, message)]));
        if left_outputs.header != right_outputs.header {
            let joined = |names: &Option<Vec<String>>| {
                names.as_ref().map_or_else(|| "none".to_owned(), |names| names.join(", "))
            };
            return misfit(format!(
                "the header is {}, that of {} is {}; make them equal, or use --header present or --header absent",
                joined(&right_outputs.header),
                left.display(),
                joined(&left_outputs.header)
            ));
        }
        if left_outputs.separator != right_outputs.separator {
            return misfit(format!(
                "its cells are separated by {}, those of {} by {}; use the same in both files",
                right_outputs.separator,
                left.display(),
                left_outputs.separator
            ));
        }
        if left_outputs.rows.width() != right_outputs.rows.width() {
            return misfit(format!(
                "has {} columns and {} has {}; give both files all columns, and leave cells without a value empty",
                right_outputs.rows.width(),
                left.display(),
                left_outputs.rows.width()
            ));
        }
        Ok(Self { left: left_outputs, right: right_outputs })
    }

    /// How many draws a fair coin can make from the outputs.
    #[must_use]
    pub fn draws(&self) -> u64 {
        draws(self.left.rows.len() as u64, self.right.rows.len() as u64)
    }

    /// A name for the two files together.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} and {}", self.left.name, self.right.name)
    }

    /// The target that draws from these outputs. The seed determines the order in which rows are
    /// used.
    #[must_use]
    pub fn into_target(self, order: RowOrder, seed: u64) -> Recorded {
        let (mut symbols, mut texts) = (self.left.symbols, self.left.texts);
        symbols.merge(self.right.symbols);
        texts.extend(self.right.texts);
        let columns = self.left.header.unwrap_or_default();
        Recorded::new(
            self.left.rows,
            self.right.rows,
            SampleNames { columns, symbols, texts, forms: [self.left.forms, self.right.forms] },
            order,
            seed,
        )
    }
}

impl fmt::Display for Recording {
    /// What was read, and how much of it can be used.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outputs = |outputs: &Outputs| {
            format!("{} has {}", outputs.name, counted(outputs.rows.len(), "output"))
        };
        write!(f, "{}, {}. ", outputs(&self.left), outputs(&self.right))?;
        match &self.left.header {
            Some(names) => {
                write!(f, "The first row of each is treated as a header ({}). ", names.join(", "))?;
            }
            None => write!(f, "There is no header. ")?,
        }
        let width = self.left.rows.width();
        if width > 1 {
            write!(f, "Each output has {width} cells, separated by {}. ", self.left.separator)?;
        }
        write!(f, "A fair coin can draw {} of them.", grouped(self.draws()))
    }
}

/// The largest number of fair coins whose heads exceed `left`, or whose tails exceed `right`, with
/// probability at most one in a million.
#[must_use]
pub fn draws(left: u64, right: u64) -> u64 {
    let overruns = |n: u64| upper_tail(left + 1, n, 0.5) + upper_tail(right + 1, n, 0.5);
    // If there are as many draws as rows in the smaller file, there is never an overrun. With more
    // than twice as many, an overrun is likely.
    let (mut fits, mut too_many) = (left.min(right), 2 * left.min(right) + 2);
    while too_many - fits > 1 {
        let middle = fits + (too_many - fits) / 2;
        if overruns(middle) <= MAX_OVERRUN { fits = middle } else { too_many = middle }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coin_almost_never_needs_more_rows_than_a_file_has() {
        // P(Binomial(n, ½) > rows) term by term, in exact powers of two.
        let beyond = |rows: u64, n: u64| {
            let mut term = 0.5_f64.powi(i32::try_from(n).unwrap());
            let mut sum = 0.0;
            for k in 0..=n {
                sum += if k > rows { term } else { 0.0 };
                term *= (n - k) as f64 / (k + 1) as f64;
            }
            sum
        };
        for (left, right) in [(1, 1), (10, 10), (10, 500), (100, 100), (300, 310)] {
            let n = draws(left, right);
            assert!(beyond(left, n) + beyond(right, n) <= 1e-6, "{left}, {right}: {n}");
            assert!(
                beyond(left, n + 1) + beyond(right, n + 1) > 1e-6,
                "{left}, {right}: {n} could be more"
            );
        }
        // N is smaller than the 2n rows of two large files by about ten standard deviations of the
        // coin, √N/2: N ≈ 2n − 5√(2n).
        let n = draws(1_000_000, 1_000_000);
        assert!((1_992_500..1_993_500).contains(&n), "{n}");
    }
}
