//! Does a search raise false alarms? It searches many times for a pair that refutes a claim which
//! the mechanism meets exactly, so that every pair that differs most is on the edge, and counts how
//! often one is reported.
//!
//! ```sh
//! cargo run --release --example search_false_alarms -- 500 results/reference/search_false_alarms.csv
//! ```
//!
//! A third argument selects the mechanisms whose name contains it.

use std::path::Path;
use std::{env, fs};

use dp_audit::parts::lower_limit;
use dp_audit::{PairPlan, Preparer, Settings, TargetSource, suite};
use dp_audit::{
    search::Arena, search::DataPair, search::DomainPairs, search::Effort, search::SHARES,
    search::search,
};

const CATEGORIES: &str = "record = { type = \"category\", values = [\"a\", \"b\"] }";
/// One answer for each record, so another order is no neighbour.
const BITS: &str =
    "record = { type = \"integer\", lower = 0, upper = 1, never = \"nasty\" }\norder = \"fixed\"";

/// Mechanisms that leak exactly as much as they claim, and what their datasets are.
const AUDITS: [(&str, &str, &str); 4] = [
    (
        "Laplace count",
        "mechanism = \"laplace\"\nparams = { query = \"count\", epsilon = 1.0 }\nclaim = { epsilon = 1.0 }\nrelation = \"add-remove\"",
        CATEGORIES,
    ),
    (
        "discrete Laplace count",
        "mechanism = \"discrete-laplace\"\nparams = { query = \"count\", epsilon = 0.5 }\nclaim = { epsilon = 0.5 }\nrelation = \"add-remove\"",
        CATEGORIES,
    ),
    (
        "randomized response",
        "mechanism = \"randomized-response/generalized\"\nparams = { epsilon = 1.5 }\nclaim = { epsilon = 1.5 }\nrelation = \"replace-one\"",
        BITS,
    ),
    (
        "Gaussian count",
        "mechanism = \"gaussian\"\nparams = { query = \"count\", calibration = { analytic = { epsilon = 1.0, delta = 0.01 } } }\nclaim = { epsilon = 1.0, delta = 0.01 }\nrelation = \"add-remove\"",
        CATEGORIES,
    ),
];
const CONFIDENCE: f64 = 0.95;
const DRAWS: u64 = 400_000;

fn main() {
    let mut args = env::args().skip(1);
    let searches: u64 = args.next().and_then(|count| count.parse().ok()).unwrap_or(500);
    let (path, only) = (args.next(), args.next().unwrap_or_default());
    let mut csv = String::from(
        "mechanism,searches,draws,confidence,false_alarms,rate,lower,upper,candidates\n",
    );
    for (name, text, datasets) in AUDITS.into_iter().filter(|(name, ..)| name.contains(&only)) {
        let file = format!(
            "name = \"{name}\"\n{text}\n[search]\n{datasets}\nsize = {{ least = 1, most = 6 }}\n"
        );
        let audit = suite::parse(Path::new(name), &file).expect("a valid audit");
        let domain = audit.search.as_ref().expect("a domain").domain.clone();
        let (mut alarms, mut candidates) = (0, 0);
        for seed in 0..searches {
            let settings = Settings {
                seed,
                confidence: CONFIDENCE.try_into().expect("a confidence"),
                ..Settings::default()
            };
            let preparer = Preparer::default();
            let target = |_: &DataPair, plan: &PairPlan| preparer.target(plan);
            let effort = Effort { draws: DRAWS, seconds: None };
            let arena = Arena {
                audit: &audit,
                settings,
                statements: SHARES,
                target: &target,
                parallel: true,
                effort,
            };
            let mut source = DomainPairs::new(&audit, &domain).expect("candidates");
            let found = search(&mut source, &arena, &()).expect("the mechanism can be run");
            alarms += u64::from(found.smallest().is_some());
            candidates += found.history.racers.len();
        }
        // 99 %, half on either side.
        let (lower, upper) = (
            lower_limit(alarms, searches, 0.005),
            1.0 - lower_limit(searches - alarms, searches, 0.005),
        );
        let row = format!(
            "{name},{searches},{DRAWS},{CONFIDENCE},{alarms},{:.4},{lower:.4},{upper:.4},{}\n",
            alarms as f64 / searches as f64,
            candidates / usize::try_from(searches).unwrap_or(1).max(1)
        );
        print!("{row}");
        csv.push_str(&row);
    }
    if let Some(path) = path {
        fs::write(path, csv).expect("the file can be written");
    }
}
