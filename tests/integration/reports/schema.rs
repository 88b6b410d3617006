//! The published JSON Schema describes real reports.

use serde_json::Value;

use crate::harness::program::{
    code, dp_audit, errors, folder, json, laplace, named, of_program, read,
};
use crate::harness::repository;

const PLACE: &str = "docs/reference/dp-audit-report.schema.json";

fn schema() -> Value {
    serde_json::from_str(&read(&repository(""), PLACE)).expect("JSON")
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the test does not know the type {other}"),
    }
}

/// Everything in which a value differs from a part of the schema. Knows the words that the schema
/// uses, and no others.
fn problems(root: &Value, part: &Value, value: &Value, place: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (word, rule) in part.as_object().expect("a part of a schema is an object") {
        match word.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let name = rule.as_str().and_then(|name| name.strip_prefix("#/$defs/"));
                let part = &root["$defs"][name.expect("a reference")];
                assert!(part.is_object(), "{rule} is defined");
                found.extend(problems(root, part, value, place));
            }
            "type" => {
                let names: Vec<&str> = match rule {
                    Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
                    name => name.as_str().into_iter().collect(),
                };
                if !names.iter().any(|name| is_of_type(value, name)) {
                    found.push(format!("{place} is {value:.60}, not {rule}"));
                }
            }
            "const" => {
                if value != rule {
                    found.push(format!("{place} is {value}, not {rule}"));
                }
            }
            "enum" => {
                if !rule.as_array().expect("a list").contains(value) {
                    found.push(format!("{place} is {value}, none of {rule}"));
                }
            }
            "minimum" | "maximum" => {
                let limit = rule.as_f64().expect("a number");
                let outside = |number: f64| {
                    if word == "minimum" { number < limit } else { number > limit }
                };
                if value.as_f64().is_some_and(outside) {
                    found.push(format!("{place} is {value}; {word} {limit}"));
                }
            }
            "anyOf" => {
                let parts = rule.as_array().expect("a list");
                if !parts.iter().any(|part| problems(root, part, value, place).is_empty()) {
                    found.push(format!("{place} is {value:.60}, none of {rule}"));
                }
            }
            "items" => {
                for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                    found.extend(problems(root, rule, item, &format!("{place}[{index}]")));
                }
            }
            "required" => {
                for key in rule.as_array().expect("a list").iter().filter_map(Value::as_str) {
                    if value.is_object() && value.get(key).is_none() {
                        found.push(format!("{place} has no {key}"));
                    }
                }
            }
            "properties" => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    match rule.get(key) {
                        Some(part) => {
                            let place = format!("{place}.{key}");
                            found.extend(problems(root, part, value, &place));
                        }
                        None => found.push(format!("{place} has the undescribed key {key}")),
                    }
                }
            }
            other => panic!("the test does not know the word {other}"),
        }
    }
    found
}

/// A report with all kinds of statements and results.
fn report() -> Value {
    let committed = |file: &str| read(&repository("audits"), file);
    let canaries = read(&repository("src/calibrate/boundary"), "canaries-randomized-response.toml");
    let folder = folder(&[
        ("a", &laplace("half the noise", 0.5, "violated")),
        ("b", &named("good")),
        ("c", &of_program("missing", &["./there-is-no-such-program"], "")),
        ("d", &committed("accuracy/laplace-noise.toml")),
        ("e", &committed("stability/count.toml")),
        ("f", &canaries),
    ]);
    let args = ["run", "-q", "--report-only", "--draws", "20000", "--json", "report.json"];
    let output = dp_audit(folder.path(), &args);
    assert_eq!(code(&output), 5, "one of them cannot be run: {}", errors(&output));
    json(folder.path(), "report.json")
}

#[test]
fn the_schema_describes_real_reports() {
    let (schema, report) = (schema(), report());
    let audits = report["audits"].as_array().expect("audits");
    for list in ["pairs", "accuracy", "canaries"] {
        let filled = |audit: &Value| audit[list].as_array().is_some_and(|list| !list.is_empty());
        assert!(audits.iter().any(filled), "the report has {list}");
    }
    let found = problems(&schema, &schema, &report, "report");
    assert!(found.is_empty(), "{PLACE}:\n{}", found.join("\n"));
}

#[test]
fn every_column_is_described() {
    let page = read(&repository("results"), "README.md");
    let described = schema()["$defs"]["statement"]["properties"].clone();
    let columns = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
    for column in columns {
        assert!(described.get(column).is_some(), "{PLACE} does not describe {column}");
    }
}

#[test]
fn what_is_wrong_is_seen() {
    // The validator itself: each of these changes must be found.
    let schema = schema();
    let good = report();
    let changed = |change: fn(&mut Value)| {
        let mut report = good.clone();
        change(&mut report);
        problems(&schema, &schema, &report, "report").len()
    };
    assert_eq!(changed(|report| report["schema"] = "dp-audit-report/2".into()), 1);
    assert_eq!(changed(|report| report["audits"][0]["pairs"][0]["draws"] = "many".into()), 1);
    assert_eq!(changed(|report| report["audits"][0]["pairs"][0]["reach"] = "infinity".into()), 1);
    assert_eq!(changed(|report| report["audits"][0]["verdict"] = "fine".into()), 1);
    assert_eq!(changed(|report| report["audits"][0]["news"] = 1.into()), 1);
    assert_eq!(
        changed(|report| {
            report["summary"].as_object_mut().expect("an object").remove("audits");
        }),
        1
    );
}
