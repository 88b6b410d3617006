//! Canaries: the command, audit files, programs that train, and what is refused.

use std::fmt::Write as _;
use std::path::Path;

use dp_audit::noise::{Generator, gaussian};
use rand::{RngExt, SeedableRng};

use crate::harness::program::{
    Table, assert_has, code, dp_audit, errors, folder, json, python, read, shown, write,
};

/// Scores N(shift, 1) and N(0, 1), one line for each canary.
fn scores(canaries: usize, shift: f64, seed: u64) -> String {
    let mut rng = Generator::seed_from_u64(seed);
    let mut text = "score,included\n".to_owned();
    for _ in 0..canaries {
        let coin: bool = rng.random();
        let score = f64::from(u8::from(coin)) * shift + gaussian(&mut rng, 1.0);
        let _ = writeln!(text, "{score},{}", u8::from(coin));
    }
    text
}

fn run(text: &str, args: &[&str]) -> (i32, String, tempfile::TempDir) {
    let folder = folder(&[]);
    write(folder.path(), "scores.csv", text);
    let output = dp_audit(folder.path(), &[&["canaries", "scores.csv"], args].concat());
    (code(&output), shown(&output) + &errors(&output), folder)
}

fn table(folder: &Path) -> Table {
    Table::read(folder, "results/canaries.csv")
}

#[test]
fn a_leak_beyond_the_claim_is_refuted_and_all_reports_have_it() {
    // Shift 4 with 1,000 canaries shows about ε = 5; the claim is 1.
    let args =
        ["--claim-epsilon", "1", "--claim-delta", "1e-5", "--json", "r.json", "--html", "r.html"];
    let more = ["--junit", "r.xml", "--markdown", "r.md", "--plots", "plots"];
    let (code, text, folder) = run(&scores(1000, 4.0, 1), &[&args[..], &more[..]].concat());
    assert_eq!(code, 2, "{text}");
    assert_has(&text, &["1,000 canaries in 1 run", "violated"]);
    let table = table(folder.path());
    assert_eq!(table.cell(0, "verdict"), "violated");
    let number = |column: &str| table.number(0, column);
    let (lower, ceiling) = (number("lower"), number("ceiling"));
    assert!(lower > 3.5 && lower < ceiling && ceiling < 5.81, "{lower} of {ceiling}");
    assert_eq!(number("correct") + number("wrong") + number("abstained"), 1000.0);
    assert_eq!((number("draws"), number("runs")), (1000.0, 1.0));
    let read = |name: &str| read(folder.path(), name);
    let json = json(folder.path(), "r.json");
    let canaries = &json["audits"][0]["canaries"][0];
    assert_eq!(canaries["verdict"], "violated");
    assert!(canaries["picture"]["roc"].as_array().unwrap().len() > 10);
    assert_has(&read("r.html"), &["Which canaries were in", "How many guesses", "Scores"]);
    assert_has(&read("r.xml"), &["canaries"]);
    assert_has(&read("r.md"), &["canaries"]);
    let plots = std::fs::read_dir(folder.path().join("plots")).unwrap().count();
    assert_eq!(plots, 3);
}

#[test]
fn claims_in_other_units_are_judged_in_their_unit() {
    let (code, text, folder) = run(&scores(1000, 3.0, 2), &["--claim", "mu = 1"]);
    assert_eq!(code, 2, "{text}");
    let table = table(folder.path());
    assert_eq!([table.cell(0, "unit"), table.cell(0, "epsilon_lower")], ["mu", ""]);
    let lower = table.number(0, "lower");
    assert!(lower > 1.0 && lower <= 3.0, "{lower}");
}

#[test]
fn a_claim_above_the_ceiling_is_inconclusive_and_says_why() {
    let (code, text, folder) =
        run(&scores(100, 9.0, 3), &["--claim-epsilon", "8", "--claim-delta", "1e-5"]);
    assert_eq!(code, 3, "{text}");
    assert_has(&text, &["too-few-canaries"]);
    let table = table(folder.path());
    assert_eq!(table.cell(0, "reason"), "too-few-canaries");
    let ceiling = table.number(0, "ceiling");
    assert!(ceiling < 3.5, "{ceiling}");
}

#[test]
fn a_plan_states_the_ceiling_before_the_run() {
    let folder = folder(&[]);
    let args = ["canaries", "--plan", "--claim-epsilon", "8", "--claim-delta", "1e-5"];
    let output = dp_audit(folder.path(), &args);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    // ln(m/3) with δ = 0; a little less with δ.
    assert_has(&shown(&output), &["1,000 canaries: ε = 5.", "100 canaries: ε = 3.4"]);
    assert!(!folder.path().join("results").exists());
}

#[test]
fn what_breaks_the_assumptions_is_an_error_with_a_remedy() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let plain = scores(301, 1.0, 4);
    let half: String = (0..100).fold("score,included\n".to_owned(), |mut text, i| {
        let _ = writeln!(text, "{},{}", (i * 37) % 100, i % 2);
        text
    });
    let all_in = plain.replace(",0\n", ",1\n");
    let twice = [plain.as_str(), &lines(&plain)[1..].join("\n")].concat();
    let few = lines(&plain)[..8].join("\n");
    for (text, exit, parts) in [
        (half.as_str(), 5, ["exactly half", "--independent-coins"]),
        (&all_in, 5, ["all 301 canaries are in", "fair coin"]),
        (&twice, 5, ["seem to be repeated", "keep one line"]),
        (&few, 5, ["there are 7 canaries", "--plan"]),
        ("score,included\nnan,1\n", 1, ["scores.csv: line 2", "NaN"]),
        ("value,included\n1,1\n", 1, ["no column \"score\"", "scores.csv"]),
    ] {
        let (code, shown, _folder) = run(text, &["--claim-epsilon", "1"]);
        assert_eq!(code, exit, "{shown}");
        assert_has(&shown, &parts);
    }
    let (code, shown, _folder) = run(&half, &["--claim-epsilon", "1", "--independent-coins"]);
    assert_eq!(code, 3, "{shown}");
}

#[test]
fn guesses_and_counts_are_judged_the_same() {
    // 95 of 100 guesses about 301 canaries are right; about the others nothing is guessed.
    let mut text = "guess,included\n".to_owned();
    for place in 0..301 {
        let coin = place % 2;
        let says = ["out", "in"][if place < 5 { 1 - coin } else { coin }];
        let _ = writeln!(text, "{},{coin}", if place < 100 { says } else { "" });
    }
    let claim = ["--claim-epsilon", "1", "--claim-delta", "1e-6"];
    let (exit, shown_of_file, of_file) = run(&text, &claim);
    assert_eq!(exit, 2, "{shown_of_file}");
    assert_has(&shown_of_file, &["95 of the 100 guesses about 301 canaries"]);
    let counted = folder(&[]);
    let counts = ["canaries", "--counts", "301", "100", "95"];
    let output = dp_audit(counted.path(), &[&counts[..], &claim].concat());
    assert_eq!(code(&output), 2, "{}", errors(&output));
    let lower = table(counted.path()).number(0, "lower");
    assert_eq!(lower, table(of_file.path()).number(0, "lower"));
    // By hand: P[Bin(100, q) ≥ 95] = 0.05 at q = 0.8977, and ln(q/(1 − q)) = 2.17.
    assert!((2.1..2.2).contains(&lower), "{lower}");
    // A number that may depend on the scores has no bound in μ.
    let mu = ["--claim", "mu = 1"];
    let output = dp_audit(counted.path(), &[&counts[..], &mu].concat());
    assert_eq!(code(&output), 5);
    assert_has(&(shown(&output) + &errors(&output)), &["--fixed-guesses"]);
    let output = dp_audit(counted.path(), &[&counts[..], &mu, &["--fixed-guesses"]].concat());
    assert!([2, 3].contains(&code(&output)), "{}", errors(&output));
    for (counts, part) in
        [(["9", "9", "9"], "at least 10"), (["50", "60", "1"], "60 guesses about 50")]
    {
        let output =
            dp_audit(counted.path(), &[&["canaries", "--counts"], &counts[..], &claim].concat());
        assert_eq!(code(&output), 5);
        let text =
            (shown(&output) + &errors(&output)).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_has(&text, &[part]);
    }
}

const MODEL: &str = r#"
name = "model"
mechanism = "canary-model"
params = { model = "gaussian", mu = 4.0 }
claim = { epsilon = 1.0, delta = 1e-5 }
expect = "violated"

[[canaries]]
name = "one run"
canaries = 1000

[[canaries]]
name = "steps"
canaries = 200
steps = 12
sides = "in"
"#;

#[test]
fn audit_files_train_mechanisms_of_the_catalogue_the_same_with_the_same_seed() {
    let audits = folder(&[("model", MODEL)]);
    let run = |seed: &str| {
        let output = dp_audit(audits.path(), &["run", "--seed", seed]);
        assert_eq!(code(&output), 0, "{}{}", shown(&output), errors(&output));
        let table = Table::of_run(audits.path());
        [0, 1]
            .map(|row| ["pair", "verdict", "lower", "draws"].map(|c| table.cell(row, c).to_owned()))
    };
    let first = run("1");
    assert_eq!(first, run("1"));
    assert_ne!(first, run("2"));
    assert_eq!([&first[0][0], &first[1][0]], ["one run", "steps"]);
    assert_eq!([&first[0][3], &first[1][3]], ["1000", "2400"]);
}

#[test]
fn shards_of_canaries_merge_to_the_report_of_one_machine() {
    let audits = folder(&[("model", MODEL)]);
    let whole = dp_audit(audits.path(), &["run", "-q", "--csv", "whole.csv"]);
    for shard in ["1/2", "2/2"] {
        let output = dp_audit(audits.path(), &["run", "-q", "--shard", shard, "--out", "shards"]);
        assert_eq!(code(&output), 0, "{}", errors(&output));
    }
    let merged = dp_audit(audits.path(), &["merge", "-q", "shards", "--csv", "merged.csv"]);
    assert_eq!(code(&merged), code(&whole), "{}", errors(&merged));
    let cells = |name: &str| {
        let table = Table::read(audits.path(), name);
        [0, 1].map(|row| {
            ["verdict", "lower", "ceiling", "correct"].map(|c| table.cell(row, c).to_owned())
        })
    };
    assert_eq!(cells("whole.csv"), cells("merged.csv"));
}

#[cfg(unix)]
#[test]
fn a_program_that_trains_gets_coins_and_returns_scores() {
    if !python("a program that trains", "import json") {
        return;
    }
    // It leaks everything: the score is the coin.
    let program = "import json, sys\nask = json.loads(sys.stdin.readline())\n\
                   print(json.dumps({'scores': [[float(c) for c in row] for row in ask['coins']]}))\n";
    let short = program.replace("for row in ask['coins']]", "for row in ask['coins']][:0]");
    let broken = "import sys\nsys.stdin.readline()\nsys.exit('no data')\n";
    let audit = r#"
name = "program"
mechanism = "command"
command = ["python3", "train.py"]
claim = { epsilon = 1.0 }
expect = "violated"

[[canaries]]
name = "one run"
canaries = 100
"#;
    for (program, exit, parts) in [
        (program, 0, vec!["violated"]),
        (&short, 5, vec!["1 × 100 scores were asked for", "0 × 0"]),
        (broken, 5, vec!["no data"]),
    ] {
        let audits = folder(&[("program", audit)]);
        write(audits.path(), "audits/train.py", program);
        let output = dp_audit(audits.path(), &["run"]);
        let text = shown(&output) + &errors(&output);
        assert_eq!(code(&output), exit, "{text}");
        assert_has(&text, &parts);
    }
}

#[test]
fn audit_files_with_wrong_canaries_are_refused() {
    for (canaries, parts) in [
        ("canaries = 5", ["canaries is 5", "from 10"]),
        ("runs = 2", ["canaries is missing", "file"]),
        ("canaries = 100\nfile = \"x.csv\"", ["canaries is for training", "remove one"]),
        ("canaries = 100\nsteps = 0", ["steps is 0", "from 1"]),
        ("canaries = 100\nname = \"one run\"\n", ["duplicate key", "name"]),
    ] {
        let text = MODEL.split("[[canaries]]").next().unwrap().to_owned()
            + "[[canaries]]\nname = \"one run\"\n"
            + canaries;
        let audits = folder(&[("model", &text)]);
        let output = dp_audit(audits.path(), &["run"]);
        assert_eq!(code(&output), 1, "{}", errors(&output));
        assert_has(&errors(&output), &parts);
    }
    // A training mechanism has no pairs.
    let text = MODEL.split("[[canaries]]").next().unwrap().to_owned()
        + "relation = \"add-remove\"\n[[pair]]\nname = \"p\"\nleft = [1]\nright = [1, 2]\n";
    let audits = folder(&[("model", &text)]);
    let output = dp_audit(audits.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["trains with canaries", "[[canaries]]"]);
}
