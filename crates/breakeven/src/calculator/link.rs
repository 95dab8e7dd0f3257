//! Host links as people name them.

use crate::units::BytesPerSec;
use crate::{Error, Result};

/// Share of a link's rate that a copy reaches in the calculator.
pub const LINK_FRACTION: f64 = 0.8;

/// One direction of a PCI Express link: `4.0`, `gen3`, `5.0 x8`, `PCIe 4.0 x16`; 16 lanes unless said.
///
/// Per lane after encoding, PCI-SIG: 0.25, 0.5, 0.985, 1.969, 3.938, 7.563 GB/s for generations 1 to 6.
///
/// ```
/// use breakeven::calculator::link::pcie;
/// assert_eq!(pcie("4.0")?.get().round(), 31.504e9);
/// assert_eq!(pcie("PCIe 5.0 x8")?.get().round(), 31.504e9);
/// # Ok::<(), breakeven::Error>(())
/// ```
///
/// # Errors
/// `bad-link` for anything else.
pub fn pcie(text: &str) -> Result<BytesPerSec> {
    let refuse = || {
        let shown: String = text.chars().filter(|c| !c.is_control()).take(40).collect();
        Error::new("bad-link", format!("`{shown}` is not a PCI Express link"))
            .hint("write it like `4.0` or `5.0 x8`")
            .field("pcie")
    };
    let lower: String = text.to_ascii_lowercase().chars().take(64).collect();
    let plain = lower.trim().trim_start_matches("pcie").trim_start().trim_start_matches("gen").trim();
    let (generation, lanes) = match plain.split_once(['x', '×']) {
        Some((g, l)) => (g.trim(), l.trim().parse::<u32>().map_err(|_| refuse())?),
        None => (plain, 16),
    };
    let per_lane = match generation {
        "1" | "1.0" | "1.1" => 0.25,
        "2" | "2.0" => 0.5,
        "3" | "3.0" => 0.985,
        "4" | "4.0" => 1.969,
        "5" | "5.0" => 3.938,
        "6" | "6.0" => 7.563,
        _ => return Err(refuse()),
    };
    if ![1, 2, 4, 8, 16].contains(&lanes) {
        return Err(refuse());
    }
    Ok(BytesPerSec::gb_per_s(per_lane * f64::from(lanes)))
}
