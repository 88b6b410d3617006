//! The file of `--evidence`: what each run won on each pair.
//!
//! Its lines are JSON. The first one has the confidence; each of the others is about one pair since
//! one beginning, with all runs of it. New pairs that a run brings are a *group*, and so are all
//! pairs after `--since` has begun anew: the k-th group has `1/(k(k + 1))` of the error rate of the
//! evidence, divided equally over its pairs. These shares add up to at most 1 whatever comes, so
//! nobody gains by beginning again and again.
//!
//! A run reads the file when it begins and adds to it when an audit ends. Both happen under a lock,
//! so several processes can share a file. It is replaced as a whole and never half written.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::store::Destination;
use crate::audit::{Audit, AuditReport, EarlierRuns, Event, Judged, Listener, Pair, Statement};
use crate::model::{Confidence, Error, file};
use crate::output::fingerprint;
use crate::stats::nights::Won;

/// What the first line says it is.
const FORMAT: &str = "dp-audit evidence 1";

/// The part of the error rate that is for the evidence. The rest is for each run's own bounds.
const SHARE: f64 = 0.5;

/// How a run adds to the evidence.
#[derive(Clone, Debug)]
pub struct EvidenceOptions {
    /// The file.
    pub path: PathBuf,
    /// From which version on evidence counts; as in the last run if absent.
    pub since: Option<String>,
    /// The confidence of each run's bounds and of the evidence together.
    pub confidence: Confidence,
    /// The seed of this run.
    pub seed: u64,
}

/// The open file of a run.
pub struct EvidenceFile {
    place: Place,
    seed: u64,
    since: String,
    /// How many runs each pair had when this one began.
    known: BTreeMap<Key, usize>,
    state: Mutex<State>,
}

/// What became of the run so far.
#[derive(Default)]
struct State {
    /// The pairs that were added to.
    added: usize,
    /// The pair that is nearest to a refutation, and its share of the way.
    nearest: Option<(String, f64)>,
    failure: Option<Error>,
}

/// What is said at the end of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// The file.
    pub path: PathBuf,
    /// The pairs that were added to.
    pub pairs: usize,
    /// The pair that is nearest to a refutation, and its share of the way.
    pub nearest: Option<(String, f64)>,
}

/// Where the file is.
struct Place {
    destination: Destination,
    file: PathBuf,
}

/// What a pair is called in the file. If any of this changes, it is another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Key {
    audit: String,
    pair: String,
    /// The claim, as JSON.
    claim: String,
    /// A hash of both datasets.
    data: String,
    /// The beginning since which runs count.
    since: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    format: String,
    confidence: Confidence,
}

/// A line: a pair and its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    key: Key,
    /// The number of its group, from 1.
    group: u32,
    /// How many pairs the group has.
    of: u32,
    runs: Vec<RunLine>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunLine {
    seed: u64,
    /// The version of dp-audit.
    version: String,
    draws: u64,
    won: Won,
}

/// The content of the file.
struct Content {
    confidence: Confidence,
    lines: Vec<Line>,
}

impl EvidenceFile {
    /// Opens the file, which need not exist, and tells the audits what earlier runs found. Pairs that
    /// are new are entered, because their shares of the error rate must not be given twice.
    ///
    /// # Errors
    /// When it cannot be read or written, is not a file of this kind, has another confidence, or has
    /// a run of one of these pairs with the same seed.
    pub fn open(options: EvidenceOptions, audits: &mut [Audit]) -> Result<Self, Error> {
        let EvidenceOptions { path, since, confidence, seed } = options;
        let place = Place::new(&path)?;
        let _lock = place.lock()?;
        let mut content = place.read()?.unwrap_or(Content { confidence, lines: Vec::new() });
        if content.confidence != confidence {
            return Err(place.refused(format!(
                "it was begun with confidence {}, and this run has {confidence}; run with the same \
                 confidence, or begin another file",
                content.confidence
            )));
        }
        let last = content.lines.last().map(|line| line.key.since.clone());
        let since = since.or(last).unwrap_or_default();
        let keys: Vec<Vec<(String, Key)>> =
            audits.iter().map(|audit| keys(audit, &since)).collect();
        for (_, key) in keys.iter().flatten() {
            content.refuse_seed(key, seed).map_err(|reason| place.refused(reason))?;
        }
        if content.enter(keys.iter().flatten().map(|(_, key)| key)) {
            place.write(&content)?;
        }
        let mut known = BTreeMap::new();
        for (audit, keys) in audits.iter_mut().zip(keys) {
            for (pair, key) in keys {
                let Some(line) = content.line(&key) else { continue };
                audit.earlier.insert(pair, line.earlier(content.confidence));
                known.insert(key, line.runs.len());
            }
        }
        Ok(Self { place, seed, since, known, state: Mutex::default() })
    }

    /// Adds what an audit found about its pairs.
    fn add(&self, report: &AuditReport, state: &mut State) -> Result<(), Error> {
        let keys = keys(&report.audit, &self.since);
        let found: Vec<(&Key, Judged<'_>)> = report
            .statements()
            .filter_map(|judged| {
                let (_, key) = keys.iter().find(|(pair, _)| pair == judged.name())?;
                judged.evidence()?.privacy()?.across_runs.as_ref()?;
                Some((key, judged))
            })
            .collect();
        if found.is_empty() {
            return Ok(());
        }
        let _lock = self.place.lock()?;
        let content = self.place.read()?;
        let mut content = content.ok_or_else(|| {
            self.place.refused("it was removed while this run was going on".to_owned())
        })?;
        for (key, judged) in found {
            let name = format!("{} / {}", key.audit, key.pair);
            let Some((evidence, all)) = judged
                .evidence()
                .and_then(|evidence| evidence.privacy())
                .and_then(|evidence| Some((evidence, evidence.across_runs.as_ref()?)))
            else {
                continue;
            };
            let known = self.known.get(key).copied();
            let line = content.lines.iter_mut().find(|line| line.key == *key);
            let line = line.filter(|line| Some(line.runs.len()) == known).ok_or_else(|| {
                self.place.refused(format!(
                    "another run has changed what it says about {name}, so this one was not added; \
                     run again with a new seed"
                ))
            })?;
            line.runs.push(RunLine {
                seed: self.seed,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                draws: evidence.draws,
                won: all.now,
            });
            state.added += 1;
            let share = all.share();
            if state.nearest.as_ref().is_none_or(|(_, most)| share > *most) {
                state.nearest = Some((name, share));
            }
        }
        self.place.write(&content)
    }

    /// What was added, at the end of a run.
    ///
    /// # Errors
    /// When something could not be added.
    pub fn close(self) -> Result<Added, Error> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let path = self.place.destination.path().to_owned();
        match state.failure {
            Some(failure) => Err(failure),
            None => Ok(Added { path, pairs: state.added, nearest: state.nearest }),
        }
    }
}

impl Listener for EvidenceFile {
    fn hear(&self, event: Event<'_>) {
        let Event::AuditFinished { report } = event else { return };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(failure) = self.add(report, &mut state) {
            state.failure.get_or_insert(failure);
        }
    }

    fn is_listening(&self) -> bool {
        false
    }
}

/// The names of the pairs of an audit about which evidence is collected, and their keys.
fn keys(audit: &Audit, since: &str) -> Vec<(String, Key)> {
    let of = |pair: &Pair| {
        let json = |value: Result<String, serde_json::Error>| value.unwrap_or_default();
        let key = Key {
            audit: audit.name.clone(),
            pair: pair.name.clone(),
            claim: json(serde_json::to_string(&audit.claim)),
            data: fingerprint(&[
                &json(serde_json::to_string(&pair.left)),
                &json(serde_json::to_string(&pair.right)),
            ]),
            since: since.to_owned(),
        };
        (pair.name.clone(), key)
    };
    let private = audit.statements().filter_map(|statement| match statement {
        Statement::Privacy(statement) => Some(of(statement.pair)),
        _ => None,
    });
    private.collect()
}

impl Place {
    fn new(path: &Path) -> Result<Self, Error> {
        let destination = Destination::open(path)?;
        let refused = || refused(path, "it must be an ordinary file".to_owned());
        let file = destination.file().ok_or_else(refused)?.to_owned();
        Ok(Self { destination, file })
    }

    fn refused(&self, reason: String) -> Error {
        refused(self.destination.path(), reason)
    }

    /// Waits until no other process has the lock; it is free again when the file is dropped.
    fn lock(&self) -> Result<File, Error> {
        let mut path = self.file.as_os_str().to_owned();
        path.push(".lock");
        let path = PathBuf::from(path);
        let open = || {
            if fs::symlink_metadata(&path).is_ok_and(|data| data.is_symlink()) {
                return Err(io::Error::other("it is a symbolic link"));
            }
            let file = OpenOptions::new().create(true).append(true).open(&path)?;
            file.lock()?;
            Ok(file)
        };
        open().map_err(|error| self.refused(format!("cannot lock {}: {error}", path.display())))
    }

    /// The content; `None` if there is no file.
    fn read(&self) -> Result<Option<Content>, Error> {
        match file::read_text(&self.file) {
            Ok(text) => Content::parse(&text).map(Some).map_err(|reason| {
                self.refused(format!("{reason}; restore it from a copy, or begin another file"))
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.refused(format!("it cannot be read: {error}"))),
        }
    }

    fn write(&self, content: &Content) -> Result<(), Error> {
        let text = content.text().map_err(|error| self.refused(error.to_string()))?;
        let written = self.destination.replace(text.as_bytes());
        written.map_err(|error| self.refused(format!("it cannot be written: {error}")))
    }
}

fn refused(path: &Path, reason: String) -> Error {
    Error::Evidence { path: path.to_owned(), reason }
}

impl Content {
    fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let at = |number: usize, reason: String| format!("line {number}: {reason}");
        let Some((_, first)) = lines.next() else {
            return Err("it is empty".to_owned());
        };
        let header: Header =
            serde_json::from_str(first).map_err(|error| at(1, error.to_string()))?;
        if header.format != FORMAT {
            return Err(at(
                1,
                format!("the format is \"{}\", must be \"{FORMAT}\"", header.format),
            ));
        }
        let mut content = Self { confidence: header.confidence, lines: Vec::new() };
        for (number, text) in lines {
            let line: Line =
                serde_json::from_str(text).map_err(|error| at(number, error.to_string()))?;
            content.check(&line).map_err(|reason| at(number, reason))?;
            content.lines.push(line);
        }
        Ok(content)
    }

    /// Checks a line against those before it.
    fn check(&self, line: &Line) -> Result<(), String> {
        let Key { audit, pair, .. } = &line.key;
        if self.line(&line.key).is_some() {
            return Err(format!("{audit} / {pair} is there already"));
        }
        let group = || self.lines.iter().filter(|other| other.group == line.group);
        if line.group == 0 || group().any(|other| other.of != line.of) {
            return Err(format!("group {} of {} pairs does not exist", line.group, line.of));
        }
        if group().count() >= line.of as usize {
            return Err(format!("group {} has more than {} pairs", line.group, line.of));
        }
        for (index, run) in line.runs.iter().enumerate() {
            if line.runs[..index].iter().any(|other| other.seed == run.seed) {
                return Err(format!("the seed {} is there twice", run.seed));
            }
            if run.won.iter().any(|log| !log.is_finite()) {
                return Err("won must be finite numbers".to_owned());
            }
        }
        Ok(())
    }

    fn text(&self) -> serde_json::Result<String> {
        let header = Header { format: FORMAT.to_owned(), confidence: self.confidence };
        let mut text = serde_json::to_string(&header)? + "\n";
        for line in &self.lines {
            text.push_str(&serde_json::to_string(line)?);
            text.push('\n');
        }
        Ok(text)
    }

    fn line(&self, key: &Key) -> Option<&Line> {
        self.lines.iter().find(|line| line.key == *key)
    }

    /// The streams of a run derive from its seed and from the names of audit and pair, whatever is
    /// claimed and since when.
    fn refuse_seed(&self, key: &Key, seed: u64) -> Result<(), String> {
        let same = |line: &&Line| line.key.audit == key.audit && line.key.pair == key.pair;
        let mut runs = self.lines.iter().filter(same).flat_map(|line| &line.runs);
        if runs.any(|run| run.seed == seed) {
            return Err(format!(
                "{} / {} was run with the seed {seed} before, and the same draws must not count \
                 twice; choose a seed that was never used, for example the date",
                key.audit, key.pair
            ));
        }
        Ok(())
    }

    /// Enters the keys that are new, as a group. Says whether there are any.
    fn enter<'a>(&mut self, keys: impl Iterator<Item = &'a Key>) -> bool {
        let new: Vec<Key> = keys.filter(|key| self.line(key).is_none()).cloned().collect();
        let group = 1 + self.lines.iter().map(|line| line.group).max().unwrap_or(0);
        let of = u32::try_from(new.len()).unwrap_or(u32::MAX);
        let found = !new.is_empty();
        self.lines.extend(new.into_iter().map(|key| Line { key, group, of, runs: Vec::new() }));
        found
    }
}

impl Line {
    fn earlier(&self, confidence: Confidence) -> EarlierRuns {
        let group = f64::from(self.group);
        let share = SHARE / (group * (group + 1.0)) / f64::from(self.of);
        EarlierRuns {
            alpha: (1.0 - confidence.get()) * share,
            won: self.runs.iter().map(|run| run.won).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{Expectation, Verdict};
    use crate::report::testing::{audit, pair, report_of};
    use crate::stats::nights::PURSES;

    fn options(folder: &Path, seed: u64, since: Option<&str>) -> EvidenceOptions {
        EvidenceOptions {
            path: folder.join("evidence.jsonl"),
            since: since.map(str::to_owned),
            confidence: 0.95.try_into().unwrap(),
            seed,
        }
    }

    /// Opens the file for these audits and returns it with what they were told.
    fn open(
        folder: &Path,
        seed: u64,
        since: Option<&str>,
        names: &[&str],
    ) -> Result<(EvidenceFile, Vec<EarlierRuns>), Error> {
        let mut audits: Vec<Audit> = names.iter().map(|name| audit(name)).collect();
        let file = EvidenceFile::open(options(folder, seed, since), &mut audits)?;
        Ok((file, audits.into_iter().flat_map(|audit| audit.earlier.into_values()).collect()))
    }

    /// That an audit ended, whose run won this.
    fn finish(file: &EvidenceFile, name: &str, log: f64) {
        let earlier = EarlierRuns { alpha: 0.01, won: Vec::new() };
        let ran = pair(Verdict::Consistent, Expectation::Consistent)
            .with(|evidence| evidence.across_runs = Some(earlier.and([log; PURSES])));
        let report = Arc::new(report_of(audit(name), vec![ran], vec![]));
        file.hear(Event::AuditFinished { report: &report });
    }

    #[test]
    fn runs_are_told_what_earlier_ones_won() {
        let folder = tempfile::tempdir().unwrap();
        for (seed, log) in [(1, 0.5), (2, -3.25), (3, 1e-9)] {
            let (file, told) = open(folder.path(), seed, None, &["a", "b"]).unwrap();
            assert_eq!([&told[0], &told[1]].map(|told| told.won.len() as u64), [seed - 1; 2]);
            finish(&file, "a", log);
            finish(&file, "b", 2.0 * log);
            let added = file.close().unwrap();
            assert_eq!(added.pairs, 2);
            assert!(added.nearest.unwrap().1 >= 0.0);
        }
        let (_, told) = open(folder.path(), 4, None, &["b"]).unwrap();
        assert_eq!(told[0].won, [[1.0; PURSES], [-6.5; PURSES], [2e-9; PURSES]]);
    }

    #[test]
    fn all_shares_that_are_ever_given_add_up_to_the_part_for_the_evidence() {
        let folder = tempfile::tempdir().unwrap();
        let mut given = Vec::new();
        let suites: [(&[&str], Option<&str>); 5] = [
            (&["a", "b"], None),
            (&["a", "b", "c"], None),
            (&["a", "b", "c"], Some("2")),
            (&["d"], Some("2")),
            (&["a"], Some("3")),
        ];
        for (seed, (names, since)) in suites.into_iter().enumerate() {
            // The last of the audits never ends: its share is used up all the same.
            let (file, told) = open(folder.path(), seed as u64, since, names).unwrap();
            given.extend(told.iter().map(|told| told.alpha));
            names[..names.len() - 1].iter().for_each(|name| finish(&file, name, 0.0));
        }
        let parts = [0.5 / 2.0, 0.5 / 2.0, 1.0 / 6.0, 1.0 / 36.0, 0.05, 1.0 / 30.0];
        let expected = |part: &f64| given.iter().any(|it| (it / 0.025 - part).abs() < 1e-12);
        assert!(parts.iter().all(expected), "{given:?}");
        // A pair that comes again keeps its share; each one counts once.
        let sum = (2.0 * 0.25 + 1.0 / 6.0 + 3.0 / 36.0 + 0.05 + 1.0 / 30.0) * 0.025;
        given.sort_by(f64::total_cmp);
        let of_pair_a_and_b: f64 = given.iter().rev().take(4).sum();
        assert!((of_pair_a_and_b - 4.0 * 0.25 * 0.025).abs() < 1e-12);
        assert!((given.iter().sum::<f64>() - 2.0 * 0.25 * 0.025 - sum).abs() < 1e-12);
        assert!(sum <= 0.025);
    }

    #[test]
    fn another_claim_or_other_data_is_another_pair() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _) = open(folder.path(), 1, None, &["a"]).unwrap();
        finish(&file, "a", 1.0);
        let changes: [fn(&mut Audit); 2] = [
            |audit| audit.claim = crate::model::Claim::new(1.0, 1e-6).unwrap(),
            |audit| audit.pairs[0].left = audit.pairs[0].right.clone(),
        ];
        for (seed, change) in changes.into_iter().enumerate() {
            let mut audits = [audit("a")];
            change(&mut audits[0]);
            let of = options(folder.path(), 10 + seed as u64, None);
            EvidenceFile::open(of, &mut audits).unwrap();
            let [audit] = audits;
            assert!(audit.earlier.values().all(|earlier| earlier.won.is_empty()));
        }
        assert_eq!(open(folder.path(), 2, None, &["a"]).unwrap().1[0].won.len(), 1);
    }

    #[test]
    fn what_another_run_has_added_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let (first, _) = open(folder.path(), 1, None, &["a", "b"]).unwrap();
        let (second, _) = open(folder.path(), 2, None, &["a"]).unwrap();
        finish(&second, "a", 1.0);
        second.close().unwrap();
        finish(&first, "a", 5.0);
        finish(&first, "b", 5.0);
        let error = first.close().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("another run has changed what it says about a / one"), "{error}");
        let told = open(folder.path(), 3, None, &["a", "b"]).unwrap().1;
        assert_eq!(told[0].won, [[1.0; PURSES]]);
        assert_eq!(told[1].won, [[5.0; PURSES]], "nobody else has changed it");
        assert!(open(folder.path(), 2, None, &["a"]).is_err(), "the seed was used");
    }
}
