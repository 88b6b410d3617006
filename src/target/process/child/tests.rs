//! Tests the reader of the pipe: whatever arrives, complete, cut off or changed, is read as exactly
//! the requested outputs or is an error.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

use super::*;
use crate::output::{Cell, MAX_WIDTH, Rows};

/// A pipe that returns its bytes in pieces of this size.
struct Pieces(Vec<u8>, usize);

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let piece: Vec<u8> = self.0.drain(..self.1.min(self.0.len())).collect();
        into[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

fn rows(bytes: &[u8], piece: usize, count: usize, width: usize) -> Result<Rows, AnswerError> {
    let stdout = StdoutReader::new(Pieces(bytes.to_vec(), piece));
    let answer =
        stdout.expect("a thread").answer(count, width, Instant::now() + Duration::from_secs(60));
    answer.map(|answer| answer.rows)
}

/// A cell as a child sends it. A NaN may have any bits except those of a symbol.
#[derive(Clone, Debug)]
enum SentCell {
    Number(f64),
    Name(String),
}

impl SentCell {
    fn cell(&self) -> Cell {
        match self {
            Self::Number(number) => Cell::number(*number),
            Self::Name(name) => Cell::symbol(name),
        }
    }
}

fn sent_cell() -> impl Strategy<Value = SentCell> {
    let bits = prop_oneof![
        any::<u64>(),
        (any::<u64>()).prop_map(|bits| bits | (0x7ff << 52)),
        Just(f64::INFINITY.to_bits())
    ];
    prop_oneof![
        bits.prop_filter("no symbol", |bits| bits >> 48 != 0x7ffd)
            .prop_map(|bits| SentCell::Number(f64::from_bits(bits))),
        "[a-c⊥\"\\\\\n\u{0}]{0,3}".prop_map(SentCell::Name),
    ]
}

#[derive(Clone, Debug)]
struct SentAnswer {
    width: usize,
    outputs: Vec<Vec<SentCell>>,
    block: bool,
}

fn answer() -> impl Strategy<Value = SentAnswer> {
    (1..4_usize, 0..5_usize, any::<bool>()).prop_flat_map(|(width, count, block)| {
        let outputs = prop::collection::vec(prop::collection::vec(sent_cell(), width), count);
        outputs.prop_map(move |outputs| SentAnswer { width, outputs, block })
    })
}

impl SentAnswer {
    fn bytes(&self) -> Vec<u8> {
        if self.block {
            let mut names: Vec<&str> = Vec::new();
            let mut numbers = Vec::new();
            for sent in self.outputs.iter().flatten() {
                let bits = match sent {
                    SentCell::Number(number) => number.to_bits(),
                    SentCell::Name(name) => {
                        names.push(name);
                        (0x7ffd << 48) | (names.len() as u64 - 1)
                    }
                };
                numbers.extend(bits.to_le_bytes());
            }
            let line = format!("{}\n", json!({ "count": self.outputs.len(), "symbols": names }));
            return [line.into_bytes(), numbers].concat();
        }
        let value = |sent: &SentCell| match sent {
            SentCell::Number(number) if number.is_finite() => json!(number),
            SentCell::Number(number) => json!(number.to_string()),
            SentCell::Name(name) => json!(name),
        };
        let outputs: Vec<Vec<Value>> =
            self.outputs.iter().map(|output| output.iter().map(value).collect()).collect();
        format!("{}\n", json!(outputs)).into_bytes()
    }
}

/// JSON with the keys of the protocol.
fn value() -> impl Strategy<Value = Value> {
    let keys = ["dp_audit", "width", "seeded", "count", "symbols", "error", "x"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..4_i64).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-c⊥]{0,3}|-?inf|NaN".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let key = prop::sample::select(keys.to_vec()).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(key, inner, 0..4).prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// The result is exactly the requested rows, or an error.
fn correct_or_rejected(bytes: &[u8], count: usize, width: usize) -> Result<(), TestCaseError> {
    if let Ok(rows) = rows(bytes, 1 << 16, count, width) {
        prop_assert_eq!((rows.len(), rows.width()), (count, width));
    }
    Ok(())
}

/// An accepted hello has exactly the documented keys and values.
fn hello_is_correct_or_rejected(text: &str) -> Result<(), TestCaseError> {
    if let Ok(Hello { width, seeded, columns, reusable, start_up }) = Hello::parse(text) {
        let mut expected = json!({ "dp_audit": 1, "width": width, "seeded": seeded });
        let found: Value = serde_json::from_str(text).unwrap();
        if found.get("columns").is_some() {
            expected["columns"] = json!(columns);
        }
        if found.get("reusable").is_some() {
            expected["reusable"] = json!(reusable);
        }
        if let Some(seconds) = found.get("start_up") {
            let given = seconds.as_f64().map(Duration::from_secs_f64);
            prop_assert_eq!(given, start_up);
            expected["start_up"] = seconds.clone();
        }
        prop_assert_eq!(found, expected);
        prop_assert!(
            (1..=MAX_WIDTH).contains(&width) && (columns.is_empty() || columns.len() == width)
        );
    }
    Ok(())
}

/// Bytes replaced, inserted or removed.
fn changed(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, usize, Vec<u8>)]) -> Vec<u8> {
    for (at, cut, put) in changes {
        let at = at.index(bytes.len() + 1);
        bytes.splice(at..(at + cut).min(bytes.len()), put.iter().copied());
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, Vec<u8>)>> {
    let put = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..4),
        "[\\[\\]{}\",:0-9e.-]{0,3}".prop_map(String::into_bytes)
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, put), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/protocol.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn outputs_arrive_as_they_were_sent_in_pieces_of_any_size(answer in answer(), piece in 1..40_usize) {
        let expected: Vec<Vec<Cell>> = answer.outputs.iter().map(|output| output.iter().map(SentCell::cell).collect()).collect();
        let rows = rows(&answer.bytes(), piece, answer.outputs.len(), answer.width).unwrap();
        prop_assert_eq!(rows.iter().map(<[Cell]>::to_vec).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_incomplete_answer_is_an_error(answer in answer(), end in any::<prop::sample::Index>()) {
        let bytes = answer.bytes();
        let found = rows(&bytes[..end.index(bytes.len())], 1 << 16, answer.outputs.len(), answer.width);
        prop_assert_eq!(found.err(), Some(AnswerError::Closed));
    }

    #[test]
    fn another_count_is_rejected(answer in answer(), asked in 0..6_usize) {
        let got = answer.outputs.len();
        prop_assume!(asked != got);
        let found = rows(&answer.bytes(), 1 << 16, asked, answer.width);
        let problem = ProcessProblem::WrongCount { asked, got };
        prop_assert_eq!(found.err(), Some(AnswerError::Invalid(problem)));
    }

    #[test]
    fn a_changed_answer_is_correct_or_rejected(answer in answer(), changes in changes()) {
        correct_or_rejected(&changed(answer.bytes(), &changes), answer.outputs.len(), answer.width)?;
    }

    #[test]
    fn any_bytes_are_correct_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0..4_usize, width in 1..4_usize) {
        correct_or_rejected(&[&bytes[..], b"\n"].concat(), count, width)?;
    }

    #[test]
    fn any_json_is_correct_or_rejected(value in value(), rest in prop::collection::vec(any::<u8>(), 0..40), count in 0..4_usize, width in 1..4_usize) {
        correct_or_rejected(&[format!("{value}\n").as_bytes(), &rest].concat(), count, width)?;
        hello_is_correct_or_rejected(&value.to_string())?;
    }

    #[test]
    fn a_changed_hello_is_correct_or_rejected(width in 0..=MAX_WIDTH + 10_000, seeded in any::<bool>(), changes in changes()) {
        let columns: &[&str] = if seeded { &["a"] } else { &[] };
        let hello = json!({ "dp_audit": 1, "width": width.min(3), "seeded": seeded, "columns": columns }).to_string();
        hello_is_correct_or_rejected(&String::from_utf8_lossy(&changed(hello.into_bytes(), &changes)))?;
        let hello = json!({ "dp_audit": 1, "width": width, "seeded": seeded }).to_string();
        hello_is_correct_or_rejected(&hello)?;
        hello_is_correct_or_rejected(&String::from_utf8_lossy(&changed(hello.into_bytes(), &changes)))?;
    }
}

#[test]
fn ten_thousand_symbols_of_one_block_arrive() {
    let outputs: Vec<Vec<SentCell>> =
        (0..10_000).rev().map(|index| vec![SentCell::Name(format!("symbol {index}"))]).collect();
    let answer = SentAnswer { width: 1, outputs, block: true };
    let rows = rows(&answer.bytes(), 1 << 16, 10_000, 1).unwrap();
    assert!(rows.iter().zip(&answer.outputs).all(|(row, output)| row[0] == output[0].cell()));
}
