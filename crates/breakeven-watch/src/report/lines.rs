//! A sample as one line: for people where the output is no terminal, or JSON.

use super::words::{memory, watts};
use crate::gpu::Gpu;
use crate::reading::{Field, Reading, Sample};
use breakeven::report::words::share;
use serde_json::{Map, Value, json};

/// `12.3 s | 0: 23 %, 61 W, 1.9 of 24 GiB, 1410 MHz | 1: lost | host: 1.1 cores`; what is unknown is left out.
pub fn plain(gpus: &[Gpu], sample: &Sample) -> String {
    let one = |(gpu, reading): (&Gpu, &Reading)| {
        if reading.lost() {
            return format!("{}: lost", gpu.label);
        }
        let told = [
            reading.get(Field::Busy).map(share),
            reading.get(Field::Watts).map(watts),
            reading.get(Field::Memory).zip(gpu.memory).map(|(used, all)| memory(used, all)),
            reading.get(Field::CoreMhz).map(|mhz| format!("{mhz:.0} MHz")),
        ];
        let told: Vec<String> = told.into_iter().flatten().collect();
        format!("{}: {}", gpu.label, if told.is_empty() { "?".to_owned() } else { told.join(", ") })
    };
    let mut parts = vec![format!("{:.1} s", sample.at)];
    parts.extend(gpus.iter().zip(&sample.gpus).map(one));
    parts.extend(sample.host.get(Field::Cores).map(|cores| format!("host: {cores:.1} cores")));
    parts.join(" | ")
}

/// `{"at_s": 12.3, "gpus": [{"gpu": "0", "busy": 0.23, …}], "host": {…}}`; what is unknown is `null`.
pub fn jsonl(gpus: &[Gpu], sample: &Sample) -> String {
    let values = |reading: &Reading, fields: &[Field]| {
        let row = |field: &Field| (field.key().to_owned(), json!(reading.get(*field)));
        fields.iter().map(row).collect::<Map<String, Value>>()
    };
    let one = |(gpu, reading): (&Gpu, &Reading)| {
        let mut row = values(reading, &Field::OF_GPUS);
        row.insert("gpu".to_owned(), json!(gpu.label));
        row.insert("lost".to_owned(), json!(reading.lost()));
        Value::Object(row)
    };
    let all = json!({
        "at_s": (sample.at * 1e3).round() / 1e3,
        "gpus": gpus.iter().zip(&sample.gpus).map(one).collect::<Vec<_>>(),
        "host": values(&sample.host, &Field::OF_HOST),
    });
    all.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use breakeven::hardware::Vendor;

    #[test]
    fn unknown_is_left_out_or_null_and_never_zero() {
        let mut reading = Reading::default();
        reading.set(Field::Busy, 0.23);
        reading.set(Field::Watts, 61.0);
        let gpus = [Gpu::new("0", Vendor::Nvidia, "NVIDIA L4"), Gpu::new("1", Vendor::Nvidia, "NVIDIA L4")];
        let sample = Sample { at: 12.34, gpus: vec![reading, Reading::default()], ..Sample::default() };
        assert_eq!(plain(&gpus, &sample), "12.3 s | 0: 23 %, 61 W | 1: ?");
        let row: Value = serde_json::from_str(&jsonl(&gpus, &sample)).unwrap();
        assert_eq!((&row["gpus"][0]["busy"], &row["gpus"][0]["celsius"]), (&json!(0.23), &Value::Null));
    }
}
