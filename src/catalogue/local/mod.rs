//! Local mechanisms: every person randomises their own value.

pub mod randomized_response;
pub mod rappor;
