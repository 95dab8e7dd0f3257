//! Times that a device was measured to take, as curves over the times that the models give.
//!
//! A curve is fitted for each kind of work. It never falls, so that more work never takes less time, and beyond its ends it
//! keeps the ratio of its last point.

use crate::workload::Dtype;
use std::collections::BTreeMap;

/// Points closer than this factor of modelled time count together: their median ratio is one point of the curve.
const TOGETHER: f64 = 2.0;
/// A time further from the model's than this factor is no measurement of the same work.
const FARTHEST: f64 = 1000.0;
/// The least spread of ln(time): a clock and a second run differ by as much.
const LEAST_SIGMA: f64 = 0.05;
/// The spread where there are too few points to tell it.
const UNKNOWN_SIGMA: f64 = 0.3;

/// What work a curve is for: places of the family and the kind in the lists of `workload`, and what computed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Work {
    /// The family.
    pub family: u8,
    /// Which op of the family; 0 where it has but one.
    pub kind: u8,
    /// Element type.
    pub dtype: Dtype,
    /// A library with kernels of its own; 0 for the usual one.
    pub library: u8,
}

/// One measurement of some work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// What the model says, s.
    pub modelled: f64,
    /// What it took, s.
    pub measured: f64,
}

impl Pair {
    /// ln(measured ÷ modelled), where the two can be of the same work.
    fn ratio(self) -> Option<f64> {
        let possible = |x: f64| x.is_finite() && x > 0.0;
        let ratio = libm::log(self.measured / self.modelled);
        (possible(self.modelled) && possible(self.measured) && ratio.abs() <= libm::log(FARTHEST)).then_some(ratio)
    }
}

/// Measured over modelled time of one kind of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// ln of modelled and of measured time, s; both rise.
    points: Vec<[f64; 2]>,
    /// Standard deviation of ln(time) around it.
    pub sigma: f64,
    /// Measurements that it rests on.
    pub count: usize,
}

impl Curve {
    /// Fits measurements; `None` where fewer than two can be used. Of the model as it is, a factor half believed, a factor and a
    /// curve the one counts that is nearest to each measurement when fitted to the others; how far it is off then is the spread.
    ///
    /// ```
    /// use breakeven::hardware::device::{Curve, Pair};
    /// let pairs = [1e-5, 1e-4, 1e-3, 1e-2].map(|modelled| Pair { modelled, measured: 1.5 * modelled });
    /// let curve = Curve::fit(&pairs).unwrap();
    /// assert!((curve.time(3e-4) / 4.5e-4 - 1.0).abs() < 1e-9);
    /// assert!((curve.time(1.0) / 1.5 - 1.0).abs() < 1e-9);
    /// assert_eq!(curve.sigma, 0.05);
    /// ```
    pub fn fit(pairs: &[Pair]) -> Option<Self> {
        let mut known: Vec<[f64; 2]> =
            pairs.iter().filter_map(|pair| Some([libm::log(pair.modelled), pair.ratio()?])).collect();
        known.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        if known.len() < 2 {
            return None;
        }
        let tried = FORMS.map(|form| (form, errors(form, &known)));
        let total = |errors: &[f64]| errors.iter().map(|e| e.abs()).sum::<f64>();
        let (form, errors) = tried.into_iter().reduce(|best, next| {
            // The plainer one, unless the other is nearer.
            if total(&next.1) < total(&best.1) * (1.0 - 1e-9) { next } else { best }
        })?;
        let count = known.len();
        let spread = libm::sqrt(errors.iter().map(|e| e * e).sum::<f64>() / count as f64);
        let sigma = if count < 3 { spread.max(UNKNOWN_SIGMA) } else { spread.max(LEAST_SIGMA) };
        Some(Self { points: form(&known), sigma, count })
    }

    /// The time that work takes of which the model says `modelled`, s.
    pub fn time(&self, modelled: f64) -> f64 {
        if modelled <= 0.0 || !modelled.is_finite() {
            return modelled;
        }
        libm::exp(at(&self.points, libm::log(modelled)))
    }
}

/// What measurements may be made into, plain before free.
type Form = fn(&[[f64; 2]]) -> Vec<[f64; 2]>;
const FORMS: [Form; 4] = [as_modelled, half_believed, factor, curve];

/// The model as it is.
fn as_modelled(_: &[[f64; 2]]) -> Vec<[f64; 2]> {
    vec![[0.0, 0.0]]
}

/// The median ratio, as if one more measurement had been as modelled.
fn half_believed(known: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = known.len() as f64;
    vec![[0.0, middle(known) * n / (n + 1.0)]]
}

/// The median ratio.
fn factor(known: &[[f64; 2]]) -> Vec<[f64; 2]> {
    vec![[0.0, middle(known)]]
}

/// A curve through points that rise, each of measurements that are near to each other.
fn curve(known: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut points: Vec<[f64; 2]> = Vec::new();
    let mut rest = known;
    while let Some(first) = rest.first() {
        let n = rest.iter().take_while(|k| k[0] < first[0] + libm::log(TOGETHER)).count();
        let (group, after) = rest.split_at(n);
        let x = group.iter().map(|k| k[0]).sum::<f64>() / n as f64;
        points.push([x, x + middle(group)]);
        rest = after;
    }
    rise(&mut points);
    points
}

/// The median of the ratios, ln; 0 of none.
fn middle(known: &[[f64; 2]]) -> f64 {
    let mut ratios: Vec<f64> = known.iter().map(|k| k[1]).collect();
    ratios.sort_by(f64::total_cmp);
    let n = ratios.len();
    if n == 0 { 0.0 } else { (ratios[(n - 1) / 2] + ratios[n / 2]) / 2.0 }
}

/// The nearest times that never fall: neighbours that do take their mean (Ayer and others 1955).
fn rise(points: &mut [[f64; 2]]) {
    let mut blocks: Vec<(f64, usize)> = Vec::with_capacity(points.len());
    for point in points.iter() {
        let mut block = (point[1], 1);
        while let Some(&(y, n)) = blocks.last().filter(|(y, n)| y / *n as f64 > block.0 / block.1 as f64) {
            blocks.pop();
            block = (block.0 + y, block.1 + n);
        }
        blocks.push(block);
    }
    let levels = blocks.iter().flat_map(|&(sum, n)| std::iter::repeat_n(sum / n as f64, n));
    points.iter_mut().zip(levels).for_each(|(point, y)| point[1] = y);
}

/// ln of the measured time at a ln of modelled time.
fn at(points: &[[f64; 2]], x: f64) -> f64 {
    let (first, last) = (points[0], points[points.len() - 1]);
    if x <= first[0] {
        return x + first[1] - first[0];
    }
    if x >= last[0] {
        return x + last[1] - last[0];
    }
    let above = points.iter().position(|p| p[0] > x).unwrap_or(points.len() - 1);
    let ([x0, y0], [x1, y1]) = (points[above - 1], points[above]);
    y0 + (y1 - y0) * (x - x0) / (x1 - x0)
}

/// How far each measurement lies from what a form makes of the others, ln(time).
fn errors(form: Form, known: &[[f64; 2]]) -> Vec<f64> {
    let off = |i: usize| {
        let others: Vec<[f64; 2]> = known.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, k)| *k).collect();
        at(&form(&others), known[i][0]) - known[i][0] - known[i][1]
    };
    (0..known.len()).map(off).collect()
}

/// The curves of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves(BTreeMap<Work, Curve>);

impl Curves {
    /// One curve for each kind of work that was measured.
    pub fn fit(measured: &[(Work, Pair)]) -> Self {
        let mut of: BTreeMap<Work, Vec<Pair>> = BTreeMap::new();
        for (work, pair) in measured {
            of.entry(*work).or_default().push(*pair);
        }
        Self(of.into_iter().filter_map(|(work, pairs)| Some((work, Curve::fit(&pairs)?))).collect())
    }

    /// The same, each known less well: `sigma` more of the logarithm's standard deviation.
    pub fn widened(mut self, sigma: f64) -> Self {
        self.0.values_mut().for_each(|curve| curve.sigma = libm::hypot(curve.sigma, sigma));
        self
    }

    /// The curve of this work.
    pub fn get(&self, work: Work) -> Option<&Curve> {
        self.0.get(&work)
    }

    /// Every curve.
    pub fn iter(&self) -> impl Iterator<Item = (&Work, &Curve)> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// What copies between host and device were measured to move, B/s: to the device and back, of ordinary and of page-locked
/// memory; and what a copy of next to nothing takes, s. What was not measured is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Copies {
    pub up: Option<f64>,
    pub down: Option<f64>,
    pub up_pinned: Option<f64>,
    pub down_pinned: Option<f64>,
    pub latency_s: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn pair((modelled, measured): (f64, f64)) -> Pair {
        Pair { modelled, measured }
    }

    proptest! {
        #[test]
        fn a_longer_model_never_takes_less_time(
            pairs in prop::collection::vec((1e-9..1e3_f64, 1e-9..1e3_f64), 1..40),
            x in 1e-10..1e4_f64, more in 1.0..100.0_f64,
        ) {
            let pairs: Vec<Pair> = pairs.into_iter().map(pair).collect();
            if let Some(curve) = Curve::fit(&pairs) {
                let (short, long) = (curve.time(x), curve.time(x * more));
                prop_assert!(short > 0.0 && short.is_finite() && long >= short * (1.0 - 1e-9), "{short} {long}");
                prop_assert!(curve.sigma >= LEAST_SIGMA && curve.sigma.is_finite());
            }
        }
    }

    #[test]
    fn what_is_no_measurement_of_the_work_is_left_out() {
        let wrong = [(1.0, f64::NAN), (f64::NAN, 1.0), (1.0, 0.0), (0.0, 1.0), (1.0, f64::INFINITY), (1.0, 1e9)];
        assert_eq!(Curve::fit(&wrong.map(pair)), None);
        assert_eq!(Curve::fit(&[wrong[0], (1.0, 2.0)].map(pair)), None, "one alone");
        let curve = Curve::fit(&[wrong[0], wrong[5], (1.0, 2.0), (100.0, 200.0)].map(pair)).unwrap();
        assert_eq!((curve.count, curve.sigma), (2, UNKNOWN_SIGMA));
        assert!((curve.time(10.0) - 20.0).abs() < 1e-9);
    }

    #[test]
    fn noise_changes_no_model() {
        let noise = [0.7, 1.4, 0.75, 1.3, 0.8, 1.25];
        let pairs: Vec<Pair> = noise
            .iter()
            .zip(0..)
            .map(|(n, i)| pair((libm::exp2(f64::from(2 * i)), n * libm::exp2(f64::from(2 * i)))))
            .collect();
        let curve = Curve::fit(&pairs).unwrap();
        assert!((curve.time(5.0) / 5.0 - 1.0).abs() < 0.1, "{curve:?}");
    }

    #[test]
    fn the_spread_is_that_of_what_a_curve_has_not_seen() {
        let noisy = (0..20).map(|i| (libm::exp2(f64::from(i)), if i % 2 == 0 { 1.2 } else { 0.8 }));
        let pairs: Vec<Pair> = noisy.map(|(x, noise)| pair((x, x * noise))).collect();
        let sigma = Curve::fit(&pairs).unwrap().sigma;
        assert!((0.1..0.6).contains(&sigma), "{sigma}");
    }
}
