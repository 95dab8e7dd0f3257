//! A GPU of the catalogue: the device the models see, and what people want to read about it.

use super::figure::{Confidence, Figure, KINDS, kind};
use super::{Device, DeviceKind, Peaks, Vendor};
use crate::units::{Bytes, BytesPerSec, FlopPerSec, Hertz, Watts};

/// One GPU of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// As the models see it.
    pub device: Device,
    figures: Vec<Figure>,
}

/// What every GPU needs, so that it can be estimated at all.
pub(super) const REQUIRED: [&str; 5] = ["name", "vendor", "memory", "bandwidth", "fp32_vector"];

impl Gpu {
    /// The GPU that these figures describe; they lack none that is required.
    pub(super) fn new(id: &str, figures: Vec<Figure>) -> Self {
        let find = |name: &str| figures.iter().find(|f| f.kind.name == name);
        let number = |name: &str| find(name).and_then(Figure::number);
        let text = |name: &str| find(name).and_then(Figure::text).map(str::to_owned);
        let tera = |name: &str| number(name).map(FlopPerSec::tera);
        let device = Device {
            id: id.to_owned(),
            name: text("name").unwrap_or_default(),
            kind: DeviceKind::Gpu,
            vendor: vendor(&text("vendor").unwrap_or_default()),
            architecture: text("architecture").unwrap_or_default(),
            year: number("year").map(|n| n as u32),
            announced: figures.iter().any(|f| f.confidence == Confidence::Announced),
            units: number("units").map(|n| n as u32),
            cores_per_unit: number("cores_per_unit").map(|n| n as u32),
            boost: number("boost").map(|mhz| Hertz(mhz * 1e6)),
            compute_capability: text("compute_capability"),
            peaks: Peaks {
                f64_vector: tera("fp64_vector"),
                f64_tensor: tera("fp64_tensor"),
                f32_vector: tera("fp32_vector"),
                f16_vector: tera("fp16_vector"),
                f32_tensor: tera("fp32_tensor"),
                tf32_tensor: tera("tf32_tensor"),
                f16_tensor: tera("fp16_tensor"),
                bf16_tensor: tera("bf16_tensor"),
                f8_tensor: tera("fp8_tensor"),
                i8_tensor: tera("int8_tensor"),
            },
            memory: Bytes::gib(number("memory").unwrap_or_default()),
            bandwidth: BytesPerSec::gb_per_s(number("bandwidth").unwrap_or_default()),
            cache: number("last_level_cache").or_else(|| number("l2_cache")).map(Bytes::mib),
            shared_per_unit: number("shared_per_unit").map(|kib| Bytes(kib * 1024.0)),
            host_link: number("host_link").map(BytesPerSec::gb_per_s),
            unified_memory: find("unified_memory").and_then(Figure::text) == Some("yes"),
            tdp: number("tdp").map(Watts),
            idle: number("idle").map(Watts),
            context_idle: number("context_idle").map(Watts),
            measured: None,
            copies: None,
        };
        Self { device, figures }
    }

    /// Catalogue id, such as `h100-sxm5-80gb`.
    pub fn id(&self) -> &str {
        &self.device.id
    }

    /// Marketing name.
    pub fn name(&self) -> &str {
        &self.device.name
    }

    /// Every figure, in the order of the catalogue.
    pub fn figures(&self) -> &[Figure] {
        &self.figures
    }

    /// The figure of that name (see [`KINDS`](super::figure::KINDS)) with its source; the first where there are several.
    pub fn figure(&self, name: &str) -> Option<&Figure> {
        self.figures.iter().find(|f| f.kind.name == name)
    }

    /// Other spellings of its name.
    pub fn aliases(&self) -> impl Iterator<Item = &str> {
        self.texts("alias")
    }

    /// Its id, its name and its aliases.
    pub(crate) fn spellings(&self) -> impl Iterator<Item = &str> {
        [self.id(), self.name()].into_iter().chain(self.aliases())
    }

    /// What a reader should know of the whole GPU.
    pub fn notes(&self) -> impl Iterator<Item = &str> {
        self.texts("note")
    }

    /// What it is usually bought or rented for.
    pub fn typical_use(&self) -> Option<&str> {
        self.texts("typical_use").next()
    }

    /// Why `given` differs from the catalogue, when it is a well-known figure that does: the H100's 60 TFLOP/s, the
    /// 32 GB/s of PCIe 5. `name` is that of the figure and `given` in its unit.
    ///
    /// ```
    /// let h100 = breakeven::hardware::Catalogue::embedded().gpu("h100-sxm5-80gb").unwrap();
    /// assert!(h100.quoted("fp32_vector", 60.0).unwrap().contains("67"));
    /// assert!(h100.quoted("host_link", 32.0).unwrap().contains("63"));
    /// assert!(h100.quoted("fp32_vector", 50.0).is_none());
    /// ```
    pub fn quoted(&self, name: &str, given: f64) -> Option<&str> {
        let figure = self.figures.iter().find(|f| f.kind.name.strip_prefix("quoted_") == Some(name))?;
        let close = |quoted: f64| (given - quoted).abs() <= 0.01 * quoted;
        figure.number().is_some_and(close).then_some(&*figure.note)
    }

    fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let kind = kind(KINDS, name);
        self.figures.iter().filter(move |f| Some(f.kind) == kind).filter_map(Figure::text)
    }
}

/// The maker of that name.
pub(super) fn vendor(name: &str) -> Vendor {
    match name.to_ascii_lowercase().as_str() {
        "nvidia" => Vendor::Nvidia,
        "amd" => Vendor::Amd,
        "intel" => Vendor::Intel,
        "apple" => Vendor::Apple,
        _ => Vendor::Other,
    }
}
