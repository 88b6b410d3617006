//! Binomial limits against exact ones (`scripts/binomial_fixtures.py`, mpmath with 40 digits).

use dp_audit::parts::lower_limit;

use crate::harness::repository;

#[derive(serde::Deserialize)]
struct Case {
    k: u64,
    n: u64,
    alpha: f64,
    lower: f64,
}

#[test]
fn limits_are_on_the_safe_side_and_tight() {
    let mut reader =
        csv::Reader::from_path(repository("tests/fixtures/binomial_limits.csv")).unwrap();
    let cases: Vec<Case> = reader.deserialize().collect::<Result<_, _>>().unwrap();
    assert!(cases.len() > 100);
    for Case { k, n, alpha, lower } in cases {
        let found = lower_limit(k, n, alpha);
        assert!(found <= lower, "{k} of {n} at {alpha}: {found} lies above {lower}");
        // The millionth of α that is kept back moves the limit by less than twice that.
        assert!(
            found >= lower * (1.0 - 2e-6),
            "{k} of {n} at {alpha}: {found} lies far below {lower}"
        );
    }
}
