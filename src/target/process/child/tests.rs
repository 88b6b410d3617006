//! What comes through the pipe, whole, cut off or changed in any way, is exactly the outputs that were asked for, or trouble.

use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;
use serde_json::{Value, json};

use super::*;
use crate::output::{Cell, MAX_WIDTH};

/// A pipe that hands over its bytes in pieces of this size.
struct Pieces(Vec<u8>, usize);

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let piece: Vec<u8> = self.0.drain(..self.1.min(self.0.len())).collect();
        into[..piece.len()].copy_from_slice(&piece);
        Ok(piece.len())
    }
}

fn rows(bytes: &[u8], piece: usize, count: usize, width: usize) -> Result<Rows, Trouble> {
    let output = Output::new(Pieces(bytes.to_vec(), piece));
    let answered = output.expect("a thread").rows(count, width, Instant::now() + Duration::from_secs(60));
    answered.map(|(rows, _)| rows)
}

/// A cell as a child has it. A NaN may have any bits but those of a symbol.
#[derive(Clone, Debug)]
enum Sent {
    Number(f64),
    Name(String),
}

impl Sent {
    fn cell(&self) -> Cell {
        match self {
            Self::Number(number) => Cell::number(*number),
            Self::Name(name) => Cell::symbol(name),
        }
    }
}

fn sent() -> impl Strategy<Value = Sent> {
    let bits = prop_oneof![any::<u64>(), (any::<u64>()).prop_map(|bits| bits | (0x7ff << 52)), Just(f64::INFINITY.to_bits())];
    prop_oneof![
        bits.prop_filter("no symbol", |bits| bits >> 48 != 0x7ffd).prop_map(|bits| Sent::Number(f64::from_bits(bits))),
        "[a-c⊥\"\\\\\n\u{0}]{0,3}".prop_map(Sent::Name),
    ]
}

#[derive(Clone, Debug)]
struct Sending {
    width: usize,
    outputs: Vec<Vec<Sent>>,
    block: bool,
}

fn sending() -> impl Strategy<Value = Sending> {
    (1..4_usize, 0..5_usize, any::<bool>()).prop_flat_map(|(width, count, block)| {
        let outputs = prop::collection::vec(prop::collection::vec(sent(), width), count);
        outputs.prop_map(move |outputs| Sending { width, outputs, block })
    })
}

impl Sending {
    fn bytes(&self) -> Vec<u8> {
        if self.block {
            let mut names: Vec<&str> = Vec::new();
            let mut numbers = Vec::new();
            for sent in self.outputs.iter().flatten() {
                let bits = match sent {
                    Sent::Number(number) => number.to_bits(),
                    Sent::Name(name) => {
                        names.push(name);
                        (0x7ffd << 48) | (names.len() as u64 - 1)
                    }
                };
                numbers.extend(bits.to_le_bytes());
            }
            let line = format!("{}\n", json!({ "count": self.outputs.len(), "symbols": names }));
            return [line.into_bytes(), numbers].concat();
        }
        let value = |sent: &Sent| match sent {
            Sent::Number(number) if number.is_finite() => json!(number),
            Sent::Number(number) => json!(number.to_string()),
            Sent::Name(name) => json!(name),
        };
        let outputs: Vec<Vec<Value>> = self.outputs.iter().map(|output| output.iter().map(value).collect()).collect();
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

/// Exactly the rows that were asked for, or trouble.
fn right_or_refused(bytes: &[u8], count: usize, width: usize) -> Result<(), TestCaseError> {
    if let Ok(rows) = rows(bytes, 1 << 16, count, width) {
        prop_assert_eq!((rows.len(), rows.width()), (count, width));
    }
    Ok(())
}

/// A hello that is accepted has exactly the documented keys and values.
fn hello_is_right_or_refused(text: &str) -> Result<(), TestCaseError> {
    if let Ok(Hello { width, seeded }) = Hello::parse(text) {
        prop_assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({ "dp_audit": 1, "width": width, "seeded": seeded }));
        prop_assert!((1..=MAX_WIDTH).contains(&width));
    }
    Ok(())
}

/// Bytes replaced, put in or taken out.
fn changed(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, usize, Vec<u8>)]) -> Vec<u8> {
    for (at, cut, put) in changes {
        let at = at.index(bytes.len() + 1);
        bytes.splice(at..(at + cut).min(bytes.len()), put.iter().copied());
    }
    bytes
}

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, Vec<u8>)>> {
    let put = prop_oneof![prop::collection::vec(any::<u8>(), 0..4), "[\\[\\]{}\",:0-9e.-]{0,3}".prop_map(String::into_bytes)];
    prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, put), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 512,
        failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/protocol.txt"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn outputs_arrive_as_they_were_sent_in_pieces_of_any_size(sending in sending(), piece in 1..40_usize) {
        let expected: Vec<Vec<Cell>> = sending.outputs.iter().map(|output| output.iter().map(Sent::cell).collect()).collect();
        let rows = rows(&sending.bytes(), piece, sending.outputs.len(), sending.width).unwrap();
        prop_assert_eq!(rows.iter().map(<[Cell]>::to_vec).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_part_of_an_answer_is_no_answer(sending in sending(), end in any::<prop::sample::Index>()) {
        let bytes = sending.bytes();
        let found = rows(&bytes[..end.index(bytes.len())], 1 << 16, sending.outputs.len(), sending.width);
        prop_assert_eq!(found.err(), Some(Trouble::End));
    }

    #[test]
    fn another_count_is_refused(sending in sending(), asked in 0..6_usize) {
        let got = sending.outputs.len();
        prop_assume!(asked != got);
        let found = rows(&sending.bytes(), 1 << 16, asked, sending.width);
        prop_assert_eq!(found.err(), Some(Trouble::Problem(Problem::WrongCount { asked, got })));
    }

    #[test]
    fn a_changed_answer_is_right_or_refused(sending in sending(), changes in changes()) {
        right_or_refused(&changed(sending.bytes(), &changes), sending.outputs.len(), sending.width)?;
    }

    #[test]
    fn any_bytes_are_right_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0..4_usize, width in 1..4_usize) {
        right_or_refused(&[&bytes[..], b"\n"].concat(), count, width)?;
    }

    #[test]
    fn any_json_is_right_or_refused(value in value(), rest in prop::collection::vec(any::<u8>(), 0..40), count in 0..4_usize, width in 1..4_usize) {
        right_or_refused(&[format!("{value}\n").as_bytes(), &rest].concat(), count, width)?;
        hello_is_right_or_refused(&value.to_string())?;
    }

    #[test]
    fn a_changed_hello_is_right_or_refused(width in 0..=MAX_WIDTH + 10_000, seeded in any::<bool>(), changes in changes()) {
        let hello = json!({ "dp_audit": 1, "width": width, "seeded": seeded }).to_string();
        hello_is_right_or_refused(&hello)?;
        hello_is_right_or_refused(&String::from_utf8_lossy(&changed(hello.into_bytes(), &changes)))?;
    }
}

#[test]
fn ten_thousand_symbols_of_one_block_arrive() {
    let outputs: Vec<Vec<Sent>> = (0..10_000).rev().map(|index| vec![Sent::Name(format!("symbol {index}"))]).collect();
    let sending = Sending { width: 1, outputs, block: true };
    let rows = rows(&sending.bytes(), 1 << 16, 10_000, 1).unwrap();
    assert!(rows.iter().zip(&sending.outputs).all(|(row, output)| row[0] == output[0].cell()));
}
