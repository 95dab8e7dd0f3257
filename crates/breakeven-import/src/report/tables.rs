//! The tables of the report: GPUs, kernels, copies, host work.

use super::WIDTH;
use crate::summary::{HostTotal, Summary};
use breakeven::report::words::{UNKNOWN, bytes, bytes_per_s, count, printable, seconds, share};
use breakeven::report::{Align, Table};

/// Heads of what launched kernels.
const LINE: &str = "source line";
const MODULE: &str = "module";
/// Names that a table lists.
const LISTED: usize = 20;
/// The longest name in a table, characters.
const NAME: usize = 200;

/// What is not known has a sign of its own.
fn known(s: Option<f64>) -> String {
    s.map_or_else(|| UNKNOWN.to_owned(), seconds)
}

fn gpu_table(summary: &Summary) -> Table {
    let right = Align::Right;
    let mut table = Table::new(&[
        ("GPU", Align::Left),
        ("rank", right),
        ("kernels", right),
        ("their time", right),
        ("busy", right),
        ("of", right),
        ("copies", right),
        ("their time", right),
        ("memsets", right),
    ]);
    for gpu in &summary.gpus {
        let name = gpu.name.as_deref().unwrap_or("not named");
        let memsets = gpu.memsets.filter(|memsets| *memsets > 0).map_or_else(String::new, count);
        table.row(vec![
            format!("{} {}", gpu.number, printable(name, 40)),
            gpu.rank.map_or_else(String::new, |rank| rank.to_string()),
            gpu.kernels.map_or_else(|| UNKNOWN.to_owned(), count),
            known(gpu.kernel_s),
            known(gpu.busy_s),
            known(gpu.span_s),
            gpu.copies.map_or_else(|| UNKNOWN.to_owned(), count),
            known(gpu.copy_s),
            memsets,
        ]);
    }
    table
}

fn kernel_table(summary: &Summary) -> Table {
    let right = Align::Right;
    let columns = [
        ("kernels of", Align::Left),
        ("number", right),
        ("time", right),
        ("share", right),
        ("most of it", Align::Left),
    ];
    let mut table = Table::new(&columns);
    let all = summary.kernel_s.unwrap_or(0.0);
    for class in &summary.classes {
        table.row(vec![
            class.class.name().to_owned(),
            count(class.times.count),
            seconds(class.times.seconds),
            if all > 0.0 { share(class.times.seconds / all) } else { UNKNOWN.to_owned() },
            printable(short(&class.name), NAME),
        ]);
    }
    table
}

/// Without the words that most kernels of PyTorch begin with.
pub(super) fn short(name: &str) -> &str {
    let name = name.strip_prefix("void ").unwrap_or(name);
    let name = name.strip_prefix("at::native::").unwrap_or(name);
    name.strip_prefix("(anonymous namespace)::").unwrap_or(name)
}

fn copy_table(summary: &Summary) -> Table {
    let right = Align::Right;
    let mut table =
        Table::new(&[("copies", Align::Left), ("number", right), ("bytes", right), ("time", right), ("rate", right)]);
    for copy in &summary.copies {
        #[expect(clippy::cast_precision_loss, reason = "printed to three digits")]
        let size = copy.bytes.map(|bytes| bytes as f64);
        let rate = size.filter(|_| copy.times.seconds > 0.0).map(|size| size / copy.times.seconds);
        table.row(vec![
            copy.direction.words().to_owned(),
            count(copy.times.count),
            size.map_or_else(|| UNKNOWN.to_owned(), bytes),
            seconds(copy.times.seconds),
            rate.map_or_else(|| UNKNOWN.to_owned(), bytes_per_s),
        ]);
    }
    table
}

/// Host ops by the kernels they asked for; where there are none, host work by its own time.
fn host_table(summary: &Summary) -> Table {
    let right = Align::Right;
    let (rows, columns): (&[HostTotal], _) = if summary.gpus.is_empty() {
        (&summary.host, [("host work", Align::Left), ("number", right), ("own time", right)])
    } else {
        (&summary.ops, [("host op", Align::Left), ("kernels", right), ("their time", right)])
    };
    let mut table = Table::new(&columns);
    for host in rows.iter().take(LISTED) {
        table.row(vec![printable(&host.name, NAME), count(host.times.count), seconds(host.times.seconds)]);
    }
    table
}

/// Kernels by the source line, or by the module, that launched them.
fn place_table(rows: &[HostTotal], what: &'static str) -> Table {
    let right = Align::Right;
    let mut table = Table::new(&[(what, Align::Left), ("kernels", right), ("their time", right)]);
    for place in rows.iter().take(LISTED) {
        table.row(vec![printable(&place.name, NAME), count(place.times.count), seconds(place.times.seconds)]);
    }
    table
}

/// Streams, where a GPU has several, and how much of the GPU's time each was busy.
fn stream_table(summary: &Summary) -> Table {
    let right = Align::Right;
    let columns = [("stream", Align::Left), ("number", right), ("busy", right), ("share", right)];
    let mut table = Table::new(&columns);
    for stream in &summary.streams {
        let gpu = summary.gpus.iter().find(|gpu| gpu.number == stream.gpu);
        let span = gpu.and_then(|gpu| gpu.span_s).filter(|span| *span > 0.0);
        let number = stream.stream.map_or_else(|| UNKNOWN.to_owned(), |number| number.to_string());
        table.row(vec![
            format!("GPU {}: {number}", stream.gpu),
            count(stream.count),
            seconds(stream.busy_s),
            span.map_or_else(|| UNKNOWN.to_owned(), |span| share(stream.busy_s / span)),
        ]);
    }
    table
}

/// All of them.
pub(super) fn all(summary: &Summary) -> Vec<Table> {
    let tables = [
        gpu_table(summary),
        kernel_table(summary),
        copy_table(summary),
        place_table(&summary.lines, LINE),
        place_table(&summary.modules, MODULE),
        host_table(summary),
        stream_table(summary),
    ];
    tables.into_iter().filter(|table| !table.is_empty()).collect()
}

/// A table as lines, its header first; none where it has no rows.
fn lines(table: Table, widest: &str) -> Vec<String> {
    if table.is_empty() {
        return Vec::new();
    }
    let fits = table.without(&["memsets", "rank"], WIDTH).cut(widest, 8, WIDTH);
    fits.text(|_, _, cell| cell).lines().map(str::to_owned).collect()
}

pub(super) fn gpus(summary: &Summary) -> Vec<String> {
    lines(gpu_table(summary), "GPU")
}

pub(super) fn kernels(summary: &Summary) -> Vec<String> {
    lines(kernel_table(summary), "most of it")
}

pub(super) fn copies(summary: &Summary) -> Vec<String> {
    lines(copy_table(summary), "copies")
}

pub(super) fn host(summary: &Summary) -> Vec<String> {
    let widest = if summary.gpus.is_empty() { "host work" } else { "host op" };
    lines(host_table(summary), widest)
}

pub(super) fn source_lines(summary: &Summary) -> Vec<String> {
    lines(place_table(&summary.lines, LINE), LINE)
}

pub(super) fn modules(summary: &Summary) -> Vec<String> {
    lines(place_table(&summary.modules, MODULE), MODULE)
}

pub(super) fn streams(summary: &Summary) -> Vec<String> {
    lines(stream_table(summary), "stream")
}
