//! Several GPUs for one run: the scaling curve as a table, and where it bends.

use super::table::{Align, Table};
use super::words;
use crate::estimate::Estimate;
use crate::several::Several;

/// Columns that go first where a line has no room.
pub(super) const SPARE: [&str; 4] = ["sent", "exchanges", "cost", "memory"];

/// A row for each number of GPUs; that asked about where there is no curve. Empty where one GPU was asked about.
pub(super) fn table(e: &Estimate) -> Table {
    let mut table = Table::new(&[
        ("GPUs", Align::Right),
        ("time", Align::Right),
        ("speedup", Align::Right),
        ("of each", Align::Right),
        ("memory", Align::Right),
        ("exchanges", Align::Right),
        ("sent", Align::Right),
        ("cost", Align::Right),
        ("held back by", Align::Left),
    ]);
    let Some(several) = &e.several else { return table };
    let one = std::slice::from_ref(&several.at);
    let points = if several.curve.is_empty() { one } else { &several.curve };
    let unknown = || words::UNKNOWN.to_owned();
    for p in points {
        let fits = if p.fits == Some(false) { "does not fit".to_owned() } else { p.held_back.clone() };
        table.row(vec![
            words::count(p.gpus),
            p.time_s.map_or_else(unknown, words::time),
            p.speedup.map_or_else(unknown, |s| words::times(s.p50)),
            p.efficiency.map_or_else(unknown, words::percent),
            p.memory_bytes.map_or_else(unknown, words::memory),
            words::seconds(p.exposed_s),
            words::bytes(p.sent_bytes),
            p.cost_usd.map_or_else(unknown, words::cost),
            fits,
        ]);
    }
    table
}

/// Where the curve bends; nothing where it does not, or there is none.
pub(super) fn bends(several: &Several) -> Option<String> {
    several.bends.as_ref().map(|text| words::as_sentence(&format!("the curve bends {text}")))
}
