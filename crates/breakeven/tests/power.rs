//! Watts on every GPU of the catalogue: more work draws no less, and nothing draws more than its limit.

use breakeven::hardware::Catalogue;
use breakeven::kernel::{PowerConstants, capped_speed, power};
use proptest::prelude::*;

#[test]
fn every_row_is_a_constant_within_its_range() {
    let mut c = PowerConstants::shipped().clone();
    let rows: Vec<&str> = include_str!("../src/kernel/power.csv").lines().skip(1).collect();
    assert_eq!(rows.len(), 9);
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        let [value, low, high] = [1, 2, 3].map(|i| cells[i].parse::<f64>().unwrap());
        assert!(low <= value && value <= high, "{row}");
        assert_eq!(c.get_mut(cells[0]).copied(), Some(value), "{row}");
    }
}

proptest! {
    #[test]
    fn more_work_draws_no_less_and_never_more_than_the_limit(
        u in prop::array::uniform3(0f64..1.5), more in 0f64..1.0, at in 0usize..75,
    ) {
        let device = &Catalogue::embedded().gpus()[at].device;
        let watts = power(device, u[0], u[1], u[2]);
        prop_assert!(power(device, u[0] + more, u[1], u[2]).p50 >= watts.p50);
        prop_assert!(power(device, u[0], u[1] + more, u[2]).p50 >= watts.p50);
        prop_assert!(0.0 < watts.p10 && watts.p10 <= watts.p50 && watts.p50 <= watts.p90);
        prop_assert!(device.tdp.is_none_or(|limit| watts.p90 <= limit.get()));
    }

    #[test]
    fn a_lower_cap_is_never_faster(draw in 50f64..700.0, cap in 10f64..700.0, less in 0f64..300.0, at in 0usize..75) {
        let device = &Catalogue::embedded().gpus()[at].device;
        let speed = |cap| capped_speed(PowerConstants::shipped(), device, draw, cap);
        prop_assert!(speed(cap - less) <= speed(cap) && (0.0..=1.0).contains(&speed(cap)));
    }
}
