//! An event that an output does or does not belong to, in the notation of audit files.
//!
//! An event is a condition on released values and says which of them must meet it. A symbol meets
//! only `equals`, `one_of` and `contains`: a mechanism that answers ⊥, panics or releases nothing
//! is not within any distance of the right answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Cell, TextView};
use crate::model::Record;
use crate::model::number::{Brief, counted};

/// An event: a condition on the released values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "EventKeys", into = "EventKeys")]
pub struct OutputEvent {
    condition: Condition,
    which: Which,
    /// The key to look at, where values are dictionaries.
    key: Option<String>,
    /// What a value counts as that was not released.
    absent: Option<f64>,
}

/// What is asked of a value. A list has one item for each value; a single item is for all of them.
#[derive(Clone, Debug, PartialEq)]
enum Condition {
    Equals(Items<Wanted>),
    OneOf(Vec<Wanted>),
    Within { radius: f64, of: Items<f64> },
    Between { at_least: Option<f64>, at_most: Option<f64> },
}

/// One item for all values, or one for each.
#[derive(Clone, Debug, PartialEq)]
enum Items<T> {
    Same(T),
    Each(Vec<T>),
}

impl<T> Items<T> {
    fn get(&self, index: usize) -> Option<&T> {
        match self {
            Self::Same(item) => Some(item),
            Self::Each(items) => items.get(index),
        }
    }
}

/// A value that an output may have: its cell, and what it is in the file.
#[derive(Clone, Debug, PartialEq)]
struct Wanted {
    cell: Cell,
    record: Record,
}

/// Which of the released values must meet the condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    All,
    Any,
    /// The value with this index; the first one is 0.
    One(usize),
}

/// The keys of an event in a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventKeys {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    equals: Option<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    one_of: Option<Vec<Record>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    contains: Option<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    within: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_least: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    at_most: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    component: Option<Record>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    absent: Option<f64>,
}

impl TryFrom<EventKeys> for OutputEvent {
    type Error = String;

    fn try_from(keys: EventKeys) -> Result<Self, String> {
        let EventKeys {
            equals,
            one_of,
            contains,
            within,
            of,
            at_least,
            at_most,
            component,
            key,
            absent,
        } = keys;
        if of.is_some() != within.is_some() {
            let (present, missing) = if of.is_some() { ("of", "within") } else { ("within", "of") };
            return Err(format!(
                "has {present} without {missing}; write {{ within = 2.5, of = 10 }}"
            ));
        }
        if key.as_ref().is_some_and(String::is_empty) {
            return Err("has an empty key; name a key of the outputs, or remove it".to_owned());
        }
        let between = at_least.is_some() || at_most.is_some();
        let stated =
            [equals.is_some(), one_of.is_some(), contains.is_some(), within.is_some(), between];
        if stated.into_iter().filter(|stated| *stated).count() != 1 {
            let problem = if stated.contains(&true) {
                "has more than one condition"
            } else {
                "has no condition"
            };
            return Err(format!(
                "{problem}; give one of equals, one_of, contains, within and of, at_least or at_most"
            ));
        }
        for (key, number) in
            [("within", within), ("at_least", at_least), ("at_most", at_most), ("absent", absent)]
        {
            if let Some(number) =
                number.filter(|number| !number.is_finite() || key == "within" && *number < 0.0)
            {
                let must = if key == "within" { "at least 0 and finite" } else { "finite" };
                return Err(format!("has {key} = {number}, must be {must}"));
            }
        }
        if let (Some(low), Some(high)) = (at_least, at_most)
            && low > high
        {
            return Err(format!(
                "has at_least = {low}, which is above at_most = {high}; exchange them"
            ));
        }
        let mut which = component.map(which).transpose()?;
        let condition = match (equals, one_of, contains, within.zip(of)) {
            (Some(Record::Fields(items)), ..) => Condition::Equals(Items::Each(wanted(items)?)),
            (Some(item), ..) => Condition::Equals(Items::Same(Wanted::new(item)?)),
            (_, Some(items), ..) => Condition::OneOf(wanted(items)?),
            (.., Some(item), _) => {
                if which.is_some() {
                    return Err("has contains and component; use equals to look at one component"
                        .to_owned());
                }
                which = Some(Which::Any);
                Condition::Equals(Items::Same(Wanted::new(item)?))
            }
            (.., Some((radius, Record::Fields(items)))) => {
                let numbers: Result<Vec<f64>, String> = items.iter().map(center).collect();
                Condition::Within { radius, of: Items::Each(numbers?) }
            }
            (.., Some((radius, item))) => {
                Condition::Within { radius, of: Items::Same(center(&item)?) }
            }
            (.., None) => Condition::Between { at_least, at_most },
        };
        let event = Self { condition, which: which.unwrap_or(Which::All), key, absent };
        match (event.items(), event.which) {
            (Some(0), _) => Err("has an empty list; give at least one value".to_owned()),
            (Some(_), Which::One(_)) => {
                Err("has a list and a component; give one value for one component".to_owned())
            }
            _ => Ok(event),
        }
    }
}

impl From<OutputEvent> for EventKeys {
    fn from(event: OutputEvent) -> Self {
        let mut keys = Self { absent: event.absent, key: event.key, ..Self::default() };
        keys.component = match event.which {
            Which::All => None,
            Which::Any => Some(Record::Text("any".to_owned())),
            Which::One(index) => Some(Record::Number((index + 1) as f64)),
        };
        match event.condition {
            Condition::Equals(Items::Same(item)) => keys.equals = Some(item.record),
            Condition::Equals(Items::Each(items)) => {
                keys.equals =
                    Some(Record::Fields(items.into_iter().map(|item| item.record).collect()));
            }
            Condition::OneOf(items) => {
                keys.one_of = Some(items.into_iter().map(|item| item.record).collect());
            }
            Condition::Within { radius, of } => {
                keys.within = Some(radius);
                keys.of = Some(match of {
                    Items::Same(number) => Record::Number(number),
                    Items::Each(numbers) => {
                        Record::Fields(numbers.into_iter().map(Record::Number).collect())
                    }
                });
            }
            Condition::Between { at_least, at_most } => {
                (keys.at_least, keys.at_most) = (at_least, at_most);
            }
        }
        keys
    }
}

fn which(component: Record) -> Result<Which, String> {
    match component {
        Record::Text(text) if text == "all" => Ok(Which::All),
        Record::Text(text) if text == "any" => Ok(Which::Any),
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        // a whole number in this range
        Record::Number(number)
            if number.fract() == 0.0 && (1.0..=super::MAX_WIDTH as f64).contains(&number) =>
        {
            Ok(Which::One(number as usize - 1))
        }
        other => Err(format!(
            "has component = {other}, must be a whole number from 1 on, \"any\" or \"all\""
        )),
    }
}

fn wanted(items: Vec<Record>) -> Result<Vec<Wanted>, String> {
    items.into_iter().map(Wanted::new).collect()
}

/// The number that a value should be close to.
fn center(record: &Record) -> Result<f64, String> {
    record
        .number()
        .ok_or_else(|| format!("has of = {record}, must be a number or a list of numbers"))
}

impl Wanted {
    fn new(record: Record) -> Result<Self, String> {
        let cell = match &record {
            Record::Number(number) if !number.is_finite() => {
                return Err(format!("has {record}, must be a finite number or a text"));
            }
            Record::Number(number) => plain(Cell::number(*number)),
            Record::Missing => return Err("has a missing value; give numbers and texts".to_owned()),
            Record::Text(text) => Cell::symbol(text),
            Record::Fields(_) => {
                return Err("has a list in a list; give numbers and texts".to_owned());
            }
        };
        Ok(Self { cell, record })
    }
}

/// The cell with −0 as 0: a sign of zero is for attackers.
fn plain(cell: Cell) -> Cell {
    if cell == Cell::number(-0.0) { Cell::number(0.0) } else { cell }
}

impl OutputEvent {
    /// The number of items of a list; None if there is none.
    fn items(&self) -> Option<usize> {
        match &self.condition {
            Condition::Equals(Items::Each(items)) => Some(items.len()),
            Condition::OneOf(items) if items.is_empty() => Some(0),
            Condition::Within { of: Items::Each(items), .. } => Some(items.len()),
            _ => None,
        }
    }

    /// What it looks at in outputs that are texts.
    #[must_use]
    pub fn view(&self) -> TextView {
        let of_parts = |item: &Wanted| matches!(&item.record, Record::Text(text) if text.trim_start().starts_with(['{', '[']));
        let is_whole = match &self.condition {
            Condition::Equals(Items::Same(item)) => of_parts(item),
            Condition::Equals(Items::Each(items)) | Condition::OneOf(items) => {
                items.iter().any(of_parts)
            }
            Condition::Within { .. } | Condition::Between { .. } => false,
        };
        match &self.key {
            Some(key) => TextView::Key(key.clone()),
            None if is_whole => TextView::Whole,
            None => TextView::Values,
        }
    }

    /// Checks that the event can be about outputs of this width. Outputs of a program may differ in
    /// length; then the width is not `exact`, and a list may be shorter.
    ///
    /// # Errors
    /// When it cannot. The error says what to do.
    pub fn check(&self, width: usize, exact: bool) -> Result<(), String> {
        if exact && self.key.is_some() {
            return Err(
                "has a key, which is for programs whose outputs are dictionaries; remove it"
                    .to_owned(),
            );
        }
        if let Which::One(index) = self.which
            && index >= width
        {
            return Err(format!(
                "component is {}, but an output has {width}; choose one of these",
                index + 1
            ));
        }
        match self.items() {
            Some(items) if items > width || exact && items < width => Err(format!(
                "its list has {}, but an output has {width}; give one for each",
                counted(items, "value")
            )),
            _ => Ok(()),
        }
    }

    /// Whether an output belongs to the event.
    #[must_use]
    pub fn has(&self, row: &[Cell]) -> bool {
        let row = &row[..self.items().unwrap_or(row.len()).min(row.len())];
        let mut values = row.iter().enumerate();
        match self.which {
            Which::All => values.all(|(index, cell)| self.meets(index, *cell)),
            Which::Any => values.any(|(index, cell)| self.meets(index, *cell)),
            Which::One(index) => row.get(index).is_some_and(|cell| self.meets(index, *cell)),
        }
    }

    fn meets(&self, index: usize, cell: Cell) -> bool {
        let cell = match self.absent {
            Some(number) if cell == Cell::ABSENT => Cell::number(number),
            _ => plain(cell),
        };
        // A symbol is a NaN, which no comparison accepts.
        let number = plain(cell).raw();
        match &self.condition {
            Condition::Equals(items) => items.get(index).is_some_and(|item| item.cell == cell),
            Condition::OneOf(items) => items.iter().any(|item| item.cell == cell),
            Condition::Within { radius, of } => {
                of.get(index).is_some_and(|of| (number - of).abs() <= *radius)
            }
            Condition::Between { at_least, at_most } => {
                !number.is_nan()
                    && at_least.is_none_or(|low| number >= low)
                    && at_most.is_none_or(|high| number <= high)
            }
        }
    }
}

impl fmt::Display for OutputEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.which, &self.key) {
            (Which::All, None) => f.write_str("every value is ")?,
            (Which::Any, None) => f.write_str("some value is ")?,
            (Which::One(index), None) => write!(f, "value {} is ", index + 1)?,
            (Which::All, Some(key)) => write!(f, "{key} is ")?,
            (Which::Any, Some(key)) => write!(f, "{key} of some value is ")?,
            (Which::One(index), Some(key)) => write!(f, "{key} of value {} is ", index + 1)?,
        }
        let list = |items: Vec<String>| format!("({})", items.join(", "));
        let texts = |items: &[Wanted]| items.iter().map(|item| item.record.to_string()).collect();
        match &self.condition {
            Condition::Equals(Items::Same(item)) => item.record.fmt(f)?,
            Condition::Equals(Items::Each(items)) => f.write_str(&list(texts(items)))?,
            Condition::OneOf(items) => write!(f, "one of {}", list(texts(items)))?,
            Condition::Within { radius, of } => {
                write!(f, "within {} of ", Brief(*radius))?;
                match of {
                    Items::Same(number) => write!(f, "{}", Brief(*number))?,
                    Items::Each(numbers) => f.write_str(&list(
                        numbers.iter().map(|number| Brief(*number).to_string()).collect(),
                    ))?,
                }
            }
            Condition::Between { at_least, at_most } => {
                let parts = [("at least", at_least), ("at most", at_most)];
                let parts = parts.into_iter().filter_map(|(word, number)| {
                    number.map(|number| format!("{word} {}", Brief(number)))
                });
                f.write_str(&parts.collect::<Vec<_>>().join(" and "))?;
            }
        }
        self.absent.map_or(Ok(()), |number| write!(f, " (∅ counts as {})", Brief(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> OutputEvent {
        #[derive(Deserialize)]
        struct File {
            event: OutputEvent,
        }
        toml::from_str::<File>(&format!("event = {text}"))
            .unwrap_or_else(|error| panic!("{text}: {error}"))
            .event
    }

    fn problem(text: &str) -> String {
        toml::from_str::<std::collections::HashMap<String, OutputEvent>>(&format!("event = {text}"))
            .unwrap_err()
            .to_string()
    }

    fn numbers(row: &[f64]) -> Vec<Cell> {
        row.iter().map(|number| Cell::number(*number)).collect()
    }

    #[test]
    fn an_output_belongs_to_an_event_or_not() {
        let bottom = [Cell::number(5.0), Cell::symbol("⊥")];
        let found = [Cell::number(5.0), Cell::symbol("a")];
        for (text, row, expected) in [
            ("{ equals = \"a\" }", &found[1..], true),
            ("{ equals = \"a\" }", &bottom[1..], false),
            ("{ equals = \"a\" }", &found[..], false),
            ("{ equals = \"a\", component = 2 }", &found[..], true),
            ("{ equals = \"a\", component = \"any\" }", &found[..], true),
            ("{ contains = \"a\" }", &found[..], true),
            ("{ contains = \"a\" }", &bottom[..], false),
            ("{ equals = [5, \"a\"] }", &found[..], true),
            ("{ equals = [5, \"b\"] }", &found[..], false),
            ("{ one_of = [\"a\", \"⊥\"], component = 2 }", &bottom[..], true),
            ("{ one_of = [\"a\", \"b\"], component = 2 }", &bottom[..], false),
            ("{ within = 0.5, of = 5 }", &bottom[..], false),
            ("{ within = 0.5, of = 5.5, component = 1 }", &bottom[..], true),
            ("{ within = 0.5, of = 5.75, component = 1 }", &bottom[..], false),
            ("{ at_least = 5, component = 1 }", &bottom[..], true),
            ("{ at_least = 5, component = 2 }", &bottom[..], false),
            ("{ at_least = 1, at_most = 4.5, component = 1 }", &bottom[..], false),
        ] {
            assert_eq!(event(text).has(row), expected, "{text}");
        }
    }

    #[test]
    fn every_value_has_its_own_centre_and_an_absent_one_may_count_as_a_number() {
        let cells = event("{ within = 1, of = [1, 10, 100] }");
        assert!(
            cells.has(&numbers(&[2.0, 9.0, 100.5])) && !cells.has(&numbers(&[2.0, 9.0, 102.0]))
        );
        let some = event("{ within = 1, of = [1, 10, 100], component = \"any\" }");
        assert!(some.has(&numbers(&[7.0, 7.0, 100.0])) && !some.has(&numbers(&[7.0; 3])));
        let truncated = [Cell::ABSENT, Cell::number(3.0)];
        assert!(event("{ within = 1, of = [1, 3], absent = 0 }").has(&truncated));
        assert!(!event("{ within = 1, of = [2, 3], absent = 0 }").has(&truncated));
        assert!(!event("{ within = 1, of = [1, 3] }").has(&truncated));
    }

    #[test]
    fn a_zero_has_no_sign() {
        for text in [
            "{ equals = 0 }",
            "{ equals = -0.0 }",
            "{ at_least = 0 }",
            "{ at_most = 0 }",
            "{ within = 0, of = 0 }",
        ] {
            assert!(
                event(text).has(&numbers(&[0.0])) && event(text).has(&numbers(&[-0.0])),
                "{text}"
            );
        }
    }

    #[test]
    fn what_makes_no_sense_is_rejected() {
        for (text, wanted) in [
            ("{}", "has no condition; give one of equals"),
            ("{ equals = 1, at_least = 1 }", "has more than one condition"),
            ("{ within = 1 }", "has within without of"),
            ("{ of = 1 }", "has of without within"),
            ("{ within = -1, of = 0 }", "has within = -1, must be at least 0"),
            ("{ within = inf, of = 0 }", "has within = inf"),
            ("{ at_least = nan }", "has at_least = NaN, must be finite"),
            ("{ at_least = 2, at_most = 1 }", "has at_least = 2, which is above at_most = 1"),
            ("{ within = 1, of = \"a\" }", "has of = a, must be a number"),
            ("{ equals = 1, component = 0 }", "has component = 0, must be a whole number from 1"),
            ("{ equals = 1, component = 1.5 }", "has component = 1.5"),
            ("{ equals = 1, component = \"some\" }", "has component = some"),
            ("{ equals = [1, 2], component = 1 }", "has a list and a component"),
            ("{ equals = [] }", "has an empty list"),
            ("{ one_of = [] }", "has an empty list"),
            ("{ equals = [[1]] }", "has a list in a list"),
            ("{ contains = 1, component = 1 }", "has contains and component"),
            ("{ near = 1 }", "unknown field `near`"),
            ("{ equals = true }", "true"),
            ("{ equals = 1, key = \"\" }", "has an empty key"),
        ] {
            assert!(problem(text).contains(wanted), "{text}: {}", problem(text));
        }
    }

    #[test]
    fn the_width_must_fit() {
        assert!(
            event("{ equals = 1, component = 3 }")
                .check(2, true)
                .unwrap_err()
                .contains("component is 3, but an output has 2")
        );
        assert!(
            event("{ equals = [1, 2, 3] }")
                .check(2, false)
                .unwrap_err()
                .contains("its list has 3 values")
        );
        assert!(
            event("{ equals = [1, 2] }")
                .check(3, true)
                .unwrap_err()
                .contains("its list has 2 values, but an output has 3")
        );
        assert_eq!(event("{ equals = [1, 2] }").check(3, false), Ok(()));
        assert_eq!(event("{ equals = 1 }").check(3, true), Ok(()));
        let of_key = event("{ equals = 1, key = \"n\" }");
        assert!(
            of_key.check(1, true).unwrap_err().contains("has a key, which is for programs")
                && of_key.check(1, false).is_ok()
        );
    }

    #[test]
    fn an_event_says_what_it_looks_at_in_texts() {
        for text in [
            "{ within = 1, of = 2 }",
            "{ at_least = 3 }",
            "{ equals = 3 }",
            "{ equals = \"a\" }",
            "{ one_of = [1, \"a\"] }",
        ] {
            assert_eq!(event(text).view(), TextView::Values, "{text}");
        }
        assert_eq!(event("{ equals = '{\"a\": 1}' }").view(), TextView::Whole);
        assert_eq!(event("{ one_of = ['[1, 2]', \"none\"] }").view(), TextView::Whole);
        assert_eq!(event("{ at_least = 3, key = \"n\" }").view(), TextView::Key("n".to_owned()));
    }

    #[test]
    fn events_are_described_and_written_as_they_were_read() {
        for (text, described) in [
            ("{ equals = \"a\" }", "every value is a"),
            ("{ equals = [1, \"b\"] }", "every value is (1, b)"),
            ("{ contains = 3 }", "some value is 3"),
            ("{ one_of = [\"a\", \"b\"], component = 2 }", "value 2 is one of (a, b)"),
            (
                "{ within = 2.5, of = [3, 4], absent = 0 }",
                "every value is within 2.5 of (3, 4) (∅ counts as 0)",
            ),
            ("{ within = 2.5, of = 10 }", "every value is within 2.5 of 10"),
            ("{ at_least = 1, at_most = 2 }", "every value is at least 1 and at most 2"),
            ("{ at_least = 1, key = \"best.score\" }", "best.score is at least 1"),
            ("{ equals = 1, key = \"n\", component = 2 }", "n of value 2 is 1"),
            ("{ contains = 1, key = \"n\" }", "n of some value is 1"),
        ] {
            let event = event(text);
            assert_eq!(event.to_string(), described);
            let written = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<OutputEvent>(&written).unwrap(), event, "{written}");
        }
    }
}
