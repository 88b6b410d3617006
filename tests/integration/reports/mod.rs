//! Report files, gates and witnesses, as CI meets them.

mod agreement;
mod ci;
mod gate;
mod html;
mod replay;
mod schema;
