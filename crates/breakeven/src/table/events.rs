//! What a clock shows that is started and stopped by events around one eager call.

use crate::interval::Interval;
use crate::kernel::Bound;
use crate::lower::rows;
use crate::workload::Family;
use std::sync::LazyLock;

/// Family, floor in µs, share of it that long kernels carry too.
type Floor = (Option<Family>, Interval, f64);

static FLOORS: LazyLock<Vec<Floor>> = LazyLock::new(|| {
    let row = |r: csv::StringRecord| {
        let number = |i: usize| r.get(i)?.parse::<f64>().ok();
        let family = Family::ALL.iter().find(|f| Some(f.name()) == r.get(0)).copied();
        Some((family, Interval { p10: number(1)?, p50: number(2)?, p90: number(3)? }, number(4)?))
    };
    rows(include_str!("events.csv")).filter_map(row).collect()
});

/// What events show for `device_us` of device time: the floor, or the kernel and the part of the launch before it.
pub(super) fn clocked(family: Family, device_us: Interval, bound: Bound) -> (Interval, Bound) {
    let (_, floor, share) = FLOORS.iter().find(|(f, ..)| f.is_none_or(|f| f == family)).expect("`other` is a row");
    let clock = |device: f64, floor: f64| (device + share * floor).max(floor);
    let shown = Interval {
        p10: clock(device_us.p10, floor.p10),
        p50: clock(device_us.p50, floor.p50),
        p90: clock(device_us.p90, floor.p90),
    };
    (shown, if shown.p50 <= floor.p50 { Bound::Launch } else { bound })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_reads_and_the_last_is_for_the_rest() {
        assert_eq!(FLOORS.len(), 5);
        assert!(FLOORS[..4].iter().all(|(family, ..)| family.is_some()));
        assert!(FLOORS[4].0.is_none());
    }

    #[test]
    fn short_kernels_show_the_floor_and_long_ones_carry_a_part_of_it() {
        let short = clocked(Family::Elementwise, Interval::exact(2.0), Bound::Memory);
        assert_eq!(short, (Interval { p10: 25.0, p50: 30.0, p90: 42.0 }, Bound::Launch));
        let long = clocked(Family::Matmul, Interval::exact(1000.0), Bound::Compute);
        assert_eq!((long.0.p50, long.1), (1036.0, Bound::Compute));
    }
}
