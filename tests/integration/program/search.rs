//! `dp-audit search`, `run --search` and `init`.

use crate::harness::program::{
    Table, assert_has, code, dp_audit, errors, flowing, folder, python, read, shown, witnesses,
    write,
};

/// A noisy count of categories, with a factor for its noise, and no pair.
fn count(factor: f64, expect: &str) -> String {
    format!(
        "name = \"count\"\nmechanism = \"laplace\"\nparams = {{ query = \"count\", epsilon = 1.0, scale_factor = {factor} }}\n\
         claim = {{ epsilon = 1.0 }}\nrelation = \"add-remove\"\nexpect = \"{expect}\"\n\n[search]\n\
         record = {{ type = \"category\", values = [\"a\", \"b\"] }}\nsize = {{ least = 0, most = 9 }}\ndraws = 1_000_000\n"
    )
}

#[test]
fn an_audit_without_a_pair_is_refused_unless_it_is_searched() {
    let folder = folder(&[("count", &count(1.0, "consistent"))]);
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1, "{}", shown(&output));
    assert_has(&errors(&output), &["has no pair, only a [search]", "dp-audit search", "--search"]);
}

#[test]
fn a_refuting_pair_is_found_shrunk_added_and_confirmed() {
    let folder = folder(&[("count", &count(0.5, "consistent"))]);
    let output =
        dp_audit(folder.path(), &["search", "audits/count.toml", "--add", "--html", "race.html"]);
    assert_eq!(code(&output), 2, "{}{}", shown(&output), errors(&output));
    // The smallest add-remove neighbours there are.
    assert_has(
        &shown(&output),
        &[
            "a pair refutes the claim ε = 1",
            "[[pair]]",
            "ε ≥ 1.",
            "The search tried",
            "Added to",
            "with confidence 99.9 %",
        ],
    );
    let text = flowing(&shown(&output));
    assert!(
        text.contains("left = [] right = [\"a\"]") || text.contains("left = [\"a\"] right = []"),
        "{text}"
    );
    assert_has(&read(folder.path(), "race.html"), &["The race", "<circle"]);
    // The file is now an audit like any other, and its draws are others than those of the search.
    let output = dp_audit(folder.path(), &["run", "-q", "--draws", "2e5"]);
    assert_eq!(code(&output), 2, "{}", errors(&output));
    let table = Table::of_run(folder.path());
    assert_eq!((table.column("verdict"), table.column("audit")), (vec!["violated"], vec!["count"]));
    let witness = witnesses(folder.path()).into_iter().next().expect("a witness");
    let output = dp_audit(folder.path(), &["replay", witness.to_str().unwrap()]);
    assert_eq!(code(&output), 0, "{}{}", shown(&output), errors(&output));
}

#[test]
fn exit_codes_follow_what_is_expected() {
    for (factor, expect, expected, words) in [
        (1.0, "consistent", 0, "That is no proof"),
        (0.5, "violated", 0, "a pair refutes the claim"),
        (1.0, "violated", 2, "no pair was found that refutes the claim"),
    ] {
        let folder = folder(&[("count", &count(factor, expect))]);
        let output = dp_audit(folder.path(), &["search", "count", "--draws", "4e5"]);
        assert_eq!(
            code(&output),
            expected,
            "{factor} {expect}: {}{}",
            shown(&output),
            errors(&output)
        );
        assert_has(&shown(&output), &[words]);
    }
    // A mechanism for which no candidate is right.
    let numbers = count(1.0, "consistent")
        .replace("query = \"count\"", "query = { sum = { lower = 0, upper = 1 } }");
    let folder = folder(&[("sum", &numbers)]);
    let output = dp_audit(folder.path(), &["search", "count", "--draws", "4e5"]);
    assert_eq!(code(&output), 5, "{}", shown(&output));
    assert_has(&shown(&output), &["could not be made", "candidates can be run", "not a number"]);
}

#[test]
fn a_run_can_search_first() {
    let given = "\n[[pair]]\nname = \"the same\"\nleft = [\"a\"]\nright = [\"a\", \"b\"]\n";
    for (factor, with, expected, verdicts) in [
        (0.5, "", 2, vec!["violated"]),
        (1.0, "", 0, vec!["consistent"]),
        (1.0, given, 0, vec!["consistent"]),
    ] {
        let folder = folder(&[("count", &(count(factor, "consistent") + with))]);
        let output = dp_audit(folder.path(), &["run", "--search", "--draws", "2e5"]);
        assert_eq!(code(&output), expected, "{}{}", shown(&output), errors(&output));
        assert_has(
            &shown(&output),
            &["The search tried", "All bounds hold together with confidence 99.9 %"],
        );
        let table = Table::of_run(folder.path());
        let mut found = table.column("verdict");
        found.dedup();
        assert_eq!(found, verdicts);
    }
}

#[test]
fn what_cannot_be_judged_is_not_a_pass() {
    if !python("what_cannot_be_judged_is_not_a_pass", "") {
        return;
    }
    // With three records, the noise of a process is one of three numbers that it drew once. The
    // given pair is sound.
    let folder = folder(&[(
        "count",
        "name = \"count\"\nmechanism = \"command\"\ncommand = [\"python3\", \"{worker}\", \"kept.py:count\"]\nclaim = { epsilon = 1.0 }\n\
         relation = \"add-remove\"\ndraws = 50_000\n\n[search]\nrecord = { type = \"category\", values = [\"a\", \"b\"] }\n\
         size = { least = 0, most = 9 }\ndraws = 100_000\nseconds = 10\n\n\
         [[pair]]\nname = \"given\"\nleft = [\"a\"]\nright = [\"a\", \"b\"]\n",
    )]);
    write(
        folder.path(),
        "audits/kept.py",
        "import functools, math, random\n\ndef laplace(rng):\n    return math.log((1 - rng.random()) / (1 - rng.random()))\n\n\
         @functools.cache\ndef kept():\n    own = random.Random()\n    return [laplace(own) for _ in range(3)]\n\n\
         def count(data, rng):\n    return len(data) + (rng.choice(kept()) if len(data) == 3 else laplace(rng))\n",
    );
    for command in [vec!["run", "--search", "--json", "report.json"], vec!["search", "count"]] {
        let output = dp_audit(folder.path(), &command);
        assert_eq!(code(&output), 5, "{}{}", shown(&output), errors(&output));
        assert_has(&flowing(&(shown(&output) + &errors(&output))), &["not independent"]);
    }
    assert_eq!(Table::of_run(folder.path()).column("verdict"), ["consistent", "error"]);
    let names = Table::of_run(folder.path()).column("pair").join("; ");
    assert!(names.contains("] and ["), "the pair is named by its records: {names}");
    let report: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(folder.path().join("report.json")).unwrap())
            .unwrap();
    assert_eq!(
        report["audits"][0]["verdict"],
        serde_json::Value::Null,
        "a pair that could not be judged leaves no verdict"
    );
}

#[test]
fn sections_that_are_wrong_say_where_and_how_to_fix_it() {
    let good = count(1.0, "consistent");
    for (from, to, parts) in [
        ("type = \"category\"", "type = \"categry\"", ["did you mean `category`", "line 9"]),
        ("least = 0", "leats = 0", ["did you mean `least`", "line 10"]),
        ("most = 9", "most = -1", ["search.size.most is -1", "line 10"]),
        (
            "least = 0, most = 9",
            "least = 3, most = 3",
            ["add-remove neighbours have different sizes", "line 10"],
        ),
        (
            "values = [\"a\", \"b\"]",
            "values = []",
            ["search.record.values is missing or empty", "line 9"],
        ),
        (
            "values = [\"a\", \"b\"]",
            "lower = 3",
            ["search.record.lower is for records of type number and integer", "line 9"],
        ),
        (
            "type = \"category\", values = [\"a\", \"b\"]",
            "type = \"number\", lower = 5, upper = 5",
            ["must be finite and greater than lower", "line 9"],
        ),
        ("draws = 1_000_000", "draws = 0", ["search.draws is 0", "line 11"]),
        (
            "draws = 1_000_000",
            "relation = \"replace-one\"",
            ["is not that of the audit", "line 11"],
        ),
        (
            "relation = \"add-remove\"",
            "relation = \"custom\"\nreason = \"why\"",
            ["a search does not know which datasets are neighbours", "[search]"],
        ),
    ] {
        assert!(good.contains(from));
        let folder = folder(&[("count", &good.replace(from, to))]);
        let output = dp_audit(folder.path(), &["search", "audits/count.toml"]);
        assert_eq!(code(&output), 1, "{to}: {}", shown(&output));
        assert_has(&errors(&output), &parts);
    }
    // Without a section there is nothing to search.
    let without = good.split("\n[search]").next().unwrap().to_owned()
        + "\n[[pair]]\nname = \"x\"\nleft = []\nright = [\"a\"]\n";
    let folder = folder(&[("count", &without)]);
    let output = dp_audit(folder.path(), &["search", "audits/count.toml"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["does not say what a dataset may be", "[search]"]);
}

#[test]
fn a_first_audit_runs_as_it_is() {
    if !python("a_first_audit_runs_as_it_is", "") {
        return;
    }
    let folder = folder(&[]);
    let output = dp_audit(folder.path(), &["init", "here"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    assert_has(
        &shown(&output),
        &["Wrote here/my_mechanism.py", "dp-audit search here/my-audit.toml"],
    );
    let output = dp_audit(folder.path(), &["search", "here/my-audit.toml", "--draws", "2e5"]);
    assert_eq!(code(&output), 0, "{}{}", shown(&output), errors(&output));
    // Files of the user are kept.
    write(folder.path(), "here/my_mechanism.py", "mine");
    assert_has(&shown(&dp_audit(folder.path(), &["init", "here"])), &["Kept here/my_mechanism.py"]);
    assert_eq!(read(folder.path(), "here/my_mechanism.py"), "mine");
    assert_eq!(code(&dp_audit(folder.path(), &["init", "--rust", "there"])), 0);
    assert_has(&read(folder.path(), "there/my-audit.toml"), &["[search]"]);
}
