//! Much from outside: wide outputs and many symbols of programs, wide sample files, closures whose
//! outputs are now short and now long.
//!
//! What leaks shows an ε many standard deviations above its claim: 5.3 ± 0.4 and 5.4 ± 0.1 with a
//! thousand cells or columns (claimed: 1), 5.67 ± 0.05 by the length and 3.20 ± 0.05 by rare
//! outputs (claimed: 0.1).

use std::fmt::Write as _;

use dp_audit::fronts::{HeaderRow, Recording, RowOrder};
use dp_audit::{Cell, Reason, Verdict, audit};
use dp_audit::{noise::Generator, noise::bernoulli};
use rand::{RngExt, SeedableRng};

use crate::harness::{FALSE_ALARM, audit_of, report, sure};

/// Claims that hold are refuted with probability [`FALSE_ALARM`] at most.
const CONFIDENCE: f64 = 1.0 - FALSE_ALARM;

#[cfg(unix)]
mod programs {
    use super::*;
    use crate::harness::program::script;
    use crate::harness::{Found, load};

    /// The report on an awk program: `cells` prints the cells of one output; `right` is 1 on the
    /// right side.
    fn of_program(width: usize, cells: &str, draws: u64) -> Found {
        // Each request has a generator of its own, seeded with 31 bits of the request's seed.
        let folder = script(&format!(
            r#"
read -r greeting
echo '{{"dp_audit": 1, "width": {width}, "seeded": true}}'
while read -r line; do
    n=${{line#*\"count\":}}; n=${{n%%,*}}
    seed=${{line#*\"seed\":\"}}; seed=$(printf '%d' "0x$(printf '%.7s' "$seed")")
    case $line in *left*) right=0;; *) right=1;; esac
    awk -v n="$n" -v seed="$seed" -v right="$right" 'BEGIN {{
        srand(seed); printf "["
        for (i = 1; i <= n; i++) {{ {cells}; printf i < n ? "," : "]\n" }}
    }}'
done
"#
        ));
        report(&load(folder.path().join("audits")), sure(draws))
    }

    #[test]
    fn a_leak_in_one_of_a_thousand_cells_of_a_program_is_found() {
        for (leak, expected) in
            [(1, Verdict::Violated), (0, Verdict::Inconclusive(Reason::TooFewDraws))]
        {
            let cells = format!(
                r#"printf "["; for (j = 0; j < 1000; j++) printf "%s%.4f", j ? "," : "", rand() + (j == 777) * right * {leak}; printf "]""#
            );
            let found = of_program(1_000, &cells, 4_000);
            assert_eq!(found.verdict, expected, "{:?}", found.bounds);
            assert_eq!(found.draws, 4_000);
        }
    }

    #[test]
    fn ten_thousand_symbols_of_a_program_are_told_apart() {
        for (leak, refuted) in [(1, true), (0, false)] {
            let cells = format!(
                r#"printf "\"s%d\"", int(rand() * {}) + {}"#,
                if leak == 1 { 5_000 } else { 10_000 },
                if leak == 1 { "5000 * right" } else { "0" }
            );
            let found = of_program(1, &cells, 300_000);
            assert_eq!(found.verdict == Verdict::Violated, refuted, "{:?}", found.bounds);
        }
    }
}

#[test]
fn a_leak_in_one_of_a_thousand_columns_is_found() {
    for (leak, refuted) in [(1.0, true), (0.0, false)] {
        let folder = tempfile::tempdir().unwrap();
        let mut rng = Generator::seed_from_u64(3);
        let mut write = |name: &str, leak: f64| {
            let mut text =
                (0..1000).map(|column| format!("c{column}")).collect::<Vec<_>>().join(",") + "\n";
            for _ in 0..2_000 {
                for column in 0..1000 {
                    let at = if column == 777 { leak } else { 0.0 };
                    let _ = write!(
                        text,
                        "{:.4}{}",
                        rng.random::<f64>() + at,
                        if column < 999 { "," } else { "\n" }
                    );
                }
            }
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (left, right) = (write("left.csv", 0.0), write("right.csv", leak));
        let recording = Recording::read(&left, &right, HeaderRow::Detect, None).unwrap();
        assert!(recording.to_string().contains("has 2,000 outputs"), "{recording}");
        let settings = sure(recording.draws());
        let found =
            report(&audit_of(1.0, 0.0, recording.into_target(RowOrder::AsDrawn, 1)), settings);
        assert_eq!(found.verdict == Verdict::Violated, refuted, "{:?}", found.bounds);
    }
}

#[test]
fn outputs_of_any_length_up_to_a_thousand_are_judged() {
    // The length tells nothing, or is never above 500 on the right.
    for (leaking, refuted) in [(true, true), (false, false)] {
        let finding = audit(move |right: &bool, rng| {
            let length = rng.random_range(0..=if leaking && *right { 500_usize } else { 1000 });
            (0..length).map(|_| rng.random::<f64>()).collect::<Vec<f64>>()
        })
        .claim(0.1, 0.0)
        .pair(false, true)
        .draws(20_000)
        .confidence(CONFIDENCE)
        .run();
        assert_eq!(finding.verdict() == Ok(Verdict::Violated), refuted, "{finding}");
    }
}

#[test]
fn rare_outputs_longer_than_any_before_are_judged_too() {
    // One output in 500 is a thousand cells long, on the right with other cells. The calls that
    // tell how wide outputs are, 64 on each side, see none with probability 0.77.
    for (leaking, refuted) in [(true, true), (false, false)] {
        let finding = audit(move |right: &bool, rng| {
            let long = bernoulli(rng, 0.002);
            let cell = Cell::number(if leaking && *right && long { 1.0 } else { 0.0 });
            vec![cell; if long { 1000 } else { 1 }]
        })
        .claim(0.1, 0.0)
        .pair(false, true)
        .draws(200_000)
        .confidence(CONFIDENCE)
        .run();
        assert_eq!(finding.verdict() == Ok(Verdict::Violated), refuted, "{finding}");
    }
}
