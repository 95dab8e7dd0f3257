//! Tables: the GPUs, and who was on them.

use super::words::{energy, memory, or_unknown, percent, traffic, watts};
use crate::reading::{Field, HEAT, POWER};
use crate::totals::Totals;
use breakeven::report::words::{UNKNOWN, memory as amount, printable};
use breakeven::report::{Align, Table};

/// Processes that are shown.
const SHOWN: usize = 12;

/// A table before it is text or HTML; its first column is of names.
pub(super) struct Rows {
    /// What the table is of.
    pub(super) caption: &'static str,
    /// Names of the columns.
    pub(super) columns: Vec<&'static str>,
    /// Cells, row by row.
    pub(super) rows: Vec<Vec<String>>,
}

impl Rows {
    fn new(caption: &'static str, columns: &[&'static str]) -> Self {
        Self { caption, columns: columns.to_vec(), rows: Vec::new() }
    }

    fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// As text is made of it.
    pub(super) fn table(self) -> Table {
        let align = |n| if n == 0 { Align::Left } else { Align::Right };
        let columns: Vec<_> = self.columns.into_iter().enumerate().map(|(n, name)| (name, align(n))).collect();
        let mut table = Table::new(&columns);
        self.rows.into_iter().for_each(|row| table.row(row));
        table
    }
}

/// Every table that has a row.
pub(super) fn all(totals: &Totals) -> Vec<Rows> {
    [gpus(totals), more(totals), users(totals)].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

fn named(totals: &Totals, n: usize) -> String {
    let gpu = &totals.gpus[n];
    format!("{} {}", printable(&gpu.label, 8), printable(&gpu.name, 26))
}

/// How busy each was, and what it drew.
fn gpus(totals: &Totals) -> Rows {
    let mut table = Rows::new("Use, power and memory", &["GPU", "busy", "memory busy", "power", "energy", "memory"]);
    for (n, seen) in totals.seen.iter().enumerate() {
        let used = seen.stat(Field::Memory).most();
        let memory = match (used, totals.gpus[n].memory) {
            (Some(used), Some(all)) => memory(used, all),
            (used, _) => or_unknown(used.map(amount)),
        };
        table.row(vec![
            named(totals, n),
            percent(seen.stat(Field::Busy).mean()),
            percent(seen.stat(Field::MemoryBusy).mean()),
            or_unknown(seen.watts().map(watts)),
            or_unknown(energy(&seen.meter)),
            memory,
        ]);
    }
    table
}

/// Clocks, temperature and traffic.
fn more(totals: &Totals) -> Rows {
    let columns = ["GPU", "clock", "memory clock", "hottest", "power cap", "heat", "to GPU", "from GPU"];
    let mut table = Rows::new("Clocks, heat and traffic", &columns);
    for (n, seen) in totals.seen.iter().enumerate() {
        let mhz = |field| or_unknown(seen.stat(field).mean().map(|mhz| format!("{mhz:.0} MHz")));
        table.row(vec![
            printable(&totals.gpus[n].label, 8),
            mhz(Field::CoreMhz),
            mhz(Field::MemoryMhz),
            or_unknown(seen.stat(Field::Celsius).most().map(|celsius| format!("{celsius:.0} °C"))),
            percent(seen.throttled_share(POWER)),
            percent(seen.throttled_share(HEAT)),
            traffic(seen.stat(Field::ToGpu).mean()),
            traffic(seen.stat(Field::FromGpu).mean()),
        ]);
    }
    table
}

/// Who was there.
fn users(totals: &Totals) -> Rows {
    let mut table = Rows::new("Processes", &["process", "pid", "GPU", "busy", "most memory"]);
    let all = totals.users.all();
    for (gpu, pid, user) in all.iter().take(SHOWN) {
        let label = totals.gpus.get(*gpu).map_or_else(|| UNKNOWN.to_owned(), |gpu| printable(&gpu.label, 8));
        let name = if user.name.is_empty() { UNKNOWN.to_owned() } else { printable(&user.name, 24) };
        table.row(vec![name, pid.to_string(), label, percent(user.busy()), or_unknown(user.memory.map(amount))]);
    }
    if all.len() > SHOWN {
        let left = all.len() - SHOWN;
        table.row(vec![format!("… {left} more"), String::new(), String::new(), String::new(), String::new()]);
    }
    table
}
