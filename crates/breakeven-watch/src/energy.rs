//! Energy over time: from a device's own counter where it has one, else its power integrated by trapezoids.

/// A counter that has not moved while its power says that so much went by is stuck, J.
const STUCK: f64 = 20.0;

/// How an amount of energy is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The device's own counter.
    Counter,
    /// Its power, integrated by trapezoids.
    Watts,
}

impl By {
    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Counter => "the board's counter",
            Self::Watts => "integrated power",
        }
    }

    /// For programs.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Watts => "watts",
        }
    }
}

/// Adds up the energy of one device.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    last: Option<(f64, Option<f64>, Option<f64>)>,
    /// J and s by the counter.
    counted: (f64, f64),
    /// J and s by trapezoids, in steps that the counter has not.
    bridged: (f64, f64),
    /// J and s by trapezoids, in all steps.
    integrated: (f64, f64),
    resets: u32,
}

impl Meter {
    /// The next look: time in s, power in W, counter in J. Times that go back are left out.
    ///
    /// ```
    /// use breakeven_watch::{By, Meter};
    /// let mut meter = Meter::default();
    /// for (at, watts, counter) in [(0.0, 100.0, 5000.0), (1.0, 200.0, 5152.0), (2.0, 200.0, 5352.0)] {
    ///     meter.take(at, Some(watts), Some(counter));
    /// }
    /// assert_eq!(meter.energy(), Some((352.0, By::Counter)));
    /// ```
    pub fn take(&mut self, at: f64, watts: Option<f64>, counter: Option<f64>) {
        if let Some((before, watts_before, counter_before)) = self.last {
            let step = at - before;
            if step <= 0.0 {
                return;
            }
            let trapezoid = watts_before.zip(watts).map(|(a, b)| (a + b) / 2.0 * step);
            add(&mut self.integrated, trapezoid, step);
            match counter_before.zip(counter) {
                Some((from, to)) if to >= from => add(&mut self.counted, Some(to - from), step),
                known => {
                    self.resets += u32::from(known.is_some());
                    add(&mut self.bridged, trapezoid, step);
                }
            }
        }
        self.last = Some((at, watts, counter));
    }

    /// J so far, and how they are known; `None` where neither power nor counter was ever there twice in a row.
    pub fn energy(&self) -> Option<(f64, By)> {
        let stuck = self.counted.0 <= 0.0 && self.integrated.0 > STUCK;
        if self.counted.1 > 0.0 && !stuck {
            return Some((self.counted.0 + self.bridged.0, By::Counter));
        }
        (self.integrated.1 > 0.0).then_some((self.integrated.0, By::Watts))
    }

    /// How long [`Meter::energy`] knows of, s.
    pub fn known_s(&self) -> f64 {
        match self.energy() {
            Some((_, By::Counter)) => self.counted.1 + self.bridged.1,
            Some((_, By::Watts)) => self.integrated.1,
            None => 0.0,
        }
    }

    /// How often the counter went back: a driver was loaded anew, or the board was reset.
    pub const fn resets(&self) -> u32 {
        self.resets
    }
}

fn add(sum: &mut (f64, f64), joules: Option<f64>, seconds: f64) {
    if let Some(joules) = joules {
        *sum = (sum.0 + joules, sum.1 + seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Power over time in straight lines between points, and its exact integral.
    #[derive(Debug)]
    struct Played(Vec<(f64, f64)>);

    impl Played {
        fn watts(&self, at: f64) -> f64 {
            let next = self.0.iter().position(|point| point.0 > at).unwrap_or(self.0.len() - 1).max(1);
            let ((t0, w0), (t1, w1)) = (self.0[next - 1], self.0[next]);
            w0 + (w1 - w0) * (at - t0) / (t1 - t0)
        }

        fn joules(&self, until: f64) -> f64 {
            let upto = |pair: &[(f64, f64)]| {
                let to = until.clamp(pair[0].0, pair[1].0);
                (pair[0].1 + self.watts(to.max(pair[0].0 + 1e-12))) / 2.0 * (to - pair[0].0)
            };
            self.0.windows(2).filter(|pair| pair[0].0 < until).map(upto).sum()
        }
    }

    /// Sessions of 20 to 200 s whose power turns about once a second or slower.
    fn played() -> impl Strategy<Value = Played> {
        prop::collection::vec((1.0_f64..5.0, 30.0_f64..700.0), 20..40).prop_map(|legs| {
            let ends = legs.iter().scan(0.0, |at, leg| Some(std::mem::replace(at, *at + leg.0)));
            Played(ends.zip(&legs).map(|(at, leg)| (at, leg.1)).collect())
        })
    }

    proptest! {
        #[test]
        fn both_ways_are_within_half_a_percent_of_the_integral(
            session in played(), gaps in prop::collection::vec(0.05_f64..0.15, 200..2000), reset in 20_usize..190,
        ) {
            let (mut by_watts, mut by_counter, mut after_reset) = (Meter::default(), Meter::default(), Meter::default());
            let (mut at, mut lost) = (0.0, 0.0);
            for (n, gap) in gaps.iter().enumerate() {
                if at > session.0.last().unwrap().0 { break; }
                let (watts, joules) = (session.watts(at), session.joules(at));
                by_watts.take(at, Some(watts), None);
                by_counter.take(at, Some(watts), Some(1e6 + (joules * 1e3).round() / 1e3));
                if n == reset { lost = joules; }
                after_reset.take(at, Some(watts), Some(joules - lost));
                at += gap;
            }
            let exact = session.joules(by_watts.last.unwrap().0);
            for (meter, by) in [(&by_watts, By::Watts), (&by_counter, By::Counter), (&after_reset, By::Counter)] {
                let (joules, known_by) = meter.energy().unwrap();
                prop_assert_eq!(known_by, by);
                prop_assert!((joules / exact - 1.0).abs() < 0.005, "{} for {}", joules, exact);
            }
        }
    }

    #[test]
    fn a_counter_that_goes_back_is_bridged_by_power() {
        let mut meter = Meter::default();
        for (at, counter) in [(0.0, 900.0), (1.0, 1000.0), (2.0, 30.0), (3.0, 130.0)] {
            meter.take(at, Some(100.0), Some(counter));
        }
        assert_eq!((meter.energy(), meter.resets()), (Some((300.0, By::Counter)), 1));
    }

    #[test]
    fn a_counter_that_never_moves_is_not_believed() {
        let mut meter = Meter::default();
        (0..10).for_each(|at| meter.take(f64::from(at), Some(50.0), Some(7.0)));
        assert_eq!(meter.energy(), Some((450.0, By::Watts)));
    }

    #[test]
    fn nothing_known_is_no_energy_and_gaps_are_no_energy() {
        let mut meter = Meter::default();
        meter.take(0.0, None, None);
        meter.take(1.0, None, None);
        assert_eq!((meter.energy(), meter.known_s()), (None, 0.0));
        meter.take(2.0, Some(10.0), None);
        meter.take(3.0, Some(10.0), None);
        meter.take(2.5, Some(1e9), None);
        assert_eq!((meter.energy(), meter.known_s()), (Some((10.0, By::Watts)), 1.0));
    }
}
