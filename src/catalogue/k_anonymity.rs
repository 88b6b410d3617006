//! Tables in which every person looks the same as at least k − 1 others.
//!
//! *Claim*: none in terms of ε. The audits use an arbitrary ε, to show that no ε holds.
//! *Neighbours*: replace-one; a record is a person. *Source*: lecture notes "Definition of
//! differential privacy", section 2.1, figures 2.1 (4-anonymous) and 2.2 (6-anonymous).
//!
//! Zip codes are cut to their first digits and ages to bands; conditions are published unchanged. A
//! group is all people with the same generalised zip code and age. It is published if it has at
//! least k members.
//!
//! *The bug*: the release is a deterministic function of the data and exact in the sensitive
//! attribute. If all members of a group have the same condition, the group reveals it. Two tables
//! that share a person leave only the conditions that both allow. *True leakage*: infinite.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::model::{Dataset, Record};
use crate::noise::Generator;
use crate::output::Cell;
use crate::target::{Mechanism, Misfit, Universe};

/// How a table is generalised.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Generalisation {
    /// The smallest size of a group that is published.
    k: usize,
    /// How many digits of a zip code are kept.
    zip_digits: usize,
    /// Where a new band of ages begins.
    age_cuts: Vec<f64>,
}

/// A generalised zip code and a band of ages, counted from the youngest.
type Group = (String, usize);

/// The published groups: how many members have each condition.
type Table = BTreeMap<Group, BTreeMap<String, u32>>;

/// What the attacker may know about a person.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Traits {
    zip: String,
    age: f64,
}

impl Generalisation {
    fn group(&self, person: &Traits) -> Group {
        let zip = person.zip.chars().take(self.zip_digits).collect();
        (zip, self.age_cuts.iter().filter(|cut| person.age >= **cut).count())
    }

    fn publish<'a>(&self, patients: impl IntoIterator<Item = &'a (Traits, String)>) -> Table {
        let mut table = Table::new();
        for (person, condition) in patients {
            *table.entry(self.group(person)).or_default().entry(condition.clone()).or_default() +=
                1;
        }
        table.retain(|_, members| {
            members.values().map(|count| *count as usize).sum::<usize>() >= self.k
        });
        table
    }
}

/// A patient's traits and condition from `zip, age, condition`.
fn patient(record: &Record, fields: &[Record], shape: &str) -> Result<(Traits, String), Misfit> {
    match fields {
        [Record::Text(zip), Record::Number(age), Record::Text(condition)] if age.is_finite() => {
            Ok((Traits { zip: zip.clone(), age: *age }, condition.clone()))
        }
        _ => Err(Misfit::Data(format!(
            "the record {record} is not a patient; write patients as {shape}"
        ))),
    }
}

fn fields(record: &Record) -> &[Record] {
    if let Record::Fields(fields) = record { fields } else { &[] }
}

/// One table.
pub struct Release(Vec<Cell>);

/// Parameters of one table.
#[derive(Deserialize)]
#[serde(transparent)]
pub struct ReleaseParams(Generalisation);

impl Mechanism for Release {
    const NAME: &'static str = "k-anonymity/table";
    const SUMMARY: &'static str =
        "a k-anonymous table: counts of conditions by generalised zip code and age (no privacy)";
    type Params = ReleaseParams;

    fn prepare(
        params: &ReleaseParams,
        data: &Dataset,
        universe: &Universe,
    ) -> Result<Self, Misfit> {
        let patients = |records: &[Record]| -> Result<Vec<_>, Misfit> {
            records
                .iter()
                .map(|record| patient(record, fields(record), r#"["zip", age, "condition"]"#))
                .collect()
        };
        let known = patients(universe.records())?;
        let groups: BTreeSet<Group> =
            known.iter().map(|(person, _)| params.0.group(person)).collect();
        let conditions: BTreeSet<&String> = known.iter().map(|(_, condition)| condition).collect();
        let table = params.0.publish(&patients(data.records())?);
        let mut row = Vec::with_capacity(groups.len() * conditions.len());
        for group in &groups {
            for &condition in &conditions {
                row.push(match table.get(group) {
                    Some(members) => {
                        Cell::number(members.get(condition).copied().unwrap_or(0).into())
                    }
                    None => Cell::ABSENT,
                });
            }
        }
        Ok(Self(row))
    }

    fn width(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn run(&self, _: &mut Generator, row: &mut [Cell]) {
        row.copy_from_slice(&self.0);
    }
}

/// Several tables and a person who is known to be in all of them: the conditions that every table
/// allows.
pub struct Joined(Vec<Cell>);

/// Parameters of the join.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JoinedParams {
    /// How each hospital generalises its table, by the hospital's name.
    tables: BTreeMap<String, Generalisation>,
    /// The person.
    person: Traits,
}

/// A patient and the hospitals that treated them.
struct Treated {
    hospitals: Vec<String>,
    patient: (Traits, String),
}

impl Treated {
    fn read(record: &Record) -> Result<Self, Misfit> {
        const SHAPE: &str = r#"[["hospital", …], "zip", age, "condition"]"#;
        let names = |hospitals: &[Record]| -> Option<Vec<String>> {
            hospitals
                .iter()
                .map(
                    |hospital| {
                        if let Record::Text(name) = hospital { Some(name.clone()) } else { None }
                    },
                )
                .collect()
        };
        let wrong = || {
            format!(
                "the record {record} is not a patient with hospitals; write patients as {SHAPE}"
            )
        };
        match fields(record) {
            [Record::Fields(hospitals), rest @ ..] => Ok(Self {
                hospitals: names(hospitals).ok_or_else(wrong)?,
                patient: patient(record, rest, SHAPE)?,
            }),
            _ => Err(wrong().into()),
        }
    }
}

impl JoinedParams {
    /// The conditions among `all` that every table leaves possible for the person. A table without
    /// their group excludes none.
    fn possible<'a>(
        &self,
        treated: &[Treated],
        all: &BTreeSet<&'a String>,
    ) -> BTreeSet<&'a String> {
        let mut possible = all.clone();
        for (hospital, generalisation) in &self.tables {
            let patients = treated
                .iter()
                .filter(|treated| treated.hospitals.contains(hospital))
                .map(|treated| &treated.patient);
            if let Some(members) =
                generalisation.publish(patients).get(&generalisation.group(&self.person))
            {
                possible.retain(|condition| members.contains_key(*condition));
            }
        }
        possible
    }
}

impl Mechanism for Joined {
    const NAME: &'static str = "k-anonymity/joined";
    const SUMMARY: &'static str = "the conditions of a known person that several k-anonymous tables leave possible (no privacy)";
    type Params = JoinedParams;

    fn prepare(params: &JoinedParams, data: &Dataset, universe: &Universe) -> Result<Self, Misfit> {
        let read =
            |records: &[Record]| records.iter().map(Treated::read).collect::<Result<Vec<_>, _>>();
        let (treated, known) = (read(data.records())?, read(universe.records())?);
        if let Some(name) = known
            .iter()
            .flat_map(|treated| &treated.hospitals)
            .find(|name| !params.tables.contains_key(*name))
        {
            return Err(Misfit::params(
                "tables",
                &format!(
                    "has no key \"{name}\", but a record names it; add it or correct the record"
                ),
            ));
        }
        let all: BTreeSet<&String> = known.iter().map(|treated| &treated.patient.1).collect();
        let possible = params.possible(&treated, &all);
        let (yes, no) = (universe.symbol("possible"), universe.symbol("excluded"));
        Ok(Self(
            all.iter()
                .map(|condition| if possible.contains(condition) { yes } else { no })
                .collect(),
        ))
    }

    fn width(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn run(&self, _: &mut Generator, row: &mut [Cell]) {
        row.copy_from_slice(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Figures 2.1 and 2.2 of the notes as (age, condition, how often). The raw ages are invented
    /// so that they fall into the printed bands.
    const FIRST: [(f64, &str, usize); 8] = [
        (28.0, "AIDS", 1),
        (21.0, "Heart Disease", 1),
        (23.0, "Viral Infection", 2),
        (50.0, "Cancer", 1),
        (55.0, "Heart Disease", 1),
        (47.0, "Viral Infection", 2),
        (36.0, "Cancer", 3),
        (31.0, "Cancer", 1),
    ];
    const SECOND: [(f64, &str, usize); 7] = [
        (28.0, "AIDS", 1),
        (33.0, "Tuberculosis", 2),
        (25.0, "Flu", 1),
        (22.0, "Cancer", 2),
        (60.0, "Cancer", 3),
        (44.0, "Tuberculosis", 1),
        (38.0, "Viral Infection", 2),
    ];

    fn patients(figure: &[(f64, &str, usize)]) -> Vec<(Traits, String)> {
        let one =
            |age: f64, condition: &str| (Traits { zip: "13012".into(), age }, condition.to_owned());
        figure
            .iter()
            .flat_map(|(age, condition, times)| std::iter::repeat_n(one(*age, condition), *times))
            .collect()
    }

    fn generalisation(k: usize, age_cuts: &[f64]) -> Generalisation {
        Generalisation { k, zip_digits: 3, age_cuts: age_cuts.to_vec() }
    }

    #[test]
    fn the_figures_have_the_k_of_the_notes() {
        for (figure, cuts, k) in [(&FIRST[..], &[30.0, 40.0][..], 4), (&SECOND[..], &[35.0][..], 6)]
        {
            let published = generalisation(k, cuts).publish(&patients(figure));
            assert_eq!(published.len(), cuts.len() + 1);
            assert!(published.values().all(|members| members.values().sum::<u32>() as usize == k));
            assert!(generalisation(k + 1, cuts).publish(&patients(figure)).is_empty());
        }
    }

    #[test]
    fn each_table_leaves_several_conditions_possible_and_both_together_one() {
        let treated: Vec<Treated> = patients(&FIRST)
            .into_iter()
            .map(|patient| Treated { hospitals: vec!["first".into()], patient })
            .chain(
                patients(&SECOND)
                    .into_iter()
                    .map(|patient| Treated { hospitals: vec!["second".into()], patient }),
            )
            .collect();
        let all: BTreeSet<&String> = treated.iter().map(|treated| &treated.patient.1).collect();
        let possible = |tables: &[(&str, Generalisation)]| {
            let tables =
                tables.iter().map(|(name, table)| ((*name).to_owned(), table.clone())).collect();
            let params = JoinedParams { tables, person: Traits { zip: "13012".into(), age: 28.0 } };
            params.possible(&treated, &all).into_iter().cloned().collect::<Vec<String>>()
        };
        let (first, second) =
            (("first", generalisation(4, &[30.0, 40.0])), ("second", generalisation(6, &[35.0])));
        assert_eq!(
            possible(std::slice::from_ref(&first)),
            ["AIDS", "Heart Disease", "Viral Infection"]
        );
        assert_eq!(
            possible(std::slice::from_ref(&second)),
            ["AIDS", "Cancer", "Flu", "Tuberculosis"]
        );
        assert_eq!(possible(&[first, second]), ["AIDS"]);
    }

    #[test]
    fn people_in_different_bands_are_in_different_groups() {
        let table = generalisation(1, &[30.0, 40.0]);
        let group = |zip: &str, age| table.group(&Traits { zip: zip.into(), age });
        assert_eq!(group("13012", 29.9), group("13099", 0.0));
        assert_ne!(group("13012", 29.9), group("13012", 30.0));
        assert_ne!(group("13012", 39.0), group("13012", 40.0));
        assert_ne!(group("13012", 20.0), group("13112", 20.0));
    }
}
