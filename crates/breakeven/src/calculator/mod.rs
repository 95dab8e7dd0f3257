//! Numbers in, numbers out.

pub mod formula;
