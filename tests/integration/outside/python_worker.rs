//! `python/dp_audit/worker.py` and the Python examples. Where python3 is missing these tests say
//! loudly that they check nothing.
//!
//! A claim that holds is refuted with probability 0.001 at most in each run: the default
//! confidence. With 200,000 draws what could be caught is 1.030 ± 0.001.

use std::collections::HashSet;

use crate::harness::program::{
    Table, assert_has, code, documented, dp_audit, errors, folder, of_program, python, read, shown,
    witnesses, write,
};

const WORKER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/python/dp_audit/worker.py");

/// Runs the function `mechanism` of a Python file on a Laplace count's audit: the exit code, the
/// report, what was shown.
fn run(text: &str, options: &[&str], params: &str, draws: &str) -> (i32, Table, String) {
    let audit =
        of_program("python", &[&["python3", WORKER], options, &["mechanism.py"]].concat(), "")
            .replace(
                "params = { query = \"count\", epsilon = 1.0 }",
                &format!("params = {{ {params} }}"),
            );
    let folder = folder(&[("python", &audit)]);
    write(folder.path(), "audits/mechanism.py", text);
    let output = dp_audit(folder.path(), &["run", "--draws", draws]);
    (code(&output), Table::of_run(folder.path()), format!("{}{}", errors(&output), shown(&output)))
}

const LAPLACE: &str = "import math\n\
    def mechanism(data, rng, epsilon):\n    \
        return len(data) + math.log((1 - rng.random()) / (1 - rng.random())) / epsilon\n";

#[test]
fn the_examples_end_as_they_should() {
    if !python("the_examples_end_as_they_should", "import numpy") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/audits/examples");
    let output = dp_audit(folder.path(), &["run", examples, "--draws", "200000"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
    let table = Table::of_run(folder.path());
    let verdicts = table.column("audit").into_iter().zip(table.column("verdict"));
    assert_eq!(
        verdicts.collect::<Vec<_>>(),
        [
            ("Python: noisy sum, not clipped", "violated"),
            ("Python: noisy sum, vectorised", "consistent"),
            ("Python: noisy sum", "consistent")
        ]
    );
}

#[test]
fn the_documented_python_worker_needs_no_library() {
    if !python("the_documented_python_worker_needs_no_library", "import json") {
        return;
    }
    let folder =
        folder(&[("documented", &of_program("documented", &["python3", "documented.py"], ""))]);
    write(folder.path(), "audits/documented.py", &documented("python"));
    let report = |threads: &str| {
        let output =
            dp_audit(folder.path(), &["run", "-q", "--draws", "200000", "--threads", threads]);
        assert_eq!(code(&output), 0, "{}", errors(&output));
        Table::of_run(folder.path())
    };
    let one = report("1");
    assert_eq!(one.column("verdict"), ["consistent"]);
    assert_eq!(one, report("3"));
}

#[test]
fn seeds_are_honoured_or_found_to_be_ignored() {
    if !python("seeds_are_honoured_or_found_to_be_ignored", "import json") {
        return;
    }
    let reproducible = |text: &str, options: &[&str]| {
        let (code, table, shown) = run(text, options, "epsilon = 1.0", "100000");
        assert_eq!(code, 0, "{shown}");
        table.cell(0, "reproducible").to_owned()
    };
    assert_eq!(reproducible(LAPLACE, &[]), "true");
    assert_eq!(reproducible(LAPLACE, &["--unseeded"]), "false");
    let global = LAPLACE
        .replace("import math", "import math, random")
        .replace("rng.random", "random.random");
    assert_eq!(reproducible(&global, &[]), "true");
    let system = LAPLACE
        .replace("import math", "import math, random")
        .replace("rng.random", "random.SystemRandom().random");
    assert_eq!(reproducible(&system, &[]), "false");
}

#[test]
fn an_exception_is_an_output_that_an_attacker_sees() {
    if !python("an_exception_is_an_output_that_an_attacker_sees", "import json") {
        return;
    }
    // Fails on one draw in ten, and only with two records: no ε holds, δ is at least 0.1. The bound
    // is 0.0910 ± 0.0021: bad luck 1e-7; above 0.1 with probability 0.001 at most.
    let text = "def mechanism(data, rng):\n    \
                    if len(data) == 2 and rng.random() < 0.1:\n        \
                        raise ValueError('two')\n    \
                    return 0\n";
    let (code, table, shown) = run(text, &["--no-messages"], "", "50000");
    assert_eq!(code, 2, "{shown}");
    assert_has(table.cell(0, "rule"), &["error: ValueError"]);
    assert!(!table.cell(0, "rule").contains("two"));
    let (code, table, shown) = run(text, &[], "", "50000");
    assert_eq!(code, 2, "{shown}");
    assert_has(table.cell(0, "rule"), &["error: ValueError: two"]);
    let delta = table.number(0, "delta_lower");
    assert!((0.08..0.1).contains(&delta), "δ is 0.1, the bound {delta}");
}

#[test]
fn outputs_of_every_kind_arrive() {
    if !python("outputs_of_every_kind_arrive", "import json") {
        return;
    }
    // Each kind on one side only, so that a rule is made of it; the other side puts out an empty
    // list.
    for (kind, symbol) in [
        ("'⊥'", "⊥"),
        ("None", "null"),
        ("float('nan')", "NaN"),
        ("float('inf')", "inf"),
        ("-10**400", "-inf"),
        ("('yes', 3)", "yes"),
        ("True", "1"),
        ("{'b', 'a'}", "\"a\": true, \"b\": true"),
        ("{3, 'a'}", "\\\"a\\\"\": true, \"3\": true"),
        ("frozenset([2.5, 1])", "[1, 2.5]"),
        ("Colour.RED", "Colour.RED"),
        ("datetime.date(2024, 5, 1)", "2024-05-01"),
        ("b'\\x01\\xff'", "01ff"),
        ("Release('yes')", "\"state\": \"yes\""),
    ] {
        let text = format!(
            "from __future__ import annotations\nimport dataclasses, datetime, enum\nColour = enum.Enum('Colour', 'RED')\n\
                     @dataclasses.dataclass\nclass Release:\n    state: str\n\
                     def mechanism(data, rng):\n    print('noise on standard output')\n    return {kind} if len(data) == 2 else []\n"
        );
        let (code, table, shown) = run(&text, &["--width", "2"], "", "5000");
        assert_eq!(code, 2, "{kind}: {shown}");
        assert_has(table.cell(0, "rule"), &[symbol]);
    }
}

#[test]
fn what_cannot_be_audited_is_an_error_with_its_reason() {
    if !python("what_cannot_be_audited_is_an_error_with_its_reason", "import json") {
        return;
    }
    let broken = "def mechanism(data, rng):\n    return 1 / 0\n";
    let mutating = "def mechanism(data, rng):\n    data.append('x')\n    return 0\n";
    let batch = "def mechanism(data, rng, count):\n    if count > 100:\n        raise OSError('disk')\n    return [0] * count\n";
    let laplace_once = "def mechanism(data, rng):\n    return rng.laplace() if len(data) == 2 and rng.random() < 0.01 else 0\n";
    let batch_laplace = "def mechanism(data, rng, count):\n    return rng.laplace(size=count)\n";
    let short = "def mechanism(data, rng, count):\n    return [0.5] * (count - 1)\n";
    let features_list = "def mechanism(data, rng):\n    return rng.random()\ndef known(output):\n    return [output]\n";
    let features_grow = "def mechanism(data, rng):\n    return rng.random()\n\
                         def known(output, calls=[]):\n    calls.append(0)\n    return {'late' if len(calls) > 500 else 'early': 1}\n";
    let cases: &[(&str, &[&str], &str, &[&str])] = &[
        (
            broken,
            &[],
            "",
            &["only fails, on both datasets", "error: ZeroDivisionError", "Traceback"],
        ),
        (
            "def mechanism(data, rng):\n    raise ValueError(rng.random())\n",
            &[],
            "",
            &["only fails", "with one message or another"],
        ),
        (LAPLACE, &[], "", &["does not take what the audit file gives it", "epsilon"]),
        (
            LAPLACE,
            &[],
            "epsilon = 1.0, delta = 0.1",
            &["does not take what the audit file gives it", "delta"],
        ),
        ("mechanism = 3 +\n", &[], "", &["ended (exit status: 1)", "SyntaxError"]),
        (
            "def mechanisms(): pass\n",
            &[],
            "",
            &["has no function mechanism; did you mean mechanisms?"],
        ),
        ("import no_such_library\n", &[], "", &["ModuleNotFoundError", "no_such_library"]),
        (
            "import sys\ndef mechanism(data, rng):\n    sys.exit(0)\n",
            &[],
            "",
            &["ended (exit status: 0)"],
        ),
        (
            "def mechanism(data, rng):\n    return rng.laplace()\n",
            &[],
            "",
            &["rng has no laplace", "a random.Random", "\"--rng\", \"numpy\""],
        ),
        (laplace_once, &[], "", &["rng has no laplace", "\"--rng\", \"numpy\""]),
        (
            "def mechanism(data, rng):\n    return rng.random(3)\n",
            &[],
            "",
            &["only fails", "\"--rng\", \"numpy\""],
        ),
        (batch_laplace, &["--batch"], "", &["rng has no laplace", "\"--rng\", \"numpy\""]),
        (mutating, &[], "", &["changed its dataset", "copy"]),
        (
            "def mechanism(data, rng):\n    return object()\n",
            &[],
            "",
            &["a object cannot be an output", "dataclasses"],
        ),
        (
            "def mechanism(data, rng):\n    return {'a': 3j}\n",
            &[],
            "",
            &["a complex cannot be an output"],
        ),
        (features_list, &["--features", "known"], "", &["returned a list", "dictionary"]),
        (features_grow, &["--features", "known"], "", &["returned the new column 'late'"]),
        (
            "def mechanism(data, rng):\n    return 1\n",
            &["--features", "known"],
            "",
            &["has no function known"],
        ),
        (batch, &["--batch"], "", &["OSError: disk"]),
        (short, &["--batch"], "", &["asked for 1 output, got 0 outputs", "`count` draws"]),
        (
            "def mechanism(data, rng, count):\n    return 0.5\n",
            &["--batch"],
            "",
            &["asked for 1 output, got a float"],
        ),
        (
            "def mechanism(data, rng, count):\n    return []\n",
            &["--batch"],
            "",
            &["asked for 1 output, got 0"],
        ),
    ];
    for (text, options, params, wanted) in cases {
        let (code, table, shown) = run(text, options, params, "20000");
        assert_eq!(code, 5, "{text}: {shown}");
        // The other generator is named only where the exception is about the generator.
        assert_eq!(
            shown.contains("numpy"),
            wanted.iter().any(|part| part.contains("numpy")),
            "{text}: {shown}"
        );
        assert_eq!(table.column("verdict"), ["error"], "{text}");
        assert_has(&shown, wanted);
    }
}

#[test]
fn messages_that_tell_the_datasets_apart_are_outputs() {
    if !python("messages_that_tell_the_datasets_apart_are_outputs", "import json") {
        return;
    }
    let text = "def mechanism(data, rng):\n    raise ValueError(f'{len(data)} records')\n";
    let (_, table, shown) = run(text, &[], "", "20000");
    assert_eq!(table.column("verdict"), ["violated"], "{shown}");
    let (code, table, shown) = run(text, &["--no-messages"], "", "20000");
    assert_eq!((code, table.column("verdict")), (5, vec!["error"]), "{shown}");
}

#[test]
fn dictionaries_and_nested_lists_are_taken_apart() {
    if !python("dictionaries_and_nested_lists_are_taken_apart", "import json") {
        return;
    }
    // A thousandth of the noise that the claim needs, in every place that an output has for a
    // number: ε is about 1,000.
    let noise = "import json, math\n\
                 def noisy(data, rng):\n    return len(data) + math.log((1 - rng.random()) / (1 - rng.random())) / 1000\n";
    for output in [
        "{'count': x, 'n': 5}",
        "[{'count': x}, 3]",
        "[[1, x], [2]]",
        "json.dumps({'count': x})",
        "f'about {x} people'",
        "{'count': str(x)}",
    ] {
        let text = format!(
            "{noise}def mechanism(data, rng):\n    x = noisy(data, rng)\n    return {output}\n"
        );
        let (code, table, shown) = run(&text, &[], "", "20000");
        assert_eq!(code, 2, "{output}: {shown}");
        assert!(table.number(0, "epsilon_lower") > 5.0, "{output}: {shown}");
    }
}

/// A claim about the accuracy of a Python function: the exit code, the report, what was shown.
fn accuracy(text: &str, event: &str, probability: f64) -> (i32, Table, String) {
    let audit = format!(
        "name = \"accurate\"\nmechanism = \"command\"\ncommand = [\"python3\", {WORKER:?}, \"mechanism.py\"]\n\
         [[accuracy]]\nname = \"close\"\ndata = [\"x\"]\nevent = {event}\nprobability = {probability}\n"
    );
    let folder = folder(&[("accurate", &audit)]);
    write(folder.path(), "audits/mechanism.py", text);
    let output = dp_audit(folder.path(), &["run", "--draws", "20000"]);
    (code(&output), Table::of_run(folder.path()), format!("{}{}", errors(&output), shown(&output)))
}

#[test]
fn an_accuracy_claim_looks_at_a_key_of_a_dictionary_and_never_at_the_dictionary() {
    if !python(
        "an_accuracy_claim_looks_at_a_key_of_a_dictionary_and_never_at_the_dictionary",
        "import json",
    ) {
        return;
    }
    // A uniform number is below 0.9 with probability 0.9, `n` is the same in all outputs, and
    // `rare` is missing in half of them.
    let dictionary = "def mechanism(data, rng):\n    x = rng.random()\n    \
                      return {'x': x, 'n': 5, 'best': {'name': 'a'}} | ({'rare': 1} if x < 0.5 else {})\n";
    for (event, probability, expected) in [
        ("{ at_most = 0.9, key = \"x\" }", 0.87, "consistent"),
        ("{ at_most = 0.9, key = \"x\" }", 0.93, "violated"),
        ("{ equals = 5, key = \"n\" }", 1.0, "consistent"),
        ("{ equals = \"a\", key = \"best.name\" }", 1.0, "consistent"),
        ("{ equals = 1, key = \"rare\" }", 0.45, "consistent"),
        ("{ equals = 1, key = \"rare\", absent = 1 }", 1.0, "consistent"),
    ] {
        // 20,000 draws have a standard error of at most 0.0036. With probability 1, one failure in
        // 10,000 should be noticed.
        let (_, table, shown) = accuracy(dictionary, event, probability);
        let verdict = if probability == 1.0 { "inconclusive" } else { expected };
        assert_eq!(table.column("verdict"), [verdict], "{event}: {shown}");
        assert!(probability < 1.0 || table.number(0, "failures") == 0.0, "{event}: {shown}");
    }
    let names = "def mechanism(data, rng):\n    return rng.choice([{'a': True}, {'b': True}])\n";
    let sets = "def mechanism(data, rng):\n    return {'a', 'b'}\n";
    for (text, event, wanted) in [
        (dictionary, "{ at_most = 0.9 }", "name one, as in key = \"best.name\""),
        (dictionary, "{ equals = \"a\" }", "the outputs have parts (best.name, n, rare, x)"),
        (
            dictionary,
            "{ equals = 5, key = \"m\" }",
            "no output has the key m; they have best.name, n, rare, x",
        ),
        (names, "{ contains = \"a\" }", "key = \"a\""),
        (sets, "{ contains = \"a\" }", "key = \"a\""),
        (
            "def mechanism(data, rng):\n    return rng.random()\n",
            "{ at_most = 1, key = \"x\" }",
            "the outputs are not dictionaries",
        ),
    ] {
        let (code, table, shown) = accuracy(text, event, 0.5);
        assert_eq!((code, table.column("verdict")), (5, vec!["error"]), "{event}: {shown}");
        assert!(
            shown.split_whitespace().collect::<Vec<_>>().join(" ").contains(wanted),
            "{event}: {shown}"
        );
    }
    // A text beside the numbers that it is about is one value, and a whole dictionary can be asked
    // for.
    let texts = "def mechanism(data, rng):\n    return f'about {rng.random()} people' if rng.random() < 0.01 else 3\n";
    assert_eq!(accuracy(texts, "{ equals = 3 }", 0.95).1.column("verdict"), ["consistent"]);
    assert_eq!(
        accuracy(names, "{ equals = '{\"a\": true}' }", 0.45).1.column("verdict"),
        ["consistent"]
    );
}

#[test]
fn trials_before_the_hello_keep_to_their_time() {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};
    if !python("trials_before_the_hello_keep_to_their_time", "import json") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let slow = "import os, time\ndef mechanism(data, rng):\n    time.sleep(0.05)\n    open('draws', 'a').write('x')\n    return rng.random()\n";
    write(folder.path(), "mechanism.py", slow);
    // A draw takes longer than all trials may. Each side is drawn once, and once more if nobody has
    // found out whether seeds are honoured.
    for (said, draws, seeded) in [("", 4, true), (", \"width\": 1, \"seeded\": false", 2, false)] {
        std::fs::remove_file(folder.path().join("draws")).ok();
        let mut worker = Command::new("python3")
            .args([WORKER, "mechanism.py"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let greeting = format!(
            "{{\"seconds\": 0.01{said}, \"dp_audit\": 1, \"params\": {{}}, \"left\": [], \"right\": [1]}}"
        );
        writeln!(worker.stdin.as_mut().unwrap(), "{greeting}").unwrap();
        let mut hello = String::new();
        BufReader::new(worker.stdout.take().unwrap()).read_line(&mut hello).unwrap();
        drop(worker.stdin.take());
        worker.wait().unwrap();
        assert!(hello.contains(&format!("\"seeded\": {seeded}")), "{hello}");
        assert_eq!(
            std::fs::read_to_string(folder.path().join("draws")).unwrap().len(),
            draws,
            "{said}"
        );
    }
}

#[test]
fn an_attacker_who_knows_a_hash_sees_what_it_hides() {
    if !python("an_attacker_who_knows_a_hash_sees_what_it_hides", "import json") {
        return;
    }
    // A keyed permutation of 40 bits; the number of records is in the bits that it hides.
    let text = "import hashlib\n\
                def rounds(word, keys):\n    \
                    left, right = word >> 20, word & 0xfffff\n    \
                    for key in keys:\n        \
                        left, right = right, left ^ int.from_bytes(hashlib.sha256(f'{key} {right}'.encode()).digest()[:4], 'big') & 0xfffff\n    \
                    return right << 20 | left\n\
                def mechanism(data, rng):\n    return 'user-' + format(rounds(int(rng.random() * 2**38) * 4 + len(data), [1, 2, 3]), 'x')\n\
                def known(output):\n    return {'records': rounds(int(output[5:], 16), [3, 2, 1]) % 4}\n";
    let (code, table, shown) = run(text, &["--features", "known"], "", "20000");
    assert_eq!(code, 2, "{shown}");
    assert!(table.number(0, "epsilon_lower") > 5.0, "{shown}");
    let (code, table, shown) = run(text, &[], "", "20000");
    assert_ne!(code, 2, "without the key it is hidden: {shown}");
    assert_ne!(table.cell(0, "verdict"), "violated");
}

#[test]
fn a_generator_that_is_seeded_with_the_time_is_found_on_one_thread() {
    if !python("a_generator_that_is_seeded_with_the_time_is_found_on_one_thread", "import json") {
        return;
    }
    // Seconds in groups of a thousand, so that both processes start in the same one; this fails by
    // chance if one starts just before a boundary: once in 10,000 runs.
    let text = "import math, random, time\n\
                own = random.Random(int(time.time()) // 1000)\n\
                def mechanism(data, rng, epsilon):\n    \
                    return len(data) + math.log((1 - own.random()) / (1 - own.random())) / epsilon\n";
    let audit = of_program("python", &["python3", WORKER, "--unseeded", "mechanism.py"], "");
    let audit = audit
        .replace("params = { query = \"count\", epsilon = 1.0 }", "params = { epsilon = 1.0 }");
    let folder = folder(&[("python", &audit)]);
    write(folder.path(), "audits/mechanism.py", text);
    let output = dp_audit(folder.path(), &["run", "--draws", "20000", "--threads", "1"]);
    assert_eq!(code(&output), 5, "{}", shown(&output));
    assert_has(&shown(&output), &["gave the same draws for two different seeds"]);
}

/// An audit of a function, by its name for the built-in worker, in a folder with these files.
fn run_named(files: &[(&str, &str)], words: &[&str], args: &[&str]) -> (i32, String) {
    let audit = of_program("python", &[&["python3", "{worker}"], words].concat(), "")
        .replace("query = \"count\", ", "");
    let folder = folder(&[("python", &audit)]);
    for (file, text) in files {
        let path = folder.path().join("audits").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let output = dp_audit(folder.path(), &[&["run", "--draws", "100000"], args].concat());
    (code(&output), format!("{}{}", errors(&output), shown(&output)))
}

#[test]
fn the_worker_does_not_fill_the_list_of_processes() {
    if !python("the_worker_does_not_fill_the_list_of_processes", "import json") {
        return;
    }
    // `orig_argv` is what `ps` shows.
    let text = "import math, sys\n\
                if len(' '.join(sys.orig_argv)) > 500:\n    raise SystemExit('a long command line')\n\
                def mechanism(data, rng, epsilon):\n    \
                    return len(data) + math.log((1 - rng.random()) / (1 - rng.random())) / epsilon\n";
    let files = [("mechanism.py", text)];
    let (direct, shown) = run_named(&files, &["mechanism.py"], &["--threads", "2"]);
    assert_eq!(direct, 0, "{shown}");
    // A program that wraps Python passes the worker on.
    let audit = of_program(
        "python",
        &["sh", "-c", "exec \"$@\"", "sh", "python3", "-u", "{worker}", "mechanism.py"],
        "",
    )
    .replace("query = \"count\", ", "");
    let folder = folder(&[("python", &audit)]);
    write(folder.path(), "audits/mechanism.py", text);
    let output = dp_audit(folder.path(), &["run", "--draws", "100000"]);
    assert_eq!(code(&output), 0, "{}", errors(&output));
}

#[test]
fn functions_are_found_in_packages_classes_and_objects() {
    if !python("functions_are_found_in_packages_classes_and_objects", "import json") {
        return;
    }
    let module = "from .noise import laplace\n\
                  def count(data, rng, epsilon):\n    return len(data) + laplace(rng, epsilon)\n\
                  class Counter:\n    \
                      def method(self, data, rng, epsilon):\n        return count(data, rng, epsilon)\n    \
                      @staticmethod\n    \
                      def static(data, rng, epsilon):\n        return count(data, rng, epsilon)\n    \
                      __call__ = method\n\
                  counter = Counter()\n\
                  class Picky:\n    \
                      def __init__(self, needed): pass\n    \
                      def method(self, data, rng, epsilon): pass\n";
    let noise = "import math\ndef laplace(rng, epsilon):\n    return math.log((1 - rng.random()) / (1 - rng.random())) / epsilon\n";
    let files =
        [("package/__init__.py", ""), ("package/noise.py", noise), ("package/counts.py", module)];
    for name in
        ["count", "Counter.method", "Counter.static", "Counter", "counter", "counter.method"]
    {
        let (code, shown) = run_named(&files, &[&format!("package.counts:{name}")], &[]);
        assert_eq!(code, 0, "{name}: {shown}");
    }
    for (words, wanted) in [
        ("package.counts:Picky.method", "Picky needs arguments"),
        ("package.counts:cuont", "did you mean count?"),
        ("package/counts.py:count", "name it by its module, as in package.module:function"),
        ("package.sums:count", "No module named 'package.sums'"),
        ("counts.py:count", "there is no Python file counts.py"),
    ] {
        let (code, shown) = run_named(&files, &[words], &[]);
        assert_eq!(code, 5, "{words}: {shown}");
        assert_has(&shown, &[wanted]);
    }
}

#[test]
fn a_missing_numpy_is_an_error_with_its_remedy() {
    if !python("a_missing_numpy_is_an_error_with_its_remedy", "import json") {
        return;
    }
    // A module of this name in the folder hides the library, if it is there.
    let files = [("numpy.py", "raise ImportError('hidden')\n"), ("mechanism.py", LAPLACE)];
    let (code, shown) = run_named(&files, &["--rng", "numpy", "mechanism.py"], &[]);
    assert_eq!(code, 5, "{shown}");
    assert_has(&shown, &["--rng numpy needs numpy", "pip install numpy"]);
    let (code, shown) = run_named(&files, &["mechanism.py"], &[]);
    assert_eq!(code, 0, "nothing else needs it: {shown}");
}

#[test]
fn outputs_may_be_longer_than_the_first_ones_show() {
    if !python("outputs_may_be_longer_than_the_first_ones_show", "import json") {
        return;
    }
    // One draw in fifty has a second or third cell, which shows the number of records: no ε holds,
    // δ is at least 0.02.
    for cells in ["[0, len(data)]", "[0, 'x', len(data)]", "[0, [len(data), 1]]"] {
        let text = format!(
            "def mechanism(data, rng):\n    return {cells} if rng.random() < 0.02 else [0]\n"
        );
        let (code, table, shown) = run(&text, &[], "", "50000");
        assert_eq!(code, 2, "{cells}: {shown}");
        // The bound is 0.0164 ± 0.0009: bad luck 1e-6.
        let delta = table.number(0, "delta_lower");
        assert!((0.012..0.02).contains(&delta), "{cells}: δ is 0.02, the bound {delta}");
    }
    // Lengths that are different in the trials of each process, because no seed decides them.
    let text = "import random\nsystem = random.SystemRandom()\n\
                def mechanism(data, rng):\n    return [len(data) + system.random() / 1000] * int(system.expovariate(0.2))\n";
    let (code, table, shown) = run(text, &[], "", "20000");
    assert_eq!(code, 2, "{shown}");
    assert_eq!(table.cell(0, "reproducible"), "false");
}

#[test]
fn tables_have_a_column_for_each_entry_unless_their_shapes_differ() {
    if !python("tables_have_a_column_for_each_entry_unless_their_shapes_differ", "import json") {
        return;
    }
    let text = |output: &str| {
        format!(
            "def mechanism(data, rng):\n    x = len(data) + rng.random() / 1000\n    return {output}\n"
        )
    };
    let (code, table, shown) = run(&text("[[1, 2], [x, 4], [5, 6]]"), &[], "", "20000");
    assert_eq!(code, 2, "{shown}");
    assert_has(table.cell(0, "rule"), &["y[1][0]"]);
    // Only the shape differs.
    let (code, _, shown) = run(
        &text("[[1, 2, 3], [4, 5, 6]] if x < 2 else [[1, 2], [3, 4], [5, 6]]"),
        &[],
        "",
        "20000",
    );
    assert_eq!(code, 2, "{shown}");
    let (code, _, shown) = run(
        &text("[[1, 2], [3, 4]] if x < 2 or rng.random() < 0.9 else [1, 2, 3, 4]"),
        &[],
        "",
        "20000",
    );
    assert_eq!(code, 2, "{shown}");
}

/// Mechanisms that keep noise, each in the way its name says.
const CACHES: [(&str, &str); 5] = [
    ("all of it", "return noisy(len(data))"),
    ("from the system", "return kept(len(data))"),
    ("of one component", "return [noisy(len(data)), rng.random()]"),
    ("ten values", "return noisy(len(data), rng.randrange(10))"),
    ("in a text", "return f'about {noisy(len(data))} people'"),
];

#[test]
fn noise_that_is_kept_in_a_cache_is_reported_and_not_judged() {
    if !python("noise_that_is_kept_in_a_cache_is_reported_and_not_judged", "import json") {
        return;
    }
    let caches = "import functools, random\n\
                  @functools.lru_cache\n\
                  def noisy(count, key=0):\n    return count + random.gauss(0, 1)\n\
                  @functools.lru_cache\n\
                  def kept(count):\n    return count + random.SystemRandom().gauss(0, 1)\n";
    for (name, body) in CACHES {
        let (code, table, shown) =
            run(&format!("{caches}def mechanism(data, rng):\n    {body}\n"), &[], "", "20000");
        assert_eq!(code, 5, "{name}: {shown}");
        assert_eq!(table.column("verdict"), ["error"], "{name}");
        assert_has(&shown, &["its draws are not independent", "keep none in a cache"]);
    }
}

#[test]
fn a_replay_does_not_judge_kept_noise_either() {
    if !python("a_replay_does_not_judge_kept_noise_either", "import json") {
        return;
    }
    // Too little noise, which is kept as soon as there is a file of this name.
    let text = "import functools, os, random\n\
                @functools.lru_cache\n\
                def kept(count):\n    return count + random.gauss(0, 1) / 100\n\
                def mechanism(data, rng, epsilon):\n    \
                    return kept(len(data)) if os.path.exists('keep') else len(data) + rng.gauss(0, 1) / 100\n";
    let audit = of_program("python", &["python3", "{worker}", "mechanism.py"], "")
        .replace("query = \"count\", ", "");
    let folder = folder(&[("python", &audit)]);
    write(folder.path(), "audits/mechanism.py", text);
    assert_eq!(code(&dp_audit(folder.path(), &["run", "-q", "--draws", "20000"])), 2);
    let witness = witnesses(folder.path())[0].to_str().unwrap().to_owned();
    let confirmed = dp_audit(folder.path(), &["replay", &witness]);
    assert_eq!(code(&confirmed), 0, "{}", errors(&confirmed));
    write(folder.path(), "audits/keep", "");
    let output = dp_audit(folder.path(), &["replay", &witness]);
    assert!([1, 5].contains(&code(&output)), "{}", shown(&output));
    assert_has(&errors(&output), &["its draws are not independent", "keep none in a cache"]);
}

#[test]
fn a_mechanism_that_forks_is_noticed_at_its_first_draws() {
    if !python("a_mechanism_that_forks_is_noticed_at_its_first_draws", "import os; os.fork") {
        return;
    }
    let log = "with open('log', 'a') as f: f.write(f'{os.getpid()}\\n')\n    ";
    let one = format!(
        "import os\ndef mechanism(data, rng):\n    os.fork()\n    {log}return rng.random()\n"
    );
    let many = format!(
        "import os\ndef mechanism(data, rng, count):\n    os.fork()\n    {log}return [rng.random()] * count\n"
    );
    let own = "import os\ndef mechanism(data, rng):\n    \
               if rng.random() < 0.001:\n        \
                   child = os.fork()\n        \
                   if child == 0:\n            os._exit(0)\n        \
                   os.waitpid(child, 0)\n    \
               return rng.random()\n";
    for (text, options) in [(one, vec![]), (many, vec!["--batch"])] {
        let command = [&["python3", WORKER], options.as_slice(), &["mechanism.py"]].concat();
        let audit = of_program("python", &command, "");
        let audit = audit.replace("params = { query = \"count\", epsilon = 1.0 }", "");
        let folder = folder(&[("python", &audit)]);
        write(folder.path(), "audits/mechanism.py", &text);
        let output = dp_audit(folder.path(), &["run", "--draws", "20000"]);
        assert_eq!(code(&output), 5, "{}", errors(&output));
        let said = errors(&output) + &shown(&output);
        assert_has(&said, &["calls os.fork and returns in both processes"]);
        // Each draw has at most one child, which makes no further draw.
        let log = read(folder.path(), "audits/log");
        let processes: HashSet<&str> = log.lines().collect();
        assert!(processes.len() < 200, "{} processes", processes.len());
    }
    // A child that does not come back is the mechanism's own business.
    let (code, _, text) = run(own, &[], "", "20000");
    assert!(code != 5, "{text}");
}
