//! Who used the GPUs: each process by what it held and how busy it kept them.

use crate::reading::Process;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Processes that are kept apart. A day of short ones has more; the later ones are counted together.
const MOST: usize = 1000;

/// What was seen of one process on one GPU.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct User {
    /// Its name, or nothing.
    pub name: String,
    /// The most device memory that it held, bytes.
    pub memory: Option<f64>,
    /// Sum of its shares of the GPU's time, and how many there were.
    busy: (f64, u64),
    /// How often it was seen, about once a second.
    pub looks: u64,
}

impl User {
    /// Its mean share of the GPU's time while it was there.
    #[expect(clippy::cast_precision_loss, reason = "a count of seconds")]
    pub fn busy(&self) -> Option<f64> {
        (self.busy.1 > 0).then(|| self.busy.0 / self.busy.1 as f64)
    }
}

/// Everyone that was seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Users {
    users: BTreeMap<(usize, u32), User>,
    /// Looks at processes that there was no room for.
    pub left_out: u64,
}

impl Users {
    /// The processes of one look.
    pub fn take(&mut self, processes: &[Process]) {
        for process in processes {
            let key = (process.gpu, process.pid);
            if self.users.len() >= MOST && !self.users.contains_key(&key) {
                self.left_out += 1;
                continue;
            }
            let user = self.users.entry(key).or_default();
            if user.name.is_empty() {
                user.name.clone_from(&process.name);
            }
            user.looks += 1;
            user.memory = user.memory.into_iter().chain(process.memory).reduce(f64::max);
            if let Some(busy) = process.busy {
                user.busy = (user.busy.0 + busy, user.busy.1 + 1);
            }
        }
    }

    /// Everyone, by GPU, those that held most memory first.
    pub fn all(&self) -> Vec<(usize, u32, &User)> {
        let mut all: Vec<_> = self.users.iter().map(|(&(gpu, pid), user)| (gpu, pid, user)).collect();
        let memory = |user: &User| user.memory.unwrap_or(0.0);
        all.sort_by(|a, b| a.0.cmp(&b.0).then(memory(b.2).total_cmp(&memory(a.2))).then(a.1.cmp(&b.1)));
        all
    }

    /// As a saved file has them.
    pub(crate) fn saved(&self) -> Value {
        let users: Vec<Value> = self
            .users
            .iter()
            .map(|((gpu, pid), user)| json!([gpu, pid, user.name, user.memory, user.busy.0, user.busy.1, user.looks]))
            .collect();
        json!({"left_out": self.left_out, "users": users})
    }

    /// Read from a saved file; what does not fit is left out.
    pub(crate) fn of_saved(value: &Value) -> Self {
        let user = |row: &Value| {
            let key = (usize::try_from(row[0].as_u64()?).ok()?, u32::try_from(row[1].as_u64()?).ok()?);
            let user = User {
                name: row[2].as_str()?.to_owned(),
                memory: row[3].as_f64(),
                busy: (row[4].as_f64()?, row[5].as_u64()?),
                looks: row[6].as_u64()?,
            };
            Some((key, user))
        };
        let rows = value["users"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            users: rows.iter().take(MOST).filter_map(user).collect(),
            left_out: value["left_out"].as_u64().unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_keeps_its_peak_and_its_mean_and_survives_a_file() {
        let look = |memory, busy| Process { gpu: 0, pid: 7, name: "python".to_owned(), memory, busy };
        let mut users = Users::default();
        users.take(&[look(Some(10.0), Some(0.5)), Process { pid: 8, ..look(Some(99.0), None) }]);
        users.take(&[look(Some(30.0), Some(0.1)), look(None, None)]);
        let all = users.all();
        assert_eq!((all[0].1, all[1].1, all[1].2.memory, all[1].2.busy()), (8, 7, Some(30.0), Some(0.3)));
        assert_eq!(Users::of_saved(&users.saved()), users);
    }

    #[test]
    fn a_day_of_short_processes_stays_small() {
        let mut users = Users::default();
        for pid in 0..5000 {
            users.take(&[Process { gpu: 0, pid, name: String::new(), memory: None, busy: None }]);
        }
        assert_eq!((users.all().len(), users.left_out), (1000, 4000));
    }
}
