//! Devices without what no estimate reads: sources, dates, notes. The report carries its own engine, and packed they
//! would be two thirds of its tables of devices. `cargo xtask web` writes them, `lean-catalogue` embeds them.

use super::Catalogue;
#[cfg(any(test, feature = "lean-catalogue"))]
use super::catalogue::HEADERS;
use super::figure::{CPU_KINDS, Confidence, Figure, KINDS, Kind, Value};

/// Figures that lists of devices show and estimates do not read.
const SHOWN_ONLY: [&str; 11] = [
    "typical_use",
    "fp4_tensor",
    "fp16_tensor_fp16_accumulate",
    "host_link_name",
    "interconnect",
    "interconnect_rate",
    "quoted_fp32_vector",
    "quoted_bandwidth",
    "quoted_host_link",
    "simd",
    "note",
];

/// What stands for the first kind of figure; the second has the next letter. A comma begins an id, a mark of exclamation
/// that of a device whose figures are announced.
const FIRST: u8 = b'A';

/// The GPUs and the CPUs of a catalogue, a text each: the id of a device on a line behind its mark, then its figures, the
/// letter of their kind and the value each.
pub fn lean(catalogue: &Catalogue) -> [String; 2] {
    [
        catalogue.gpus().iter().map(|gpu| device(gpu.id(), gpu.figures(), KINDS)).collect(),
        catalogue.cpus().iter().map(|cpu| device(&cpu.device.id, cpu.figures(), CPU_KINDS)).collect(),
    ]
}

fn device(id: &str, figures: &[Figure], kinds: &[Kind]) -> String {
    let read = figures.iter().filter(|figure| !SHOWN_ONLY.contains(&figure.kind.name));
    let lines = read.map(|figure| {
        let place = kinds.iter().position(|kind| kind.name == figure.kind.name).expect("figures are of these kinds");
        let letter = char::from(FIRST + place as u8);
        match &figure.value {
            Value::Number(value) => format!("{letter}{value}\n"),
            Value::Text(value) => format!("{letter}{value}\n"),
        }
    });
    let announced = figures.iter().any(|figure| figure.confidence == Confidence::Announced);
    let mark = if announced { "!" } else { "," };
    format!("{mark}{id}\n{}", lines.collect::<String>())
}

/// The tables of GPUs and CPUs that these stand for.
/// The two tables without the notes of their figures: the calculator page says the source of each, not what was noted.
///
/// # Panics
/// Never: tested, the embedded tables read.
pub fn cited() -> [String; 2] {
    [include_str!("../../catalogue/gpus.csv"), include_str!("../../catalogue/cpus.csv")].map(|table| {
        let mut cited = csv::Writer::from_writer(Vec::new());
        for row in
            csv::ReaderBuilder::new().has_headers(false).comment(Some(b'#')).from_reader(table.as_bytes()).records()
        {
            let row = row.expect("tested: the embedded tables read");
            let noted = &row[0] == "gpu" || &row[0] == "cpu" || row.len() < 8;
            let kept = row.iter().enumerate().map(|(i, field)| if i == 7 && !noted { "" } else { field });
            cited.write_record(kept).expect("written to memory");
        }
        String::from_utf8(cited.into_inner().expect("in memory")).expect("the tables are UTF-8")
    })
}

#[cfg(feature = "lean-catalogue")]
pub(super) fn devices() -> [String; 2] {
    [
        table(include_str!("../../../../target/page/gpus.txt"), 0, KINDS),
        table(include_str!("../../../../target/page/cpus.txt"), 1, CPU_KINDS),
    ]
}

/// A lean text as the table it stands for, below header `header`, with nothing where it has nothing.
#[cfg(any(test, feature = "lean-catalogue"))]
fn table(lean: &str, header: usize, kinds: &'static [Kind]) -> String {
    let (mut table, mut id, mut end) = (HEADERS[header].join(","), "", "");
    for line in lean.lines() {
        let (letter, value) = line.split_at(1);
        if matches!(letter, "," | "!") {
            id = value;
            end = if letter == "!" { ",-,2000-01-01,announced," } else { ",-,2000-01-01,editorial," };
            continue;
        }
        let kind = &kinds[usize::from(letter.as_bytes()[0] - FIRST)];
        for part in ["\n", id, ",", kind.name, ",\"", value, "\",", kind.unit, end] {
            table.push_str(part);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::{Cpu, Gpu};
    use super::*;

    #[test]
    fn estimates_read_the_same_devices() {
        let all = Catalogue::embedded();
        let [gpus, cpus] = lean(all);
        let lean = Catalogue::of([&table(&gpus, 0, KINDS), &table(&cpus, 1, CPU_KINDS)]).catalogue;
        let gpu = |gpu: &Gpu| {
            let aliases: Vec<String> = gpu.aliases().map(str::to_owned).collect();
            (gpu.device.clone(), aliases, gpu.figure("memory_type").map(|figure| figure.value.clone()))
        };
        assert_eq!(lean.gpus().iter().map(gpu).collect::<Vec<_>>(), all.gpus().iter().map(gpu).collect::<Vec<_>>());
        let cpu = |cpu: &Cpu| (cpu.device.clone(), cpu.threads, spellings(cpu));
        assert_eq!(lean.cpus().iter().map(cpu).collect::<Vec<_>>(), all.cpus().iter().map(cpu).collect::<Vec<_>>());
    }

    fn spellings(cpu: &Cpu) -> Vec<Value> {
        cpu.figures().iter().filter(|f| f.kind.name == "alias").map(|f| f.value.clone()).collect()
    }
}
