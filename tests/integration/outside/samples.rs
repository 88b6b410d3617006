//! Outputs from files: the same bounds as for draws that dp-audit makes itself, and clear words for
//! files that are none.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Output;

use dp_audit::fronts::{HeaderRow, Recording, RowOrder};
use dp_audit::{Reason, Verdict};
use dp_audit::{noise::Generator, noise::bernoulli, noise::laplace};
use rand::SeedableRng;

use crate::harness::program::{self, Table, assert_has, code, errors, shown};
use crate::harness::{self, Found, assert_rare, settings};

/// `count` answers `at + Lap(scale)`, one per line.
fn answers(rng: &mut Generator, count: usize, at: f64, scale: f64) -> String {
    (0..count).fold(String::new(), |mut text, _| {
        let _ = writeln!(text, "{}", at + laplace(rng, scale));
        text
    })
}

/// A folder with `left.csv` and `right.csv`.
fn folder(left: &str, right: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    program::write(folder.path(), "left.csv", left);
    program::write(folder.path(), "right.csv", right);
    folder
}

/// The audit of the files at 95 %, under a claim of ε = 1.
fn report(folder: &Path, seed: u64) -> Found {
    let recording = Recording::read(
        &folder.join("left.csv"),
        &folder.join("right.csv"),
        HeaderRow::Detect,
        None,
    )
    .unwrap();
    let settings = settings(recording.draws(), seed);
    harness::report(
        &harness::audit_of(1.0, 0.0, recording.into_target(RowOrder::AsDrawn, seed)),
        settings,
    )
}

fn dp_audit(folder: &Path, args: &[&str]) -> Output {
    program::dp_audit(
        folder,
        &[&["samples", "--left", "left.csv", "--right", "right.csv"], args].concat(),
    )
}

fn table(folder: &Path) -> Table {
    Table::read(folder, "results/samples.csv")
}

#[test]
fn bounds_from_files_are_rarely_above_the_truth_and_tight() {
    // Laplace noise for ε = 1 exactly; as many rows on both sides, or twice as many on the right.
    // At 95 % one bound in twenty may lie above 1.
    const SEEDS: u64 = 200;
    for (left, right) in [(4000, 4000), (4000, 8000)] {
        let bounds: Vec<f64> = (0..SEEDS)
            .map(|seed| {
                let mut rng = Generator::seed_from_u64(seed);
                let folder =
                    folder(&answers(&mut rng, left, 0.0, 1.0), &answers(&mut rng, right, 1.0, 1.0));
                report(folder.path(), seed).bounds.epsilon_lower
            })
            .collect();
        assert_rare(
            "bounds above 1",
            bounds.iter().filter(|bound| **bound > 1.0).count(),
            SEEDS,
            0.05,
        );
        let mean = bounds.iter().sum::<f64>() / SEEDS as f64;
        // What 7,600 draws of dp-audit's own give. A bound is 0.919 ± 0.040, the mean of 200 ±
        // 0.003.
        assert!(mean > 0.88, "{left}, {right}: mean bound {mean}");
    }
}

#[test]
fn laplace_with_half_the_noise_is_violated_and_with_all_of_it_consistent() {
    // ε ≥ 1.917 ± 0.027 and 0.947 ± 0.017; what could be caught is 1.065 ± 0.002. A false alarm has
    // probability 0.001 at most.
    let mut rng = Generator::seed_from_u64(1);
    for (scale, expected, exit) in [(0.5, "violated", 2), (1.0, "consistent", 0)] {
        let left = answers(&mut rng, 20_000, 0.0, scale);
        let folder =
            folder(&format!("y\n{left}"), &format!("y\n{}", answers(&mut rng, 25_000, 1.0, scale)));
        let output = dp_audit(folder.path(), &["--claim-epsilon", "1"]);
        assert_eq!(code(&output), exit, "{}", errors(&output));
        let parts = [
            "left.csv has 20,000 outputs, right.csv has 25,000",
            "header (y)",
            "A fair coin can draw 39,",
            expected,
        ];
        assert_has(&shown(&output), &parts);
        assert_eq!(table(folder.path()).column("verdict"), [expected]);
    }
}

#[test]
fn the_same_seed_gives_the_same_report_on_any_number_of_threads() {
    let mut rng = Generator::seed_from_u64(2);
    // More than one batch in each phase. A false alarm has probability 0.001 at most on each of two
    // seeds.
    let folder =
        folder(&answers(&mut rng, 400_000, 0.0, 1.0), &answers(&mut rng, 400_000, 1.0, 1.0));
    let of = |threads: &str, seed: &str| {
        let output = dp_audit(
            folder.path(),
            &["-q", "--claim-epsilon", "1", "--threads", threads, "--seed", seed],
        );
        assert_eq!(code(&output), 0, "{}", errors(&output));
        table(folder.path())
    };
    let one = of("1", "5");
    assert_eq!(one, of("2", "5"));
    assert_eq!(one, of("8", "5"));
    assert_ne!(one, of("2", "6"));
}

#[test]
fn few_rows_are_inconclusive_even_when_the_sides_are_far_apart() {
    // A hundred rows would be flagged from ε = 1.7 on, and no less. With a hundred a false alarm
    // has probability 0.05 at most, and came up on none of 200 seeds; with ten none is possible.
    for rows in [1, 2, 10, 100] {
        let mut rng = Generator::seed_from_u64(3);
        let folder =
            folder(&answers(&mut rng, rows, 0.0, 1.0), &answers(&mut rng, 10_000, 1.0, 1.0));
        let found = report(folder.path(), 0);
        assert_eq!(found.verdict.reason(), Some(Reason::TooFewDraws), "{rows} rows");
        assert!(found.draws >= rows as u64 && found.draws <= 2 * rows as u64);
        assert_eq!(code(&dp_audit(folder.path(), &["--claim-epsilon", "1"])), 3);
        assert_eq!(
            code(&dp_audit(folder.path(), &["--claim-epsilon", "1", "--allow-inconclusive"])),
            0
        );
    }
}

#[test]
fn symbols_and_absent_cells_are_outputs_too() {
    // The right side alone fails now and then, or has nothing in its second cell: no ε covers that.
    // ε ≥ 6.30 ± 0.03.
    let mut rng = Generator::seed_from_u64(4);
    let mut fill = |often: &str, rare: &str| {
        (0..20_000).fold(String::new(), |text, _| {
            text + if bernoulli(&mut rng, 0.1) { rare } else { often } + "\n"
        })
    };
    for (often, rare) in [("1,ok", "1,failed"), ("1,2", "1,"), ("1,2", "1"), ("inf,0", "NaN,0")] {
        let folder = folder(&fill(often, often), &fill(often, rare));
        let found = report(folder.path(), 0);
        assert_eq!(found.verdict, Verdict::Violated, "{often} against {rare}");
    }
}

#[test]
fn bad_files_and_usage_end_with_one_and_say_what_is_wrong() {
    let cases: &[(&str, &str, &[&str], &[&str])] = &[
        ("", "1\n", &[], &["left.csv: is empty"]),
        ("1\n", "y\n", &[], &["right.csv: holds a header and no outputs"]),
        ("1,2\n", "1\n", &[], &["right.csv: has 1 columns and left.csv has 2"]),
        (
            "y\n1\n",
            "1\n2\n",
            &[],
            &["right.csv: the header is none, that of left.csv is y", "--header absent"],
        ),
        ("1\n\n2\n", "1\n", &[], &["left.csv: line 2: is empty"]),
        ("1\n", "1\n", &["--left", "nobody.csv"], &["cannot be used multiple times"]),
        ("1\n", "1\n", &["--claim-delta", "1"], &["less than 1"]),
        ("1\n", "1\n", &["--attacks", "guessing"], &["unknown variant `guessing`", "naive-bayes"]),
        ("1\n", "1\n", &["--header", "maybe"], &["detect, present, absent"]),
        ("1\n", "1\n", &["--csv", "left.csv/x.csv"], &["cannot write"]),
    ];
    for (left, right, args, wanted) in cases {
        let folder = folder(left, right);
        let output = dp_audit(folder.path(), &[&["--claim-epsilon", "1"], *args].concat());
        assert_eq!(code(&output), 1, "{wanted:?}: {}", errors(&output));
        assert_has(&errors(&output), wanted);
        assert!(!folder.path().join("results").exists(), "{wanted:?}: nothing is written");
    }
    let missing = tempfile::tempdir().unwrap();
    let output = dp_audit(missing.path(), &["--claim-epsilon", "1"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["left.csv: cannot be read", "right.csv: cannot be read"]);
}

#[test]
fn rows_that_depend_on_each_other_are_not_judged() {
    // The two sides share their noise, rows are copied, or all are in order. The sorted file at the
    // end gives a false alarm with probability 0.001 at most.
    let mut rng = Generator::seed_from_u64(6);
    let noise: Vec<f64> = (0..5000).map(|_| laplace(&mut rng, 1.0)).collect();
    let column = |values: &[f64]| {
        values.iter().fold(String::new(), |text, value| text + &format!("{value}\n"))
    };
    let shifted: Vec<f64> = noise.iter().map(|z| z + 1.0).collect();
    let fresh = answers(&mut rng, 5000, 1.0, 1.0);
    let twice: Vec<f64> = noise.iter().flat_map(|z| [*z, *z]).collect();
    let again = noise.repeat(2);
    let mut sorted = noise.clone();
    sorted.sort_unstable_by(f64::total_cmp);
    // The order of rows does not excuse copies.
    for (left, right, wanted, order_may_excuse) in [
        (column(&noise), column(&shifted), "left and right depend on each other", true),
        (column(&twice), fresh.clone(), "on left too many outputs occur equally often", false),
        (column(&again), fresh.clone(), "on left too many outputs occur equally often", false),
        (column(&sorted), fresh.clone(), "on left each output depends on the one before it", true),
    ] {
        let folder = folder(&left, &right);
        let output = dp_audit(folder.path(), &["--claim-epsilon", "1"]);
        assert_eq!(code(&output), 5, "{wanted}: {}", shown(&output));
        assert_has(&shown(&output), &[wanted]);
        assert_eq!(shown(&output).contains("--unordered"), order_may_excuse, "{wanted}");
        assert_eq!(table(folder.path()).column("verdict"), ["error"]);
    }
    // Sorted afterwards, independent draws are still independent.
    let folder = folder(&column(&sorted), &fresh);
    let output = dp_audit(folder.path(), &["--claim-epsilon", "1", "--unordered"]);
    assert_eq!(code(&output), 3, "few draws are not precise: {}", shown(&output));
    assert_eq!(table(folder.path()).column("verdict"), ["inconclusive"]);
}

#[test]
fn separators_and_texts_hide_nothing() {
    // The left outputs are near 0 and the right ones near 1,000: no ε covers that. Nothing here can
    // be violated by chance.
    let lines = |row: &dyn Fn(f64) -> String, at: f64| {
        let mut rng = Generator::seed_from_u64(at.to_bits());
        (0..4000).fold(String::new(), |text, _| text + &row(at + laplace(&mut rng, 1.0)) + "\n")
    };
    let rows: [&dyn Fn(f64) -> String; 8] = [
        &|x| format!("{x};ok"),
        &|x| format!("{};ok", x.to_string().replace('.', ",")),
        &|x| format!("{x}\tok"),
        &|x| format!("ok\t{}", x.to_string().replace('.', ",")),
        &|x| format!("{{\"count\": {x}, \"n\": 5}}"),
        &|x| format!("\"{{\"\"count\"\": {x}}}\",ok"),
        &|x| format!("ok {x} people"),
        &|x| format!("ok,\"{} people\"", x.to_string().replace('.', ",")),
    ];
    for row in rows {
        let folder = folder(&lines(row, 0.0), &lines(row, 1000.0));
        let output = dp_audit(folder.path(), &["--claim-epsilon", "1"]);
        assert_eq!(code(&output), 2, "{}: {}", row(0.5), shown(&output));
        assert_eq!(table(folder.path()).column("verdict"), ["violated"]);
        assert!(table(folder.path()).number(0, "epsilon_lower") > 4.0, "{}", row(0.5));
    }
}

#[test]
fn files_with_different_separators_are_refused() {
    let folder = folder("1;2\n3;4\n", "1,2\n3,4\n");
    let output = dp_audit(folder.path(), &["--claim-epsilon", "1"]);
    assert_eq!(code(&output), 1);
    assert_has(
        &errors(&output),
        &["right.csv: its cells are separated by commas, those of left.csv by semicolons"],
    );
}

#[test]
fn text_is_no_false_alarm() {
    // Noise for ε = 1 exactly, in a text. At 95 % one bound in twenty may lie above 1.
    const SEEDS: u64 = 60;
    let above = (0..SEEDS).filter(|seed| {
        let mut rng = Generator::seed_from_u64(*seed);
        let mut lines = |at: f64| {
            (0..4000).fold(String::new(), |text, _| {
                text + &format!("{{\"count\": {}}}\n", at + laplace(&mut rng, 1.0))
            })
        };
        let folder = folder(&lines(0.0), &lines(1.0));
        report(folder.path(), *seed).bounds.epsilon_lower > 1.0
    });
    assert_rare("bounds above 1", above.count(), SEEDS, 0.05);
}
