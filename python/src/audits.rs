//! Audits of functions, of arrays and of files.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Mutex;

use dp_audit::Attack;
use dp_audit::fronts::Error;
use dp_audit::fronts::Witness;
use dp_audit::fronts::{EvidenceFile, EvidenceOptions};
use dp_audit::fronts::{Recorded, RowOrder, SampleNames, draws};
use dp_audit::fronts::{ReplaySettings, replay as judge_again};
use dp_audit::fronts::{Stop, Stoppable};
use dp_audit::{AskedReach, Claim, Confidence, Dataset, Expectation, Listener, Relation, Settings};
use dp_audit::{Audit, PairPlan, Preparer, TargetSource, suite};
use dp_audit::{PrepareError, Subject, Target};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::function::{Function, Outputs, block_of};
use crate::report::Report;
use crate::supervise::supervise;

/// An audit without its pairs, as Python describes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    name: String,
    /// What makes the outputs.
    subject: Subject,
    claim: Claim,
    /// Which datasets are neighbours.
    pub relation: Relation,
    attacks: Option<Vec<Attack>>,
    resolution: Option<f64>,
    reach: Option<AskedReach>,
    #[serde(default)]
    ignore: BTreeMap<String, String>,
    #[serde(default)]
    expect: Option<Expectation>,
    /// D and D' of each pair, as far as they have a notation.
    #[serde(default)]
    datasets: BTreeMap<String, [Dataset; 2]>,
    pub settings: Settings,
    #[serde(default)]
    evidence: Option<Collected>,
}

/// Where evidence over many runs is collected.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Collected {
    path: PathBuf,
    since: Option<String>,
    /// The confidence of all runs together. In a session of tests it is that of the session.
    confidence: Confidence,
}

impl Collected {
    fn open(self, settings: Settings, audits: &mut [Audit]) -> PyResult<EvidenceFile> {
        let Self { path, since, confidence } = self;
        let options = EvidenceOptions { path, since, confidence, seed: settings.seed };
        EvidenceFile::open(options, audits).map_err(input_error)
    }
}

impl Spec {
    /// The audit with pairs of these names.
    pub fn audit(mut self, pairs: impl IntoIterator<Item = String>) -> Audit {
        let mut audit = Audit::given(&self.name, self.subject.mechanism(), self.claim, pairs);
        for pair in &mut audit.pairs {
            if let Some(datasets) = self.datasets.remove(&pair.name) {
                [pair.left, pair.right] = datasets;
            }
        }
        Audit {
            subject: self.subject,
            relation: self.relation,
            expect: self.expect.unwrap_or(audit.expect),
            resolution: self.resolution.unwrap_or(audit.resolution),
            attacks: self.attacks.unwrap_or(audit.attacks),
            reach: self.reach.unwrap_or(audit.reach),
            ignore: self.ignore,
            ..audit
        }
    }
}

/// Data that Python describes. A message is about a value, not about its place in the text.
pub fn from_json<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    let value: serde_json::Value =
        serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
    serde_path_to_error::deserialize(value)
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// Checks a claim.
#[pyfunction]
pub fn check_claim(claim: &str) -> PyResult<()> {
    from_json::<Claim>(claim).map(|_| ())
}

/// What a run found, and the exception that interrupted it, if one did.
type Found = (Report, Option<Py<PyAny>>);

#[allow(clippy::too_many_arguments)] // what all functions of this file have in common
fn run_audits(
    py: Python<'_>,
    audits: &mut [Audit],
    settings: Settings,
    evidence: Option<Collected>,
    source: &(dyn TargetSource + Sync),
    threads: Option<usize>,
    stop: &Stop,
    progress: Option<&Py<PyAny>>,
) -> PyResult<Found> {
    let evidence = evidence.map(|evidence| evidence.open(settings, audits)).transpose()?;
    let audits = &*audits;
    let (run, interrupted) = supervise(py, threads, stop, progress, |progress| {
        let mut listeners: Vec<&dyn Listener> = vec![progress];
        listeners.extend(evidence.as_ref().map(|evidence| evidence as &dyn Listener));
        dp_audit::run(audits, settings, source, listeners.as_slice())
    })?;
    evidence.map_or(Ok(()), |evidence| evidence.close().map(|_| ()).map_err(input_error))?;
    Ok((Report { run }, interrupted.map(|error| error.into_value(py).into_any())))
}

/// The functions that draw the outputs of pairs, by the names of the pairs. Each pair is audited
/// once.
pub struct Functions {
    by_pair: HashMap<String, Mutex<Option<Py<PyAny>>>>,
    shared: bool,
    stop: Stop,
}

impl Functions {
    /// The targets of these functions. If `shared`, several threads call a function at the same
    /// time.
    pub fn new(functions: Vec<(String, Py<PyAny>)>, shared: bool, stop: Stop) -> Self {
        let by_pair = functions
            .into_iter()
            .map(|(name, function)| (name, Mutex::new(Some(function))))
            .collect();
        Self { by_pair, shared, stop }
    }
}

impl TargetSource for Functions {
    fn target(&self, plan: &PairPlan) -> Result<Box<dyn Target>, PrepareError> {
        let function =
            self.by_pair.get(&plan.pair.name).and_then(|function| function.lock().ok()?.take());
        let function = function.ok_or_else(|| PrepareError::Given("function".to_owned()))?;
        Ok(Box::new(Function::new(function, self.shared, self.stop.clone())))
    }
}

/// Audits a function on one or more pairs. `functions` has the name of each pair and the `Function`
/// that draws its outputs.
#[pyfunction]
#[pyo3(signature = (spec, functions, threads=None, shared=false, progress=None))]
pub fn audit(
    py: Python<'_>,
    spec: &str,
    functions: Vec<(String, Py<PyAny>)>,
    threads: Option<usize>,
    shared: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let mut spec: Spec = from_json(spec)?;
    let (settings, evidence) = (spec.settings, spec.evidence.take());
    let audit = spec.audit(functions.iter().map(|(name, _)| name.clone()));
    let stop = Stop::default();
    let source = Functions::new(functions, shared, stop.clone());
    run_audits(py, &mut [audit], settings, evidence, &source, threads, &stop, progress.as_ref())
}

/// Audits outputs that were collected before.
#[pyfunction]
#[pyo3(signature = (spec, left, right, width, columns, ordered, threads=None, progress=None))]
#[allow(clippy::too_many_arguments)] // called in one place, from Python
pub fn samples(
    py: Python<'_>,
    spec: &str,
    left: Outputs<'_>,
    right: Outputs<'_>,
    width: usize,
    columns: Vec<String>,
    ordered: bool,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Found> {
    let spec: Spec = from_json(spec)?;
    let [left, right] = [block_of(&left, width)?, block_of(&right, width)?];
    let settings = Settings {
        draws: Some(draws(left.rows.len() as u64, right.rows.len() as u64)),
        ..spec.settings
    };
    let audit = spec.audit(["left and right".to_owned()]);
    let stop = Stop::default();
    let blocks = Mutex::new(Some((left, right)));
    let source = |plan: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
        let blocks = blocks.lock().ok().and_then(|mut blocks| blocks.take());
        let (left, right) = blocks.ok_or_else(|| PrepareError::Given("recording".to_owned()))?;
        let (left, mut texts, mut symbols, left_forms) = left.into_parts();
        let (right, more_texts, more_symbols, right_forms) = right.into_parts();
        let forms = [left_forms, right_forms];
        texts.extend(more_texts);
        symbols.merge(more_symbols);
        let order = if ordered { RowOrder::AsDrawn } else { RowOrder::Any };
        let recorded = Recorded::new(
            left,
            right,
            SampleNames { columns: columns.clone(), symbols, texts, forms },
            order,
            plan.seed,
        );
        Ok(Box::new(Stoppable::new(Box::new(recorded), stop.clone())))
    };
    run_audits(py, &mut [audit], settings, None, &source, threads, &stop, progress.as_ref())
}

fn input_error(error: Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Reads audit files and checks them.
pub fn load(paths: &[PathBuf], filter: Option<&str>) -> PyResult<Vec<Audit>> {
    let audits =
        suite::filter(suite::load(paths).map_err(input_error)?, filter).map_err(input_error)?;
    suite::check(&audits).map_err(input_error)?;
    Ok(audits)
}

/// Runs audit files.
#[pyfunction]
#[pyo3(signature = (paths, settings, filter=None, threads=None, progress=None, evidence=None))]
pub fn run(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    settings: &str,
    filter: Option<&str>,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
    evidence: Option<&str>,
) -> PyResult<Found> {
    let settings: Settings = from_json(settings)?;
    let evidence = evidence.map(from_json).transpose()?;
    let mut audits = load(&paths, filter)?;
    let stop = Stop::default();
    let source = Preparer::default().with_stop(stop.clone());
    run_audits(py, &mut audits, settings, evidence, &source, threads, &stop, progress.as_ref())
}

/// Judges the rule of a witness on fresh draws of a function. Returns whether the claim is refuted
/// again, the bounds in the claim's unit, on ε and on δ, and the counts correct, wrong, abstained.
#[pyfunction]
#[pyo3(signature = (witness, function, draws, seed, confidence, threads=None, shared=false))]
#[allow(clippy::too_many_arguments)] // called in one place, from Python
pub fn replay(
    py: Python<'_>,
    witness: &str,
    function: Py<PyAny>,
    draws: u64,
    seed: u64,
    confidence: f64,
    threads: Option<usize>,
    shared: bool,
) -> PyResult<(bool, f64, f64, f64, (u64, u64, u64))> {
    let witness = Witness::from_json(witness)
        .map_err(|reason| PyValueError::new_err(format!("the witness {reason}")))?;
    let confidence = Confidence::try_from(confidence)
        .map_err(|reason| PyValueError::new_err(format!("confidence {reason}")))?;
    let stop = Stop::default();
    let target = Function::new(function, shared, stop.clone());
    let settings = ReplaySettings { draws, seed, confidence };
    let (result, interrupted) = supervise(py, threads, &stop, None, |_| {
        let width = target.open()?;
        Ok(match witness.rule.check(width) {
            Ok(()) => Ok(judge_again(&witness, &target, settings, &|_| ())?),
            Err(problem) => Err(format!("the witness has no rule for these outputs: {problem}")),
        })
    })?;
    if let Some(interrupted) = interrupted {
        return Err(interrupted);
    }
    let result = result
        .map_err(|error: dp_audit::TargetError| PyRuntimeError::new_err(error.to_string()))?;
    let result = result.map_err(PyValueError::new_err)?;
    let tally = result.tally;
    Ok((
        result.confirmed,
        result.lower,
        result.epsilon_lower,
        result.delta_lower,
        (tally.correct, tally.wrong, tally.abstained),
    ))
}
