//! The devices that the rows of a table run on.

use super::columns::Columns;
use crate::hardware::{Catalogue, Device};
use crate::{Error, Result};
use std::collections::HashMap;

/// Names of GPUs that are remembered; then all are forgotten, so that memory does not grow with the table.
const NAMES: usize = 1 << 12;

/// Those of the column `gpu`, or the same ones for every row.
pub struct Devices<'c> {
    catalogue: &'c Catalogue,
    known: Vec<Device>,
    /// By the name in the table; empty when every row runs on all of `known`.
    names: HashMap<String, std::result::Result<u32, String>>,
    by_column: bool,
}

impl<'c> Devices<'c> {
    /// Those of the column `gpu`, or else every one that `names` means: GPUs and CPUs, every member of a family, in
    /// the order given.
    ///
    /// # Errors
    /// `table-gpu` where both say something, or neither; a name that nothing has.
    pub fn new(columns: &Columns, catalogue: &'c Catalogue, names: &[String]) -> Result<Self> {
        let by_column = columns.gpu.is_some();
        match (by_column, names.is_empty()) {
            (true, false) => {
                let message = "the table names its GPUs in the column `gpu`, and others are named beside it";
                return Err(Error::new("table-gpu", message).hint("leave out one of the two"));
            }
            (false, true) => {
                let message = "no GPU is named: the table has no column `gpu`, and none is given beside it";
                return Err(Error::new("table-gpu", message).hint("--gpu l4, or several: --gpu l4,h100-sxm5-80gb"));
            }
            _ => {}
        }
        let mut known: Vec<Device> = Vec::new();
        for name in names {
            let found: Vec<&Device> = match catalogue.find_gpu(name) {
                Ok(found) => found.gpus.iter().map(|gpu| &gpu.device).collect(),
                Err(error) => vec![&catalogue.find_cpu(name).map_err(|_| error)?.device],
            };
            for device in found {
                if !known.iter().any(|other| other.id == device.id) {
                    known.push(device.clone());
                }
            }
        }
        Ok(Self { catalogue, known, names: HashMap::new(), by_column })
    }

    /// Whether the rows name their devices themselves.
    pub const fn by_column(&self) -> bool {
        self.by_column
    }

    /// Every device so far, by place.
    pub fn known(&self) -> &[Device] {
        &self.known
    }

    /// The place of the device of that name; GPUs and CPUs.
    ///
    /// # Errors
    /// A name that nothing has, or several GPUs, as a sentence.
    pub fn find(&mut self, name: &str) -> std::result::Result<u32, String> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let found = match self.catalogue.find_gpu(name) {
            Ok(found) if found.gpus.len() == 1 => Ok(&found.gpus[0].device),
            Ok(found) => {
                let ids: Vec<&str> = found.gpus.iter().take(8).map(|gpu| gpu.id()).collect();
                Err(format!("gpu `{name}` names {}: {}", found.gpus.len(), ids.join(", ")))
            }
            Err(error) => self.catalogue.find_cpu(name).map(|cpu| &cpu.device).map_err(|_| match error.hint {
                Some(hint) => format!("{}: {hint}", error.message),
                None => error.message,
            }),
        };
        let place = found.map(|device| {
            self.known.iter().position(|known| known.id == device.id).unwrap_or_else(|| {
                self.known.push(device.clone());
                self.known.len() - 1
            }) as u32
        });
        if self.names.len() >= NAMES {
            self.names.clear();
        }
        self.names.insert(name.to_owned(), place.clone());
        place
    }
}
