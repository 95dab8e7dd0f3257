//! Measured convolutions with every side of theirs: groups, kernels that are no squares, channels last in memory.

use breakeven::hardware::Device;
use breakeven::interval::Interval;
use breakeven::kernel::entry_time;
use breakeven::workload::Entry;
use serde_json::json;

/// Whether a file with that header holds them.
pub fn are_in(header: &csv::StringRecord) -> bool {
    ["kh", "kw", "groups", "layout"].iter().all(|name| header.iter().any(|h| h == *name))
}

/// Op, dtype (with the layout, where it is channels last) and modelled time in µs of a row.
pub fn timed(
    header: &csv::StringRecord,
    record: &csv::StringRecord,
    device: &Device,
) -> Result<(String, String, Interval), String> {
    let text = |name: &str| header.iter().position(|h| h == name).and_then(|i| record.get(i)).unwrap_or_default();
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
    let entry: Entry = serde_json::from_value(entry).map_err(|e| e.to_string())?;
    let time = entry_time(&entry, device);
    let us = Interval::log_normal(time.p50.get() * 1e6, time.sigma_shared.hypot(time.sigma_own));
    let dtype = entry.dtype.name().to_owned() + if layout.is_some() { " last" } else { "" };
    Ok((text("op").to_owned(), dtype, us))
}
