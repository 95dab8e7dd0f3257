//! rocprof of ROCm: tables of each version, and the JSON of version 3. That of versions 1 and 2 is Chrome's format.

mod tables;
mod version3;

pub(crate) use tables::TablesReader;
pub(crate) use version3::Version3Reader;
