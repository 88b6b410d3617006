//! Which columns the outputs of a target have.
//!
//! The first outputs of both sides decide it, before any draw that counts. Closures, programs,
//! functions of other languages and recorded outputs differ only in how they make these outputs.

use std::time::{Duration, Instant};

use super::{PairStream, Phase, PrepareError, StreamSeed, TargetError};
use crate::model::Side;
use crate::output::{MAX_WIDTH, Probe, Reading, Symbols, TextView};

/// The most outputs of each side that are looked at.
pub const FIRST_OUTPUTS: usize = 256;

/// Further outputs of each side, in the requests that ask for them, if the first ones have texts or
/// differ in their forms. They show what occurs once in a thousand outputs.
pub const MORE_OUTPUTS: [usize; 2] = [768, 3072];

/// The number of the first request for further outputs.
const MORE_PART: u64 = 16;

/// How long the further outputs may take, unless a time limit of the audit says less.
const TIME_FOR_MORE: Duration = Duration::from_secs(2);

/// How long the first outputs may take, unless a time limit of the audit says less. With a second
/// per draw there are 32 of either side.
const TIME: Duration = Duration::from_secs(20);

/// The columns of a target.
#[derive(Debug, Default)]
pub struct Columns {
    /// How an output becomes a row.
    pub reading: Reading,
    /// The names of the columns; empty if they have none.
    pub names: Vec<String>,
}

impl Columns {
    /// The columns that the first outputs show under a view. An output has this many cells, and
    /// `own` are their names; empty if they have none.
    ///
    /// # Errors
    /// When the outputs cannot be looked at in this way, or have too many columns.
    pub fn decide(
        probe: Probe,
        view: &TextView,
        cells: usize,
        own: &[String],
    ) -> Result<Self, TargetError> {
        let not_prepared = |problem| TargetError::NotPrepared(PrepareError::Event(problem));
        let reading = probe.reading_for(view, cells).map_err(not_prepared)?;
        let width = reading.width();
        if width > MAX_WIDTH {
            return Err(TargetError::TooWide { width });
        }
        let unnamed = reading.is_plain() && own.is_empty();
        let names = if unnamed { Vec::new() } else { reading.columns(own) };
        Ok(Self { reading, names })
    }

    /// A table with the names of the columns.
    #[must_use]
    pub fn symbols(&self) -> Symbols {
        Symbols::default().with_columns(self.names.clone()).with_covered(self.reading.covered())
    }
}

/// The requests for the first outputs of each side, each with its number, as long as there is time.
pub fn first_requests<const N: usize>(
    counts: [usize; N],
    limit: Option<Duration>,
) -> impl Iterator<Item = (usize, u64)> {
    let (begun, limit) = (Instant::now(), limit.unwrap_or(TIME));
    counts.into_iter().zip(0..).take_while(move |_| begun.elapsed() < limit)
}

/// The requests for further outputs of each side, each with its number, as long as the time since
/// `begun` lets expect that there is enough of it.
pub fn more_requests(
    begun: Instant,
    limit: Option<Duration>,
) -> impl Iterator<Item = (usize, u64)> {
    let limit = limit.unwrap_or(TIME_FOR_MORE).min(TIME_FOR_MORE);
    let mut drawn = FIRST_OUTPUTS;
    MORE_OUTPUTS.into_iter().zip(MORE_PART..).take_while(move |(count, _)| {
        let total = drawn + count;
        let expected = begun.elapsed().as_secs_f64() * total as f64 / drawn as f64;
        drawn = total;
        expected < limit.as_secs_f64()
    })
}

/// The seed of the first outputs of a process. It does not depend on the run, so a replay of a
/// witness has the same columns.
#[must_use]
pub fn first_seed(process: u64, side: Side) -> StreamSeed {
    PairStream::new(0, "", "").side(Phase::Probe, process, side)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Texts;

    fn decide(cells: usize, own: &[&str]) -> Result<Columns, TargetError> {
        let own: Vec<String> = own.iter().map(|name| (*name).to_owned()).collect();
        Columns::decide(Probe::default(), &TextView::Everything, cells, &own)
    }

    #[test]
    fn columns_have_names_only_if_cells_have() {
        let Columns { reading, names } = decide(2, &[]).unwrap();
        assert_eq!((reading.width(), names.len()), (2, 0));
        assert_eq!(decide(2, &["count"]).unwrap().names, ["count", "y[2]"]);
    }

    #[test]
    fn too_many_columns_are_refused() {
        assert!(decide(MAX_WIDTH, &[]).is_ok());
        let width = MAX_WIDTH + 1;
        assert_eq!(decide(width, &[]).unwrap_err(), TargetError::TooWide { width });
    }

    #[test]
    fn an_event_about_a_key_needs_outputs_with_that_key() {
        let mut probe = Probe::default();
        probe.see(&[crate::output::Cell::symbol("a")], &Texts::default(), None);
        let refused = Columns::decide(probe, &TextView::Key("n".to_owned()), 1, &[]).unwrap_err();
        assert!(matches!(refused, TargetError::NotPrepared(PrepareError::Event(_))), "{refused}");
    }

    #[test]
    fn requests_end_when_the_time_is_over() {
        let counts = |limit| first_requests([1, 2], limit).collect::<Vec<_>>();
        assert_eq!(counts(None), [(1, 0), (2, 1)]);
        assert_eq!(counts(Some(Duration::ZERO)), []);
    }

    #[test]
    fn further_outputs_need_time() {
        let counts = |limit| more_requests(Instant::now(), limit).collect::<Vec<_>>();
        assert_eq!(counts(Some(Duration::ZERO)), []);
        assert_eq!(counts(None), [(768, 16), (3072, 17)]);
        let long_ago = Instant::now().checked_sub(Duration::from_secs(1)).unwrap();
        assert_eq!(more_requests(long_ago, None).count(), 0);
    }
}
