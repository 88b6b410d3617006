//! `dp-audit measure`.

use crate::harness::program::{assert_has, code, dp_audit, errors, folder, read, shown, write};

/// A count with Laplace noise of scale 1, of which nothing is claimed.
const COUNT: &str = "name = \"count\"\nmechanism = \"laplace\"\nparams = { query = \"count\", epsilon = 1.0 }\n\
                     relation = \"add-remove\"\n[[pair]]\nname = \"one more\"\nleft = [\"x\"]\nright = [\"x\", \"x\"]\n";

#[test]
fn a_file_without_a_claim_is_measured_and_not_judged() {
    let folder = folder(&[("count", COUNT)]);
    let arguments = [
        "measure", "audits", "--draws", "60000", "--delta", "0.02", "--csv", "out.csv", "--json",
        "out.json", "--svg", "out.svg",
    ];
    let output = dp_audit(folder.path(), &arguments);
    assert_eq!(code(&output), 0, "{}{}", shown(&output), errors(&output));
    assert_has(&shown(&output), &["count / one more", "at δ =", "μ is at least", "hold together"]);
    assert!(!shown(&output).contains("refuted"), "{}", shown(&output));
    let json: serde_json::Value = serde_json::from_str(&read(folder.path(), "out.json")).unwrap();
    let found = &json["measurements"][0];
    let bounds: Vec<f64> = found["epsilon"]
        .as_array()
        .unwrap()
        .iter()
        .map(|at| at["epsilon_lower"].as_f64().unwrap())
        .collect();
    // The truth is 1 at δ = 0 and falls.
    assert_eq!(bounds.len(), 8);
    assert!(
        bounds[0] > 0.8 && bounds[0] <= 1.0 && bounds.is_sorted_by(|a, b| a >= b),
        "{bounds:?}"
    );
    let csv = read(folder.path(), "out.csv");
    assert_has(&csv, &["audits/count.toml", "epsilon,0.02,", "mu,,", "rho,,"]);
    assert_eq!(csv.lines().count(), 1 + 8 + 2);
    assert_has(&read(folder.path(), "out.svg"), &["<svg", "count / one more"]);
    // `run` still asks for a claim.
    let output = dp_audit(folder.path(), &["run"]);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["missing field `claim`"]);
}

#[test]
fn what_cannot_be_measured_is_an_error() {
    let folder = folder(&[("count", COUNT)]);
    write(
        folder.path(),
        "none.toml",
        "name = \"none\"\nmechanism = \"command\"\ncommand = [\"false\"]\nrelation = \"add-remove\"\n\
         [[pair]]\nname = \"p\"\nleft = [1]\nright = []\n",
    );
    let output = dp_audit(folder.path(), &["measure", "none.toml", "--draws", "100"]);
    assert_eq!(code(&output), 5, "{}{}", shown(&output), errors(&output));
    assert_has(&shown(&output), &["could not be measured"]);
    let output = dp_audit(folder.path(), &["measure", "nowhere"]);
    assert_eq!(code(&output), 1);
    let both = ["measure", "none.toml", "audits", "--svg", "out.svg"];
    let output = dp_audit(folder.path(), &both);
    assert_eq!(code(&output), 1);
    assert_has(&errors(&output), &["--svg draws one pair"]);
}
