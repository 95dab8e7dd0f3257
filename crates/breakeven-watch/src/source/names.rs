//! Names of boards whose drivers give none: chips by their number on the PCI bus, as the public PCI ID list has them.

/// Chips of AMD and Intel that compute, with the names of the catalogue.
const CHIPS: [(&str, &str, &str); 24] = [
    ("0x1002", "0x66a1", "Radeon Instinct MI50"),
    ("0x1002", "0x738c", "Instinct MI100"),
    ("0x1002", "0x7408", "Instinct MI250X"),
    ("0x1002", "0x740c", "Instinct MI250X"),
    ("0x1002", "0x740f", "Instinct MI210"),
    ("0x1002", "0x74a0", "Instinct MI300A"),
    ("0x1002", "0x74a1", "Instinct MI300X"),
    ("0x1002", "0x74a5", "Instinct MI325X"),
    ("0x1002", "0x73a3", "Radeon PRO W6800"),
    ("0x1002", "0x7448", "Radeon PRO W7900"),
    ("0x1002", "0x745e", "Radeon PRO W7800"),
    ("0x1002", "0x7550", "Radeon RX 9070 XT"),
    ("0x8086", "0x0bd5", "Data Center GPU Max 1550"),
    ("0x8086", "0x0bda", "Data Center GPU Max 1100"),
    ("0x8086", "0x56c0", "Data Center GPU Flex 170"),
    ("0x8086", "0x56c1", "Data Center GPU Flex 140"),
    ("0x8086", "0x56a0", "Arc A770"),
    ("0x8086", "0x56a1", "Arc A750"),
    ("0x8086", "0x56a2", "Arc A580"),
    ("0x8086", "0x56a5", "Arc A380"),
    ("0x8086", "0xe20b", "Arc B580"),
    ("0x8086", "0xe20c", "Arc B570"),
    ("0x8086", "0xe212", "Arc Pro B50"),
    ("0x8086", "0xe211", "Arc Pro B60"),
];

/// The name of a chip, or `AMD GPU 0x1234` where it is not in the list.
pub(super) fn name(maker: &str, vendor: &str, chip: &str) -> String {
    let known = CHIPS.iter().find(|row| row.0 == vendor && row.1 == chip);
    known.map_or_else(|| format!("{maker} GPU {chip}"), |row| format!("{maker} {}", row.2))
}
