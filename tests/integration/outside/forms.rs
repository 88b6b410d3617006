//! What an attacker sees of an output beside its number: types, spelling, digits beyond a double,
//! rare entries, the order of keys. Each leak is added to a Laplace count that keeps its promise.
//! The broken one shows which dataset it was, its honest twin tosses a coin instead.
//!
//! A claim that holds is refuted with probability 0.001 at most in each run: the default
//! confidence. A broken one tells the sides apart in every draw, or, in the files of 60,000 rows,
//! in one row of 100: each side has more than 300 such rows that count, and 40 would do. The chance
//! of fewer is below 1e-6.

use std::fmt::Write as _;
use std::path::Path;

use dp_audit::noise::{Generator, bernoulli, laplace};
use rand::{RngExt, SeedableRng};

use crate::harness::program::{
    self, Table, assert_has, code, dp_audit, errors, folder, of_program, python, shown, write,
};

const WORKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python/dp_audit/worker.py");

/// The verdict on a program.
fn verdict(command: &[&str], program: &str) -> (String, String) {
    let audit = of_program("forms", command, "")
        .replace("params = { query = \"count\", epsilon = 1.0 }", "params = {}");
    let folder = folder(&[("forms", &audit)]);
    write(folder.path(), "audits/program.py", program);
    let output = dp_audit(folder.path(), &["run", "--draws", "50000"]);
    let shown = format!("{}{}", errors(&output), shown(&output));
    assert!(code(&output) != 5, "{shown}");
    (Table::of_run(folder.path()).cell(0, "verdict").to_owned(), shown)
}

/// The broken program is refuted, the honest one is not. `OUTPUT` stands in `program` for a Python
/// expression of the bit `b`, the noisy count `y` and `rng`.
fn is_caught(command: &[&str], program: &str, output: &str) {
    let text = program.replace("OUTPUT", output);
    let (found, shown) = verdict(command, &text.replace("BIT", "len(data) == 2"));
    assert_eq!(found, "violated", "{output}: {shown}");
    let (found, shown) = verdict(command, &text.replace("BIT", "rng.random() < 0.5"));
    assert_eq!(found, "consistent", "{output}: {shown}");
}

/// All audits of a file in `audits/forms` end as they should, with the draws that the file asks for.
fn end_as_expected(file: &str) {
    let folder = tempfile::tempdir().unwrap();
    let file = format!("{}/audits/forms/{file}", env!("CARGO_MANIFEST_DIR"));
    let output = dp_audit(folder.path(), &["run", &file]);
    assert_eq!(code(&output), 0, "{}{}", errors(&output), shown(&output));
}

#[test]
fn python_values_have_forms() {
    if python("python_values_have_forms", "import json") {
        end_as_expected("forms.toml");
    }
}

/// A bit in one of 500 outputs: 500,000 draws have 437 ± 21 such draws of each side, and 40 would
/// refute the claim.
#[test]
fn rare_entries_keep_their_values() {
    if python("rare_entries_keep_their_values", "import json") {
        end_as_expected("rare.toml");
    }
}

#[test]
fn masks_and_indexes_are_part_of_an_output() {
    if python("masks_and_indexes_are_part_of_an_output", "import numpy, pandas") {
        end_as_expected("forms-numpy.toml");
    }
}

/// A program that writes its outputs as JSON itself.
const PROGRAM: &str = "import json, math, random, sys\n\
    greeting = json.loads(sys.stdin.readline())\n\
    print(json.dumps({'dp_audit': 1, 'width': 2, 'seeded': True}), flush=True)\n\
    for line in sys.stdin:\n    \
        request = json.loads(line)\n    \
        data, rng = greeting[request['side']], random.Random(request['seed'])\n    \
        def draw():\n        \
            y = len(data) + math.log((1 - rng.random()) / (1 - rng.random()))\n        \
            b = int(BIT)\n        \
            return OUTPUT\n    \
        print('[' + ','.join(draw() for _ in range(request['count'])) + ']', flush=True)\n";

#[test]
fn programs_may_differ_in_how_they_write_json() {
    if !python("programs_may_differ_in_how_they_write_json", "import json") {
        return;
    }
    for output in [
        "f'[{y}, 1{\"eE\"[b]}5]'",
        "f'[{y}, {1 if b else 1.0}]'",
        "f'[{y}, {\"null\" if b else json.dumps(\"null\")}]'",
        "f'[{y}, {2**60 + b}]'",
        "f'[{y}, ' + ('{\"a\": 1, \"b\": 2}' if b else '{\"b\": 2, \"a\": 1}') + ']'",
        "f'[{y}, ' + '{\"a\": %d, \"a\": 1}' % b + ']'",
    ] {
        is_caught(&["python3", "program.py"], PROGRAM, output);
    }
}

#[test]
fn texts_that_are_not_utf_8_are_an_error() {
    let script = "read -r greeting; echo '{\"dp_audit\": 1, \"width\": 1, \"seeded\": false}'\n\
                  read -r line; printf '[\"\\377\"]\\n'; read -r line\n";
    let folder = program::script(script);
    let output = dp_audit(folder.path(), &["run", "--draws", "1000"]);
    assert_eq!(code(&output), 5, "{}", errors(&output));
    let told = format!("{}{}", errors(&output), shown(&output));
    assert_has(&told, &["not UTF-8", "write texts in UTF-8"]);
    if !python("texts_that_are_not_utf_8_are_an_error", "import json") {
        return;
    }
    let text = "def mechanism(data, rng):\n    return b'\\xff'.decode(errors='surrogateescape')\n";
    let audit = of_program("surrogate", &["python3", WORKER, "program.py"], "")
        .replace("params = { query = \"count\", epsilon = 1.0 }", "params = {}");
    let folder = program::folder(&[("surrogate", &audit)]);
    write(folder.path(), "audits/program.py", text);
    let output = dp_audit(folder.path(), &["run", "--draws", "1000"]);
    assert_eq!(code(&output), 5);
    let told = format!("{}{}", errors(&output), shown(&output));
    assert_has(&told, &["not valid Unicode", "return them as bytes"]);
}

/// One row of a file: the noisy count, and a cell that a bit decides.
fn rows(side: usize, is_honest: bool, cell: &dyn Fn(bool, &mut Generator) -> String) -> String {
    let mut rng = Generator::seed_from_u64(11 + side as u64);
    let mut text = String::new();
    for _ in 0..60_000 {
        let y = (side + 1) as f64 + laplace(&mut rng, 1.0);
        let bit = if is_honest { bernoulli(&mut rng, 0.5) } else { side == 1 };
        let _ = writeln!(text, "{y},{}", cell(bit, &mut rng));
    }
    text
}

fn verdict_on_files(folder: &Path) -> String {
    let options = ["samples", "--left", "left.csv", "--right", "right.csv", "--claim-epsilon", "1"];
    let output = dp_audit(folder, &options);
    assert!(code(&output) != 5, "{}", errors(&output));
    Table::read(folder, "results/samples.csv").cell(0, "verdict").to_owned()
}

type CellOfBit = dyn Fn(bool, &mut Generator) -> String;

#[test]
fn files_may_differ_in_spelling_digits_and_rare_keys() {
    let choose = |first: &'static str, second: &'static str| {
        move |bit: bool, _: &mut Generator| if bit { first } else { second }.to_owned()
    };
    let rare = |bit: bool, rng: &mut Generator| {
        let is_rare = rng.random::<f64>() < 0.01;
        if is_rare { format!("code {}", 3 + u8::from(bit)) } else { "none".to_owned() }
    };
    let cells: [&CellOfBit; 4] = [
        &choose("1e5", "1E5"),
        &choose("1", "1.0"),
        &choose("9007199254740993", "9007199254740992"),
        &rare,
    ];
    for (index, cell) in cells.into_iter().enumerate() {
        for (is_honest, wanted) in [(false, "violated"), (true, "consistent")] {
            let folder = tempfile::tempdir().unwrap();
            write(folder.path(), "left.csv", &rows(0, is_honest, cell));
            write(folder.path(), "right.csv", &rows(1, is_honest, cell));
            assert_eq!(verdict_on_files(folder.path()), wanted, "case {index}");
        }
    }
}

/// The claim of a closure that releases a noisy count and something that a bit decides.
fn is_caught_in_rust<O: dp_audit::Output + 'static>(what: &str, of_bit: fn(bool) -> O) {
    let found = |is_honest: bool| {
        dp_audit::audit(move |data: &u8, rng| {
            let bit = if is_honest { bernoulli(rng, 0.5) } else { *data == 1 };
            (f64::from(*data) + laplace(rng, 1.0), of_bit(bit))
        })
        .claim(1.0, 0.0)
        .pair(0_u8, 1_u8)
        .draws(50_000)
        .seed(3)
        .run()
    };
    println!("{what}");
    found(false).assert_violated();
    found(true).assert_consistent();
}

#[test]
fn closures_may_differ_in_digits_types_and_nan() {
    is_caught_in_rust("whole numbers", |bit| (1_i64 << 60) + i64::from(bit));
    is_caught_in_rust("the sign of NaN", |bit| if bit { f64::NAN } else { -f64::NAN });
    is_caught_in_rust("None and its name", |bit| (!bit).then_some("None"));
    is_caught_in_rust("an error and its text", |bit| {
        if bit { Err("x".to_owned()) } else { Ok("error: x") }
    });
}
