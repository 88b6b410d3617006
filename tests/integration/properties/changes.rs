//! JSON documents with some places changed.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

/// What is put in the place of a value.
pub fn scrap() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        prop::sample::select(vec![
            json!(null),
            json!(true),
            json!(""),
            json!("inf"),
            json!("-inf"),
            json!("left"),
            json!("violated")
        ]),
        prop::sample::select(vec![
            json!(0),
            json!(-1),
            json!(1),
            json!(7),
            json!(u64::MAX),
            json!(i64::MIN)
        ]),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,5}", inner, 0..3)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

/// A change of one place of a JSON document.
#[derive(Clone, Debug)]
pub enum Change {
    Replace(Value),
    Remove,
    Add(String, Value),
    /// Another item of the same list or object.
    Copy(Index),
}

pub fn change() -> impl Strategy<Value = (Index, Change)> {
    let change = prop_oneof![
        4 => scrap().prop_map(Change::Replace),
        2 => Just(Change::Remove),
        1 => ("[a-z_]{1,8}", scrap()).prop_map(|(key, value)| Change::Add(key, value)),
        2 => any::<Index>().prop_map(Change::Copy),
    ];
    (any::<Index>(), change)
}

/// The pointers to all values within a value.
fn places(value: &Value, at: &str, found: &mut Vec<(String, String)>) {
    let items: Vec<(String, &Value)> = match value {
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| (index.to_string(), item)).collect()
        }
        Value::Object(map) => map
            .iter()
            .map(|(key, item)| (key.replace('~', "~0").replace('/', "~1"), item))
            .collect(),
        _ => Vec::new(),
    };
    for (key, item) in items {
        places(item, &format!("{at}/{key}"), found);
        found.push((at.to_owned(), key));
    }
}

pub fn changed(mut value: Value, at: Index, change: &Change) -> Value {
    let mut found = Vec::new();
    places(&value, "", &mut found);
    let (parent, key) = at.get(&found);
    match (value.pointer_mut(parent).expect("a place"), change) {
        (Value::Array(items), change) => {
            let index: usize = key.parse().expect("an index");
            match change {
                Change::Replace(scrap) => items[index] = scrap.clone(),
                Change::Remove => drop(items.remove(index)),
                Change::Add(_, scrap) => items.insert(index, scrap.clone()),
                Change::Copy(from) => items[index] = from.get(items).clone(),
            }
        }
        (Value::Object(map), change) => {
            match change {
                Change::Replace(scrap) => map.insert(key.clone(), scrap.clone()),
                Change::Remove => map.remove(key),
                Change::Add(new, scrap) => map.insert(new.clone(), scrap.clone()),
                Change::Copy(from) => {
                    let other = from.get(&map.values().cloned().collect::<Vec<_>>()).clone();
                    map.insert(key.clone(), other)
                }
            };
        }
        _ => unreachable!("only lists and objects have places"),
    }
    value
}

/// The text with one byte changed, if it is still a text.
pub fn other_byte(text: &str, at: Index, byte: u8) -> Option<String> {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at.index(text.len())] = byte;
    String::from_utf8(bytes).ok()
}
