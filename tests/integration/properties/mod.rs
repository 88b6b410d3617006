//! What must be true of every input: counts, levels, audit files, outputs, witnesses, reports. A
//! failing case is shrunk and kept in `tests/regressions`.
//!
//! One module for each thing that reads or computes, with its generators beside its properties.
//! Answers of child processes and sample files have their properties beside their readers in `src`.

mod audit_files;
mod changes;
mod reports;
mod rules;
mod statistics;
mod witnesses;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

/// This many cases, and failures kept in a file of this property's own group.
macro_rules! cases {
    ($cases:expr, $file:literal) => {
        $crate::properties::config(
            $cases,
            concat!(env!("CARGO_MANIFEST_DIR"), "/tests/regressions/", $file),
        )
    };
}
use cases;

fn config(cases: u32, file: &'static str) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct(file))),
        ..ProptestConfig::default()
    }
}
