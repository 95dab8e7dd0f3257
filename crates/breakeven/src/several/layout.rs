//! How GPUs divide one run: data, tensor and pipeline parallel and their product, read as people type it.

use crate::quantity::Measure;
use crate::report::words;
use crate::request::Divided;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};

/// More GPUs than this have no network that the defaults would describe.
const MOST: u64 = 65_536;

/// What data-parallel ranks hold once instead of each (Rajbhandari et al. 2020; FSDP is the third).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Zero {
    /// Nothing: `DistributedDataParallel`.
    #[default]
    Ddp,
    /// States of the optimizer.
    Zero1,
    /// And gradients.
    Zero2,
    /// And parameters: `FullyShardedDataParallel`.
    Zero3,
}

/// In which order a pipeline's stages take the parts of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// All forward, then all backward: every part's activations are kept.
    Gpipe,
    /// One forward, one backward: as many parts are kept as there are stages.
    #[default]
    #[serde(rename = "1f1b")]
    OneForwardOneBackward,
}

/// What data-parallel ranks do with the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scaling {
    /// Each has the recorded one: N times the samples a step.
    #[default]
    Weak,
    /// They share it: the same samples a step.
    Strong,
}

/// One way to divide a run; the product of its three parts is the number of GPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// Copies of the network, each with samples of its own.
    pub data: u64,
    /// GPUs that divide each layer.
    pub tensor: u64,
    /// Stages of layers.
    pub pipeline: u64,
    /// What the copies share.
    pub zero: Zero,
    /// Order of the stages.
    pub schedule: Schedule,
    /// Parts of the batch that follow each other through the stages; 1 without stages.
    pub micro_batches: u64,
    /// What becomes of the batch.
    pub scaling: Scaling,
}

impl Layout {
    /// GPUs in all.
    pub fn gpus(&self) -> u64 {
        self.data.saturating_mul(self.tensor).saturating_mul(self.pipeline)
    }

    /// The same with so many GPUs, as far as layers and stages allow: `None` where they do not divide them.
    pub fn with_gpus(&self, gpus: u64) -> Option<Self> {
        let copy = self.tensor * self.pipeline;
        (gpus.is_multiple_of(copy)).then(|| Self { data: gpus / copy, ..*self })
    }

    /// Rounds that a step of a pipeline takes, in rounds without one: (m + p − 1) ÷ m, 1 without stages.
    ///
    /// ```
    /// use breakeven::several::Layout;
    /// let four = Layout::one().of_stages(4, 8);
    /// assert_eq!(four.bubble(), 11.0 / 8.0);
    /// ```
    pub fn bubble(&self) -> f64 {
        let m = self.micro_batches.max(1) as f64;
        (m + self.pipeline as f64 - 1.0) / m
    }

    /// One GPU.
    pub fn one() -> Self {
        Self {
            data: 1,
            tensor: 1,
            pipeline: 1,
            zero: Zero::Ddp,
            schedule: Schedule::default(),
            micro_batches: 1,
            scaling: Scaling::default(),
        }
    }

    /// The same with stages.
    pub fn of_stages(self, pipeline: u64, micro_batches: u64) -> Self {
        Self { pipeline, micro_batches, ..self }
    }

    /// For people: `data parallel (DDP) × 4, tensor parallel × 2`.
    pub fn words(&self) -> String {
        let zero = match self.zero {
            Zero::Ddp => "DDP",
            Zero::Zero1 => "ZeRO 1",
            Zero::Zero2 => "ZeRO 2",
            Zero::Zero3 => "FSDP",
        };
        let schedule = match self.schedule {
            Schedule::Gpipe => "GPipe",
            Schedule::OneForwardOneBackward => "1F1B",
        };
        let mut parts = Vec::new();
        if self.tensor > 1 {
            parts.push(format!("tensor parallel × {}", self.tensor));
        }
        if self.pipeline > 1 {
            parts.push(format!("pipeline × {} ({schedule}, {} micro-batches)", self.pipeline, self.micro_batches));
        }
        if self.data > 1 || parts.is_empty() {
            parts.push(format!("data parallel ({zero}) × {}", self.data));
        }
        parts.join(", ")
    }

    /// Reads what was asked for.
    ///
    /// # Errors
    /// `bad-parallel` for a word that is none, a number that is no count, or parts that do not make up the GPUs.
    ///
    /// ```
    /// use breakeven::{request::Divided, several::Layout};
    /// let asked = Divided { gpus: Some("16".into()), parallel: Some("fsdp,tp=4,pp=2".into()), ..Divided::default() };
    /// let layout = Layout::read(&asked).unwrap();
    /// assert_eq!((layout.data, layout.tensor, layout.pipeline, layout.micro_batches), (2, 4, 2, 8));
    /// assert!(Layout::read(&Divided { gpus: Some("6".into()), ..asked }).is_err());
    /// ```
    pub fn read(asked: &Divided) -> Result<Self> {
        let refused = |message: String| {
            Error::new("bad-parallel", message)
                .hint("dp, fsdp, zero1, zero2, zero3, tp=4, pp=2, micro=8, gpipe, 1f1b, with commas: `tp=4,pp=2`")
                .field("parallel")
        };
        let gpus = match Measure::Count.read_field(&asked.gpus, "gpus")? {
            Some(n) if n.fract() != 0.0 || !(1.0..=MOST as f64).contains(&n) => {
                let message = format!("`--gpus {n}`: a run is divided among 1 to {MOST} GPUs, a whole number");
                return Err(Error::new("bad-gpus", message).hint("such as `--gpus 8`").field("gpus"));
            }
            n => n.map(|n| n as u64),
        };
        let mut out = Self::one();
        let (mut data, mut micro) = (None, None);
        for word in asked.parallel.as_deref().unwrap_or("dp").split(',').map(|w| w.trim().to_ascii_lowercase()) {
            let (name, count) = word.split_once('=').map_or((word.as_str(), None), |(name, n)| (name, Some(n)));
            let count = match count.map(|n| n.trim().parse::<u64>()) {
                None => None,
                Some(Ok(n)) if (1..=MOST).contains(&n) => Some(n),
                _ => return Err(refused(format!("`{}` has no whole number from 1", words::printable(&word, 40)))),
            };
            match (name.trim(), count) {
                ("dp" | "ddp", count) => (out.zero, data) = (Zero::Ddp, count.or(data)),
                ("fsdp" | "zero3", count) => (out.zero, data) = (Zero::Zero3, count.or(data)),
                ("zero2", count) => (out.zero, data) = (Zero::Zero2, count.or(data)),
                ("zero1", count) => (out.zero, data) = (Zero::Zero1, count.or(data)),
                ("tp", Some(n)) => out.tensor = n,
                ("pp", Some(n)) => out.pipeline = n,
                ("micro", Some(n)) => micro = Some(n),
                ("gpipe", None) => out.schedule = Schedule::Gpipe,
                ("1f1b", None) => out.schedule = Schedule::OneForwardOneBackward,
                _ => return Err(refused(format!("`{}` is no way to divide a run", words::printable(&word, 40)))),
            }
        }
        out.scaling = match asked.scaling.as_deref().map(str::trim) {
            None | Some("weak") => Scaling::Weak,
            Some("strong") => Scaling::Strong,
            Some(other) => {
                let message = format!("`--scaling {}` is neither weak nor strong", words::printable(other, 40));
                return Err(Error::new("bad-parallel", message)
                    .hint("weak: each rank has the recorded batch; strong: they share it")
                    .field("scaling"));
            }
        };
        let copy = out.tensor.saturating_mul(out.pipeline);
        out.data = match (gpus, data) {
            (None, data) => data.unwrap_or(1),
            (Some(n), None) if n.is_multiple_of(copy) => n / copy,
            (Some(n), Some(data)) if n == data.saturating_mul(copy) => data,
            (Some(n), data) => {
                let parts = data.map_or_else(|| copy.to_string(), |data| format!("{data} × {copy}"));
                return Err(refused(format!("{n} GPUs are not divided by layers and stages that need {parts}")));
            }
        };
        if out.gpus() > MOST {
            return Err(refused(format!("the layout needs {} GPUs; at most {MOST} are estimated", out.gpus())));
        }
        // Four parts a stage keep the idle rounds below a fifth of a step.
        out.micro_batches = if out.pipeline > 1 { micro.unwrap_or(4 * out.pipeline) } else { 1 };
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(gpus: Option<&str>, parallel: &str) -> Result<Layout> {
        Layout::read(&Divided { gpus: gpus.map(Into::into), parallel: Some(parallel.to_owned()), ..Divided::default() })
    }

    #[test]
    fn layouts_are_read_as_people_type_them() {
        assert_eq!(read(Some("8"), "dp").unwrap(), Layout { data: 8, ..Layout::one() });
        assert_eq!(read(None, "tp=4, PP=2").unwrap().gpus(), 8);
        assert_eq!(read(Some("8"), "zero2").unwrap().zero, Zero::Zero2);
        assert_eq!(read(None, "fsdp=4,tp=2").unwrap().words(), "tensor parallel × 2, data parallel (FSDP) × 4");
        let piped = read(None, "pp=4,micro=16,gpipe").unwrap();
        assert_eq!((piped.schedule, piped.micro_batches, piped.bubble()), (Schedule::Gpipe, 16, 19.0 / 16.0));
    }

    #[test]
    fn what_is_none_says_what_is() {
        for (gpus, parallel) in
            [(None, "magic"), (None, "tp=0"), (None, "tp"), (Some("6"), "tp=4"), (Some("2.5"), "dp"), (None, "tp=9e9")]
        {
            let error = read(gpus, parallel).unwrap_err();
            assert!(!error.hint.unwrap_or_default().is_empty(), "{parallel}");
        }
        assert!(read(None, "dp=65536,tp=65536,pp=65536").is_err());
    }
}
