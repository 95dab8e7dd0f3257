//! Measured convolutions with every side of theirs: groups, kernels that are no squares, channels last in memory.

use crate::Result;
use crate::data::{Gpus, Kernel};
use breakeven::hardware::Device;
use breakeven::interval::Interval;
use breakeven::kernel::entry_time;
use breakeven::workload::Entry;
use serde_json::json;

/// The kit's own measurements of an H100, which belong to the project: fits look at them beside any folder.
const OWN: &str = "measured/h100-sxm-convolutions.csv";
const OWN_GPU: &str = "h100-sxm5-80gb";

/// Whether a file with that header holds them.
pub fn are_in(header: &csv::StringRecord) -> bool {
    ["kh", "kw", "groups", "layout"].iter().all(|name| header.iter().any(|h| h == *name))
}

/// Adds the rows of [`OWN`].
pub fn own(gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let gpu = gpus.index(OWN_GPU).ok_or("the H100 is in the catalogue")?;
    let mut reader = csv::Reader::from_reader(include_str!("../measured/h100-sxm-convolutions.csv").as_bytes());
    let header = reader.headers()?.clone();
    for record in reader.records() {
        let record = record?;
        let entry = entry(&header, &record)?;
        let measured = cell(&header, &record, "latency_us").parse::<f64>()? * 1e-6;
        let labels = [entry.name.clone(), dtype_label(&entry)];
        kernels.push(Kernel {
            channels_last: entry.layout.is_some(),
            ..Kernel::timed(OWN, gpu, labels, (entry.op, entry.dtype), measured)
        });
    }
    Ok(())
}

/// Op, dtype (with the layout, where it is channels last) and modelled time in µs of a row.
pub fn timed(
    header: &csv::StringRecord,
    record: &csv::StringRecord,
    device: &Device,
) -> std::result::Result<(String, String, Interval), String> {
    let entry = entry(header, record)?;
    let time = entry_time(&entry, device);
    let us = Interval::log_normal(time.p50.get() * 1e6, time.sigma_shared.hypot(time.sigma_own));
    Ok((entry.name.clone(), dtype_label(&entry), us))
}

fn dtype_label(entry: &Entry) -> String {
    entry.dtype.name().to_owned() + if entry.layout.is_some() { " last" } else { "" }
}

fn cell<'r>(header: &csv::StringRecord, record: &'r csv::StringRecord, name: &str) -> &'r str {
    header.iter().position(|h| h == name).and_then(|i| record.get(i)).unwrap_or_default()
}

/// A row as an entry of a workload.
fn entry(header: &csv::StringRecord, record: &csv::StringRecord) -> std::result::Result<Entry, String> {
    let text = |name: &str| cell(header, record, name);
    let side = |name: &str| text(name).parse::<u64>().map_err(|e| format!("{name} is `{}`: {e}", text(name)));
    let pass = match text("op") {
        "conv" => "forward",
        "conv_data" => "backward_data",
        "conv_weight" => "backward_weight",
        other => return Err(format!("`{other}` is no convolution")),
    };
    let sides = |names: [&str; 2]| Ok::<_, String>([side(names[0])?, side(names[1])?]);
    let (image, kernel) = (sides(["h", "w"])?, sides(["kh", "kw"])?);
    let (stride, pad) = (sides(["sh", "sw"])?, sides(["ph", "pw"])?);
    let output = [0, 1].map(|i| (image[i] + 2 * pad[i]).saturating_sub(kernel[i]) / stride[i].max(1) + 1);
    let layout = Some(text("layout")).filter(|layout| !layout.is_empty());
    let op = json!({ "convolution": {
        "pass": pass, "batch": side("b")?, "cin": side("cin")?, "cout": side("cout")?, "groups": side("groups")?,
        "input": image, "kernel": kernel, "output": output,
    } });
    let entry = json!({
        "site": 0, "name": text("op"), "op": op, "dtype": text("dtype"), "count": 1, "layout": layout,
    });
    serde_json::from_value(entry).map_err(|e| e.to_string())
}
