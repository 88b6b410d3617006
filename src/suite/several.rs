//! Several audits in one file: `[[audit]]` tables, and above them the keys that they share.

use toml::{Table, Value};

use super::suggest::nearest;
use crate::audit::LISTS;

/// The key of the tables.
const AUDIT: &str = "audit";
/// The key whose values are merged: an audit may change one parameter and share the others.
const PARAMS: &str = "params";

/// One audit of a file, with all its keys.
pub struct Entry {
    /// Its keys, and the shared ones that it does not have itself.
    pub table: Table,
    /// Its own keys.
    own: Table,
    /// Its place among the `[[audit]]` tables; None if the whole file is one audit.
    index: Option<usize>,
}

impl Entry {
    /// A file that is one audit.
    fn whole(table: Table) -> Self {
        Self { own: table.clone(), table, index: None }
    }

    /// The path in the file to a key of the audit: `audit.2.claim.epsilon`, or `claim.epsilon` if
    /// the key is shared. The empty path is the audit itself.
    pub fn path_in_file(&self, path: &str) -> String {
        let Some(index) = self.index else { return path.to_owned() };
        let mut steps = path.split('.');
        let own = match (steps.next().unwrap_or_default(), steps.next()) {
            (PARAMS, Some(name)) if self.own.contains_key(PARAMS) => {
                self.own[PARAMS].get(name).is_some()
            }
            (key, _) => {
                key.is_empty() || self.own.contains_key(key) || !self.table.contains_key(key)
            }
        };
        match (own, path) {
            (true, "") => format!("{AUDIT}.{index}"),
            (true, path) => format!("{AUDIT}.{index}.{path}"),
            (false, path) => path.to_owned(),
        }
    }

    /// The name of the audit, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.table.get("name").and_then(Value::as_str)
    }
}

/// The audits of a file: one for each `[[audit]]`, or the file itself.
///
/// # Errors
/// What is wrong, and at which key.
pub fn entries(mut shared: Table) -> Result<Vec<Entry>, (String, String)> {
    let Some(audits) = shared.remove(AUDIT) else {
        return misspelt(&shared).map_or_else(|| Ok(vec![Entry::whole(shared)]), Err);
    };
    let problem = |key: &str, message: &str| (key.to_owned(), message.to_owned());
    let no_list =
        || problem(AUDIT, "audit is not a list of tables; write [[audit]] above the keys of each");
    let Value::Array(audits) = audits else { return Err(no_list()) };
    if audits.is_empty() {
        return Err(problem(
            AUDIT,
            "audit is empty; write [[audit]] above the keys of each audit, or remove it",
        ));
    }
    if shared.contains_key("name") {
        return Err(problem(
            "name",
            "name is for a file with one audit; give each [[audit]] its own name",
        ));
    }
    let entry = |(index, audit): (usize, Value)| match audit {
        Value::Table(own) => Ok(Entry { table: merged(&shared, &own), own, index: Some(index) }),
        _ => Err(no_list()),
    };
    audits.into_iter().enumerate().map(entry).collect()
}

/// A list of tables that no audit has, with a name that is nearly that of the list of audits or
/// pairs.
fn misspelt(table: &Table) -> Option<(String, String)> {
    let is_list =
        |value: &Value| matches!(value, Value::Array(items) if items.iter().any(Value::is_table));
    // All lists of tables that a file may have.
    let tables = || [AUDIT].into_iter().chain(LISTS.map(|[_, table]| table));
    let is_known = |key: &str| tables().any(|table| table == key);
    table.iter().filter(|(key, value)| is_list(value) && !is_known(key)).find_map(|(key, _)| {
        let near = nearest(key, tables())?;
        Some((key.clone(), format!("unknown field `{key}`; did you mean [[{near}]]?")))
    })
}

fn merged(shared: &Table, own: &Table) -> Table {
    let mut table = shared.clone();
    for (key, value) in own {
        match (table.get_mut(key), value) {
            (Some(Value::Table(params)), Value::Table(changed)) if key == PARAMS => {
                params.extend(changed.clone());
            }
            _ => _ = table.insert(key.clone(), value.clone()),
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<Entry>, (String, String)> {
        entries(toml::from_str(text).unwrap())
    }

    #[test]
    fn own_keys_replace_shared_ones_and_parameters_are_merged() {
        let text = "draws = 5\nclaim = { epsilon = 1, delta = 0.1 }\nparams = { a = 1, b = 2 }\n[[audit]]\nname = \"x\"\nclaim = { epsilon = 2 }\n\
                    [[audit]]\nname = \"y\"\ndraws = 6\nparams = { b = 3 }\n[[audit.pair]]\nname = \"p\"\n";
        let found = of(text).unwrap();
        let wanted = [
            "name = \"x\"\ndraws = 5\nclaim = { epsilon = 2 }\nparams = { a = 1, b = 2 }",
            "name = \"y\"\ndraws = 6\nclaim = { epsilon = 1, delta = 0.1 }\nparams = { a = 1, b = 3 }\n[[pair]]\nname = \"p\"\n",
        ];
        for (entry, wanted) in found.iter().zip(wanted) {
            assert_eq!(entry.table, toml::from_str::<Table>(wanted).unwrap());
        }
        assert_eq!(found.len(), 2);
        let paths =
            ["name", "draws", "claim.delta", "params.a", "params.b", "pair.0.name", "unknown", ""]
                .map(|path| found[1].path_in_file(path));
        let wanted = [
            "audit.1.name",
            "audit.1.draws",
            "claim.delta",
            "params.a",
            "audit.1.params.b",
            "audit.1.pair.0.name",
            "audit.1.unknown",
            "audit.1",
        ];
        assert_eq!(paths, wanted);
    }

    #[test]
    fn a_file_without_tables_is_one_audit() {
        let found = of("name = \"x\"\nparams = { a = 1 }\n").unwrap();
        assert_eq!(
            (found.len(), found[0].name(), found[0].path_in_file("params.a")),
            (1, Some("x"), "params.a".to_owned())
        );
    }

    #[test]
    fn what_is_no_list_of_audits_is_refused() {
        for (text, key) in [
            ("[[audits]]", "audits"),
            ("[[Audit]]", "Audit"),
            ("[[pairs]]", "pairs"),
            ("audit = []", "audit"),
            ("audit = 3", "audit"),
            ("audit = [3]", "audit"),
            ("name = \"x\"\n[[audit]]\nname = \"y\"", "name"),
        ] {
            assert_eq!(of(text).map(|_| ()).unwrap_err().0, key, "{text}");
        }
        assert_eq!(
            of("[[audits]]").map(|_| ()).unwrap_err().1,
            "unknown field `audits`; did you mean [[audit]]?"
        );
        // Generated pairs are a table, and what is far from every name is left to the check of all
        // keys.
        for text in
            ["[pairs]\npatterns = { components = 2 }", "[[colours]]", "[[pair]]\n[[accuracy]]"]
        {
            assert!(of(text).is_ok(), "{text}");
        }
    }
}
