//! A mechanism in Rust as a target: prepared once for each side, drawn from in chunks.

use std::cell::RefCell;
use std::fmt;

use rand::SeedableRng;
use serde::de::DeserializeOwned;

use super::panics::catch_panic;
use super::{PrepareError, StreamSeed, Target, TargetError};
use crate::model::{Dataset, Record, Side};
use crate::noise::Generator;
use crate::output::{Cell, MAX_WIDTH, Rows, Symbols};

/// A mechanism written in Rust.
pub trait Mechanism: Sized + Send + Sync + 'static {
    /// The name that audit files use.
    const NAME: &'static str;
    /// One line for `dp-audit show --mechanisms`.
    const SUMMARY: &'static str;
    /// The parameters; a type that rejects unknown keys.
    type Params: DeserializeOwned;

    /// Does all work that depends on the data only, once: sorting, counting, sensitivities.
    ///
    /// # Errors
    /// When the data or the parameters do not fit the mechanism. The message says which value is
    /// wrong and what is needed.
    fn prepare(params: &Self::Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit>;

    /// Cells per output. The same for all datasets with the same universe.
    fn width(&self) -> usize {
        1
    }

    /// One draw: writes every cell of the row.
    fn run(&self, rng: &mut Generator, row: &mut [Cell]);
}

/// Why a mechanism cannot be prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misfit {
    /// A parameter is wrong.
    Params {
        /// Which: `params.query.lower`.
        key: String,
        /// What is wrong with it: `is 3, must be less than …`.
        problem: String,
    },
    /// The data does not fit.
    Data(String),
}

impl Misfit {
    /// A problem with a parameter, or with all of them together if the key is empty.
    #[must_use]
    pub fn params(key: &str, problem: &str) -> Self {
        let key = if key.is_empty() { "params".to_owned() } else { format!("params.{key}") };
        Self::Params { key, problem: problem.to_owned() }
    }

    /// The same for whoever prepares a target; `side` says whose data it was.
    #[must_use]
    pub fn on(self, side: Option<Side>) -> PrepareError {
        match self {
            Self::Params { key, problem } => PrepareError::Params { key, problem },
            Self::Data(problem) => PrepareError::Data { side, problem },
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Params { key, problem } => f.write_str(&params_problem(key, problem)),
            Self::Data(problem) => f.write_str(problem),
        }
    }
}

/// `params.key is …` as one sentence, or `params.key: …` if the problem is a sentence of its own.
#[must_use]
pub fn params_problem(key: &str, problem: &str) -> String {
    let is_predicate = ["is ", "has ", "gives "].iter().any(|verb| problem.starts_with(verb));
    if is_predicate { format!("{key} {problem}") } else { format!("{key}: {problem}") }
}

/// A problem given as plain text is about the data.
impl From<String> for Misfit {
    fn from(problem: String) -> Self {
        Self::Data(problem)
    }
}

impl From<&str> for Misfit {
    fn from(problem: &str) -> Self {
        Self::Data(problem.to_owned())
    }
}

/// What both sides of a pair share: all distinct records of either side, sorted (the attacker knows
/// that they can occur), and the names of the symbols in outputs.
pub struct Universe {
    records: Vec<Record>,
    symbols: RefCell<Symbols>,
}

impl Universe {
    /// The universe of two neighbours.
    #[must_use]
    pub fn of(left: &Dataset, right: &Dataset) -> Self {
        let mut records: Vec<Record> =
            left.records().iter().chain(right.records()).cloned().collect();
        records.sort_unstable();
        records.dedup();
        Self { records, symbols: RefCell::default() }
    }

    /// A symbol for the output, such as ⊥ or a category. Mechanisms create their symbols once, in
    /// `prepare`.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Cell {
        self.symbols.borrow_mut().symbol(name)
    }

    /// The records.
    #[must_use]
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// How often each record of the universe occurs in the data.
    #[must_use]
    pub fn counts(&self, data: &Dataset) -> Vec<u64> {
        let mut counts = vec![0; self.records.len()];
        for record in data.records() {
            if let Ok(index) = self.records.binary_search(record) {
                counts[index] += 1;
            }
        }
        counts
    }
}

/// A Rust mechanism, prepared once for each side.
pub struct InProcess<M> {
    left: M,
    right: M,
    symbols: Symbols,
}

/// Cells per chunk: small enough to stay in a core's L1 cache.
const CHUNK_CELLS: usize = 2048;

impl<M: Mechanism> InProcess<M> {
    /// Prepares the mechanism for both datasets.
    ///
    /// # Errors
    /// When the data or the parameters do not fit the mechanism.
    pub fn prepare(
        params: &M::Params,
        left: &Dataset,
        right: &Dataset,
    ) -> Result<Self, PrepareError> {
        let universe = Universe::of(left, right);
        let of_side = |data: &Dataset, side: Side| {
            M::prepare(params, data, &universe).map_err(|misfit| misfit.on(Some(side)))
        };
        let (left, right) = (of_side(left, Side::Left)?, of_side(right, Side::Right)?);
        let target = Self { left, right, symbols: universe.symbols.into_inner() };
        let misfit = |problem: String| Err(PrepareError::Data { side: None, problem });
        match (target.left.width(), target.right.width()) {
            (left, right) if left != right => misfit(format!(
                "the output has {left} cells on left and {right} on right; both must have the same number"
            )),
            (0, _) => {
                misfit("the output has no cells; give the datasets at least one record".to_owned())
            }
            (width, _) if width > MAX_WIDTH => {
                misfit(format!("the output has {width} cells, must be at most {MAX_WIDTH}"))
            }
            _ => Ok(target),
        }
    }
}

impl<M: Mechanism> InProcess<M> {
    fn mechanism(&self, side: Side) -> &M {
        match side {
            Side::Left => &self.left,
            Side::Right => &self.right,
        }
    }
}

/// Draws of each side that check whether the mechanism always panics.
const PROBES: usize = 64;

impl<M: Mechanism> Target for InProcess<M> {
    /// A mechanism that panics for all data is perfectly private but useless. That is reported as
    /// an error, not as a pass.
    fn open(&self) -> Result<usize, TargetError> {
        let mut row = Rows::new(self.left.width());
        row.resize(1);
        let mut last = String::new();
        for side in [Side::Left, Side::Right] {
            let mut rng = Generator::seed_from_u64(0);
            for _ in 0..PROBES {
                match catch_panic(|| run_rows(self.mechanism(side), &mut rng, &mut row)) {
                    Ok(()) => return Ok(self.left.width()),
                    Err(message) => last = message,
                }
            }
        }
        Err(TargetError::AlwaysPanics { message: last })
    }

    fn symbols(&self) -> Symbols {
        self.symbols.clone()
    }

    fn needs_places(&self) -> bool {
        false
    }

    fn draw(
        &self,
        side: Side,
        count: usize,
        seed: StreamSeed,
        sink: &mut dyn FnMut(&Rows),
    ) -> Result<(), TargetError> {
        let mechanism = self.mechanism(side);
        let mut rng = Generator::from_seed(seed.bytes());
        let mut rows = Rows::new(mechanism.width());
        let chunk = (CHUNK_CELLS / mechanism.width()).max(1);
        let mut remaining = count;
        while remaining > 0 {
            rows.resize(chunk.min(remaining));
            remaining -= rows.len();
            fill(mechanism, &mut rng, &mut rows);
            sink(&rows);
        }
        Ok(())
    }
}

/// Makes one draw for each row. A draw that panics gives a row in which every cell is the symbol
/// `panic`.
fn fill<M: Mechanism>(mechanism: &M, rng: &mut Generator, rows: &mut Rows) {
    let mut after = rng.clone();
    if catch_panic(|| run_rows(mechanism, &mut after, rows)).is_ok() {
        *rng = after;
        return;
    }
    // Repeat the same draws one by one, from the same generator state. Drawing new values instead
    // would change how often panics occur.
    let mut single = Rows::new(rows.width());
    single.resize(1);
    for row in rows {
        match catch_panic(|| run_rows(mechanism, rng, &mut single)) {
            Ok(()) => row.copy_from_slice(single.row(0)),
            Err(_) => row.fill(Cell::PANIC),
        }
    }
}

/// The only place that calls a mechanism. With a single call site the compiler inlines it into the
/// loop and keeps the generator in registers.
#[inline(never)]
fn run_rows<M: Mechanism>(mechanism: &M, rng: &mut Generator, rows: &mut Rows) {
    let mut local = WriteBack { rng: rng.clone(), original: rng };
    rows.iter_mut().for_each(|row| mechanism.run(&mut local.rng, row));
}

/// Writes the generator state back on drop, even when unwinding.
struct WriteBack<'a> {
    rng: Generator,
    original: &'a mut Generator,
}

impl Drop for WriteBack<'_> {
    fn drop(&mut self) {
        self.original.clone_from(&self.rng);
    }
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt};

    use super::*;
    use crate::target::{PairStream, Phase};

    /// Outputs random integers, and panics in the middle of a row with a given probability.
    struct Fragile {
        panics_below: f64,
    }

    impl Mechanism for Fragile {
        const NAME: &'static str = "fragile";
        const SUMMARY: &'static str = "panics sometimes";
        type Params = f64;

        fn prepare(params: &f64, _: &Dataset, _: &Universe) -> Result<Self, Misfit> {
            Ok(Self { panics_below: *params })
        }

        fn width(&self) -> usize {
            2
        }

        fn run(&self, rng: &mut Generator, row: &mut [Cell]) {
            row[0] = Cell::number(f64::from(rng.next_u32() >> 1));
            assert!(rng.random::<f64>() >= self.panics_below, "too low");
            row[1] = Cell::number(f64::from(rng.next_u32() >> 1));
        }
    }

    fn draws(panics_below: f64, count: usize) -> Rows {
        let target = InProcess {
            left: Fragile { panics_below },
            right: Fragile { panics_below },
            symbols: Symbols::default(),
        };
        let mut all = Rows::new(2);
        let seed = PairStream::new(1, "fragile", "").side(Phase::Explore, 0, Side::Left);
        target.draw(Side::Left, count, seed, &mut |rows| all.append(rows)).unwrap();
        all
    }

    #[test]
    fn a_panic_is_an_output_and_does_not_change_the_draws_before_it() {
        let (calm, fragile) = (draws(0.0, 5000), draws(0.001, 5000));
        assert_eq!((calm.len(), fragile.len()), (5000, 5000));
        let panic = [Cell::PANIC; 2];
        let first =
            fragile.iter().position(|row| row == panic).expect("one in a thousand draws panics");
        assert!(calm.iter().zip(&fragile).take(first).all(|(one, other)| one == other));
        assert!(
            fragile
                .iter()
                .all(|row| row == panic || row.iter().all(|cell| cell.as_number().is_some())),
            "no half-written row"
        );
    }

    #[test]
    fn panics_occur_with_the_right_frequency() {
        // 100,000 draws at ¼: the standard deviation is 137. The probability of a false alarm at 5
        // standard deviations is 6e-7.
        let rows = draws(0.25, 100_000);
        let panics = rows.iter().filter(|row| row[0] == Cell::PANIC).count();
        assert!((panics as f64 - 25_000.0).abs() < 5.0 * 137.0, "{panics} panics in 100,000 draws");
    }

    #[test]
    fn a_mechanism_that_always_panics_cannot_be_run() {
        let fragile = |panics_below| Fragile { panics_below };
        let opened = |left, right| {
            InProcess { left: fragile(left), right: fragile(right), symbols: Symbols::default() }
                .open()
        };
        assert_eq!(
            opened(2.0, 2.0),
            Err(TargetError::AlwaysPanics { message: "too low".to_owned() })
        );
        assert_eq!(
            opened(2.0, 0.0),
            Ok(2),
            "if only one side panics, that is a leak that the audit must find"
        );
        assert_eq!(opened(0.5, 0.5), Ok(2));
    }
}
