//! Machines that clouds rent out, by the name of their type.

use super::Catalogue;
use super::find::{key, words};
use super::table::{Errors, Row};

pub(super) const HEADER: [&str; 7] = ["instance", "family", "provider", "gpu", "gpus", "source", "read"];

/// A machine type of a cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// As the cloud names it: `p4d.24xlarge`, `a2-highgpu-1g`, `Standard_NC24ads_A100_v4`.
    pub name: String,
    /// Types that differ in size alone: `p4d`, `a2-highgpu`.
    pub family: String,
    /// The cloud.
    pub provider: String,
    /// Catalogue id of its GPUs.
    pub gpu: String,
    /// How many; a fraction where a GPU is shared.
    pub gpus: f64,
}

/// The machine type of one line in place of the one of that name, or after all others. What is wrong with it goes into
/// `errors`.
pub(super) fn read(row: &Row<'_>, all: &mut Vec<Instance>, errors: &mut Errors) {
    if let Some(read) = instance(row, errors) {
        match all.iter_mut().find(|old| old.name.eq_ignore_ascii_case(&read.name)) {
            Some(old) => *old = read,
            None => all.push(read),
        }
    }
}

fn instance(row: &Row<'_>, errors: &mut Errors) -> Option<Instance> {
    let text = |n: usize| row.required(n, HEADER[n]).map(str::to_owned);
    let [name, family, provider, gpu, source] = [0, 1, 2, 3, 5].map(|n| errors.keep(text(n)));
    let gpus = errors.keep(row.number(4, || "gpus".into(), &(0.01..=1024.0)));
    let read = errors.keep(row.date(6));
    source.and(read)?;
    Some(Instance { name: name?, family: family?, provider: provider?, gpu: gpu?, gpus: gpus? })
}

impl Catalogue {
    /// Every machine type, in the order of the catalogue.
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// The machine types that the key `given` names: one by its own name, or all of a family.
    pub(super) fn instances_called(&self, given: &str) -> Vec<&Instance> {
        // Azure's names go with and without their first word.
        let is = |name: &str| {
            let key = key(&words(name));
            key == given || key.strip_prefix("standard") == Some(given)
        };
        match self.instances.iter().find(|i| is(&i.name)) {
            Some(instance) => vec![instance],
            None => self.instances.iter().filter(|i| is(&i.family)).collect(),
        }
    }
}
