//! The formats of a report: one file each, from a `RunReport` to bytes.
//!
//! | file | what it does |
//! |---|---|
//! | `csv.rs`, `json.rs`, `junit.rs`, `markdown.rs`, `html/` | one format each |
//! | `svg.rs`, `plot.rs`, `race.rs` | drawings, the pictures of a pair, the picture of a search |
//! | `plots.rs` | the folder of pictures |
//! | `explain.rs` | an audit in plain words |

pub mod csv;
pub mod explain;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod plot;
pub mod plots;
mod race;
pub mod svg;
