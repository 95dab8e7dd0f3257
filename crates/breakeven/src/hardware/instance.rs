//! Machines that clouds rent out, by the name of their type.

use super::find::key;
use super::table::for_each_row;
use std::sync::OnceLock;

const INSTANCES: &str = include_str!("../../catalogue/instances.csv");
const HEADER: [&str; 7] = ["instance", "family", "provider", "gpu", "gpus", "source", "read"];

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
    name_key: String,
    family_key: String,
}

/// Every machine type of the catalogue.
pub fn instances() -> &'static [Instance] {
    static READ: OnceLock<Vec<Instance>> = OnceLock::new();
    READ.get_or_init(|| {
        let mut all = Vec::with_capacity(160);
        for_each_row("instances.csv", INSTANCES, &HEADER, |row| {
            row.date(6)?;
            let text = |n: usize| row.required(n, HEADER[n]).map(str::to_owned);
            let (name, family) = (text(0)?, text(1)?);
            let (name_key, family_key) = (key(&super::find::words(&name)), key(&super::find::words(&family)));
            let gpus = row.number(4, || "gpus".into(), &(0.01..=1024.0))?;
            all.push(Instance { name, family, provider: text(2)?, gpu: text(3)?, gpus, name_key, family_key });
            Ok(())
        })
        .expect("the tests read this very text");
        all
    })
}

/// The machine types that `key` names: one by its own name, or all of a family.
pub(super) fn called(given: &str) -> Vec<&'static Instance> {
    // Azure's names go with and without their first word.
    let is = |key: &str| key == given || key.strip_prefix("standard") == Some(given);
    let all = instances();
    match all.iter().find(|i| is(&i.name_key)) {
        Some(instance) => vec![instance],
        None => all.iter().filter(|i| is(&i.family_key)).collect(),
    }
}
