//! Transformations without noise, for stability claims: the part of a mechanism before its noise is
//! added.
//!
//! *Claim*: datasets at most `d_in` apart have outputs at most `d_out` apart. The noise of a
//! mechanism is scaled to `d_out`, so a wrong claim makes every mechanism wrong that is built on
//! it. *Neighbours*: stated by each audit. *Source*: stable transformations (`McSherry` 2009) and
//! the stability maps of libraries that are built from them. *The bugs*: arithmetic that wraps or
//! rounds (see `arithmetic.rs`), a level of a tree that is not counted, a resized list that is
//! taken to change by one record only. *True distance*: computed by the audit; every refutation is
//! exact.

use serde::Deserialize;

use crate::catalogue::arithmetic::Arithmetic;
use crate::catalogue::query::Query;
use crate::model::checked::Finite;
use crate::model::{Dataset, Record};
use crate::noise::Generator;
use crate::output::{Cell, MAX_WIDTH};
use crate::target::{Mechanism, Misfit, Universe};

/// What is computed.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Step {
    /// A query: count, sum, mean, histogram or the values themselves.
    Query(Query),
    /// The sums of all nodes of a tree over the records, leaves first, the root last.
    Tree {
        /// The children of a node.
        branching: usize,
        /// The type of numbers used for the sums.
        #[serde(default)]
        arithmetic: Arithmetic,
    },
    /// The first records, and copies of `fill` if there are fewer.
    Resize {
        /// The length of the result.
        size: usize,
        /// What is added to a short list.
        fill: Finite,
    },
    /// Each different record once.
    Distinct,
    /// The records added up from the first to each of them.
    RunningSums,
    /// The middle record of the sorted records; of two in the middle, the lower one.
    Median,
}

/// Parameters of a transformation.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Params {
    step: Step,
}

/// A transformation, already applied.
pub struct Transformation(Vec<Cell>);

impl Mechanism for Transformation {
    const NAME: &'static str = "transformation";
    const SUMMARY: &'static str = "a query, tree, resized list, set, running sums or median without noise, for stability claims";
    type Params = Params;

    fn prepare(params: &Params, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let row = match &params.step {
            Step::Query(query) => numbers(query.answer(data, universe)?.values),
            Step::Tree { branching, arithmetic } => {
                numbers(tree(data.numbers()?, *branching, *arithmetic)?)
            }
            Step::Resize { size, fill } => resized(data, *size, *fill, universe)?,
            Step::Distinct => {
                let counts = universe.records().iter().zip(universe.counts(data));
                let mut row: Vec<Cell> = counts
                    .filter(|(_, count)| *count > 0)
                    .map(|(record, _)| cell(record, universe))
                    .collect();
                row.resize(universe.records().len(), Cell::ABSENT);
                row
            }
            Step::RunningSums => numbers(data.numbers()?.into_iter().scan(0.0, |sum, value| {
                *sum += value;
                Some(*sum)
            })),
            Step::Median => {
                let mut sorted = data.numbers()?;
                sorted.sort_unstable_by(f64::total_cmp);
                let middle = sorted.len().checked_sub(1).ok_or(
                    "the median of no records is not defined; give the dataset at least one",
                )? / 2;
                numbers([sorted[middle]])
            }
        };
        if row.is_empty() {
            return Err(Misfit::Data(
                "the output has no component; give the dataset at least one record".to_owned(),
            ));
        }
        Ok(Self(row))
    }

    fn width(&self) -> usize {
        self.0.len()
    }

    fn run(&self, _: &mut Generator, row: &mut [Cell]) {
        row.copy_from_slice(&self.0);
    }
}

fn numbers(values: impl IntoIterator<Item = f64>) -> Vec<Cell> {
    values.into_iter().map(Cell::number).collect()
}

fn cell(record: &Record, universe: &Universe) -> Cell {
    record.number().map_or_else(|| universe.symbol(&record.to_string()), Cell::number)
}

/// All levels of a tree. The last block of a level may be smaller than the others.
fn tree(leaves: Vec<f64>, branching: usize, arithmetic: Arithmetic) -> Result<Vec<f64>, Misfit> {
    if branching < 2 {
        return Err(Misfit::params(
            "step.tree.branching",
            &format!("is {branching}, must be at least 2"),
        ));
    }
    let mut level = leaves.clone();
    let mut nodes = leaves;
    while level.len() > 1 {
        level = level
            .chunks(branching)
            .map(|block| arithmetic.sum(block.iter().copied()))
            .collect::<Result<_, _>>()?;
        nodes.extend(&level);
    }
    Ok(nodes)
}

fn resized(
    data: &Dataset,
    size: usize,
    fill: Finite,
    universe: &Universe,
) -> Result<Vec<Cell>, Misfit> {
    if size == 0 || size > MAX_WIDTH {
        return Err(Misfit::params(
            "step.resize.size",
            &format!("is {size}, must be at least 1 and at most {MAX_WIDTH}"),
        ));
    }
    let mut row: Vec<Cell> =
        data.records().iter().take(size).map(|record| cell(record, universe)).collect();
    row.resize(size, Cell::number(fill.get()));
    Ok(row)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::registry::read_toml;

    fn output(step: &str, data: &[f64]) -> Vec<f64> {
        let data = Dataset::of_numbers(data);
        let universe = Universe::of(&data, &Dataset::of_numbers(&[7.0]));
        let params: Params = read_toml(&format!("step = {step}"));
        let row = Transformation::prepare(&params, &data, &universe).unwrap().0;
        row.into_iter().map(|cell| cell.as_number().unwrap_or(f64::NAN)).collect()
    }

    #[test]
    fn a_tree_has_all_levels() {
        assert_eq!(
            output("{ tree = { branching = 2 } }", &[1.0, 2.0, 3.0]),
            [1.0, 2.0, 3.0, 3.0, 3.0, 6.0]
        );
        assert_eq!(output("{ tree = { branching = 4 } }", &[1.0; 4]), [1.0, 1.0, 1.0, 1.0, 4.0]);
        let wraps = output(
            "{ tree = { branching = 2, arithmetic = \"wrapping-i32\" } }",
            &[2_147_483_647.0, 1.0],
        );
        assert_eq!(wraps, [2_147_483_647.0, 1.0, -2_147_483_648.0]);
    }

    #[test]
    fn lists_are_cut_filled_reduced_and_summed() {
        assert_eq!(output("{ resize = { size = 2, fill = 9 } }", &[1.0, 2.0, 3.0]), [1.0, 2.0]);
        assert_eq!(output("{ resize = { size = 3, fill = 9 } }", &[1.0]), [1.0, 9.0, 9.0]);
        // The universe has 7 too, which is absent here.
        let distinct = output("\"distinct\"", &[2.0, 1.0, 2.0]);
        assert_eq!(distinct[..2], [1.0, 2.0]);
        assert!(distinct[2].is_nan());
        assert_eq!(output("\"running-sums\"", &[1.0, 2.0, 3.0]), [1.0, 3.0, 6.0]);
        assert_eq!(
            [output("\"median\"", &[3.0, 1.0, 2.0]), output("\"median\"", &[4.0, 1.0, 2.0, 3.0])],
            [[2.0], [2.0]]
        );
    }

    #[test]
    fn bad_parameters_are_named() {
        let prepare = |step: &str, data: &[f64]| {
            let (params, data): (Params, _) =
                (read_toml(&format!("step = {step}")), Dataset::of_numbers(data));
            Transformation::prepare(&params, &data, &Universe::of(&data, &data))
                .map(|_| ())
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            prepare("{ tree = { branching = 1 } }", &[1.0]),
            "params.step.tree.branching is 1, must be at least 2"
        );
        assert!(
            prepare("{ resize = { size = 0, fill = 1 } }", &[1.0])
                .starts_with("params.step.resize.size is 0, must be at least 1")
        );
        assert!(prepare("\"median\"", &[]).contains("give the dataset at least one"));
        assert!(prepare("\"running-sums\"", &[]).contains("no component"));
    }
}
