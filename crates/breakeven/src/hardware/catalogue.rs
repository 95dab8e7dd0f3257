//! The catalogue: GPUs, CPUs, prices and grids as text, every figure with its source.

use super::figure::{Confidence, Figure, Value, kind};
use super::gpu::put;
use super::table::{Row, for_each_row, shown};
use super::{Gpu, figure};
use crate::{Error, Result};
use std::collections::BTreeMap;
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
    /// `text` has the form of `gpus.csv`: see [`GPU_HEADER`] and [`figure::KINDS`]. `file` names it in errors. A new
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
    // Figures by place in the result; `index` finds the place of an id.
    let mut tables: Vec<(String, u64, Vec<Figure>)> =
        base.iter().map(|gpu| (gpu.id().to_owned(), 0, gpu.figures().to_vec())).collect();
    let mut index: BTreeMap<String, usize> = tables.iter().enumerate().map(|(n, t)| (t.0.clone(), n)).collect();
    let mut last: Option<usize> = None;
    for_each_row(file, text, &GPU_HEADER, |row| {
        let id = row.text(0);
        let place = match last {
            Some(place) if tables[place].0 == id => place,
            _ => *index.entry(id.to_owned()).or_insert(tables.len()),
        };
        if place == tables.len() {
            check_id(&row, id)?;
            tables.push((id.to_owned(), row.line(), Vec::with_capacity(32)));
        }
        last = Some(place);
        put(&mut tables[place].2, read_figure(&row)?);
        Ok(())
    })?;
    tables
        .into_iter()
        .map(|(id, line, figures)| {
            Gpu::new(&id, figures).map_err(|missing| {
                let unit = kind(missing).map_or("", |kind| kind.unit);
                Error::new("catalogue-gpu", format!("{file} line {line}: the new GPU {} has no {missing}", shown(&id))).hint(
                    format!(
                        "a GPU needs name, vendor, memory, bandwidth and fp32_vector: add a line `{id},{missing},…,{unit},…`; \
                         to change a GPU of the catalogue, use its exact id (`breakeven gpus`)"
                    ),
                )
            })
        })
        .collect()
}

fn check_id(row: &Row<'_>, id: &str) -> Result<()> {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if id.is_empty() || id.len() > 64 || !id.bytes().all(good) {
        return Err(row.error(format!("the GPU's id is {}: 1 to 64 of a–z, 0–9 and - are allowed", shown(id))));
    }
    Ok(())
}

fn read_figure(row: &Row<'_>) -> Result<Figure> {
    let (id, name, unit) = (row.text(0), row.text(1), row.text(3));
    let Some(kind) = kind(name) else {
        let allowed = figure::KINDS.iter().map(|k| k.name).collect::<Vec<_>>().join(", ");
        return Err(row.error(format!("there is no figure {}", shown(name))).hint(format!("figures are {allowed}")));
    };
    let what = format!("{name} of `{id}`");
    if unit != kind.unit {
        return Err(row.error(format!("{what} is in {}: {} is allowed", shown(unit), kind.unit)));
    }
    let value = match kind.unit {
        "text" => Value::Text(row.required(2, &what)?.to_owned()),
        "flag" => match row.text(2) {
            flag @ ("yes" | "no") => Value::Text(flag.to_owned()),
            other => return Err(row.error(format!("{what} is {}: yes and no are allowed", shown(other)))),
        },
        unit => {
            let value = row.number(2, &what, *kind.range.start(), *kind.range.end())?;
            if matches!(unit, "count" | "year") && value.fract() != 0.0 {
                return Err(row.error(format!("{what} is {}: a whole number is allowed", shown(row.text(2)))));
            }
            Value::Number(value)
        }
    };
    let confidence = Confidence::parse(row.text(6)).ok_or_else(|| {
        let allowed = Confidence::ALL.map(|(_, name)| name).join(", ");
        row.error(format!("the confidence of {what} is {}: {allowed} are allowed", shown(row.text(6))))
    })?;
    Ok(Figure {
        kind,
        value,
        source: row.required(4, &format!("the source of {what}"))?.into(),
        read: row.date(5)?,
        confidence,
        note: row.text(7).into(),
    })
}
