//! The catalogue: GPUs, CPUs, prices and grids as text, every figure with its source.

use super::Gpu;
use super::figure::{Described, KINDS, kind, read_described};
use super::table::for_each_row;
use crate::{Error, Result};
use std::sync::OnceLock;

const GPUS: &str = include_str!("../../catalogue/gpus.csv");
const SOURCES: &str = include_str!("../../catalogue/sources.csv");

/// The first line of a table of GPUs.
pub const GPU_HEADER: [&str; 8] = ["gpu", "figure", "value", "unit", "source", "read", "confidence", "note"];

/// A document that figures were read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// As the figures name it.
    pub id: String,
    /// What it is.
    pub title: String,
    /// Where it is.
    pub url: String,
    /// On what terms.
    pub licence: String,
}

/// Every device that estimates can name.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalogue {
    gpus: Vec<Gpu>,
}

impl Catalogue {
    /// The catalogue that is part of the program. Read once.
    ///
    /// ```
    /// let catalogue = breakeven::hardware::Catalogue::embedded();
    /// let t4 = &catalogue.gpu("t4").unwrap().device;
    /// assert_eq!(t4.peaks.f32_vector.unwrap().get(), 8.1e12);
    /// assert_eq!(t4.bandwidth.get(), 320e9);
    /// ```
    pub fn embedded() -> &'static Self {
        static EMBEDDED: OnceLock<Catalogue> = OnceLock::new();
        EMBEDDED.get_or_init(|| Self { gpus: read_gpus(GPUS, "gpus.csv", &[]).expect("the tests read this very text") })
    }

    /// The embedded catalogue with the figures of `text` in place of its own, or added to them.
    ///
    /// `text` has the form of `gpus.csv`: see [`GPU_HEADER`] and [`KINDS`]. `file` names it in errors. A new
    /// GPU needs name, vendor, memory, bandwidth and fp32_vector.
    ///
    /// # Errors
    /// Every line that is not such a figure, with its number, what was given and what is allowed; a new GPU that
    /// lacks a required figure.
    ///
    /// ```
    /// use breakeven::hardware::Catalogue;
    /// let text = "gpu,figure,value,unit,source,read,confidence,note\n\
    ///             t4,bandwidth,300,GB/s,my own stream run,2026-11-21,measured,\n";
    /// let mine = Catalogue::embedded().with_override("mine.csv", text)?;
    /// assert_eq!(mine.gpu("t4").unwrap().device.bandwidth.get(), 300e9);
    ///
    /// let error = Catalogue::embedded().with_override("mine.csv", &text.replace("300", "-1")).unwrap_err();
    /// assert!(error.message.starts_with("mine.csv line 2: bandwidth of `t4` is `-1`"));
    /// # Ok::<(), breakeven::Error>(())
    /// ```
    pub fn with_override(&self, file: &str, text: &str) -> Result<Self> {
        Ok(Self { gpus: read_gpus(text, file, &self.gpus)? })
    }

    /// Every GPU, in the order of the catalogue.
    pub fn gpus(&self) -> &[Gpu] {
        &self.gpus
    }

    /// The GPU of exactly that id. People's spellings are for [`find_gpu`](Self::find_gpu).
    pub fn gpu(&self, id: &str) -> Option<&Gpu> {
        self.gpus.iter().find(|gpu| gpu.id() == id)
    }
}

/// The documents that the embedded catalogue was read from.
pub fn sources() -> Vec<Source> {
    let mut sources = Vec::new();
    for_each_row("sources.csv", SOURCES, &["source", "title", "url", "licence"], |row| {
        let field = |n| row.text(n).to_owned();
        sources.push(Source { id: field(0), title: field(1), url: field(2), licence: field(3) });
        Ok(())
    })
    .expect("the tests read this very text");
    sources
}

/// The GPUs of `text` on top of `base`.
fn read_gpus(text: &str, file: &str, base: &[Gpu]) -> Result<Vec<Gpu>> {
    let base = base.iter().map(|gpu| Described { id: gpu.id().to_owned(), line: 0, figures: gpu.figures().to_vec() });
    let missing = |device: &Described, name: &str| {
        let (line, id, unit) = (device.line, &device.id, kind(KINDS, name).map_or("", |kind| kind.unit));
        Error::new("catalogue-gpu", format!("{file} line {line}: the new GPU `{id}` has no {name}")).hint(format!(
            "a GPU needs name, vendor, memory, bandwidth and fp32_vector: add a line `{id},{name},…,{unit},…`; \
             to change a GPU of the catalogue, use its exact id (`breakeven gpus`)"
        ))
    };
    read_described(text, file, &GPU_HEADER, KINDS, base.collect())?
        .into_iter()
        .map(|device| {
            if let Some(name) = Gpu::lacks(&device.figures) {
                return Err(missing(&device, name));
            }
            Ok(Gpu::new(&device.id, device.figures))
        })
        .collect()
}
