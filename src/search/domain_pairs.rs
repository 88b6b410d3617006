//! Candidates from a domain.

use std::collections::HashSet;
use std::vec::IntoIter;

use rand::RngExt;

use super::change::{crossed, mutated, random};
use super::genome::Genome;
use super::smaller::smaller;
use super::source::PairSource;
use super::starts::{Start, starts};
use super::values::pick;
use crate::audit::{Audit, Pair};
use crate::model::{Dataset, Domain, Relation, Truth};
use crate::noise::Generator;

/// Two neighbours in the notation of audit files.
#[derive(Clone, Debug)]
pub struct DataPair {
    /// The dataset D.
    pub left: Dataset,
    /// Its neighbour D'.
    pub right: Dataset,
    origin: String,
    genome: Option<Genome>,
}

impl DataPair {
    fn new(genome: Genome, origin: String) -> Self {
        let (left, right) = genome.sides();
        Self { left, right, origin, genome: Some(genome) }
    }

    /// The number of records of both sides.
    #[must_use]
    pub fn records(&self) -> usize {
        self.left.len() + self.right.len()
    }
}

/// All pairs of neighbours in a domain: first the given ones, then those with a known structure,
/// then random ones, and mutations and crossings of what looks promising.
pub struct DomainPairs {
    domain: Domain,
    relation: Relation,
    distance: f64,
    given: IntoIter<DataPair>,
    starts: IntoIter<Start>,
    /// The candidates so far, so that none is tried twice.
    seen: HashSet<String>,
}

/// How often a new candidate is made if it was tried already or is not in the domain.
const TRIES: usize = 200;

impl DomainPairs {
    /// The candidates of an audit.
    ///
    /// # Errors
    /// When there is no way to make neighbours, with the reason and a remedy.
    pub fn new(audit: &Audit, domain: &Domain) -> Result<Self, String> {
        if matches!(audit.relation, Relation::Custom { .. }) {
            return Err(
                "relation is \"custom\", and a search does not know which datasets are neighbours; set relation = \"add-remove\", \
                        \"replace-one\", \"component-wise\" or \"single-component\""
                    .to_owned(),
            );
        }
        let distance = audit.claim.input_distance();
        let given = audit.pairs.iter().map(|pair| {
            let genome = Genome::of(&audit.relation, &pair.left, &pair.right);
            DataPair {
                left: pair.left.clone(),
                right: pair.right.clone(),
                origin: format!("the pair “{}”", pair.name),
                genome,
            }
        });
        let starts = starts(domain, &audit.relation, distance);
        if starts.is_empty() {
            return Err(
                "the search has no candidates: with this relation, records must be numbers, and datasets must have room for a neighbour; \
                        correct record or size"
                    .to_owned(),
            );
        }
        Ok(Self {
            domain: domain.clone(),
            relation: audit.relation.clone(),
            distance,
            given: given.collect::<Vec<_>>().into_iter(),
            starts: starts.into_iter(),
            seen: HashSet::new(),
        })
    }

    /// Whether it is a pair of neighbours within the domain.
    fn is_valid(&self, pair: &DataPair) -> bool {
        let in_domain = |side: &Dataset| {
            self.domain.has_size(side.len())
                && side.records().iter().all(|record| self.domain.record.has(record))
        };
        let ordered = !self.domain.ordered || pair.genome.as_ref().is_none_or(Genome::is_ordered);
        ordered
            && in_domain(&pair.left)
            && in_domain(&pair.right)
            && self.relation.check_within(self.distance, &pair.left, &pair.right).is_ok()
    }

    /// A candidate that is neither a given pair nor one of the first ones.
    fn made(&self, rng: &mut Generator, promising: &[DataPair]) -> DataPair {
        // The best is the most likely parent.
        let parents: Vec<(&Genome, &str)> = promising
            .iter()
            .filter_map(|pair| Some((pair.genome.as_ref()?, pair.origin.as_str())))
            .collect();
        let parent = |rng: &mut Generator| {
            let worst = parents.len().min(1 + rng.random_range(0..parents.len().max(1)));
            pick(&parents[..worst], rng).copied()
        };
        let roots = |origin: &str| origin.split(" → ").next().unwrap_or_default().to_owned();
        match (rng.random_range(0..10), parent(rng)) {
            (0..4, _) | (_, None) => DataPair::new(
                random(&self.domain, &self.relation, self.distance, rng),
                "random".to_owned(),
            ),
            (4..9, Some((genome, origin))) => DataPair::new(
                mutated(genome, &self.domain, &self.relation, self.distance, rng),
                format!("{} → changed", roots(origin)),
            ),
            (_, Some((genome, origin))) => {
                let (other, _) = parent(rng).unwrap_or((genome, origin));
                DataPair::new(crossed(genome, other, rng), format!("{} → crossed", roots(origin)))
            }
        }
    }
}

impl PairSource for DomainPairs {
    type Pair = DataPair;

    fn next(&mut self, rng: &mut Generator, promising: &[DataPair]) -> Option<DataPair> {
        if let Some(given) = self.given.next() {
            return Some(given);
        }
        // Now and then something new, even among the first candidates.
        for _ in 0..TRIES {
            let first = if rng.random_range(0..4) < 3 { self.starts.next() } else { None };
            let candidate = first.map_or_else(
                || self.made(rng, promising),
                |start| DataPair::new(start.genome, start.origin),
            );
            let candidate =
                if rng.random_range(0..4) == 0 { swapped(candidate) } else { candidate };
            if self.is_valid(&candidate)
                && self.seen.insert(format!(
                    "{:?}{:?}",
                    candidate.left.records(),
                    candidate.right.records()
                ))
            {
                return Some(candidate);
            }
        }
        None
    }

    fn pair(&self, candidate: &DataPair, name: String) -> Pair {
        Pair {
            name,
            left: candidate.left.clone(),
            right: candidate.right.clone(),
            expect: None,
            truth: Truth::default(),
        }
    }

    fn origin(&self, candidate: &DataPair) -> String {
        candidate.origin.clone()
    }

    fn smaller(&self, candidate: &DataPair) -> Vec<DataPair> {
        let Some(genome) = &candidate.genome else { return Vec::new() };
        let made = smaller(genome, &self.domain)
            .into_iter()
            .map(|genome| DataPair::new(genome, candidate.origin.clone()));
        made.filter(|pair| self.is_valid(pair)).collect()
    }
}

fn swapped(pair: DataPair) -> DataPair {
    match &pair.genome {
        Some(genome) => DataPair::new(genome.swapped(), pair.origin),
        None => pair,
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::model::{Claim, Kind, RecordDomain};

    fn audit(relation: Relation) -> Audit {
        Audit { relation, ..Audit::given("a", "closure", Claim::new(1.0, 0.0).unwrap(), []) }
    }

    #[test]
    fn every_candidate_is_new_and_a_pair_of_neighbours_within_the_domain() {
        let domain = Domain {
            record: RecordDomain::of(Kind::Number { lower: -2.0, upper: 9.0 }),
            least: 1,
            most: 12,
            ordered: false,
        };
        for relation in [
            Relation::AddRemove,
            Relation::ReplaceOne,
            Relation::ComponentWise,
            Relation::SingleComponent,
        ] {
            let mut source = DomainPairs::new(&audit(relation.clone()), &domain).unwrap();
            let mut rng = Generator::seed_from_u64(3);
            let mut promising: Vec<DataPair> = Vec::new();
            let mut seen = HashSet::new();
            for round in 0..1500 {
                let Some(pair) = source.next(&mut rng, &promising) else { break };
                assert_eq!(relation.check(&pair.left, &pair.right), Ok(()), "{}", pair.origin);
                for side in [&pair.left, &pair.right] {
                    assert!(
                        domain.has_size(side.len())
                            && side.records().iter().all(|record| domain.record.has(record)),
                        "{side}"
                    );
                }
                assert!(seen.insert(format!("{:?}", (&pair.left, &pair.right))), "{round}: twice");
                for small in source.smaller(&pair) {
                    assert_eq!(
                        relation.check(&small.left, &small.right),
                        Ok(()),
                        "smaller than {}",
                        pair.origin
                    );
                    assert!(small.records() <= pair.records());
                }
                if round % 50 == 0 {
                    promising.insert(0, pair);
                }
            }
            assert!(seen.len() > 500, "{relation}: {}", seen.len());
        }
    }

    #[test]
    fn an_unknown_relation_is_refused() {
        let domain = Domain {
            record: RecordDomain::of(Kind::Number { lower: 0.0, upper: 1.0 }),
            least: 0,
            most: 3,
            ordered: false,
        };
        let error =
            DomainPairs::new(&audit(Relation::Custom { reason: "why".to_owned() }), &domain)
                .err()
                .unwrap();
        assert!(error.contains("custom") && error.contains("add-remove"), "{error}");
        let text = Domain { record: RecordDomain::of(Kind::Text { length: 3 }), ..domain };
        assert!(DomainPairs::new(&audit(Relation::ComponentWise), &text).is_err());
    }
}
