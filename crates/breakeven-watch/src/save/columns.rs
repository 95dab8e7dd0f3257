//! The columns of a frame: which value stands under which name, and to what step it is rounded.

use super::code::Foretold;
use crate::reading::{Field, Reading};

/// The names of the devices of a file: `0`, `1` and so on for GPUs, then `host`.
pub(super) fn device(n: usize, gpus: usize) -> String {
    if n < gpus { n.to_string() } else { "host".to_owned() }
}

/// What foretells a field.
pub(super) const fn foretold(field: Field) -> Foretold {
    match field {
        Field::Joules => Foretold::Steady,
        _ => Foretold::Same,
    }
}

/// A value in steps of its field.
pub(super) fn steps(reading: &Reading, field: Field) -> Option<i64> {
    Some((reading.get(field)? / field.step()).round() as i64)
}

/// A number of steps as a value of its field.
#[expect(clippy::cast_precision_loss, reason = "values of devices are below 2^53 steps")]
pub(super) fn value(steps: i64, field: Field) -> f64 {
    steps as f64 * field.step()
}
