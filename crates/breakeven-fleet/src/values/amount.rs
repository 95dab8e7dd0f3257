//! Amounts of memory, shares, and the units that a mapping may name.

use crate::field::Kind;
use breakeven::{Error, Result};

/// What a `K` is to memory.
const KIB: f64 = 1024.0;

/// Of what an amount is asked: `16Gn` is a node's, `4000Mc` a CPU's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// The job.
    Job,
    /// Each node.
    Node,
    /// Each CPU.
    Cpu,
}

/// Reads `16G`, `16Gn`, `4000Mc`, `1.5T`, `102400K`: bytes, and of what.
///
/// ```
/// use breakeven_fleet::values::bytes;
/// assert_eq!(bytes("16Gn").unwrap().0, 16.0 * 1024.0f64.powi(3));
/// assert_eq!(bytes("lots"), None);
/// ```
pub fn bytes(text: &str) -> Option<(f64, Per)> {
    let text = text.trim();
    let (text, per) = match text.strip_suffix(['n', 'N']) {
        Some(rest) => (rest, Per::Node),
        None => text.strip_suffix(['c', 'C']).map_or((text, Per::Job), |rest| (rest, Per::Cpu)),
    };
    amount(text, KIB).map(|bytes| (bytes, per))
}

/// A number with `K`, `M`, `G`, `T`, `P`, where each is `step` times the one before; `B` and `iB` may follow.
pub fn amount(text: &str, step: f64) -> Option<f64> {
    let text = text.trim().trim_end_matches('B').trim_end_matches('i');
    let power = text.chars().next_back().and_then(|c| "KMGTP".find(c.to_ascii_uppercase()));
    let digits = if power.is_some() { &text[..text.len() - 1] } else { text };
    let number: f64 = digits.trim().parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0)?;
    Some(number * power.map_or(1.0, |power| step.powi(i32::try_from(power).unwrap_or(0) + 1)))
}

/// A share: `35 %` or `0.35`.
pub fn share(text: &str) -> Option<f64> {
    let text = text.trim();
    let percent = text.strip_suffix('%');
    let number: f64 = percent.unwrap_or(text).trim().parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0)?;
    Some(if percent.is_some() { number / 100.0 } else { number })
}

/// What a number in this unit is multiplied with.
///
/// # Errors
/// `mapping` for a unit that the kind does not have.
pub fn unit(kind: Kind, name: &str) -> Result<f64> {
    let units: &[(&str, f64)] = match kind {
        Kind::Moment => &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)],
        Kind::Length => {
            &[("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("min", 60.0), ("h", 3600.0), ("d", 86_400.0)]
        }
        Kind::Bytes => &[
            ("B", 1.0),
            ("KB", 1e3),
            ("MB", 1e6),
            ("GB", 1e9),
            ("KiB", 1024.0),
            ("MiB", 1_048_576.0),
            ("GiB", 1_073_741_824.0),
        ],
        Kind::Share => &[("1", 1.0), ("%", 0.01)],
        Kind::Joules => &[("J", 1.0), ("kJ", 1e3), ("Wh", 3.6e3), ("kWh", 3.6e6)],
        Kind::Count => &[("1", 1.0), ("milli", 1e-3)],
        Kind::Text => &[],
    };
    units.iter().find(|(known, _)| *known == name).map(|(_, scale)| *scale).ok_or_else(|| {
        let known: Vec<&str> = units.iter().map(|(name, _)| *name).collect();
        let hint =
            if known.is_empty() { "text has no unit".to_owned() } else { format!("one of {}", known.join(", ")) };
        Error::new("mapping", format!("the unit `{name}` is not known there")).hint(hint)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slurm_says_of_what_memory_is_asked() {
        assert_eq!(bytes("4000Mc"), Some((4000.0 * 1_048_576.0, Per::Cpu)));
        assert_eq!(bytes("16G"), Some((16.0 * 1_073_741_824.0, Per::Job)));
        assert_eq!(bytes("102400Kn").map(|(_, per)| per), Some(Per::Node));
        assert_eq!([bytes("?"), bytes("-4G"), bytes("")], [None; 3]);
        assert_eq!([share("35 %"), share("0.35"), share("[N/A]")], [Some(0.35), Some(0.35), None]);
    }
}
