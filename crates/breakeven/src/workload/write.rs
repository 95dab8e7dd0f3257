//! Writing `breakeven.workload/1`.

use super::Workload;
use crate::error::{Error, Result};

impl Workload {
    /// The file's text: the same workload always gives the same bytes, and [`Workload::from_json`] gives it back.
    ///
    /// # Errors
    /// `bad-workload` when it would not be read again; see [`Workload::check`].
    pub fn to_json(&self) -> Result<String> {
        self.check()?;
        serde_json::to_string(self)
            .map_err(|e| Error::new("bad-workload", format!("the workload cannot be written: {e}")))
    }
}
