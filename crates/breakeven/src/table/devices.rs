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
            for device in meant(catalogue, name)? {
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
        let found = match meant(self.catalogue, name).as_deref() {
            Ok(&[device]) => Ok(device),
            Ok(several) => {
                let ids: Vec<&str> = several.iter().take(8).map(|device| device.id.as_str()).collect();
                Err(format!("gpu `{name}` names {}: {}", several.len(), ids.join(", ")))
            }
            Err(error) => Err(match &error.hint {
                Some(hint) => format!("{}: {hint}", error.message),
                None => error.message.clone(),
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

/// The GPUs of that name, or the CPU. GPUs may be named after a CPU that they come with: spelled out it is the CPU's name.
fn meant<'c>(catalogue: &'c Catalogue, name: &str) -> Result<Vec<&'c Device>> {
    let is = |spelled: &str| spelled.eq_ignore_ascii_case(name.trim());
    if let Some(cpu) = catalogue.cpus().iter().find(|cpu| cpu.spellings().any(is))
        && !catalogue.gpus().iter().any(|gpu| gpu.spellings().any(is))
    {
        return Ok(vec![&cpu.device]);
    }
    match catalogue.find_gpu(name) {
        Ok(found) => Ok(found.gpus.iter().map(|gpu| &gpu.device).collect()),
        Err(error) => Ok(vec![&catalogue.find_cpu(name).map_err(|_| error)?.device]),
    }
}
