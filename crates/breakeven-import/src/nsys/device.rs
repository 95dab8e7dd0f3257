//! Which GPU a process means by a number, and what it is called.

use super::database::Database;
use crate::lanes::Lane;
use std::collections::BTreeMap;

/// GPUs by number, and the numbers that processes give them: `CUDA_VISIBLE_DEVICES` renumbers them for each.
#[derive(Default)]
pub(super) struct Devices {
    /// The name of each GPU.
    pub(super) names: BTreeMap<i64, Option<String>>,
    /// The GPU of a process's number; without a process, of all whose number means the same.
    of: BTreeMap<(Option<i64>, i64), i64>,
}

/// The process in the middle of a serialized id.
pub(super) fn pid(global: i64) -> i64 {
    (global >> 24) & 0xff_ffff
}

impl Devices {
    pub(super) fn read(database: &Database) -> Self {
        let mut devices = Self::default();
        if let Some(mut table) = database.table("TARGET_INFO_GPU", &["id", "name", "cuDevice"]) {
            let mut rows = table.rows();
            while let Some(row) = rows.next() {
                let Some(id) = row.int(0) else { continue };
                let name = row.text(1).map(|name| String::from_utf8_lossy(name).into_owned());
                devices.names.insert(id, name.filter(|name| !name.is_empty()));
                devices.of.entry((None, row.int(2).unwrap_or(id))).or_insert(id);
            }
        }
        if let Some(mut table) = database.table("TARGET_INFO_CUDA_DEVICE", &["gpuId", "cudaId", "pid"]) {
            let mut rows = table.rows();
            while let Some(row) = rows.next() {
                if let (Some(gpu), Some(number)) = (row.int(0), row.int(1)) {
                    devices.of.insert((row.int(2), number), gpu);
                }
            }
        }
        devices
    }

    /// Where a row ran: of a process with this serialized id, on what it calls this device.
    pub(super) fn lane(&self, global: Option<i64>, device: i64, stream: Option<i64>, process: u16) -> Lane {
        let known = self.of.get(&(global.map(pid), device)).or_else(|| self.of.get(&(None, device)));
        Lane { gpu: known.copied().unwrap_or(device), stream, process }
    }
}
