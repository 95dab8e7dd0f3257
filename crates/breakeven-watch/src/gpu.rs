//! Who a GPU is: what its driver says of it once, when watching begins.

use breakeven::hardware::Vendor;

/// One GPU, or one MIG instance of a GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct Gpu {
    /// How it is told from the others: `0`, `1`; `0.2` for the third MIG instance of GPU 0.
    pub label: String,
    /// Its maker.
    pub vendor: Vendor,
    /// As its driver names it: `NVIDIA H200`.
    pub name: String,
    /// Its UUID, or its address on the PCI bus where it has none.
    pub id: String,
    /// Device memory, bytes.
    pub memory: Option<f64>,
    /// The power limit that is enforced, W.
    pub limit_w: Option<f64>,
    /// The most its link to the host carries each way, B/s.
    pub link: Option<f64>,
    /// It is a MIG instance: a part of another GPU in the list.
    pub instance: bool,
    /// What `busy` counts.
    pub busy: Busy,
}

/// What a driver counts as busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// Time in which a kernel ran.
    Kernels,
    /// Time in which the GPU was not asleep: more than its kernels took.
    Awake,
}

impl Gpu {
    /// A GPU of which nothing else is known.
    pub fn new(label: impl Into<String>, vendor: Vendor, name: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            vendor,
            name: name.into(),
            id: String::new(),
            memory: None,
            limit_w: None,
            link: None,
            instance: false,
            busy: Busy::Kernels,
        }
    }
}

/// What a PCIe link of this generation and width carries each way, B/s: lanes × rate × coding ÷ 8 (8b/10b up to
/// generation 2, 128b/130b from 3 on; generation 6 codes in flits of 236 useful bytes of 256).
///
/// ```
/// let gen4 = breakeven_watch::pcie(4, 16).unwrap();
/// assert!((gen4 / 1e9 - 31.5).abs() < 0.1);
/// assert_eq!(breakeven_watch::pcie(0, 16), None);
/// ```
pub fn pcie(generation: u32, width: u32) -> Option<f64> {
    let per_lane = match generation {
        1 => 2.5e9 * 0.8,
        2 => 5e9 * 0.8,
        3 => 8e9 * 128.0 / 130.0,
        4 => 16e9 * 128.0 / 130.0,
        5 => 32e9 * 128.0 / 130.0,
        6 => 64e9 * 236.0 / 256.0,
        _ => return None,
    };
    (1..=32).contains(&width).then(|| f64::from(width) * per_lane / 8.0)
}
