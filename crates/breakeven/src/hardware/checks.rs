//! Whether the figures of the embedded catalogue hold together.

use super::catalogue::sources;
use super::figure::{Confidence, Figure, KINDS};
use super::{Catalogue, Gpu};
use crate::workload::Dtype;
use std::collections::{BTreeMap, BTreeSet};

fn gpus() -> &'static [Gpu] {
    Catalogue::embedded().gpus()
}

fn number(gpu: &Gpu, name: &str) -> Option<f64> {
    gpu.figure(name).and_then(Figure::number)
}

#[test]
fn every_gpu_can_be_estimated() {
    // Apple publishes no power of its chips; AMD has told neither power nor host link of the MI455X yet.
    let no_power = ["mi455x", "m4-10-core", "m4-pro-20-core", "m5-10-core", "m5-pro-20-core", "m5-max-40-core"];
    let no_link = ["mi455x"];
    assert!(gpus().len() >= 170, "{}", gpus().len());
    for gpu in gpus() {
        let device = &gpu.device;
        assert!(device.tdp.is_some() != no_power.contains(&gpu.id()), "{}: no tdp", gpu.id());
        let linked = device.unified_memory != device.host_link.is_some();
        assert!(linked != no_link.contains(&gpu.id()), "{}: no way to the host", gpu.id());
        assert!(device.year.is_some() && !device.architecture.is_empty(), "{}", gpu.id());
        assert!(gpu.typical_use().is_some(), "{}: no typical use", gpu.id());
    }
}

/// Pascal's GeForce boards have 64 times fewer units for fp16 than for fp32; products in it take fp32's.
#[test]
fn sixteen_bits_are_never_slower_than_thirty_two() {
    for gpu in gpus() {
        let peak = |dtype| gpu.device.matrix_peak(dtype).map(|(rate, _)| rate);
        assert!(peak(Dtype::F16) >= peak(Dtype::F32), "{}", gpu.id());
    }
}

#[test]
fn every_figure_has_a_known_source() {
    let known: BTreeSet<String> = sources().into_iter().map(|s| s.id).collect();
    for gpu in gpus() {
        for figure in gpu.figures() {
            assert!(known.contains(&*figure.source), "{} {}: {}", gpu.id(), figure.kind.name, figure.source);
            if figure.confidence == Confidence::Estimate {
                assert!(!figure.note.is_empty(), "{} {}: an estimate says on what", gpu.id(), figure.kind.name);
            }
        }
    }
    for source in sources() {
        assert!(!source.title.is_empty() && !source.url.is_empty() && !source.licence.is_empty(), "{source:?}");
    }
}

#[test]
fn every_source_is_cited() {
    let tables = [
        include_str!("../../catalogue/gpus.csv"),
        include_str!("../../catalogue/cpus.csv"),
        include_str!("../../catalogue/instances.csv"),
        include_str!("../../catalogue/prices.csv"),
        include_str!("../../catalogue/grids.csv"),
        include_str!("../../catalogue/providers.csv"),
    ];
    for source in sources() {
        let field = format!(",{},", source.id);
        assert!(tables.iter().any(|table| table.contains(&field)), "{} is cited nowhere", source.id);
    }
}

#[test]
fn fp32_is_units_times_lanes_times_two_times_clock() {
    // Packed or dual issue gives the quoted peak twice the lanes.
    let doubled = |gpu: &Gpu| {
        let packed = ["CDNA3", "CDNA4", "RDNA3", "RDNA3.5", "RDNA4"];
        packed.contains(&gpu.device.architecture.as_str()) && gpu.figure("cores_per_unit").is_some()
    };
    let mut checked = 0;
    for gpu in gpus() {
        let (Some(units), Some(lanes), Some(mhz), Some(fp32)) =
            (number(gpu, "units"), number(gpu, "cores_per_unit"), number(gpu, "boost"), number(gpu, "fp32_vector"))
        else {
            continue;
        };
        let issue = if doubled(gpu) { 2.0 } else { 1.0 };
        let formula = issue * units * lanes * 2.0 * mhz * 1e6 / 1e12;
        assert!((fp32 / formula - 1.0).abs() < 0.04, "{}: {fp32} against {formula}", gpu.id());
        checked += 1;
    }
    assert!(checked >= 135, "{checked}");
}

#[test]
fn tensor_peaks_keep_their_ratios() {
    // Blackwell Ultra gave up int8; CDNA up to 2 and RDNA3 run int8 at the fp16 rate; the A10G has half of everything but fp16
    // accumulation; the MI100 runs bf16 at half rate; AMD gives the MI455X
    // the same rate in int8.
    let int8_cut =
        ["b300", "gb300", "mi100", "mi210", "mi250x", "mi250-one-die", "rx-7900-xtx", "radeon-8060s", "a10g", "mi455x"];
    let bf16_half = ["mi100"];
    // Rubin has more units for eight bits than for sixteen.
    let fp8_more = ["r200"];
    let close = |a: f64, b: f64| (a / b - 1.0).abs() < 0.03;
    for gpu in gpus() {
        let id = gpu.id();
        let Some(f16) = number(gpu, "fp16_tensor") else { continue };
        // Where accumulation in fp16 is faster, int8 follows that rate.
        let full = number(gpu, "fp16_tensor_fp16_accumulate").unwrap_or(f16);
        if let Some(i8) = number(gpu, "int8_tensor").filter(|_| !int8_cut.contains(&id)) {
            assert!(close(i8, 2.0 * full), "{id}: int8 {i8}, fp16 {full}");
        }
        if let Some(bf16) = number(gpu, "bf16_tensor").filter(|_| !bf16_half.contains(&id)) {
            assert!(close(bf16, f16), "{id}: bf16 {bf16}, fp16 {f16}");
        }
        if let Some(fp32) = number(gpu, "fp32_tensor") {
            assert!(close(4.0 * fp32, f16), "{id}: fp32 {fp32}, fp16 {f16}");
        }
        if let Some(tf32) = number(gpu, "tf32_tensor") {
            assert!(close(2.0 * tf32, f16), "{id}: tf32 {tf32}, fp16 {f16}");
        }
        if let Some(f8) = number(gpu, "fp8_tensor").filter(|_| !fp8_more.contains(&id)) {
            assert!(close(f8, 2.0 * f16), "{id}: fp8 {f8}, fp16 {f16}");
        }
    }
}

/// Datasheets give both directions of a link between GPUs together; the catalogue gives each, as for host links.
#[test]
fn links_are_counted_in_one_direction() {
    // Lanes × transfer rate ÷ 8 of the most links that a GPU has: 4 × 40, 6 × 50, 12 × 50, 18 × 50, 18 × 100, 36 × 100, halved.
    let most = [
        ("NVLink1", 80.0),
        ("NVLink2", 150.0),
        ("NVLink3", 300.0),
        ("NVLink4", 450.0),
        ("NVLink5", 900.0),
        ("NVLink6", 1800.0),
    ];
    let mut checked = 0;
    for gpu in gpus() {
        let Some(rate) = number(gpu, "interconnect_rate") else { continue };
        let link = gpu.figure("interconnect").and_then(Figure::text).unwrap_or_default();
        if let Some((_, most)) = most.iter().find(|(name, _)| link.starts_with(name)) {
            assert!(rate <= *most, "{}: {rate} GB/s over {link}", gpu.id());
            checked += 1;
        }
        // Where the host is a neighbour on the same link, both are the same.
        if gpu.figure("host_link_name").and_then(Figure::text) == Some("NVLink-C2C") && gpu.id().starts_with("gh200") {
            assert_eq!(number(gpu, "host_link"), Some(rate), "{}", gpu.id());
        }
        assert!(rate < 0.6 * number(gpu, "bandwidth").unwrap(), "{}", gpu.id());
    }
    assert!(checked >= 30, "{checked}");
}

/// What eight GPUs of a board have in all: the datasheet's sums.
#[test]
fn boards_of_eight_add_up() {
    for (id, figure, sum, unit) in [
        ("b200", "bandwidth", 62_000.0, "GB/s"),
        ("b300", "bandwidth", 62_000.0, "GB/s"),
        ("b200", "fp16_tensor", 18_000.0, "TFLOP/s"),
        ("b300", "fp16_tensor", 18_000.0, "TFLOP/s"),
        ("h100-sxm5-80gb", "bandwidth", 26_800.0, "GB/s"),
        ("h200-sxm-141gb", "bandwidth", 38_400.0, "GB/s"),
    ] {
        let one = number(Catalogue::embedded().gpu(id).unwrap(), figure).unwrap();
        assert!((8.0 * one / sum - 1.0).abs() < 0.015, "{id}: eight have {} {unit} of {figure}", 8.0 * one);
    }
}

/// What programs can have, as nvidia-smi tells it: never what lies on the package.
#[test]
fn memory_is_what_programs_can_use() {
    for (id, mebibytes) in [("b300", 275_040.0), ("gb300", 284_208.0)] {
        let gib = number(Catalogue::embedded().gpu(id).unwrap(), "memory").unwrap();
        assert!((gib * 1024.0 / mebibytes - 1.0).abs() < 1e-3, "{id}: {gib} GiB");
    }
}

/// A figure that nobody opened is none that a GPU stands on alone, and an announced GPU says so of its peaks.
#[test]
fn announced_figures_keep_their_mark() {
    let announced: Vec<&str> = gpus().iter().filter(|gpu| gpu.device.announced).map(Gpu::id).collect();
    assert_eq!(announced, ["r200", "mi455x"]);
    for gpu in gpus() {
        let known = |name| gpu.figure(name).is_some_and(|f| f.confidence != Confidence::Recalled);
        let core = ["memory", "bandwidth", "fp32_vector"].into_iter().filter(|name| known(name)).count();
        assert!(core >= 2, "{}", gpu.id());
    }
}

#[test]
fn no_peak_counts_sparsity() {
    for gpu in gpus() {
        // The best dense tensor rate of any GPU so far is 32 times its fp32 rate (B300, GB300: 30).
        let Some(f16) = number(gpu, "fp16_tensor") else { continue };
        let fp32 = number(gpu, "fp32_vector").unwrap();
        assert!(f16 / fp32 < 32.5, "{}: fp16 {f16}, fp32 {fp32}", gpu.id());
    }
}

#[test]
fn figures_are_physically_possible() {
    for gpu in gpus() {
        let d = &gpu.device;
        let flop_per_byte = d.peaks.f32_vector.unwrap().get() / d.bandwidth.get();
        assert!((3.0..150.0).contains(&flop_per_byte), "{}: {flop_per_byte} FLOP/B", gpu.id());
        let Some(watts) = d.tdp.map(|tdp| tdp.get()) else { continue };
        let flop_per_joule = d.peaks.f32_vector.unwrap().get() / watts;
        assert!((1e10..6e11).contains(&flop_per_joule), "{}: {flop_per_joule} FLOP/J", gpu.id());
        if let (Some(idle), Some(context)) = (d.idle, d.context_idle) {
            assert!(idle < context && context.get() < watts, "{}", gpu.id());
        }
        if let (Some(f64), Some(f32)) = (d.peaks.f64_vector, d.peaks.f32_vector) {
            assert!(f64 <= f32, "{}", gpu.id());
        }
        if let Some(link) = d.host_link {
            assert!(link < d.bandwidth, "{}", gpu.id());
        }
        assert!(d.cache.is_none_or(|cache| cache.get() < 0.02 * d.memory.get()), "{}: cache", gpu.id());
    }
}

#[test]
fn the_figures_people_check_first() {
    let check = |id: &str, tera: f64, gb_per_s: f64| {
        let gpu = Catalogue::embedded().gpu(id).unwrap();
        assert_eq!((number(gpu, "fp32_vector"), number(gpu, "bandwidth")), (Some(tera), Some(gb_per_s)), "{id}");
    };
    check("t4", 8.1, 320.0);
    check("a100-pcie-40gb", 19.5, 1555.0);
    check("a100-sxm4-40gb", 19.5, 1555.0);
    check("h100-sxm5-80gb", 67.0, 3350.0);
    check("mi300x", 163.4, 5300.0);
    for gpu in gpus().iter().filter(|gpu| gpu.figure("host_link_name").and_then(Figure::text) == Some("PCIe 5.0 x16")) {
        assert!(gpu.quoted("host_link", 32.0).unwrap().contains("63 GB/s"), "{}", gpu.id());
    }
}

#[test]
fn every_kind_of_figure_is_used() {
    let used: BTreeSet<&str> = gpus().iter().flat_map(|g| g.figures()).map(|f| f.kind.name).collect();
    let unused: Vec<_> = KINDS.iter().filter(|kind| !used.contains(kind.name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

#[test]
fn a_figure_is_there_once() {
    let mut lines: BTreeMap<(&str, &str, String), u32> = BTreeMap::new();
    for gpu in gpus() {
        for f in gpu.figures() {
            let text = if f.kind.repeats { f.text().unwrap_or_default().to_owned() } else { String::new() };
            *lines.entry((gpu.id(), f.kind.name, text)).or_default() += 1;
        }
    }
    let twice: Vec<_> = lines.iter().filter(|(_, n)| **n > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}
