//! Values of a session as people read them.

use crate::energy::Meter;
use crate::totals::Totals;
use breakeven::report::words::{UNKNOWN, bytes_per_s, number, seconds, several, share};

/// A value, or the sign of what is unknown.
pub(super) fn or_unknown(text: Option<String>) -> String {
    text.unwrap_or_else(|| UNKNOWN.to_owned())
}

/// A power: `61 W`, `7.4 W`.
pub(super) fn watts(x: f64) -> String {
    if x < 9.95 { format!("{} W", number(x)) } else { format!("{x:.0} W") }
}

/// An energy: `850 J`, `12.3 kJ`, `3.41 kWh` from a kWh on.
pub(super) fn joules(x: f64) -> String {
    match x {
        x if x < 1e3 => format!("{} J", number(x)),
        x if x < 1e6 => format!("{} kJ", number(x / 1e3)),
        x if x < 3.6e6 => format!("{} MJ", number(x / 1e6)),
        x => format!("{} kWh", number(x / 3.6e6)),
    }
}

/// The energy of a device and how it is known.
pub(super) fn energy(meter: &Meter) -> Option<String> {
    meter.energy().map(|(amount, _)| joules(amount))
}

/// Amounts of memory of a whole: `1.9 of 24 GiB`.
pub(super) fn memory(used: f64, all: f64) -> String {
    let gib = |x: f64| x / f64::from(1 << 30);
    let used = gib(used);
    let used = if used < 9.95 { format!("{used:.1}") } else { format!("{used:.0}") };
    format!("{used} of {:.0} GiB", gib(all))
}

/// Traffic each way: `1.2 GB/s`.
pub(super) fn traffic(x: Option<f64>) -> String {
    or_unknown(x.map(|x| if x < 1.0 { "0".to_owned() } else { bytes_per_s(x) }))
}

/// For how long it was watched, and how often.
pub(super) fn watched(totals: &Totals) -> String {
    let missed = match totals.missed {
        0 => String::new(),
        missed => format!(", {} missed", several(missed, "more", "more")),
    };
    format!("watched for {}, {}{missed}", seconds(totals.seconds), several(totals.samples, "sample", "samples"))
}

/// What the host did.
pub(super) fn host(totals: &Totals) -> Option<String> {
    use crate::reading::Field;
    let host = &totals.host;
    let of = totals.cores.map_or_else(String::new, |cores| format!(" of {cores}"));
    let cores = host.stat(Field::Cores).mean().map(|cores| format!("{}{of} cores busy", number(cores)));
    let own = host.stat(Field::OwnCores).mean().map(|cores| format!("{} of them with what was watched", number(cores)));
    let used = host.meter.energy().map(|(amount, _)| format!("CPU packages {}", joules(amount)));
    let told: Vec<String> = [cores, own, used].into_iter().flatten().collect();
    (!told.is_empty()).then(|| format!("host: {}", told.join(", ")))
}

/// A share of 1 as `23 %`.
pub(super) fn percent(x: Option<f64>) -> String {
    or_unknown(x.map(share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_the_unit_that_fits() {
        assert_eq!(
            [joules(850.0), joules(12_345.0), joules(2e6), joules(7.2e6)],
            ["850 J", "12.3 kJ", "2 MJ", "2 kWh"]
        );
        assert_eq!([watts(61.4), watts(7.42)], ["61 W", "7.42 W"]);
        assert_eq!(memory(2.04e9, 24.0 * 1_073_741_824.0), "1.9 of 24 GiB");
        assert_eq!([traffic(None), traffic(Some(0.0))], ["?", "0"]);
    }
}
