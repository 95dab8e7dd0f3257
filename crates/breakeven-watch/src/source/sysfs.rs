//! Small files of the kernel, held open and read again and again.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// A file of one number or a few lines.
pub(super) struct Small {
    file: Option<File>,
    gone: bool,
}

/// More than any file here has.
const LONGEST: usize = 4096;

impl Small {
    /// Opens the first of these files that is there. One that is not reads as unknown.
    pub(super) fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        Self { file: paths.into_iter().find_map(|path| File::open(path).ok()), gone: false }
    }

    /// What it says now.
    pub(super) fn text<T>(&mut self, read: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let mut buffer = [0; LONGEST];
        match self.file.as_ref()?.read_at(&mut buffer, 0) {
            Ok(length) => read(std::str::from_utf8(&buffer[..length]).ok()?.trim()),
            Err(error) => {
                // ENODEV: the device has gone. Other errors pass (a board that sleeps answers EPERM or EBUSY).
                self.gone |= error.raw_os_error() == Some(19);
                None
            }
        }
    }

    /// The number that it is.
    pub(super) fn number(&mut self) -> Option<f64> {
        self.text(|text| text.parse().ok())
    }

    /// Whether a read has said that the device is gone.
    pub(super) const fn gone(&self) -> bool {
        self.gone
    }
}

/// The text of a small file, trimmed.
pub(super) fn text(path: &Path) -> io::Result<String> {
    fs::read_to_string(path).map(|text| text.trim().to_owned())
}

/// The number in a small file.
pub(super) fn number(path: &Path) -> Option<f64> {
    text(path).ok()?.parse().ok()
}

/// A card in `/sys/class/drm`.
pub(super) struct Card {
    /// Its own folder: `…/card0`.
    pub(super) card: PathBuf,
    /// Its device's folder.
    pub(super) device: PathBuf,
    /// `0x1002` for AMD, `0x8086` for Intel.
    pub(super) vendor: String,
    /// What the maker calls the chip: `0x74a1`.
    pub(super) chip: String,
    /// Its address: `0000:83:00.0`.
    pub(super) address: String,
}

/// The cards below `root`, in the order of their numbers.
pub(super) fn cards(root: &Path) -> Vec<Card> {
    let Ok(entries) = fs::read_dir(root.join("sys/class/drm")) else { return Vec::new() };
    let number = |name: &str| name.strip_prefix("card")?.parse::<u32>().ok();
    let mut found: Vec<(u32, Card)> = entries
        .flatten()
        .filter_map(|entry| {
            let number = number(entry.file_name().to_str()?)?;
            let (card, device) = (entry.path(), entry.path().join("device"));
            let [vendor, chip] = ["vendor", "device"].map(|name| text(&device.join(name)).unwrap_or_default());
            let address = uevent(&device, "PCI_SLOT_NAME").unwrap_or_default();
            Some((number, Card { card, device, vendor, chip, address }))
        })
        .collect();
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, card)| card).collect()
}

/// A line of a device's `uevent`.
fn uevent(device: &Path, key: &str) -> Option<String> {
    let lines = text(&device.join("uevent")).ok()?;
    lines.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned))
}

/// The folder of a device's sensors: `hwmon/hwmon3`.
pub(super) fn sensors(device: &Path) -> PathBuf {
    let folder = device.join("hwmon");
    let first = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path()).min();
    first.unwrap_or(folder)
}

/// What the link of a device carries each way, B/s: `16.0 GT/s PCIe` and `16` lanes.
pub(super) fn link(device: &Path) -> Option<f64> {
    let speed = text(&device.join("max_link_speed")).ok()?;
    let width = number(&device.join("max_link_width"))?;
    let rate: f64 = speed.split(' ').next()?.parse().ok()?;
    let generation = [2.5, 5.0, 8.0, 16.0, 32.0, 64.0].iter().position(|known| (known - rate).abs() < 0.1)?;
    crate::gpu::pcie(u32::try_from(generation).ok()? + 1, width as u32)
}
