//! What is known of a job's use of its GPUs, from its steps, from samples, or from columns of its row.

/// Memory that a GPU shows with nothing on it, bytes: a context takes more than twice as much.
pub const EMPTY: f64 = 150e6;
/// Samples of a GPU below which nothing is certain.
pub const ENOUGH: u64 = 20;
/// The part of a job that samples have to span for anything to be certain.
pub const SPANNED: f64 = 0.8;

/// Where it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum By {
    /// Nothing is known.
    #[default]
    Nothing,
    /// Slurm's accounting: its steps' `TRESUsageInMax` and `TRESUsageInAve`, read every half minute or so.
    Slurm,
    /// Samples of nvidia-smi or DCGM.
    Samples,
    /// Columns of the job's own row.
    Columns,
}

impl By {
    /// For programs.
    pub const fn key(self) -> Option<&'static str> {
        match self {
            Self::Nothing => None,
            Self::Slurm => Some("slurm"),
            Self::Samples => Some("samples"),
            Self::Columns => Some("columns"),
        }
    }
}

/// How a job used its GPUs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// Where it is from.
    pub by: By,
    /// Highest share of the time between two looks that a GPU was busy, 0 to 1; of Slurm the sum over the GPUs of a
    /// task.
    pub peak: Option<f64>,
    /// Mean of that share over GPUs and time; of Slurm, at least that.
    pub mean: Option<f64>,
    /// Most memory used on a GPU, bytes.
    pub memory: Option<f64>,
    /// GPUs that were seen, and those of them that were never busy and held nothing.
    pub seen: Option<f64>,
    /// See `seen`.
    pub idle: Option<f64>,
    /// A part of the job says nothing: a step without figures, too few samples, a node without samples.
    pub partial: bool,
    /// From when to when, s, where that is told.
    pub span: Option<(f64, f64)>,
}

impl Usage {
    /// Whether anything is known of how busy they were.
    pub const fn is_known(&self) -> bool {
        self.peak.is_some() || self.mean.is_some()
    }

    /// What two parts of one job say together: the higher figures, so that no part is overlooked.
    pub fn and(&mut self, other: &Self) {
        if other.by == By::Nothing {
            return;
        }
        if self.by == By::Nothing {
            let partial = self.partial;
            *self = other.clone();
            self.partial |= partial;
            return;
        }
        let higher = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).reduce(f64::max);
        self.partial |= other.partial || self.peak.is_some() != other.peak.is_some();
        self.peak = higher(self.peak, other.peak);
        self.mean = higher(self.mean, other.mean);
        self.memory =
            if self.memory.is_some() == other.memory.is_some() { higher(self.memory, other.memory) } else { None };
        // Which of two parts' idle GPUs are the same is not known: only what both leave idle is sure to be.
        self.idle = self.idle.zip(other.idle).map(|(a, b)| a.min(b));
        self.seen = higher(self.seen, other.seen);
        self.span = self.span.zip(other.span).map(|(a, b)| (a.0.min(b.0), a.1.max(b.1)));
    }
}

/// Samples of one GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// How many told its share.
    pub count: u64,
    sum: f64,
    peak: f64,
    memory: Option<f64>,
    first: Option<f64>,
    last: Option<f64>,
}

impl Samples {
    /// One more: share, bytes used, when.
    pub fn add(&mut self, share: Option<f64>, bytes: Option<f64>, at: Option<f64>) {
        if let Some(share) = share {
            self.count += 1;
            self.sum += share;
            self.peak = self.peak.max(share);
        }
        self.memory = self.memory.into_iter().chain(bytes).reduce(f64::max);
        self.first = self.first.into_iter().chain(at).reduce(f64::min);
        self.last = self.last.into_iter().chain(at).reduce(f64::max);
    }

    /// Samples of all GPUs of a job as its usage; nothing where none told a share.
    pub fn usage<'a>(gpus: impl Iterator<Item = &'a Self>) -> Option<Usage> {
        let gpus: Vec<&Self> = gpus.filter(|gpu| gpu.count > 0).collect();
        let seen = gpus.len() as f64;
        let least = gpus.iter().map(|gpu| gpu.count).min()?;
        let means = gpus.iter().map(|gpu| gpu.sum / gpu.count as f64);
        let memory = gpus.iter().map(|gpu| gpu.memory).reduce(|a, b| Some(a?.max(b?))).flatten();
        let first = gpus.iter().filter_map(|gpu| gpu.first).reduce(f64::min);
        let last = gpus.iter().filter_map(|gpu| gpu.last).reduce(f64::max);
        let idle = gpus.iter().filter(|gpu| gpu.peak <= 0.0 && gpu.memory.is_some_and(|bytes| bytes <= EMPTY)).count();
        Some(Usage {
            by: By::Samples,
            peak: gpus.iter().map(|gpu| gpu.peak).reduce(f64::max),
            mean: Some(means.sum::<f64>() / seen),
            memory,
            seen: Some(seen),
            idle: Some(idle as f64),
            partial: least < ENOUGH,
            span: first.zip(last),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parts_never_say_less_than_one() {
        let busy = Usage { by: By::Slurm, peak: Some(0.9), mean: Some(0.5), ..Usage::default() };
        let mut whole =
            Usage { by: By::Slurm, peak: Some(0.0), mean: Some(0.0), memory: Some(0.0), ..Usage::default() };
        whole.and(&busy);
        assert_eq!((whole.peak, whole.mean, whole.memory), (Some(0.9), Some(0.5), None));
        whole.and(&Usage::default());
        assert!(!whole.partial);
    }

    #[test]
    fn a_gpu_with_memory_on_it_is_not_idle() {
        let mut gpus = [Samples::default(), Samples::default()];
        for n in 0..30 {
            gpus[0].add(Some(0.0), Some(1e6), Some(f64::from(n)));
            gpus[1].add(Some(0.0), Some(2e9), Some(f64::from(n)));
        }
        let usage = Samples::usage(gpus.iter()).unwrap();
        assert_eq!(
            (usage.idle, usage.seen, usage.partial, usage.span),
            (Some(1.0), Some(2.0), false, Some((0.0, 29.0)))
        );
    }
}
