//! Every refutation of the default suite stands up to fresh draws on another seed.

mod common;

use std::path::PathBuf;

use dp_audit::replay::{self, Settings};
use dp_audit::run;
use dp_audit::spec;
use dp_audit::verdict::{Expectation, Verdict};
use dp_audit::witness::Witness;

#[test]
fn every_refutation_of_the_suite_is_confirmed_on_another_seed() {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "audits"].iter().collect();
    let mut audits = spec::load(&[path]).unwrap_or_else(|error| panic!("{error}"));
    audits.retain(|audit| audit.expect == Expectation::Violated);
    // The run must find z ≈ 4.5 standard errors; with ten times the draws 3.1 are needed where 14 are to be expected. A false alarm has probability below 1e-9.
    let report = run::run(&audits, common::settings(150_000, 1), &[]);
    let mut confirmed = 0;
    for (audit, found) in audits.iter().zip(&report.audits) {
        let Some(witness) = found.telling().and_then(|pair| pair.witness.as_ref()) else {
            assert_ne!(found.verdict(), Some(Verdict::Violated), "{}: a refutation has a witness", audit.name);
            continue;
        };
        // Through the file, as a user would.
        let read = Witness::from_json(&witness.sealed().to_string()).unwrap_or_else(|error| panic!("{}: {error}", audit.name));
        assert_eq!(&read, witness, "{}: what is read is what was written", audit.name);
        let pair = replay::pair(&read, audit).unwrap();
        read.check(audit, pair).unwrap_or_else(|error| panic!("{}: {error}", audit.name));
        let settings = Settings { draws: 1_500_000, seed: 99, confidence: 0.999.try_into().unwrap() };
        let again = replay::replay(&read, pair, settings, &|_| ()).unwrap();
        assert_eq!(again.tally.draws(), settings.draws);
        assert!(again.confirmed, "{}: ε ≥ {} claimed {}", audit.name, again.epsilon_lower, audit.claim);
        confirmed += 1;
    }
    // Most of the suite's bugs show within so few draws.
    assert!(confirmed >= 30, "{confirmed} of {} audits", audits.len());
}

#[test]
fn a_witness_of_another_version_or_other_code_is_refused() {
    let audits = common::laplace(0.5);
    let found = common::report(&audits, common::settings(100_000, 0));
    let witness = found.witness.expect("half the noise is a violation");
    let pair = &audits[0].pairs[0];
    assert_eq!(witness.check(&audits[0], pair), Ok(()));
    let older = Witness { version: "0.0.9".to_owned(), ..witness.clone() };
    assert!(older.check(&audits[0], pair).unwrap_err().contains("was written by dp-audit 0.0.9"));
    // The same audit, had its code drawn other outputs.
    let mut other = common::laplace(0.5);
    let mut slower = common::laplace(0.6);
    std::mem::swap(&mut other[0].pairs[0].target, &mut slower[0].pairs[0].target);
    assert!(witness.check(&other[0], &other[0].pairs[0]).unwrap_err().contains("another version of the mechanism"));
}

#[cfg(unix)]
#[test]
fn witnesses_of_programs_are_confirmed_and_their_changes_noticed_where_seeds_are_followed() {
    use common::program::{GOOD, code, dp_audit, errors, folder, worker};
    // Half the noise that ε = 1 needs.
    let shell = r#"
        read -r line
        echo '{"dp_audit": 1, "width": 1, "seeded": SEEDED}'
        while read -r line; do
            count=${line#*\"count\":}; count=${count%%[,\}]*}
            seed=${line#*\"seed\":\"}; seed=$(printf '%s' "$seed" | cut -c 1-7)
            case $line in *left*) n=1 ;; *) n=2 ;; esac
            awk -v n="$n" -v count="$count" -v seed="$((0x$seed))" 'BEGIN {
                srand(seed)
                for (i = 0; i < count; i++) printf "%s%.17g", i ? "," : "[", n + log((1 - rand()) / (1 - rand())) / 2
                print "]"
            }'
        done
    "#;
    let audit = GOOD.replace("\"consistent\"", "\"violated\"").replace("\"laplace\"", "\"command\"\ncommand = [\"sh\", \"worker.sh\"]");
    for seeded in [true, false] {
        let folder = folder(&[("good", &audit)]);
        let script = shell.replace("SEEDED", &seeded.to_string());
        worker(folder.path(), "worker.sh", &script);
        let output = dp_audit(folder.path(), &["run", "-q", "--draws", "60000", "--json", "o.json"]);
        assert_eq!(code(&output), 0, "{}", errors(&output));
        let witness = std::fs::read_dir(folder.path().join("results/witnesses")).unwrap().next().unwrap().unwrap().path();
        let replay = || dp_audit(folder.path(), &["replay", &witness.display().to_string()]);
        let confirmed = replay();
        assert_eq!(code(&confirmed), 0, "seeded {seeded}: {}", errors(&confirmed));
        // Other outputs, and a little less noise. A program without seeds always has other outputs: the fresh draws alone decide.
        worker(folder.path(), "worker.sh", &script.replace("/ 2\n", "/ 2.1\n"));
        let changed = replay();
        assert_eq!(code(&changed), i32::from(seeded), "seeded {seeded}: {}", errors(&changed));
        // Another command line is another audit, seeds or not.
        std::fs::write(folder.path().join("audits/good.toml"), audit.replace("\"worker.sh\"]", "\"worker.sh\", \"again\"]")).unwrap();
        assert!(errors(&replay()).contains("is about another audit"), "{}", errors(&replay()));
    }
}
