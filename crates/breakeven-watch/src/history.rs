//! The course of a session in a bounded number of moments: each twice as long when there is no room for more.

use crate::reading::{Field, Reading, Sample};

/// What was seen of one value in one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moment {
    sum: f64,
    count: u32,
    least: f32,
    most: f32,
}

impl Moment {
    fn take(&mut self, value: f64) {
        self.merge(Self { sum: value, count: 1, least: value as f32, most: value as f32 });
    }

    fn merge(&mut self, other: Self) {
        if self.count == 0 {
            *self = other;
        } else if other.count > 0 {
            self.sum += other.sum;
            self.count += other.count;
            self.least = self.least.min(other.least);
            self.most = self.most.max(other.most);
        }
    }

    /// The mean of what was seen; `None` where nothing was.
    pub fn mean(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }

    /// The least and the most that was seen.
    pub fn range(self) -> Option<(f64, f64)> {
        (self.count > 0).then(|| (f64::from(self.least), f64::from(self.most)))
    }
}

/// The history of all devices: GPUs in their order, then the host.
#[derive(Clone, Debug)]
pub struct History {
    devices: usize,
    width: f64,
    most: usize,
    moments: Vec<Moment>,
}

impl History {
    /// Of so many GPUs, in at most `most` moments, each of them two intervals (s) long at first: a look that is a little
    /// late leaves no gap.
    pub fn new(gpus: usize, interval: f64, most: usize) -> Self {
        Self { devices: gpus + 1, width: 2.0 * interval, most: most.max(2), moments: Vec::new() }
    }

    /// The next sample.
    pub fn take(&mut self, sample: &Sample) {
        while sample.at >= self.width * self.most as f64 {
            self.halve();
        }
        let moment = (sample.at.max(0.0) / self.width) as usize;
        let row = self.devices * Field::COUNT;
        self.moments.resize((moment + 1).max(self.len()) * row, Moment::default());
        for (device, reading) in sample.gpus.iter().chain([&sample.host]).take(self.devices).enumerate() {
            self.note(moment * row + device * Field::COUNT, reading);
        }
    }

    fn note(&mut self, from: usize, reading: &Reading) {
        for (n, (field, ..)) in Field::ALL.into_iter().enumerate() {
            if let Some(value) = reading.get(field) {
                self.moments[from + n].take(value);
            }
        }
    }

    /// Two moments become one.
    fn halve(&mut self) {
        let row = self.devices * Field::COUNT;
        for moment in 0..self.len().div_ceil(2) {
            for n in 0..row {
                let mut merged = self.moments[2 * moment * row + n];
                merged.merge(self.moments.get((2 * moment + 1) * row + n).copied().unwrap_or_default());
                self.moments[moment * row + n] = merged;
            }
        }
        self.moments.truncate(self.len().div_ceil(2) * row);
        self.width *= 2.0;
    }

    /// How many moments there are.
    pub fn len(&self) -> usize {
        self.moments.len() / (self.devices * Field::COUNT)
    }

    /// Whether nothing was seen yet.
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// How long a moment is, s.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// One value of one device over time; the host comes after the GPUs.
    pub fn series(&self, device: usize, field: Field) -> impl Iterator<Item = Moment> + '_ {
        let row = self.devices * Field::COUNT;
        self.moments.iter().skip(device * Field::COUNT + field as usize).step_by(row).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sample(at: f64, watts: Option<f64>) -> Sample {
        let mut reading = Reading::default();
        reading.set(Field::Watts, watts);
        Sample { at, gpus: vec![reading], ..Sample::default() }
    }

    proptest! {
        #[test]
        fn however_long_it_is_it_stays_short_and_loses_no_sample(
            watts in prop::collection::vec(prop::option::weighted(0.9, 0.0_f64..700.0), 1..3000), most in 2_usize..64,
        ) {
            let mut history = History::new(1, 0.1, most);
            for (n, value) in watts.iter().enumerate() {
                history.take(&sample(n as f64 * 0.1, *value));
                prop_assert!(history.len() <= most);
            }
            let (mut sum, mut count, mut highest) = (0.0, 0, 0.0_f64);
            for moment in history.series(0, Field::Watts) {
                sum += moment.sum;
                count += moment.count as usize;
                highest = highest.max(moment.range().map_or(0.0, |range| range.1));
            }
            let known: Vec<f64> = watts.into_iter().flatten().collect();
            prop_assert_eq!(count, known.len());
            prop_assert!((sum - known.iter().sum::<f64>()).abs() <= 1e-6 * sum.max(1.0));
            prop_assert!((highest - known.iter().copied().fold(0.0, f64::max)).abs() < 1e-3);
        }
    }

    #[test]
    fn what_was_not_seen_stays_unknown() {
        let mut history = History::new(1, 0.5, 10);
        history.take(&sample(0.0, Some(10.0)));
        history.take(&sample(2.5, Some(30.0)));
        let means: Vec<_> = history.series(0, Field::Watts).map(Moment::mean).collect();
        assert_eq!(means, [Some(10.0), None, Some(30.0)]);
        assert!(history.series(1, Field::Cores).all(|moment| moment.mean().is_none()));
    }
}
