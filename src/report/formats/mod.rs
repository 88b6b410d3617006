//! The formats of a report: one file each, from a `RunReport` to bytes.
//!
//! | file | what it does |
//! |---|---|
//! | `csv.rs`, `json.rs`, `junit.rs`, `markdown.rs`, `html/` | one format each |
//! | `svg.rs`, `plot.rs`, `race.rs` | drawings, the pictures of a pair, the picture of a search |
//! | `canary_plot.rs` | the pictures of canaries |
//! | `runs_plot.rs` | the picture of many runs |
//! | `measurement.rs` | what was measured without a claim |
//! | `plots.rs` | the folder of pictures |
//! | `explain.rs` | an audit in plain words |

mod canary_plot;
pub mod csv;
pub mod explain;
pub mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod measurement;
pub mod plot;
pub mod plots;
mod race;
mod runs_plot;
pub mod svg;
