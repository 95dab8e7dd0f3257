//! What Slurm counts: `billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1`, and `gpu:a100:2(IDX:0-1)`.

use super::amount::amount;
use std::borrow::Cow;

/// What a list of trackable resources says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tres<'a> {
    /// `cpu=8`
    pub cpus: Option<f64>,
    /// `node=1`
    pub nodes: Option<f64>,
    /// GPUs.
    pub gpus: Gres<'a>,
    /// `gres/gpuutil=37`, %.
    pub gpu_percent: Option<f64>,
    /// `gres/gpumem=2048M`, bytes.
    pub gpu_bytes: Option<f64>,
    /// Something stands there.
    pub known: bool,
}

/// GPUs of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gres<'a> {
    /// How many.
    pub count: Option<f64>,
    /// What the site calls them; several models are none.
    pub model: Option<Cow<'a, str>>,
    /// Shares of GPUs (`gres/shard`), whose size the log does not say.
    pub shards: bool,
}

impl<'a> Tres<'a> {
    /// Reads the list; what is not known in it does not matter here.
    pub fn read(text: &'a str) -> Self {
        let mut tres = Self::default();
        let (mut typed, mut models) = (0.0, 0);
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else { continue };
            let number = || amount(value, 1024.0);
            tres.known = true;
            match key {
                "cpu" => tres.cpus = number(),
                "node" => tres.nodes = number(),
                "gres/gpu" => tres.gpus.count = number(),
                "gres/gpuutil" => tres.gpu_percent = number(),
                "gres/gpumem" => tres.gpu_bytes = number(),
                "gres/shard" => tres.gpus.shards = true,
                _ => {
                    if let (Some(model), Some(count)) = (key.strip_prefix("gres/gpu:"), number())
                        && count > 0.0
                    {
                        typed += count;
                        models += 1;
                        tres.gpus.model = Some(Cow::Borrowed(model));
                    }
                }
            }
        }
        if models > 1 {
            tres.gpus.model = None;
        }
        // The count without a model is that of all; it may be left out.
        if tres.gpus.count.is_none() && typed > 0.0 {
            tres.gpus.count = Some(typed);
        }
        tres
    }
}

/// Reads `gpu:1`, `gpu:a100:2(IDX:0-1)`, `gres/gpu:2`, `gpu:tesla:1,shard:4`; of one without `gpu` nothing.
pub fn gres(text: &str) -> Gres<'_> {
    let mut found = Gres::default();
    let mut models = 0;
    for part in text.split(',') {
        let part = part.split('(').next().unwrap_or_default();
        let part = part.strip_prefix("gres/").or_else(|| part.strip_prefix("gres:")).unwrap_or(part);
        let mut words = part.split([':', '=']);
        match words.next() {
            Some("gpu") => {}
            Some("shard") => {
                found.shards = true;
                continue;
            }
            _ => continue,
        }
        let rest: Vec<&str> = words.collect();
        let (model, count) = match rest.as_slice() {
            [] => (None, Some(1.0)),
            [one] => one.parse::<f64>().map_or((Some(*one), Some(1.0)), |count| (None, Some(count))),
            [model, count, ..] => (Some(*model), count.parse().ok()),
        };
        let Some(count) = count.filter(|count: &f64| count.is_finite() && *count >= 0.0) else { continue };
        found.count = Some(found.count.unwrap_or(0.0) + count);
        if let Some(model) = model {
            models += 1;
            found.model = (models == 1).then_some(Cow::Borrowed(model));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_gpus_are_not_counted_twice() {
        let both = Tres::read("billing=8,cpu=8,gres/gpu:a100=2,gres/gpu=2,mem=64G,node=1");
        assert_eq!((both.gpus.count, both.gpus.model.as_deref()), (Some(2.0), Some("a100")));
        assert_eq!(Tres::read("gres/gpu:a100=2,gres/gpu:v100=1").gpus, Gres { count: Some(3.0), ..Gres::default() });
        assert_eq!(Tres::read("cpu=1").gpus.count, None);
        assert_eq!(Tres::read("cpu=00:00:01,gres/gpumem=2048M,gres/gpuutil=37").gpu_bytes, Some(2_147_483_648.0));
        assert!(!Tres::read("").known);
    }

    #[test]
    fn older_logs_name_gres_otherwise() {
        let two = gres("gpu:a100:2(IDX:0-1)");
        assert_eq!((two.count, two.model.as_deref()), (Some(2.0), Some("a100")));
        assert_eq!((gres("gpu:1").count, gres("craynetwork:1").count), (Some(1.0), None));
    }
}
