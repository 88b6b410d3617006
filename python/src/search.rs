//! Searches for a pair: in a domain, or among the pairs that a Python object makes.

use std::sync::{Arc, Mutex, PoisonError};

use dp_audit::fronts::Positive;
use dp_audit::fronts::Stop;
use dp_audit::noise::Generator;
use dp_audit::rand::Rng;
use dp_audit::{
    Audit, AuditReport, Dataset, Pair, PairPlan, Plan, Record, RunReport, StatementResult, Truth,
    suite,
};
use dp_audit::{PrepareError, Target, TargetError};
use dp_audit::{
    search::Arena, search::DataPair, search::DomainPairs, search::Effort, search::Finalist,
    search::Found, search::PairSource, search::SHARES, search::SearchError, search::pair_toml,
    search::search,
};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::audits::{Spec, from_json};
use crate::function::Function;
use crate::report::Report;
use crate::supervise::supervise;

/// How targets are made and how long a search may take: a dictionary in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Search {
    /// A [`Spec`], as JSON.
    spec: String,
    /// A function of two datasets that returns a `Function`.
    make: Py<PyAny>,
    shared: bool,
    draws: u64,
    seconds: Option<f64>,
    threads: Option<usize>,
}

/// What a search found: the report, the number of the pair that refutes the claim among the
/// finalists, if there is one, and what the search did, as JSON and in words.
type Ended = (Report, Option<usize>, String, String);

/// A Python object, cheap to share.
type Shared = Arc<Py<PyAny>>;

impl Search {
    /// Searches among the candidates of a source. `sides` gives the two datasets of a candidate to
    /// Python.
    fn run<S: PairSource + Send>(
        self,
        py: Python<'_>,
        source: impl FnOnce(&Audit) -> PyResult<S>,
        sides: impl Fn(Python<'_>, &S::Pair) -> PyResult<(Py<PyAny>, Py<PyAny>)> + Sync,
        stop: &Stop,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<(Ended, Vec<Finalist<S::Pair>>)> {
        let Self { spec, make, shared, draws, seconds, threads } = self;
        let spec: Spec = from_json(&spec)?;
        let settings = spec.settings;
        let mut audit = spec.audit([]);
        let mut source = source(&audit)?;
        audit.reserved = SHARES;
        let seconds = seconds
            .map(Positive::try_from)
            .transpose()
            .map_err(|reason| PyValueError::new_err(format!("seconds {reason}")))?;
        let target = |candidate: &S::Pair, _: &PairPlan| -> Result<Box<dyn Target>, PrepareError> {
            let function = Python::attach(|py| make.call1(py, sides(py, candidate)?));
            let function = function
                .map_err(|error| PrepareError::Data { side: None, problem: error.to_string() })?;
            Ok(Box::new(Function::new(function, shared, stop.clone())))
        };
        let arena = Arena {
            audit: &audit,
            settings,
            statements: SHARES,
            target: &target,
            parallel: false,
            effort: Effort { draws, seconds },
        };
        let (found, interrupted) = supervise(py, threads, stop, progress, |progress| {
            search(&mut source, &arena, progress)
        })?;
        if let Some(interrupted) = interrupted {
            return Err(interrupted);
        }
        let found = found.map_err(|error| match error {
            SearchError::Target(TargetError::Interrupted) => {
                PyRuntimeError::new_err("the source of pairs has failed")
            }
            error => PyRuntimeError::new_err(error.to_string()),
        })?;
        let unjudged = found.unjudged().map(|(pair, error)| (pair, error.clone()));
        let Found { finalists, undecided: _, history } = found;
        let refuting = finalists.iter().rposition(|finalist| finalist.refutes);
        let (did, effort) = (serde_json::to_string(&history).unwrap_or_default(), history.effort());
        audit.pairs = finalists.iter().map(|finalist| finalist.pair.clone()).collect();
        audit.reserved -= finalists.len().min(SHARES);
        let mut results: Vec<_> =
            finalists.iter().map(|finalist| finalist.result.clone()).collect();
        // What could not be judged is an error of the audit, after the finalists.
        if let Some((pair, error)) =
            unjudged.filter(|_| results.iter().all(|result| result.outcome.is_ok()))
        {
            let plan = Plan::of_claim(audit.plan(&pair, settings, SHARES));
            results.push(StatementResult::new(&plan, Err(error), 0.0));
            audit.pairs.push(pair);
        }
        let report =
            AuditReport::new(Arc::new(audit), results, None).with_search(Some(Arc::new(history)));
        let run = RunReport::new(settings, finalists.len(), vec![Arc::new(report)]);
        Ok(((Report { run }, refuting, did, effort), finalists))
    }
}

/// Searches in a domain, which is described as in the section `[search]` of an audit file. `make`
/// gets the records of both sides as JSON. Returns what was found, and the pairs of the finalists
/// as records in JSON and as TOML.
#[pyfunction]
#[pyo3(signature = (search, domain, progress=None))]
pub fn search_domain(
    py: Python<'_>,
    search: Search,
    domain: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Ended, Vec<(String, String, String)>)> {
    let json = |pair: &DataPair| {
        [&pair.left, &pair.right]
            .map(|side| serde_json::to_string(side.records()).unwrap_or_default())
    };
    let sides = |py: Python<'_>, pair: &DataPair| {
        let [left, right] = json(pair);
        Ok((
            left.into_pyobject(py)?.into_any().unbind(),
            right.into_pyobject(py)?.into_any().unbind(),
        ))
    };
    let source = |audit: &Audit| {
        let request =
            suite::search_request(domain, &audit.relation).map_err(PyValueError::new_err)?;
        DomainPairs::new(audit, &request.domain).map_err(PyValueError::new_err)
    };
    let (ended, finalists) = search.run(py, source, sides, &Stop::default(), progress.as_ref())?;
    let pairs = finalists.iter().map(|finalist| {
        let [left, right] = json(&finalist.candidate);
        (left, right, pair_toml(&finalist.pair, "pair"))
    });
    Ok((ended, pairs.collect()))
}

/// Pairs that a Python object makes: `next(seed, promising)` returns `(left, right)` or None,
/// `smaller(left, right)` a list of these, and `shown(dataset)` a short text.
struct PythonPairs {
    source: Py<PyAny>,
    /// The exception that ended it.
    failed: Mutex<Option<PyErr>>,
    stop: Stop,
}

impl PythonPairs {
    /// Calls Python. An exception ends the search.
    fn call<T>(&self, work: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Option<T> {
        let result = Python::attach(|py| work(self.source.bind(py)));
        result.map_err(|error| self.fail(error)).ok()
    }

    fn fail(&self, error: PyErr) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        self.stop.set();
    }
}

type Sides = (Shared, Shared);

fn shared(found: Option<(Py<PyAny>, Py<PyAny>)>) -> Option<Sides> {
    found.map(|(left, right)| (Arc::new(left), Arc::new(right)))
}

fn pointers(py: Python<'_>, sides: &Sides) -> (Py<PyAny>, Py<PyAny>) {
    (sides.0.clone_ref(py), sides.1.clone_ref(py))
}

impl PairSource for &PythonPairs {
    type Pair = Sides;

    fn next(&mut self, rng: &mut Generator, promising: &[Self::Pair]) -> Option<Self::Pair> {
        self.stop.check().ok()?;
        let seed = rng.next_u64();
        self.call(|source| {
            let promising: Vec<_> =
                promising.iter().map(|sides| pointers(source.py(), sides)).collect();
            source.call_method1("next", (seed, promising))?.extract().map(shared)
        })?
    }

    fn pair(&self, candidate: &Self::Pair, name: String) -> Pair {
        let [left, right] =
            self.texts(candidate).map(|text| Dataset::new(vec![Record::Text(text)]));
        Pair { name, left, right, expect: None, truth: Truth::default() }
    }

    fn origin(&self, candidate: &Self::Pair) -> String {
        self.texts(candidate).join(" / ")
    }

    fn smaller(&self, candidate: &Self::Pair) -> Vec<Self::Pair> {
        let smaller: Option<Vec<(Py<PyAny>, Py<PyAny>)>> = self.call(|source| {
            source.call_method1("smaller", pointers(source.py(), candidate))?.extract()
        });
        smaller.unwrap_or_default().into_iter().filter_map(|pair| shared(Some(pair))).collect()
    }
}

impl PythonPairs {
    /// Both datasets in short.
    fn texts(&self, candidate: &Sides) -> [String; 2] {
        [&candidate.0, &candidate.1].map(|side| {
            self.call(|source| {
                source.call_method1("shown", (side.clone_ref(source.py()),))?.extract()
            })
            .unwrap_or_default()
        })
    }
}

/// Searches among the pairs of a Python object. `make` gets the two datasets. Returns what was
/// found, and the datasets of the finalists.
#[pyfunction]
#[pyo3(signature = (search, source, progress=None))]
pub fn search_source(
    py: Python<'_>,
    search: Search,
    source: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Ended, Vec<(Py<PyAny>, Py<PyAny>)>)> {
    let stop = Stop::default();
    let pairs = PythonPairs { source, failed: Mutex::default(), stop: stop.clone() };
    let found = search.run(
        py,
        |_| Ok(&pairs),
        |py, sides: &Sides| Ok(pointers(py, sides)),
        &stop,
        progress.as_ref(),
    );
    if let Some(error) = pairs.failed.lock().unwrap_or_else(PoisonError::into_inner).take() {
        return Err(error);
    }
    let (ended, finalists) = found?;
    Ok((ended, finalists.iter().map(|finalist| pointers(py, &finalist.candidate)).collect()))
}
